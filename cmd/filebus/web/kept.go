package web

import (
	"context"
	"sync"
	"time"
)

// A kept has what was asked for last, by what it is, as of a position of the log: it is asked for anew once the log has gone on,
// or some time has gone by.
type kept[T any] struct {
	load func(ctx context.Context, what string) (T, error)
	time time.Duration // for which it holds while the log stays; 0: any
	hold time.Duration // for which it holds though the log goes on

	mu  sync.Mutex
	all map[string]keptAt[T]
}

type keptAt[T any] struct {
	position int
	time     time.Time
	value    T
}

// isFresh reports whether something is kept that holds whatever comes in, and that nobody asks for just now.
func (k *kept[T]) isFresh(s *Site, what string) bool {
	if !k.mu.TryLock() {
		return false
	}
	defer k.mu.Unlock()
	return s.Now().Sub(k.all[what].time) < k.hold
}

// mostValues is how many are kept.
const mostValues = 4

// of returns what is kept, or asks for it. Who waits for the same thing waits for one question.
func (k *kept[T]) of(ctx context.Context, s *Site, what string) (value T, err error) {
	var last struct{ Position int }
	if err := s.Ask(ctx, &last, "log", "--limit=1"); err != nil || last.Position == 0 {
		return k.load(ctx, what) // which says what is wrong
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	was, now := k.all[what], s.Now()
	age := now.Sub(was.time)
	if last.Position == was.position && (k.time == 0 || age < k.time) || last.Position > was.position && age < k.hold {
		return was.value, nil
	}
	if value, err = k.load(ctx, what); err != nil {
		return value, err
	}
	if len(k.all) >= mostValues || k.all == nil {
		k.all = map[string]keptAt[T]{}
	}
	k.all[what] = keptAt[T]{last.Position, now, value}
	return value, nil
}
