package noun

import (
	"cmp"
	"context"
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
	Summary string      `json:"summary"`
	Shared  index.Share `json:"shared"`         // of the words of both, as the index has them
	Files   bool        `json:"files"`          // both name some file
	Tags    []string    `json:"tags,omitempty"` // that both have
	Status  string      `json:"-"`

	over index.Share // how much more they share than they need to
}

// Among returns a function that returns those of some entries that a checked draft is likely to say the same as, the
// most alike first. The terms of the entries are made once, for all drafts.
func (c *Collection[T]) Among(entries []Entry[T]) func(draft *T) []Likeness {
	terms := markdown.Each(entries, func(e Entry[T]) map[string]bool { return index.Terms(c.Words(&e.Fields)) })
	return func(draft *T) (like []Likeness) {
		text := c.Words(draft)
		words := index.Terms(text)
		for i, e := range entries {
			both, share := index.Shared(words, terms[i])
			l, need := c.Alike(draft, e, len(words)-both, len(terms[i])-both)
			if l.Shared = share; len(words)+len(terms[i]) == 0 && strings.EqualFold(text, c.Words(&e.Fields)) {
				l.Shared = 1
			}
			l.ID, l.Status, l.over = e.Name.ID, c.State(e), l.Shared-need
			if need > 0 && l.over >= 0 {
				like = append(like, l)
			}
		}
		slices.SortStableFunc(like, func(a, b Likeness) int { return cmp.Or(cmp.Compare(b.over, a.over), strings.Compare(a.ID, b.ID)) })
		return like
	}
}

// Likely returns the entries of the own tree that a draft is likely to say the same as, the most
// alike first. Candidates come from a search for its words.
func (c *Collection[T]) Likely(ctx context.Context, draft T) ([]Likeness, error) {
	c.Fields.Clean(&draft)
	const maxQuery = 1000 // bounds the text that candidates are searched for by, in bytes
	text := markdown.OneLine(c.Words(&draft))
	if text = markdown.Head(text, maxQuery); text == "" {
		return nil, nil
	}
	filter := record.Filter{Kinds: []record.Kind{c.Kind}, Statuses: c.Open}
	get := func(ctx context.Context, name record.Name) (Entry[T], error) { return c.Get(ctx, name.ID) }
	found, err := query.Candidates(ctx, c.Read, text, filter, get)
	return c.Among(found)(&draft), err
}

// IsOpen reports whether something is to be done in a state; in one that the Type does not
// know there is.
func (t *Type[T]) IsOpen(state string) bool {
	return t.Open == nil || slices.Contains(t.Open, state) || !slices.Contains(t.States, state)
}

// ErrKnown says that an entry is not added, as it is likely to say the same as others.
func (t *Type[T]) ErrKnown(like []Likeness) error {
	err := record.Conflict.Errorf("not added: %s is likely to be the same: %s", like[0].ID, like[0].Summary)
	return err.Try(cmp.Or(t.Known, "filebus "+t.Group+" show {1}"), like[0].ID).With(like)
}
