package issue

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// An Issue is an entry of the queue with what the rules make of its fields.
type Issue struct {
	ID      string
	Path    string // of its file, slash-separated, below the workspace
	Fields  layout.Issue
	Text    []byte
	Name    record.Name
	Status  Status // pending where the entry has none
	Type    string // a word in lower case
	Summary string // one line; the title where there is no summary
	// Priority is critical, high, medium or low, or another word that somebody
	// has written.
	Priority string
	Created  time.Time // the date in the id where the field is missing
	Hold     Hold
}

// newIssue reads an entry.
func newIssue(name record.Name, path string, text []byte) Issue {
	fields, _ := layout.ParseIssue(text) // what is missing of it shows
	facts := fields.Facts()
	i := Issue{
		ID: name.ID, Name: name, Path: path, Fields: fields, Text: text,
		Status:   cmp.Or(Status(facts.Status), Pending),
		Type:     facts.Attributes[record.AttributeType],
		Priority: facts.Attributes[record.AttributePriority],
		Summary:  oneLine(cmp.Or(fields.Summary, fields.Title)),
		Created:  parseTime(fields.Created),
		Hold:     holdOf(fields),
	}
	if i.Created.IsZero() {
		i.Created = dateOf(i.ID)
	}
	return i
}

// storedIssue reads an entry of a file that is being edited.
func storedIssue(e materialize.StoredEntry, path string) Issue { return newIssue(e.Name, path, e.Text) }

// dateOf returns the date in an id such as ISSUE-20251212-001.
func dateOf(id string) time.Time {
	for part := range strings.SplitSeq(id, "-") {
		if t, err := time.Parse("20060102", part); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Expired reports whether somebody has claimed the issue and the lease is over.
func (i Issue) Expired(now time.Time) bool { return i.Status.IsOpen() && i.Hold.Expired(now) }

// Free reports whether the issue waits for somebody to work on it, and an agent
// may be the one.
func (i Issue) Free(agent string, now time.Time) bool {
	switch i.Status {
	case Pending, Accepted:
		return !i.Hold.binds(agent, now)
	case InProgress:
		return i.Hold.Expired(now)
	}
	return false
}

// oneLine returns text in one line without control characters.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	return strings.Join(strings.Fields(text), " ")
}
