package main

import (
	"errors"

	"github.com/spf13/cobra"

	"filebus/store"
)

// newRootCommand returns the command line with all commands.
func newRootCommand(env *environ) *cobra.Command {
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
	root.AddCommand(writingCommands(env)...)
	root.AddCommand(readingCommands(env)...)
	return root
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
func writingCommands(env *environ) []*cobra.Command {
	return []*cobra.Command{
		newInitCommand(env),
		newDemoCommand(env),
		newConfigCommand(env),
		newPutCommand(env),
		newCombineCommand(env),
		newExecCommand(env),
		newPDFCommand(env),
		newPathCommand(env),
		newRmCommand(env),
		newGcCommand(env),
		newTagCommand(env),
		newTaskCommand(env),
		newWaitCommand(env),
		newIssueCommand(env),
		newComponentCommand(env),
		newRunCommand(env),
		newSnapshotCommand(env),
		newDialogueCommand(env),
		newSessionCommand(env),
		newCaptureCommand(env),
		newSyncCommand(env),
		newMaterializeCommand(env),
		newConflictsCommand(env),
	}
}

// readingCommands returns the commands that change nothing.
func readingCommands(env *environ) []*cobra.Command {
	return []*cobra.Command{
		newGetCommand(env),
		newShowCommand(env),
		newPreviewCommand(env),
		newSchemaCommand(env),
		newStatusCommand(env),
		newListCommand(env),
		newSearchCommand(env),
		newKnowledgeCommand(env),
		newContextCommand(env),
		newConversationCommand(env),
		newBudgetCommand(env),
		newLintCommand(env),
		newGuideCommand(env),
		newLogCommand(env),
		newVerifyCommand(env),
		newReindexCommand(env),
		newVersionCommand(env),
	}
}
