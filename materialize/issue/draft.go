package issue

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A Draft is what somebody says of an issue that is new, or that is changed.
type Draft struct {
	Summary    string // one line
	Type       string // a word: bug, security, ...
	Priority   string // one of Priorities
	Source     string // user or generated
	Loop       string
	Complexity string // easy, normal or complex
	Details    string // Markdown
	Criteria   []string
	Files      []string
	Rationale  string // Markdown
	Task       string // that is made of the issue
	Agent      string // who reports it
}

// maxText bounds the text of an issue, in bytes: about 4,000 tokens, twenty times
// what one usually has.
const maxText = 16 << 10

// A draftField is a field of a draft, as issues have it.
type draftField struct {
	name  string // in lower case, as flags have it
	label string
	value string
}

// fields returns the fields of a draft that are one value, cleaned, in the order
// of an issue.
func (d Draft) fields() []draftField {
	return []draftField{
		{"source", "Source", word(d.Source)}, {"type", "Type", word(d.Type)}, {"priority", "Priority", word(d.Priority)},
		{"loop", "Loop", markdown.OneLine(d.Loop)}, {"complexity", "Complexity", word(d.Complexity)},
		{"summary", "Summary", markdown.OneLine(d.Summary)}, {"details", "Details", markdown.CleanText(d.Details)},
		{"rationale", "Rationale", markdown.CleanText(d.Rationale)}, {"task", "Task Ref", taskRef(d.Task)},
	}
}

// check reports the first field that has a value which it cannot have.
func (d Draft) check() error {
	size := len(strings.Join(slices.Concat(d.Criteria, d.Files), "\n"))
	for _, f := range d.fields() {
		size += len(f.value)
		want := ""
		switch allowed := allowedValues(f.name); {
		case f.value == "":
		case allowed != nil && !slices.Contains(allowed, f.value):
			want = "one of " + strings.Join(allowed, ", ")
		case f.name == "type" && !isWord(f.value):
			want = "a word, such as " + commonTypes
		case f.name == "loop" && strings.Trim(f.value, "0123456789") != "":
			want = "a number"
		}
		if want != "" {
			return errField(f.name, f.value, want)
		}
	}
	if size > maxText {
		return errTooLong(size)
	}
	return nil
}

// commonTypes are the types that most queues have; others may be used.
const commonTypes = "bug, security, performance, enhancement, ux, refactor"

// Check reports what keeps a draft from being a new issue: ErrField or ErrTooLong.
func (d Draft) Check() error {
	switch {
	case markdown.OneLine(d.Summary) == "":
		return errField("summary", "", "one line that says what is wrong or wanted")
	case word(d.Type) == "":
		return errField("type", "", commonTypes+", or another word")
	}
	return d.check()
}

// allowedValues returns the values of a field that has a fixed set of them.
func allowedValues(field string) []string {
	return map[string][]string{
		"priority": Priorities(), "source": {"user", "generated"}, "complexity": {"easy", "normal", "complex"},
	}[field]
}

// word returns a value of one word as issues have it: "In Progress" is
// in_progress.
func word(value string) string {
	return strings.ReplaceAll(strings.ToLower(markdown.OneLine(value)), " ", "_")
}

// isWord reports whether a value is made of letters, digits, "_" and "-".
func isWord(value string) bool {
	return len(value) <= 40 && strings.IndexFunc(value, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	}) < 0
}

// cleanList returns the items of a list that are not empty, each in one line.
func cleanList(items []string) []string {
	var clean []string
	for _, item := range items {
		if item = markdown.OneLine(item); item != "" {
			clean = append(clean, item)
		}
	}
	return clean
}

// entry returns the fields of a new issue.
func (d Draft) entry(id string, now time.Time) layout.Issue {
	i := layout.Issue{
		ID: id, Status: string(Pending), Source: word(d.Source), Type: word(d.Type), Priority: word(d.Priority),
		Created: formatTime(now), Loop: markdown.OneLine(d.Loop), Complexity: word(d.Complexity),
		Summary: markdown.OneLine(d.Summary), Details: markdown.CleanText(d.Details), Criteria: cleanList(d.Criteria),
		Files:     cleanList(d.Files),
		Rationale: markdown.CleanText(d.Rationale), TaskRef: taskRef(d.Task),
	}
	if agent := markdown.OneLine(d.Agent); agent != "" {
		i.Extra = []layout.ExtraField{{Name: "Reported By", Value: agent}}
	}
	return i
}
