package issue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
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
	hold
	Expired      bool        `json:"expired,omitempty"` // somebody has claimed it and the lease is over
	Local        bool        `json:"local,omitempty"`   // it was just claimed, and other machines have not heard of it
	DuplicateOf  string      `json:"duplicate_of,omitempty"`
	Task         string      `json:"task,omitempty"`
	Created      time.Time   `json:"created,omitempty,omitzero"` // the date in the id where the field is missing
	layout.Issue             // the fields as they are written
	File         string      `json:"file,omitempty"` // absolute
	Path         string      `json:"-"`              // of its file, slash-separated, below the workspace
	Text         []byte      `json:"-"`
	Name         record.Name `json:"-"`
	// BlockedBy are the open issues that it waits for, of those that List has seen.
	BlockedBy []string `json:"blocked_by,omitempty"`

	attributes map[string]string
}

// Brief returns the issue without what is long, for lists.
func (i Issue) Brief() Issue {
	i.Issue, i.Created, i.File = layout.Issue{}, time.Time{}, ""
	return i
}

// issue reads an entry.
func (q *Queue) issue(name record.Name, path string, text []byte) Issue {
	fields := layout.ReadIssue(text) // what is missing of it shows
	facts := q.fields.Facts(fields)
	i := Issue{
		ID: name.ID, Name: name, Path: path, File: q.work.FilePath(path), Issue: fields, Text: text,
		Status:      cmp.Or(Status(facts.Status), pending),
		Type:        facts.Attributes[record.AttributeType],
		Priority:    facts.Attributes[record.AttributePriority],
		Summary:     markdown.OneLine(cmp.Or(fields.Summary, fields.Title)),
		DuplicateOf: fields.DuplicateOf, Task: fields.TaskRef,
		Created: parseTime(fields.Created),
		hold:    holdOf(fields), attributes: facts.Attributes,
	}
	i.Expired = i.Status.IsOpen() && i.hold.isOver(q.now())
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
	return i.hold.Agent != "" && !i.Expired && !sameAgent(i.hold.Agent, agent)
}

// isFree reports whether the issue waits for somebody to work on it, and an agent
// may be the one.
func (i Issue) isFree(agent string) bool {
	switch i.Status {
	case pending, accepted:
		return len(i.BlockedBy) == 0 && !i.isKeptFrom(agent)
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
	isHolder := func(agent string) bool { return sameAgent(agent, i.hold.Agent) }
	return (len(f.Agents) == 0 || i.hold.Agent != "" && slices.ContainsFunc(f.Agents, isHolder)) &&
		(!f.Open || i.Status.IsOpen())
}

// setBlocked says of each issue what it waits for: open issues that it depends on, or that
// its parents wait for.
func setBlocked(all []Issue) {
	at := make(map[string]*Issue, len(all))
	for n := range all {
		at[all[n].ID] = &all[n]
	}
	for _, i := range at {
		seen := map[*Issue]bool{nil: true} // parents may be in a circle
		for of := i; !seen[of]; of = at[of.Parent] {
			seen[of] = true
			for _, on := range of.DependsOn {
				if other := at[on]; other != nil && other != i && other.Status.IsOpen() {
					i.BlockedBy = append(i.BlockedBy, on)
				}
			}
		}
	}
}

// isForeign reports whether another program keeps the issue: filebus only reads it.
func (q *Queue) isForeign(i Issue) bool {
	return q.work.Settings.Profile.Recognize(i.Path).IsForeign()
}

// errForeign says so.
func errForeign(i Issue) error {
	err := record.Conflict.Errorf("%s stands in %s, which the program bd keeps: filebus reads it and never writes it",
		i.ID, i.Path)
	return err.Try("bd update {1}, or bd close {1}", i.ID).Because(materialize.ErrForeign, i.ID)
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
	isHeld := i.hold.Agent != "" && !i.Expired
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

// A Status says how far an issue is. Its text is stored.
type Status string

// The statuses. Agents write others too, which no rule knows: such an issue is
// open, is never handed out, and may be changed to any status.
const (
	pending    Status = "pending"     // found, nobody has decided about it
	accepted   Status = "accepted"    // to be done
	inProgress Status = "in_progress" // somebody works on it
	complete   Status = "complete"
	duplicate  Status = "duplicate" // of another issue
	wontFix    Status = "wont_fix"
)

// statuses returns the statuses in the order of an issue's life.
func statuses() []Status {
	return []Status{pending, accepted, inProgress, complete, duplicate, wontFix}
}

// IsOpen reports whether there is still something to be done.
func (s Status) IsOpen() bool { return s != complete && s != duplicate && s != wontFix }

// An Action is what a command does to an issue.
type Action string

// The actions.
const (
	accept        Action = "accept"
	claim         Action = "claim"
	release       Action = "release"
	finish        Action = "done"
	reject        Action = "reject"
	markDuplicate Action = "duplicate"
	reopen        Action = "reopen"
)

// A transition says from which statuses an action leads to which one.
type transition struct {
	Action Action
	From   []Status
	To     Status
}

// transitions returns all of them. An action that leads to the status which the
// issue has already changes nothing, but for a claim, which is made longer.
func transitions() []transition {
	return []transition{
		{accept, []Status{pending}, accepted},
		{claim, []Status{pending, accepted, inProgress}, inProgress},
		{release, []Status{accepted, inProgress}, accepted},
		{finish, []Status{pending, accepted, inProgress}, complete},
		{reject, []Status{pending, accepted, inProgress}, wontFix},
		{markDuplicate, []Status{pending, accepted, inProgress}, duplicate},
		{reopen, []Status{complete, duplicate, wontFix}, pending},
	}
}

// transitionOf returns the one of an action.
func transitionOf(a Action) transition {
	all := transitions()
	return all[slices.IndexFunc(all, func(t transition) bool { return t.Action == a })]
}

// allows reports whether an issue may go from a status that any rule knows.
func (t transition) allows(from Status) bool {
	return slices.Contains(t.From, from) || !slices.Contains(statuses(), from)
}

// urgency gives a priority its place, the most urgent first; an unknown one is the last.
func urgency(priority string) int {
	all := layout.IssueFields().Input("priority").Values
	if i := slices.Index(all, priority); i >= 0 {
		return i
	}
	return len(all)
}

// DefaultLease is how long a claim holds unless it is made again. SharedLease is that of a
// store with remotes: other machines hear of a claim, and that it was made again, only in time.
const (
	DefaultLease = 30 * time.Minute
	SharedLease  = 24 * time.Hour
)

// A hold is a claim as it stands in an issue.
type hold struct {
	Agent string    `json:"agent,omitempty"`
	At    time.Time `json:"-"`                              // zero: not known
	Until time.Time `json:"lease_until,omitempty,omitzero"` // zero: until it is released
}

// holdOf reads the claim of an issue. An Assignee, which agents write by hand,
// is a claim without an end.
func holdOf(i layout.Issue) hold {
	agent := cmp.Or(plain(i.ClaimedBy), assigneeOf(i))
	return hold{Agent: agent, At: parseTime(i.ClaimedAt), Until: parseTime(i.LeaseUntil)}
}

// assigneeOf returns who an issue was assigned to, or "".
func assigneeOf(i layout.Issue) string { return plain(layout.ExtraValue(i.Extra, "Assignee")) }

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
func (h hold) isOver(now time.Time) bool {
	const clockSlack = time.Minute // how far the clocks of machines that share a folder may differ
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
	t, _ := layout.ParseDate(strings.Trim(markdown.OneLine(text), "`* "))
	return t.UTC()
}
