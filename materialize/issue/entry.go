package issue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// An Issue is an entry of the queue with what the rules make of its fields.
type Issue struct {
	ID     string `json:"id"`
	Status Status `json:"status"` // pending where the entry has none
	// Priority is critical, high, medium or low, or another word that somebody
	// has written.
	Priority string `json:"priority,omitempty"`
	Type     string `json:"type,omitempty"` // a word in lower case
	Summary  string `json:"summary"`        // one line; the title where there is no summary
	Hold
	Expired      bool        `json:"expired,omitempty"` // somebody has claimed it and the lease is over
	DuplicateOf  string      `json:"duplicate_of,omitempty"`
	Task         string      `json:"task,omitempty"`
	Created      time.Time   `json:"created,omitempty,omitzero"` // the date in the id where the field is missing
	layout.Issue             // the fields as they are written
	File         string      `json:"file,omitempty"` // absolute
	Path         string      `json:"-"`              // of its file, slash-separated, below the workspace
	Text         []byte      `json:"-"`
	Name         record.Name `json:"-"`

	attributes map[string]string
}

// Brief returns the issue without what is long, for lists.
func (i Issue) Brief() Issue {
	i.Issue, i.Created, i.File = layout.Issue{}, time.Time{}, ""
	return i
}

// issue reads an entry.
func (q *Queue) issue(name record.Name, path string, text []byte) Issue {
	fields := q.fields.Read(text) // what is missing of it shows
	facts := q.fields.Facts(fields)
	i := Issue{
		ID: name.ID, Name: name, Path: path, File: q.work.FilePath(path), Issue: fields, Text: text,
		Status:      cmp.Or(Status(facts.Status), pending),
		Type:        facts.Attributes[record.AttributeType],
		Priority:    facts.Attributes[record.AttributePriority],
		Summary:     markdown.OneLine(cmp.Or(fields.Summary, fields.Title)),
		DuplicateOf: fields.DuplicateOf, Task: fields.TaskRef,
		Created: parseTime(fields.Created),
		Hold:    holdOf(fields), attributes: facts.Attributes,
	}
	i.Expired = i.Status.IsOpen() && i.Hold.isOver(q.now())
	if i.Created.IsZero() { // ISSUE-20251212-001
		for part := range strings.SplitSeq(i.ID, "-") {
			if t, err := time.Parse("20060102", part); err == nil && i.Created.IsZero() {
				i.Created = t
			}
		}
	}
	return i
}

// isKeptFrom reports whether a claim keeps an agent from the issue.
func (i Issue) isKeptFrom(agent string) bool {
	return i.Hold.Agent != "" && !i.Expired && !sameAgent(i.Hold.Agent, agent)
}

// isFree reports whether the issue waits for somebody to work on it, and an agent
// may be the one.
func (i Issue) isFree(agent string) bool {
	switch i.Status {
	case pending, accepted:
		return !i.isKeptFrom(agent)
	case inProgress:
		return i.Expired
	}
	return false
}

// A Filter picks issues. Of several values of one field any is enough; different
// fields must all match. The zero Filter picks all.
type Filter struct {
	Facts  map[string][]string // "status", or attributes
	Agents []string            // who has claimed it
	Open   bool                // only those with something to be done
}

// accepts reports whether an issue passes.
func (f Filter) accepts(i Issue) bool {
	for name, wanted := range f.Facts {
		value := i.attributes[name]
		if name == "status" {
			value = string(i.Status)
		}
		if len(wanted) > 0 && !slices.Contains(wanted, value) {
			return false
		}
	}
	isHolder := func(agent string) bool { return sameAgent(agent, i.Hold.Agent) }
	return (len(f.Agents) == 0 || i.Hold.Agent != "" && slices.ContainsFunc(f.Agents, isHolder)) &&
		(!f.Open || i.Status.IsOpen())
}

// sortIssues puts the issue to be done next first: accepted ones and those whose
// lease is over, then pending ones, then those that are worked on, those of an
// unknown status, and at last the closed ones; each by priority, then the oldest.
func sortIssues(all []Issue) {
	slices.SortStableFunc(all, func(a, b Issue) int {
		return cmp.Or(
			cmp.Compare(a.rank(), b.rank()),
			cmp.Compare(urgency(a.Priority), urgency(b.Priority)),
			a.Created.Compare(b.Created),
			cmp.Compare(len(a.ID), len(b.ID)),
			strings.Compare(a.ID, b.ID),
		)
	})
}

// rank is the first of the keys that issues are sorted by.
func (i Issue) rank() int {
	isHeld := i.Hold.Agent != "" && !i.Expired
	switch {
	case i.Status == inProgress && !i.Expired, isHeld && (i.Status == accepted || i.Status == pending):
		return 2
	case i.Status == accepted, i.Expired:
		return 0
	case i.Status == pending:
		return 1
	case i.Status.IsOpen():
		return 3
	}
	return 4
}
