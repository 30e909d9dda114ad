package query

import (
	"context"
	"errors"

	"filebus/store"
)

// A Resolution is what one of several texts means.
type Resolution struct {
	Version store.Version // zero if there is an error
	Err     error         // as of Resolve; ErrAbsent names nothing that comes near
}

// ResolveAll resolves many texts, each as Resolve does.
func (r *Reader) ResolveAll(ctx context.Context, texts []string, opts ResolveOptions) ([]Resolution, error) {
	found := make([]Resolution, 0, len(texts))
	err := EachOf(ctx, r, texts, func(tx *store.Tx, text string) error {
		s := resolver{tx: tx, text: text, opts: opts}
		v, err := s.resolve()
		if errors.Is(err, store.ErrNotFound) {
			err = absent(s.text, s.retired, nil)
		}
		found = append(found, Resolution{v, err})
		return nil
	})
	return found, err
}
