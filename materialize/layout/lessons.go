package layout

import (
	"errors"
	"fmt"

	"filebus/store/record"
)

// Lessons is the format of the files below lessons/: each a list of what was
// learned about one area, described in docs/layouts/lessons.md. A heading of
// level 2 to 4 begins an entry when a label such as "**Lesson:**" follows it;
// other headings are literal text. Lessons have no ids of their own.
type Lessons struct{}

// lessonRules returns what counts as a field in a lesson: bold names alone, for
// the indexes beside the lessons are full of bullets.
func lessonRules() fieldRules {
	return fieldRules{
		known:  append(lessonFields(), "links", "supersedes", "contradicts", "relates to", "derived from", "superseded by"),
		blocks: []string{"context", "lesson"},
		form:   fieldLabel,
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
		identify: func(lines []scanLine, i int) (id, title string, ok bool) {
			_, title = scanHeading(lines[i].text)
			return "", title, lines[i].level >= 2 && lines[i].level <= 4 && hasKnownField(lines, i, lessonRules())
		},
		describe: func(lines []scanLine) (Facts, []*SyntaxError) {
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
func ParseLesson(text []byte) (Knowledge, []*SyntaxError) { return parseLesson(scanLines(text)) }

// parseLesson is ParseLesson for lines of a whole file.
func parseLesson(lines []scanLine) (Knowledge, []*SyntaxError) {
	if len(lines) == 0 {
		return Knowledge{}, []*SyntaxError{{Line: 1, Err: errors.New("lesson is empty")}}
	}
	v, errs := readFields(lines, lessonRules())
	_, title := scanHeading(lines[0].text)
	k := Knowledge{
		Title:      title,
		Type:       v.get("type"),
		Tags:       parseList(v.get("tags")),
		Content:    v.get("lesson"),
		Context:    v.get("context"),
		Created:    v.get("date"),
		Source:     v.get("source"),
		Confidence: v.get("confidence"),
		Extra:      v.extra(lessonFields()),
	}
	if k.Type == "" {
		k.Type = "lesson"
	}
	if k.Content == "" {
		errs = append(errs, &SyntaxError{Line: lines[0].number, Err: fmt.Errorf("lesson %q has no field Lesson", title)})
	}
	return k, errs
}

// AppendLesson appends the canonical text of a lesson to dst: its heading and a
// label for each field. ParseLesson reads every value back but the id, which a
// lesson has not, and except for white space in fields of one line.
func AppendLesson(dst []byte, k Knowledge) []byte {
	r := lessonRules()
	dst = appendHeading(dst, 3, "", k.Title)
	kind := singleSpaced(k.Type)
	if kind == "lesson" {
		kind = ""
	}
	for _, f := range []ExtraField{
		{"Date", singleSpaced(k.Created)}, {"Type", kind}, {"Source", singleSpaced(k.Source)},
		{"Confidence", singleSpaced(k.Confidence)},
	} {
		if f.Value != "" {
			dst = r.appendLabel(dst, f.Name, f.Value)
		}
	}
	for _, f := range k.Extra {
		dst = r.appendLabel(dst, f.Name, singleSpaced(f.Value))
	}
	if k.Context != "" {
		dst = r.appendLabel(dst, "Context", k.Context)
	}
	dst = r.appendLabel(dst, "Lesson", k.Content)
	return r.appendLabel(dst, "Tags", formatList(k.Tags))
}

// SetLessonField returns text, an entry of a file of lessons, with another value
// for one field, such as Tags: the value's bytes alone change. A field that the
// entry lacks is added below the first one.
func SetLessonField(text []byte, field, value string) []byte {
	return lessonRules().setField(text, field, value)
}
