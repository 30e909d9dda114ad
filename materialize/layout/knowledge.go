package layout

import (
	"errors"
	"fmt"
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

	Extra []ExtraField // further fields
}

// knowledgeRules returns what counts as a field in an entry. Any bullet with a
// name does, so that "- Supersedes: ..." is kept.
func knowledgeRules() markdown.Rules {
	return markdown.Rules{
		Known:  []string{"type", "tags", "content", "source", "confidence", "created", "date"},
		Blocks: []string{"content"},
		Plain:  markdown.PlainAny,
		Form:   markdown.BulletForm,
	}
}

// KnowledgeGraph is the format of knowledge_graph.md: what was learned, in
// sections by type, described in docs/layouts/knowledge-graph.md. A heading of
// level 3 or 4 begins an entry when it is an id such as pattern-001, or when
// fields such as "- Content:" follow it.
type KnowledgeGraph struct{}

func (KnowledgeGraph) format() headingFormat {
	return headingFormat{
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
			return "", heading, markdown.HasKnownField(lines, i, knowledgeRules())
		},
		describe: func(lines []markdown.Line) (Facts, []*SyntaxError) {
			k, errs := parseKnowledge(lines)
			return k.Facts(), append(errs, k.check(lines[0].Number)...)
		},
		section: func(e Entry) string {
			k, _ := ParseKnowledge(e.Text)
			return knowledgeSection(k.Type, e.ID)
		},
	}
}

// Parse cuts a knowledge graph into its entries and the text around them. It
// reports what ParseKnowledge reports of each entry.
func (g KnowledgeGraph) Parse(path string, text []byte) (File, []*SyntaxError) {
	return g.format().parse(path, text)
}

// Insert returns f with a new entry after the last one in the section of its
// type: Patterns, Gotchas, Decisions, Insights, Tasks, ... The caller sees to it
// that its id is free.
func (g KnowledgeGraph) Insert(f File, e Entry) File { return g.format().insert(f, e) }

// cutKnowledgeID cuts a heading after an id that ends in a number, such as
// pattern-001. More text must be set off by a colon or dash: "UTF-8 in names" is
// a title.
func cutKnowledgeID(heading string) (id, title string, ok bool) {
	id, title = cutEntryID(heading)
	word := strings.TrimRight(id, "0123456789")
	if word == id || len(word) < 2 || word[len(word)-1] != '-' || !unicode.IsLetter(rune(word[0])) {
		return id, title, false
	}
	after := strings.TrimLeft(strings.TrimLeft(heading, "[`*")[len(id):], "]`* ")
	isSetOff := strings.IndexFunc(after, func(r rune) bool { return strings.ContainsRune(":.(-–—", r) }) == 0
	return id, title, after == "" || isSetOff
}

// ParseKnowledge reads an entry of a Markdown knowledge graph. It takes what it
// finds: a field that is given twice is reported, with its line counted from
// the entry's heading as 1.
func ParseKnowledge(text []byte) (Knowledge, []*SyntaxError) {
	return parseKnowledge(markdown.Lines(text))
}

// parseKnowledge is ParseKnowledge for lines of a whole file.
func parseKnowledge(lines []markdown.Line) (Knowledge, []*SyntaxError) {
	if len(lines) == 0 {
		return Knowledge{}, []*SyntaxError{{Line: 1, Err: errors.New("knowledge entry is empty")}}
	}
	v, errs := markdown.ReadFields(lines, knowledgeRules())
	_, heading := markdown.Heading(lines[0].Text)
	id, title, ok := cutKnowledgeID(heading)
	if !ok {
		id, title = "", heading
	}
	return Knowledge{
		ID: id, Title: title,
		Type:       v.Get("type"),
		Tags:       markdown.ParseList(v.Get("tags")),
		Content:    v.Get("content"),
		Source:     v.Get("source"),
		Confidence: v.Get("confidence"),
		Created:    v.Get("created", "date"),
		Extra:      extraFields(v, knowledgeRules().Known),
	}, errs
}

// check reports the fields without which an entry cannot be found or used.
func (k Knowledge) check(line int) []*SyntaxError {
	var errs []*SyntaxError
	name := k.ID
	if name == "" {
		name = k.Title
	}
	for _, f := range []ExtraField{{"Type", k.Type}, {"Content", k.Content}} {
		if f.Value == "" {
			errs = append(errs, &SyntaxError{Line: line, Err: fmt.Errorf("entry %s has no field %s", name, f.Name)})
		}
	}
	return errs
}

// Facts returns what an entry says about itself, with its type and confidence
// as single words in lower case.
func (k Knowledge) Facts() Facts {
	kind := factWord(k.Type)
	if kind == "" {
		kind = typeOfID(k.ID)
	}
	// What was learned in a task is found by the task as well.
	facts := Facts{
		Task:    factTask(k.Source),
		Tags:    factList(k.Tags, factLine),
		Links:   k.Links(),
		Title:   factText(k.Title, maxFactTitle),
		Summary: factText(k.Content, maxFactSummary),
		Attributes: factAttributes(
			record.AttributeType, kind,
			record.AttributeConfidence, factWord(k.Confidence),
			record.AttributeCreated, factLine(k.Created),
			record.AttributeSource, factLine(k.Source),
		),
	}
	if facts.Title == "" {
		facts.Title = factText(k.Content, maxFactTitle)
	}
	for _, f := range k.Extra {
		facts.addExtra(markdown.Key(f.Name), f.Value)
	}
	return facts
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
	return []string{"pattern", "gotcha", "decision", "insight", "task", "lesson"}
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

// AppendKnowledge appends the canonical text of an entry to dst: its heading
// and a bullet for each field. ParseKnowledge reads every value back, except
// for white space in fields of one line.
func AppendKnowledge(dst []byte, k Knowledge) []byte {
	r := knowledgeRules()
	dst = markdown.AppendHeading(dst, 3, k.ID, k.Title)
	dst = r.AppendBullet(dst, "Type", markdown.SingleSpaced(k.Type))
	dst = r.AppendBullet(dst, "Tags", "["+markdown.FormatList(k.Tags)+"]")
	dst = r.AppendBullet(dst, "Content", k.Content)
	for _, f := range []ExtraField{
		{"Source", markdown.SingleSpaced(k.Source)}, {"Confidence", markdown.SingleSpaced(k.Confidence)},
		{"Created", markdown.SingleSpaced(k.Created)},
	} {
		if f.Value != "" {
			dst = r.AppendBullet(dst, f.Name, f.Value)
		}
	}
	for _, f := range k.Extra {
		dst = r.AppendBullet(dst, f.Name, f.Value)
	}
	return dst
}

// SetKnowledgeField returns text, an entry of a Markdown knowledge graph, with
// another value for one field, such as Confidence: the value's bytes alone
// change. A field that the entry lacks is added below the last bullet.
func SetKnowledgeField(text []byte, field, value string) []byte {
	return knowledgeRules().Set(text, field, value)
}
