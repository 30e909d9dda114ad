package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/dialogue"
	"filebus/cmd/filebus/hook"
	"filebus/cmd/filebus/issue"
	"filebus/cmd/filebus/knowledge"
	"filebus/cmd/filebus/result"
	runs "filebus/cmd/filebus/run"
	sessions "filebus/cmd/filebus/session"
	"filebus/cmd/filebus/setup"
	"filebus/cmd/filebus/task"
	"filebus/query"
	"filebus/store"
)

// newRootCommand returns the command line with the command that arguments begin
// with; if they begin with none, with all commands.
func newRootCommand(env *cli.Environ, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:           "filebus",
		SilenceErrors: true, // fail prints them
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// What cobra checks only after this counts as a mistake of usage too.
			if err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
				return err
			}
			env.Started = true
			env.Command = cmd.CommandPath()
			env.Page(cmd)
			if cmd.Name() == cobra.ShellCompRequestCmd {
				readManual().describe(cmd.Root())
			}
			return nil
		},
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.Flags().SetNormalizeFunc(env.NewNames(nil))
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	flags := root.PersistentFlags()
	usual := cli.GlobalOptions{Wait: store.DefaultWait}
	if env.Call != nil {
		usual = env.Global // of the server
	}
	flags.StringVar(&env.Global.Store, "store", usual.Store, "")
	flags.BoolVar(&env.Global.JSON, "json", false, "")
	flags.BoolVar(&env.Global.NoSync, "no-sync", usual.NoSync, "")
	flags.BoolVar(&env.Global.UnsafeFS, "allow-unsafe-fs", usual.UnsafeFS, "")
	flags.DurationVar(&env.Global.Wait, "lock-wait", usual.Wait, "")
	flags.StringVar(&env.Global.Secrets, "secrets", usual.Secrets, "")
	help := cli.Plain("help [COMMAND]...", &helpCommand{}).Cobra(env)
	root.SetHelpCommand(help)
	root.SetHelpFunc(printHelp(env, root.HelpFunc()))
	root.AddCommand(help)
	all := commands()
	asked := func(c cli.Command) bool { // some tell of the others
		return len(args) > 0 && c.Name() == args[0] && !slices.Contains([]string{"guide", "install", "uninstall"}, args[0])
	}
	if i := slices.IndexFunc(all, asked); i >= 0 {
		all = all[i : i+1]
	}
	for _, c := range all {
		root.AddCommand(c.Cobra(env))
	}
	return root
}

// commands returns the commands, each with those below it.
func commands() []cli.Command {
	return slices.Concat(writingCommands(), workCommands(), readingCommands())
}

// writingCommands returns the commands that change the store, or files.
func writingCommands() []cli.Command {
	return []cli.Command{
		cli.Plain("init [NAME]...", &initCommand{}),
		cli.Plain("demo [DIR]", &demoCommand{}),
		cli.Plain("config", cli.RunFunc(runConfig)).With(
			cli.Plain("get KEY", cli.RunFunc(getSetting)),
			cli.Plain("set KEY VALUE...", cli.RunFunc(setSetting)),
			cli.Plain("unset KEY", cli.RunFunc(setSetting)),
		),
		cli.Plain("trust [DIR]", &trustCommand{}),
		cli.Plain("install "+clientNames, &setupCommand{}),
		cli.Plain("uninstall ["+clientNames+"]", &uninstallCommand{setupCommand: setupCommand{Options: setup.Options{Leave: true}}}),
		cli.Plain("put [FILE|-]...", &putCommand{CallFlags: result.UsualCall()}),
		cli.Plain("hook EVENT", &hookCommand{Client: hook.Claude}),
		cli.Plain("pdf FILE|NAME|-", &pdfCommand{CallFlags: result.UsualCall()}),
		cli.Plain("path NAME", cli.RunFunc(runPath)),
		cli.Fresh("rm NAME...", &rmCommand{}),
		cli.Fresh("gc --kind KIND", &gcCommand{}),
		cli.Fresh("purge NAME[@VERSION]...", &purgeCommand{}),
		cli.Existing("compact", cli.RunFunc(runCompact)),
		cli.Fresh("tag", cli.RunFunc(listTags)).With(
			cli.Fresh("list [PREFIX]", cli.RunFunc(listTags)),
			cli.Fresh("add NAME TAG...", &tagEdit{}),
			cli.Fresh("remove NAME TAG...", &tagEdit{remove: true}),
		),
		cli.Plain("capture [DIR]...", &captureCommand{}),
		layoutCommands(),
		cli.Group("tree",
			cli.Existing("list", cli.RunFunc(listTrees)),
			cli.Existing("refresh [TREE]...", &treeRefresh{}),
			cli.Existing("rm TREE", &treeRemove{}),
			cli.Existing("rename TREE NEW", cli.RunFunc(renameTree)),
		).Completed(completeArguments),
		cli.Creating("sync [PATH]...", &syncCommand{}),
		cli.Creating("watch", &watchCommand{Every: usualScan}),
		cli.Fresh("materialize --to DIR", &materializeCommand{MaxTokens: sessions.DefaultIndexTokens}),
		cli.Existing("conflicts", cli.RunFunc(runConflicts)).With(
			cli.Existing("show NAME", cli.RunFunc(showConflict)),
			cli.Existing("resolve NAME --take store|file|both", &conflictResolve{}),
		),
		cli.Group("bundle",
			cli.Fresh("create FILE|-", &bundleCreate{}),
			cli.Plain("apply FILE|-", cli.RunFunc(applyBundle)),
		),
		cli.Group("remote", remoteCommands()...),
		cli.Existing("push [NAME]...", cli.RunFunc(runPush)),
		cli.Existing("pull [NAME]...", cli.RunFunc(runPull)),
		cli.Existing("replicate [NAME]...", &replicateCommand{Every: usualScan}),
		cli.Fresh("backup DIR", &backupCommand{}),
		cli.Plain("restore DIR", &restoreCommand{}),
	}
}

// workCommands returns the commands of the work that agents do together.
func workCommands() []cli.Command {
	return slices.Concat(
		task.Commands(), issue.Commands(), knowledge.Commands(), runs.Commands(), result.Commands(),
		[]cli.Command{
			cli.Fresh("handoff", &handoffCommand{MaxTokens: handoffTokens}),
			dialogue.Commands(result.WriteText).Completed(completeArguments), sessions.Commands().Completed(completeArguments),
		},
	)
}

// readingCommands returns the commands that change nothing.
func readingCommands() []cli.Command {
	return []cli.Command{
		cli.Fresh("get [flags] NAME", &getCommand{}).Completed(cli.CompleteNames),
		cli.Fresh("show [flags] NAME", &showCommand{MaxTokens: 300}).Completed(cli.CompleteNames),
		cli.Plain("preview FILE|NAME|-", &previewCommand{}),
		cli.Fresh("status", &statusCommand{Late: task.DefaultLate, MaxTokens: cli.StateTokens}),
		cli.Fresh("list [flags] [KIND...]", &listCommand{Page: cli.Page{Limit: 50}}),
		cli.Plain("search [flags] [WORD...]", &searchCommand{
			Page: cli.Page{Limit: query.DefaultLimit}, Timeout: query.DefaultMaxWait,
		}),
		cli.Fresh("context [TEXT|-]...", &contextCommand{MaxTokens: query.DefaultContextTokens}),
		cli.Plain("lint [DIR]", &lintCommand{Limit: 50}),
		cli.Plain("guide ["+roleNames+"]", &guideCommand{}),
		cli.Fresh("log [flags]", &logCommand{FilterFlags: cli.Picking("kind"), Limit: 50}),
		cli.Fresh("scan", &scanCommand{}),
		cli.Plain("verify", &verifyCommand{}),
		cli.Plain("doctor", cli.RunFunc(runDoctor)),
		cli.Plain("mcp", &mcpCommand{}),
		cli.Plain("serve", &serveCommand{Port: usualPort}),
		cli.Existing("reindex", cli.RunFunc(runReindex)),
		cli.Plain("version", cli.RunFunc(runVersion)),
	}
}
