package knowledge

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// A form is a way to write an entry.
type form interface {
	read(text []byte) layout.Knowledge
	write(k layout.Knowledge) []byte
	set(text []byte, field, value string) []byte
	link(text []byte, l record.Link) []byte
	unlink(text []byte, l record.Link) []byte
	links(text []byte) []record.Link
}

// formOf returns the form of the entries of a file, by its path in a profile.
func formOf(profile layout.Profile, path string) (form, bool) {
	switch profile.Recognize(path).Layout.(type) {
	case layout.KnowledgeGraph:
		return markdown{}, true
	case layout.KnowledgeJSON:
		return node{}, true
	case layout.Lessons:
		return lesson{}, true
	}
	return nil, false
}

// The names of fields, as all forms take them.
const (
	fieldType       = "Type"
	fieldTags       = "Tags"
	fieldContent    = "Content"
	fieldSource     = "Source"
	fieldConfidence = "Confidence"
	fieldTitle      = "Title"
	fieldFile       = "File"
)

// markdown is the form of knowledge_graph.md.
type markdown struct{}

func (markdown) read(text []byte) layout.Knowledge {
	k, _ := layout.ParseKnowledge(text)
	return k
}

func (markdown) write(k layout.Knowledge) []byte { return layout.AppendKnowledge(nil, k) }

func (m markdown) set(text []byte, field, value string) []byte {
	switch field {
	case fieldTitle:
		return setTitle(text, m.read(text).ID, value)
	case fieldTags:
		value = "[" + value + "]"
	}
	return layout.SetKnowledgeField(text, field, value)
}

func (markdown) link(text []byte, l record.Link) []byte   { return layout.AddKnowledgeLink(text, l) }
func (markdown) unlink(text []byte, l record.Link) []byte { return layout.DropKnowledgeLink(text, l) }
func (m markdown) links(text []byte) []record.Link        { return m.read(text).Links() }

// setTitle returns an entry with another heading of the same level.
func setTitle(text []byte, id, title string) []byte {
	heading, rest, found := strings.Cut(string(text), "\n")
	ending := ""
	if found {
		ending = "\n"
	}
	if strings.HasSuffix(heading, "\r") {
		ending = "\r" + ending
	}
	marks := heading[:len(heading)-len(strings.TrimLeft(heading, "#"))]
	line := marks + " " + id
	if title != "" {
		line += ": " + title
	}
	return []byte(line + ending + rest)
}

// lesson is the form of the files below lessons/.
type lesson struct{}

func (lesson) read(text []byte) layout.Knowledge {
	k, _ := layout.ParseLesson(text)
	return k
}

func (lesson) write(k layout.Knowledge) []byte {
	k.Title = cmp.Or(k.Title, firstWords(k.Content, maxTitle))
	return layout.AppendLesson(nil, k)
}

func (lesson) set(text []byte, field, value string) []byte {
	if field == fieldContent {
		field = "Lesson"
	}
	return layout.SetLessonField(text, field, value)
}

func (lesson) link(text []byte, l record.Link) []byte   { return layout.AddLessonLink(text, l) }
func (lesson) unlink(text []byte, l record.Link) []byte { return layout.DropLessonLink(text, l) }
func (f lesson) links(text []byte) []record.Link        { return f.read(text).Links() }

// node is the form of knowledge_graph.json.
type node struct{}

// maxTitle bounds the summary of a node and the title of a lesson that are made
// from the content, in characters.
const maxTitle = 100

func (node) read(text []byte) layout.Knowledge {
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
		k.Extra = []layout.ExtraField{{Name: fieldFile, Value: n.File}}
	}
	return k
}

func (node) write(k layout.Knowledge) []byte {
	n := layout.KnowledgeNode{
		ID: k.ID, Type: k.Type, Tags: k.Tags, Summary: cmp.Or(k.Title, firstWords(k.Content, maxTitle)), Content: k.Content,
		Source: k.Source, Confidence: k.Confidence, Created: k.Created, File: extra(k, fieldFile),
	}
	if n.Content == n.Summary {
		n.Content = ""
	}
	text := layout.AppendKnowledgeNode(nil, n)
	for _, l := range k.Links() {
		text = layout.AddKnowledgeNodeLink(text, l)
	}
	return text
}

func (f node) set(text []byte, field, value string) []byte {
	key := strings.ToLower(field)
	if field == fieldTitle {
		key = "summary"
	}
	if field == fieldContent {
		old, summary := f.read(text), firstWords(value, maxTitle)
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

func (node) link(text []byte, l record.Link) []byte   { return layout.AddKnowledgeNodeLink(text, l) }
func (node) unlink(text []byte, l record.Link) []byte { return layout.DropKnowledgeNodeLink(text, l) }

func (node) links(text []byte) []record.Link {
	n, _ := layout.ParseKnowledgeNode(text)
	if n == nil {
		return nil
	}
	return n.TypedLinks()
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
	text = oneLine(text)
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	cut := string([]rune(text)[:limit-1])
	if space := strings.LastIndexByte(cut, ' '); space > limit/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}
