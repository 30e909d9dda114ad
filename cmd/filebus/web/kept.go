package web

import (
	"context"
	"sync"
)

// A kept has what was asked for last, by what it is, as of a position of the log: it is asked for anew once the log has gone on.
type kept[T any] struct {
	load func(ctx context.Context, s *Site, what string) (T, error)

	mu  sync.Mutex
	all map[string]keptAt[T]
}

type keptAt[T any] struct {
	position int
	value    T
}

// mostValues is how many are kept.
const mostValues = 4

// of returns what is kept, or asks for it. Who waits for the same thing waits for one question.
func (k *kept[T]) of(ctx context.Context, s *Site, what string) (value T, err error) {
	var last struct{ Position int }
	if err := s.Ask(ctx, &last, "log", "--limit=1"); err != nil {
		return value, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if was, found := k.all[what]; found && last.Position > 0 && was.position == last.Position {
		return was.value, nil
	}
	if value, err = k.load(ctx, s, what); err != nil {
		return value, err
	}
	if len(k.all) >= mostValues || k.all == nil {
		k.all = map[string]keptAt[T]{}
	}
	k.all[what] = keptAt[T]{last.Position, value}
	return value, nil
}
