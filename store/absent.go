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
	if r := tx.raw(ref); r != nil {
		return TraceOf(r), true
	}
	_, text := tx.notHere(ref)
	t, err := ParseTrace(text)
	return t, err == nil
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
	err = tx.putAbsent(ref, state, t.String())
	for _, l := range tx.lineages {
		if n := l.nodes[ref]; n != nil {
			l.look(n)
		}
	}
	names, err = tx.awaiting(ref), errors.Join(err, tx.link(ref, t))
	lost := tx.lostAbove(ref)
	if !t.Merged { // what that was made of is destroyed by itself
		lost = append(lost, ref)
	}
	for _, lost := range lost {
		if position := tx.dropped.Get(lost[:]); len(position) == positionSize && err == nil {
			var more []record.Name
			more, err = tx.overshadow(t, lost, readPosition(position))
			names = append(names, more...)
		}
	}
	return names, err
}

// isAwaited is the value under a ref of which nothing is known and the key of a name whose versions go on from it.
var isAwaited = []byte{'n'}

// awaiting returns the names that await a ref.
func (tx *Tx) awaiting(ref record.Ref) (names []record.Name) {
	c := tx.absent.Cursor()
	for k, v := c.Seek(ref[:]); bytes.HasPrefix(k, ref[:]); k, v = c.Next() {
		if name, err := parseNameKey(k[len(ref):]); err == nil && bytes.Equal(v, isAwaited) {
			names = append(names, name)
		}
	}
	return names
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
		return false, errors.Join(tx.dropped.Put(ref[:], appendPosition(nil, position)), tx.shade(ref, position))
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

// dropMerged destroys what this store has made by itself of a version.
func (tx *Tx) dropMerged(of Version) error {
	events, err := tx.History(of.Record.Name)
	for _, e := range events {
		if e.Change != ChangePut || err != nil {
			continue
		}
		if r := tx.raw(e.Ref); r != nil && r.IsMerged() && slices.Contains(r.Follows(), of.Ref) {
			err = tx.drop(Version{e.Ref, e.Position, r})
		}
	}
	return err
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
	ref, gone := r.Ref(), [][]byte(nil)
	for _, before := range r.Follows() {
		gone = append(gone, append(before[:], ref[:]...))
	}
	c := tx.absent.Cursor()
	for k, _ := c.Seek(ref[:]); bytes.HasPrefix(k, ref[:]); k, _ = c.Next() {
		gone = append(gone, bytes.Clone(k))
	}
	for _, key := range gone {
		err = errors.Join(err, tx.absent.Delete(key))
	}
	return err
}

// lostAbove returns the destroyed versions that are known to go on from one, over others that are not here.
func (tx *Tx) lostAbove(ref record.Ref) (lost []record.Ref) {
	seen := map[record.Ref]bool{}
	for todo := []record.Ref{ref}; len(todo) > 0; {
		last := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c := tx.absent.Cursor()
		for k, v := c.Seek(last[:]); bytes.HasPrefix(k, last[:]); k, v = c.Next() {
			if len(k) != 2*len(ref) || len(v) > 0 || seen[record.Ref(k[len(ref):])] {
				continue
			}
			above := record.Ref(k[len(ref):])
			seen[above] = true
			if t, _ := tx.Trace(above); tx.IsDropped(above) && !t.Merged {
				lost = append(lost, above)
			} else if tx.encoding(above) == nil {
				todo = append(todo, above)
			}
		}
	}
	return lost
}

// overshadow notes under the names of what a version with a trace goes on from that a destroyed one does: see
// lineage. It returns these names. What is not here either will hear of it when it comes.
func (tx *Tx) overshadow(t Trace, lost record.Ref, position uint64) (names []record.Name, err error) {
	for todo := []Trace{t}; len(todo) > 0 && err == nil; {
		t, todo = todo[len(todo)-1], todo[:len(todo)-1]
		for _, before := range t.Follows {
			t, known := tx.Trace(before)
			if r := tx.raw(before); r != nil {
				names = append(names, r.Name)
				err = errors.Join(err, tx.over(r.Name, lost, position))
			} else if known && (!tx.IsDropped(before) || t.Merged) {
				todo = append(todo, t)
			}
		}
	}
	return names, err
}

// shade is overshadow by a version that was never here, and is destroyed by the entry at a position.
func (tx *Tx) shade(ref record.Ref, position uint64) error {
	t, _ := tx.Trace(ref)
	if t.Merged {
		return nil
	}
	_, err := tx.overshadow(t, ref, position)
	return errors.Join(err, tx.link(ref, t))
}

// over notes in a history that a destroyed version, which was never here, belongs to it.
func (tx *Tx) over(name record.Name, ref record.Ref, position uint64) error {
	if err := tx.noteLost(name, ref, position); err != nil {
		return err
	}
	l, err := tx.lineage(name)
	if err != nil {
		return err
	}
	_, head, err := tx.current(name)
	if head != nil { // it may be lost itself
		err = nil
	}
	if first, _ := l.decide(); head != nil && (first == nil || first.gone) && position == tx.position {
		err = tx.behead(*head, head.Ref, Event{position, changeOver, ref})
	}
	return errors.Join(err, l.list())
}

// noteLost notes a destroyed version in a history that does not have it.
func (tx *Tx) noteLost(name record.Name, ref record.Ref, position uint64) error {
	l, err := tx.lineage(name)
	if n := l.nodes[ref]; err != nil || n != nil && n.isNamed {
		return err
	}
	return tx.note(nameKey(name), Event{position, changeUnder, ref})
}

// gather notes under the name of a version the destroyed ones that went on from it and were told
// before it came, and reports whether there are any.
func (tx *Tx) gather(v Version) (any bool, err error) {
	for _, lost := range tx.lostAbove(v.Ref) {
		if position := tx.dropped.Get(lost[:]); len(position) == positionSize {
			any, err = true, errors.Join(err, tx.noteLost(v.Record.Name, lost, readPosition(position)))
		}
	}
	return any, err
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
