package layout

import (
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

	Extra []ExtraField `json:"-"` // further rows, such as Assignee
}

// issueTypes are the types that most queues have; others may be used.
const issueTypes = "bug, security, performance, enhancement, ux, refactor"

var issueFields = newFieldTable(FieldTable[Issue]{
	noun:  "issue %s",
	head:  func(i *Issue) (id, title *string) { return &i.ID, &i.Title },
	cutID: cutEntryID,
	extra: func(i *Issue) *[]ExtraField { return &i.Extra },
	facts: issueFacts,
	rules: markdown.Rules{Rows: true, Plain: markdown.PlainKnown, Form: markdown.RowForm},
	fields: []Field[Issue]{
		{Name: "Status", text: func(i *Issue) *string { return &i.Status }, Needed: true,
			Fact: "status", fold: issueStatus,
			Values: []string{"pending", "accepted", "in_progress", "complete", "duplicate", "wont_fix"}},
		{Name: "Source", text: func(i *Issue) *string { return &i.Source },
			Fact: record.AttributeSource, fold: factWord,
			Values: []string{"user", "generated"},
			Input:  Input{Flag: "source", Default: "generated", Example: "user", clean: snakeWord}},
		{Name: "Type", text: func(i *Issue) *string { return &i.Type }, Needed: true,
			Fact: record.AttributeType, Filter: true, fold: factWord,
			Input: Input{Flag: "type", Example: "bug", Ask: issueTypes + ", or another word",
				Want: "a word, such as " + issueTypes, valid: isShortWord, clean: snakeWord}},
		{Name: "Priority", text: func(i *Issue) *string { return &i.Priority }, Needed: true,
			Fact: record.AttributePriority, Filter: true, fold: factWord,
			Values: []string{"critical", "high", "medium", "low"}, // the most urgent first
			Input:  Input{Flag: "priority", Default: "medium", Example: "medium", clean: snakeWord}},
		{Name: "Created", text: func(i *Issue) *string { return &i.Created }, Fact: record.AttributeCreated},
		{Name: "Loop", text: func(i *Issue) *string { return &i.Loop }, Fact: "loop",
			Input: Input{Flag: "loop", Example: "2", Want: "a number", valid: isNumber}},
		{Name: "Complexity", text: func(i *Issue) *string { return &i.Complexity },
			Values: []string{"easy", "normal", "complex"},
			Input:  Input{Flag: "complexity", Default: "normal", Example: "normal", clean: snakeWord}},
		{Name: "Claimed By", text: func(i *Issue) *string { return &i.ClaimedBy }},
		{Name: "Claimed At", text: func(i *Issue) *string { return &i.ClaimedAt }},
		{Name: "Lease Until", text: func(i *Issue) *string { return &i.LeaseUntil }},
		{Name: "Duplicate Of", text: func(i *Issue) *string { return &i.DuplicateOf }},
		{form: extraForm},
		{Name: "Summary", form: leadForm, text: func(i *Issue) *string { return &i.Summary }, Needed: true,
			Fact: "summary", fold: factSummary,
			Input: Input{Flag: "summary", Ask: "one line that says what is wrong or wanted"}},
		{Name: "Details", form: belowForm, text: func(i *Issue) *string { return &i.Details },
			Input: Input{Flag: "details"}},
		{Name: "Acceptance Criteria", also: []string{"criteria"}, form: itemsForm,
			list: func(i *Issue) *[]string { return &i.Criteria }, Input: Input{Flag: "criteria"}},
		{Name: "Files", form: pathsForm, list: func(i *Issue) *[]string { return &i.Files },
			Input: Input{Flag: "file"}},
		{Name: "Rationale", form: textForm, text: func(i *Issue) *string { return &i.Rationale },
			Input: Input{Flag: "rationale"}},
		{Name: "Task Ref", rows: []string{"task"}, form: leadForm, text: func(i *Issue) *string { return &i.TaskRef },
			Fact: "task", fold: factTask, Input: Input{Flag: "task", clean: lineTaskID}},
	},
})

// IssueFields returns the table of the fields of an issue.
func IssueFields() *FieldTable[Issue] { return issueFields }

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

func isNumber(value string) bool { return strings.Trim(value, "0123456789") == "" }

// lineTaskID returns the id of a task as it is stored: 003 is task-003.
func lineTaskID(id string) string { return TaskID(markdown.OneLine(id)) }

// firstParagraph returns the text up to the first blank line as one line.
func firstParagraph(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	return markdown.SingleSpaced(text)
}

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
