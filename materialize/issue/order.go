package issue

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Filter picks issues. Of several values of one field any is enough; different
// fields must all match. The zero Filter picks all.
type Filter struct {
	Statuses   []Status
	Types      []string
	Priorities []string
	Agents     []string // who has claimed it
	Open       bool     // only those with something to be done
}

// accepts reports whether an issue passes.
func (f Filter) accepts(i Issue) bool {
	isHolder := func(agent string) bool { return sameAgent(agent, i.Hold.Agent) }
	return (len(f.Statuses) == 0 || slices.Contains(f.Statuses, i.Status)) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, i.Type)) &&
		(len(f.Priorities) == 0 || slices.Contains(f.Priorities, i.Priority)) &&
		(len(f.Agents) == 0 || i.Hold.Agent != "" && slices.ContainsFunc(f.Agents, isHolder)) &&
		(!f.Open || i.Status.IsOpen())
}

// sortIssues puts the issue to be done next first: accepted ones and those whose
// lease is over, then pending ones, then those that are worked on, those of an
// unknown status, and at last the closed ones; each by priority, then the oldest.
func sortIssues(all []Issue, now time.Time) {
	slices.SortStableFunc(all, func(a, b Issue) int {
		return cmp.Or(
			cmp.Compare(a.rank(now), b.rank(now)),
			cmp.Compare(urgency(a.Priority), urgency(b.Priority)),
			a.Created.Compare(b.Created),
			cmp.Compare(len(a.ID), len(b.ID)),
			strings.Compare(a.ID, b.ID),
		)
	})
}

// rank is the first of the keys that issues are sorted by.
func (i Issue) rank(now time.Time) int {
	held := i.Hold.Agent != "" && !i.Hold.Expired(now)
	switch {
	case (i.Status == Accepted || i.Status == Pending) && held:
		return 2
	case i.Status == Accepted, i.Expired(now):
		return 0
	case i.Status == Pending:
		return 1
	case i.Status == InProgress:
		return 2
	case i.Status.IsOpen():
		return 3
	}
	return 4
}
