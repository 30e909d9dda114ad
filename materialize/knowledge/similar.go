package knowledge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/query"
	"filebus/store/record"
)

// A Likeness is an entry that a new one may say the same as.
type Likeness struct {
	Entry  Entry
	Shared float64  // of the words of both, from 0 to 1, as the index has them
	Tags   []string // that both have
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
	l = Likeness{Entry: e, Shared: sharedTerms(words, terms(e.Fields.Title+" "+e.Fields.Content))}
	have := record.NormalizeTags(e.Fields.Tags)
	for _, tag := range d.Tags {
		if slices.Contains(have, tag) {
			l.Tags = append(l.Tags, tag)
		}
	}
	need := likelyShare
	if len(l.Tags) > 0 && 2*len(l.Tags) >= min(len(d.Tags), len(have)) {
		need = likelyWithTags
	}
	return l, l.Shared >= need
}

// words returns what a draft is compared by.
func (d Draft) words() map[string]bool { return terms(d.Title + " " + d.Content) }

// likeIn returns the entries of a file that a draft is like.
func (d Draft) likeIn(f form, e *materialize.Entries) []Likeness {
	var like []Likeness
	words := d.words()
	for _, stored := range e.List() {
		if l, likely := d.compare(words, newEntry(f, stored.Name, e.Path, stored.Text)); likely {
			like = append(like, l)
		}
	}
	sortLikenesses(like)
	return like
}

func sortLikenesses(all []Likeness) {
	slices.SortStableFunc(all, func(a, b Likeness) int {
		return cmp.Or(cmp.Compare(b.Shared, a.Shared), strings.Compare(a.Entry.Name.ID, b.Entry.Name.ID))
	})
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
	text := oneLine(d.Title + " " + d.Content)
	text = strings.ToValidUTF8(text[:min(maxQuery, len(text))], "")
	if text == "" {
		return nil, nil
	}
	answer, err := b.read.Search(ctx, query.SearchRequest{
		Query: text, Filter: record.Filter{Kinds: []record.Kind{record.KindKnowledge}, Trees: []record.Tree{""}}, Limit: maxCandidates,
		Duplicates: true,
	})
	if err != nil || len(answer.Hits) == 0 {
		return nil, err
	}
	superseded, err := b.read.Superseded(ctx)
	if err != nil {
		return nil, err
	}
	var like []Likeness
	words := d.words()
	for _, hit := range answer.Hits {
		if by := superseded[hit.Name]; !by.IsZero() {
			continue
		}
		e, err := b.Get(ctx, hit.Name)
		if errors.Is(err, query.ErrNoKnowledge) {
			continue // it is gone since
		}
		if err != nil {
			return nil, err
		}
		if l, likely := d.compare(words, e); likely {
			like = append(like, l)
		}
	}
	sortLikenesses(like)
	return like, nil
}
