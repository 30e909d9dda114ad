package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	sessions "filebus/materialize/session"
	"filebus/query"
	"filebus/store"
)

// newCommand returns a command that runs a function.
func newCommand(use string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
	}
}

// newGroup returns a command that has commands.
func newGroup(use string, commands ...*cobra.Command) *cobra.Command {
	help := func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	group := &cobra.Command{Use: use, Args: cobra.NoArgs, RunE: help}
	group.AddCommand(commands...)
	return group
}

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
	help := newHelpCommand(env)
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
		{use: "init", do: &initCommand{}},
		{use: "demo [DIR]", do: &demoCommand{}},
		{use: "config", do: &configCommand{}},
		{use: "put [FILE|-]...", do: &putCommand{callFlags: usualCall()}},
		{
			use: "combine [flags] INPUT...", open: (*environ).createFresh,
			do: &combineCommand{callFlags: usualCall(), Separator: `\n\n`},
		},
		{
			use: "exec [flags] -- CMD [ARG]...",
			do:  &execCommand{callFlags: usualCall(), KillAfter: 5 * time.Second, Round: noRound},
		},
		{use: "pdf FILE|NAME|-", do: &pdfCommand{callFlags: usualCall()}},
		{use: "path NAME", do: &pathCommand{}},
		{use: "rm NAME...", open: (*environ).openFresh, do: &rmCommand{}},
		{use: "gc --kind KIND", open: (*environ).openFresh, do: &gcCommand{}},
		{use: "tag", open: (*environ).openFresh, do: &tagList{}, below: tagCommands()},
		{use: "task", below: taskCommands()},
		{use: "wait TASK...", open: (*environ).create, do: &waitCommand{Limit: defaultWait}},
		{use: "issue", make: newIssueCommand},
		{use: "component", make: newComponentCommand},
		{use: "run", below: runCommands()},
		{use: "snapshot", below: snapshotCommands()},
		{use: "dialogue", complete: completeArguments, below: dialogueCommands()},
		{use: "session", complete: completeArguments, below: sessionCommands()},
		{use: "capture DIR...", open: (*environ).create, do: &captureCommand{}},
		{use: "sync", open: (*environ).create, do: &syncCommand{}},
		{
			use: "materialize --to DIR", open: (*environ).openFresh,
			do: &materializeCommand{MaxTokens: sessions.DefaultIndexTokens},
		},
		{use: "conflicts", open: (*environ).open, do: &conflictsCommand{}, below: conflictCommands()},
	}
}

// readingCommands returns the commands that change nothing.
func readingCommands() []command {
	return []command{
		{use: "get [flags] NAME", open: (*environ).openFresh, complete: completeNames, do: &getCommand{}},
		{
			use: "show [flags] NAME", open: (*environ).openFresh, complete: completeNames,
			do: &showCommand{MaxTokens: 300},
		},
		{use: "preview FILE|NAME|-", do: &previewCommand{}},
		{use: "schema", below: schemaCommands()},
		{
			use: "status", open: (*environ).openFresh,
			do: &statusCommand{Late: defaultLate, MaxTokens: stateTokens},
		},
		{use: "list [flags] [KIND...]", open: (*environ).openFresh, do: &listCommand{page: page{Limit: 50}}},
		{
			use: "search [flags] [WORD...]",
			do:  &searchCommand{page: page{Limit: query.DefaultLimit}, MaxWait: query.DefaultMaxWait},
		},
		{use: "knowledge", make: newKnowledgeCommand},
		{use: "context [TEXT|-]...", do: &contextCommand{MaxTokens: query.DefaultContextTokens}},
		{use: "conversation", below: conversationCommands()},
		{use: "budget", open: (*environ).openFresh, do: &budgetCommand{}},
		{use: "lint [DIR]", do: &lintCommand{Limit: 50}},
		{use: "guide", make: newGuideCommand},
		{
			use: "log [flags]", open: (*environ).openFresh,
			do: &logCommand{filterFlags: filterFlags{fields: []string{"kind"}}, Limit: 50},
		},
		{use: "verify", open: (*environ).open, do: &verifyCommand{}},
		{use: "reindex", open: (*environ).open, do: &reindexCommand{}},
		{use: "version", do: &versionCommand{}},
	}
}
