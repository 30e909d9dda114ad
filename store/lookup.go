package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

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
	return tx.LookupBefore(field, value, math.MaxUint64)
}

// LookupBefore is Lookup of what lies before a position.
func (tx *Tx) LookupBefore(field Field, value string, position uint64) iter.Seq2[Place, error] {
	return func(yield func(Place, error) bool) {
		prefix := lookupPrefix(field, value)
		c := tx.lookups.settled().Cursor()
		before := c.Prev
		if k, _ := c.Seek(appendPosition(bytes.Clone(prefix), position)); k == nil {
			before = c.Last
		}
		for k, v := before(); bytes.HasPrefix(k, prefix) && len(k) == len(prefix)+positionSize; k, v = c.Prev() {
			at, err := decodePlace(v, readPosition(k[len(prefix):]))
			if tx.likely = at.Position; !yield(at, err) || err != nil {
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
	value := tx.encodePlace(v)
	for _, key := range lookupKeys(v.Record, v.Position) {
		err = errors.Join(err, tx.lookupsOf(v.Record).Put(key, valueOf(key, value)))
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

// A Rank is what heads are put in order by. It stands in their look-ups, so that those of a
// page alone are read.
type Rank struct {
	Date       time.Time // see record.Record.Date
	Kind       record.Kind
	IsOwn      bool // of the own tree
	Confidence int  // of knowledge: see record.Confidence
	Type       byte // of knowledge: see TypeOf
}

// TypeOf returns a byte for a type of knowledge, which others may have too; 0 for "".
func TypeOf(word string) byte {
	if word == "" {
		return 0
	}
	return max(record.DigestOf([]byte(word))[0], 1)
}

// schemaRanked is the first schema whose look-ups have ranks.
const schemaRanked = 7

// rankSize is the length of a rank in bytes: seconds since the year 0 and nanoseconds of the date, the
// kind's place in record.Kinds, from 1 on, 1 of the own tree, the confidence, and the type.
const rankSize = 8 + 4 + 1 + 1 + 1 + 1

var yearZero = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// encodePlace returns the value of a version's look-ups.
func (tx *Tx) encodePlace(v Version) []byte {
	value, r := bytes.Clone(v.Ref[:]), v.Record
	if tx.schema < schemaRanked {
		return value
	}
	if len(tx.steps) > 0 {
		r = cmp.Or(tx.raw(v.Ref), r) // its time never changes
	}
	value = appendPosition(value, uint64(r.Date().Unix()-yearZero))
	value = binary.BigEndian.AppendUint32(value, uint32(r.Date().Nanosecond()))
	rank, own := tx.rankOf(v), byte(0)
	if rank.IsOwn {
		own = 1
	}
	return append(value, byte(1+slices.Index(record.Kinds(), rank.Kind)), own, byte(rank.Confidence), rank.Type)
}

// rankAll gives the look-ups that an older schema has made their ranks. Those that are damaged stay as they are.
func (tx *Tx) rankAll() (err error) {
	for next := []byte{}; next != nil; {
		var keys [][]byte
		c := tx.lookups.Cursor()
		for k, _ := c.Seek(next); len(keys) <= viewMost && k != nil; k, _ = c.Next() {
			keys = append(keys, bytes.Clone(k))
		}
		if next = nil; len(keys) > viewMost {
			keys, next = keys[:viewMost], keys[viewMost]
		}
		for _, key := range keys {
			_, _, position, keyErr := parseLookupKey(key)
			at, placeErr := decodePlace(tx.lookups.Get(key), position)
			if v, getErr := tx.Find(at); errors.Join(keyErr, placeErr, getErr) == nil {
				err = errors.Join(err, tx.lookups.Bucket.Put(key, valueOf(key, tx.encodePlace(v))))
			}
		}
	}
	return err
}

// valueOf leaves the rank out of a look-up that nothing is put in order by.
func valueOf(key, place []byte) []byte {
	if field, _, _ := bytes.Cut(key, []byte{0}); Field(field) == FieldPath || Field(field) == FieldConflict {
		return place[:len(record.Ref{})]
	}
	return place
}

func decodePlace(value []byte, position uint64) (Place, error) {
	p := Place{Position: position}
	if len(value) != len(p.Ref) && len(value) != len(p.Ref)+rankSize {
		return Place{}, damaged("malformed look-up of position %d: %.100x", position, value)
	}
	p.Ref = record.Ref(value[:len(p.Ref)])
	copy(p.rank[:], value[len(p.Ref):])
	return p, nil
}

// Rank returns the rank of a head that Lookup has given. Where its look-up has none, or a clock was wrong, it
// reads the record.
func (tx *Tx) Rank(p Place) (Rank, error) {
	kind, all := int(p.rank[12]), record.Kinds()
	if len(tx.steps) > 0 || kind < 1 || kind > len(all) {
		v, err := tx.Find(p)
		if err != nil {
			return Rank{}, err
		}
		return tx.rankOf(v), nil
	}
	date := time.Unix(int64(readPosition(p.rank[:]))+yearZero, int64(binary.BigEndian.Uint32(p.rank[8:])))
	return Rank{date, all[kind-1], p.rank[13] == 1, int(p.rank[14]), p.rank[15]}, nil
}

func (tx *Tx) rankOf(v Version) Rank {
	r := Rank{Date: v.Record.Date(), Kind: v.Record.Name.Kind, IsOwn: v.Record.Name.Tree == ""}
	if r.Kind == record.KindKnowledge {
		said := tx.Description(v.Ref).Attributes
		r.Confidence, r.Type = record.Confidence(said[record.AttributeConfidence]), TypeOf(said[record.AttributeType])
	}
	return r
}
