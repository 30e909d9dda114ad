package layout

import (
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// IssueQueue is the format of issue_queue.md: issues that agents found and that
// wait for work, described in docs/layouts/issue-queue.md. A heading of level 2
// to 4 that begins with an id such as ISSUE-20251212-001 begins an entry.
type IssueQueue struct{}

func (IssueQueue) format() headingFormat {
	return headingFormat{
		kind:  record.KindIssue,
		title: "Issue Queue",
		identify: func(lines []markdown.Line, i int) (id, title string, ok bool) {
			_, heading := markdown.Heading(lines[i].Text)
			id, title = cutEntryID(heading)
			// The date and the number may have any length: ISSUE-001 occurs as well.
			isID := strings.HasPrefix(id, "ISSUE-") && strings.ContainsAny(id, "0123456789")
			return id, title, isID && lines[i].Level >= 2 && lines[i].Level <= markdown.MaxEntryLevel
		},
		describe: issueFields.describe,
	}
}

// Parse cuts an issue queue into its issues and the text around them. It
// reports what is wrong with the fields of each.
func (q IssueQueue) Parse(path string, text []byte) (File, []*SyntaxError) {
	return q.format().parse(path, text)
}

// Insert returns f with a new issue after the last one, or at the end of a file
// without issues, in the file's line endings. The caller sees to it that its id
// is free: a second entry with one id would be literal text.
func (q IssueQueue) Insert(f File, e Entry) File { return q.format().insert(f, e) }

// issueFacts adds the title of an issue without one, and who works on it: rather
// than an Assignee.
func issueFacts(i *Issue, facts *Facts) {
	if facts.Title == "" {
		facts.Title = factText(i.Summary, maxFactTitle)
	}
	facts.setAttribute(record.AttributeAssignee, factLine(i.ClaimedBy))
}

// cutEntryID cuts the text of a heading after the id that it begins with: a
// word of letters, digits, ".", "_" and "-". Brackets, code and bold marks
// around the id, and a colon or dash after it, are dropped.
func cutEntryID(heading string) (id, title string) {
	rest := strings.TrimLeft(heading, "[`*")
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r > 0x7f || r != '.' && r != '_' && r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	if end < 0 {
		end = len(rest)
	}
	id = strings.TrimRight(rest[:end], "._-")
	title = strings.TrimLeft(rest[len(id):], "]`*:.")
	title = strings.TrimSpace(title)
	for _, dash := range []string{"- ", "– ", "— "} {
		if after, ok := strings.CutPrefix(title, dash); ok {
			return id, strings.TrimSpace(after)
		}
	}
	return id, title
}
