package main

import (
	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
)

func newDialogueCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dialogue",
		Short: "Let agents discuss a question in rounds, and assemble what they wrote",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newDialogueNewCommand(env),
		newDialogueListCommand(env),
		newDialoguePromptCommand(env),
		newDialogueRecoverCommand(env),
		newDialoguePutCommand(env),
		newDialogueWaitCommand(env),
		newDialogueAssembleCommand(env),
		newDialogueLintCommand(env),
		newDialogueCheckCommand(env),
		newDialogueJudgeCommand(env),
		newDialogueMarkersCommand(env),
		newDialogueScoreCommand(env),
	)
	return cmd
}

// forum returns the dialogues of a workspace.
func (e *environ) forum(s *session) *dialogue.Forum {
	return dialogue.Open(s.Workspace, s.read, e.now)
}
