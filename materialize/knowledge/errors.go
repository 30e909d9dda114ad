package knowledge

import (
	"cmp"

	"filebus/store/record"
)

// Why something is refused.
const (
	ErrField       record.Reason = "wrong field of knowledge" // names the field and a value that it can have
	ErrLinkType    record.Reason = "wrong type of link"
	ErrNoName      record.Reason = "no name of a component"
	ErrTooLong     record.Reason = "entry too long"
	ErrRowTooLong  record.Reason = "row too long"
	ErrNoFile      record.Reason = "no file of knowledge"
	ErrCaptured    record.Reason = "entry of a captured tree" // names it
	ErrBroken      record.Reason = "broken file of knowledge"
	ErrKnown       record.Reason = "said already"       // names the entry that says it; has the []Likeness
	ErrLink        record.Reason = "impossible link"    // names where it begins
	ErrSuperseded  record.Reason = "superseded already" // names what supersedes it
	ErrNoHandoff   record.Reason = "no handoff yet"     // names the journal
	ErrNoProposal  record.Reason = "no such proposal"
	ErrNoComponent record.Reason = "no such component"
)

// errField says that a value is not one for a field.
func errField(field, value, want string) error {
	err := record.Usage.Errorf("%s %q is not %s", field, value, want)
	if value == "" {
		err = record.Usage.Errorf("no %s is given: %s", field, want)
	}
	examples := map[string]string{"type": "gotcha", "confidence": "medium", "source": "003"}
	return err.Because(ErrField, field, cmp.Or(examples[field], "TEXT"))
}

// errCaptured says that an entry cannot be changed here.
func errCaptured(name record.Name) error {
	err := record.Usage.Errorf("%s is in a captured tree: change its file and capture that again", name)
	return err.Because(ErrCaptured, name.String())
}

// errBroken says that a file is in no state to be added to.
func errBroken(path string) error {
	err := record.Conflict.Errorf("%s cannot take an entry as it is: it is broken, or holds conflict markers of git",
		path)
	return err.Because(ErrBroken)
}

// errKnown says that an entry is not added, as it is likely to say the same as others.
func errKnown(like []Likeness) error {
	e := like[0].Entry
	said := firstWords(e.Fields.Content, maxTitle)
	err := record.Conflict.Errorf("not added: %s is likely to be the same: %s", e.ID, said)
	return err.Because(ErrKnown, e.ID).With(like)
}

// errLink says that two entries cannot be linked.
func errLink(from record.Name, kind string, to record.Name, why string) error {
	return record.Usage.Errorf("%s cannot be linked as %s to %s: %s", from.ID, kind, to.ID, why).Because(ErrLink,
		from.ID)
}

func errSuperseded(name, by record.Name) error {
	return record.Conflict.Errorf("%s is superseded by %s already", name.ID, by.ID).Because(ErrSuperseded, by.ID)
}

func errNoHandoff(name record.Name) error {
	return record.NotFound.Errorf("%s has no handoff yet", name).Because(ErrNoHandoff, name.String())
}
