package layout

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// Knowledge is the typed view of an entry of a knowledge graph, in Markdown or
// JSON, and of a lesson. Its values are as the entry has them.
type Knowledge struct {
	ID         string // such as pattern-001
	Title      string // what follows the id in the heading, or the heading of an entry without id
	Type       string // pattern, gotcha, decision, insight, task or lesson
	Tags       []string
	Content    string // Markdown
	Source     string // the task it was learned in
	Confidence string // high, medium or low
	Created    string
	Context    string // of a lesson: where it was learned
	Valid      string // when it holds: see ParseValid

	Extra []Property // further fields
}

var knowledgeFields = newFieldTable(FieldTable[Knowledge]{
	noun:  "entry %s",
	head:  func(k *Knowledge) (id, title *string) { return &k.ID, &k.Title },
	cutID: cutKnowledgeHeading,
	extra: func(k *Knowledge) *[]Property { return &k.Extra },
	facts: knowledgeFacts,
	rules: markdown.Rules{Plain: markdown.PlainAny, Form: markdown.BulletForm}, // so that "- Supersedes: ..." is kept
	fields: []Field[Knowledge]{
		{Name: "Type", text: func(k *Knowledge) *string { return &k.Type }, Needed: true,
			Fact: record.AttributeType, fold: factWord,
			Flag: "type", Example: "gotcha", Ask: "one of " + knowledgeWords,
			Want: "one of " + knowledgeWords, valid: isKnowledgeType, clean: lowerWord},
		{Name: "Tags", form: tagsForm, list: func(k *Knowledge) *[]string { return &k.Tags },
			Fact: "tags", Flag: "tag", Want: "a word or two without quotes and brackets", valid: isTag},
		{Name: "Content", form: textForm, text: func(k *Knowledge) *string { return &k.Content }, Needed: true,
			Fact: "summary", fold: factSummary, Flag: "content", Ask: "what was learned, in a sentence or two"},
		{Name: "Source", text: func(k *Knowledge) *string { return &k.Source },
			Fact: attributeSource, Flag: "source", Example: "003",
			Want: "the id of a task", valid: func(id string) bool { return len(id) <= 100 }, clean: SourceTask},
		{Name: "Confidence", text: func(k *Knowledge) *string { return &k.Confidence },
			Fact: record.AttributeConfidence, fold: confidenceFact,
			Flag: "confidence", Example: "medium", Want: "one of high, medium, low",
			valid: func(word string) bool { return slices.Contains(Confidences(), word) }, clean: lowerWord},
		{Name: "Created", also: []string{"date"}, text: func(k *Knowledge) *string { return &k.Created },
			Fact: record.AttributeCreated},
		{Name: "Valid", loose: true, text: func(k *Knowledge) *string { return &k.Valid }, Fact: record.AttributeValid,
			Flag: ValidFlag, Want: "two dates with .. between them, such as 2014..2024-07, of which one may be missing", valid: isValid},
		{Name: "Review", also: []string{"revisit", "reviewby"}, loose: true, Fact: record.AttributeReview},
		{form: extraForm},
		{Name: "File", loose: true, Flag: "file"},
		{Name: "Status", loose: true, Fact: "status", fold: statusFact, Flag: "status"},
		{Name: "Title", form: titleForm, text: func(k *Knowledge) *string { return &k.Title }, Flag: "title"},
	},
})

// knowledgeWords are the types of entries that are not lessons.
const knowledgeWords = "pattern, gotcha, decision, insight, task"

// isKnowledgeType reports whether a user may give an entry that is no lesson a type.
func isKnowledgeType(word string) bool {
	return word != "lesson" && slices.Contains(knowledgeTypes(), word)
}

// Confidences returns the words for how sure an entry of knowledge is, the surest first.
func Confidences() []string { return []string{"high", "medium", "low"} }

func isTag(tag string) bool { return len(tag) <= 60 && !strings.ContainsAny(tag, "[]\"`;|") }

// confidenceFact returns a confidence, which may be a number, as a fact.
func confidenceFact(text string) string {
	if line := factLine(text); strings.HasPrefix(line, "0.") || strings.HasPrefix(line, "1.") {
		return line
	}
	return factWord(text)
}

// KnowledgeFields returns the table of an entry of a Markdown knowledge graph.
func KnowledgeFields() *FieldTable[Knowledge] { return knowledgeFields }

// A KnowledgeForm is a way to write entries of knowledge.
type KnowledgeForm interface {
	EntryForm[Knowledge]
	AddLink(text []byte, l record.Link) []byte
	DropLink(text []byte, l record.Link) []byte
	IsLesson() bool // the entries have no ids of their own
}

// KnowledgeForm returns the form of the entries of a file, nil if they are none of
// knowledge.
func (pl Location) KnowledgeForm() KnowledgeForm {
	switch pl.Layout {
	case Layout(knowledgeGraph):
		return knowledgeTable{knowledgeFields}
	case Layout(lessons):
		return knowledgeTable{lessonFields}
	case Layout(knowledgeJSON{}):
		return nodeForm{knowledgeFields}
	}
	if pl.Entries == record.KindKnowledge {
		return knowledgeText{knowledgeTable{knowledgeFields}, pl.Layout}
	}
	return nil
}

// A knowledgeText is the form of texts that are knowledge as a whole, or by a declaration: they are read, and
// their fields are not written.
type knowledgeText struct {
	knowledgeTable
	layout Layout
}

// Read reads a text as the content of an entry.
func (t knowledgeText) Read(text []byte) Knowledge {
	k := Knowledge{Type: FrontFacts(text).Attributes[record.AttributeType], Content: string(text)}
	if d, is := t.layout.(*declared); is {
		k.Type = cmp.Or(d.Type, k.Type)
	}
	return k
}

// A knowledgeTable is the form of entries in Markdown.
type knowledgeTable struct{ *FieldTable[Knowledge] }

// IsLesson reports whether the entries are lessons.
func (t knowledgeTable) IsLesson() bool { return t.FieldTable == lessonFields }

// knowledgeGraph is the format of knowledge_graph.md: what was learned, in
// sections by type, described in docs/layouts/knowledge-graph.md. A heading of
// level 3 or 4 begins an entry when it is an id such as pattern-001, or when
// fields such as "- Content:" follow it.
var knowledgeGraph = &headingFormat{
	kind:  record.KindKnowledge,
	title: "Knowledge Graph",
	identify: func(lines []markdown.Line, i int) (id, title string, ok bool) {
		if lines[i].Level < 3 || lines[i].Level > markdown.MaxEntryLevel {
			return "", "", false
		}
		_, heading := markdown.Heading(lines[i].Text)
		if id, title, ok = cutKnowledgeID(heading); ok {
			return id, title, true
		}
		return "", heading, hasFields(lines, i, knowledgeFields.rules)
	},
	describe: knowledgeFields.describe,
	example:  "### pattern-001",
	rules:    func() markdown.Rules { return knowledgeFields.rules },
	// Patterns, Gotchas, Decisions, Insights, Tasks, ...
	section: func(e Entry) string { return knowledgeSection(knowledgeFields.Read(e.Text).Type, e.ID) },
}

// cutKnowledgeID cuts a heading after an id that ends in a number, such as
// pattern-001, or in a lane. More text must be set off by a colon or dash: "UTF-8 in names" is
// a title.
func cutKnowledgeID(heading string) (id, title string, ok bool) {
	id, title = cutEntryID(heading)
	numbered, _ := CutLane(id)
	word := strings.TrimRight(numbered, "0123456789")
	if word == numbered || len(word) < 2 || word[len(word)-1] != '-' || !unicode.IsLetter(rune(word[0])) {
		return id, title, false
	}
	after := strings.TrimLeft(strings.TrimLeft(heading, "[`*")[len(id):], "]`* ")
	isSetOff := strings.IndexFunc(after, func(r rune) bool { return strings.ContainsRune(":.(-–—", r) }) == 0
	return id, title, after == "" || isSetOff
}

// cutKnowledgeHeading returns the id and title in a heading, of which one is enough.
func cutKnowledgeHeading(heading string) (id, title string) {
	id, title, ok := cutKnowledgeID(heading)
	if !ok {
		return "", heading
	}
	return id, title
}

// knowledgeFacts adds the type that an id says, the title of an entry without one,
// and its links. What was learned in a task is found by the task as well.
func knowledgeFacts(k *Knowledge, facts *Facts) {
	if factWord(k.Type) == "" {
		facts.setAttribute(record.AttributeType, typeOfID(k.ID))
	}
	if facts.Title == "" {
		facts.Title = factText(k.Content, maxFactTitle)
	}
	facts.Task, facts.Links = factTask(k.Source), k.Links()
}

// typeOfID returns the type that an id such as gotcha-012 begins with.
func typeOfID(id string) string {
	word, _, _ := strings.Cut(strings.ToLower(id), "-")
	if slices.Contains(knowledgeTypes(), word) {
		return word
	}
	return ""
}

// knowledgeTypes returns the types that ids are named for.
func knowledgeTypes() []string {
	return append(strings.Split(knowledgeWords, ", "), "lesson")
}

// knowledgeSection returns the title of the section for a type.
func knowledgeSection(kind, id string) string {
	if kind = factWord(kind); kind == "" {
		kind = typeOfID(id)
	}
	if kind == "" {
		return "Notes"
	}
	first := []rune(kind)
	return string(unicode.ToUpper(first[0])) + strings.ReplaceAll(string(first[1:]), "_", " ") + "s"
}

// lowerWord returns a value of one word as entries have it.
func lowerWord(value string) string { return strings.ToLower(markdown.OneLine(value)) }

// SourceTask returns the id of a task as it is stored, or another source as it is.
func SourceTask(value string) string { return cmp.Or(lineTaskID(value), markdown.OneLine(value)) }

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

// lessonFields are the fields of a lesson: bold names alone are some, for the indexes
// beside the lessons are full of bullets.
var lessonFields = newFieldTable(FieldTable[Knowledge]{
	noun:  "lesson %q",
	head:  knowledgeFields.head,
	cutID: func(heading string) (id, title string) { return "", heading },
	extra: knowledgeFields.extra,
	facts: knowledgeFacts,
	rules: markdown.Rules{
		Known: []string{"links", "supersedes", "contradicts", "relates to", "derived from", "superseded by"},
		Form:  markdown.LabelForm,
	},
	fields: []Field[Knowledge]{
		{Name: "Date", text: func(k *Knowledge) *string { return &k.Created }, Fact: record.AttributeCreated},
		{Name: "Type", text: func(k *Knowledge) *string { return &k.Type }, implied: "lesson",
			Fact: record.AttributeType, fold: factWord, Flag: "type", Want: "lesson, or one of " + knowledgeWords,
			valid: func(word string) bool { return word == "lesson" || isKnowledgeType(word) }, clean: lowerWord},
		knowledgeFields.field("Source"), knowledgeFields.field("Confidence"),
		{form: extraForm},
		{Name: "Context", form: textForm, text: func(k *Knowledge) *string { return &k.Context }},
		{Name: "Lesson", form: textForm, text: func(k *Knowledge) *string { return &k.Content }, Needed: true,
			Fact: "summary", fold: factSummary, Flag: "content", Ask: "what was learned, in a sentence or two"},
		knowledgeFields.field("Tags"), knowledgeFields.field("Valid"), knowledgeFields.field("File"), knowledgeFields.field("Status"), knowledgeFields.field("Title"),
	},
})

// lessons is the format of the files below lessons/: each a list of what was
// learned about one area, described in docs/layouts/lessons.md. A heading of
// level 2 to 4 begins an entry when a label such as "**Lesson:**" follows it;
// other headings are literal text. Lessons have no ids of their own.
var lessons = &headingFormat{
	kind:  record.KindKnowledge,
	title: "Lessons",
	identify: func(lines []markdown.Line, i int) (id, title string, ok bool) {
		_, title = markdown.Heading(lines[i].Text)
		return "", title, lines[i].Level >= 2 && lines[i].Level <= 4 &&
			hasFields(lines, i, lessonFields.rules)
	},
	describe: lessonFields.describe,
}
