package knowledge

import (
	"context"
	"slices"
	"strings"

	"filebus/index"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A Likeness is an entry that a new one may say the same as.
type Likeness struct {
	ID      string      `json:"id"`
	Summary string      `json:"summary"`        // the beginning of what it says
	Shared  index.Share `json:"shared"`         // of the words of both, as the index has them
	Tags    []string    `json:"tags,omitempty"` // that both have
	Entry   Entry       `json:"-"`
}

// maxSummary bounds the summary of a likeness, in characters.
const maxSummary = 100

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
	return likeness.Likely(entries, func(e Entry) (Likeness, bool) { return d.compare(words, e) }, Likeness.score)
}

// score orders likenesses.
func (l Likeness) score() (score index.Share, id string) { return l.Shared, l.ID }

// maxQuery bounds the text that candidates are searched for by, in bytes.
const maxQuery = 1000

// Similar returns the entries of the workspace's own tree that a draft is likely
// to say the same as, the most alike first. Candidates come from a search for the
// content. Entries that others supersede are left out.
func (b *Base) Similar(ctx context.Context, d Draft) ([]Likeness, error) {
	d = d.clean()
	text := markdown.OneLine(d.Title + " " + d.Content)
	text = strings.ToValidUTF8(text[:min(maxQuery, len(text))], "")
	if text == "" {
		return nil, nil
	}
	found, err := likeness.Candidates(ctx, b.read, text, record.Filter{Kinds: []record.Kind{record.KindKnowledge}},
		b.Get)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	superseded, err := b.read.Superseded(ctx)
	found = slices.DeleteFunc(found, func(e Entry) bool { return !superseded[e.Name].IsZero() })
	return d.among(found), err
}
