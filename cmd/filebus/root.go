package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

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
		{use: "init", make: newInitCommand},
		{use: "demo", make: newDemoCommand},
		{use: "config", make: newConfigCommand},
		{use: "put", make: newPutCommand},
		{use: "combine", make: newCombineCommand},
		{use: "exec", make: newExecCommand},
		{use: "pdf", make: newPDFCommand},
		{use: "path", make: newPathCommand},
		{use: "rm", make: newRmCommand},
		{use: "gc", make: newGcCommand},
		{use: "tag", make: newTagCommand},
		{use: "task", below: taskCommands()},
		{use: "wait", make: newWaitCommand},
		{use: "issue", make: newIssueCommand},
		{use: "component", make: newComponentCommand},
		{use: "run", below: runCommands()},
		{use: "snapshot", below: snapshotCommands()},
		{use: "dialogue", complete: completeArguments, below: dialogueCommands()},
		{use: "session", complete: completeArguments, below: sessionCommands()},
		{use: "capture", make: newCaptureCommand},
		{use: "sync", make: newSyncCommand},
		{use: "materialize", make: newMaterializeCommand},
		{use: "conflicts", make: newConflictsCommand},
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
		{use: "preview", make: newPreviewCommand},
		{use: "schema", make: newSchemaCommand},
		{
			use: "status", open: (*environ).openFresh,
			do: &statusCommand{Late: defaultLate, MaxTokens: stateTokens},
		},
		{use: "list", make: newListCommand},
		{use: "search", make: newSearchCommand},
		{use: "knowledge", make: newKnowledgeCommand},
		{use: "context", make: newContextCommand},
		{use: "conversation", make: newConversationCommand},
		{use: "budget", make: newBudgetCommand},
		{use: "lint", make: newLintCommand},
		{use: "guide", make: newGuideCommand},
		{use: "log", make: newLogCommand},
		{use: "verify", make: newVerifyCommand},
		{use: "reindex", make: newReindexCommand},
		{use: "version", make: newVersionCommand},
	}
}
