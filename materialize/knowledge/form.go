package knowledge

import (
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A form is a way to write entries.
type form = layout.KnowledgeForm

// formOf returns the form of the entries of a file.
func (b *Base) formOf(path string) (form, error) {
	if f := b.work.Settings.Profile.Recognize(path).KnowledgeForm(); f != nil {
		return f, nil
	}
	err := record.Usage.Errorf("%s is no file of knowledge: "+
		"those are knowledge_graph.md, knowledge_graph.json and lessons/NAME.md", path)
	return nil, err.Try("run it again without --into")
}

// word returns a value of one word as entries have it, in lower case.
func word(value string) string { return strings.ToLower(markdown.OneLine(value)) }
