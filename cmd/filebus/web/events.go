package web

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// An events tells pages of new entries of the log. The log is followed once for all of them, and
// not at all while nobody looks.
type events struct {
	ctx    context.Context
	follow func(ctx context.Context, entry func(line []byte)) error

	mu        sync.Mutex
	listeners map[chan []byte]bool
	stop      context.CancelFunc // of the follower; nil: there is none
}

func newEvents(ctx context.Context, follow func(context.Context, func([]byte)) error) *events {
	return &events{ctx: ctx, follow: follow, listeners: map[chan []byte]bool{}}
}

// The bounds of streams: how many there may be, how many entries wait for a slow one, and how often
// an idle one hears that it still is one.
const (
	maxStreams = 100
	maxWaiting = 64
	pulse      = 20 * time.Second
)

// ServeHTTP answers with a stream of server-sent events. A page that comes back after a gap reads
// itself anew, so nothing is kept for it: the first event says that it should.
func (e *events) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	entries, ok := e.join()
	if !ok {
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer e.leave(entries)
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	text := "retry: 1000\n: hello\n\n"
	if r.Header.Get("Last-Event-ID") != "" {
		text = "event: gap\ndata: {}\n\n"
	}
	tick := time.NewTicker(pulse)
	defer tick.Stop()
	for {
		_ = out.SetWriteDeadline(time.Now().Add(pulse)) // where there is none, the stream ends with its connection
		if _, err := fmt.Fprint(w, text); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-e.ctx.Done():
			return
		case line := <-entries:
			text = fmt.Sprintf("id: 1\ndata: %s\n\n", line)
		case <-tick.C:
			text = ": \n\n"
		}
	}
}

// join adds a listener, and begins to follow the log for the first one.
func (e *events) join() (entries chan []byte, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.listeners) >= maxStreams {
		return nil, false
	}
	entries = make(chan []byte, maxWaiting)
	e.listeners[entries] = true
	if e.stop == nil {
		ctx, stop := context.WithCancel(e.ctx)
		e.stop = stop
		go e.run(ctx)
	}
	return entries, true
}

func (e *events) leave(entries chan []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if delete(e.listeners, entries); len(e.listeners) == 0 {
		e.stop()
		e.stop = nil
	}
}

// run follows the log, also when the store is away for a while.
func (e *events) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := e.follow(ctx, e.tell)
		if ctx.Err() == nil && err != nil {
			e.tell([]byte("{}")) // the pages say what is wrong
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// tell passes an entry on. Who is too slow misses some: a page needs one of them.
func (e *events) tell(line []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for entries := range e.listeners {
		select {
		case entries <- line:
		default:
		}
	}
}
