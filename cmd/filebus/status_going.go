package main

import (
	"context"
	"fmt"

	"filebus/materialize/dialogue"
	sessions "filebus/materialize/session"
)

// A goingOn is what agents have begun together and not ended: dialogues that have not
// converged and sessions, of the project itself.
type goingOn struct {
	dialogues []dialogue.Item
	sessions  []*sessions.Session
}

// A dialogueCountJSON counts open dialogues in JSON, with how far the last one is.
type dialogueCountJSON struct {
	Open  int    `json:"open"`
	Last  string `json:"last,omitempty"` // the one that changed last
	Round *int   `json:"round,omitempty"`
	Turns int    `json:"turns,omitempty"`
	Owed  int    `json:"owed,omitempty"`
}

// A sessionCountJSON counts sessions in JSON.
type sessionCountJSON struct {
	InProgress int    `json:"in_progress"`
	Last       string `json:"last,omitempty"`
}

func (e *environ) goingOn(ctx context.Context, s *session) (*goingOn, error) {
	g := &goingOn{}
	items, _, err := e.forum(s).List(ctx, 0)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if item.Key.IsOwn() && item.Status != dialogue.DialogueConverged {
			g.dialogues = append(g.dialogues, item)
		}
	}
	list, _, err := e.registry(s).List(ctx, sessions.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, one := range list {
		if one.Key.IsOwn() && one.Status(e.now()) == sessions.StatusInProgress {
			g.sessions = append(g.sessions, one)
		}
	}
	return g, nil
}

func (g *goingOn) dialogueJSON() dialogueCountJSON {
	view := dialogueCountJSON{Open: len(g.dialogues)}
	if len(g.dialogues) > 0 {
		last := g.dialogues[0]
		view.Last, view.Round, view.Turns, view.Owed = last.Key.String(), last.Last, last.Turns, last.Owed
	}
	return view
}

func (g *goingOn) sessionJSON() sessionCountJSON {
	view := sessionCountJSON{InProgress: len(g.sessions)}
	if len(g.sessions) > 0 {
		view.Last = g.sessions[0].Key.String()
	}
	return view
}

// lines says what goes on, in no line where nothing does.
func (g *goingOn) lines() []string {
	var lines []string
	if n := len(g.dialogues); n > 0 {
		last := g.dialogues[0]
		lines = append(lines, fmt.Sprintf("dialogues  %d open; %s %s", n, last.Key, lastRound(last)))
	}
	if n := len(g.sessions); n > 0 {
		last := g.sessions[0]
		lines = append(lines, fmt.Sprintf("sessions   %d in progress; %s %s", n, last.Key, plural(len(last.Artifacts), "artifact")))
	}
	return lines
}
