package layout

import "filebus/store/record"

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
	rules: fieldRules{
		known: []string{"links", "supersedes", "contradicts", "relates to", "derived from", "superseded by"},
		form:  fieldLabel,
	},
	fields: []Field[Knowledge]{
		{Name: "Date", text: func(k *Knowledge) *string { return &k.Created }, Fact: record.AttributeCreated},
		{Name: "Type", text: func(k *Knowledge) *string { return &k.Type }, implied: "lesson",
			Fact: record.AttributeType, fold: factWord, Input: Input{Flag: "type"}},
		{Name: "Source", text: func(k *Knowledge) *string { return &k.Source },
			Fact: record.AttributeSource, Input: Input{Flag: "source"}},
		{Name: "Confidence", text: func(k *Knowledge) *string { return &k.Confidence },
			Fact: record.AttributeConfidence, fold: factWord, Input: Input{Flag: "confidence"}},
		{form: extraForm},
		{Name: "Context", form: textForm, text: func(k *Knowledge) *string { return &k.Context }},
		{Name: "Lesson", form: textForm, text: func(k *Knowledge) *string { return &k.Content }, Needed: true,
			Fact: "summary", fold: factSummary, Input: Input{Flag: "content"}},
		{Name: "Tags", form: tagsForm, list: func(k *Knowledge) *[]string { return &k.Tags },
			Fact: "tags", Input: Input{Flag: "tag"}},
		{Name: "File", loose: true, Input: Input{Flag: "file"}},
		{Name: "Title", form: titleForm, text: func(k *Knowledge) *string { return &k.Title }, Input: Input{Flag: "title"}},
	},
})

// LessonFields returns the table of a lesson, whose text is the content.
func LessonFields() KnowledgeTable { return KnowledgeTable{lessonFields} }

func (Lessons) format() headingFormat {
	return headingFormat{
		kind:  record.KindKnowledge,
		title: "Lessons",
		identify: func(lines []scanLine, i int) (id, title string, ok bool) {
			_, title = scanHeading(lines[i].text)
			return "", title, lines[i].level >= 2 && lines[i].level <= 4 && hasKnownField(lines, i, lessonFields.rules)
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
