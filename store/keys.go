package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"

	"filebus/store/record"
)

// Keys are made so that their order is the order in which they are read:
// positions are big-endian, and parts that vary in length end with a NUL, which
// none of them holds.

// positionSize is the length of an encoded position, in bytes.
const positionSize = 8

func appendPosition(dst []byte, position uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, position)
}

func readPosition(data []byte) uint64 { return binary.BigEndian.Uint64(data) }

// nameKey is "tree NUL kind NUL id".
func nameKey(n record.Name) []byte {
	key := make([]byte, 0, len(n.Tree)+len(n.Kind)+len(n.ID)+2)
	key = append(key, n.Tree...)
	key = append(key, 0)
	key = append(key, n.Kind...)
	key = append(key, 0)
	return append(key, n.ID...)
}

func parseNameKey(key []byte) (record.Name, error) {
	tree, rest, found := bytes.Cut(key, []byte{0})
	kind, id, more := bytes.Cut(rest, []byte{0})
	name := record.Name{Tree: record.Tree(tree), Kind: record.Kind(kind), ID: string(id)}
	if !found || !more {
		return record.Name{}, damaged("malformed name key %.100q", key)
	}
	if _, err := record.NewName(name.Tree, name.Kind, name.ID); err != nil {
		// A damaged page can make a key of megabytes: the error may hold it all.
		return record.Name{}, damaged("malformed name key %.100q of %d bytes", key, len(key))
	}
	return name, nil
}

// historyPrefix is "name NUL", historyKey "name NUL position".
func historyPrefix(name []byte) []byte { return append(bytes.Clone(name), 0) }

func historyKey(name []byte, position uint64) []byte {
	return appendPosition(historyPrefix(name), position)
}

// lookupPrefix is "field NUL value NUL"; a look-up's key has the position of
// the head behind it.
func lookupPrefix(field Field, value string) []byte {
	key := make([]byte, 0, len(field)+len(value)+2+positionSize)
	key = append(key, field...)
	key = append(key, 0)
	key = append(key, value...)
	return append(key, 0)
}

func parseLookupKey(key []byte) (field Field, value string, position uint64, err error) {
	name, rest, found := bytes.Cut(key, []byte{0})
	if !found || len(rest) < 1+positionSize || rest[len(rest)-positionSize-1] != 0 {
		return "", "", 0, damaged("malformed look-up key %.100q", key)
	}
	end := len(rest) - positionSize
	return Field(name), string(rest[:end-1]), readPosition(rest[end:]), nil
}

// after is the smallest key that is greater than every key with the prefix. A
// prefix always ends with a NUL, so it is never all 0xff.
func after(prefix []byte) []byte {
	next := bytes.Clone(prefix)
	next[len(next)-1]++
	return next
}

// The states of a name.
const (
	stateHead    = 'h' // the ref is its current version
	stateRetired = 'r' // it has no current version; the ref is the last one
)

// A nameEntry is the value of a name: state, ref, and the position at which it
// got them.
type nameEntry struct {
	state    byte
	ref      record.Ref
	position uint64 // of the last log entry about the name's head
}

func (e nameEntry) encode() []byte {
	return appendPosition(append([]byte{e.state}, e.ref[:]...), e.position)
}

func decodeNameEntry(data []byte) (nameEntry, error) {
	if len(data) != 1+len(record.Ref{})+positionSize || data[0] != stateHead && data[0] != stateRetired {
		return nameEntry{}, damaged("malformed name entry %x", data)
	}
	return nameEntry{data[0], record.Ref(data[1:33]), readPosition(data[33:])}, nil
}

// An Event is one line of a name's history.
type Event struct {
	Position uint64
	Change   Change
	Ref      record.Ref
}

// A Change says what an event did to its name. Its byte is stored.
type Change byte

// The changes of a name's history.
const (
	ChangePut      Change = 'p' // the ref became the head
	ChangeRetire   Change = 'r' // the name lost its head, which was the ref
	ChangeAdopt    Change = 'a' // the ref came from another store, and did not become the head
	changeConflict Change = 'c' // the ref was kept beside the head
	changeResolve  Change = 's' // the conflict version was settled
	ChangeDrop     Change = 'x' // the ref was put here; its content is destroyed
	changeOver     Change = 'o' // the ref, which was never here, is destroyed; the name lost its head to it
	changeUnder    Change = 'u' // the same, and it did not
	ChangeVoid     Change = 'v' // the ref came from another store, after what went on from it and is destroyed; the name lost its head to that
	changeHeir     Change = 'h' // the ref became the head since the one that was is destroyed
)

// String returns how the change is called to users.
func (c Change) String() string {
	words := map[Change]string{
		ChangeAdopt: "adopt", ChangePut: "put", ChangeRetire: "retire", changeConflict: "conflict", changeResolve: "resolve", ChangeDrop: "drop",
		changeOver: "drop", changeUnder: "drop", changeHeir: "put", ChangeVoid: "adopt",
	}
	return cmp.Or(words[c], string(rune(c)))
}

// endOf returns the last position at which a name got a head, or lost it.
func endOf(events []Event) (position uint64) {
	for _, e := range events {
		switch e.Change {
		case ChangePut, ChangeRetire, ChangeDrop, changeOver, ChangeVoid, changeHeir:
			position = e.Position
		}
	}
	return position
}

// encode returns the value under a history key.
func (e Event) encode() []byte { return append([]byte{byte(e.Change)}, e.Ref[:]...) }

// decodeHistory reads a line of a history whose name is not known.
func decodeHistory(key, value []byte) (name record.Name, e Event, err error) {
	prefix, found := bytes.CutSuffix(key[:max(len(key)-positionSize, 0)], []byte{0})
	if !found {
		return name, e, damaged("malformed history key %.100q", key)
	}
	name, err = parseNameKey(prefix)
	e, eventErr := decodeEvent(key, value)
	return name, e, errors.Join(err, eventErr)
}

func decodeEvent(key, value []byte) (Event, error) {
	if len(key) < positionSize || len(value) != 1+len(record.Ref{}) {
		return Event{}, errors.Join(ErrDamaged, errors.New("malformed history entry"))
	}
	return Event{readPosition(key[len(key)-positionSize:]), Change(value[0]), record.Ref(value[1:])}, nil
}
