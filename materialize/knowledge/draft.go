package knowledge

import (
	"cmp"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// types returns the types of entries, in the order of the documentation.
func types() []string { return []string{"pattern", "gotcha", "decision", "insight", "task"} }

// Confidences returns the words for how sure an entry is, the surest first.
func Confidences() []string { return []string{"high", "medium", "low"} }

// A Draft is what somebody says of an entry that is new, or that is changed: the
// fields that its table has flags for.
type Draft layout.Knowledge

// maxContent bounds the text of an entry, in bytes: about 2,000 tokens, twenty
// times what one usually has.
const maxContent = 8 << 10

// clean returns a draft with its values as entries have them.
func (d Draft) clean() Draft {
	layout.KnowledgeFields().Clean((*layout.Knowledge)(&d))
	d.Tags = record.NormalizeTags(d.Tags)
	return d
}

// taskID returns the id of a task as it is stored: 003 is task-003.
func taskID(text string) string {
	text = markdown.OneLine(text)
	return cmp.Or(layout.TaskID(text), text)
}

// check reports the first field that has a value which it cannot have.
func (d Draft) check(f form) error {
	types := types()
	if isLesson(f) {
		types = append(types, "lesson")
	}
	size := len(d.Content) + len(d.Title) + len(extra(layout.Knowledge(d), "File")) + len(strings.Join(d.Tags, ", "))
	switch {
	case d.Type != "" && !slices.Contains(types, d.Type):
		return errField("type", d.Type, "one of "+strings.Join(types, ", "))
	case d.Confidence != "" && !slices.Contains(Confidences(), d.Confidence):
		return errField("confidence", d.Confidence, "one of "+strings.Join(Confidences(), ", "))
	case len(d.Source) > maxSource:
		return errField("source", d.Source[:20]+"…", "the id of a task")
	case size > maxContent:
		return record.Usage.Errorf("an entry of %d bytes is too long for the knowledge graph, which takes %d: "+
			"store the text as a result, and name that in --file", size, maxContent).Because(ErrTooLong)
	}
	for _, tag := range d.Tags {
		if len(tag) > maxTag || strings.ContainsAny(tag, "[]\"`") {
			return errField("tag", firstWords(tag, maxTag), "a word or two without quotes and brackets")
		}
	}
	return nil
}

// The greatest length of a source and of a tag, in bytes.
const (
	maxSource = 100
	maxTag    = 60
)

// checkNew reports what a new entry lacks.
func (d Draft) checkNew(f form) error {
	switch {
	case d.Type == "" && !isLesson(f):
		return errField("type", "", "one of "+strings.Join(types(), ", "))
	case d.Content == "":
		return errField("content", "", "what was learned, in a sentence or two")
	}
	return d.check(f)
}
