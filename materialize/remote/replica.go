package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/folder"
	"filebus/store/record"
)

// The lengths of what travels, in bytes.
const (
	mostSegment = 1<<20 - 4<<10 // with its signature a segment is no longer than 1 MiB
	mostInside  = 256 << 10     // a larger body travels by itself, so that it can be erased
)

// orphaned is how long a store has said nothing when others tell what is missing of its log.
const orphaned = time.Hour

// A Replica is a store with one of its remotes.
type Replica struct {
	Workspace *materialize.Workspace
	Transport Transport
	Keys      Keys
	Trust     *Trust
	Label     Label         // what the store calls itself there
	Filter    record.Filter // which records leave
	Seen      *Seen         // that of the transport; nil: nothing is kept
	Now       func() time.Time
	Progress  func(done, total uint64) // log entries that Pull has taken in, and shall; nil: nobody looks

	own     record.StoreID
	mine    map[record.StoreID]bool // that one, and the earlier ones
	end     bundle.Place            // of what the own log tells
	heard   []Heard                 // of others, in the order of their ids, and then of this one
	listing *Listing

	looked look // of the last refresh
}

// refresh reads what the store and the remote have by now.
func (r *Replica) refresh(ctx context.Context) (err error) {
	all, err := r.Transport.List(ctx)
	if err != nil {
		return err
	}
	r.listing, r.Seen = &Listing{all.Blobs, all.Strays}, cmp.Or(r.Seen, &Seen{})
	ids, err := r.Workspace.Store.Origins(ctx)
	if err != nil {
		return err
	}
	r.own, r.mine, r.heard = ids[0], map[record.StoreID]bool{}, nil
	for _, id := range ids {
		r.mine[id] = true
		if key, err := r.Keys.known(id); err == nil && id != r.own { // what it told before it was restored, or copied
			r.Trust.vouch(Trustee{id, key.Public(), r.Label})
		}
	}
	err = r.Workspace.Store.View(ctx, func(tx *store.Tx) error {
		tellers, err := tx.Tellers()
		for _, id := range tellers {
			place, heardErr := bundle.Place{}, error(nil)
			place.Position, place.Chain, heardErr = tx.Heard(id)
			r.heard, err = append(r.heard, Heard{id, place}), cmp.Or(err, heardErr)
		}
		last, endErr := tx.LastTold()
		link, linkErr := tx.Chain(last)
		r.end = bundle.Place{Position: last, Chain: link}
		r.heard = append(r.heard, Heard{r.own, r.end})
		return cmp.Or(err, endErr, linkErr)
	})
	r.looked = r.look(all)
	return err
}

// segments returns those that are there.
func (r *Replica) segments(are func(Name) bool) (all []Name) {
	for _, name := range r.listing.Blobs {
		if name.kind == KindSegment && are(name) {
			all = append(all, name)
		}
	}
	return all
}

// gaps returns what is not there of a log up to its end, told by those that count.
func (r *Replica) gaps(origin record.StoreID, end uint64, counts func(teller record.StoreID) bool) (all []Span) {
	there := r.segments(func(n Name) bool { return n.span.Origin == origin && counts(n.teller) })
	slices.SortFunc(there, func(a, b Name) int { return a.span.compare(b.span) })
	next := uint64(1)
	for _, name := range there {
		s := name.span
		if s.First > next && next <= end {
			all = append(all, Span{origin, next, min(s.First-1, end)})
		}
		next = max(next, s.Last+1)
	}
	if next <= end {
		all = append(all, Span{origin, next, end})
	}
	return all
}

// A Held is a record that did not leave the store.
type Held struct {
	Name record.Name `json:"name"`
	Rule string      `json:"rule"` // of the secret that it seems to have
	Line int         `json:"line"`
}

// A Pushed says what Push has done.
type Pushed struct {
	Segments int    `json:"segments"`
	Records  int    `json:"records"`
	Bytes    int64  `json:"bytes"`   // that were written
	Retold   int    `json:"retold"`  // of the segments, those of other stores' logs, which the remote has lost
	Erased   int    `json:"erased"`  // segments that were written anew, without what was destroyed
	Held     []Held `json:"held"`    // what was kept back, and why
	Renewed  bool   `json:"renewed"` // another store writes there under the id that this one had
}

// Push puts into a remote what it lacks: the own log, and those of others that it has lost. What is
// private, or passes no filter, or seems to have a secret, is told without its content. What was destroyed
// since is taken out of what was put there before.
func (r *Replica) Push(ctx context.Context) (*Pushed, error) {
	out := &Pushed{Held: []Held{}}
	if err := r.refresh(ctx); err != nil {
		return out, err
	}
	if r.looked.isAfter(r.Seen.Pushed) {
		return out, nil
	}
	if err := r.claimID(ctx, out); err != nil {
		return out, err
	}
	key, err := r.Keys.Of(r.own)
	if err != nil {
		return out, err
	}
	state, _, _ := r.stateOf(ctx, r.own, nil) // what cannot be read is said anew
	isOwn := func(teller record.StoreID) bool { return teller == r.own }
	for _, step := range []func() error{
		func() error { return r.removeCovered(ctx) },
		func() error { return r.recheckStuck(ctx) },
		func() error { return r.writeSegments(ctx, key, r.gaps(r.own, r.end.Position, isOwn), out) },
		func() error { return r.writeForSilent(ctx, key, out) },
		func() error { return r.eraseDestroyed(ctx, state.Erased, out) },
		func() error { return r.publishState(ctx, key, state) },
	} {
		if err := step(); err != nil {
			return out, err
		}
	}
	if state.Erased == r.end.Position { // else what is destroyed here may be gone meanwhile
		r.Seen.Pushed = r.looked
	}
	return out, nil
}

// claimID makes sure that nobody else writes under the id of this store: a copy of it, or the one that it
// is a copy of. This one goes on under another id then.
func (r *Replica) claimID(ctx context.Context, out *Pushed) error {
	own := r.segments(func(n Name) bool { return n.teller == r.own && n.span.Origin == r.own })
	if len(own) == 0 {
		return nil
	}
	name := slices.MaxFunc(own, func(a, b Name) int { return cmp.Compare(a.span.Last, b.span.Last) })
	last := name.span.Last
	content, err := r.fetch(ctx, name, nil)
	if errors.Is(err, record.Damaged) || isAbsent(err) { // it says nothing, and is told anew if it is missing
		if err = r.remove(ctx, name); err == nil {
			err = r.claimID(ctx, out)
		}
		return err
	}
	isOther := false
	if err == nil {
		err = r.Workspace.Store.View(ctx, func(tx *store.Tx) error {
			link, err := tx.Chain(min(last, tx.Position()))
			isOther = last > tx.Position() || !bytes.HasSuffix(content, []byte(bundle.Place{Position: last, Chain: link}.String()+"\n"))
			return err
		})
	}
	if err != nil || !isOther {
		return err
	}
	out.Renewed = true
	if err := r.Workspace.Store.Update(ctx, (*store.Tx).Renew); err != nil {
		return err
	}
	return r.refresh(ctx)
}

// writeSegments writes segments of what is missing of a store's log.
func (r *Replica) writeSegments(ctx context.Context, key Key, gaps []Span, out *Pushed) error {
	for _, gap := range gaps {
		for after := gap.First - 1; after < gap.Last; {
			request := bundle.Request{Origin: gap.Origin, After: after, Until: gap.Last, Most: mostSegment}
			written, err := r.writeSegment(ctx, key, request, out, nil)
			if err != nil {
				return err
			}
			if written.End.Position <= after { // the rest was not heard entry by entry
				break
			}
			after = written.End.Position
			out.Segments++
			out.Records += written.Records
		}
	}
	return nil
}

// writeSegment writes one segment, after the bodies that travel by themselves, unless it is there as it was.
func (r *Replica) writeSegment(
	ctx context.Context, key Key, request bundle.Request, out *Pushed, was []byte,
) (bundle.Written, error) {
	if request.Large = mostInside; request.Origin == key.teller {
		request.Vouch = key.vouch
	}
	request.Picks = func(tx *store.Tx, of *record.Record, content store.Content) bool {
		return !isPrivate(tx, of, content) && r.picks(tx, of, content, request.Origin, out)
	}
	text, written, err := bundle.Segment(ctx, r.Workspace.Store, request)
	for _, body := range written.Apart {
		if err == nil {
			err = r.putBody(ctx, BodyName(key.teller, body.Digest), body, out)
		}
	}
	switch {
	case errors.Is(err, store.ErrDropped): // a body that was to travel by itself
		return r.writeSegment(ctx, key, request, out, was)
	case err != nil || bytes.Equal(text, was):
		return written, err
	}
	name := SegmentName(key.teller, Span{request.Origin, written.Before.Position + 1, written.End.Position})
	if !slices.Contains(r.listing.Blobs, name) {
		err = r.note(name)
	}
	text = bundle.Pack(r.Workspace.Store, text)
	if out.Bytes += int64(len(text)); err == nil {
		err = Publish(ctx, r.Transport, key, name, text)
	}
	return written, err
}

func (r *Replica) putBody(ctx context.Context, name Name, body store.Content, out *Pushed) error {
	if there, err := r.Transport.Get(ctx, name); err == nil {
		return there.Close()
	} else if !isAbsent(err) {
		return err
	}
	from, size, err := bundle.Apart(body)
	if err != nil {
		return err
	}
	out.Bytes += size
	if err = r.note(name); err == nil {
		err = r.Transport.Put(ctx, name, size, from)
	}
	return errors.Join(err, from.Close())
}

// putFile lists the segments and bodies that the store has put into its remotes, a name a line, each before it
// is: what is out of sight, as in a folder that is synchronised in part, or was left by a push that was cut
// short, has to be found when it is destroyed.
const putFile = ".put" // no name of a remote

func (r *Replica) note(name Name) error {
	own := folder.At(r.Workspace.Store.Dir()).Sub(Folder)
	return cmp.Or(own.Make("."), own.Append(putFile, []byte(name.String()+"\n")))
}

// noted returns what the store may have in the remote, under whatever id it has had.
func (r *Replica) noted() (map[Name]bool, error) {
	text, err := folder.At(r.Workspace.Store.Dir()).Sub(Folder).ReadFile(putFile)
	if err != nil && !isAbsent(err) {
		return nil, err
	}
	all := map[Name]bool{}
	for line := range strings.Lines(string(text)) {
		if name, err := ParseName(strings.TrimSuffix(line, "\n")); err == nil && r.mine[name.teller] { // else it was cut short, and nothing was put
			all[name] = true
		}
	}
	for _, name := range r.segments(func(n Name) bool { return r.mine[n.teller] }) {
		all[name] = true
	}
	return all, nil
}

// picks reports whether a record may leave the store within the log of an origin. What other stores have
// told leaves in their logs.
func (r *Replica) picks(tx *store.Tx, of *record.Record, content store.Content, origin record.StoreID, out *Pushed) bool {
	if of.IsMerged() || of.Origin != origin && r.isTold(of.Origin, origin) || !r.Filter.Accepts(of) {
		return false
	}
	if materialize.IsTaggedHere(tx, of, materialize.TagPublic) {
		return true
	}
	found, err := lookThrough(content, of)
	if err == nil && len(found) == 0 {
		return true
	}
	held := Held{Name: of.Name, Rule: "it cannot be read"}
	if err == nil {
		held.Rule, held.Line = found[0].Rule, found[0].Line
	}
	out.Held = append(out.Held, held)
	return false
}

// isPrivate reports whether a record is of a name that is private, or was that last, or tells one, as frames do.
func isPrivate(tx *store.Tx, of *record.Record, content store.Content) bool {
	names := []record.Name{of.Name}
	if of.Name.Kind == record.KindFrame {
		text, err := content.Bytes()
		if err != nil {
			return true
		}
		frame, err := record.DecodeFrame(of.Name.Tree, text)
		names = append(names, frame.Slots()...)
		for at := range tx.Lookup(store.FieldTag, materialize.TagPrivate) {
			if v, getErr := tx.Find(at); err != nil && getErr == nil && v.Record.Path == of.Path && materialize.IsTaggedHere(tx, v.Record, materialize.TagPrivate) { // it is a whole file, with its entries
				return true
			}
		}
	}
	return materialize.IsTaggedHere(tx, of, materialize.TagPrivate) || slices.ContainsFunc(names, func(n record.Name) bool {
		last, _, err := tx.Last(n)
		return err == nil && materialize.IsTaggedHere(tx, last.Record, materialize.TagPrivate)
	})
}

// isTold reports whether the records of a store leave in another log than that of an origin.
func (r *Replica) isTold(by, origin record.StoreID) bool {
	if r.mine[by] {
		return origin != r.own
	}
	return slices.ContainsFunc(r.heard, func(h Heard) bool { return h.Origin == by })
}

// lookThrough looks for secrets in a text and in what is said of it.
func lookThrough(content store.Content, of *record.Record) ([]secrets.Match, error) {
	said := fmt.Sprintln(of.Name.ID, of.Path, of.Tags, of.Agent, of.Conversation, of.Session, of.Task, of.Run, of.Status)
	if found := secrets.Scan([]byte(said)); len(found) > 0 {
		return found, nil
	}
	looked, err := secrets.ReadThrough(content.Open)
	if err != nil {
		return nil, err
	}
	return looked.Found, nil
}

// writeForSilent writes what a remote has lost of the logs of stores that say nothing any more.
func (r *Replica) writeForSilent(ctx context.Context, key Key, out *Pushed) error {
	for _, h := range r.heard {
		if r.mine[h.Origin] || r.isAlive(ctx, h.Origin) {
			continue
		}
		counts := func(teller record.StoreID) bool { return teller == r.own || r.Trust.Knows(teller) }
		before := out.Segments
		if err := r.writeSegments(ctx, key, r.gaps(h.Origin, h.Position, counts), out); err != nil {
			return err
		}
		out.Retold += out.Segments - before
	}
	return nil
}

// isAlive reports whether a store has spoken there of late: it tells its log itself.
func (r *Replica) isAlive(ctx context.Context, origin record.StoreID) bool {
	state, _, err := r.stateOf(ctx, origin, r.Trust)
	return err == nil && r.Now().Sub(state.Time) < orphaned
}

// stateOf reads what a store says of itself; beside an error that is nothing. Without trust it may be anybody's word.
func (r *Replica) stateOf(ctx context.Context, teller record.StoreID, trust *Trust) (*State, PublicKey, error) {
	content, key, err := Fetch(ctx, r.Transport, StateName(teller), trust)
	if err != nil {
		return &State{}, key, err
	}
	state, err := ParseState(content)
	if err == nil && state.Origin != teller {
		state, err = &State{}, malformed("the state of "+string(teller), "it is of %s", state.Origin)
	}
	return state, key, err
}

// publishState says anew how far this store is, if that is something new.
func (r *Replica) publishState(ctx context.Context, key Key, was *State) error {
	others := slices.DeleteFunc(slices.Clone(r.heard), func(h Heard) bool { return h.Origin == r.own })
	now := &State{Origin: r.own, Label: r.Label, Time: r.Now(), At: r.end, Erased: r.end.Position, Heard: others}
	if isGone, err := r.isGone(ctx, was.Erased); err != nil {
		return err
	} else if !isGone {
		now.Erased = min(was.Erased, r.end.Position)
	}
	isSame := was.At == now.At && !was.Left && was.Label == now.Label && was.Erased == now.Erased && slices.Equal(was.Heard, now.Heard)
	if isSame && now.Time.Sub(was.Time) < orphaned/2 && !now.Time.Before(was.Time) {
		return nil
	}
	return r.putState(ctx, key, now)
}

// isGone reports whether nothing is left, in the store and in its files, of what was destroyed behind a log position.
func (r *Replica) isGone(ctx context.Context, after uint64) (bool, error) {
	last, waiting := uint64(0), 0
	err := r.Workspace.Store.View(ctx, func(tx *store.Tx) (err error) {
		waiting = tx.Waiting() + len(tx.Asked())
		last, err = tx.LastDrop()
		return err
	})
	if err != nil || last <= after || waiting > 0 {
		return last <= after, err
	}
	left, err := r.Workspace.Left(ctx)
	return len(left) == 0, err
}

func (r *Replica) putState(ctx context.Context, key Key, state *State) error {
	content, err := state.Encode()
	if err != nil {
		return err
	}
	return Publish(ctx, r.Transport, key, StateName(r.own), content)
}

// Leave says in a remote that this store will do nothing more there.
func (r *Replica) Leave(ctx context.Context) error {
	if err := r.refresh(ctx); err != nil {
		return err
	}
	key, err := r.Keys.Of(r.own)
	state, _, stateErr := r.stateOf(ctx, r.own, nil)
	if err != nil || stateErr != nil { // then it has not said that it is there
		return err
	}
	state.Time, state.Left = r.Now(), true
	return r.putState(ctx, key, state)
}

// eraseDestroyed writes segments anew that have what was destroyed here behind a position of the own log, and removes
// bodies that are.
func (r *Replica) eraseDestroyed(ctx context.Context, after uint64, out *Pushed) error {
	gone := map[record.Ref]bool{}
	err := r.Workspace.Store.EachEntry(ctx, after+1, func(_ *store.Tx, e store.Entry) error {
		if e.Op == store.OpDrop && e.Position <= r.end.Position {
			gone[e.Ref] = true
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	all, err := r.noted()
	for name := range all {
		if err == nil && name.kind == KindBody {
			err = r.removeBody(ctx, name)
		} else if err == nil {
			err = r.rewrite(ctx, name, gone, out)
		}
	}
	return err
}

// rewrite writes a segment anew if it puts one of the records. One that lies within another is removed instead, also if
// it is out of sight.
func (r *Replica) rewrite(ctx context.Context, name Name, gone map[record.Ref]bool, out *Pushed) error {
	hit, span := false, name.span
	err := r.Workspace.Store.View(ctx, func(tx *store.Tx) error {
		heard, _, err := tx.Heard(span.Origin)
		if err != nil || heard < span.Last { // of an earlier id, which another store has gone on with
			return err
		}
		for told, err := range tx.LogOf(span.Origin, span.First-1) {
			if err != nil || told.Position > span.Last || hit {
				return err
			}
			hit = told.Op == store.OpPut && gone[told.Ref]
		}
		return nil
	})
	if err != nil || !hit {
		return err
	}
	key, err := r.Keys.known(name.teller)
	if isAbsent(err) { // an earlier id that somebody else had
		return nil
	}
	var old []byte
	if err == nil {
		old, err = r.fetch(ctx, name, nil)
	}
	if err != nil && !isAbsent(err) && !errors.Is(err, record.Damaged) {
		return err
	}
	request := bundle.Request{Origin: span.Origin, After: span.First - 1, Until: span.Last}
	written := &Pushed{}
	if slices.ContainsFunc(r.listing.Blobs, name.isWithin) {
		err = r.Transport.Remove(ctx, name)
	} else {
		_, err = r.writeSegment(ctx, key, request, written, old)
	}
	if err != nil {
		return err
	}
	if written.Bytes > 0 {
		out.Erased++
	}
	return r.removeBodies(ctx, name.teller, old)
}

// removeBodies removes the bodies of a segment that are destroyed here.
func (r *Replica) removeBodies(ctx context.Context, teller record.StoreID, segment []byte) (err error) {
	for _, digest := range bundle.Bodies(segment) {
		if err == nil {
			err = r.removeBody(ctx, BodyName(teller, digest))
		}
	}
	return err
}

func (r *Replica) removeBody(ctx context.Context, name Name) error {
	isUsed := true
	err := r.Workspace.Store.View(ctx, func(tx *store.Tx) error {
		isUsed = tx.HasBody(name.digest)
		return nil
	})
	if err != nil || isUsed {
		return err
	}
	return r.Transport.Remove(ctx, name)
}
