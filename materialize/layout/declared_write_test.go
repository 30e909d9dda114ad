package layout

import (
	"testing"
	"time"
)

// TestSetFact changes the status of a decision record: only the words change that say it.
func TestSetFact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, status, want string }{
		{"---\r\nstatus: proposed\r\n---\r\n# A\r\n", "accepted", "---\r\nstatus: accepted\r\n---\r\n# A\r\n"},
		{"---\nStatus: 'on hold' # since May\n---\n", "accepted", "---\nStatus: 'accepted' # since May\n---\n"},
		{"+++\nstatus = \"draft\"\n+++\n# A\n", "rejected", "+++\nstatus = \"rejected\"\n+++\n# A\n"},
		{"---\nstatus: [draft]\n---\n", "accepted", ""},
		{"---\nstatus: >\n  draft\n---\n", "accepted", ""},
		{"---\nother:\n  status: draft\n---\n", "accepted", ""},
		{"# A\n## Status\n\n✅ Accepted (revises [6](0006.md))\n", "deprecated", "# A\n## Status\n\n✅ Deprecated (revises [6](0006.md))\n"},
		{"# A\n## Status\nProposed. Supersedes ADR-036.\n", "accepted", "# A\n## Status\nAccepted. Supersedes ADR-036.\n"},
		{"# A\n## Status\n## Context\nDraft\n", "accepted", ""},
		{"# A\n- **Status:** Superseded by ADR-0009 (in part)  \n", "accepted", "# A\n- **Status:** Accepted  \n"},
		{"# A\n- Status: `Superseded` by 14", "accepted", "# A\n- Status: Accepted"},
		{"# A\n- Status: Draft\n## Status — shipped\nPhase 1.\n", "accepted", "# A\n- Status: Accepted\n## Status — shipped\nPhase 1.\n"},
		{"# A\n- Status: Accepted by Ann", "deprecated", "# A\n- Status: Deprecated by Ann"},
		{"# A\n- Status: Ersetzt durch [ADR-3](3.md)\n", "rejected", "# A\n- Status: Rejected\n"},
		{"# A\n## Status\n\nSuperceded by [4. B](4.md)\n", "accepted", "# A\n## Status\n\nAccepted\n"},
		{"# A\n* Status: on hold\n", "accepted", "# A\n* Status: accepted\n"},
		{"# A\n| Status | Draft |\n| Date | x |\n", "accepted", "# A\n| Status | Accepted |\n| Date | x |\n"},
		{"# A\n**Status**: accepted\n", "superseded by [ADR-1](1.md)", "# A\n**Status**: superseded by [ADR-1](1.md)\n"},
		{"# A\n```\nStatus: draft\n```\n", "accepted", ""},
		{"# A\nNothing.\n", "accepted", ""},
	} {
		if got := Recognize("docs/adr/0001-a.md").SetFact([]byte(c.text), "status", c.status); string(got) != c.want {
			t.Errorf("%q set to %s is %q, want %q", c.text, c.status, got, c.want)
		}
	}
	if got := Recognize("backlog/decisions/a.md").SetFact([]byte("---\nstatus: a\n---\n"), "status", "b"); Recognize("backlog/decisions/a.md").Sets("status") {
		t.Errorf("a decision of a tool is set: %q", got)
	}
}

// TestCompose adds a lesson to a file: all of it stays, and the lesson has the form of the last one.
func TestCompose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, want string }{
		{"", "## Lock once\n\nTwice hangs.\n"},
		{"# Lessons\n", "# Lessons\n\n## Lock once\n\nTwice hangs.\n"},
		{"## Pattern: A\nOne.", "## Pattern: A\nOne.\n\n## Pattern: Lock once\nTwice hangs.\n"},
		{"## A\r\n\r\nOne.\r\n", "## A\r\n\r\nOne.\r\n\r\n## Lock once\r\n\r\nTwice hangs.\r\n"},
		{"## A\n\nOne.\n\n\n# Old\n", "## A\n\nOne.\n\n## Lock once\n\nTwice hangs.\n\n\n# Old\n"},
		{"## 2026-01-02\n* one\n", "## 2026-01-02\n* one\n\n## 2026-03-04\n* Twice hangs.\n"},
		{"## 2026-03-04\n- one\n", "## 2026-03-04\n- one\n- Twice hangs.\n"},
		{"## 2026-03-04\n- one", "## 2026-03-04\n- one\n- Twice hangs.\n"},
		{"## 2026-01-02 — A\none\n", "## 2026-01-02 — A\none\n\n## 2026-03-04 — Lock once\nTwice hangs.\n"},
		{"## 9. A\none\n", "## 9. A\none\n\n## 10. Lock once\nTwice hangs.\n"},
		{"## Pattern: Lesson 3: A\none\n", "## Pattern: Lesson 3: A\none\n\n## Pattern: Lesson 4: Lock once\nTwice hangs.\n"},
	} {
		k := Knowledge{Title: "Lock once", Content: "Twice hangs.\n"}
		got := Recognize("tasks/lessons.md").Compose([]byte(c.old), k, "", time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC))
		if string(got) != c.want {
			t.Errorf("%q becomes %q, want %q", c.old, got, c.want)
		}
	}
}
