package store

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store/record"
)

// A Trace is what stays known of a version whose content is destroyed, or has never come here:
// when it was made, and what it goes on from. It tells no name and no text.
type Trace struct {
	Time    time.Time
	Merged  bool // a store has made it by itself
	Follows []record.Ref
}

// String returns "time[ merged]{ SP ref}".
func (t Trace) String() string {
	var out strings.Builder
	out.WriteString(record.FormatTime(t.Time))
	if t.Merged {
		out.WriteString(" " + record.LinkMerged)
	}
	for _, ref := range t.Follows {
		out.WriteString(" " + ref.String())
	}
	return out.String()
}

// ParseTrace reads what String wrote, and nothing else.
func ParseTrace(text string) (t Trace, err error) {
	words := strings.Split(text, " ")
	t.Time, err = record.ParseTime(words[0])
	words = words[1:]
	if t.Merged = len(words) > 0 && words[0] == record.LinkMerged; t.Merged {
		words = words[1:]
	}
	for _, word := range words {
		ref, refErr := record.ParseRef(word)
		t.Follows, err = append(t.Follows, ref), errors.Join(err, refErr)
	}
	if err == nil && t.String() != text {
		err = errors.New("not as it was written")
	}
	if err != nil {
		return Trace{}, damaged("malformed trace %.200q: %w", text, err)
	}
	return t, nil
}

// TraceOf returns the trace of a record.
func TraceOf(r *record.Record) Trace { return Trace{r.Time, r.IsMerged(), r.Follows()} }

// raw returns a record as it was made; nil if it is not here.
func (tx *Tx) raw(ref record.Ref) *record.Record {
	r, err := record.Decode(tx.encoding(ref))
	if err != nil {
		return nil
	}
	return r
}

// Trace returns what is known of a version.
func (tx *Tx) Trace(ref record.Ref) (Trace, bool) {
	f := tx.fact(ref)
	return f.Trace, !f.Time.IsZero()
}

// notHere returns the state of what is absent, and its trace; "": that is not known.
func (tx *Tx) notHere(ref record.Ref) (state byte, trace string) {
	if tx.absent == nil { // an older schema
		return absentKnown, ""
	}
	value := string(tx.absent.Get(ref[:]))
	if value == "" {
		return absentKnown, ""
	}
	return value[0], value[1:]
}

func (tx *Tx) putAbsent(ref record.Ref, state byte, trace string) error {
	tx.changed(ref)
	return tx.absent.Put(ref[:], append([]byte{state}, trace...))
}

// The states of what is absent.
const (
	absentKnown   = 'k'
	absentRetired = 'r' // whoever brings it shall retire it
)

// Tell notes a version that another store has put and whose record is not here. It returns the names for
// which that may decide something: see Conclude.
func (tx *Tx) Tell(ref record.Ref, t Trace) (names []record.Name, err error) {
	state, trace := tx.notHere(ref)
	if tx.encoding(ref) != nil || trace != "" {
		return nil, nil
	}
	err = errors.Join(tx.putAbsent(ref, state, t.String()), tx.link(ref, t))
	names, _, touchErr := tx.touch(ref)
	return names, errors.Join(err, touchErr)
}

// isAwaited is the value under a ref of which nothing is known and the key of a name whose versions go on from it.
var isAwaited = []byte{'n'}

// touch notes under the names that a version leads to, over others that are not here, the destroyed ones that go on from it, over
// such too, or that it is: these belong to the names, see lineage. It returns the names for which what is known of the version
// decides something. One that is destroyed has passed on what goes on from it, and what a store has made by itself is destroyed by itself.
func (tx *Tx) touch(ref record.Ref) (names []record.Name, isUnder bool, err error) {
	var lost []record.Ref
	passes := func(at record.Ref) bool { t := tx.fact(at); return !t.isLost || t.Merged }
	for todo, i := []record.Ref{ref}, 0; i < len(todo); i++ {
		at := todo[i]
		if !passes(at) {
			lost = append(lost, at)
		}
		c := tx.absent.Cursor()
		for k, v := c.Seek(at[:]); bytes.HasPrefix(k, at[:]); k, v = c.Next() {
			if name, err := parseNameKey(k[len(at):]); err == nil && bytes.Equal(v, isAwaited) {
				names = append(names, name)
			} else if len(k) == 2*len(at) && len(v) == 0 && passes(at) && !slices.Contains(todo, record.Ref(k[len(at):])) {
				todo = append(todo, record.Ref(k[len(at):]))
			}
		}
	}
	for todo, i := []record.Ref{ref}, 0; i < len(todo) && len(lost) > 0; i++ {
		if r := tx.raw(todo[i]); r != nil {
			names = append(names, r.Name)
			for _, ref := range lost {
				err = errors.Join(err, tx.noteLost(r.Name, ref))
			}
		} else if i == 0 || passes(todo[i]) {
			todo = append(todo, tx.fact(todo[i]).Follows...)
		}
	}
	return names, len(lost) > 0, err
}

// noteLost notes a destroyed version, which was never here, in the history of a name.
func (tx *Tx) noteLost(name record.Name, ref record.Ref) error {
	value, key := tx.dropped.Get(ref[:]), nameKey(name)
	if len(value) != positionSize || tx.history.Get(append(historyPrefix(key), value...)) != nil {
		return nil
	}
	v := Version{Ref: ref, Position: readPosition(value)}
	if tx.await(name); v.Position == tx.position {
		tx.await(name, v)
	}
	return tx.note(key, Event{v.Position, changeUnder, ref})
}

// lose notes that a version which was never here is destroyed, by the entry at a position.
func (tx *Tx) lose(ref record.Ref, position uint64) error {
	err := tx.dropped.Put(ref[:], appendPosition(nil, position))
	tx.changed(ref)
	_, _, touchErr := tx.touch(ref)
	return errors.Join(err, tx.link(ref, tx.fact(ref).Trace), touchErr)
}

// LastDrop returns the position of the last entry that destroys something, 0 if none does.
func (tx *Tx) LastDrop() (last uint64, err error) {
	err = tx.dropped.ForEach(func(_, value []byte) error {
		if len(value) == positionSize {
			last = max(last, readPosition(value))
		}
		return nil
	})
	return last, err
}

// DropAs destroys a version that another store has destroyed at a time, also one that has never come here. It
// reports whether something was destroyed here.
func (tx *Tx) DropAs(ref record.Ref, at time.Time) (bool, error) {
	v, err := tx.Get(ref)
	switch {
	case errors.Is(err, ErrDropped):
		return false, nil
	case errors.Is(err, ErrNotFound):
		position, err := tx.append(OpDrop, ref)
		if err != nil {
			return false, err
		}
		return false, tx.lose(ref, position)
	}
	if err = errors.Join(err, tx.Drop(ref), tx.SetWaiting(tx.Waiting()+1)); err != nil {
		return false, err
	}
	if uses, usesErr := tx.Uses(v.Record.Body); uses == 0 && IsBarred(v.Record.Name.Kind, v.Record.Size, false) {
		err = errors.Join(usesErr, tx.Bar(v.Record.Body, Bar{From: v.Record.Time, Time: at, Ref: ref}))
	}
	return true, err
}

// Waiting returns how many versions that others have destroyed may have bytes yet on unused pages and in the index.
func (tx *Tx) Waiting() int {
	n, _ := strconv.Atoi(string(tx.meta.Get([]byte(metaWaiting)))) // none, if there is no such number
	return n
}

// SetWaiting notes how many versions Waiting tells of.
func (tx *Tx) SetWaiting(n int) error {
	return tx.meta.Put([]byte(metaWaiting), strconv.AppendInt(nil, int64(n), 10))
}

const (
	metaWaiting = "waiting"
	metaAsked   = "asked" // refs, one behind the other
)

// Ask hides a version that this store has made, and that another one has destroyed, until somebody here destroys it.
func (tx *Tx) Ask(ref record.Ref) error {
	_, err := tx.RetireAs(ref)
	var value []byte
	for _, asked := range tx.Asked() {
		if asked != ref {
			value = append(value, asked[:]...)
		}
	}
	return errors.Join(err, tx.meta.Put([]byte(metaAsked), append(value, ref[:]...)))
}

// Asked returns the versions that Ask has hidden and that are still here.
func (tx *Tx) Asked() (refs []record.Ref) {
	for value := range slices.Chunk(tx.meta.Get([]byte(metaAsked)), len(record.Ref{})) {
		var ref record.Ref
		copy(ref[:], value)
		if _, err := tx.Get(ref); err == nil {
			refs = append(refs, ref)
		}
	}
	return refs
}

// link notes of what a version goes on from, and is not here, that it does.
func (tx *Tx) link(ref record.Ref, t Trace) (err error) {
	for _, before := range t.Follows {
		if key := append(bytes.Clone(before[:]), ref[:]...); tx.encoding(before) == nil {
			err = errors.Join(err, tx.absent.Put(key, nil))
		}
	}
	return err
}

// unlink forgets what was noted of a version that is here now.
func (tx *Tx) unlink(r *record.Record) (err error) {
	ref := r.Ref()
	for _, before := range r.Follows() {
		err = errors.Join(err, tx.absent.Delete(append(before[:], ref[:]...)))
	}
	c := tx.absent.Cursor()
	for k, _ := c.Seek(ref[:]); err == nil && bytes.HasPrefix(k, ref[:]); k, _ = c.Seek(ref[:]) {
		err = c.Delete()
	}
	return err
}

// A Told is an entry of some store's log, with the trace of what it puts.
type Told struct {
	Entry
	Chain record.Digest // after it
	Trace *Trace        // of a put; nil: not known
	Pass  *Pass         // of an entry of OpPass
}

// ChainOf returns the chain of a store's log after a position that was heard.
func (tx *Tx) ChainOf(origin record.StoreID, position uint64) (record.Digest, error) {
	if position == 0 {
		first, err := FirstOrigin(origin, tx.PastOf(origin))
		return FirstChain(first), err
	}
	var value []byte
	if b, prefix := tx.logBucket(origin); b != nil {
		value = b.Get(appendPosition(prefix, position))
	}
	if value == nil && (origin != tx.origin || position > tx.position) {
		return record.Digest{}, fmt.Errorf("log position %d of %s: %w", position, origin, ErrNotFound)
	}
	told, err := readTold(position, value)
	return told.Chain, err
}

// logBucket returns where a store's log is, and what its keys begin with.
func (tx *Tx) logBucket(origin record.StoreID) (b *bbolt.Bucket, prefix []byte) {
	if origin == tx.origin {
		return tx.log, nil
	}
	return tx.told, []byte(origin)
}

// PastOf returns the earlier origins of a store, as Past does.
func (tx *Tx) PastOf(origin record.StoreID) string {
	if origin == tx.origin {
		return tx.Past()
	}
	if tx.told == nil {
		return ""
	}
	return string(tx.told.Get(toldKey(origin, 0)))
}

// LogOf returns the entries of a store's log behind a position: of the own log, or of what was heard
// of another one.
func (tx *Tx) LogOf(origin record.StoreID, after uint64) iter.Seq2[Told, error] {
	return func(yield func(Told, error) bool) {
		b, prefix := tx.logBucket(origin)
		if b == nil { // an older schema
			return
		}
		c := b.Cursor()
		for k, v := c.Seek(appendPosition(prefix, after+1)); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
			told, err := readTold(readPosition(k[len(prefix):]), v)
			if t, known := tx.Trace(told.Ref); known && origin == tx.origin && told.Op == OpPut {
				told.Trace = &t
			}
			if !yield(told, err) || err != nil {
				return
			}
		}
	}
}

func toldKey(origin record.StoreID, position uint64) []byte {
	return appendPosition([]byte(origin), position)
}

func readTold(position uint64, value []byte) (t Told, err error) {
	end := min(len(value), len(record.Digest{}))
	end += bytes.IndexByte(value[end:], '\n') + 1
	link, e, err := readLink(position, value[:end])
	t = Told{Entry: e, Chain: link}
	if err == nil && e.Op == OpPass {
		var pass Pass
		pass, err = ParsePass(string(value[end:]))
		t.Pass = &pass
	} else if err == nil && end < len(value) {
		var trace Trace
		trace, err = ParseTrace(string(value[end:]))
		t.Trace = &trace
	}
	return t, err
}

// KeepTold keeps entries of another store's log, which follow one another, so that they can be told
// to others, and remembers how far that log was heard. They must be verified.
func (tx *Tx) KeepTold(origin record.StoreID, past string, all []Told) error {
	if origin == tx.origin || len(all) == 0 {
		return nil
	}
	err := tx.told.Put(toldKey(origin, 0), []byte(past))
	for _, t := range all {
		text := append(bytes.Clone(t.Chain[:]), t.Encode()...)
		if t.Trace != nil {
			text = fmt.Append(text, t.Trace)
		} else if t.Pass != nil {
			text = fmt.Append(text, t.Pass)
		}
		err = errors.Join(err, tx.told.Put(toldKey(origin, t.Position), text))
	}
	last := all[len(all)-1]
	return errors.Join(err, tx.Hear(origin, last.Position, last.Chain), tx.noteLastTold())
}

// Tellers returns the stores whose logs were heard entry by entry.
func (tx *Tx) Tellers() (all []record.StoreID, err error) {
	if tx.told == nil {
		return nil, nil
	}
	c := tx.told.Cursor()
	for k, _ := c.First(); len(k) == 32+positionSize; k, _ = c.Seek(append(bytes.Clone(k[:32]), 0xff)) {
		id, err := record.ParseStoreID(string(k[:32]))
		if err != nil {
			return all, damaged("malformed key %.100q of a log that was told", k)
		}
		all = append(all, id)
	}
	return all, nil
}
