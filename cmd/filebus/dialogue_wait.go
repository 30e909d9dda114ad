package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"filebus/cmd/filebus/dialogue"
	"filebus/cmd/filebus/rule"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

type dialogueWait struct {
	waitFlags
	roundArg
	Agents  []string `flag:"agents"`
	NoStubs bool     `flag:"no-stubs"`
	Done    string   `flag:"done-marker"`
}

// A dialogueRound is what stands in the places of a round's turns.
type dialogueRound struct {
	Dialogue dialogue.Key        `json:"dialogue"`
	Round    int                 `json:"round"`
	Agents   []dialogue.Standing `json:"agents"`
	Stubs    int                 `json:"stubs"`
	Resume   string              `json:"resume,omitempty"` // the command that goes on
}

func (o *dialogueWait) run(ctx context.Context, w *workspace, args []string) error {
	if o.Timeout <= 0 {
		return usageError("--timeout %v: a wait for turns takes some time, and has an end", o.Timeout)
	}
	w, forum, key, err := w.findDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	defer w.waited(args[0], w.now())
	all, err := forum.Wait(ctx, key, dialogue.WaitRequest{
		Waiter: o.waiter(w), Round: o.round, Agents: o.Agents, NoStubs: o.NoStubs, Done: o.Done,
		Alike: func(slot dialogue.Slot, file string) { w.noteAlike(slot, file) },
	})
	isLate := errors.Is(err, mirror.ErrLate)
	if err != nil && !isLate {
		return err
	}
	view := dialogueRound{Dialogue: key, Round: o.round, Agents: all}
	if isLate {
		view.Resume = o.resume("filebus dialogue wait", key.String(), strconv.Itoa(o.round))
	}
	none, hint := view.wanting(w)
	_, printErr := w.present(presentation{
		json: func(int) any { return view }, text: func(int) string { return w.roundTable(all) },
	})
	switch {
	case printErr != nil:
		return printErr
	case isLate:
		return coded(record.Timeout, cmp.Or(hint, view.Resume), err)
	case len(none) == 0:
		return nil
	}
	const text = "%d of %d have no turn in round %d of %s: %s"
	return coded(record.Wanting, hint, fmt.Errorf(text, len(none), len(all), o.round, key, strings.Join(none, ", ")))
}

// wanting counts the stubs, and returns the agents that have one or a text that is not
// counted, and what helps the first of them.
func (view *dialogueRound) wanting(w *workspace) (none []string, hint string) {
	for _, a := range view.Agents {
		if a.State == "stub" {
			view.Stubs++
		}
		if a.State == "stub" || a.State == "astray" {
			none = append(none, a.Agent)
			hint = cmp.Or(hint, w.mend(view.Dialogue, dialogue.Finding{
				Finding: rule.Finding{Rule: a.State}, Round: &view.Round, Agent: a.Agent,
				Alike: a.Alike, Before: a.Before,
			}))
		}
	}
	return none, hint
}

// noteAlike names a file that may be meant as a turn, and the command that takes it.
func (w *workspace) noteAlike(slot dialogue.Slot, file string) {
	shown, err := filepath.Rel(filepath.Dir(filepath.Dir(slot.File)), file)
	if err != nil || !filepath.IsLocal(shown) {
		shown = file
	}
	found := dialogue.Finding{
		Finding: rule.Finding{Rule: "missing"}, Round: &slot.Round, Agent: slot.Agent, Alike: []string{file},
	}
	w.noteTry(w.mend(slot.Key, found), "%s: no turn yet, but there is %s", slot.Agent, oneLine(shown))
}

// near returns a file's path as seen from the working directory, if it lies in the
// workspace.
func (w *workspace) near(file string) string {
	if below, err := filepath.Rel(w.Root, file); err != nil || !filepath.IsLocal(below) || w.dir == "" {
		return file
	}
	if rel, err := filepath.Rel(w.dir, file); err == nil {
		return rel
	}
	return file
}

// roundTable returns what stands in the places of turns, a row each.
func (w *workspace) roundTable(all []dialogue.Standing) string {
	var rows [][]string
	const maxRemark = 120 // the longest remark behind a turn, in bytes
	for _, a := range all {
		row := []string{a.Agent, a.State, fmt.Sprint(a.Words), w.near(a.File)}
		if a.Late {
			a.Reason = "late: it came after a stub"
		}
		if a.Reason != "" {
			row = append(row, shortened(a.Reason, maxRemark))
		}
		rows = append(rows, row)
	}
	return w.table(rows)
}
