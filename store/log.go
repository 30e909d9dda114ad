package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"filebus/store/record"
)

// An Op is what a log entry does. Its text is stored.
type Op string

// The operations of the log.
const (
	OpPut    Op = "put"    // a new version of a name, or a conflict version
	OpRetire Op = "retire" // the name has no current version; or a conflict is settled
	OpDrop   Op = "drop"   // the content of the ref is destroyed, the ref kept for ever
	OpPass   Op = "pass"   // only in a log that another store tells: see Pass
)

// An Entry is one line of the log.
type Entry struct {
	Position uint64 // counted from 1 without gaps
	Time     time.Time
	Op       Op
	Ref      record.Ref
}

// Encode returns "position SP time SP op SP ref LF".
func (e Entry) Encode() []byte {
	return fmt.Appendf(nil, "%d %s %s %s\n", e.Position, record.FormatTime(e.Time), e.Op, e.Ref)
}

// ParseEntry reads what Encode wrote, and nothing else.
func ParseEntry(text []byte) (e Entry, err error) {
	parts := strings.Split(strings.TrimSuffix(string(text), "\n"), " ")
	if len(parts) != 4 {
		return e, damaged("malformed log entry %q", text)
	}
	position, positionErr := strconv.ParseUint(parts[0], 10, 64)
	at, timeErr := record.ParseTime(parts[1])
	ref, refErr := record.ParseRef(parts[3])
	e = Entry{position, at, Op(parts[2]), ref}
	if positionErr != nil || timeErr != nil || refErr != nil || !bytes.Equal(e.Encode(), text) {
		return e, damaged("malformed log entry %q", text)
	}
	switch e.Op {
	case OpPut, OpRetire, OpDrop, OpPass:
		return e, nil
	}
	return e, damaged("log entry %d has an unknown operation %q", position, parts[2])
}

// Chain returns the chain after the entry at a position, or before the first one.
func (tx *Tx) Chain(position uint64) (record.Digest, error) {
	return tx.ChainOf(tx.origin, position)
}

// FirstChain returns the chain before the first entry of a store. A chain is the digest of the log
// up to an entry.
func FirstChain(origin record.StoreID) record.Digest {
	return record.DigestOf([]byte("filebus log 1\n" + string(origin)))
}

// NextChain returns the chain after an entry: the digest of that before it and the entry's text, or what a pass says.
func NextChain(before record.Digest, e Entry) record.Digest {
	if e.Op == OpPass {
		return record.Digest(e.Ref)
	}
	return record.DigestOf(append(before[:], e.Encode()...))
}

// readLink reads the value of a log key: the chain after the entry, and the
// entry.
func readLink(position uint64, value []byte) (record.Digest, Entry, error) {
	if len(value) < sha256.Size {
		return record.Digest{}, Entry{}, damaged("log entry %d is cut short", position)
	}
	e, err := ParseEntry(value[sha256.Size:])
	if err == nil && e.Position != position {
		err = damaged("log entry %d says that it is %d", position, e.Position)
	}
	return record.Digest(value[:sha256.Size]), e, err
}

// Position returns the position of the last log entry, and 0 in an empty store.
func (tx *Tx) Position() uint64 { return tx.position }

// Log returns the entries from the given position on, which is at least 1. It
// ends after the first error.
func (tx *Tx) Log(from uint64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		c := tx.log.Cursor()
		for k, v := c.Seek(appendPosition(nil, from)); k != nil; k, v = c.Next() {
			_, e, err := readLink(readPosition(k), v)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// EachEntry calls visit with the log entries from a position on, in read transactions that are short.
func (s *Store) EachEntry(ctx context.Context, from uint64, visit func(*Tx, Entry) error) error {
	return ViewAll(ctx, s, func(tx *Tx, at Entry) iter.Seq2[Entry, error] { return tx.Log(max(from, at.Position)) }, visit)
}

// Entry returns the log entry at a position.
func (tx *Tx) Entry(position uint64) (Entry, error) {
	value := tx.log.Get(appendPosition(nil, position))
	if value == nil {
		return Entry{}, fmt.Errorf("log position %d: %w", position, ErrNotFound)
	}
	_, e, err := readLink(position, value)
	return e, err
}

// AsOf returns the position of the last entry that is not later than t, and 0
// if there is none. An entry that lies ahead of a later step back counts as of that.
// All entries of one transaction have one time, so no
// transaction is cut in two.
func (tx *Tx) AsOf(t time.Time) (uint64, error) {
	low, high := uint64(0), tx.position // entries up to low are not later than t
	for low < high {
		middle := low + (high-low+1)/2
		e, err := tx.Entry(middle)
		if err != nil {
			return 0, err
		}
		if tx.asOf(middle, e.Time).After(t) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	return low, nil
}

// append adds an entry to the log.
func (tx *Tx) append(op Op, ref record.Ref) (uint64, error) {
	if err := tx.claim(); err != nil {
		return 0, err
	}
	e := Entry{tx.position + 1, tx.now(), op, ref}
	return e.Position, tx.appendEntry(e)
}

func (tx *Tx) appendEntry(e Entry) error {
	if err := tx.stepBack(e); err != nil {
		return err
	}
	tx.chain = NextChain(tx.chain, e)
	tx.position, tx.lastTime, tx.wrote = e.Position, e.Time, true
	return tx.log.Put(appendPosition(nil, e.Position), append(bytes.Clone(tx.chain[:]), e.Encode()...))
}
