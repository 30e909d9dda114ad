package remote

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"filebus/store/record"
)

// List asks for states that are newer than the last listing, and lists anew what their stores have put, and others of which
// it was heard. Where something may be lost, and now and then, it lists all.
func (n *natsRemote) List(ctx context.Context) (*Listing, error) {
	if err := n.listen(ctx); err != nil {
		return nil, err
	}
	n.mu.Lock()
	l, seen, fresh := n.all, maps.Clone(n.seen), n.fresh
	n.all, n.fresh = nil, nil // if this one fails
	if time.Since(n.since).Abs() > relist || l == nil {
		l, seen, n.since = nil, map[string]uint64{}, time.Now()
	}
	n.mu.Unlock()
	var err error
	if l == nil {
		if l, err = n.listOf(ctx, &Listing{}, seen, n.listed()...); err != nil { // what is wrong with the other stream is worse
			_, blobErr := n.listOf(ctx, &Listing{}, seen, n.listed()[1])
			err = cmp.Or(blobErr, err)
		}
	} else {
		l, err = n.listNew(ctx, l, seen, fresh)
	}
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all, n.seen = l, seen
	return l, nil
}

// listNew returns a listing with what is newer, the same one if nothing is. It changes what was seen.
func (n *natsRemote) listNew(ctx context.Context, l *Listing, seen map[string]uint64, fresh map[record.StoreID]bool) (*Listing, error) {
	all, states := &Listing{slices.Clone(l.Blobs), slices.Clone(l.Strays)}, n.listed()[0]
	m, err := n.next(ctx, states, seen)
	for ; m != nil && err == nil; m, err = n.next(ctx, states, seen) {
		l, seen[n.stream(states)] = all, m.Sequence
		n.take(all, m.Subject)
		if name, ok := n.name(m.Subject); ok {
			fresh = with(fresh, name.teller)
		}
	}
	for teller := range fresh {
		l, all.Blobs = all, slices.DeleteFunc(all.Blobs, func(n Name) bool { return n.kind == KindSegment && n.teller == teller })
		if err == nil {
			_, err = n.listOf(ctx, all, seen, n.subjects(".blob."+string(teller)+".log.>"))
		}
	}
	all.sort()
	return l, err
}

// listOf adds what is there under some subjects. It notes the last sequence of each stream.
func (n *natsRemote) listOf(ctx context.Context, l *Listing, seen map[string]uint64, filters ...string) (*Listing, error) {
	for _, filter := range filters {
		for offset, more := 0, true; more; {
			var s natsStream
			request := map[string]any{"subjects_filter": filter, "offset": offset}
			if err := n.call(ctx, "STREAM.INFO."+n.stream(filter), request, &s); err != nil {
				return nil, n.explained(err)
			}
			if err := n.check(s.Config); err != nil {
				return nil, err
			}
			if offset == 0 {
				seen[n.stream(filter)] = s.State.LastSeq
			}
			for subject := range s.State.Subjects {
				n.take(l, subject)
			}
			offset += len(s.State.Subjects)
			more = s.Total > offset && len(s.State.Subjects) > 0
		}
	}
	return l.sort(), nil
}

// next returns the first message of some subjects behind the last that was seen of their stream; nil: there is none.
func (n *natsRemote) next(ctx context.Context, filter string, seen map[string]uint64) (*natsMessage, error) {
	var got struct {
		Message natsMessage `json:"message"`
	}
	request := map[string]any{"seq": seen[n.stream(filter)] + 1, "next_by_subj": filter}
	err := n.call(ctx, "STREAM.MSG.GET."+n.stream(filter), request, &got)
	if isFault(err, natsNoMessage) {
		return nil, nil
	}
	return &got.Message, n.explained(err)
}

// hasNew returns whether there is something that was not listed, or nothing can be asked.
func (n *natsRemote) hasNew(ctx context.Context) bool {
	n.mu.Lock()
	seen := maps.Clone(n.seen)
	n.mu.Unlock()
	for _, filter := range n.listed() {
		m, err := n.next(ctx, filter, seen)
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
	n.since = time.Time{}
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
