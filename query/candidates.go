package query

import (
	"context"
	"errors"

	"filebus/index"
	"filebus/store/record"
)

// Candidates returns the entries of the own tree that a search for a text finds and a
// filter picks. Get reads one; those that are gone since are left out.
func Candidates[T any](
	ctx context.Context, r *Reader, text string, f record.Filter,
	get func(ctx context.Context, name record.Name) (T, error),
) (found []T, err error) {
	f.Trees = []record.Tree{""}
	const maxCandidates = 20 // how many entries the index is asked for
	request := index.Request{Query: text, Limit: maxCandidates, Duplicates: true, Filter: f}
	answer, err := r.Search(ctx, SearchRequest{Request: request})
	for _, hit := range answer.Hits {
		entry, getErr := get(ctx, hit.Name)
		switch {
		case getErr == nil:
			found = append(found, entry)
		case !errors.Is(getErr, record.NotFound):
			return nil, getErr
		}
	}
	return found, err
}
