package issue

import (
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// DefaultLease is how long a claim holds unless it is made again.
const DefaultLease = 30 * time.Minute

// clockSlack is how far the clocks of machines that share a folder may differ.
const clockSlack = time.Minute

// A Hold is a claim as it stands in an issue.
type Hold struct {
	Agent string    `json:"agent,omitempty"`
	At    time.Time `json:"-"`                              // zero: not known
	Until time.Time `json:"lease_until,omitempty,omitzero"` // zero: until it is released
}

// holdOf reads the claim of an issue. An Assignee, which agents write by hand,
// is a claim without an end.
func holdOf(i layout.Issue) Hold {
	h := Hold{Agent: plain(i.ClaimedBy), At: parseTime(i.ClaimedAt), Until: parseTime(i.LeaseUntil)}
	if h.Agent == "" {
		h.Agent = assigneeOf(i)
	}
	return h
}

// assigneeOf returns who an issue was assigned to, or "".
func assigneeOf(i layout.Issue) string { return plain(extra(i, "Assignee")) }

// extra returns the first of the further fields of an issue that has a name.
func extra(i layout.Issue, name string) string {
	for _, f := range i.Extra {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// plain returns a value of a field as one line without marks and control
// characters; a dash, and none, stand for nothing.
func plain(value string) string {
	value = strings.Trim(markdown.OneLine(value), "`* ")
	switch strings.ToLower(value) {
	case "-", "–", "—", "none", "n/a", "nobody", "unassigned":
		return ""
	}
	return value
}

// isOver reports whether the claim holds no more. A clock that has gone back to
// before the claim was made would make the lease longer than it was meant to be:
// then it is over too.
func (h Hold) isOver(now time.Time) bool {
	return h.Agent != "" && !h.Until.IsZero() &&
		(!now.Before(h.Until) || !h.At.IsZero() && now.Before(h.At.Add(-clockSlack)))
}

// sameAgent compares agents as references name them: "QA Agent" is qa_agent.
func sameAgent(a, b string) bool {
	slugA, slugB := layout.Slug(a), layout.Slug(b)
	return a == b || slugA == slugB && slugA != ""
}

// formatTime writes a time as issues have it.
func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// parseTime reads a time as agents write it; what is no time is the zero one.
func parseTime(text string) time.Time {
	text = strings.Trim(markdown.OneLine(text), "`* ")
	for _, form := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
