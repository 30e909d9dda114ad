package store

import (
	"bytes"
	"errors"
	"iter"

	"filebus/store/record"
)

// A Field is what heads can be looked up by. Its text is stored.
type Field string

// The fields of look-ups.
const (
	FieldSession      Field = "session"
	FieldConversation Field = "conversation"
	FieldTask         Field = "task"
	fieldRun          Field = "run"
	FieldTag          Field = "tag"
	FieldAgent        Field = "agent"
	FieldKind         Field = "kind"
	fieldStatus       Field = "status"
	FieldPath         Field = "path"     // "tree:path"; of records that are whole files, and of frames
	FieldConflict     Field = "conflict" // the name; of conflict versions that are not settled
)

// PathValue is the value of FieldPath for a path of a tree.
func PathValue(tree record.Tree, path string) string { return string(tree) + ":" + path }

// lookupKeys returns the keys under which a head is found.
func lookupKeys(r *record.Record, position uint64) [][]byte {
	var keys [][]byte
	add := func(field Field, value string) {
		if value != "" {
			keys = append(keys, appendPosition(lookupPrefix(field, value), position))
		}
	}
	if r.IsConflict() {
		add(FieldConflict, r.Name.String())
		return keys
	}
	for _, field := range []Field{
		FieldKind, FieldSession, FieldConversation, FieldTask, fieldRun, FieldAgent, fieldStatus, FieldTag,
	} {
		for _, value := range r.Values(string(field)) {
			add(field, value)
		}
	}
	if r.Path != "" && !r.Name.IsEntry() {
		add(FieldPath, PathValue(r.Name.Tree, r.Path))
	}
	return keys
}

// Lookup returns the heads whose field has the value, newest first. It ends
// after the first error.
func (tx *Tx) Lookup(field Field, value string) iter.Seq2[Place, error] {
	return func(yield func(Place, error) bool) {
		prefix := lookupPrefix(field, value)
		c := tx.lookups.settled().Cursor()
		before := c.Prev
		if k, _ := c.Seek(after(prefix)); k == nil {
			before = c.Last
		}
		for k, v := before(); bytes.HasPrefix(k, prefix) && len(k) == len(prefix)+positionSize; k, v = c.Prev() {
			if len(v) != len(record.Ref{}) {
				yield(Place{}, damaged("malformed look-up %q", k))
				return
			}
			tx.likely = readPosition(k[len(prefix):])
			if !yield(Place{record.Ref(v), tx.likely}, nil) {
				return
			}
		}
	}
}

// Values returns the values of a field that begin with prefix, in order, with
// the number of heads that have each. It ends after the first error.
func (tx *Tx) Values(field Field, prefix string) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		start := append(append([]byte(field), 0), prefix...)
		var current Value
		c := tx.lookups.settled().Cursor()
		for k, _ := c.Seek(start); bytes.HasPrefix(k, start); k, _ = c.Next() {
			_, text, position, err := parseLookupKey(k)
			if err != nil {
				yield(Value{}, err)
				return
			}
			if current.Count > 0 && current.Text != text {
				if !yield(current, nil) {
					return
				}
				current = Value{}
			}
			current = Value{text, current.Count + 1, position, current.Places + position}
		}
		if current.Count > 0 {
			yield(current, nil)
		}
	}
}

// Distinct returns the values of a field, in order. What is behind one is sought, so that
// those that many heads have take no longer than others. It ends after the first error.
func (tx *Tx) Distinct(field Field) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		start := append([]byte(field), 0)
		c := tx.lookups.settled().Cursor()
		for k, _ := c.Seek(start); bytes.HasPrefix(k, start); {
			_, text, _, err := parseLookupKey(k)
			if !yield(text, err) || err != nil {
				return
			}
			k, _ = c.Seek(after(lookupPrefix(field, text)))
		}
	}
}

// A Value is a value of a field and the number of heads that have it.
type Value struct {
	Text   string
	Count  int
	Newest uint64 // the position at which the newest of them was put
	Places uint64 // the positions of all, added up: with Count, which ones they are
}

func (tx *Tx) addLookups(v Version) (err error) {
	for _, key := range lookupKeys(v.Record, v.Position) {
		err = errors.Join(err, tx.lookupsOf(v.Record).Put(key, v.Ref[:]))
	}
	return err
}

func (tx *Tx) removeLookups(v Version) (err error) {
	for _, key := range lookupKeys(v.Record, v.Position) {
		err = errors.Join(err, tx.lookupsOf(v.Record).Delete(key))
	}
	return err
}

// lookupsOf returns where the look-ups of a record are. Those of conflicts never wait: see hasRivals.
func (tx *Tx) lookupsOf(r *record.Record) interface {
	Put(key, value []byte) error
	Delete(key []byte) error
} {
	if r.IsConflict() {
		return tx.lookups.Bucket
	}
	return &tx.lookups
}
