package knowledge

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A form is a way to write entries: layout.KnowledgeTable, or that of JSON.
type form interface {
	Read(text []byte) layout.Knowledge
	Append(dst []byte, k layout.Knowledge) []byte
	Set(text []byte, field string, values ...string) []byte
	AddLink(text []byte, l record.Link) []byte
	DropLink(text []byte, l record.Link) []byte
	Input(flag string) layout.Field[layout.Knowledge]
}

// formOf returns the form of the entries of a file.
func (b *Base) formOf(path string) (form, error) {
	switch b.work.Settings.Profile.Recognize(path).Layout.(type) {
	case layout.KnowledgeGraph:
		return layout.KnowledgeFields(), nil
	case layout.KnowledgeJSON:
		return nodeForm{layout.KnowledgeFields()}, nil
	case layout.Lessons:
		return layout.LessonFields(), nil
	}
	err := record.Usage.Errorf("%s is no file of knowledge: "+
		"those are knowledge_graph.md, knowledge_graph.json and lessons/NAME.md", path)
	return nil, err.Because(ErrNoFile)
}

// isLesson reports whether the entries of a form are lessons.
func isLesson(f form) bool { return f == form(layout.LessonFields()) }

// A nodeForm is the form of the nodes of JSON, with the fields of the Markdown one.
type nodeForm struct{ layout.KnowledgeTable }

// maxTitle bounds the summary of a node and the title of a lesson that are made
// from the content, in characters.
const maxTitle = 100

// Read reads a node.
func (nodeForm) Read(text []byte) layout.Knowledge {
	n, err := layout.ParseKnowledgeNode(text)
	if n == nil || err != nil && n.ID == "" {
		return layout.Knowledge{}
	}
	k := layout.Knowledge{
		ID: n.ID, Type: n.Type, Tags: n.Tags, Content: cmp.Or(n.Content, n.Summary),
		Source: n.Source, Confidence: n.Confidence, Created: n.Created,
	}
	if n.Content != "" && n.Summary != firstWords(n.Content, maxTitle) {
		k.Title = n.Summary
	}
	if n.File != "" {
		k.Extra = []layout.ExtraField{{Name: "File", Value: n.File}}
	}
	for _, l := range n.TypedLinks() {
		k.Extra = append(k.Extra, layout.ExtraField{Name: l.Type, Value: l.Target})
	}
	return k
}

// Append appends a node.
func (f nodeForm) Append(dst []byte, k layout.Knowledge) []byte {
	n := layout.KnowledgeNode{
		ID: k.ID, Type: k.Type, Tags: k.Tags, Content: k.Content,
		Summary: cmp.Or(k.Title, firstWords(k.Content, maxTitle)),
		Source:  k.Source, Confidence: k.Confidence, Created: k.Created, File: extra(k, "File"),
	}
	if n.Content == n.Summary {
		n.Content = ""
	}
	text := layout.AppendKnowledgeNode(nil, n)
	for _, l := range k.Links() {
		text = f.AddLink(text, l)
	}
	return append(dst, text...)
}

// AddLink returns text, a node, with one more link.
func (nodeForm) AddLink(text []byte, l record.Link) []byte {
	return layout.AddKnowledgeNodeLink(text, l)
}

// DropLink returns text, a node, without a link.
func (nodeForm) DropLink(text []byte, l record.Link) []byte {
	return layout.DropKnowledgeNodeLink(text, l)
}

// Set returns text, a node, with another value for a field.
func (f nodeForm) Set(text []byte, field string, values ...string) []byte {
	key, value := strings.ToLower(field), strings.Join(values, ", ")
	if field == "Title" {
		key = "summary"
	}
	if field == "Content" {
		old, summary := f.Read(text), firstWords(value, maxTitle)
		if old.Title == "" {
			text = layout.SetKnowledgeNodeField(text, "summary", summary)
		}
		if old.Title == "" && value == summary {
			value = ""
		}
		if n, _ := layout.ParseKnowledgeNode(text); value == "" && n != nil && n.Content == "" {
			return text
		}
	}
	return layout.SetKnowledgeNodeField(text, key, value)
}

// extra returns the value of a further field.
func extra(k layout.Knowledge, name string) string {
	for _, f := range k.Extra {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// firstWords returns the beginning of a text in one line, of at most some
// characters, cut between words.
func firstWords(text string, limit int) string {
	text = markdown.OneLine(text)
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	cut := string([]rune(text)[:limit-1])
	if space := strings.LastIndexByte(cut, ' '); space > limit/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

// word returns a value of one word as entries have it, in lower case.
func word(value string) string { return strings.ToLower(markdown.OneLine(value)) }
