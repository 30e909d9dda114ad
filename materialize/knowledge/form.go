package knowledge

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A form is a way to write an entry.
type form struct {
	read         func(text []byte) layout.Knowledge
	write        func(k layout.Knowledge) []byte
	set          func(text []byte, field, value string) []byte
	link, unlink func(text []byte, l record.Link) []byte
	isLesson     bool
}

// formOf returns the form of the entries of a file.
func (b *Base) formOf(path string) (form, error) {
	switch b.work.Settings.Profile.Recognize(path).Layout.(type) {
	case layout.KnowledgeGraph:
		return form{
			readMarkdown, func(k layout.Knowledge) []byte { return layout.AppendKnowledge(nil, k) }, setMarkdown,
			layout.AddKnowledgeLink, layout.DropKnowledgeLink, false,
		}, nil
	case layout.KnowledgeJSON:
		return form{readNode, writeNode, setNode, layout.AddKnowledgeNodeLink, layout.DropKnowledgeNodeLink, false}, nil
	case layout.Lessons:
		return form{readLesson, writeLesson, setLesson, layout.AddLessonLink, layout.DropLessonLink, true}, nil
	}
	err := record.Usage.Errorf("%s is no file of knowledge: "+
		"those are knowledge_graph.md, knowledge_graph.json and lessons/NAME.md", path)
	return form{}, err.Because(ErrNoFile)
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

func readMarkdown(text []byte) layout.Knowledge {
	k, _ := layout.ParseKnowledge(text)
	return k
}

func setMarkdown(text []byte, field, value string) []byte {
	switch field {
	case fieldTitle:
		return setTitle(text, readMarkdown(text).ID, value)
	case fieldTags:
		value = "[" + value + "]"
	}
	return layout.SetKnowledgeField(text, field, value)
}

// setTitle returns an entry with another heading of the same level.
func setTitle(text []byte, id, title string) []byte {
	heading, rest := string(text), ""
	if end := strings.IndexAny(heading, "\r\n"); end >= 0 {
		heading, rest = heading[:end], heading[end:]
	}
	if title != "" {
		id += ": " + title
	}
	marks := len(heading) - len(strings.TrimLeft(heading, "#"))
	return []byte(heading[:marks] + " " + id + rest)
}

func readLesson(text []byte) layout.Knowledge {
	k, _ := layout.ParseLesson(text)
	return k
}

func writeLesson(k layout.Knowledge) []byte {
	k.Title = cmp.Or(k.Title, firstWords(k.Content, maxTitle))
	return layout.AppendLesson(nil, k)
}

func setLesson(text []byte, field, value string) []byte {
	if field == fieldContent {
		field = "Lesson"
	}
	return layout.SetLessonField(text, field, value)
}

// maxTitle bounds the summary of a node and the title of a lesson that are made
// from the content, in characters.
const maxTitle = 100

func readNode(text []byte) layout.Knowledge {
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
	for _, l := range n.TypedLinks() {
		k.Extra = append(k.Extra, layout.ExtraField{Name: l.Type, Value: l.Target})
	}
	return k
}

func writeNode(k layout.Knowledge) []byte {
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

func setNode(text []byte, field, value string) []byte {
	key := strings.ToLower(field)
	if field == fieldTitle {
		key = "summary"
	}
	if field == fieldContent {
		old, summary := readNode(text), firstWords(value, maxTitle)
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
