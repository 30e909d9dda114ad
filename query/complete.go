package query

import (
	"context"
	"slices"

	"filebus/index"
)

// maxCompletions bounds the terms that a word being typed is completed to.
const maxCompletions = 30

// addCompletions changes a request so that its last word also stands for what it may
// become. In texts these are the same word.
func (f *finder) addCompletions(ctx context.Context, asked *SearchRequest) error {
	b := f.request.beginning()
	if b == nil {
		return nil
	}
	c, err := f.newCatchUp(ctx)
	if err != nil {
		return err
	}
	var found []index.WeightedTerm
	err = c.ask(ctx, f.deadline(f.request), func(x *index.Index) (err error) {
		if found = nil; x != nil {
			found, err = x.Completions(ctx, b, maxCompletions)
		}
		return err
	})
	if err != nil {
		return err
	}
	number, known := f.terms[b.Term]
	if !known {
		number = len(f.terms)
	}
	asked.More = slices.Clip(asked.More)
	for _, t := range found {
		if _, known := f.terms[t.Term]; !known {
			f.terms[t.Term] = number
			asked.More = append(asked.More, t)
		}
	}
	return nil
}
