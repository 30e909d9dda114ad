package layout

import (
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// Lessons is the format of the files below lessons/: each a list of what was
// learned about one area, described in docs/layouts/lessons.md. A heading of
// level 2 to 4 begins an entry when a label such as "**Lesson:**" follows it;
// other headings are literal text. Lessons have no ids of their own.
type Lessons struct{}

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
			Fact: record.AttributeType, fold: factWord, Input: Input{Flag: "type", clean: lowerWord}},
		knowledgeFields.field("Source"), knowledgeFields.field("Confidence"),
		{form: extraForm},
		{Name: "Context", form: textForm, text: func(k *Knowledge) *string { return &k.Context }},
		{Name: "Lesson", form: textForm, text: func(k *Knowledge) *string { return &k.Content }, Needed: true,
			Fact: "summary", fold: factSummary, Input: Input{Flag: "content"}},
		knowledgeFields.field("Tags"), knowledgeFields.field("File"), knowledgeFields.field("Title"),
	},
})

// LessonFields returns the table of a lesson, whose text is the content.
func LessonFields() KnowledgeTable { return KnowledgeTable{lessonFields} }

func (Lessons) format() headingFormat {
	return headingFormat{
		kind:  record.KindKnowledge,
		title: "Lessons",
		identify: func(lines []markdown.Line, i int) (id, title string, ok bool) {
			_, title = markdown.Heading(lines[i].Text)
			return "", title, lines[i].Level >= 2 && lines[i].Level <= 4 &&
				markdown.HasKnownField(lines, i, lessonFields.rules)
		},
		describe: lessonFields.describe,
	}
}

// Parse cuts a file of lessons into its entries and the text around them. It
// reports what is wrong with the fields of each.
func (l Lessons) Parse(path string, text []byte) (File, []*SyntaxError) {
	return l.format().parse(path, text)
}

// Insert returns f with a new lesson after the last one.
func (l Lessons) Insert(f File, e Entry) File { return l.format().insert(f, e) }
