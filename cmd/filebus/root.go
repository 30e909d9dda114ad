package main

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	sessions "filebus/materialize/session"
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
			if cmd.Name() == cobra.ShellCompRequestCmd {
				readManual().describe(cmd.Root())
			}
			return nil
		},
	}
	root.SetIn(env.in)
	root.SetOut(env.out)
	root.SetErr(env.err)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	flags := root.PersistentFlags()
	flags.StringVar(&env.global.store, "store", "", "")
	flags.BoolVar(&env.global.json, "json", false, "")
	flags.BoolVar(&env.global.noSync, "no-sync", false, "")
	flags.BoolVar(&env.global.unsafeFS, "allow-unsafe-fs", false, "")
	flags.DurationVar(&env.global.wait, "wait", store.DefaultWait, "")
	help := plain("help [COMMAND]...", &helpCommand{}).cobra(env)
	root.SetHelpCommand(help)
	root.SetHelpFunc(printHelp(env, root.HelpFunc()))
	root.AddCommand(help)
	all := slices.Concat(writingCommands(), readingCommands())
	asked := func(c command) bool { // guide tells of the others
		return len(args) > 0 && c.name() == args[0] && args[0] != "guide"
	}
	if i := slices.IndexFunc(all, asked); i >= 0 {
		all = all[i : i+1]
	}
	for _, c := range all {
		root.AddCommand(c.cobra(env))
	}
	return root
}

// writingCommands returns the commands that change the store, or files.
func writingCommands() []command {
	return []command{
		plain("init", &initCommand{}),
		plain("demo [DIR]", &demoCommand{}),
		plain("config", runFunc(runConfig)),
		plain("put [FILE|-]...", &putCommand{callFlags: usualCall()}),
		{
			use: "combine [flags] INPUT...", open: (*environ).createFresh,
			do: &combineCommand{callFlags: usualCall(), Separator: `\n\n`},
		},
		plain("exec [flags] -- CMD [ARG]...", &execCommand{
			callFlags: usualCall(), KillAfter: 5 * time.Second, Round: noRound,
		}),
		plain("pdf FILE|NAME|-", &pdfCommand{callFlags: usualCall()}),
		plain("path NAME", runFunc(runPath)),
		fresh("rm NAME...", &rmCommand{}),
		fresh("gc --kind KIND", &gcCommand{}),
		{use: "tag", open: (*environ).openFresh, do: runFunc(listTags), below: tagCommands()},
		group("task", taskCommands()...),
		creating("wait TASK...", &waitCommand{Limit: defaultWait}),
		group("issue", issueCommands()...),
		group("component", componentCommands()...),
		group("run", runCommands()...),
		group("snapshot", snapshotCommands()...),
		group("dialogue", dialogueCommands()...).completed(completeArguments),
		group("session", sessionCommands()...).completed(completeArguments),
		creating("capture DIR...", &captureCommand{}),
		creating("sync", &syncCommand{}),
		fresh("materialize --to DIR", &materializeCommand{MaxTokens: sessions.DefaultIndexTokens}),
		{use: "conflicts", open: (*environ).open, do: runFunc(runConflicts), below: conflictCommands()},
	}
}

// readingCommands returns the commands that change nothing.
func readingCommands() []command {
	return []command{
		fresh("get [flags] NAME", &getCommand{}).completed(completeNames),
		fresh("show [flags] NAME", &showCommand{MaxTokens: 300}).completed(completeNames),
		plain("preview FILE|NAME|-", &previewCommand{}),
		group("schema", schemaCommands()...),
		fresh("status", &statusCommand{Late: defaultLate, MaxTokens: stateTokens}),
		fresh("list [flags] [KIND...]", &listCommand{page: page{Limit: 50}}),
		plain("search [flags] [WORD...]", &searchCommand{
			page: page{Limit: query.DefaultLimit}, MaxWait: query.DefaultMaxWait,
		}),
		group("knowledge", knowledgeCommands()...),
		plain("context [TEXT|-]...", &contextCommand{MaxTokens: query.DefaultContextTokens}),
		group("conversation", conversationCommands()...),
		fresh("budget", &budgetCommand{}),
		plain("lint [DIR]", &lintCommand{Limit: 50}),
		plain("guide "+roleNames, &guideCommand{}),
		fresh("log [flags]", &logCommand{filterFlags: picking("kind"), Limit: 50}),
		existing("verify", runFunc(runVerify)),
		existing("reindex", runFunc(runReindex)),
		plain("version", runFunc(runVersion)),
	}
}
