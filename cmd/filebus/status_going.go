package main

import (
	"context"
	"fmt"

	"filebus/materialize/dialogue"
	runs "filebus/materialize/run"
	sessions "filebus/materialize/session"
)

// goingOn adds to a status what agents of the project itself have begun together and not
// ended: dialogues that have not converged, and sessions. It returns the lines that say
// so, none where nothing goes on.
func (w *workspace) goingOn(ctx context.Context, status *runs.Status) (lines []string, err error) {
	items, _, err := w.forum().List(ctx, 0)
	if err != nil {
		return nil, err
	}
	d := &status.Dialogues
	for _, item := range items {
		if !item.Key.IsOwn() || item.Status == dialogue.DialogueConverged {
			continue
		}
		if d.Open++; d.Open > 1 {
			continue
		}
		d.Last, d.Round, d.Turns, d.Owed = item.Key.String(), item.Last, item.Turns, item.Owed
		lines = append(lines, lastRound(item))
	}
	if d.Open > 0 {
		lines[0] = fmt.Sprintf("dialogues  %d open; %s %s", d.Open, d.Last, lines[0])
	}
	list, _, err := w.registry().List(ctx, "", 0)
	artifacts := 0
	for _, one := range list {
		if !one.Key.IsOwn() || one.Status != sessions.StatusInProgress {
			continue
		}
		if status.Sessions.InProgress++; status.Sessions.InProgress == 1 {
			status.Sessions.Last, artifacts = one.Key.String(), len(one.Artifacts)
		}
	}
	if n := status.Sessions.InProgress; n > 0 {
		lines = append(lines, fmt.Sprintf("sessions   %d in progress; %s %s",
			n, status.Sessions.Last, plural(artifacts, "artifact")))
	}
	return lines, err
}
