package main

import (
	"context"

	"filebus/materialize/dialogue"
)

// dialogueCommands are the commands of dialogues.
func dialogueCommands() []command {
	return []command{
		{use: "new TITLE", open: (*environ).create, do: &dialogueNew{}},
		{use: "list", open: (*environ).openFresh, do: &dialogueList{Limit: 20}},
		{use: "prompt SLUG ROUND [AGENT]", do: &dialoguePrompt{}},
		{use: "recover SLUG ROUND AGENT", do: &dialogueRecover{}},
		{use: "put SLUG ROUND AGENT [FILE|-]", do: &dialoguePut{}},
		{use: "wait SLUG ROUND", do: &dialogueWait{For: defaultWait}},
		{use: "assemble SLUG", do: &dialogueAssemble{}},
		{use: "lint FILE|NAME|SLUG...", do: &dialogueLint{}},
		{use: "check SLUG [ROUND]", do: &dialogueCheck{}},
		{use: "judge SLUG ROUND [AGENT]", do: &dialogueJudge{}},
		{use: "markers FILE|NAME|SLUG|-...", do: &dialogueMarkers{Limit: 200}},
		{use: "score SLUG", do: &dialogueScore{}},
	}
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
