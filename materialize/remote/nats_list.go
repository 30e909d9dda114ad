package remote

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"filebus/store/record"
)

// List asks for states that are newer than the last listing, and lists anew what their stores have put, and others of which
// it was heard. Where something may be lost, and now and then, it lists all. A new connection may be to streams that were
// made anew, or restored.
func (n *natsRemote) List(ctx context.Context) (*Listing, error) {
	if err := n.listen(ctx); err != nil {
		return nil, err
	}
	n.mu.Lock()
	l, s, fresh, since, isSure := n.seen.Listing, n.seen.Streams, n.fresh, n.seen.Since, n.isSure
	s.Last = maps.Clone(s.Last)
	n.seen.Listing, n.fresh = nil, nil // if this one fails
	n.mu.Unlock()
	var err error
	last, states := uint64(math.MaxUint64), n.stream(n.listed()[0]) // nobody knows
	if time.Since(since).Abs() > relist {
		l = nil
	} else if l != nil && !isSure {
		var now natsStream
		now, err = n.info(ctx, n.listed()[0], struct{}{})
		if last = now.State.LastSeq; err == nil && (!now.Created.Equal(s.Made) || last < s.Last[states]) {
			l = nil
		}
	}
	switch {
	case err != nil:
	case l == nil:
		l, s, since = &Listing{}, streams{Last: map[string]uint64{}}, time.Now()
		if err = n.listOf(ctx, l, &s, n.listed()...); err != nil { // what is wrong with the other stream is worse
			err = cmp.Or(n.listOf(ctx, l, &s, n.listed()[1]), err)
		}
	case last != s.Last[states] || len(fresh) > 0:
		if l, err = n.listNew(ctx, l, &s, fresh); last != math.MaxUint64 {
			s.Last[states] = max(s.Last[states], last) // of claims
		}
	}
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen.Listing, n.seen.Streams, n.seen.Since, n.isSure = l, s, since, true
	return l, nil
}

// listNew returns a listing with what is newer, the same one if nothing is. It changes what was seen.
func (n *natsRemote) listNew(ctx context.Context, l *Listing, s *streams, fresh map[record.StoreID]bool) (*Listing, error) {
	all, states := &Listing{slices.Clone(l.Blobs), slices.Clone(l.Strays)}, n.listed()[0]
	m, err := n.next(ctx, states, s)
	for ; m != nil && err == nil; m, err = n.next(ctx, states, s) {
		l, s.Last[n.stream(states)] = all, m.Sequence
		n.take(all, m.Subject)
		if name, ok := n.name(m.Subject); ok {
			fresh = with(fresh, name.teller)
		}
	}
	for teller := range fresh {
		l, all.Blobs = all, slices.DeleteFunc(all.Blobs, func(n Name) bool { return n.kind == KindSegment && n.teller == teller })
		if err == nil {
			err = n.listOf(ctx, all, s, n.subjects(".blob."+string(teller)+".log.>"))
		}
	}
	all.sort()
	return l, err
}

// listOf adds what is there under some subjects. It notes the last sequence of each stream.
func (n *natsRemote) listOf(ctx context.Context, l *Listing, s *streams, filters ...string) error {
	for _, filter := range filters {
		for offset, more := 0, true; more; {
			now, err := n.info(ctx, filter, map[string]any{"subjects_filter": filter, "offset": offset})
			if err != nil {
				return err
			}
			if offset == 0 {
				s.Last[n.stream(filter)] = now.State.LastSeq
			}
			if filter == n.listed()[0] {
				s.Made = now.Created
			}
			for subject := range now.State.Subjects {
				n.take(l, subject)
			}
			offset += len(now.State.Subjects)
			more = now.Total > offset && len(now.State.Subjects) > 0
		}
	}
	l.sort()
	return nil
}

// info returns what the server says of the stream of some subjects.
func (n *natsRemote) info(ctx context.Context, filter string, request any) (s natsStream, err error) {
	if err = n.explained(n.call(ctx, "STREAM.INFO."+n.stream(filter), request, &s)); err == nil {
		err = n.check(s.Config)
	}
	return s, err
}

// next returns the first message of some subjects behind the last that was seen of their stream; nil: there is none.
func (n *natsRemote) next(ctx context.Context, filter string, s *streams) (*natsMessage, error) {
	var got struct {
		Message natsMessage `json:"message"`
	}
	request := map[string]any{"seq": s.Last[n.stream(filter)] + 1, "next_by_subj": filter}
	err := n.call(ctx, "STREAM.MSG.GET."+n.stream(filter), request, &got)
	if isFault(err, natsNoMessage) {
		return nil, nil
	}
	return &got.Message, n.explained(err)
}

// hasNew returns whether there is something that was not listed, or nothing can be asked.
func (n *natsRemote) hasNew(ctx context.Context) bool {
	n.mu.Lock()
	seen := streams{Last: maps.Clone(n.seen.Streams.Last)}
	n.mu.Unlock()
	for _, filter := range n.listed() {
		m, err := n.next(ctx, filter, &seen)
		if m != nil {
			n.note(m.Subject)
		}
		if m != nil || err != nil {
			return true
		}
	}
	return false
}

func (n *natsRemote) take(l *Listing, subject string) {
	if name, ok := n.name(subject); ok {
		l.Blobs = append(l.Blobs, name)
	} else if _, isPart := n.name(subject[:max(strings.LastIndexByte(subject, '.'), 0)]); !isPart {
		l.Strays = append(l.Strays, Stray{subject, "is no blob"})
	}
}

// listed returns the subjects of what a listing has: states first, as they are put last.
func (n *natsRemote) listed() []string {
	return []string{n.subjects(".state.*"), n.subjects(".blob.*.log.>")}
}

// listen subscribes to news, before a listing: nothing is missed then.
func (n *natsRemote) listen(ctx context.Context) error {
	conn, err := n.connection(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil || n.isListening {
		return err
	}
	for _, subject := range n.listed() {
		if _, err := conn.Subscribe(subject, func(m *nats.Msg) { n.note(m.Subject); n.tell() }); err != nil {
			return n.away("cannot be listened to: %v", err)
		}
	}
	if n.isListening = true; conn.FlushTimeout(natsConnect) != nil {
		return n.away("does not answer")
	}
	return nil
}

// forget lets the next listing be of all: something may be lost.
func (n *natsRemote) forget() {
	n.mu.Lock()
	n.seen.Since = time.Time{}
	n.mu.Unlock()
}

// note lets the next listing look at what a store has put under a subject.
func (n *natsRemote) note(subject string) {
	if name, ok := n.name(subject); ok && name.kind == KindSegment {
		n.mu.Lock()
		n.fresh = with(n.fresh, name.teller)
		n.mu.Unlock()
	}
}

func with(set map[record.StoreID]bool, id record.StoreID) map[record.StoreID]bool {
	if set == nil {
		set = map[record.StoreID]bool{}
	}
	set[id] = true
	return set
}
