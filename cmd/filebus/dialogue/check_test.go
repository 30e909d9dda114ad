package dialogue

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
)

// found writes findings as lines: what departs in form alone begins with a "~".
func found(t *testing.T, d *Dialogue, round int) []string {
	t.Helper()
	report, err := Check(d, round)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range report.Findings {
		line := fmt.Sprintf("%s %s:%d %s", f.Rule, strings.TrimPrefix(f.File, ".claude/dialogues/x/"), f.Line, f.Message)
		if !*f.Wanting {
			line = "~" + line
		}
		lines = append(lines, line)
	}
	return lines
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		texts map[string]string
		want  []string
	}{
		{"all is well", map[string]string{"0/a": "[PERSPECTIVE P01: x]\n[TENSION T01: y]", "0/b": "[MOVE:CONVERGE]", "1/a": "[RESOLVED T01]"}, nil},
		{"a stub", map[string]string{"0/a": "[ERROR: out of time]\n[TENSION]"}, []string{"stub round-0/a.md:0 a stub: out of time"}},
		{"empty", map[string]string{"0/a": "", "0/b": "\n \n"}, []string{"empty round-0/a.md:0 the file is empty", "empty round-0/b.md:0 the file is empty"}},
		{"no markers", map[string]string{"0/a": "I have nothing to add."}, []string{"no_markers round-0/a.md:0 no markers"}},
		{"malformed", map[string]string{"0/a": "[PERSPECTIVE P01: x]\n\n[TENSION T-NEW: y]\n[REFINEMENT]\n[RESOLVED -- we agree]"}, []string{
			"malformed round-0/a.md:3 malformed: [TENSION T-NEW: y], which has no id",
			"~malformed round-0/a.md:4 malformed: [REFINEMENT]",
			"malformed round-0/a.md:5 malformed: [RESOLVED -- we agree], which has no id",
		}},
		{"an id twice", map[string]string{"0/a": "[PERSPECTIVE P01: x]\n[PERSPECTIVE P1: y]\n[TENSION T01: x]"},
			[]string{"repeated round-0/a.md:2 P01 is used again, first in line 1"}},
		{"an id in two rounds", map[string]string{"0/a": "[PERSPECTIVE P01: x]", "1/a": "[PERSPECTIVE P01: x]"}, nil},
		{"unknown", map[string]string{"0/a": "[TENSION T01: x]", "1/a": "\n[RESOLVED T07]"},
			[]string{"unknown round-1/a.md:2 T07 is no tension that was raised before"}},
		{"ambiguous", map[string]string{"0/a": "[TENSION T01: x]", "0/b": "[TENSION T01: x]", "0/c": "[TENSION T01: x]", "1/a": "[RESOLVED T01]"},
			[]string{"ambiguous round-1/a.md:1 T01 may be any of 3 tensions: name it as A R0-T01, B R0-T01, …"}},
		{"an id of another", map[string]string{"0/a": "[A-P0001: x]\n[B-T0001: y]\n[A-P0101: z]"}, []string{
			"foreign round-0/a.md:2 B-T0001 is an id of b in round 0", "foreign round-0/a.md:3 A-P0101 is an id of a in round 1",
		}},
		{"an agent twice", map[string]string{"0/Muffin": "[PERSPECTIVE P01: x]", "0/muffin": "[PERSPECTIVE P01: x]"},
			[]string{"~twice round-0/Muffin.md:0 a second file of muffin, beside muffin.md"}},
		{"rounds that are not there", map[string]string{"1/a": "[PERSPECTIVE P01: x]", "4/a": "[PERSPECTIVE P01: x]"},
			[]string{"skipped round-0:0 round 0 is missing", "skipped round-2:0 rounds 2 to 3 are missing"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, found(t, talk(test.texts), -1)); diff != "" {
				t.Errorf("findings in %q (-want +got):\n%s", test.texts, diff)
			}
		})
	}
}

// TestLaunchedOnce has an agent write two files where nothing else says who takes part.
func TestLaunchedOnce(t *testing.T) {
	t.Parallel()
	d := talk(map[string]string{"0/Muffin": "x", "0/muffin": "x", "0/scone": "x"})
	if got := d.Launched(d.Round(0)); len(got) != 2 {
		t.Errorf("launched are %v, want muffin and scone", got)
	}
}

// TestCheckLaunched checks a dialogue with a pool and panels, in a workspace.
func TestCheckLaunched(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), outside(t)} {
		t.Run(profile.Name, func(t *testing.T) {
			h := newScoreHall(t, profile)
			d := h.write(t, map[string]string{
				"expert-pool.json":    `{"experts": [{"name": "Muffin"}, {"name": "scone"}]}`,
				"round-0/muffin.md":   "[PERSPECTIVE P01: x]",
				"round-0/donut.md":    "[PERSPECTIVE P01: x]",
				"round-00/scone.md":   "[PERSPECTIVE P01: no turn of round 0, and none is missing less for it]",
				"round-0/scores.json": `{"agents": [{"agent": "scone", "wisdom": 1}]}`,
				"round-1/panel.json":  `{"round": 1, "experts": [{"name": "scone"}]}`,
				"round-1/scone.md":    strings.Repeat("[PERSPECTIVE P01: x] ", MaxTurn/20),
				"round-2/panel.json":  `{"round": 2,`,
				"round-2/muffin.md":   "[PERSPECTIVE P01: x]",
			})
			folder := filepath.ToSlash(filepath.Dir(h.file(t, "scoreboard.md")))
			if rel, err := filepath.Rel(h.work.Root, folder); err == nil && filepath.IsLocal(rel) {
				folder = filepath.ToSlash(rel)
			}
			var got []string
			report, err := Check(d, -1)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Findings {
				if f.Round == nil {
					f.Round = new(-1)
				}
				got = append(got, fmt.Sprintf("%s %d %s %s:%d", f.Rule, *f.Round, f.Agent,
					strings.TrimPrefix(f.File, folder+"/"), f.Line))
			}
			want := []string{
				"stranger -1  round-00/scone.md:0",
				"stranger 0 donut round-0/donut.md:0",
				"missing 0 scone round-0/scone.md:0",
				"scored 0 scone round-0/scores.json:0",
				"long 1 scone round-1/scone.md:0",
				"broken 2  round-2/panel.json:1",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if report.Launched != 3 || report.Given != 3 || report.Missing != 1 || report.Rounds != 3 ||
				report.Wanting != 6 {
				t.Errorf("counts: %+v", report)
			}
			report, err = Check(d, 1)
			if err != nil || report.Rounds != 1 || len(report.Findings) != 1 {
				t.Errorf("round 1 alone: %+v, %v", report, err)
			}
			if _, err := Check(d, 7); !refuses(err, tryPrompt) {
				t.Errorf("round 7: %v", err)
			}
		})
	}
}

// TestCheckSameSecond puts a turn and launches the next round within one second, to
// which the panel's time is cut: the turn is not late.
func TestCheckSameSecond(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	h.now = h.now.Add(300 * time.Millisecond)
	h.write(t, map[string]string{"round-0/muffin.md": "[PERSPECTIVE P01: x]"})
	h.now = h.now.Add(300 * time.Millisecond)
	if _, err := h.launched(t.Context(), Key{ID: "x"}, 1, "muffin"); err != nil {
		t.Fatal(err)
	}
	h.write(t, map[string]string{"round-1/muffin.md": "[PERSPECTIVE P01: x]"})
	if diff := cmp.Diff([]string(nil), found(t, h.readAll(t), -1)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestCheckLate finds a turn that came after the next round began, and imports one
// that was written a moment ago.
func TestCheckLate(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	h.write(t, map[string]string{
		"round-0/muffin.md":  "[PERSPECTIVE P01: x]",
		"round-1/panel.json": `{"round": 1, "launched": "2026-03-02T10:05:00Z", "experts": [{"name": "muffin"}]}`,
		"round-1/muffin.md":  "[PERSPECTIVE P01: x]",
	})
	h.now = time.Date(2026, 3, 2, 10, 5, 0, 1e8, time.UTC)
	h.write(t, map[string]string{"round-0/eclair.md": "[PERSPECTIVE P01: x]"})
	h.now = h.now.Add(10 * time.Minute)
	file := filepath.Join(h.work.Root, ".claude", "dialogues", "x", "round-0", "scone.md")
	if err := os.WriteFile(file, []byte("[PERSPECTIVE P01: y]"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, h.now, h.now); err != nil {
		t.Fatal(err)
	}
	if err := h.work.Import(t.Context(), ".claude/dialogues/x/round-0/scone.md"); err != nil {
		t.Fatal(err)
	}
	want := []string{"~late round-0/scone.md:0 written after round 1 began"}
	if diff := cmp.Diff(want, found(t, h.readAll(t), -1)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
