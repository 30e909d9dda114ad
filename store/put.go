package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"filebus/store/record"
)

// A Draft is a record to be put. The store fills in Origin, Prev and Time, and
// Body and Size from the prepared body.
type Draft struct {
	Record      record.Record
	Body        Body
	Description record.Description
	Expect      Expect
	Replaces    bool // it may follow another body under a write-once name
	// Merged are the versions that the store has made this of by itself, without a user: see
	// record.LinkMerged. The store sets the links.
	Merged []record.Ref
	// Content returns the digest of what an entry says without its heading and fields, zero if that is too
	// little; nil: it is no entry. It is called where the store has bars.
	Content func() record.Digest
	Again   bool // it is let in although it is barred, and its Bar goes
}

// An Expect says which version a name must have for a write to happen. The zero
// Expect accepts any: the write chains onto whatever is there.
type Expect struct {
	set bool
	ref record.Ref
}

// Absent expects that the name has no current version.
func Absent() Expect { return Expect{set: true} }

// Current expects that ref is the name's current version.
func Current(ref record.Ref) Expect { return Expect{set: true, ref: ref} }

// An Outcome says what a put did.
type Outcome struct {
	Version
	Unchanged bool // the name already had this content: nothing was written
	Healed    bool // what was stored of the body was damaged, and is whole again
}

// Put stores drafts in one transaction: all of them or none. The bodies' files
// are given up. See Tx.Put.
func (s *Store) Put(ctx context.Context, drafts ...Draft) ([]Outcome, error) {
	var outcomes []Outcome
	err := s.Update(ctx, func(tx *Tx) error {
		outcomes = outcomes[:0]
		for _, d := range drafts {
			outcome, err := tx.Put(d)
			if err != nil {
				return err
			}
			outcomes = append(outcomes, outcome)
		}
		return nil
	})
	for _, d := range drafts {
		err = errors.Join(err, d.Body.Discard())
	}
	if err != nil {
		return nil, err
	}
	return outcomes, nil
}

// Put makes the draft the newest version of its name. A draft that says nothing
// new is not stored: its Outcome is the version that is there. It returns a
// *ConflictError if the name's version is not the expected one, or if the name
// is write-once and has another body. A draft with a conflict link is kept
// beside the head instead of becoming it.
//
// What is stored of the draft's body is healed if it is damaged, also where the
// draft says nothing new.
func (tx *Tx) Put(d Draft) (Outcome, error) {
	outcome, err := tx.put(d)
	if outcome.Healed {
		tx.healed = append(tx.healed, d.Record.Name)
	}
	return outcome, err
}

func (tx *Tx) put(d Draft) (Outcome, error) {
	r := d.Record
	r.Links = record.WithoutLinks(r.Links, record.LinkMerged)
	entry, head, err := tx.current(r.Name)
	if err == nil {
		err = expected(d.Expect, r.Name, head)
	}
	if err != nil {
		return Outcome{}, err
	}
	r.Body, r.Size, r.Time, r.Prev = d.Body.Digest, d.Body.Size, tx.now(), entry.ref
	if r.IsConflict() {
		return tx.putConflict(r, d, head)
	}
	healed := false
	if head != nil {
		unchanged, err := tx.follow(&r, head, d.Replaces)
		if err == nil && r.Body == head.Record.Body {
			healed, err = tx.heal(d.Body, head.Position)
		}
		if _, sound := tx.description(head.Ref); unchanged && err == nil && !sound {
			err = tx.describe(*head, d.Description)
		}
		if unchanged || err != nil {
			return Outcome{*head, unchanged, healed}, err
		}
	}
	if head != nil { // which commands that store no file know nothing of
		r.SetMode(head.Record.Mode())
	}
	for _, ref := range d.Merged {
		r.Links = append(r.Links, record.Link{Type: record.LinkMerged, Target: ref.String()})
	}
	record.SortLinks(r.Links)
	r.Links = slices.Compact(r.Links)
	v, again, err := tx.insert(&r, d)
	if err != nil {
		return Outcome{}, err
	}
	if err = tx.enter(v, head); err == nil {
		tx.reweigh(r.Name, false) // it may settle some
	}
	return Outcome{Version: v, Healed: healed || again}, err
}

// Meets returns the *ConflictError that a Put of a name would end with, now, because
// its version is not the expected one, or nil.
func (tx *Tx) Meets(name record.Name, expect Expect) error {
	_, head, err := tx.current(name)
	if err != nil {
		return err
	}
	return expected(expect, name, head)
}

func expected(e Expect, name record.Name, head *Version) error {
	var actual record.Ref
	if head != nil {
		actual = head.Ref
	}
	if e.set && e.ref != actual {
		return &ConflictError{Name: name, Expected: e.ref, Actual: actual}
	}
	return nil
}

// follow checks what may follow head, and reports whether r says nothing new.
func (tx *Tx) follow(r *record.Record, head *Version, replaces bool) (unchanged bool, err error) {
	if tx.sealed(head.Record) && !replaces {
		if r.Body != head.Record.Body {
			return false, &ConflictError{Name: r.Name, Actual: head.Ref, WriteOnce: true}
		}
		complete(r, head.Record)
	}
	return sameEnvelope(r, head.Record), nil
}

// quiet is how long a captured result must have been still to count as whole.
const quiet = 5 * time.Minute

// sealed reports whether nothing but the same body may follow a head: what
// filebus itself wrote as a result or snapshot, and a result that an agent wrote
// once it has been quiet.
func (tx *Tx) sealed(head *record.Record) bool {
	if !head.Name.Kind.IsOnce() {
		return false
	}
	switch head.Source {
	case record.SourceCapture, record.SourceSync:
		return head.Name.Kind == record.KindResult && head.Name.Tree == "" && tx.now().Sub(head.Time) >= quiet
	}
	return true
}

// complete fills in what a put under a write-once name leaves unsaid, so that
// adding a tag does not take the agent away.
func complete(r *record.Record, head *record.Record) {
	for _, f := range []struct{ to, from *string }{
		{&r.Agent, &head.Agent}, {&r.Conversation, &head.Conversation}, {&r.Session, &head.Session},
		{&r.Run, &head.Run}, {&r.Loop, &head.Loop}, {&r.Task, &head.Task}, {&r.Status, &head.Status},
		{&r.Path, &head.Path}, {&r.MediaType, &head.MediaType},
	} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	if r.Exit == nil {
		r.Exit = head.Exit
	}
	if r.Written.IsZero() {
		r.Written = head.Written
	}
	if len(r.From) == 0 {
		r.From = head.From
	}
	r.AddTags(head.Tags)
	links := append(record.WithoutLinks(head.Links, record.LinkMerged), r.Links...)
	record.SortLinks(links)
	r.Links = slices.Compact(links)
}

// sameEnvelope reports whether two records differ in nothing but when and how they
// came in, what a store has made them of, who may use the file, and what is thought to be the date of the text.
func sameEnvelope(a, b *record.Record) bool {
	x, y := *a, *b
	x.Links = record.WithoutLinks(x.Links, record.LinkMerged, record.LinkMode)
	y.Links = record.WithoutLinks(y.Links, record.LinkMerged, record.LinkMode)
	x.Origin, x.Prev, x.Time, x.Written, x.Source = y.Origin, y.Prev, y.Time, y.Written, y.Source
	return string(x.Encode()) == string(y.Encode())
}

// insert adds the record, its body and its log entry; it does not touch its
// name. It reports whether the body was there already, and was healed.
func (tx *Tx) insert(r *record.Record, d Draft) (v Version, healed bool, err error) {
	if err := cmp.Or(tx.claim(), tx.admit(d)); err != nil {
		return Version{}, false, err
	}
	r.Origin = tx.origin
	return tx.add(r, d)
}

// add is insert for a record that some store has made.
func (tx *Tx) add(r *record.Record, d Draft) (v Version, healed bool, err error) {
	if err := r.Validate(); err != nil {
		return Version{}, false, err
	}
	encoding := r.Encode()
	ref := record.RefOf(encoding)
	// What is of this transaction no earlier one has made.
	isNew := r.Origin == tx.origin && r.Time.Equal(tx.now()) && !r.Time.Before(tx.lastTime) && len(tx.steps) == 0 &&
		len(tx.digests.waiting[[8]byte(ref[:8])]) == 0
	if !isNew && tx.encoding(ref) != nil {
		return Version{}, false, fmt.Errorf("record %s of %s is stored already", ref.Short(), r.Name)
	}
	if tx.dropped.Get(ref[:]) != nil { // put, dropped and put again in one transaction
		return Version{}, false, fmt.Errorf("record %s of %s: %w", ref.Short(), r.Name, ErrDropped)
	}
	if healed, err = tx.keepBody(d.Body, tx.position+1); err != nil {
		return Version{}, false, err
	}
	position, err := tx.append(OpPut, ref)
	if err != nil {
		return Version{}, false, err
	}
	return Version{ref, position, r}, healed, tx.keep(encoding, position, d.Description)
}

// keep stores a record that was put at a position.
func (tx *Tx) keep(encoding []byte, position uint64, d record.Description) error {
	ref := record.RefOf(encoding)
	tx.digests.add(ref, position)
	tx.changed(ref)
	err := tx.records.Put(appendPosition(nil, position), slices.Concat(ref[:], encoding))
	return errors.Join(err, tx.describe(Version{Ref: ref, Position: position}, d))
}

// enter does what follows from the entry of a put: v becomes the head of its name in
// place of another one, which may be nil, or a conflict version of it.
func (tx *Tx) enter(v Version, head *Version) error {
	key := nameKey(v.Record.Name)
	err := tx.addLookups(v)
	if v.Record.IsConflict() {
		return errors.Join(err, tx.note(key, Event{v.Position, changeConflict, v.Ref}))
	}
	if head != nil {
		err = errors.Join(err, tx.removeLookups(*head))
	}
	return errors.Join(err,
		tx.names.Put(key, nameEntry{stateHead, v.Ref, v.Position}.encode()),
		tx.note(key, Event{v.Position, ChangePut, v.Ref}),
	)
}

// leave does what follows from the entry of a retire of v, at a position.
func (tx *Tx) leave(v Version, position uint64) error {
	_, head, err := tx.held(v.Record.Name)
	isHead, isFirst := head != nil && head.Ref == v.Ref, false
	if head != nil && !isHead && !v.Record.IsConflict() {
		l, lineageErr := tx.lineage(v.Record.Name) // see Conclude
		isFirst, err = l.first != nil && l.first.ref == v.Ref, lineageErr
	}
	switch {
	case err != nil:
	case isHead || isFirst:
		err = tx.behead(*head, v.Ref, Event{position, ChangeRetire, v.Ref})
	default:
		err = tx.note(nameKey(v.Record.Name), Event{position, changeResolve, v.Ref})
	}
	if v.Record.IsConflict() {
		return errors.Join(err, tx.removeLookups(v))
	}
	if err != nil {
		return err
	}
	tx.reweigh(v.Record.Name, isFirst)
	return nil
}

func (tx *Tx) isHead(v Version) (bool, error) {
	entry, err := tx.name(v.Record.Name)
	return entry.ref == v.Ref && entry.state == stateHead, err
}

// behead takes a head away, by an event; last is what the name had last.
func (tx *Tx) behead(head Version, last record.Ref, e Event) error {
	key := nameKey(head.Record.Name)
	return errors.Join(tx.removeLookups(head), tx.note(key, e), tx.names.Put(key, nameEntry{stateRetired, last, e.Position}.encode()))
}

func (tx *Tx) note(name []byte, e Event) error {
	tx.graph = nil
	return tx.history.Put(historyKey(name, e.Position), e.encode())
}

// describe replaces what was derived from a record's body.
func (tx *Tx) describe(v Version, d record.Description) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	packed := tx.store.Pack(text)
	err = tx.descriptions.Put(appendPosition(nil, v.Position), append(sumDescription(v.Ref, packed), packed...))
	if v.Record == nil || err != nil { // it is no head yet
		return err
	}
	isHead, err := tx.isHead(v)
	if isHead && err == nil {
		err = tx.addLookups(v)
	}
	return err
}

// putConflict keeps r beside the head. The same body for the same head is kept
// once.
func (tx *Tx) putConflict(r record.Record, d Draft, head *Version) (Outcome, error) {
	for at, err := range tx.Lookup(FieldConflict, r.Name.String()) {
		if err != nil {
			return Outcome{}, err
		}
		open, err := tx.Find(at)
		if err != nil {
			return Outcome{}, err
		}
		if open.Record.Body == r.Body {
			healed, err := tx.heal(d.Body, open.Position)
			return Outcome{open, true, healed}, err
		}
	}
	if head == nil {
		r.Prev = record.Ref{}
	}
	v, healed, err := tx.insert(&r, d)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Version: v, Healed: healed}, tx.enter(v, nil)
}

// Retire takes the current version of a name away: the name is then found no
// more, while its versions stay readable by ref.
func (tx *Tx) Retire(name record.Name, expect Expect) error {
	head, err := tx.Head(name)
	if err == nil {
		err = expected(expect, name, &head)
	}
	if err != nil {
		return err
	}
	return tx.retire(head)
}

func (tx *Tx) retire(v Version) error {
	position, err := tx.append(OpRetire, v.Ref)
	if err == nil {
		err = tx.leave(v, position)
	}
	if err != nil || !v.Record.IsMerged() {
		return err
	}
	l, err := tx.lineage(v.Record.Name) // other stores have what it was made of
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(l.leaves, func(n *node) bool { return slices.Contains(v.Record.Follows(), n.ref) }); i >= 0 {
		for _, n := range l.leaves {
			if err == nil && n.isHere && !n.gone && l.agree(l.leaves[i], n) {
				err = tx.retire(l.version(n))
			}
		}
	}
	return err
}

// Settle takes a conflict version off the list of open conflicts.
func (tx *Tx) Settle(ref record.Ref) error {
	v, err := tx.Get(ref)
	if err != nil {
		return err
	}
	key := appendPosition(lookupPrefix(FieldConflict, v.Record.Name.String()), v.Position)
	if tx.lookups.Get(key) == nil {
		return fmt.Errorf("open conflict version %s: %w", ref.Short(), ErrNotFound)
	}
	return tx.retire(v)
}

// Drop destroys the content of a record: its envelope, its description, and its
// body if no other record has it. The ref stays in the log for ever. A head is
// retired first. What this store has made by itself of the record goes with it.
func (tx *Tx) Drop(ref record.Ref) error {
	v, err := tx.Get(ref)
	if err != nil {
		return err
	}
	if !v.Record.IsConflict() && !v.Record.IsMerged() {
		l, lineageErr := tx.lineage(v.Record.Name)
		err = lineageErr
		for _, n := range l.order {
			if err == nil && n.isNamed && n.isHere && n.Merged && slices.Contains(n.Follows, ref) {
				err = tx.drop(l.version(n))
			}
		}
	}
	return errors.Join(err, tx.drop(v))
}

func (tx *Tx) drop(v Version) error {
	isHead, err := tx.isHead(v)
	if isHead && err == nil { // not by retire: what it was made of stays
		position, appendErr := tx.append(OpRetire, v.Ref)
		if err = appendErr; err == nil {
			err = tx.leave(v, position)
		}
	}
	if err != nil {
		return err
	}
	position, err := tx.append(OpDrop, v.Ref)
	if err != nil {
		return err
	}
	return tx.destroy(v, position)
}

// destroy does what follows from the entry of a drop of v, at a position. A repair may not
// know v's name.
func (tx *Tx) destroy(v Version, position uint64) (err error) {
	if r := tx.raw(v.Ref); r != nil { // else it is lost
		err = tx.putAbsent(v.Ref, absentKnown, TraceOf(r).String())
	}
	err = errors.Join(err,
		tx.removeLookups(v), // of an open conflict version
		tx.dropped.Put(v.Ref[:], appendPosition(nil, position)),
		tx.forget(v.Ref),
		tx.releaseBody(v.Record.Body),
	)
	key := nameKey(v.Record.Name)
	if err != nil || v.Record.IsConflict() || v.Record.Name.IsZero() {
		return err
	}
	if line := tx.history.Get(historyKey(key, v.Position)); len(line) == 0 || Change(line[0]) != ChangeAdopt {
		err = tx.note(key, Event{v.Position, ChangeDrop, v.Ref}) // what never was the head takes none away
	}
	return errors.Join(err, tx.inherit(v, position))
}

// forget deletes a record and its description, if they are here.
func (tx *Tx) forget(ref record.Ref) error {
	tx.changed(ref)
	position, encoding := tx.stored(ref)
	if encoding == nil {
		return nil
	}
	key := appendPosition(nil, position)
	return errors.Join(tx.records.Delete(key), tx.descriptions.Delete(key), tx.digests.remove(ref, position))
}

// inherit gives a name whose last version was destroyed, by the entry at a position, what counts among
// those that are left, or removes the name when none is.
func (tx *Tx) inherit(gone Version, position uint64) error {
	name := gone.Record.Name
	entry, err := tx.name(name)
	isLast := entry.ref == gone.Ref
	if err != nil || !isLast {
		tx.await(name)
		return err
	}
	l, err := tx.lineage(name)
	switch first := l.first; {
	case err != nil:
	case first == nil:
		err = tx.names.Delete(nameKey(name))
	case !first.gone:
		err = errors.Join(tx.note(nameKey(name), Event{position, changeHeir, first.ref}),
			tx.names.Put(nameKey(name), nameEntry{stateHead, first.ref, position}.encode()))
		if first.isHere { // else a replay comes to its drop later
			err = errors.Join(err, tx.addLookups(l.version(first)))
		}
	}
	return errors.Join(err, tx.list(name))
}
