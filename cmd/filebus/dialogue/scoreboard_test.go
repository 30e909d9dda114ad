package dialogue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
)

// retries is a dialogue of three agents and two rounds, in which one agent dies. The
// numbers of the tests were worked out by hand:
//
// Round 0: muffin raises P01, P02 and T01, scone P01 and T01: 3 new perspectives, 2 open
// tensions. Donut left a stub. Muffin 6+5+6+3 = 20, scone 3+3+4+2 = 12: W 9, C 8, T 10,
// R 5, 32 in all.
// Round 1: muffin resolves scone's T01 and converges; scone resolves muffin's; donut
// writes P01. 1 new perspective, no open tension. Muffin 1+1+1+1 = 4, donut 2+0+1+0 = 3,
// scone is not judged: W 3, C 1, T 2, R 1, 7 in all, 39 with round 0.
func retries() map[string]string {
	return map[string]string{
		"expert-pool.json":    `{"title": "Retry policy", "experts": [{"name": "muffin"}, {"name": "scone", "label": "Sir Scone"}, {"name": "donut"}]}`,
		"round-0/muffin.md":   "[PERSPECTIVE P01: callers]\n[PERSPECTIVE P02: budgets]\n[TENSION T01: safety]\n",
		"round-0/scone.md":    "[PERSPECTIVE P01: cost]\n[TENSION T01: who pays]\n",
		"round-0/donut.md":    "[ERROR: out of time]\n",
		"round-0/scores.json": `{"agents": [{"agent": "muffin", "wisdom": 6, "consistency": 5, "truth": 6, "relationships": 3}, {"agent": "scone", "wisdom": 3, "consistency": 3, "truth": 4, "relationships": 2}, {"agent": "donut", "wisdom": 100}]}`,
		"round-1/muffin.md":   "[RESOLVED SCONE R0-T01: the caller]\n[MOVE:CONVERGE]\n",
		"round-1/scone.md":    "[RESOLVED MUFFIN R0-T01]\n[CONCESSION: budgets are right]\n",
		"round-1/donut.md":    "[PERSPECTIVE P01: late]\n[REFINEMENT: ten percent]\n",
		"round-1/scores.json": `{"agents": [{"agent": "muffin", "wisdom": 1, "consistency": 1, "truth": 1, "relationships": 1}, {"agent": "donut", "wisdom": 2, "truth": 1, "converge": true}]}`,
	}
}

func TestBoard(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	board := NewBoard(h.write(t, retries()))
	want := layout.Scoreboard{
		Rounds: []layout.RoundScore{
			{Round: 0, Judged: true, Marks: layout.Marks{Wisdom: 9, Consistency: 8, Truth: 10, Relationships: 5}, Score: 32, Cumulative: 32,
				OpenTensions: 2, NewPerspectives: 3, Velocity: 5},
			{Round: 1, Judged: true, Marks: layout.Marks{Wisdom: 3, Consistency: 1, Truth: 2, Relationships: 1}, Score: 7, Cumulative: 39,
				OpenTensions: 0, NewPerspectives: 1, Velocity: 1, Converge: 66},
		},
		Agents: []layout.AgentScore{
			{Agent: "Muffin", Marks: layout.Marks{Wisdom: 7, Consistency: 6, Truth: 7, Relationships: 4}, Rounds: []layout.AgentRound{
				{Round: 0, Score: 20, Marks: layout.Marks{Wisdom: 6, Consistency: 5, Truth: 6, Relationships: 3}},
				{Round: 1, Score: 4, Marks: layout.Marks{Wisdom: 1, Consistency: 1, Truth: 1, Relationships: 1}},
			}, Total: 24},
			{Agent: "Sir Scone", Marks: layout.Marks{Wisdom: 3, Consistency: 3, Truth: 4, Relationships: 2}, Total: 12, Rounds: []layout.AgentRound{
				{Round: 0, Score: 12, Marks: layout.Marks{Wisdom: 3, Consistency: 3, Truth: 4, Relationships: 2}},
			}},
			{Agent: "Donut", Marks: layout.Marks{Wisdom: 2, Truth: 1}, Total: 3, Rounds: []layout.AgentRound{{Round: 1, Score: 3, Marks: layout.Marks{Wisdom: 2, Truth: 1}}}},
		},
		Total: 39, HasTotal: true,
	}
	if diff := cmp.Diff(want, board.Scoreboard); diff != "" {
		t.Errorf("scoreboard (-want +got):\n%s", diff)
	}
	presence := []Presence{
		{Round: 0, Given: []string{"muffin", "scone"}, Absent: []absentAgent{{Agent: "donut", Reason: stateStub, Stub: "out of time"}}, Discarded: []string{"donut"}},
		{Round: 1, Given: []string{"donut", "muffin", "scone"}, Converge: []string{"donut", "muffin"}, Unjudged: []string{"scone"}},
	}
	if diff := cmp.Diff(presence, board.Presence); diff != "" || board.Converged {
		t.Errorf("converged %t, presence (-want +got):\n%s", board.Converged, diff)
	}
	one := 1
	rows := []layout.TensionRow{
		{ID: "MUFFIN R0-T01", Tension: "safety", Status: "Resolved", Raised: "Muffin R0", Resolved: "Sir Scone R1", ResolvedRound: &one},
		{ID: "SCONE R0-T01", Tension: "who pays", Status: "Resolved", Raised: "Sir Scone R0", Resolved: "Muffin R1", ResolvedRound: &one},
	}
	if diff := cmp.Diff(rows, board.TensionRows()); diff != "" {
		t.Errorf("tensions (-want +got):\n%s", diff)
	}
}

func TestConverged(t *testing.T) {
	t.Parallel()
	tests := []struct {
		texts map[string]string
		want  bool
	}{
		{map[string]string{"0/a": "[MOVE:CONVERGE]", "0/b": "**[MOVE:CONVERGE]**"}, true},
		{map[string]string{"0/a": "[MOVE:CONVERGE]", "0/b": "I wait."}, false},
		{map[string]string{"0/a": "[MOVE:CONVERGE]", "0/b": "Not yet `[MOVE:CONVERGE]`."}, false},
		{map[string]string{"0/a": "[MOVE:CONVERGE]", "0/b": "[ERROR: died]"}, true}, // the absent have no voice
		{map[string]string{"0/a": "[MOVE:CONVERGE]\n[PERSPECTIVE P01: new]"}, false},
		{map[string]string{"0/a": "[TENSION T01: x]", "1/a": "[MOVE:CONVERGE]"}, false},
		{map[string]string{"0/a": "[TENSION T01: x]", "1/a": "[RESOLVED T01]\n[MOVE:CONVERGE]"}, true},
		{map[string]string{"0/a": "[ERROR: died]"}, false},
		{map[string]string{}, false},
	}
	for _, test := range tests {
		if got := NewBoard(talk(test.texts)).Converged; got != test.want {
			t.Errorf("%q: converged %t, want %t", test.texts, got, test.want)
		}
	}
	running := talk(map[string]string{"0/a": "[MOVE:CONVERGE]"})
	running.Round(0).Panel = &layout.Panel{Experts: []layout.Expert{{Name: "a"}, {Name: "b"}}}
	if NewBoard(running).Converged {
		t.Error("a round in which b still owes a file has converged")
	}
}

// written returns the files of a dialogue's folder, below it.
func written(t *testing.T, h *scoreHall, paths ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, p := range paths {
		text, err := os.ReadFile(h.file(t, p))
		if err != nil {
			t.Fatal(err)
		}
		texts[p] = string(text)
	}
	return texts
}

// file returns a file of the dialogue x.
func (h *scoreHall) file(t testing.TB, p string) string {
	t.Helper()
	file, err := h.work.Settings.Profile.Path("dialogue", "x/"+p)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(h.work.Root, filepath.FromSlash(file))
}

func TestDerive(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("blue"), outside(t)} {
		t.Run(profile.Name, func(t *testing.T) {
			h := newScoreHall(t, profile)
			board := NewBoard(h.write(t, retries()))
			if _, err := h.WriteDerived(t.Context(), board, false); err != nil {
				t.Fatal(err)
			}
			paths := []string{"scoreboard.md", "tensions.md", "round-0.summary.md", "round-1.summary.md"}
			texts := written(t, h, paths...)
			if got, found := layout.ParseScoreboard([]byte(texts["scoreboard.md"])); !found || got.Total != 39 || len(got.Agents) != 3 || len(got.Rounds) != 2 {
				t.Errorf("scoreboard.md is read as %+v:\n%s", got, texts["scoreboard.md"])
			}
			if rows := layout.ParseTensions([]byte(texts["tensions.md"])); len(rows) != 2 || rows[0].ID != "MUFFIN R0-T01" {
				t.Errorf("tensions.md is read as %+v:\n%s", rows, texts["tensions.md"])
			}
			summary := "# Round 1 summary — Retry policy\n\nOpen tensions: 0 | New perspectives: 1 | **Velocity: 1** | Converge: 66% | Score: 7\n\n" +
				"3 of 3 agents gave a turn.\n\n## Tensions resolved (2)\n\n- MUFFIN R0-T01 by Sir Scone: safety\n- SCONE R0-T01 by Muffin: who pays\n\n" +
				"## New perspectives (1)\n\n- Donut P01: late\n\n## Concessions (1)\n\n- Sir Scone: budgets are right\n\n## Refinements (1)\n\n- Donut: ten percent\n"
			if _, got, _ := strings.Cut(texts["round-1.summary.md"], "\n"); got != summary {
				t.Errorf("round-1.summary.md (-want +got):\n%s", cmp.Diff(summary, got))
			}
			if !strings.Contains(texts["round-0.summary.md"], "2 of 3 agents gave a turn; Donut stub (out of time).") {
				t.Errorf("round-0.summary.md does not say who is absent:\n%s", texts["round-0.summary.md"])
			}
			files, err := h.WriteDerived(t.Context(), NewBoard(h.readAll(t)), false)
			for _, f := range files {
				if !f.Unchanged || f.Kept {
					t.Errorf("%s, written again: %+v", f.Path, f)
				}
			}
			if diff := cmp.Diff(texts, written(t, h, paths...)); diff != "" || err != nil {
				t.Errorf("written again: %v (-first +second):\n%s", err, diff)
			}
		})
	}
}

// TestDeriveByHand writes beside a judge who writes files by hand: those stay as they
// are, on disk alone too, but for force.
func TestDeriveByHand(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	files := retries()
	files["round-0.summary.md"] = "# Mine\n"
	board := NewBoard(h.write(t, files))
	if _, err := h.WriteDerived(t.Context(), board, false); err != nil {
		t.Fatal(err)
	}
	// A derived file that is changed by hand is the judge's from then on.
	changed := written(t, h, "scoreboard.md")["scoreboard.md"] + "\nBrilliant.\n"
	if err := os.WriteFile(h.file(t, "scoreboard.md"), []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	// Line ends that a tool has changed are no change.
	crlf := strings.ReplaceAll(written(t, h, "round-1.summary.md")["round-1.summary.md"], "\n", "\r\n")
	if err := os.WriteFile(h.file(t, "round-1.summary.md"), []byte(crlf), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := h.WriteDerived(t.Context(), board, false)
	kept := map[string]bool{}
	for _, f := range got {
		kept[f.Path] = f.Kept
	}
	want := map[string]bool{"scoreboard.md": true, "tensions.md": false, "round-0.summary.md": true, "round-1.summary.md": false}
	if diff := cmp.Diff(want, kept); diff != "" || err != nil {
		t.Errorf("kept: %v (-want +got):\n%s", err, diff)
	}
	texts := written(t, h, "scoreboard.md", "round-0.summary.md")
	if texts["scoreboard.md"] != changed || texts["round-0.summary.md"] != "# Mine\n" {
		t.Errorf("files written by hand were replaced: %q", texts)
	}
	if _, err := h.WriteDerived(t.Context(), board, true); err != nil {
		t.Fatal(err)
	}
	for p, text := range written(t, h, "scoreboard.md", "round-0.summary.md") {
		if !strings.HasPrefix(text, "<!-- filebus dialogue score: ") || strings.Contains(text, "Brilliant") {
			t.Errorf("%s with force:\n%s", p, text)
		}
	}
}

// TestDeriveCaptured scores a dialogue of a captured tree, to which nothing is written.
func TestDeriveCaptured(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	other := newScoreHall(t, profileOf("blue"))
	other.write(t, retries())
	if _, err := h.work.Capture(t.Context(), other.work.Root, materialize.CaptureOptions{Tree: "blue"}); err != nil {
		t.Fatal(err)
	}
	key, err := h.Find(t.Context(), "x")
	if err != nil || key.IsOwn() {
		t.Fatalf("found %s, %v", key, err)
	}
	d, err := h.Read(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	board := NewBoard(d)
	if board.Total != 39 {
		t.Errorf("total %d, want 39", board.Total)
	}
	if _, err := h.WriteDerived(t.Context(), board, true); !errors.Is(err, ErrCaptured) {
		t.Errorf("writing to a captured tree: %v", err)
	}
}

// TestDerivedExamples writes over the examples of the document: they are derived files.
func TestDerivedExamples(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "layouts", "dialogue.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := retries()
	for _, name := range []string{"scoreboard.md", "tensions.md"} {
		_, example, found := strings.Cut(string(document), "````markdown file="+name+"\n")
		if files[name], _, _ = strings.Cut(example, "````"); !found {
			t.Fatalf("the document has no example %s", name)
		}
	}
	h := newScoreHall(t, layout.Claude())
	got, err := h.WriteDerived(t.Context(), NewBoard(h.write(t, files)), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got {
		if f.Kept || f.Unchanged {
			t.Errorf("%s was kept: the digest in the document is wrong", f.Path)
		}
	}
}
