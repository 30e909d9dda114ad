package issue

import (
	"slices"

	"filebus/materialize/layout"
)

// A Status says how far an issue is. Its text is stored.
type Status string

// The statuses. Agents write others too, which no rule knows: such an issue is
// open, is never handed out, and may be changed to any status.
const (
	pending    Status = "pending"     // found, nobody has decided about it
	accepted   Status = "accepted"    // to be done
	inProgress Status = "in_progress" // somebody works on it
	complete   Status = "complete"
	Duplicate  Status = "duplicate" // of another issue
	wontFix    Status = "wont_fix"
)

// Statuses returns the statuses in the order of an issue's life.
func Statuses() []Status {
	return []Status{pending, accepted, inProgress, complete, Duplicate, wontFix}
}

// IsOpen reports whether there is still something to be done.
func (s Status) IsOpen() bool { return s != complete && s != Duplicate && s != wontFix }

// An Action is what a command does to an issue.
type Action string

// The actions.
const (
	Accept        Action = "accept"
	Claim         Action = "claim"
	Release       Action = "release"
	Finish        Action = "done"
	Reject        Action = "reject"
	MarkDuplicate Action = "duplicate"
	Reopen        Action = "reopen"
)

// A Transition says from which statuses an action leads to which one.
type Transition struct {
	Action Action
	From   []Status
	To     Status
}

// Transitions returns all of them. An action that leads to the status which the
// issue has already changes nothing, but for a claim, which is made longer.
func Transitions() []Transition {
	return []Transition{
		{Accept, []Status{pending}, accepted},
		{Claim, []Status{pending, accepted, inProgress}, inProgress},
		{Release, []Status{accepted, inProgress}, accepted},
		{Finish, []Status{pending, accepted, inProgress}, complete},
		{Reject, []Status{pending, accepted, inProgress}, wontFix},
		{MarkDuplicate, []Status{pending, accepted, inProgress}, Duplicate},
		{Reopen, []Status{complete, Duplicate, wontFix}, pending},
	}
}

// transition returns the one of an action.
func transition(a Action) Transition {
	all := Transitions()
	return all[slices.IndexFunc(all, func(t Transition) bool { return t.Action == a })]
}

// allows reports whether an issue may go from a status that any rule knows.
func (t Transition) allows(from Status) bool {
	return slices.Contains(t.From, from) || !slices.Contains(Statuses(), from)
}

// priorities returns the priorities, the most urgent first.
func priorities() []string { return layout.IssueFields().Values("Priority") }

// urgency gives a priority its place; an unknown one is the last.
func urgency(priority string) int {
	if i := slices.Index(priorities(), priority); i >= 0 {
		return i
	}
	return len(priorities())
}
