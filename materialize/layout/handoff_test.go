package layout

import (
	"strings"
	"testing"

	"filebus/materialize/markdown"

	"github.com/google/go-cmp/cmp"
)

// fullHandoff has a value in every field.
func fullHandoff() Handoff {
	return Handoff{
		Outcome: "completed",
		Summary: "Two | pipes | and a\nline break",
		Files: []HandoffFile{
			{Path: "src/a.go", Change: "created", Lines: "120", Description: "new: the cache"},
			{Path: "src/b, c.go", Change: "modified", Lines: "10-20", Type: "fix"},
			{Path: "src/d.go"},
		},
		Blockers:     []string{"No window; ask again", "none of the keys work"},
		Patterns:     []HandoffPattern{{"Copy by id", "src/copy.go", "large tables"}, {Pattern: "Pass the clock"}},
		Gotchas:      []HandoffGotcha{{"Locks # of rows", "1,000 a batch", "high"}},
		Dependencies: []string{"- the index"},
		Questions:    []HandoffQuestion{{"Drop it: now?", true}, {"Later?", false}},
		NextSteps:    []string{"[build] the index"},
		Extra:        []Property{{"Reviewer", "scone"}},
	}
}

func TestHandoffYAMLKeepsEverything(t *testing.T) {
	t.Parallel()
	want := fullHandoff()
	text := appendHandoffYAML([]byte("before\n"), want)
	section, _ := strings.CutPrefix(string(text), "before\n")
	got, problems := ParseHandoff([]byte(section))
	// Created files are written before modified ones, those before the others.
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("written as %s\nproblems %v, read (-want +got):\n%s", section, problems, diff)
	}
}

func TestHandoffTableKeepsItsFields(t *testing.T) {
	t.Parallel()
	full := fullHandoff()
	got, problems := ParseHandoff(appendHandoff(nil, full))
	want := Handoff{
		Outcome:  full.Outcome,
		Summary:  "Two | pipes | and a line break",
		Files:    []HandoffFile{{Path: "src/a.go"}, {Path: "src/b, c.go"}, {Path: "src/d.go"}},
		Blockers: full.Blockers,
		Patterns: []HandoffPattern{{Pattern: "Copy by id"}, {Pattern: "Pass the clock"}},
		Gotchas:  []HandoffGotcha{{Issue: "Locks # of rows"}},
		Extra:    full.Extra,
	}
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("problems %v, read (-want +got):\n%s", problems, diff)
	}
}

func TestAppendHandoffKeepsItsArgument(t *testing.T) {
	t.Parallel()
	h := Handoff{Blockers: []string{"a<br>b", "c"}, Files: []HandoffFile{{Path: "x<br>y"}}}
	appendHandoff(nil, h)
	if want := []string{"a<br>b", "c"}; !cmp.Equal(h.Blockers, want) || h.Files[0].Path != "x<br>y" {
		t.Errorf("AppendHandoff left %q and %q", h.Blockers, h.Files)
	}
}

func TestEmptyHandoffs(t *testing.T) {
	t.Parallel()
	const table = "## Handoff\n\n| Field | Value |\n|-------|-------|\n| Outcome | None |\n| Summary | None |\n" +
		"| Files Changed | None |\n| Blockers | None |\n| Patterns Discovered | None |\n| Gotchas | None |\n"
	if got := string(appendHandoff(nil, Handoff{})); got != table {
		t.Errorf("AppendHandoff of nothing = %q, want %q", got, table)
	}
	const yaml = "## Handoff\n\n```yaml\noutcome: \"\"\nsummary: \"\"\n```\n"
	if got := string(appendHandoffYAML(nil, Handoff{})); got != yaml {
		t.Errorf("AppendHandoffYAML of nothing = %q, want %q", got, yaml)
	}
	for _, text := range []string{"", "## Handoff", "## Handoff\n", yaml, "## Handoff\n\nTo be written.\n", "## Handoff\n```yaml\n", "## Handoff\n<!-- | Outcome | done | -->\n"} {
		if got, _ := ParseHandoff([]byte(text)); !cmp.Equal(got, Handoff{}) {
			t.Errorf("ParseHandoff(%q) = %+v, want nothing", text, got)
		}
	}
}

func TestHandoffForms(t *testing.T) {
	t.Parallel()
	files := func(paths ...string) (list []HandoffFile) {
		for _, path := range paths {
			list = append(list, HandoffFile{Path: path})
		}
		return list
	}
	tests := []struct {
		name, text string
		want       Handoff
	}{
		{"rows without a heading", "| Outcome | done |\n", Handoff{Outcome: "done"}},
		{"bold keys", "| **Outcome** | done |\n| **Blockers** | n/a |\n", Handoff{Outcome: "done"}},
		{"other names", "| Status | done |\n| Files Modified | a.go |\n| Patterns | p |\n| Gotcha | g |\n",
			Handoff{Outcome: "done", Files: []HandoffFile{{Path: "a.go", Change: "modified"}}, Patterns: []HandoffPattern{{Pattern: "p"}}, Gotchas: []HandoffGotcha{{Issue: "g"}}}},
		{"files by breaks", "| Files Changed | a.go<BR/>b, c.go<br> |\n", Handoff{Files: files("a.go", "b, c.go")}},
		{"files created", "| Files Created | a.go,, `b.go` |\n", Handoff{Files: []HandoffFile{{Path: "a.go", Change: "created"}, {Path: "b.go", Change: "created"}}}},
		{"rows twice", "| Blockers | a |\n| Blockers | b |\n", Handoff{Blockers: []string{"a", "b"}}},
		{"text around", "See below.\n\n| Outcome | done |\n\nThanks.\n", Handoff{Outcome: "done"}},
		{"a fence beside a table", "| Outcome | done |\n\n```\n| Outcome | failed |\n```\n", Handoff{Outcome: "done"}},
		{"a fence of code", "```go\nsummary: no\n```\n\n```yaml\nsummary: yes\n```\n", Handoff{Summary: "yes"}},
		{"a plain fence", "```\nsummary: s\n```\n", Handoff{Summary: "s"}},
		{"yaml before a plain fence", "```\nsummary: a\n```\n~~~yml\nsummary: b\n~~~\n", Handoff{Summary: "b"}},
		{"a table in yaml", "```yaml\nsummary: |\n  | a | b |\noutcome: done\n```\n", Handoff{Summary: "| a | b |", Outcome: "done"}},
		{"items by hand", "- **Outcome:** 完了\r\n* **Summary**: eins: zwei\r\n- Files Changed: a.go, `b.go`\r\n- Blockers: None\r\n\r\n```\n- Summary: no\n```\n",
			Handoff{Outcome: "完了", Summary: "eins: zwei", Files: files("a.go", "b.go")}},
		{"bold lines by hand", "**Outcome:** done\n**Summary:** s\n\nText.\n", Handoff{Outcome: "done", Summary: "s"}},
		{"bare yaml", "outcome: done\nfiles_modified:\n- a.go\n", Handoff{Outcome: "done", Files: []HandoffFile{{Path: "a.go", Change: "modified"}}}},
		{"below a key", "handoff:\n  outcome: done\n", Handoff{Outcome: "done"}},
		{"unclosed fence", "```yaml\noutcome: done\n", Handoff{Outcome: "done"}},
		{"lists for scalars", "summary: [a, b]\nblockers: one\nopen_questions: why?\n",
			Handoff{Summary: "a, b", Blockers: []string{"one"}, Questions: []HandoffQuestion{{Question: "why?"}}}},
		{"nothing in many words", "blockers: none\ngotchas: []\npatterns_discovered: ~\nfiles_created: {}\nsuggested_next_steps:\n", Handoff{}},
		{"flow maps", "gotchas:\n  - {issue: a, severity: low}\n  - {other: b}\n", Handoff{Gotchas: []HandoffGotcha{{Issue: "a", Severity: "low"}, {Issue: "other: b"}}}},
		{"unknown keys", "Confidence: high\nnested:\n  a: 1\n", Handoff{Extra: []Property{{"Confidence", "high"}, {"nested", "a: 1"}}}},
		{"blocking", "open_questions:\n- question: a\n  blocking: Yes\n- question: b\n  blocking: no\n", Handoff{Questions: []HandoffQuestion{{"a", true}, {"b", false}}}},
	}
	for _, test := range tests {
		got, _ := ParseHandoff([]byte("## Handoff\n\n" + test.text))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: handoff of %q (-want +got):\n%s", test.name, test.text, diff)
		}
	}
}

func TestHandoffProblemLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		line int
	}{
		{"| Outcome |", 1},
		{"## Handoff\n| Outcome |", 2},
		{"## Handoff\r\n\r\n| Field | Value |\r\n|---|---|\r\n| Outcome |\r\n", 5},
		{"## Handoff\n```yaml\na: 1\n  b: 2\n```\n", 4},
		{"## Handoff\n\ntext\n\n```yaml\n\na: 1\n  b: 2\n```\n", 8},
		{"a: 1\n  b: 2\n", 2},
	}
	for _, test := range tests {
		_, problems := ParseHandoff([]byte(test.text))
		if len(problems) != 1 || problems[0].Line != test.line {
			t.Errorf("ParseHandoff(%q): problems %v, want one in line %d", test.text, problems, test.line)
		}
	}
}

func TestHandoffCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		handoff Handoff
		want    []string
	}{
		{Handoff{Outcome: "completed", Summary: "s"}, nil},
		{Handoff{}, []string{"the handoff has no outcome", "the handoff has no summary"}},
		{Handoff{Outcome: "shiny", Summary: "s"}, []string{`the outcome "shiny" is none of completed, partial, failed, blocked`}},
		{Handoff{Outcome: "Blocked", Summary: "s"}, []string{"the outcome is Blocked, but no blocker is named"}},
		{Handoff{Outcome: "partial", Summary: "s", Blockers: []string{"b"}}, nil},
		{Handoff{Outcome: "failed", Summary: "s"}, []string{"the outcome is failed, but neither a blocker nor a next step is named"}},
		{Handoff{Outcome: "failed", Summary: "s", NextSteps: []string{"n"}}, nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, test.handoff.Check()); diff != "" {
			t.Errorf("Check of %+v (-want +got):\n%s", test.handoff, diff)
		}
	}
}

func TestCutYAMLFence(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, inside, info string
		before             int
		found              bool
	}{
		{"", "", "", 0, false},
		{"```go\nx\n```\n", "", "", 0, false},
		{"```yaml\na\n```\n", "a\n", "yaml", 1, true},
		{"\n~~~ YAML\r\na\r\n~~~\r\n", "a\r\n", "yaml", 2, true},
		{"````yml\n```\na\n````\n", "```\na\n", "yml", 1, true},
		{"```\na\n```\n```\nb\n```\n", "a\n", "", 1, true},
		{"```\na\n```\n```yaml\nb\n```\n", "b\n", "yaml", 4, true},
		{"```go\n```yaml\na\n```\n", "", "", 0, false},
		{"```yaml\na", "a", "yaml", 1, true},
		{"```yaml", "", "yaml", 1, true},
	}
	for _, test := range tests {
		got, found := markdown.YAMLFence(test.text)
		if got.Inside != test.inside || got.Info != test.info || got.Before != test.before || found != test.found {
			t.Errorf("cutYAMLFence(%q) = %+v, %t, want inside %q of %q after %d lines, %t", test.text, got, found, test.inside, test.info, test.before, test.found)
		}
	}
}
