package layout

import (
	"strings"
	"testing"

	"filebus/materialize/markdown"

	"github.com/google/go-cmp/cmp"
)

func fullIssue() Issue {
	return Issue{
		ID: "ISSUE-20260114-001", Title: "Uploads", Status: "pending", Source: "generated", Type: "security",
		Priority: "high", Created: "2026-01-14T09:30:00Z", Loop: "1", Complexity: "normal",
		Summary:   "Limit the size | of uploads",
		Details:   "First line.\n\n## Heading\n---\n**Files:** not a block\n**Note:** kept\n\\# slash\n```go\n# code\n```\n```open",
		Criteria:  []string{"[ ] one", "two `x`", "--", "**Summary:** no"},
		Files:     []string{"src/a.go", "src/{b,c}.go"},
		Rationale: "Two\n\nparagraphs", TaskRef: "task-012",
		ClaimedBy: "agent-7", ClaimedAt: "2026-01-14T10:00:00Z", LeaseUntil: "2026 | now", DuplicateOf: "ISSUE-20260113-002",
		Extra: []Property{{"Assignee", "agent-7"}, {"Reported by", "qa | agent"}},
	}
}

func TestIssueRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*Issue)
	}{
		{"full", func(*Issue) {}},
		{"no title", func(i *Issue) { i.Title = "" }},
		{"a file with a comma", func(i *Issue) { i.Files = []string{"a, b.go", "c.go"} }},
		{"a file in brackets", func(i *Issue) { i.Files = []string{"[slug].tsx"} }},
		{"details that look like an issue", func(i *Issue) { i.Details = "### ISSUE-1\n\n| Status | no |\n\n> **Status:** no" }},
		{"details in a comment", func(i *Issue) { i.Details = "<!-- a\n### ISSUE-1\n-->\n<!-- open" }},
		{"details with slashes", func(i *Issue) { i.Details = "\\\\## a\n\\---\n\\b\n \\``` c" }},
		{"details in tildes", func(i *Issue) { i.Details = "~~~\n## a\n~~~\n~~~~" }},
		{"details with indented code", func(i *Issue) { i.Details = "code:\n\n    ## a\n    ---" }},
		{"no blocks", func(i *Issue) { i.Details, i.Criteria, i.Files, i.Rationale, i.TaskRef = "", nil, nil, "", "" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := fullIssue()
			test.change(&want)
			text := issueFields.Append(nil, want)
			got, errs := parseEntry(issueFields, text)
			if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
				t.Errorf("parseEntry(issueFields, %s) (-want +got):\n%s\nerrors %v", text, diff, errs)
			}
			f, errs := checkAggregate(t, issueQueue, "q.md", append([]byte("# Issue Queue\n\n"), text...))
			if entries := f.Entries(); len(entries) != 1 || string(entries[0].Text) != string(text) || len(errs) > 0 {
				t.Errorf("%s\nhas %d entries, errors %v", text, len(entries), errs)
			}
		})
	}
}

func TestAppendIssue(t *testing.T) {
	t.Parallel()
	got := string(issueFields.Append([]byte("before\n"), Issue{
		ID: "ISSUE-20260114-001", Status: "pending", Type: "bug", Priority: "low", Summary: "One\n two",
		Details: "Text.\r\n\r\n## More", Criteria: []string{"works", ""}, Files: []string{"a.go"},
	}))
	want := `before
### ISSUE-20260114-001

| Field | Value |
|-------|-------|
| Status | pending |
| Type | bug |
| Priority | low |

**Summary:** One two

**Details:**
Text.

\## More

**Acceptance Criteria:**
- works

**Files:** a.go

---
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("AppendIssue (-want +got):\n%s", diff)
	}
}

func TestParseIssueEmpty(t *testing.T) {
	t.Parallel()
	issue, errs := parseEntry(issueFields, nil)
	if diff := cmp.Diff(Issue{}, issue); diff != "" || len(errs) != 1 {
		t.Errorf("parseEntry(issueFields, nil) = %+v with errors %v, want none and one", issue, errs)
	}
}

func TestIssueStatus(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"pending", "pending"}, {"Completed", "complete"}, {"**done**", "complete"}, {"In Progress", "in_progress"},
		{"in-progress (since Monday)", "in_progress"}, {"Won't Fix", "wont_fix"}, {"wontfix", "wont_fix"},
		{"`duplicate`", "duplicate"}, {"✅ complete", "complete"}, {"", ""}, {"a\nb", "a"},
		{"closed (duplicate of ISSUE-7)", "complete"}, {"done, verified", "complete"}, {"Cancelled", "wont_fix"},
		{"fixed in v2", "complete"}, {"complete?", "complete?"}, {"~~pending~~ done", "complete"}, {"✅", "✅"},
		{"won’t fix", "wont_fix"}, {"open", "pending"}, {"Pending review", "pending review"}, {"on hold", "on hold"},
		{"90% done", "90% done"}, {"done 50%", "done 50%"}, {"done (100%)", "complete"}, {"todo -> done", "todo -> done"},
		{"pending/done", "pending/done"}, {"<!-- pending --> done", "complete"}, {"hooked", "in_progress"}, {"pinned", "pinned"},
		{"To-Do", "pending"}, {"not done", "not done"}, {"tombstone", "wont_fix"},
	}
	for _, test := range tests {
		if got := statusFact(test.text); got != test.want {
			t.Errorf("statusFact(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestPriorities(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"P1": "high", "🔴 High": "high", "**p0**": "critical", "urgent": "critical", "P4": "backlog", "7": "7", "🔴": "🔴",
		"not high": "not_high", "": "",
	} {
		if got := priorityFact(text); got != want {
			t.Errorf("priorityFact(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestSetIssueField(t *testing.T) {
	t.Parallel()
	table := "### ISSUE-1\n\n| Field  | Value   |\n|--------|---------|\n|Status|pending|\n| Priority  |  low  | \n| Loop |  |\n\n**Summary:** s\n"
	bullets := "### ISSUE-1\r\n\r\n- **Status**: pending\r\n- **Type**: bug\r\n\r\n**Summary:** s\r\n**Files:**\r\n- a\r\n- b\r\n"
	runSets(t, setOf(issueFields), []setCase{
		{"row", table, "status", "accepted", strings.Replace(table, "pending", "accepted", 1)},
		{"row with padding", table, "Priority", "high", strings.Replace(table, "low", "high", 1)},
		{"row with a pipe", table, "Priority", "a|b", strings.Replace(table, "low", `a\|b`, 1)},
		{"row of one line", table, "Priority", " a\nb ", strings.Replace(table, "low", "a b", 1)},
		{"empty cell", table, "Loop", "3", strings.Replace(table, "| Loop |  |", "| Loop | 3 |", 1)},
		{"empty value", table, "Priority", "", strings.Replace(table, "low", "", 1)},
		{"new row", table, "Assignee", "agent-7", strings.Replace(table, "| Loop |  |\n", "| Loop |  |\n| Assignee | agent-7 |\n", 1)},
		{"block", table, "Summary", "t", strings.Replace(table, "** s", "** t", 1)},
		{"bullet", bullets, "Status", "accepted", strings.Replace(bullets, "pending", "accepted", 1)},
		{"new bullet", bullets, "Assignee", "agent-7", strings.Replace(bullets, "bug\r\n", "bug\r\n- **Assignee**: agent-7\r\n", 1)},
		{"list", bullets, "Files", "c", strings.Replace(bullets, "\r\n- a\r\n- b", " c", 1)},
		{"block of lines", bullets, "Summary", "a\n## b", strings.Replace(bullets, " s\r\n", "\r\na\r\n\\## b\r\n", 1)},
		{"no fields", "### ISSUE-1\ntext\n", "Status", "pending",
			"### ISSUE-1\n\n| Field | Value |\n|-------|-------|\n| Status | pending |\n\ntext\n"},
		{"heading alone", "### ISSUE-1", "Status", "pending",
			"### ISSUE-1\n\n| Field | Value |\n|-------|-------|\n| Status | pending |"},
		{"blocks alone", "### ISSUE-1\n\n**Summary:** s\n", "Status", "pending",
			"### ISSUE-1\n\n| Field | Value |\n|-------|-------|\n| Status | pending |\n\n**Summary:** s\n"},
		{"no final newline", "### ISSUE-1\n| Status | a |", "Type", "bug", "### ISSUE-1\n| Status | a |\n| Type | bug |"},
		{"label", "### ISSUE-1\n**Status:**\n", "Status", "a", "### ISSUE-1\n**Status:** a\n"},
		{"new label", "### ISSUE-1\n**Status:** a\n", "Type", "b", "### ISSUE-1\n**Status:** a\n**Type:** b\n"},
		{"first of two", "### ISSUE-1\n| Status | a |\n| Status | b |\n", "Status", "c", "### ISSUE-1\n| Status | c |\n| Status | b |\n"},
		{"nothing", "", "Status", "a", ""},
	})
}

func TestSetIssueBlock(t *testing.T) {
	t.Parallel()
	head := "### ISSUE-1\n\n| Status | a |\n\n**Summary:** s\n"
	details := func(text []byte, _, value string) []byte { return issueFields.Set(text, "Details", value) }
	runSets(t, details, []setCase{
		{"no rule", head, "", "d", head + "\n**Details:** d\n"},
		{"rule", head + "\n---\n\n", "", "d\n\ne", head + "\n**Details:**\nd\n\ne\n\n---\n\n"},
		{"there", head + "**Details:** x\n---\n", "", "d", head + "**Details:** d\n---\n"},
		{"heading alone", "### ISSUE-1", "", "d", "### ISSUE-1\n\n**Details:** d"},
		{"CRLF", "### ISSUE-1\r\n\r\n---\r\n", "", "d", "### ISSUE-1\r\n\r\n**Details:** d\r\n\r\n---\r\n"},
		{"nothing", "", "", "d", ""},
	})
	lists := func(field string) func([]byte, string, string) []byte {
		return func(text []byte, _, value string) []byte {
			return issueFields.Set(text, field, strings.Split(value, "|")...)
		}
	}
	runSets(t, lists("Acceptance Criteria"), []setCase{
		{"new", head, "", "a|b", head + "\n**Acceptance Criteria:**\n- a\n- b\n"},
		{"one", head + "\n---\n", "", "a", head + "\n**Acceptance Criteria:**\n- a\n\n---\n"},
		{"other name", head + "**Criteria:**\n- x\n- y\n", "", "a", head + "**Criteria:**\n- a\n"},
		{"bullet", "### ISSUE-1\n- **Criteria**: x\n", "", "a|b", "### ISSUE-1\n- **Criteria**:\n  - a\n  - b\n"},
		{"row", "### ISSUE-1\n| Criteria | x |\n", "", "a|b", "### ISSUE-1\n| Criteria | a; b |\n"},
	})
	runSets(t, lists("Files"), []setCase{
		{"line", head + "**Files:**\n- x\n", "", "a.go|b.go", head + "**Files:** a.go, b.go\n"},
		{"list", head + "**Files:** x\n", "", "a, b.go|c.go", head + "**Files:**\n- a, b.go\n- c.go\n"},
	})
}

func TestDropIssueField(t *testing.T) {
	t.Parallel()
	drop := func(text []byte, field, _ string) []byte { return issueFields.Set(text, field) }
	runSets(t, drop, []setCase{
		{"row", "### ISSUE-1\n| Status | a |\n| Claimed By | b |\n| Loop | 1 |\n", "claimed by", "", "### ISSUE-1\n| Status | a |\n| Loop | 1 |\n"},
		{"bullet", "### ISSUE-1\r\n- **Claimed by**: b\r\n- **Loop**: 1\r\n", "Claimed By", "", "### ISSUE-1\r\n- **Loop**: 1\r\n"},
		{"missing", "### ISSUE-1\n| Status | a |\n", "Loop", "", "### ISSUE-1\n| Status | a |\n"},
		{"block", "### ISSUE-1\n**Details:** a\nb\n\n**Files:** c\n", "Details", "", "### ISSUE-1\n\n**Files:** c\n"},
		{"block between", "### ISSUE-1\n\n**Summary:** s\n\n**Details:**\na\n\nb\n\n---\n", "Details", "", "### ISSUE-1\n\n**Summary:** s\n\n---\n"},
		{"nothing", "", "Loop", "", ""},
	})
}

func FuzzSetIssueField(f *testing.F) {
	f.Add("| Status | a |", "Status", "b | c")
	f.Add("- **Status**: a\n```\nx", "Summary", "b\n## c")
	f.Add("**Details:**\nx\n\ny", "details", "```\n# a")
	f.Add("* **A**:\n```\n\n```\n0", "B", "c")
	f.Add("* DetAils:", "A", "c")
	f.Add("- Status: a\n- Details:\n- Loop: 1", "A", "c")
	f.Fuzz(func(t *testing.T, body, field, value string) {
		if !isFieldName(field) || strings.TrimSpace(field) != field || strings.ContainsAny(field, "\r\n") {
			return
		}
		if issueFields.field(field).list != nil { // see below
			return
		}
		text := []byte("### ISSUE-1\n" + body)
		set := issueFields.Set(text, field, "agent-7 | x")
		v, _ := markdown.ReadFields(markdown.Lines(set), issueFields.rules)
		if got := v.Get(markdown.Key(field)); got != "agent-7 | x" {
			t.Errorf("%s in %q after set is %q, in %q", field, text, got, set)
		}
		issueFields.Set(text, field, value) // any value: no panic
		if got := issueFields.Set(text, field); len(got) > len(text) {
			t.Errorf("%q without %s is %q", text, field, got)
		}
		criteria := issueFields.Set(text, "Acceptance Criteria", "one", "two")
		if issue, _ := parseEntry(issueFields, criteria); len(issue.Criteria) == 0 {
			t.Errorf("no criteria in %q, made from %q", criteria, text)
		}
	})
}

// isFieldName reports whether a label with a name is read as a field.
func isFieldName(name string) bool {
	v, _ := markdown.ReadFields(markdown.Lines([]byte("### x\n**"+name+":** y\n")), issueFields.rules)
	return v.Get(markdown.Key(name)) == "y"
}
