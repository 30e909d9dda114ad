package layout

import (
	"errors"
	"fmt"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// Lessons is the format of the files below lessons/: each a list of what was
// learned about one area, described in docs/layouts/lessons.md. A heading of
// level 2 to 4 begins an entry when a label such as "**Lesson:**" follows it;
// other headings are literal text. Lessons have no ids of their own.
type Lessons struct{}

// lessonRules returns what counts as a field in a lesson: bold names alone, for
// the indexes beside the lessons are full of bullets.
func lessonRules() markdown.Rules {
	return markdown.Rules{
		Known:  append(lessonFields(), "links", "supersedes", "contradicts", "relates to", "derived from", "superseded by"),
		Blocks: []string{"context", "lesson"},
		Form:   markdown.LabelForm,
	}
}

// lessonFields returns the fields that have a place of their own in Knowledge.
func lessonFields() []string {
	return []string{"date", "context", "lesson", "tags", "type", "source", "confidence"}
}

func (Lessons) format() headingFormat {
	return headingFormat{
		kind:  record.KindKnowledge,
		title: "Lessons",
		identify: func(lines []markdown.Line, i int) (id, title string, ok bool) {
			_, title = markdown.Heading(lines[i].Text)
			return "", title, lines[i].Level >= 2 && lines[i].Level <= 4 && markdown.HasKnownField(lines, i, lessonRules())
		},
		describe: func(lines []markdown.Line) (Facts, []*SyntaxError) {
			k, errs := parseLesson(lines)
			return k.Facts(), errs
		},
	}
}

// Parse cuts a file of lessons into its entries and the text around them. It
// reports what ParseLesson reports of each lesson.
func (l Lessons) Parse(path string, text []byte) (File, []*SyntaxError) {
	return l.format().parse(path, text)
}

// Insert returns f with a new lesson after the last one.
func (l Lessons) Insert(f File, e Entry) File { return l.format().insert(f, e) }

// ParseLesson reads an entry of a file of lessons. The text of the lesson is
// its Content; its Type is "lesson" unless it states another. A field that is
// missing or given twice is reported, with its line counted from the entry's
// heading as 1.
func ParseLesson(text []byte) (Knowledge, []*SyntaxError) { return parseLesson(markdown.Lines(text)) }

// parseLesson is ParseLesson for lines of a whole file.
func parseLesson(lines []markdown.Line) (Knowledge, []*SyntaxError) {
	if len(lines) == 0 {
		return Knowledge{}, []*SyntaxError{{Line: 1, Err: errors.New("lesson is empty")}}
	}
	v, errs := markdown.ReadFields(lines, lessonRules())
	_, title := markdown.Heading(lines[0].Text)
	k := Knowledge{
		Title:      title,
		Type:       v.Get("type"),
		Tags:       markdown.ParseList(v.Get("tags")),
		Content:    v.Get("lesson"),
		Context:    v.Get("context"),
		Created:    v.Get("date"),
		Source:     v.Get("source"),
		Confidence: v.Get("confidence"),
		Extra:      extraFields(v, lessonFields()),
	}
	if k.Type == "" {
		k.Type = "lesson"
	}
	if k.Content == "" {
		errs = append(errs, &SyntaxError{Line: lines[0].Number, Err: fmt.Errorf("lesson %q has no field Lesson", title)})
	}
	return k, errs
}

// AppendLesson appends the canonical text of a lesson to dst: its heading and a
// label for each field. ParseLesson reads every value back but the id, which a
// lesson has not, and except for white space in fields of one line.
func AppendLesson(dst []byte, k Knowledge) []byte {
	r := lessonRules()
	dst = markdown.AppendHeading(dst, 3, "", k.Title)
	kind := markdown.SingleSpaced(k.Type)
	if kind == "lesson" {
		kind = ""
	}
	for _, f := range []ExtraField{
		{"Date", markdown.SingleSpaced(k.Created)}, {"Type", kind}, {"Source", markdown.SingleSpaced(k.Source)},
		{"Confidence", markdown.SingleSpaced(k.Confidence)},
	} {
		if f.Value != "" {
			dst = r.AppendLabel(dst, f.Name, f.Value)
		}
	}
	for _, f := range k.Extra {
		dst = r.AppendLabel(dst, f.Name, markdown.SingleSpaced(f.Value))
	}
	if k.Context != "" {
		dst = r.AppendLabel(dst, "Context", k.Context)
	}
	dst = r.AppendLabel(dst, "Lesson", k.Content)
	return r.AppendLabel(dst, "Tags", markdown.FormatList(k.Tags))
}

// SetLessonField returns text, an entry of a file of lessons, with another value
// for one field, such as Tags: the value's bytes alone change. A field that the
// entry lacks is added below the first one.
func SetLessonField(text []byte, field, value string) []byte {
	return lessonRules().Set(text, field, value)
}
