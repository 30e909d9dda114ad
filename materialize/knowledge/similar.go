package knowledge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"filebus/index"
	"filebus/materialize/markdown"
	"filebus/query"
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
	var like []Likeness
	words := d.words()
	for _, e := range entries {
		if l, likely := d.compare(words, e); likely {
			like = append(like, l)
		}
	}
	slices.SortStableFunc(like, func(a, b Likeness) int {
		return cmp.Or(cmp.Compare(b.Shared, a.Shared), strings.Compare(a.ID, b.ID))
	})
	return like
}

// The bounds of a search for likenesses: candidates, and bytes of the query.
const (
	maxCandidates = 20
	maxQuery      = 1000
)

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
	answer, err := b.read.Search(ctx, query.SearchRequest{
		Query: text, Limit: maxCandidates, Duplicates: true,
		Filter: record.Filter{Kinds: []record.Kind{record.KindKnowledge}, Trees: []record.Tree{""}},
	})
	if err != nil || len(answer.Hits) == 0 {
		return nil, err
	}
	superseded, err := b.read.Superseded(ctx)
	if err != nil {
		return nil, err
	}
	var found []Entry
	for _, hit := range answer.Hits {
		if by := superseded[hit.Name]; !by.IsZero() {
			continue
		}
		e, err := b.Get(ctx, hit.Name)
		if err != nil && !errors.Is(err, query.ErrNoKnowledge) { // it may be gone since
			return nil, err
		}
		found = append(found, e)
	}
	return d.among(found), nil
}
