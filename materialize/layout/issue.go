package layout

import (
	"errors"
	"slices"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// An Issue is the typed view of an entry of an issue queue. Its values are as
// the entry has them: a status may be written "Completed", see Facts.
type Issue struct {
	ID         string `json:"-"`                // such as ISSUE-20251212-001
	Title      string `json:"-"`                // what follows the id in the heading; mostly empty
	Status     string `json:"-"`                // pending, accepted, in_progress, complete, duplicate or wont_fix
	Source     string `json:"source,omitempty"` // user or generated
	Type       string `json:"-"`                // bug, performance, enhancement, ux, security, refactor, ...
	Priority   string `json:"-"`                // critical, high, medium or low
	Created    string `json:"-"`                // as written, mostly RFC 3339
	Loop       string `json:"loop,omitempty"`
	Complexity string `json:"complexity,omitempty"`

	ClaimedBy   string `json:"-"` // the agent that works on it
	ClaimedAt   string `json:"-"` // RFC 3339
	LeaseUntil  string `json:"-"` // RFC 3339; after it the claim holds no more
	DuplicateOf string `json:"-"` // the id of another issue

	Summary   string   `json:"-"`                 // one line
	Details   string   `json:"details,omitempty"` // Markdown
	Criteria  []string `json:"criteria,omitempty"`
	Files     []string `json:"files,omitempty"`     // paths or globs
	Rationale string   `json:"rationale,omitempty"` // Markdown
	TaskRef   string   `json:"-"`                   // the task that was made from the issue

	Extra []ExtraField `json:"-"` // further rows, such as Assignee
}

// The values that an issue's status and priority can have.
const (
	issueStatuses   = " pending accepted in_progress complete duplicate wont_fix "
	issuePriorities = " critical high medium low "
)

// issueRules returns what counts as a field in an issue.
func issueRules() markdown.Rules {
	return markdown.Rules{
		Known: []string{
			"status", "source", "type", "priority", "created", "loop", "complexity",
			"claimed by", "claimed at", "lease until", "duplicate of", "summary", "details",
			"acceptance criteria", "criteria", "files", "rationale", "task ref", "task",
		},
		Blocks: []string{"summary", "details", "acceptance criteria", "criteria", "files", "rationale", "task ref"},
		Rows:   true,
		Plain:  markdown.PlainKnown,
		Form:   markdown.RowForm,
	}
}

// ParseIssue reads an entry of an issue queue, in its table form or its bullet
// form. It takes what it finds: a field that is missing, unknown or given twice
// is reported, with its line counted from the entry's heading as 1.
func ParseIssue(text []byte) (Issue, []*SyntaxError) { return parseIssue(markdown.Lines(text)) }

// parseIssue is ParseIssue for lines of a whole file, with their numbers.
func parseIssue(lines []markdown.Line) (Issue, []*SyntaxError) {
	if len(lines) == 0 {
		return Issue{}, []*SyntaxError{{Line: 1, Err: errors.New("issue is empty")}}
	}
	// The id and title are in the heading; all else is found by name, so that the
	// forms and their order are of no concern.
	v, errs := markdown.ReadFields(lines, issueRules())
	_, heading := markdown.Heading(lines[0].Text)
	id, title := cutEntryID(heading)
	issue := Issue{
		ID: id, Title: title,
		Status: v.Get("status"), Source: v.Get("source"), Type: v.Get("type"), Priority: v.Get("priority"),
		Created: v.Get("created"), Loop: v.Get("loop"), Complexity: v.Get("complexity"),
		ClaimedBy: v.Get("claimed by"), ClaimedAt: v.Get("claimed at"), LeaseUntil: v.Get("lease until"),
		DuplicateOf: v.Get("duplicate of"),
		Summary:     firstParagraph(v.Get("summary")),
		Details:     v.Get("details"),
		Rationale:   v.Get("rationale"),
		Files:       parseFiles(v.Get("files")),
		TaskRef:     firstParagraph(v.Get("task ref", "task")),
		Extra:       extraFields(v, issueRules().Known),
	}
	issue.Criteria, _ = markdown.ParseItems(v.Get("acceptance criteria", "criteria"))
	return issue, append(errs, issue.check(lines[0].Number)...)
}

// ErrValue says that a field of an entry is missing, or has a value that its format
// does not know. The entry is one all the same.
const ErrValue record.Reason = "a value is missing or unknown"

// check reports the fields that an issue cannot be worked on without.
func (i Issue) check(line int) []*SyntaxError {
	var errs []*SyntaxError
	report := func(format string, args ...any) {
		errs = append(errs, &SyntaxError{Line: line, Err: record.Failed.Errorf(format, args...).Because(ErrValue)})
	}
	for _, f := range []ExtraField{
		{"Status", i.Status}, {"Type", i.Type}, {"Priority", i.Priority}, {"Summary", i.Summary},
	} {
		if f.Value == "" {
			report("issue %s has no field %s", i.ID, f.Name)
		}
	}
	if status := issueStatus(i.Status); status != "" && !strings.Contains(issueStatuses, " "+status+" ") {
		report("issue %s has the unknown status %q", i.ID, i.Status)
	}
	if priority := factWord(i.Priority); priority != "" && !strings.Contains(issuePriorities, " "+priority+" ") {
		report("issue %s has the unknown priority %q", i.ID, i.Priority)
	}
	return errs
}

// issueStatus folds the ways to write a status.
func issueStatus(text string) string {
	switch word := factWord(text); word {
	case "completed", "done":
		return "complete"
	case "won_t_fix", "wontfix":
		return "wont_fix"
	default:
		return word
	}
}

// firstParagraph returns the text up to the first blank line as one line.
func firstParagraph(text string) string {
	if i := strings.Index(text, "\n\n"); i >= 0 {
		text = text[:i]
	}
	return markdown.SingleSpaced(text)
}

// parseFiles reads the files of an issue: a list, or paths between commas.
func parseFiles(value string) []string {
	items, isList := markdown.ParseItems(value)
	if !isList {
		return markdown.SplitList(value)
	}
	var files []string
	for _, item := range items {
		item = strings.TrimSpace(strings.Trim(item, "`"))
		if item != "" {
			files = append(files, item)
		}
	}
	return files
}

// AppendIssue appends the canonical text of an issue to dst: the heading, the
// table, the blocks that are not empty, and a closing rule. ParseIssue reads
// every value back, except for white space in fields of one line.
func AppendIssue(dst []byte, i Issue) []byte {
	r := issueRules()
	dst = markdown.AppendHeading(dst, 3, i.ID, i.Title)
	dst = markdown.AppendWideHead(append(dst, '\n'), "Field", "Value")
	for _, f := range slices.Concat([]ExtraField{
		{"Status", i.Status}, {"Source", i.Source}, {"Type", i.Type}, {"Priority", i.Priority},
		{"Created", i.Created}, {"Loop", i.Loop}, {"Complexity", i.Complexity},
		{"Claimed By", i.ClaimedBy}, {"Claimed At", i.ClaimedAt}, {"Lease Until", i.LeaseUntil},
		{"Duplicate Of", i.DuplicateOf},
	}, i.Extra) {
		if f.Value != "" {
			dst = markdown.AppendTightRow(dst, f.Name, f.Value)
		}
	}
	dst = r.AppendLabel(append(dst, '\n'), "Summary", markdown.SingleSpaced(i.Summary))
	if i.Details != "" {
		dst = r.AppendBlock(append(dst, "\n**Details:**\n"...), "", i.Details)
	}
	if len(i.Criteria) > 0 {
		dst = r.AppendItems(append(dst, "\n**Acceptance Criteria:**\n"...), i.Criteria)
	}
	dst = appendFiles(dst, r, i.Files)
	if i.Rationale != "" {
		dst = r.AppendLabel(append(dst, '\n'), "Rationale", i.Rationale)
	}
	if i.TaskRef != "" {
		dst = r.AppendLabel(append(dst, '\n'), "Task Ref", markdown.SingleSpaced(i.TaskRef))
	}
	return append(dst, "\n---\n"...)
}

// appendFiles appends paths on one line, or as a list when a name would not be
// read back from a line.
func appendFiles(dst []byte, r markdown.Rules, files []string) []byte {
	if len(files) == 0 {
		return dst
	}
	line := markdown.SingleSpaced(strings.Join(files, ", ")) // no quotes: paths stay as they are
	if slices.Equal(parseFiles(line), files) {
		return r.AppendLabel(append(dst, '\n'), "Files", line)
	}
	return r.AppendItems(append(dst, "\n**Files:**\n"...), files)
}
