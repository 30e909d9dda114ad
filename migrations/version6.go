package migrations

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.etcd.io/bbolt"
)

// toVersion6 makes the bucket for what leads from digests to positions.
func toVersion6(tx *bbolt.Tx) error {
	_, err := tx.CreateBucketIfNotExists([]byte("digests"))
	return err
}

// copyVersion6 copies a database of schema 5, in which records, bodies and descriptions lie at digests, to
// one in which they lie at positions of the log.
func copyVersion6(from *bbolt.Tx, put Put) error {
	err := from.ForEach(func(name []byte, b *bbolt.Bucket) error {
		switch string(name) {
		case "records", "bodies", "descriptions", "digests":
			return nil
		}
		return b.ForEach(func(k, v []byte) error {
			if string(name) == metaBucket && string(k) == schemaKey {
				return nil
			}
			return put(string(name), k, v)
		})
	})
	if err != nil {
		return err
	}
	all, end, err := recordsOf5(from)
	m := mover6{from: from, put: put, moved: map[string]bool{}}
	for _, r := range all {
		if run := run6(r.position, end); run != m.run {
			err = cmp.Or(err, m.flush())
			m.run = run
		}
		err = cmp.Or(err, m.move(r))
	}
	return cmp.Or(err, m.flush())
}

type record5 struct {
	position uint64
	ref      [32]byte
}

// recordsOf5 returns the records in the order of their positions, and the last position of the log.
func recordsOf5(tx *bbolt.Tx) (all []record5, end uint64, err error) {
	if key, _ := tx.Bucket([]byte("log")).Cursor().Last(); len(key) == 8 {
		end = binary.BigEndian.Uint64(key)
	}
	err = tx.Bucket([]byte("records")).ForEach(func(k, v []byte) error {
		if len(k) != 32 || len(v) < 8 {
			return fmt.Errorf("malformed record %x", k)
		}
		all = append(all, record5{binary.BigEndian.Uint64(v), [32]byte(k)})
		return nil
	})
	slices.SortFunc(all, func(a, b record5) int { return cmp.Compare(a.position, b.position) })
	for i, r := range all {
		if r.position == 0 || r.position > end || i > 0 && r.position == all[i-1].position {
			err = cmp.Or(err, fmt.Errorf("record %x cannot stand at position %d", r.ref, r.position))
		}
	}
	return all, end, err
}

// run6 returns where the run of a position begins: runs of 2048, 8192, 32768 and 131072 positions, as many
// of the largest as fit below the end of the log, then of the next.
func run6(position, end uint64) (begin uint64) {
	end -= end % 2048
	for size := uint64(131072); size >= 2048; size /= 4 {
		for begin+size <= end && position >= begin+size {
			begin += size
		}
		if begin+size <= end {
			return begin
		}
	}
	return begin
}

// A mover6 moves records, with what belongs to them.
type mover6 struct {
	from    *bbolt.Tx
	put     Put
	moved   map[string]bool // bodies
	run     uint64
	digests [][]byte // keys of the run
}

func (m *mover6) move(r record5) error {
	get := func(bucket string, key []byte) []byte { return m.from.Bucket([]byte(bucket)).Get(key) }
	key := binary.BigEndian.AppendUint64(nil, r.position)
	encoding := get("records", r.ref[:])[8:]
	err := m.put("records", key, slices.Concat(r.ref[:], encoding))
	if description := get("descriptions", r.ref[:]); description != nil {
		err = errors.Join(err, m.put("descriptions", key, description))
	}
	m.lead(r.ref[:], key)
	digest := bodyOf5(encoding)
	if body := get("bodies", digest); body != nil && !m.moved[string(digest)] {
		m.moved[string(digest)] = true
		m.lead(digest, key)
		err = errors.Join(err, m.put("bodies", key, slices.Concat(digest, body)))
	}
	return err
}

func (m *mover6) lead(digest, position []byte) {
	m.digests = append(m.digests, slices.Concat(binary.BigEndian.AppendUint64(nil, m.run), digest[:8], position))
}

// flush writes the digests of a run.
func (m *mover6) flush() (err error) {
	slices.SortFunc(m.digests, bytes.Compare)
	for _, key := range m.digests {
		err = errors.Join(err, m.put("digests", key, nil))
	}
	m.digests = nil
	return err
}

// bodyOf5 returns the digest of the body that a record has, as its encoding says: lines of a key, the length
// of a value in bytes, and the value. Of one that is damaged it returns what leads to nothing.
func bodyOf5(encoding []byte) []byte {
	_, rest, _ := bytes.Cut(encoding, []byte("\n"))
	for len(rest) > 0 {
		key, more, _ := bytes.Cut(rest, []byte(" "))
		length, value, _ := bytes.Cut(more, []byte(" "))
		n, err := strconv.Atoi(string(length))
		if err != nil || n < 0 || n >= len(value) {
			break
		}
		if digest, err := hex.DecodeString(string(value[:n])); string(key) == "body" && err == nil {
			return digest
		}
		rest = value[n+1:]
	}
	return []byte{0}
}
