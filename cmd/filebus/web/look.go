package web

import (
	"context"
	"sync"
	"time"
)

// Looks are those at the disk: one at a time, for all pages.
type looks struct {
	mu   sync.Mutex
	done chan struct{} // of the last one; nil: there was none
	at   time.Time     // when it began
}

// The bounds of looks: how long a page waits for one, and how often there is one. What is found later is told as any change.
const (
	patience = 250 * time.Millisecond
	lookGap  = time.Second
)

// take looks, unless that was done just now, and waits a while for what is found.
func (l *looks) take(ctx context.Context, look func(context.Context)) {
	if look == nil {
		return
	}
	l.mu.Lock()
	if l.done == nil || isClosed(l.done) && time.Since(l.at) > lookGap {
		done := make(chan struct{})
		l.done, l.at = done, time.Now()
		go func() { // it goes on when the browser is gone
			defer close(done)
			look(context.WithoutCancel(ctx))
		}()
	}
	done := l.done
	l.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(patience):
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
