package layout

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

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
	Complexity string `json:"complexity,omitempty"` // easy, normal or complex

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

	Extra []Property `json:"-"` // further rows, such as Assignee

	// What issues of other programs have beside that.
	State     string   `json:"state,omitempty"`      // the status, as that program calls it
	DependsOn []string `json:"depends_on,omitempty"` // issues that must be closed before
	Parent    string   `json:"parent,omitempty"`
}

// issueTypes are the types that most queues have; others may be used.
const issueTypes = "bug, security, performance, enhancement, ux, refactor"

var issueFields = newFieldTable(FieldTable[Issue]{
	noun:  "issue %s",
	head:  func(i *Issue) (id, title *string) { return &i.ID, &i.Title },
	cutID: cutEntryID,
	extra: func(i *Issue) *[]Property { return &i.Extra },
	facts: issueFacts,
	rules: markdown.Rules{Rows: true, Plain: markdown.PlainKnown, Form: markdown.RowForm},
	fields: []Field[Issue]{
		{Name: "Status", text: func(i *Issue) *string { return &i.Status }, Needed: true,
			Fact: "status", fold: statusFact,
			Values: []string{"pending", "accepted", "in_progress", "complete", "duplicate", "wont_fix"}},
		{Name: "Source", text: func(i *Issue) *string { return &i.Source },
			Fact: attributeSource, fold: factWord,
			Values: []string{"user", "generated"},
			Flag:   "source", Default: "generated", Example: "user", clean: snakeWord},
		{Name: "Type", text: func(i *Issue) *string { return &i.Type }, Needed: true,
			Fact: record.AttributeType, Filter: true, fold: factWord,
			Flag: "type", Example: "bug", Ask: issueTypes + ", or another word",
			Want: "a word, such as " + issueTypes, valid: isShortWord, clean: snakeWord},
		{Name: "Priority", text: func(i *Issue) *string { return &i.Priority }, Needed: true,
			Fact: record.AttributePriority, Filter: true, fold: priorityFact,
			Values: []string{"critical", "high", "medium", "low"}, // the most urgent first
			more:   []string{"backlog"},
			Flag:   "priority", Default: "medium", Example: "medium", clean: snakeWord},
		{Name: "Created", text: func(i *Issue) *string { return &i.Created }, Fact: record.AttributeCreated},
		{Name: "Loop", text: func(i *Issue) *string { return &i.Loop }, Fact: "loop",
			Flag: "loop", Example: "2", Want: "a number", valid: func(v string) bool { return strings.Trim(v, "0123456789") == "" }},
		{Name: "Complexity", text: func(i *Issue) *string { return &i.Complexity },
			Values: []string{"easy", "normal", "complex"},
			Flag:   "complexity", Default: "normal", Example: "normal", clean: snakeWord},
		{Name: "Claimed By", text: func(i *Issue) *string { return &i.ClaimedBy }},
		{Name: "Claimed At", text: func(i *Issue) *string { return &i.ClaimedAt }},
		{Name: "Lease Until", text: func(i *Issue) *string { return &i.LeaseUntil }},
		{Name: "Duplicate Of", text: func(i *Issue) *string { return &i.DuplicateOf }},
		{form: extraForm},
		{Name: "Summary", form: leadForm, text: func(i *Issue) *string { return &i.Summary }, Needed: true,
			Fact: "summary", fold: factSummary,
			Flag: "summary", Ask: "one line that says what is wrong or wanted"},
		{Name: "Details", form: belowForm, text: func(i *Issue) *string { return &i.Details }, Flag: "details"},
		{Name: "Acceptance Criteria", also: []string{"criteria"}, form: itemsForm,
			list: func(i *Issue) *[]string { return &i.Criteria }, Flag: "criteria"},
		{Name: "Files", form: pathsForm, list: func(i *Issue) *[]string { return &i.Files }, Flag: "file"},
		{Name: "Rationale", form: textForm, text: func(i *Issue) *string { return &i.Rationale },
			Flag: "rationale"},
		{Name: "Task Ref", rows: []string{"task"}, form: leadForm, text: func(i *Issue) *string { return &i.TaskRef },
			Fact: "task", fold: factTask, Flag: "task", clean: lineTaskID},
	},
})

// IssueFields returns the table of the fields of an issue.
func IssueFields() *FieldTable[Issue] { return issueFields }

// An issueForm reads issues as a declaration has them, which are not written.
type issueForm struct {
	*FieldTable[Issue]
	layout *declared
}

// Read reads the text of an issue.
func (f issueForm) Read(text []byte) Issue { return f.layout.issue(text) }

// ReadIssue reads the text of an issue that stands in the file at a path.
func ReadIssue(path string, text []byte) Issue {
	if form := Recognize(path).IssueForm(issueFields); form != nil {
		return form.Read(text)
	}
	return issueFields.Read(text)
}

// issue reads the text of an issue of JSON.
func (d *declared) issue(text []byte) (i Issue) {
	s, err := d.readLine(text)
	if err != nil {
		return i
	}
	f := d.read(text, s)
	said := func(field string) string {
		_, values := d.said(field, text, s)
		return cmp.Or(values...)
	}
	i = Issue{
		ID: s.vars["id"], Title: said("title"), Summary: markdown.OneLine(said("title")), Details: said("details"), Status: f.Status, State: said("state"),
		Type: f.Attributes[record.AttributeType], Priority: f.Attributes[record.AttributePriority], Created: f.Attributes[record.AttributeCreated],
	}
	if by := f.Attributes[AttributeAssignee]; by != "" {
		i.Extra = []Property{{"Assignee", by}}
	}
	for _, l := range f.Links {
		switch of, _ := strings.CutPrefix(l.Target, "issue/"); l.Type {
		case "blocked-by":
			i.DependsOn = append(i.DependsOn, of)
		case "parent":
			i.Parent = of
		}
	}
	return i
}

// IssueForm returns the form of the entries of a file, with the fields of a table; nil if they
// are no issues.
func (pl Location) IssueForm(fields *FieldTable[Issue]) EntryForm[Issue] {
	if d, is := pl.Layout.(*declared); is && pl.Entries == record.KindIssue {
		return issueForm{fields, d}
	}
	if pl.Entries != record.KindIssue {
		return nil
	}
	return fields
}

// snakeWord returns a value of one word as issues have it: "In Progress" is
// in_progress.
func snakeWord(value string) string {
	return strings.ReplaceAll(strings.ToLower(markdown.OneLine(value)), " ", "_")
}

// isShortWord reports whether a value is made of letters, digits, "_" and "-".
func isShortWord(value string) bool {
	return len(value) <= 40 && strings.IndexFunc(value, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	}) < 0
}

// lineTaskID returns the id of a task as it is stored: 003 is task-003.
func lineTaskID(id string) string { return TaskID(markdown.OneLine(id)) }

// parseFiles reads the files of an issue: a list, or paths between commas.
func parseFiles(value string) []string {
	items, isList := markdown.ParseItems(value)
	if !isList {
		return markdown.SplitList(value)
	}
	return factList(items, func(item string) string { return strings.TrimSpace(strings.Trim(item, "`")) })
}

// pathsLine returns paths as one line, "" when a name would not be read back from it.
func pathsLine(files []string) string {
	line := markdown.SingleSpaced(strings.Join(files, ", ")) // no quotes: paths stay as they are
	if !slices.Equal(parseFiles(line), files) {
		return ""
	}
	return line
}

// issueQueue is the format of issue_queue.md: issues that agents found and that
// wait for work, described in docs/layouts/issue-queue.md. A heading of level 2
// to 4 that begins with an id such as ISSUE-20251212-001 begins an entry.
var issueQueue = &headingFormat{
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
	example:  "### ISSUE-20251212-001",
	rules:    func() markdown.Rules { return issueFields.rules },
}

// issueFacts adds the title of an issue without one, and who works on it: rather
// than an Assignee.
func issueFacts(i *Issue, facts *Facts) {
	if facts.Title == "" {
		facts.Title = factText(i.Summary, maxFactTitle)
	}
	facts.setAttribute(AttributeAssignee, factLine(i.ClaimedBy))
}

// cutEntryID cuts the text of a heading after the id that it begins with: a
// word of letters, digits, ".", "_" and "-". Brackets, code and bold marks
// around the id, and a colon or dash after it, are dropped.
func cutEntryID(heading string) (id, title string) {
	rest := strings.TrimLeft(heading, "[`*")
	id = leading(rest, func(r rune) bool {
		return r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
	})
	id = strings.TrimRight(id, "._-")
	title = strings.TrimLeft(rest[len(id):], "]`*:.")
	title = strings.TrimSpace(title)
	for _, dash := range []string{"- ", "– ", "— "} {
		if after, ok := strings.CutPrefix(title, dash); ok {
			return id, strings.TrimSpace(after)
		}
	}
	return id, title
}
