package dialogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/rule"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

type dialogueWait struct {
	cli.WaitFlags
	roundArg
	Agents  []string `flag:"agents"`
	NoStubs bool     `flag:"no-stubs"`
	Done    string   `flag:"done-marker"`
}

// A DialogueRound is what stands in the places of a round's turns.
type DialogueRound struct {
	Dialogue Key        `json:"dialogue"`
	Round    int        `json:"round"`
	Agents   []Standing `json:"agents"`
	Stubs    int        `json:"stubs"`
	Resume   string     `json:"resume,omitempty"` // the command that goes on
}

func (o *dialogueWait) Do(ctx context.Context, w *cli.Work, args []string) error {
	if o.Timeout <= 0 {
		return cli.UsageError("--timeout %v: a wait for turns takes some time, and has an end", o.Timeout)
	}
	w, dialogues, key, err := findDialogue(ctx, w.Environ, args[0])
	if err != nil {
		return err
	}
	defer w.Waited(args[0], w.Now())
	all, err := dialogues.Wait(ctx, key, WaitRequest{
		Waiter: o.Waiter(w), Round: o.round, Agents: o.Agents, NoStubs: o.NoStubs, Done: o.Done,
		Alike: func(slot Slot, file string) { noteAlike(w, slot, file) },
	})
	isLate := errors.Is(err, mirror.ErrLate)
	if err != nil && !isLate {
		return err
	}
	view := DialogueRound{Dialogue: key, Round: o.round, Agents: all}
	if isLate {
		view.Resume = o.Resume("filebus dialogue wait", key.String(), strconv.Itoa(o.round))
	}
	none, hint := view.wanting(w)
	_, printErr := w.Present(cli.Presentation{
		JSON: func(int) any { return view }, Text: func(int) string { return roundTable(w, all) },
	})
	switch {
	case printErr != nil:
		return printErr
	case isLate:
		return cli.Coded(record.Timeout, cmp.Or(hint, view.Resume), err)
	case len(none) == 0:
		return nil
	}
	const text = "%d of %d have no turn in round %d of %s: %s"
	return cli.Coded(record.Wanting, hint, fmt.Errorf(text, len(none), len(all), o.round, key, strings.Join(none, ", ")))
}

// wanting counts the stubs, and returns the agents that have one or a text that is not
// counted, and what helps the first of them.
func (view *DialogueRound) wanting(w *cli.Work) (none []string, hint string) {
	for _, a := range view.Agents {
		if a.State == "stub" {
			view.Stubs++
		}
		if a.State == "stub" || a.State == "astray" {
			none = append(none, a.Agent)
			hint = cmp.Or(hint, mend(w, view.Dialogue, rule.Finding{
				Rule: a.State, Round: &view.Round, Agent: a.Agent, Alike: a.Alike, Before: a.Before,
			}))
		}
	}
	return none, hint
}

// noteAlike names a file that may be meant as a turn, and the command that takes it.
func noteAlike(w *cli.Work, slot Slot, file string) {
	shown, err := filepath.Rel(filepath.Dir(filepath.Dir(slot.File)), file)
	if err != nil || !filepath.IsLocal(shown) {
		shown = file
	}
	found := rule.Finding{Rule: "missing", Round: &slot.Round, Agent: slot.Agent, Alike: []string{file}}
	w.NoteTry(mend(w, slot.Key, found), "%s: no turn yet, but there is %s", slot.Agent, cli.OneLine(shown))
}

// near returns a file's path as seen from the working directory, if it lies in the
// workspace.
func near(w *cli.Work, file string) string {
	if below, err := filepath.Rel(w.Root, file); err != nil || !filepath.IsLocal(below) || w.Dir == "" {
		return file
	}
	if rel, err := filepath.Rel(w.Dir, file); err == nil {
		return rel
	}
	return file
}

// roundTable returns what stands in the places of turns, a row each.
func roundTable(w *cli.Work, all []Standing) string {
	var rows [][]string
	const maxRemark = 120 // the longest remark behind a turn, in bytes
	for _, a := range all {
		row := []string{a.Agent, a.State, fmt.Sprint(a.Words), near(w, a.File)}
		if a.Late {
			a.Reason = "late: it came after a stub"
		}
		if a.Reason != "" {
			row = append(row, cli.Shortened(a.Reason, maxRemark))
		}
		rows = append(rows, row)
	}
	return w.Table(rows)
}
