package main

import (
	"context"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
)

func newDialogueCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "dialogue",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
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
	completeBelow(env, cmd)
	return cmd
}

// forum returns the dialogues of a workspace.
func (w *workspace) forum() *dialogue.Forum {
	return dialogue.Open(w.Workspace, w.read, w.now)
}

// findDialogue opens the workspace, with what was written to it, and finds the dialogue
// that a text means.
func (e *environ) findDialogue(ctx context.Context, text string) (*workspace, *dialogue.Forum, dialogue.Key, error) {
	s, err := e.openFresh(ctx)
	if err != nil {
		return nil, nil, dialogue.Key{}, err
	}
	f := s.forum()
	key, err := f.Find(ctx, text)
	return s, f, key, err
}

// openDialogue reads the dialogue that a text means, with what agents have written just
// now: findDialogue leaves alone what is not still yet.
func (e *environ) openDialogue(ctx context.Context, text string) (*workspace, *dialogue.Forum, *dialogue.Dialogue, error) {
	s, f, key, err := e.findDialogue(ctx, text)
	if err != nil {
		return nil, nil, nil, err
	}
	if e.global.noSync {
		d, err := f.Read(ctx, key)
		return s, f, d, err
	}
	d, skipped, err := f.ReadFresh(ctx, key)
	if skipped != nil {
		e.note("not all files were looked at: %s", oneLine(skipped.Error()))
	}
	return s, f, d, err
}
