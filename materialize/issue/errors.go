package issue

import (
	"cmp"
	"fmt"
	"strings"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// Why something is refused.
const (
	ErrNoIssue record.Reason = "no such issue"
	ErrStatus  record.Reason = "wrong status"           // names the command that makes it possible, and the issue
	ErrTaken   record.Reason = "claimed already"        // a claim; names the issue
	ErrHeld    record.Reason = "held by another"        // names the holder if nobody knows who asks
	ErrCircle  record.Reason = "a circle of duplicates" // names the other issue
	ErrKnown   record.Reason = "known already"          // names the issue that it is like; has the []Likeness
	ErrField   record.Reason = "wrong field of issue"   // names the field and a value that it can have
	ErrTooLong record.Reason = "issue too long"
	ErrNoAgent record.Reason = "claim needs an agent"
	ErrNoNew   record.Reason = "no new issue" // names the position of the log to go on from
)

func errNoIssue(id string) error {
	return record.NotFound.Errorf("there is no issue %s", id).Because(ErrNoIssue)
}

func errNoAgent() error { return record.Usage.Errorf("a claim needs an agent").Because(ErrNoAgent) }

// errStatus says that an issue's status does not allow an action.
func errStatus(i Issue, a Action) error {
	var from []string
	for _, s := range transition(a).From {
		from = append(from, string(s))
	}
	way := "show"
	switch {
	case !i.Status.IsOpen():
		way = string(Reopen)
	case i.Status == inProgress:
		way = string(Release)
	case a == Release:
		way = string(Accept)
	}
	err := record.Conflict.Errorf("%s is %s: %s needs one that is %s", i.ID, i.Status, a, strings.Join(from, " or "))
	return err.Because(ErrStatus, way, i.ID)
}

// errHeld says that another agent holds an issue; who asks may be "".
func errHeld(i Issue, a Action, agent string) error {
	until := ""
	if !i.Hold.Until.IsZero() {
		until = " until " + formatTime(i.Hold.Until)
	}
	err := record.Conflict.Errorf("%s is claimed by %s%s", i.ID, i.Hold.Agent, until)
	switch {
	case a == Claim:
		return err.Because(ErrTaken, i.ID)
	case agent == "":
		return err.Because(ErrHeld, i.Hold.Agent)
	}
	return err.Because(ErrHeld)
}

func errCircle(id, of string) error {
	why := fmt.Sprintf("%s, which is one of %s", of, id)
	if id == of {
		why = "itself"
	}
	return record.Usage.Errorf("%s cannot be a duplicate of %s", id, why).Because(ErrCircle, of)
}

// errKnown says that an issue is not added, as it is likely to be the same as others.
func errKnown(like []Likeness) error {
	err := record.Conflict.Errorf("not added: %s is likely to be the same: %s", like[0].ID, like[0].Summary)
	return err.Because(ErrKnown, like[0].ID).With(like)
}

// errField says that a value is not one for a field.
func errField(f layout.Field[layout.Issue], value, want string) error {
	err := record.Usage.Errorf("%s %q is not %s", f.Flag, value, want)
	if value == "" {
		err = record.Usage.Errorf("an issue needs a %s: %s", f.Flag, want)
	}
	return err.Because(ErrField, f.Flag, cmp.Or(f.Example, "TEXT"))
}

// errTooLong says that the text of an issue is too long for the queue, which agents
// read.
func errTooLong(size int) error {
	return record.Usage.Errorf("an issue of %d bytes is too long for the queue, which takes %d: "+
		"store the text as a result, and name that in the details", size, maxText).Because(ErrTooLong)
}
