package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/record"
)

// A Refused is what was not taken in from a remote, or not yet.
type Refused struct {
	Teller record.StoreID `json:"store"` // that has put it there
	Label  Label          `json:"label,omitempty"`
	Error  error          `json:"-"`
	Reason string         `json:"reason"`
}

// A Pulled says what Pull has done.
type Pulled struct {
	Segments  int                `json:"segments"`
	Records   map[store.Fate]int `json:"records"`
	Retired   int                `json:"retired"`
	Destroyed int                `json:"destroyed"`
	Asked     int                `json:"asked,omitempty"` // of this store's own, which are hidden until somebody here destroys them
	Heirs     []record.Name      `json:"heirs,omitempty"` // of this store, made of what was destroyed
	Refused   []Refused          `json:"refused"`
	Waiting   []Refused          `json:"waiting"` // what has come in part
	Strays    []Stray            `json:"strays"`

	done, total uint64 // log entries
}

func refuse(teller record.StoreID, err error) Refused {
	return Refused{Teller: teller, Error: err, Reason: err.Error()}
}

// Pull takes in what other stores have told in a remote and this one has not heard. What a store that is not
// trusted has told, and what is forged, cut, or of another log, changes nothing, and is named.
func (r *Replica) Pull(ctx context.Context) (*Pulled, error) {
	out := &Pulled{Records: map[store.Fate]int{}, Refused: []Refused{}, Waiting: []Refused{}, Strays: []Stray{}}
	if err := r.refresh(ctx); err != nil {
		return out, err
	}
	out.Strays = append(out.Strays, r.listing.Strays...)
	if r.looked.isAfter(r.Seen.Pulled) {
		return out, nil
	}
	logs := map[record.StoreID][]Name{}
	for _, teller := range r.listing.tellers() {
		r.checkTeller(ctx, teller, out)
	}
	counts := func(n Name) bool { return n.span.Origin != r.own && n.teller != r.own && r.Trust.Knows(n.teller) }
	ends := map[record.StoreID]uint64{}
	for _, name := range r.segments(counts) {
		origin := name.span.Origin
		end := max(ends[origin], position(r.heard, origin))
		logs[origin], ends[origin] = append(logs[origin], name), max(end, name.span.Last)
		out.total += ends[origin] - end
	}
	var failed error
	for _, origin := range slices.Sorted(maps.Keys(logs)) {
		failed = errors.Join(failed, r.takeLog(ctx, origin, logs[origin], out)) // the other logs are heard all the same
		if ctx.Err() != nil {
			break
		}
	}
	if failed == nil && len(out.Refused)+len(out.Waiting)+out.Segments == 0 {
		r.Seen.Pulled = r.looked
	}
	return out, failed
}

// checkTeller names a store that is not trusted, or signs with another key.
func (r *Replica) checkTeller(ctx context.Context, teller record.StoreID, out *Pulled) {
	if teller == r.own || r.Trust.Knows(teller) && !slices.Contains(r.listing.Blobs, StateName(teller)) {
		return // its segments are signed, too
	}
	state, key, err := r.stateOf(ctx, teller, nil)
	if err == nil {
		err = r.Trust.Check(teller, key)
	}
	if err != nil {
		refused := refuse(teller, err)
		refused.Label = state.Label
		out.Refused = append(out.Refused, refused)
	}
}

// isWrong reports whether an error says that a blob is not to be taken in, as against one that cannot
// be read just now.
func isWrong(err error) bool {
	return errors.Is(err, record.Damaged) || errors.Is(err, record.NewerStore) || errors.Is(err, ErrUnknownKey) || errors.Is(err, ErrChangedKey) ||
		errors.Is(err, materialize.ErrOtherLog) || errors.Is(err, materialize.ErrGap)
}

// takeLog takes in what follows of one log, piece by piece.
func (r *Replica) takeLog(ctx context.Context, origin record.StoreID, all []Name, out *Pulled) error {
	reach := func(n Name) uint64 { // its own word is first, then what goes furthest
		if n.teller == origin {
			return math.MaxUint64
		}
		return n.span.Last
	}
	slices.SortFunc(all, func(a, b Name) int {
		return cmp.Or(cmp.Compare(reach(b), reach(a)), cmp.Compare(b.span.Last, a.span.Last), cmp.Compare(a.teller, b.teller))
	})
	var refused []Refused
	var failed error
	for {
		var heard uint64
		err := r.Workspace.Store.View(ctx, func(tx *store.Tx) (err error) {
			heard, _, err = tx.Heard(origin)
			return err
		})
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(n Name) bool { return n.span.First <= heard+1 && heard < n.span.Last })
		if at < 0 {
			if len(refused) == 0 {
				r.nameGap(origin, heard, all, out)
			}
			out.Refused = append(out.Refused, refused...)
			return failed
		}
		name := all[at]
		all = slices.Delete(all, at, at+1)
		err = r.takeSegment(ctx, name, out)
		switch {
		case err == nil:
			refused, failed = nil, nil // another one has told the same
			if out.done += name.span.Last - heard; r.Progress != nil {
				r.Progress(out.done, out.total)
			}
		case isAbsent(err) && ctx.Err() == nil:
			out.Waiting = append(out.Waiting, Refused{Teller: name.teller, Error: err, Reason: "a part of it is not there yet: " + name.String()})
		case isWrong(err) && ctx.Err() == nil:
			refused = append(refused, refuse(name.teller, err))
		case ctx.Err() == nil:
			failed = errors.Join(failed, err)
		default:
			return err
		}
	}
}

// nameGap names a log of which there is more, behind a gap.
func (r *Replica) nameGap(origin record.StoreID, heard uint64, all []Name, out *Pulled) {
	all = slices.DeleteFunc(all, func(n Name) bool { return n.span.First <= heard+1 })
	if len(all) > 0 {
		first := slices.MinFunc(all, func(a, b Name) int { return a.span.compare(b.span) }).span.First
		out.Waiting = append(out.Waiting,
			refuse(origin, record.Partly.Errorf("entries %d to %d of the log of %s are not there yet", heard+1, first-1, origin)))
	}
}

// open lets a reader of a segment have the bodies that travel by themselves, and verify who has passed over entries.
func (r *Replica) open(b *bundle.Reader, teller record.StoreID) {
	b.Passed = r.Trust.checkPass
	b.Apart = func(ctx context.Context, digest record.Digest) (io.ReadCloser, error) {
		return r.Transport.Get(ctx, BodyName(teller, digest))
	}
}

// fetch gets a segment: see Fetch.
func (r *Replica) fetch(ctx context.Context, name Name, trust *Trust) ([]byte, error) {
	content, _, err := Fetch(ctx, r.Transport, name, trust)
	if err == nil {
		content, err = bundle.Unpack(r.Workspace.Store, content)
	}
	return content, err
}

// takeSegment takes in one segment.
func (r *Replica) takeSegment(ctx context.Context, name Name, out *Pulled) error {
	content, err := r.fetch(ctx, name, r.Trust)
	if err != nil {
		return err
	}
	applied, err := r.Workspace.Learn(ctx, content, name.span.Origin, func(b *bundle.Reader) { r.open(b, name.teller) })
	if applied == nil {
		return err
	}
	for fate, n := range applied.Records {
		out.Records[fate] += n
	}
	out.Retired += applied.Retired
	out.Destroyed += len(applied.Destroyed)
	out.Asked += applied.Asked
	out.Heirs = append(out.Heirs, applied.Heirs...)
	if err == nil || len(applied.Records) > 0 {
		out.Segments++
	}
	return err
}
