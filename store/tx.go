package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store/record"
)

// A Tx is a transaction: a consistent view of the store and, inside Update, the
// means to change it. It is valid only inside the function it was given to, and
// for one goroutine.
type Tx struct {
	store  *Store
	schema int // an older one only where nothing is written
	origin record.StoreID
	past   []past // earlier origins, in the order of the log
	noted  string // the number of the file that the origin writes; "": nobody knows
	file   string // that of this one; "": the system has none, or nothing was looked at
	meta   *bbolt.Bucket

	records, bodies, descriptions      *bbolt.Bucket // at positions; in a schema before 6 at digests: see stored
	digests                            digests
	likely                             uint64 // the position of what is likely to be asked for
	lookups                            batch
	uses, names, history, log, dropped *bbolt.Bucket
	absent, told                       *bbolt.Bucket // nil in an older schema

	position uint64
	lastTime time.Time // of the last entry
	steps    []step    // where the time goes back, in the order of the log
	wasAhead time.Time // the last entry's, before a step back of this transaction
	chain    record.Digest
	began    time.Time // the time of all entries of this transaction
	wrote    bool
	released []string // body files to remove after the commit
	before   *mark    // of a log that is not this one's beginning; nil: there is none
	last     mark     // as was signed
	wentBack bool     // the log lacks that, and nothing was written since
	renewed  string   // why the store has a new origin; "": it has none
	healed   []record.Name
	facts    map[record.Ref]*fact
	graph    *lineage                  // the last one that was asked for; nil: something has changed
	open     map[record.Name][]Version // that have come under names to be weighed; without a record: what is destroyed
	isOver   atomic.Bool               // of one that reads: others may write again
}

// A Version is a record as it stands under its name.
type Version struct {
	Ref      record.Ref
	Position uint64 // of the log entry that put it
	Record   *record.Record
}

// A Place is a record, and the position of a log entry about it: most lie there.
type Place struct {
	Ref      record.Ref
	Position uint64
	rank     [rankSize]byte // as its look-up has it; zeros: it has none
}

func (s *Store) newTx(btx *bbolt.Tx) (*Tx, error) {
	schema, err := s.schema(btx)
	if err != nil {
		return nil, err
	}
	tx := &Tx{store: s, schema: schema}
	for _, b := range []struct {
		name  []byte
		dst   **bbolt.Bucket
		since int // schema
	}{
		{bucketRecords, &tx.records, 1}, {bucketBodies, &tx.bodies, 1}, {bucketUses, &tx.uses, 1},
		{bucketDescriptions, &tx.descriptions, 1}, {bucketNames, &tx.names, 1}, {bucketHistory, &tx.history, 1},
		{bucketLookups, &tx.lookups.Bucket, 1}, {bucketLog, &tx.log, 1}, {bucketDropped, &tx.dropped, 1}, {bucketMeta, &tx.meta, 1},
		{bucketAbsent, &tx.absent, 5}, {bucketTold, &tx.told, 5}, {bucketDigests, &tx.digests.Bucket, schemaOrdered},
	} {
		if *b.dst = btx.Bucket(b.name); *b.dst == nil && schema >= b.since {
			return nil, damaged("store %s has no bucket %s", s.dir, b.name)
		}
	}
	tx.setFill()
	if err := cmp.Or(tx.readOrigins(tx.meta), tx.readSteps(tx.meta)); err != nil {
		return nil, err
	}
	err = tx.readEnd()
	tx.digests.runs = runsOf(tx.position)
	return tx, err
}

// setFill says how full the pages are that a bucket's node is split into. What lies at
// positions only grows at its end. Names come in the order of their paths, mostly many at
// once, and would leave each page half empty at bbolt's default of a half, which
// is right for the buckets whose keys are digests.
func (tx *Tx) setFill() {
	for _, b := range []*bbolt.Bucket{tx.log, tx.records, tx.bodies, tx.descriptions} {
		b.FillPercent = 1.0
	}
	for _, b := range []*bbolt.Bucket{tx.names, tx.history, tx.lookups.Bucket} {
		b.FillPercent = 0.9
	}
}

// readEnd finds the end of the log.
func (tx *Tx) readEnd() error {
	key, value := tx.log.Cursor().Last()
	if key == nil {
		tx.chain = FirstChain(tx.first())
		return nil
	}
	link, last, err := readLink(readPosition(key), value)
	tx.position, tx.lastTime, tx.chain = last.Position, last.Time, link
	return err
}

// viewMost is how many things one read transaction of ViewEach looks at.
const viewMost = 2000

// ViewEach looks at many things in read transactions that are short.
func ViewEach[T any](ctx context.Context, s *Store, all []T, look func(tx *Tx, of T) error) error {
	for chunk := range slices.Chunk(all, viewMost) {
		err := s.View(ctx, func(tx *Tx) error {
			for _, of := range chunk {
				if err := look(tx, of); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// ViewAll looks at what a transaction lists from a place on, the zero one first, in read
// transactions that are short.
func ViewAll[T any](
	ctx context.Context, s *Store, list func(tx *Tx, from T) iter.Seq2[T, error], look func(tx *Tx, each T) error,
) (err error) {
	var from T
	for more := true; more && err == nil; {
		more = false
		err = cmp.Or(s.View(ctx, func(tx *Tx) error {
			seen := 0
			for each, err := range list(tx, from) {
				if seen++; seen > viewMost {
					from, more = each, true
					return err
				}
				if err == nil {
					err = look(tx, each)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}), ctx.Err())
	}
	return err
}

// Origin returns the id of the store.
func (tx *Tx) Origin() record.StoreID { return tx.origin }

// Size returns the schema that the store has, the number of its records, and its size in bytes.
func (tx *Tx) Size() (schema, records int, size int64) {
	return tx.schema, tx.records.Stats().KeyN, tx.records.Tx().Size()
}

// Now returns the time that records put in this transaction get.
func (tx *Tx) Now() time.Time { return tx.now() }

// Get returns the record that ref names. It returns ErrNotFound, ErrDropped, or
// ErrDamaged if the stored bytes are not those that ref is the digest of. The time of
// one that was made by a clock which was far ahead is that of the step back: see
// SteppedBack.
func (tx *Tx) Get(ref record.Ref) (Version, error) {
	position, encoding := tx.stored(ref)
	if encoding == nil {
		if tx.dropped.Get(ref[:]) != nil {
			return Version{}, fmt.Errorf("ref %s: %w", ref.Short(), ErrDropped)
		}
		return Version{}, fmt.Errorf("ref %s: %w", ref.Short(), ErrNotFound)
	}
	if record.RefOf(encoding) != ref {
		return Version{}, damaged("record %s does not have its digest", ref)
	}
	r, err := record.Decode(encoding)
	if err != nil {
		return Version{}, damaged("record %s: %w", ref, err)
	}
	v := Version{ref, position, r}
	tx.settle(&v)
	return v, nil
}

// Find returns the record of a place, as Get does.
func (tx *Tx) Find(p Place) (Version, error) {
	tx.likely = p.Position
	return tx.Get(p.Ref)
}

// Resolve returns the one ref that begins with prefix: an *AmbiguousError if
// there are several, ErrDropped if all that do were dropped, ErrNotFound if none
// does.
func (tx *Tx) Resolve(prefix record.Prefix) (record.Ref, error) {
	switch found := tx.refsWith(prefix); {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return record.Ref{}, &AmbiguousError{prefix, found}
	case len(refsWith(tx.dropped, prefix)) > 0:
		return record.Ref{}, fmt.Errorf("ref %s: %w", prefix, ErrDropped)
	}
	return record.Ref{}, fmt.Errorf("ref %s: %w", prefix, ErrNotFound)
}

// schemaOrdered is the first schema in which records, bodies and descriptions lie at positions.
const schemaOrdered = 6

// stored returns where a record lies, and its encoding; nil: it is not here.
func (tx *Tx) stored(ref record.Ref) (position uint64, encoding []byte) {
	if tx.schema < schemaOrdered {
		value := tx.records.Get(ref[:])
		if value == nil {
			return 0, nil
		}
		head := slices.Concat(value[:min(len(value), positionSize)], make([]byte, positionSize))
		return readPosition(head), value[min(len(value), positionSize):]
	}
	if position, encoding = tx.digests.lookUp(tx.records, ref[:], tx.likely); encoding != nil {
		tx.likely = position
	}
	return position, encoding
}

// encoding returns that of a record; nil: it is not here.
func (tx *Tx) encoding(ref record.Ref) []byte {
	_, encoding := tx.stored(ref)
	return encoding
}

// refsWith returns the refs of records that begin with prefix, or as many of them as are worth showing.
func (tx *Tx) refsWith(prefix record.Prefix) (found []record.Ref) {
	if tx.schema < schemaOrdered {
		return refsWith(tx.records, prefix)
	}
	for position := range tx.digests.find(prefix.Seek()) {
		value := tx.records.Get(appendPosition(nil, position))
		if len(value) < len(record.Ref{}) {
			continue // a body lies there, or the page is damaged: Check says so
		}
		if ref := record.Ref(value[:len(record.Ref{})]); prefix.Matches(ref) && !slices.Contains(found, ref) {
			found = append(found, ref)
		}
		if len(found) == mostRefs {
			break
		}
	}
	slices.SortFunc(found, func(a, b record.Ref) int { return bytes.Compare(a[:], b[:]) })
	return found
}

// mostRefs are as many as are worth showing.
const mostRefs = 8

// refsWith returns the keys of a bucket that begin with prefix, or as many of
// them as are worth showing.
func refsWith(b *bbolt.Bucket, prefix record.Prefix) []record.Ref {
	var found []record.Ref
	c := b.Cursor()
	for k, _ := c.Seek(prefix.Seek()); bytes.HasPrefix(k, prefix.Seek()) && len(found) < mostRefs; k, _ = c.Next() {
		if len(k) != len(record.Ref{}) {
			continue // a damaged page: Check says so
		}
		if ref := record.Ref(k); prefix.Matches(ref) {
			found = append(found, ref)
		}
	}
	return found
}

// Head returns the current version of a name, or ErrNotFound.
func (tx *Tx) Head(name record.Name) (Version, error) {
	_, head, err := tx.current(name)
	if head == nil && err == nil {
		err = fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if err != nil {
		return Version{}, err
	}
	return *head, nil
}

// current returns what a name has, and its current version; nil: there is none. Of one that is lost it
// returns, beside the error, what is known.
func (tx *Tx) current(name record.Name) (entry nameEntry, head *Version, err error) {
	if entry, err = tx.name(name); err != nil || entry.state != stateHead {
		return entry, nil, err
	}
	v, err := tx.mustGet(name, entry.ref)
	if err != nil {
		v = Version{entry.ref, entry.position, &record.Record{Size: -1, Name: name}}
	}
	return entry, &v, err
}

// held is current for which a head that is lost is no error.
func (tx *Tx) held(name record.Name) (entry nameEntry, head *Version, err error) {
	if entry, head, err = tx.current(name); head != nil {
		err = nil
	}
	return entry, head, err
}

// mustGet returns a version that a name leads to. That it is missing is damage.
func (tx *Tx) mustGet(name record.Name, ref record.Ref) (Version, error) {
	v, err := tx.Get(ref)
	if errors.Is(err, ErrNotFound) {
		err = damaged("the record %s of %s is missing", ref.Short(), name)
	}
	return v, err
}

// Last returns the newest version of a name, also of one that was retired, and
// whether it is the head.
func (tx *Tx) Last(name record.Name) (v Version, head bool, err error) {
	entry, err := tx.name(name)
	if err == nil && entry.state == 0 {
		err = fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if err != nil {
		return Version{}, false, err
	}
	v, err = tx.mustGet(name, entry.ref)
	return v, entry.state == stateHead, err
}

// name returns what a name has; the zero entry if it never was.
func (tx *Tx) name(name record.Name) (nameEntry, error) {
	if len(tx.open[name]) > 0 {
		if err := tx.weigh(name, false); err != nil {
			return nameEntry{}, err
		}
	}
	value := tx.names.Get(nameKey(name))
	if value == nil {
		return nameEntry{}, nil
	}
	entry, err := decodeNameEntry(value)
	tx.likely = entry.position
	return entry, err
}

// HeadAt returns the version that was current at a position, or ErrNotFound.
func (tx *Tx) HeadAt(name record.Name, position uint64) (Version, error) {
	events, err := tx.History(name)
	if err != nil {
		return Version{}, err
	}
	ref, current, _ := tx.StateAt(events, position)
	if !current {
		return Version{}, fmt.Errorf("%s at position %d: %w", name, position, ErrNotFound)
	}
	return tx.mustGet(name, ref)
}

// StateAt plays a name's history up to a position. It returns the version that was current then, and
// whether it is still there, or destroyed since; neither of them if there was none.
func (tx *Tx) StateAt(events []Event, position uint64) (ref record.Ref, current, isDropped bool) {
	for _, e := range events {
		if e.Position > position {
			break
		}
		switch e.Change {
		case ChangePut, ChangeDrop, changeHeir:
			isDropped = tx.IsDropped(e.Ref)
			ref, current = e.Ref, !isDropped
		case ChangeRetire:
			current, isDropped = false, false
		case changeOver, ChangeVoid:
			current = false
		}
	}
	return ref, current, isDropped
}

// History returns what happened to a name, oldest first; empty for a name that
// never was.
func (tx *Tx) History(name record.Name) ([]Event, error) {
	var events []Event
	prefix := historyPrefix(nameKey(name))
	c := tx.history.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		e, err := decodeEvent(k, v)
		if err != nil {
			return nil, fmt.Errorf("history of %s: %w", name, err)
		}
		events = append(events, e)
	}
	return events, nil
}

// Since returns the log position at which a name first came up, 0 if it never did.
func (tx *Tx) Since(name record.Name) (uint64, error) {
	prefix := historyPrefix(nameKey(name))
	k, v := tx.history.Cursor().Seek(prefix)
	if !bytes.HasPrefix(k, prefix) {
		return 0, nil
	}
	e, err := decodeEvent(k, v)
	return e.Position, err
}

// Names returns the names from the given one on that have a current version,
// in the order of tree, kind and id, with the ref of that version. The zero
// Name begins at the start. It ends after the first error.
func (tx *Tx) Names(from record.Name) iter.Seq2[NamedRef, error] {
	return func(yield func(NamedRef, error) bool) {
		c := tx.names.Cursor()
		for k, v := c.Seek(nameKey(from)); k != nil; k, v = c.Next() {
			entry, err := decodeNameEntry(v)
			if err == nil && entry.state != stateHead {
				continue
			}
			name, nameErr := parseNameKey(k)
			if err = errors.Join(err, nameErr); !yield(NamedRef{name, Place{Ref: entry.ref, Position: entry.position}}, err) || err != nil {
				return
			}
		}
	}
}

// A NamedRef is a name with one of its versions.
type NamedRef struct {
	Name record.Name
	Place
}

// NamesAt returns the names from the given one on that had a current version at
// a position, with the ref of that version.
func (tx *Tx) NamesAt(from record.Name, position uint64) iter.Seq2[NamedRef, error] {
	return tx.statesAt(from, position, func(current, _ bool) bool { return current })
}

// statesAt returns the names whose state at a position is wanted.
func (tx *Tx) statesAt(from record.Name, position uint64, wants func(current, isDropped bool) bool) iter.Seq2[NamedRef, error] {
	return func(yield func(NamedRef, error) bool) {
		for name, err := range tx.NamesEver(from) {
			var events []Event
			if err == nil {
				events, err = tx.History(name)
			}
			ref, current, isDropped := tx.StateAt(events, position)
			if (err != nil || wants(current, isDropped)) && (!yield(NamedRef{name, Place{Ref: ref}}, err) || err != nil) {
				return
			}
		}
	}
}

// DroppedAt returns the names from the given one on whose version at a position
// was destroyed since, with the ref that it had: what NamesAt would return too
// if nothing were ever dropped. It ends after the first error.
func (tx *Tx) DroppedAt(from record.Name, position uint64) iter.Seq2[NamedRef, error] {
	return tx.statesAt(from, position, func(_, isDropped bool) bool { return isDropped })
}

// Description returns what was derived from a record's body; the zero
// Description if nothing was, or if it is damaged: it can be made again.
func (tx *Tx) Description(ref record.Ref) record.Description {
	d, _ := tx.description(ref)
	return d
}

// description reports as well whether what is stored is sound.
func (tx *Tx) description(ref record.Ref) (d record.Description, sound bool) {
	key := ref[:]
	if tx.schema >= schemaOrdered {
		position, _ := tx.stored(ref)
		key = appendPosition(nil, position)
	}
	packed := tx.descriptions.Get(key)
	if tx.schema > 1 {
		if len(packed) < descriptionSum || !bytes.Equal(packed[:descriptionSum], sumDescription(ref, packed[descriptionSum:])) {
			return record.Description{}, false
		}
		packed = packed[descriptionSum:]
	}
	text, err := tx.store.Unpack(packed)
	if err != nil || json.Unmarshal(text, &d) != nil {
		return record.Description{}, false
	}
	return d, true
}

// descriptionSum is how many bytes of a digest stand before a description.
const descriptionSum = 8

func sumDescription(ref record.Ref, packed []byte) []byte {
	digest := record.DigestOf(slices.Concat(ref[:], packed))
	return digest[:descriptionSum]
}

// removeReleased removes the files of bodies that nothing refers to any more.
// A file that stays behind costs only space: Check reports it.
func (tx *Tx) removeReleased() {
	for _, name := range tx.released {
		_ = tx.store.own.Remove(name)
	}
}
