package knowledge

import (
	"cmp"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// Types returns the types of entries, in the order of the documentation.
func Types() []string { return []string{"pattern", "gotcha", "decision", "insight", "task"} }

// Confidences returns the words for how sure an entry is, the surest first.
func Confidences() []string { return []string{"high", "medium", "low"} }

// A Draft is what somebody says of an entry that is new, or that is changed.
type Draft struct {
	Type       string // one of Types
	Title      string // may be empty
	Tags       []string
	Content    string // Markdown
	Source     string // the task it was learned in; 003 is task-003
	Confidence string // one of Confidences, or empty
	File       string // with more of it; may be empty
	Links      []record.Link
	// Into is the file that it goes to, slash-separated below the workspace. Empty:
	// the knowledge graph of the profile.
	Into string
}

// maxContent bounds the text of an entry, in bytes: about 2,000 tokens, twenty
// times what one usually has.
const maxContent = 8 << 10

// clean returns a draft with its values as entries have them.
func (d Draft) clean() Draft {
	d.Type, d.Confidence = word(d.Type), word(d.Confidence)
	d.Title, d.File = markdown.OneLine(d.Title), markdown.OneLine(d.File)
	d.Content, d.Source = markdown.CleanText(d.Content), taskID(d.Source)
	var tags []string
	for _, tag := range d.Tags {
		tags = append(tags, markdown.OneLine(tag))
	}
	d.Tags = record.NormalizeTags(tags)
	return d
}

// taskID returns the id of a task as it is stored: 003 is task-003.
func taskID(text string) string {
	text = markdown.OneLine(text)
	return cmp.Or(layout.TaskID(text), text)
}

// check reports the first field that has a value which it cannot have.
func (d Draft) check(f form) error {
	types := Types()
	if f.isLesson {
		types = append(types, "lesson")
	}
	size := len(d.Content) + len(d.Title) + len(d.File) + len(strings.Join(d.Tags, ", "))
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
	case d.Type == "" && !f.isLesson:
		return errField("type", "", "one of "+strings.Join(Types(), ", "))
	case d.Content == "":
		return errField("content", "", "what was learned, in a sentence or two")
	}
	return d.check(f)
}

// entry returns the fields of a new entry.
func (d Draft) entry(id, created string) layout.Knowledge {
	k := layout.Knowledge{
		ID: id, Title: d.Title, Type: d.Type, Tags: d.Tags, Content: d.Content,
		Source: d.Source, Confidence: d.Confidence, Created: created,
	}
	if d.File != "" {
		k.Extra = append(k.Extra, layout.ExtraField{Name: fieldFile, Value: d.File})
	}
	if len(d.Links) > 0 {
		var links []string
		for _, l := range d.Links {
			links = append(links, layout.LinkText(l))
		}
		k.Extra = append(k.Extra, layout.ExtraField{Name: "Links", Value: strings.Join(links, ", ")})
	}
	return k
}
