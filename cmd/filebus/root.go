package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"filebus/store"
)

// newRootCommand returns the command line with the command that arguments begin
// with; if they begin with none, with all commands.
func newRootCommand(env *environ, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:           "filebus",
		Short:         "A content store for what agents produce",
		Long:          rootLong,
		SilenceErrors: true, // fail prints them
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// What cobra checks only after this counts as a mistake of usage too.
			if err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
				return err
			}
			env.started = true
			env.command = cmd.CommandPath()
			return nil
		},
	}
	root.SetIn(env.in)
	root.SetOut(env.out)
	root.SetErr(env.err)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	flags := root.PersistentFlags()
	flags.StringVar(&env.global.store, "store", "", "use the store in `folder` (default: the nearest .filebus, or $FILEBUS_STORE)")
	flags.BoolVar(&env.global.json, "json", false, "print one compact JSON value; errors too, on stderr")
	flags.BoolVar(&env.global.noSync, "no-sync", false, "do not look for files that changed on disk")
	flags.BoolVar(&env.global.unsafeFS, "allow-unsafe-fs", false, "accept a store on a network or FUSE file system")
	flags.DurationVar(&env.global.wait, "wait", store.DefaultWait, "how long to wait for other processes")
	all := slices.Concat(writingCommands(), readingCommands())
	asked := func(c command) bool { return len(args) > 0 && c.name == args[0] && c.name != "guide" } // it tells of the others
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

const rootLong = `filebus keeps what agents produce as immutable records, so that a parent agent
carries a reference of some 50 tokens in place of a text of thousands of words.
Records are found by reference, name, path, tag and full text, and laid out
again as the exact files that other agents read.

Wherever a command takes a NAME, it may be a reference or its first 8 digits
(3f9c21ab), a name (result/CONVERSATION/CALL, lib:note/guide.md), a path
(.claude/journal/task-003.md), an id that one kind has (ISSUE-20251212-001), or
the number of a task (003).`

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
