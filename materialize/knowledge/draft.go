package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"filebus/index"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// types returns the types of entries, in the order of the documentation.
func types() []string { return []string{"pattern", "gotcha", "decision", "insight", "task"} }

// Confidences returns the words for how sure an entry is, the surest first.
func Confidences() []string { return []string{"high", "medium", "low"} }

// A Draft is what somebody says of an entry that is new, or that is changed: the
// fields that its table has flags for.
type Draft layout.Knowledge

// maxContent bounds the text of an entry, in bytes: about 2,000 tokens, twenty
// times what one usually has.
const maxContent = 8 << 10

// clean returns a draft with its values as entries have them.
func (d Draft) clean() Draft {
	layout.KnowledgeFields().Clean((*layout.Knowledge)(&d))
	d.Tags = record.NormalizeTags(d.Tags)
	return d
}

// check reports the first field that has a value which it cannot have.
func (d Draft) check(f form) error {
	types := types()
	if f.IsLesson() {
		types = append(types, "lesson")
	}
	size := len(d.Content) + len(d.Title) + len(layout.ExtraValue(d.Extra, "File")) + len(strings.Join(d.Tags, ", "))
	switch {
	case d.Type != "" && !slices.Contains(types, d.Type):
		return errField("type", d.Type, "one of "+strings.Join(types, ", "))
	case d.Confidence != "" && !slices.Contains(Confidences(), d.Confidence):
		return errField("confidence", d.Confidence, "one of "+strings.Join(Confidences(), ", "))
	case len(d.Source) > maxSource:
		return errField("source", d.Source[:20]+"…", "the id of a task")
	case size > maxContent:
		return record.Usage.Errorf("an entry of %d bytes is too long for the knowledge graph, which takes %d: "+
			"store the text as a result, and name that in --file", size, maxContent).Try("filebus put FILE")
	}
	for _, tag := range d.Tags {
		if len(tag) > maxTag || strings.ContainsAny(tag, "[]\"`") {
			return errField("tag", markdown.FirstWords(tag, maxTag), "a word or two without quotes and brackets")
		}
	}
	return nil
}

// The greatest length of a source and of a tag, in bytes.
const (
	maxSource = 100
	maxTag    = 60
)

// checkNew reports what a new entry lacks.
func (d Draft) checkNew(f form) error {
	switch {
	case d.Type == "" && !f.IsLesson():
		return errField("type", "", "one of "+strings.Join(types(), ", "))
	case d.Content == "":
		return errField("content", "", "what was learned, in a sentence or two")
	}
	return d.check(f)
}

// A Likeness is an entry that a new one may say the same as.
type Likeness struct {
	ID      string      `json:"id"`
	Summary string      `json:"summary"`        // the beginning of what it says
	Shared  index.Share `json:"shared"`         // of the words of both, as the index has them
	Tags    []string    `json:"tags,omitempty"` // that both have
	Entry   Entry       `json:"-"`
}

// The shares of words from which on two entries of one type are likely to say the
// same: of any two, and of two that share half of their tags.
const (
	likelyShare    = 0.6
	likelyWithTags = 0.4
)

// compare says how much a draft is like an entry, and whether it is likely to say
// the same.
func (d Draft) compare(words map[string]bool, e Entry) (l Likeness, likely bool) {
	if e.Type != d.Type {
		return Likeness{}, false
	}
	const maxSummary = 100 // bounds the summary of a likeness, in characters
	l = Likeness{
		ID: e.ID, Summary: markdown.Clip(markdown.OneLine(e.Fields.Content), maxSummary), Entry: e,
		Shared: index.Shared(words, index.Terms(e.Fields.Title+" "+e.Fields.Content)),
	}
	have := record.NormalizeTags(e.Fields.Tags)
	for _, tag := range d.Tags {
		if slices.Contains(have, tag) {
			l.Tags = append(l.Tags, tag)
		}
	}
	need := index.Share(likelyShare)
	if len(l.Tags) > 0 && 2*len(l.Tags) >= min(len(d.Tags), len(have)) {
		need = likelyWithTags
	}
	return l, l.Shared >= need
}

// words returns what a draft is compared by.
func (d Draft) words() map[string]bool { return index.Terms(d.Title + " " + d.Content) }

// among returns the entries that a draft is like, the most alike first.
func (d Draft) among(entries []Entry) []Likeness {
	words := d.words()
	return likeness.Likely(entries, func(e Entry) (Likeness, bool) { return d.compare(words, e) },
		func(l Likeness) (score index.Share, id string) { return l.Shared, l.ID })
}

// Similar returns the entries of the workspace's own tree that a draft is likely
// to say the same as, the most alike first. Candidates come from a search for the
// content. Entries that others supersede are left out.
func (b *Base) Similar(ctx context.Context, d Draft) ([]Likeness, error) {
	d = d.clean()
	text := markdown.OneLine(d.Title + " " + d.Content)
	const maxQuery = 1000 // bounds the text that candidates are searched for by, in bytes
	text = markdown.Head(text, maxQuery)
	if text == "" {
		return nil, nil
	}
	found, err := query.Candidates(ctx, b.read, text, record.Filter{Kinds: []record.Kind{record.KindKnowledge}},
		b.Get)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	superseded, err := b.read.Superseded(ctx)
	found = slices.DeleteFunc(found, func(e Entry) bool { return !superseded[e.Name].IsZero() })
	return d.among(found), err
}

// errField says that a value is not one for a field.
func errField(field, value, want string) error {
	err := record.Usage.Errorf("%s %q is not %s", field, value, want)
	if value == "" {
		err = record.Usage.Errorf("no %s is given: %s", field, want)
	}
	examples := map[string]string{"type": "gotcha", "confidence": "medium", "source": "003"}
	return err.Try("run it again with --{1} {2}", field, cmp.Or(examples[field], "TEXT"))
}

// errCaptured says that an entry cannot be changed here.
func errCaptured(name record.Name) error {
	err := record.Usage.Errorf("%s is in a captured tree: change its file and capture that again", name)
	return err.Try("filebus show {1}", name.String())
}

// errBroken says that a file is in no state to be added to.
func errBroken(path string) error {
	err := record.Conflict.Errorf("%s cannot take an entry as it is: it is broken, or holds conflict markers of git",
		path)
	return err.Try("filebus sync --problems")
}

// errKnown says that an entry is not added, as it is likely to say the same as others.
func errKnown(like []Likeness) error {
	e := like[0].Entry
	said := markdown.FirstWords(e.Fields.Content, layout.MaxKnowledgeTitle)
	err := record.Conflict.Errorf("not added: %s is likely to be the same: %s", e.ID, said)
	return err.Try("filebus knowledge show {1}", e.ID).With(like)
}

// errLink says that two entries cannot be linked.
func errLink(from record.Name, kind string, to record.Name, why string) error {
	err := record.Usage.Errorf("%s cannot be linked as %s to %s: %s", from.ID, kind, to.ID, why)
	return err.Try("filebus knowledge related {1}", from.ID)
}

func errSuperseded(name, by record.Name) error {
	err := record.Conflict.Errorf("%s is superseded by %s already", name.ID, by.ID)
	return err.Try("filebus knowledge show {1}", by.ID)
}

func errNoHandoff(name record.Name) error {
	return record.NotFound.Errorf("%s has no handoff yet", name).Try("filebus get {1}", name.String())
}
