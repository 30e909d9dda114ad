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
	asked := func(c command) bool {
		return len(args) > 0 && c.name == args[0] &&
			c.name != "guide"
	} // it tells of the others
	if i := slices.IndexFunc(all, asked); i >= 0 {
		all = all[i : i+1]
	}
	for _, c := range all {
		root.AddCommand(c.make(env))
	}
	return root
}

// A command is one of the top of the command line, which is made when it is asked for.
type command struct {
	name string
	make func(*environ) *cobra.Command
}

// writingCommands returns the commands that change the store, or files.
func writingCommands() []command {
	return []command{
		{"init", newInitCommand},
		{"demo", newDemoCommand},
		{"config", newConfigCommand},
		{"put", newPutCommand},
		{"combine", newCombineCommand},
		{"exec", newExecCommand},
		{"pdf", newPDFCommand},
		{"path", newPathCommand},
		{"rm", newRmCommand},
		{"gc", newGcCommand},
		{"tag", newTagCommand},
		{"task", newTaskCommand},
		{"wait", newWaitCommand},
		{"issue", newIssueCommand},
		{"component", newComponentCommand},
		{"run", newRunCommand},
		{"snapshot", newSnapshotCommand},
		{"dialogue", newDialogueCommand},
		{"session", newSessionCommand},
		{"capture", newCaptureCommand},
		{"sync", newSyncCommand},
		{"materialize", newMaterializeCommand},
		{"conflicts", newConflictsCommand},
	}
}

// readingCommands returns the commands that change nothing.
func readingCommands() []command {
	return []command{
		{"get", newGetCommand},
		{"show", newShowCommand},
		{"preview", newPreviewCommand},
		{"schema", newSchemaCommand},
		{"status", newStatusCommand},
		{"list", newListCommand},
		{"search", newSearchCommand},
		{"knowledge", newKnowledgeCommand},
		{"context", newContextCommand},
		{"conversation", newConversationCommand},
		{"budget", newBudgetCommand},
		{"lint", newLintCommand},
		{"guide", newGuideCommand},
		{"log", newLogCommand},
		{"verify", newVerifyCommand},
		{"reindex", newReindexCommand},
		{"version", newVersionCommand},
	}
}
