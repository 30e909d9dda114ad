package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
	"filebus/store/record"
)

// findingsShown is how many findings of a check are printed.
const findingsShown = 20

func newDialogueCheckCommand(env *environ) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:  "check SLUG [ROUND]",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			round := -1
			if len(args) > 1 {
				var err error
				if round, err = roundArgument(args[1]); err != nil {
					return err
				}
			}
			return runDialogueCheck(cmd.Context(), env, args[0], round, all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "")
	return cmd
}

// A dialogueCheckJSON is what a check has found, in JSON.
type dialogueCheckJSON struct {
	Dialogue  string        `json:"dialogue"`
	Rounds    int           `json:"rounds"`
	Launched  int           `json:"launched"` // turns that are owed
	Given     int           `json:"given"`    // turns that hold something
	Missing   int           `json:"missing"`
	Empty     int           `json:"empty"`
	Stubs     int           `json:"stubs"`
	Markers   int           `json:"markers"`
	Malformed int           `json:"malformed"`
	Wanting   int           `json:"wanting"` // findings
	Findings  []findingJSON `json:"findings"`
	More      int           `json:"more,omitempty"` // findings that were left out
	Mend      []string      `json:"mend,omitempty"`
}

// A findingJSON is one finding in JSON.
type findingJSON struct {
	Kind    string `json:"kind"`
	Round   *int   `json:"round,omitempty"`
	Agent   string `json:"agent,omitempty"`
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Text    string `json:"text"`
	Wanting bool   `json:"wanting"`
}

func runDialogueCheck(ctx context.Context, env *environ, slug string, round int, all bool) error {
	s, _, d, err := env.openDialogue(ctx, slug)
	if err != nil {
		return err
	}
	report, err := dialogue.Check(d, round)
	if err != nil {
		return err
	}
	view := checkView(d, report, all)
	if env.global.json {
		err = env.printRead(s, "dialogue check", d.Key.String(), view)
	} else {
		env.printCheck(s, view)
	}
	if err == nil && view.Wanting > 0 {
		return silentError(record.Wanting)
	}
	return err
}

// checkView returns what is printed of a report: what is wanting comes first.
func checkView(d *dialogue.Dialogue, r *dialogue.Report, all bool) dialogueCheckJSON {
	view := dialogueCheckJSON{
		Dialogue: d.Key.String(), Rounds: r.Rounds, Launched: r.Launched, Given: r.Given, Missing: r.Missing, Empty: r.Empty,
		Stubs: r.Stubs, Markers: r.Markers, Malformed: r.Malformed, Wanting: r.Wanting(), Findings: []findingJSON{},
	}
	findings := r.Findings
	if !all {
		findings = folded(findings)
	}
	for _, wanting := range []bool{true, false} {
		for _, f := range findings {
			switch {
			case f.Wanting != wanting:
			case !all && len(view.Findings) == findingsShown:
				view.More++
			default:
				view.Findings = append(view.Findings, findingView(f))
			}
		}
	}
	if d.Key.IsOwn() {
		view.Mend = mendLines(d.Key, r.Findings)
	}
	return view
}

// folded returns findings with one for all markers of a file that depart from the
// grammar, and are understood all the same.
func folded(findings []dialogue.Finding) []dialogue.Finding {
	var out []dialogue.Finding
	var lines []string
	for i, f := range findings {
		isForm := func(other dialogue.Finding) bool {
			return other.Kind == dialogue.FoundMalformed && !other.Wanting && other.File == f.File
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
			f.Line, f.Text = 0, fmt.Sprintf("malformed: %d markers, in lines %s", len(lines), strings.Join(lines[:min(len(lines), 10)], ", "))
			if len(lines) > 10 {
				f.Text += ", …"
			}
		}
		out, lines = append(out, f), nil
	}
	return out
}

func findingView(f dialogue.Finding) findingJSON {
	view := findingJSON{Kind: string(f.Kind), Agent: validText(f.Agent), File: validText(f.File), Line: f.Line, Text: validText(f.Text), Wanting: f.Wanting}
	if f.Round >= 0 {
		view.Round = &f.Round
	}
	return view
}

// mendLines returns the commands that mend what was found: for the first agent whose
// turn is wanting, and for the first file that is nobody's turn.
func mendLines(key dialogue.Key, findings []dialogue.Finding) []string {
	var turn, file []string
	for _, f := range findings {
		of := fmt.Sprintf("%s %d %s", quote(key.String()), f.Round, quote(f.Agent))
		switch f.Kind {
		case dialogue.FoundMissing, dialogue.FoundEmpty, dialogue.FoundStub, dialogue.FoundNoMarkers:
			if turn != nil {
				continue
			}
			turn = []string{"filebus dialogue recover " + of + " --transcript FILE.jsonl", "filebus dialogue put " + of + " FILE"}
			if f.Kind == dialogue.FoundNoMarkers {
				turn[1] += " --force" // another turn stands there
			}
		case dialogue.FoundStranger, dialogue.FoundTwice:
			if file == nil {
				file = []string{"filebus rm " + quote(f.File)}
			}
		}
	}
	return append(turn, file...)
}

func (e *environ) printCheck(s *session, view dialogueCheckJSON) {
	var out strings.Builder
	for _, f := range view.Findings {
		place := f.File
		if f.Line > 0 {
			place += ":" + strconv.Itoa(f.Line)
		}
		out.WriteString(oneLine(place+": "+f.Text) + "\n")
	}
	if view.More > 0 {
		fmt.Fprintf(&out, "and %d more; --all prints them\n", view.More)
	}
	fmt.Fprintf(&out, "%s: %d of %s in %s, %s", view.Dialogue, view.Given, plural(view.Launched, "turn"), plural(view.Rounds, "round"), plural(view.Markers, "marker"))
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
	e.printf("%s", out.String())
	for _, line := range view.Mend {
		e.note("mend: %s", line)
	}
	e.logRead(s, "dialogue check", view.Dialogue, record.EstimateTokens(int64(out.Len())))
}
