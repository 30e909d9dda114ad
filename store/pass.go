package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/store/record"
)

// A Pass stands in a log that is told in place of entries that put what other stores' logs tell. Its entry, of OpPass,
// has the position and the time of the last of them, and as its ref the chain behind that.
type Pass struct {
	First     uint64 // the position of the first of them
	Signature string // of the log's owner: nobody else may pass over what it has told
}

// String returns "first SP signature".
func (p Pass) String() string { return fmt.Sprintf("%d %s", p.First, p.Signature) }

// ParsePass reads what String wrote, and nothing else.
func ParsePass(text string) (p Pass, err error) {
	first, signature, _ := strings.Cut(text, " ")
	p.Signature = signature
	if p.First, err = strconv.ParseUint(first, 10, 64); err == nil && (p.First == 0 || p.String() != text) {
		err = errors.New("not as it was written")
	}
	if err != nil {
		return Pass{}, damaged("malformed pass %.200q: %w", text, err)
	}
	return p, nil
}

// Passes reports whether an entry of the own log puts what was taken in from another store, whose own log tells it.
func (tx *Tx) Passes(e Entry) bool {
	r := tx.raw(e.Ref)
	if e.Op != OpPut || tx.told == nil || r != nil && (tx.IsOwn(r.Origin) || tx.told.Get(toldKey(r.Origin, 0)) == nil) {
		return false
	}
	t, known := tx.Trace(e.Ref)
	return known && !t.Time.Equal(e.Time) // else it was made here: see Adopt
}

// A Known is a version with its trace.
type Known struct {
	Ref record.Ref
	Trace
}

// mostPassed is how many versions Passed returns at most, the nearest ones.
const mostPassed = 256

// Passed returns those versions that one with a trace goes on from, and so on, which its log does not put itself: who
// hears no other log would take what it went on from in the end for a rival. What was seen is left out.
func (tx *Tx) Passed(origin record.StoreID, t Trace, seen map[record.Ref]bool) (all []Known) {
	for todo := t.Follows; len(todo) > 0 && len(all) < mostPassed; todo = todo[1:] {
		r := tx.raw(todo[0])
		t, known := tx.Trace(todo[0])
		if seen[todo[0]] || !known || r != nil && (r.Origin == origin || origin == tx.origin && tx.IsOwn(r.Origin)) {
			continue
		}
		seen[todo[0]], all = true, append(all, Known{todo[0], t})
		todo = append(slices.Clip(todo), t.Follows...)
	}
	return all
}

const metaLastTold = "told" // POSITION SP CHAIN SP LAST: the last entry up to the position that is told

// LastTold returns the position of the last entry of the own log that does not pass.
func (tx *Tx) LastTold() (uint64, error) {
	var known, last uint64
	var chain string
	_, _ = fmt.Sscan(string(tx.meta.Get([]byte(metaLastTold))), &known, &chain, &last) // without one all is looked at
	if link, err := tx.Chain(min(known, tx.position)); err != nil || link.String() != chain {
		known, last = 0, 0
	}
	for at := tx.position; at > known; at-- {
		if e, err := tx.Entry(at); err != nil || !tx.Passes(e) {
			return at, err
		}
	}
	return last, nil
}

// noteLastTold keeps what LastTold has found.
func (tx *Tx) noteLastTold() error {
	last, err := tx.LastTold()
	return cmp.Or(err, tx.meta.Put([]byte(metaLastTold), fmt.Appendf(nil, "%d %s %d", tx.position, tx.chain, last)))
}

// KnownPosition returns a position of a store's log whose chain is known here: the one that is given or, where its entry
// was passed over, the nearest one before it, or behind it.
func (tx *Tx) KnownPosition(origin record.StoreID, position uint64, behind bool) uint64 {
	if origin == tx.origin || tx.told == nil {
		return position
	}
	c := tx.told.Cursor()
	k, _ := c.Seek(toldKey(origin, position))
	if !bytes.HasPrefix(k, []byte(origin)) || !behind && readPosition(k[len(origin):]) > position {
		k, _ = c.Prev()
	}
	if !bytes.HasPrefix(k, []byte(origin)) {
		return position // the log was not heard entry by entry
	}
	return readPosition(k[len(origin):])
}
