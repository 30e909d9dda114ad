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
		describe: func(lines []markdown.Line) (Facts, []*SyntaxError) {
			issue, errs := parseIssue(lines)
			return issue.Facts(), errs
		},
	}
}

// Parse cuts an issue queue into its issues and the text around them. It
// reports what ParseIssue reports of each issue.
func (q IssueQueue) Parse(path string, text []byte) (File, []*SyntaxError) {
	return q.format().parse(path, text)
}

// Insert returns f with a new issue after the last one, or at the end of a file
// without issues, in the file's line endings. The caller sees to it that its id
// is free: a second entry with one id would be literal text.
func (q IssueQueue) Insert(f File, e Entry) File { return q.format().insert(f, e) }

// Facts returns what an issue says about itself, with its status, type and
// priority as single words in lower case: "Completed" is complete.
func (i Issue) Facts() Facts {
	facts := Facts{
		Loop:    factLine(i.Loop),
		Task:    factTask(i.TaskRef),
		Status:  issueStatus(i.Status),
		Title:   factText(i.Title, maxFactTitle),
		Summary: factText(i.Summary, maxFactSummary),
		Attributes: factAttributes(
			record.AttributeType, factWord(i.Type),
			record.AttributePriority, factWord(i.Priority),
			record.AttributeCreated, factLine(i.Created),
			record.AttributeSource, factWord(i.Source),
		),
	}
	if facts.Title == "" {
		facts.Title = factText(i.Summary, maxFactTitle)
	}
	for _, f := range i.Extra {
		facts.addExtra(markdown.Key(f.Name), f.Value)
	}
	facts.setAttribute(record.AttributeAssignee, factLine(i.ClaimedBy)) // rather than an Assignee
	return facts
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
