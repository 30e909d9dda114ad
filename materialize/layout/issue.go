package layout

import (
	"errors"
	"filebus/store/record"
	"slices"
	"strings"
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
func issueRules() fieldRules {
	return fieldRules{
		known: []string{
			"status", "source", "type", "priority", "created", "loop", "complexity",
			"claimed by", "claimed at", "lease until", "duplicate of", "summary", "details",
			"acceptance criteria", "criteria", "files", "rationale", "task ref", "task",
		},
		blocks: []string{"summary", "details", "acceptance criteria", "criteria", "files", "rationale", "task ref"},
		rows:   true,
		plain:  plainKnown,
		form:   fieldRow,
	}
}

// ParseIssue reads an entry of an issue queue, in its table form or its bullet
// form. It takes what it finds: a field that is missing, unknown or given twice
// is reported, with its line counted from the entry's heading as 1.
func ParseIssue(text []byte) (Issue, []*SyntaxError) { return parseIssue(scanLines(text)) }

// parseIssue is ParseIssue for lines of a whole file, with their numbers.
func parseIssue(lines []scanLine) (Issue, []*SyntaxError) {
	if len(lines) == 0 {
		return Issue{}, []*SyntaxError{{Line: 1, Err: errors.New("issue is empty")}}
	}
	// The id and title are in the heading; all else is found by name, so that the
	// forms and their order are of no concern.
	v, errs := readFields(lines, issueRules())
	_, heading := scanHeading(lines[0].text)
	id, title := cutEntryID(heading)
	issue := Issue{
		ID: id, Title: title,
		Status: v.get("status"), Source: v.get("source"), Type: v.get("type"), Priority: v.get("priority"),
		Created: v.get("created"), Loop: v.get("loop"), Complexity: v.get("complexity"),
		ClaimedBy: v.get("claimed by"), ClaimedAt: v.get("claimed at"), LeaseUntil: v.get("lease until"),
		DuplicateOf: v.get("duplicate of"),
		Summary:     firstParagraph(v.get("summary")),
		Details:     v.get("details"),
		Rationale:   v.get("rationale"),
		Files:       parseFiles(v.get("files")),
		TaskRef:     firstParagraph(v.get("task ref", "task")),
		Extra:       v.extra(issueRules().known),
	}
	issue.Criteria, _ = parseItems(v.get("acceptance criteria", "criteria"))
	return issue, append(errs, issue.check(lines[0].number)...)
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
	return singleSpaced(text)
}

// parseFiles reads the files of an issue: a list, or paths between commas.
func parseFiles(value string) []string {
	items, isList := parseItems(value)
	if !isList {
		return splitList(value)
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
	dst = appendHeading(dst, 3, i.ID, i.Title)
	dst = appendWideHead(append(dst, '\n'), "Field", "Value")
	for _, f := range slices.Concat([]ExtraField{
		{"Status", i.Status}, {"Source", i.Source}, {"Type", i.Type}, {"Priority", i.Priority},
		{"Created", i.Created}, {"Loop", i.Loop}, {"Complexity", i.Complexity},
		{"Claimed By", i.ClaimedBy}, {"Claimed At", i.ClaimedAt}, {"Lease Until", i.LeaseUntil},
		{"Duplicate Of", i.DuplicateOf},
	}, i.Extra) {
		if f.Value != "" {
			dst = appendTightRow(dst, f.Name, f.Value)
		}
	}
	dst = r.appendLabel(append(dst, '\n'), "Summary", singleSpaced(i.Summary))
	if i.Details != "" {
		dst = r.appendBlock(append(dst, "\n**Details:**\n"...), "", i.Details)
	}
	if len(i.Criteria) > 0 {
		dst = r.appendItems(append(dst, "\n**Acceptance Criteria:**\n"...), i.Criteria)
	}
	dst = r.appendFiles(dst, i.Files)
	if i.Rationale != "" {
		dst = r.appendLabel(append(dst, '\n'), "Rationale", i.Rationale)
	}
	if i.TaskRef != "" {
		dst = r.appendLabel(append(dst, '\n'), "Task Ref", singleSpaced(i.TaskRef))
	}
	return append(dst, "\n---\n"...)
}

// appendHeading appends a heading with an id, a title, or both.
func appendHeading(dst []byte, level int, id, title string) []byte {
	dst = append(append(dst, strings.Repeat("#", level)...), ' ')
	dst = append(dst, singleSpaced(id)...)
	if title = singleSpaced(title); title != "" {
		if id != "" {
			dst = append(dst, ": "...)
		}
		dst = append(dst, title...)
	}
	return append(dst, '\n')
}

// appendItems appends a list with one line an item.
func (r fieldRules) appendItems(dst []byte, items []string) []byte {
	var list strings.Builder
	for _, item := range items {
		if item = singleSpaced(item); item != "" {
			list.WriteString("- " + item + "\n")
		}
	}
	if list.Len() == 0 {
		return dst
	}
	return r.appendBlock(dst, "", list.String())
}

// appendFiles appends paths on one line, or as a list when a name would not be
// read back from a line.
func (r fieldRules) appendFiles(dst []byte, files []string) []byte {
	if len(files) == 0 {
		return dst
	}
	line := singleSpaced(strings.Join(files, ", ")) // no quotes: paths stay as they are
	if slices.Equal(parseFiles(line), files) {
		return r.appendLabel(append(dst, '\n'), "Files", line)
	}
	return r.appendItems(append(dst, "\n**Files:**\n"...), files)
}
