package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/dialogue"
	"filebus/store/record"
)

// findingsShown is how many findings of a check are printed.
const findingsShown = 20

type dialogueCheck struct {
	All bool `flag:"all"`
}

type dialogueCheckJSON struct {
	dialogue.Report
	More int      `json:"more,omitempty"` // findings that were left out
	Mend []string `json:"mend,omitempty"`
}

func (o *dialogueCheck) run(ctx context.Context, w *workspace, args []string) (err error) {
	round := -1
	if len(args) > 1 {
		if round, err = roundArgument(args[1]); err != nil {
			return err
		}
	}
	w, _, d, err := w.openDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	report, err := dialogue.Check(d, round)
	if err != nil {
		return err
	}
	view := dialogueCheckJSON{Report: *report}
	if d.Key.IsOwn() {
		view.Mend = mendLines(d.Key, report.Findings)
	}
	if !o.All {
		view.Findings = folded(view.Findings)
	}
	order := []bool{true, false} // what is wanting comes first
	slices.SortStableFunc(view.Findings, func(a, b dialogue.Finding) int {
		return slices.Index(order, a.Wanting) - slices.Index(order, b.Wanting)
	})
	if more := len(view.Findings) - findingsShown; more > 0 && !o.All {
		view.Findings, view.More = view.Findings[:findingsShown], more
	}
	if err := w.presentWhole(d.Key.String(), view, view.text(w.rest(view.More, "--all"))); err != nil {
		return err
	}
	for _, line := range view.Mend {
		w.remark("to mend it: %s", line)
	}
	if view.Wanting > 0 {
		return silentError(record.Wanting)
	}
	return nil
}

// folded returns findings with one for all markers of a file that depart from the
// grammar, and are understood all the same.
func folded(findings []dialogue.Finding) []dialogue.Finding {
	var out []dialogue.Finding
	var lines []string
	for i, f := range findings {
		isForm := func(other dialogue.Finding) bool {
			return other.Kind == "malformed" && !other.Wanting && other.File == f.File
		}
		if !isForm(f) {
			out = append(out, f)
			continue
		}
		lines = append(lines, strconv.Itoa(f.Line))
		if i+1 < len(findings) && isForm(findings[i+1]) {
			continue
		}
		if len(lines) > 1 {
			shown := strings.Join(lines[:min(len(lines), 10)], ", ")
			f.Line, f.Text = 0, fmt.Sprintf("malformed: %d markers, in lines %s", len(lines), shown)
			if len(lines) > 10 {
				f.Text += ", …"
			}
		}
		out, lines = append(out, f), nil
	}
	return out
}

// mendLines returns the commands that mend what was found: for the first agent whose
// turn is wanting, and for the first file that is nobody's turn.
func mendLines(key dialogue.Key, findings []dialogue.Finding) []string {
	var turn, file []string
	for _, f := range findings {
		switch f.Kind {
		case "missing", "empty", "stub", "no_markers":
			if turn != nil {
				continue
			}
			of := fmt.Sprintf("%s %d %s", record.ShellWord(key.String()), *f.Round, record.ShellWord(f.Agent))
			turn = []string{"filebus dialogue recover " + of + " --transcript FILE.jsonl", "filebus dialogue put " + of + " FILE"}
			if f.Kind == "no_markers" {
				turn[1] += " --force" // another turn stands there
			}
		case "stranger", "twice":
			if file == nil {
				name := record.ShellWord(f.File) // it may be a real turn
				file = []string{"filebus show " + name + "; if that is no turn, filebus rm " + name}
			}
		}
	}
	return append(turn, file...)
}

// text returns what people are shown.
func (view *dialogueCheckJSON) text(rest string) string {
	var out strings.Builder
	for _, f := range view.Findings {
		place := f.File
		if f.Line > 0 {
			place += ":" + strconv.Itoa(f.Line)
		}
		out.WriteString(oneLine(place+": "+f.Text) + "\n")
	}
	if view.More > 0 {
		out.WriteString(rest + "\n")
	}
	fmt.Fprintf(&out, "%s: %d of %s in %s, %s", view.Dialogue, view.Given, plural(view.Launched, "turn"),
		plural(view.Rounds, "round"), plural(view.Markers, "marker"))
	for _, count := range []struct {
		n    int
		what string
	}{
		{view.Missing, "missing"}, {view.Empty, "empty"}, {view.Stubs, "stubbed"}, {view.Malformed, "malformed"}, {view.Wanting, "wanting"},
	} {
		if count.n > 0 {
			fmt.Fprintf(&out, ", %d %s", count.n, count.what)
		}
	}
	out.WriteString("\n")
	return out.String()
}
