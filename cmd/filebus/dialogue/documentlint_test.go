package dialogue

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/layout"
)

// sound is a document, by hand, in which nothing is wrong.
const sound = `# Alignment Dialogue: Retry policy

**Draft**: Dialogue 12
**Date**: 2026-03-02 09:30Z
**Status**: Converged
**Participants**: 💙 Judge, 🧁 Muffin, 🧁 Scone

## Expert Panel

| Agent | Role | Tier | Relevance | Emoji |
|---|---|---|---|---|
| 💙 Judge | Orchestrator | — | — | 💙 |
| 🧁 Muffin | Designer | Core | 0.90 | 🧁 |
| 🧁 Scone | Operator | Core | 0.80 | 🧁 |

## Alignment Scoreboard

| Agent | Wisdom | Consistency | Truth | Relationships | **Total** |
|---|---|---|---|---|---|
| 🧁 Muffin | 3 | 2 | 3 | 1 | **9** |
| 🧁 Scone | 1 | 1 | 1 | 1 | **4** |

**Total ALIGNMENT**: 13

### Rounds

| Round | W | C | T | R | Score | S | Open T | New P | Velocity | Converge % |
|---|---|---|---|---|---|---|---|---|---|---|
| 0 | 4 | 3 | 4 | 2 | 13 | 13 | 1 | 3 | 4 | 0% |
| 1 | — | — | — | — | — | 13 | 0 | 0 | 0 | 100% |

## Perspectives Inventory

| ID | Agent | Perspective | Round |
|---|---|---|---|
| P01 | Muffin | One | 0 |
| P02 | Muffin | Two | 0 |
| P01 | Scone | Three | R0 |

## Tensions Tracker

| ID | Tension | Status | Raised | Resolved |
|---|---|---|---|---|
| T01 | Safety | **Resolved** | Scone R0 | Muffin R1 |

## Round 0: Opening Arguments

### Muffin 🧁

[PERSPECTIVE P01: One]

[PERSPECTIVE P02: Two]

### 🧁 Scone

[PERSPECTIVE P01: Three]

[TENSION T01: Safety]

## Round 1

### 🧁 Muffin

[RESOLVED T01: yes]

### Scone 🧁

Nothing to add.
`

func lint(text string) *LintReport {
	doc, found, _ := ReadDocument([]byte(text), func(string) ([]byte, error) { return nil, os.ErrNotExist })
	return LintDocument("d.md", &doc, found)
}

func findingLines(r *LintReport) []string {
	lines := []string{}
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%s %s:%d %s", f.Level, f.Rule, f.Line, f.Message))
	}
	return lines
}

// lineOf returns the number of the line that begins with a text.
func lineOf(t *testing.T, text, start string) int {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, start) {
			return i + 1
		}
	}
	t.Fatalf("no line begins with %q", start)
	return 0
}

func TestLintSound(t *testing.T) {
	t.Parallel()
	r := lint(sound)
	if len(r.Findings) > 0 || r.Incomplete {
		t.Errorf("a sound document is incomplete: %t, findings %q", r.Incomplete, findingLines(r))
	}
}

// TestLint breaks the sound document in one place each. The line of a finding is that
// of the text behind the "@".
func TestLint(t *testing.T) {
	t.Parallel()
	tests := []struct {
		old, new string
		at       string
		want     string // without the line
	}{
		{"# Alignment Dialogue: Retry policy", "# Alignment Dialogue:", "# Alignment", "should header the title is empty"},
		{"**Status**: Converged\n", "", "# Alignment", "should header the head does not say Status"},
		{"**Draft**: Dialogue 12\n", "", "# Alignment", "note header the head does not say Draft"},
		{"| 🧁 Muffin | Designer | Core | 0.90 | 🧁 |\n", "", "### Muffin", "should panel Muffin has a turn in round 0 and is not in the panel"},
		{"| 🧁 Scone | Operator | Core | 0.80 | 🧁 |\n", "| 🧁 Scone | Operator | Core | 0.80 | 🧁 |\n| 🧁 Donut | Guest | Core | 0.8 | 🧁 |\n", "| 🧁 Donut",
			"should panel Donut is in the panel and in no round"},
		{"| 💙 Judge | Orchestrator | — | — | 💙 |\n", "", "## Expert Panel", "note panel the panel has no judge"},
		{"| 💙 Judge | Orchestrator | — | — | 💙 |", "| 🧁 Judge | Orchestrator | — | — | 🧁 |", "| 🧁 Judge", `should emoji the judge has the emoji "🧁"`},
		{"### Scone 🧁", "### Scone", "### Scone", "note emoji a turn has no emoji in its heading"},
		{"| 🧁 Scone | 1 | 1 | 1 | 1 | **4** |", "| 🧁 Scone | 1 | 1 | 1 | 1 | **5** |", "| 🧁 Scone | 1", "must arithmetic the numbers of 🧁 Scone add up to 4, not 5\n" +
			"must arithmetic the totals of the agents add up to 14, not 13"},
		{"| 13 | 13 | 1 | 3 | 4 |", "| 13 | 13 | 1 | 3 | 5 |", "| 0 | 4", "must arithmetic open tensions and new perspectives of round 0 add up to 4, not 5"},
		{"| 0 | 4 | 3 |", "| 0 | 5 | 3 |", "| 0 | 5", "must arithmetic W, C, T and R of round 0 add up to 14, not 13"},
		{"| — | 13 | 0 |", "| — | 14 | 0 |", "| 1 | —", "must arithmetic the scores up to round 1 add up to 13, not 14"},
		{"| 🧁 Scone | 1 | 1 | 1 | 1 | **4** |\n\n**Total ALIGNMENT**: 13", "\n**Total ALIGNMENT**: 9", "",
			"must arithmetic the rounds add up to 13, not 9\nshould scoreboard no row in the scoreboard for Scone"},
		{"[PERSPECTIVE P01: Three]\n\n[TENSION", "[TENSION", "", "note inventories P01 of Scone in round 0: no marker in the turns"},
		{"| P02 | Muffin | Two | 0 |\n", "", "[PERSPECTIVE P02", "should inventories P02 of Muffin in round 0: no row in Perspectives Inventory"},
		{"**Resolved**", "Partial", "| T01", "should gate the document has converged, and T01 is Partial"},
		{"**Resolved**", "**OPEN** 🔴", "| T01", "must gate the document has converged, and T01 is OPEN 🔴"},
		{"**Resolved**", "✅ closed (was open)", "", ""},
		{"| 0 | 0 | 0 | 100% |", "| 0 | 2 | 2 | 50% |", "| 1 | —", "should gate the document has converged, and round 1 has a velocity of 2\n" +
			"should gate the document has converged, and in round 1 50% of the agents have"},
		{"Nothing to add.", "[Awaiting response]", "### Scone", "should rounds round 1 has no text of Scone"},
		{"## Round 1\n", "## Round 2\n", "## Round 2", "should sequence round 2 follows round 0"},
		{"## Round 1\n", "## Round 0\n", "", "should sequence round 0 is there twice\nshould ids Muffin has two blocks in round 0\nshould ids Scone has two blocks in round 0"},
		{"[RESOLVED T01: yes]", "[RESOLVED it: yes]", "[RESOLVED it", "should markers a marker departs from the grammar"},
		{"[RESOLVED T01: yes]", "[RESOLVED on T01 -- yes]", "[RESOLVED on", "note markers a marker departs from the grammar"},
		{"[RESOLVED T01: yes]", "[RESOLVED SCONE R0-T01: yes]", "", ""},
		{"[PERSPECTIVE P02: Two]", "[PERSPECTIVE P02: Two]\n[PERSPECTIVE P02: Again]", "[PERSPECTIVE P02: Again]", "should ids Muffin uses P02 twice in round 0"},
		{"[TENSION T01: Safety]", "[TENSION T1: Safety]", "[TENSION", "note numbering an id does not have two digits"},
	}
	for _, test := range tests {
		text := strings.Replace(sound, test.old, test.new, 1)
		if text == sound {
			t.Errorf("the document does not have %q", test.old)
			continue
		}
		r := lint(text)
		var got []string
		for i, f := range r.Findings {
			got = append(got, fmt.Sprintf("%s %s %s", f.Level, f.Rule, f.Message))
			if i == 0 && test.at != "" && f.Line != lineOf(t, text, test.at) {
				t.Errorf("%q: the finding is in line %d, want %d", test.new, f.Line, lineOf(t, text, test.at))
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("with %q in place of %q: findings (-want +got):\n%s", test.new, test.old, diff)
		}
	}
}

func TestLintNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                              {"must header:1 the document has no title"},
		"## Round 0: A\n\n### Muffin\n": {"must header:1 the document has no title"},
		"# Dialogue 7: A\n\n| **Status** | Recorded |\n\n## Summary\n": {"incomplete"},
	} {
		var got []string
		r := lint(text)
		if r.Incomplete {
			got = []string{"incomplete"}
		}
		for _, line := range findingLines(r) {
			if strings.HasPrefix(line, "must") {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: findings that must be mended (-want +got):\n%s", text, diff)
		}
	}
}

// TestLintAssembled makes sure that what is assembled is in the form that it is
// checked against, with what agents lack as the only findings.
func TestLintAssembled(t *testing.T) {
	t.Parallel()
	for _, split := range []bool{false, true} {
		h := newScoreHall(t, layout.Claude())
		h.write(t, mixed())
		done, err := h.Assemble(t.Context(), Key{ID: "x"}, AssembleOptions{Split: split})
		if err != nil {
			t.Fatal(err)
		}
		doc := readBack(t, done)
		r := LintDocument("d.md", &doc, true)
		if rule.Count(r.Findings, rule.Must) > 0 || r.Incomplete {
			t.Errorf("split %t: findings %q", split, findingLines(r))
		}
		for _, f := range r.Findings {
			if f.Rule == "inventories" || f.Rule == "arithmetic" || f.Rule == "header" || f.Rule == "panel" {
				t.Errorf("split %t: %s", split, f.Message)
			}
		}
	}
}

// TestLintRealDocuments checks documents that agents have written: none makes it
// fail, and those that are known to contradict themselves are found.
func TestLintRealDocuments(t *testing.T) {
	t.Parallel()
	corpus := os.Getenv("FILEBUS_REAL")
	if corpus == "" {
		t.Skip("FILEBUS_REAL names no folder with real documents")
	}
	files, err := filepath.Glob(filepath.Join(corpus, ".blue", "docs", "dialogues", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents below %s: %v", corpus, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := lint(string(text))
		lines := strings.Count(string(text), "\n") + 1
		for _, f := range r.Findings {
			if f.Line < 1 || f.Line > lines || f.Message == "" || f.Remedy == "" {
				t.Errorf("%s: finding %+v", file, f)
			}
		}
	}
}

func FuzzLint(f *testing.F) {
	f.Add(sound)
	f.Add("# A\n## Panel\n| Agent |\n|-|\n| 💙 x |\n## Round 1\n### 💙 x\n[TENSION T1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, f := range lint(text).Findings {
			if f.Line < 1 || f.Message == "" || f.Remedy == "" {
				t.Fatalf("%q: finding %+v", text, f)
			}
		}
	})
}
