package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIssueQueueInsert(t *testing.T) {
	t.Parallel()
	entry := "### ISSUE-9\n\n**Summary:** new\n\n---\n"
	runInserts(t, issueQueue, []insertCase{
		{"empty file", "", "ISSUE-9", entry, "# Issue Queue\n\n" + entry, []string{"ISSUE-9"}},
		{"byte order mark", "\ufeff", "ISSUE-9", entry, "\ufeff# Issue Queue\n\n" + entry, nil},
		{"title", "# Issue Queue\n", "ISSUE-9", entry, "# Issue Queue\n\n" + entry, nil},
		{"title and blank line", "# Issue Queue\n\n", "ISSUE-9", entry, "# Issue Queue\n\n" + entry, nil},
		{"title without newline", "# Issue Queue", "ISSUE-9", entry, "# Issue Queue\n\n" + entry, nil},
		{"after one", "# Q\n\n### ISSUE-1\na\n", "ISSUE-9", entry, "# Q\n\n### ISSUE-1\na\n\n" + entry, []string{"ISSUE-1", "ISSUE-9"}},
		{"no final newline", "### ISSUE-1\na", "ISSUE-9", entry, "### ISSUE-1\na\n\n" + entry, []string{"ISSUE-1", "ISSUE-9"}},
		{"blank lines at the end", "### ISSUE-1\n\n\n", "ISSUE-9", entry, "### ISSUE-1\n\n\n" + entry, nil},
		{"before a section", "### ISSUE-1\na\n\n## Done\nx\n", "ISSUE-9", entry,
			"### ISSUE-1\na\n\n" + entry + "\n## Done\nx\n", []string{"ISSUE-1", "ISSUE-9"}},
		{"right before a section", "### ISSUE-1\n## Done\n", "ISSUE-9", "### ISSUE-9", "### ISSUE-1\n\n### ISSUE-9\n\n## Done\n", nil},
		{"between issues and a section", "## A\n### ISSUE-1\n## B\n### ISSUE-2\n# C\n", "ISSUE-9", entry,
			"## A\n### ISSUE-1\n## B\n### ISSUE-2\n\n" + entry + "\n# C\n", []string{"ISSUE-1", "ISSUE-2", "ISSUE-9"}},
		{"CRLF", "# Q\r\n\r\n### ISSUE-1\r\n", "ISSUE-9", "### ISSUE-9\na\n\n\n",
			"# Q\r\n\r\n### ISSUE-1\r\n\r\n### ISSUE-9\r\na\r\n", nil},
		{"CRLF into LF", "### ISSUE-1\n", "ISSUE-9", "### ISSUE-9\r\na\r\n", "### ISSUE-1\n\n### ISSUE-9\na\n", nil},
	})
}

func TestIssueQueueDocument(t *testing.T) {
	t.Parallel()
	f, errs := checkAggregate(t, issueQueue, "issue_queue.md", docExample(t, "issue-queue", "issue_queue.md"))
	var got []string
	for _, e := range f.Entries() {
		got = append(got, e.ID+" "+e.Facts.Status)
	}
	want := []string{"ISSUE-20260114-001 pending", "ISSUE-20260114-002 complete", "ISSUE-20260114-003 in_progress"}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("issues of the document (-want +got):\n%s\nerrors %v", diff, errs)
	}
	issue, _ := parseEntry(issueFields, f.Entries()[0].Text)
	files := []string{"src/upload/handler.go", "src/upload/{limit,reader}.go"}
	if diff := cmp.Diff(files, issue.Files); diff != "" || len(issue.Criteria) != 2 {
		t.Errorf("files (-want +got):\n%s\ncriteria %q", diff, issue.Criteria)
	}
	claimed := f.Entries()[2]
	issue, _ = parseEntry(issueFields, claimed.Text)
	if got := issue.ClaimedBy + " " + issue.LeaseUntil; got != "agent-9 2026-01-14T12:30:00Z" || claimed.Facts.Attributes["assignee"] != "agent-9" {
		t.Errorf("the claim is %q, the assignee %q", got, claimed.Facts.Attributes["assignee"])
	}
}

// TestIssueQueueCanonical holds the writer to the form that the file-based
// communication document shows.
func TestIssueQueueCanonical(t *testing.T) {
	t.Parallel()
	want := `### ISSUE-20251212-001

| Field | Value |
|-------|-------|
| Status | pending |
| Source | generated |
| Type | security |
| Priority | high |
| Created | 2025-12-12T10:00:00Z |
| Loop | 1 |
| Complexity | normal |

**Summary:** Add CSRF protection to all forms

**Details:**
Forms lack CSRF tokens, vulnerable to cross-site attacks.

**Acceptance Criteria:**
- All forms include CSRF token
- Token validated on submission
- Invalid tokens return 403

**Files:** src/forms/*.tsx, src/middleware/csrf.ts

---
`
	issue, errs := parseEntry(issueFields, []byte(want))
	got := string(issueFields.Append(nil, issue))
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("issueFields.Append(ParseIssue) (-want +got):\n%s\nerrors %v", diff, errs)
	}
}

func TestCutEntryID(t *testing.T) {
	t.Parallel()
	tests := []struct{ heading, id, title string }{
		{"ISSUE-20260114-001", "ISSUE-20260114-001", ""},
		{"ISSUE-1: Title", "ISSUE-1", "Title"},
		{"ISSUE-1 - Title", "ISSUE-1", "Title"},
		{"ISSUE-1 — Title", "ISSUE-1", "Title"},
		{"[ISSUE-1] Title", "ISSUE-1", "Title"},
		{"`BUILD-1`: Title", "BUILD-1", "Title"},
		{"**BUILD-1.2** Title", "BUILD-1.2", "Title"},
		{"BUILD-1. Title", "BUILD-1", "Title"},
		{"Title", "Title", ""},
		{"Über", "", "Über"},
		{"", "", ""},
	}
	for _, test := range tests {
		id, title := cutEntryID(test.heading)
		if id != test.id || title != test.title {
			t.Errorf("cutEntryID(%q) = %q, %q, want %q, %q", test.heading, id, title, test.id, test.title)
		}
	}
}

func FuzzIssueQueue(f *testing.F) { fuzzAggregate(f, issueQueue, "*-issue_queue.md") }
