package issue

import (
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A Draft is what somebody says of an issue that is new, or that is changed: the
// fields that the table of an issue has flags for.
type Draft layout.Issue

// reporter is the further field that says who has reported an issue.
const reporter = "Reported By"

// By returns the draft as one that an agent reports.
func (d Draft) By(agent string) Draft {
	if agent = markdown.OneLine(agent); agent != "" {
		d.Extra = append(slices.Clone(d.Extra), layout.ExtraField{Name: reporter, Value: agent})
	}
	return d
}

// maxText bounds the text of an issue, in bytes: about 4,000 tokens, twenty times
// what one usually has.
const maxText = 16 << 10

// check returns the fields of a draft as issues have them. The first one that has a
// value which it cannot have is an error.
func (d Draft) check(fields *layout.FieldTable[layout.Issue]) (layout.Issue, error) {
	i := layout.Issue(d)
	size := len(strings.Join(slices.Concat(d.Criteria, d.Files), "\n"))
	fields.Clean(&i)
	if f, value, want := fields.Wrong(&i); want != "" {
		return i, errField(f, value, want)
	}
	for _, f := range fields.Inputs() {
		if isList, _ := f.IsList(); !isList {
			size += len(strings.Join(f.Get(&i), ""))
		}
	}
	if size > maxText {
		return i, errTooLong(size)
	}
	return i, nil
}

// checkNew is check for a draft that is to be a new issue, with what is compared of
// the draft in place.
func (d Draft) checkNew(fields *layout.FieldTable[layout.Issue]) (Draft, layout.Issue, error) {
	i := layout.Issue(d)
	fields.Clean(&i)
	if f, is := fields.Missing(&i); is {
		return d, i, errField(f, "", f.Ask)
	}
	i, err := d.check(fields)
	d.Type, d.Summary = i.Type, i.Summary
	return d, i, err
}

// Check reports what keeps a draft from being a new issue: ErrField or ErrTooLong.
func (d Draft) Check(fields *layout.FieldTable[layout.Issue]) error {
	_, _, err := d.checkNew(fields)
	return err
}
