package layout

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filebus/store/record"
)

func TestJournalExample(t *testing.T) {
	t.Parallel()
	text := docExample(t, "journal", "task-003.md")
	got, problems := ParseJournal(text)
	if len(problems) > 0 {
		t.Errorf("problems %v, want none", problems)
	}
	want := Journal{
		Task:      "Limit requests per client",
		Status:    "completed",
		Started:   "2026-03-02T09:14:00Z",
		Completed: "2026-03-02T10:02:00Z", ID: "003",
		Progress: []Progress{
			{"2026-03-02T09:14:00Z", "Read the middleware chain in src/http/chain.go"},
			{"2026-03-02T09:31:00Z", "Added a token bucket per API key"},
			{"2026-03-02T09:58:00Z", "go test ./src/http passes, 14 tests"},
		},
		Handoff: &Handoff{
			Outcome:  "completed",
			Summary:  "Requests are limited per API key, 600 a minute, with Retry-After",
			Files:    []HandoffFile{{Path: "src/http/limit.go"}, {Path: "src/http/chain.go"}},
			Patterns: []HandoffPattern{{Pattern: "Middleware takes its clock as an argument, so tests need no sleep"}},
			Gotchas:  []HandoffGotcha{{Issue: "The health check has no key and must be let through"}},
		},
		Notes: "The bucket lives in memory: two instances allow twice the rate.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ParseJournal of the example (-want +got):\n%s", diff)
	}
	if again := AppendJournal(nil, got); !bytes.Equal(again, text) {
		t.Errorf("AppendJournal of the example:\n%s", cmp.Diff(string(text), string(again)))
	}
}

func TestJournalYAMLExample(t *testing.T) {
	t.Parallel()
	text := docExample(t, "journal", "task-004.md")
	j, problems := ParseJournal(text)
	if len(problems) > 0 || j.Handoff == nil {
		t.Fatalf("problems %v, handoff %v", problems, j.Handoff)
	}
	want := Handoff{
		Outcome: "partial",
		Summary: "The table is copied in batches; the old one is still written.\nSwitching reads waits for the index.",
		Files: []HandoffFile{
			{Path: "migrations/0042_invoices.sql", Change: "created", Lines: "38", Description: "New table: partitioned by month"},
			{Path: "src/billing/store.go", Change: "modified", Lines: "120-164", Type: "feature"},
		},
		Patterns:     []HandoffPattern{{"Copy in id ranges, not in offsets", "src/billing/copy.go", "every large table"}},
		Gotchas:      []HandoffGotcha{{"A batch over 5,000 rows holds its lock for more than a second", "1,000 rows a batch", "high"}},
		Dependencies: []string{"The index invoices_month_idx must be built before reads move"},
		Questions:    []HandoffQuestion{{"May the old table be dropped in the same release?", true}},
		NextSteps:    []string{"Build the index concurrently", "Move reads behind the flag billing.read_new"},
		Blockers:     []string{"No maintenance window before Thursday"},
	}
	if diff := cmp.Diff(want, *j.Handoff); diff != "" {
		t.Errorf("handoff of the example (-want +got):\n%s", diff)
	}
	start, end, ok := HandoffSection(text)
	if again := appendHandoffYAML(nil, *j.Handoff); !ok || !bytes.Equal(again, text[start:end]) {
		t.Errorf("AppendHandoffYAML of the example:\n%s", cmp.Diff(string(text[start:end]), string(again)))
	}
}

func TestJournalFacts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       Facts
	}{
		{"empty", "", Facts{}},
		{"metadata", "# Task: A\n## Metadata\n- Status: in_progress\n- Started: 2026-03-02\n- Agent: builder\n- Run ID: run-1\n- Loop: 2\n",
			Facts{Title: "A", Status: "in_progress", Agent: "builder", Run: "run-1", Loop: "2", Attributes: map[string]string{"started": "2026-03-02"}}},
		{"bold metadata", "# Task: A\n## Metadata\n- **Status**: Blocked\n**Started:** today\n",
			Facts{Title: "A", Status: "blocked", Attributes: map[string]string{"started": "today"}}},
		{"by hand", "\ufeff# TASK-V01\r\n\r\n**Agent:** Größe\r\n**Status**: In Progress\r\n\r\n## Log\r\n",
			Facts{Title: "TASK-V01", Status: "in_progress", Agent: "Größe"}},
		{"a sentence is no status", "# A\n\nStatus: it is done when Bob says so.\n", Facts{Title: "A"}},
		{"the outcome wins", "# Task: A\n## Metadata\n- Status: in_progress\n## Handoff\n| Outcome | ✅ Completed |\n| Outcome | failed |\n",
			Facts{Title: "A", Status: "failed"}},
		{"an unknown outcome says nothing", "# Task: A\n## Metadata\n- Status: done\n## Handoff\n| Outcome | see notes |\n| Summary | a \\| b |\n",
			Facts{Title: "A", Status: "complete", Summary: "a | b"}},
		{"other heading", "# Fix the login\n### handoff\noutcome: failed\n", Facts{Title: "Fix the login", Status: "failed"}},
		{"underlined", "Task: A\n=======\n\nHandoff\n-------\noutcome: done\n", Facts{Title: "A", Status: "complete"}},
		{"crlf and bom", "\ufeff# Task: A\r\n\r\n## Metadata\r\n- Status: failed\r\n", Facts{Title: "A", Status: "failed"}},
		{"template", "# Task: A\n## Metadata\n- Status: in_progress | completed | failed\n", Facts{Title: "A"}},
	}
	for _, test := range tests {
		file, _ := journals.Parse("task-1.md", []byte(test.text))
		if got := file.Append(nil); string(got) != test.text {
			t.Errorf("%s: the parts of %q are %q", test.name, test.text, got)
		}
		if diff := cmp.Diff(test.want, file.Entries()[0].Facts); diff != "" {
			t.Errorf("%s: facts of %q (-want +got):\n%s", test.name, test.text, diff)
		}
	}
}

func TestJournalProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"", []string{`a.md:1: a journal begins with a heading "# Task: name"`}},
		{"# Task: A\n\n## Metadata\n\n- Status: shiny\n", []string{`a.md:5: unknown status "shiny"`}},
		{"# Task: A\n\n## Handoff\n\n| Field | Value |\n|---|---|\n| Outcome |\n| Summary | a | b |\n", []string{
			`a.md:7: the handoff's row "| Outcome |" has no value`,
			`a.md:8: the handoff's row "Summary" has 3 cells instead of 2`,
		}},
		{"# Task: A\n## Handoff\n```yaml\noutcome: done\n   x: oops\n```\n", []string{`a.md:5: unexpected "x: oops"`}},
		{"# Task: A\n## Handoff\noutcome: done\n## Handoff\noutcome: failed\n", []string{`a.md:4: a second handoff; the first one counts`}},
	}
	for _, test := range tests {
		_, problems := journals.Parse("a.md", []byte(test.text))
		var got []string
		for _, p := range problems {
			got = append(got, p.Error())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("problems of %q (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestAppendProgress(t *testing.T) {
	t.Parallel()
	entry := Progress{"10:00", "Ran\nthe tests"}
	const line = "- [10:00] Ran the tests"
	tests := []struct{ name, text, want string }{
		{"between sections", "# Task: A\n\n## Progress Log\n- [09:00] Began\n\n## Handoff\n", "# Task: A\n\n## Progress Log\n- [09:00] Began\n" + line + "\n\n## Handoff\n"},
		{"empty section", "## Progress Log\n\n## Notes\n", "## Progress Log\n" + line + "\n\n## Notes\n"},
		{"last section", "## Progress Log\n- a\n", "## Progress Log\n- a\n" + line + "\n"},
		{"no final newline", "## Progress Log\n- a", "## Progress Log\n- a\n" + line + "\n"},
		{"heading alone", "## Progress Log", "## Progress Log\n" + line + "\n"},
		{"crlf", "## Progress Log\r\n- a\r\n\r\n## Notes\r\n", "## Progress Log\r\n- a\r\n" + line + "\r\n\r\n## Notes\r\n"},
		{"continued item", "## Progress Log\n- a\n  b\n\n\n", "## Progress Log\n- a\n  b\n" + line + "\n\n\n"},
		{"subsection", "## Progress Log\n### Day 1\n- a\n## Notes\n", "## Progress Log\n### Day 1\n- a\n" + line + "\n## Notes\n"},
		{"no section", "# Task: A\n\ntext\n", "# Task: A\n\ntext\n\n## Progress Log\n" + line + "\n"},
		{"no section, handoff", "# Task: A\n\n## Handoff\nx\n", "# Task: A\n\n## Progress Log\n" + line + "\n\n## Handoff\nx\n"},
		{"no section, no newline", "# Task: A", "# Task: A\n\n## Progress Log\n" + line + "\n"},
		{"empty file", "", "## Progress Log\n" + line + "\n"},
		{"in a fence", "# Task: A\n```\n## Progress Log\n```\n", "# Task: A\n```\n## Progress Log\n```\n\n## Progress Log\n" + line + "\n"},
		{"any bytes", "## Progress Log\n- \xff\x00\n", "## Progress Log\n- \xff\x00\n" + line + "\n"},
	}
	for _, test := range tests {
		text := []byte(test.text)
		if got := string(AppendProgress(text, entry)); got != test.want {
			t.Errorf("%s: AppendProgress(%q) = %q, want %q", test.name, test.text, got, test.want)
		}
		if string(text) != test.text {
			t.Errorf("%s: AppendProgress changed its argument to %q", test.name, text)
		}
	}
}

func TestHandoffSection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, want string
		ok         bool
	}{
		{"# Task: A\n## Handoff\n| a |\n### More\nx\n## Notes\n", "## Handoff\n| a |\n### More\nx\n", true},
		{"## handoff", "## handoff", true},
		{"```\n## Handoff\n```\n", "", false},
		{"## Handoff plan\n", "", false},
		{"", "", false},
	}
	for _, test := range tests {
		start, end, ok := HandoffSection([]byte(test.text))
		if got := test.text[start:end]; got != test.want || ok != test.ok {
			t.Errorf("HandoffSection(%q) = %q, %t, want %q, %t", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestProgressForms(t *testing.T) {
	t.Parallel()
	text := "## Progress Log\n\n- [09:00] a\n* b\n  more\n- [x](y.md) link\n-\n\nstray\n"
	j, _ := ParseJournal([]byte(text))
	want := []Progress{{"09:00", "a"}, {"", "b more"}, {"", "[x](y.md) link stray"}}
	if diff := cmp.Diff(want, j.Progress); diff != "" {
		t.Errorf("progress of %q (-want +got):\n%s", text, diff)
	}
}

func nestedYAML(levels int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "%sk:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// FuzzJournal holds that reading never loses a byte, that what was written is
// read again as the same, and that a progress line changes nothing else.
func FuzzJournal(f *testing.F) {
	f.Add(docExample(f, "journal", "task-003.md"))
	f.Add(docExample(f, "journal", "task-004.md"))
	f.Add([]byte("Task: A\r\n====\r\n- [x\n## Progress\n## Handoff\n|a|b|c|\n|Files|a, b<br>c|\n"))
	f.Add([]byte("# Task: A\n\n## Handoff\n\n| Files: \xffd | Val"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, _ := journals.Parse("j.md", text)
		if got := file.Append(nil); !bytes.Equal(got, text) {
			t.Fatalf("the parts of %q are %q", text, got)
		}
		checkFacts(t, file)
		longer := AppendProgress(text, Progress{"now", "did it"})
		if len(longer) <= len(text) || !bytes.Contains(longer, []byte("- [now] did it")) {
			t.Fatalf("AppendProgress(%q) = %q", text, longer)
		}
		if start, end, ok := HandoffSection(text); ok {
			h, _ := ParseHandoff(text[start:end])
			checkHandoff(t, h)
		}
	})
}

// checkHandoff holds that both forms of a handoff are read back as they were
// written, once what they cannot hold is gone.
func checkHandoff(t *testing.T, h Handoff) {
	t.Helper()
	for name, write := range map[string]func([]byte, Handoff) []byte{"table": appendHandoff,
		"YAML": appendHandoffYAML} {
		once, _ := ParseHandoff(write(nil, h))
		text := write(nil, once)
		twice, problems := ParseHandoff(text)
		if diff := cmp.Diff(once, twice, cmpopts.EquateEmpty()); diff != "" || len(problems) > 0 {
			t.Fatalf("the %s form %q is read with %v as (-want +got):\n%s", name, text, problems, diff)
		}
	}
}

// checkFacts holds that the facts of every entry can be fields of a record.
func checkFacts(t *testing.T, file File) {
	t.Helper()
	for _, e := range file.Entries() {
		f := e.Facts
		fields := append([]string{f.Agent, f.Conversation, f.Session, f.Run, f.Loop, f.Task, f.Status, f.Title}, f.Tags...)
		for _, value := range f.Attributes {
			fields = append(fields, value)
		}
		for _, field := range fields {
			if word(field) != field {
				t.Fatalf("the fact %q of %s cannot be stored", field, e.Kind)
			}
		}
		if e.Kind == record.KindFrame || e.Line != 1 {
			t.Fatalf("a single record has kind %s and line %d", e.Kind, e.Line)
		}
	}
}
