package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/hook"
	sessions "filebus/cmd/filebus/session"
	"filebus/cmd/filebus/setup"
	"filebus/query"
	"filebus/store"
)

// newRootCommand returns the command line with the command that arguments begin
// with; if they begin with none, with all commands.
func newRootCommand(env *environ, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:           "filebus",
		SilenceErrors: true, // fail prints them
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// What cobra checks only after this counts as a mistake of usage too.
			if err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
				return err
			}
			env.started = true
			env.command = cmd.CommandPath()
			env.page(cmd)
			if cmd.Name() == cobra.ShellCompRequestCmd {
				readManual().describe(cmd.Root())
			}
			return nil
		},
	}
	root.SetIn(env.in)
	root.SetOut(env.out)
	root.SetErr(env.err)
	root.Flags().SetNormalizeFunc(env.newNames(nil))
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	flags := root.PersistentFlags()
	usual := globalOptions{wait: store.DefaultWait}
	if env.call != nil {
		usual = env.global // of the server
	}
	flags.StringVar(&env.global.store, "store", usual.store, "")
	flags.BoolVar(&env.global.json, "json", false, "")
	flags.BoolVar(&env.global.noSync, "no-sync", usual.noSync, "")
	flags.BoolVar(&env.global.unsafeFS, "allow-unsafe-fs", usual.unsafeFS, "")
	flags.DurationVar(&env.global.wait, "lock-wait", usual.wait, "")
	flags.StringVar(&env.global.secrets, "secrets", usual.secrets, "")
	help := plain("help [COMMAND]...", &helpCommand{}).cobra(env)
	root.SetHelpCommand(help)
	root.SetHelpFunc(printHelp(env, root.HelpFunc()))
	root.AddCommand(help)
	all := commands()
	asked := func(c command) bool { // some tell of the others
		return len(args) > 0 && c.name() == args[0] && !slices.Contains([]string{"guide", "install", "uninstall"}, args[0])
	}
	if i := slices.IndexFunc(all, asked); i >= 0 {
		all = all[i : i+1]
	}
	for _, c := range all {
		root.AddCommand(c.cobra(env))
	}
	return root
}

// commands returns the commands, each with those below it.
func commands() []command { return slices.Concat(writingCommands(), workCommands(), readingCommands()) }

// writingCommands returns the commands that change the store, or files.
func writingCommands() []command {
	return []command{
		plain("init", &initCommand{}),
		plain("demo [DIR]", &demoCommand{}),
		plain("config", runFunc(runConfig)).with(
			plain("get KEY", runFunc(getSetting)),
			plain("set KEY VALUE...", runFunc(setSetting)),
			plain("unset KEY", runFunc(setSetting)),
		),
		plain("trust [DIR]", &trustCommand{}),
		plain("install "+clientNames, &setupCommand{}),
		plain("uninstall "+clientNames, &setupCommand{Options: setup.Options{Leave: true}}),
		plain("put [FILE|-]...", &putCommand{callFlags: usualCall()}),
		plain("hook EVENT", &hookCommand{Client: hook.Claude}),
		plain("pdf FILE|NAME|-", &pdfCommand{callFlags: usualCall()}),
		plain("path NAME", runFunc(runPath)),
		fresh("rm NAME...", &rmCommand{}),
		fresh("gc --kind KIND", &gcCommand{}),
		fresh("purge NAME[@VERSION]...", &purgeCommand{}),
		existing("compact", runFunc(runCompact)),
		fresh("tag", runFunc(listTags)).with(
			fresh("list [PREFIX]", runFunc(listTags)),
			fresh("add NAME TAG...", &tagEdit{}),
			fresh("remove NAME TAG...", &tagEdit{remove: true}),
		),
		plain("capture [DIR]...", &captureCommand{}),
		layoutCommands(),
		group("tree",
			existing("list", runFunc(listTrees)),
			existing("refresh [TREE]...", &treeRefresh{}),
			existing("rm TREE", &treeRemove{}),
			existing("rename TREE NEW", runFunc(renameTree)),
		).completed(completeArguments),
		creating("sync [PATH]...", &syncCommand{}),
		creating("watch", &watchCommand{Every: usualScan}),
		fresh("materialize --to DIR", &materializeCommand{MaxTokens: sessions.DefaultIndexTokens}),
		existing("conflicts", runFunc(runConflicts)).with(
			existing("show NAME", runFunc(showConflict)),
			existing("resolve NAME --take store|file|both", &conflictResolve{}),
		),
		group("bundle",
			fresh("create FILE|-", &bundleCreate{}),
			plain("apply FILE|-", runFunc(applyBundle)),
		),
		group("remote", remoteCommands()...),
		existing("push [NAME]...", runFunc(runPush)),
		existing("pull [NAME]...", runFunc(runPull)),
		existing("replicate [NAME]...", &replicateCommand{Every: usualScan}),
		fresh("backup DIR", &backupCommand{}),
		plain("restore DIR", &restoreCommand{}),
	}
}

// workCommands returns the commands of the work that agents do together.
func workCommands() []command {
	return slices.Concat(
		taskCommands(), issueCommands(), knowledgeCommands(), runCommands(), resultCommands(),
		[]command{
			fresh("handoff", &handoffCommand{MaxTokens: handoffTokens}),
			dialogueCommands(writeText).completed(completeArguments), sessionCommands().completed(completeArguments),
		},
	)
}

// readingCommands returns the commands that change nothing.
func readingCommands() []command {
	return []command{
		fresh("get [flags] NAME", &getCommand{}).completed(completeNames),
		fresh("show [flags] NAME", &showCommand{MaxTokens: 300}).completed(completeNames),
		plain("preview FILE|NAME|-", &previewCommand{}),
		fresh("status", &statusCommand{Late: defaultLate, MaxTokens: stateTokens}),
		fresh("list [flags] [KIND...]", &listCommand{page: page{Limit: 50}}),
		plain("search [flags] [WORD...]", &searchCommand{
			page: page{Limit: query.DefaultLimit}, Timeout: query.DefaultMaxWait,
		}),
		fresh("context [TEXT|-]...", &contextCommand{MaxTokens: query.DefaultContextTokens}),
		plain("lint [DIR]", &lintCommand{Limit: 50}),
		plain("guide ["+roleNames+"]", &guideCommand{}),
		fresh("log [flags]", &logCommand{filterFlags: picking("kind"), Limit: 50}),
		fresh("scan", &scanCommand{}),
		plain("verify", &verifyCommand{}),
		plain("doctor", runFunc(runDoctor)),
		plain("mcp", &mcpCommand{}),
		plain("serve", &serveCommand{Port: usualPort}),
		existing("reindex", runFunc(runReindex)),
		plain("version", runFunc(runVersion)),
	}
}
