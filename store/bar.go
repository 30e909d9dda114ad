package store

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store/record"
)

// A Bar keeps a text out that was destroyed, or copies of it. It knows the text by a digest under a key of the store, so that
// who has a log, a bundle or a remote cannot find a short text out by trying.
type Bar struct {
	From, Time time.Time  // when it was put, and destroyed
	Ref        record.Ref // of the version that had it last
	// Own says that the user of this store has destroyed it. Else another store did, and what comes from others is kept
	// out alone, as far as it was put between the two times: what came earlier is no copy, and what comes later somebody wants.
	Own bool
}

// LeastBarred is how many bytes a text has at least that stays out unasked once it was destroyed: shorter
// ones are said of many things.
const LeastBarred = 64

// What meta has of bars: their key, and each under its digest.
const (
	metaBarKey = "bar key"
	metaBar    = "bar "
)

// Bar keeps a text, or the content of an entry, out from now on.
func (tx *Tx) Bar(of record.Digest, b Bar) error {
	var err error
	if tx.meta.Get([]byte(metaBarKey)) == nil {
		key := make([]byte, sha256.Size)
		_, _ = rand.Read(key) // documented never to fail
		err = tx.meta.Put([]byte(metaBarKey), key)
	}
	if before, found := tx.barOn(of); found && before.Own {
		return err
	}
	text := fmt.Appendf(nil, "%s %s %t %s", record.FormatTime(b.From), record.FormatTime(b.Time), b.Own, b.Ref)
	return errors.Join(err, tx.meta.Put(tx.barName(of), text))
}

func (tx *Tx) barName(of record.Digest) []byte {
	mac := hmac.New(sha256.New, tx.meta.Get([]byte(metaBarKey)))
	mac.Write(of[:])
	return mac.Sum([]byte(metaBar))
}

func (tx *Tx) barOn(of record.Digest) (b Bar, found bool) {
	if tx.meta.Get([]byte(metaBarKey)) == nil {
		return b, false
	}
	return readBar(tx.meta.Get(tx.barName(of)))
}

func readBar(value []byte) (b Bar, found bool) {
	words := strings.Split(string(value), " ")
	if len(words) != 4 {
		return b, false
	}
	b.Own = words[2] == "true"
	b.From, _ = record.ParseTime(words[0]) // zero: nobody knows
	b.Time, _ = record.ParseTime(words[1])
	b.Ref, _ = record.ParseRef(words[3])
	return b, true
}

// Barred returns the bar that keeps a draft out, whose record another store may have made.
func (tx *Tx) Barred(d Draft) (b Bar, found bool) {
	for _, of := range tx.barrable(d) {
		b, found = tx.barOn(of)
		if isCopy := !d.Record.Time.Before(b.From) && !d.Record.Time.After(b.Time); found && (b.Own || isCopy) {
			return b, true
		}
	}
	return Bar{}, false
}

// barrable returns what a draft may be kept out by.
func (tx *Tx) barrable(d Draft) []record.Digest {
	all := []record.Digest{d.Body.Digest}
	if d.Content != nil && tx.meta.Get([]byte(metaBarKey)) != nil {
		if content := d.Content(); content != (record.Digest{}) {
			all = append(all, content)
		}
	}
	return all
}

// Admits returns ErrBarred for a draft of this store's user that is kept out.
func (tx *Tx) Admits(d Draft) error {
	b, found := tx.Barred(d)
	if !found || !b.Own || d.Again {
		return nil
	}
	return ErrBarred.Errorf("%s: this text was destroyed on %s, and stays out", d.Record.Name, b.Time.UTC().Format(time.DateOnly)).
		Try("filebus put FILE --name {1} --again", d.Record.Name.String())
}

// admit lets in what Admits, for good.
func (tx *Tx) admit(d Draft) error {
	err := tx.Admits(d)
	for _, of := range tx.barrable(d) {
		if _, found := tx.barOn(of); found && err == nil {
			err = tx.meta.Delete(tx.barName(of))
		}
	}
	return err
}

// Bars returns the bars by the versions that had their texts last.
func (tx *Tx) Bars() map[record.Ref]Bar {
	all := map[record.Ref]Bar{}
	_ = eachBar(tx.meta, func(_, value []byte) error {
		if b, found := readBar(value); found {
			all[b.Ref] = b
		}
		return nil
	})
	return all
}

func eachBar(meta *bbolt.Bucket, do func(key, value []byte) error) (err error) {
	c := meta.Cursor()
	for k, v := c.Seek([]byte(metaBar)); err == nil && bytes.HasPrefix(k, []byte(metaBar)); k, v = c.Next() {
		err = do(k, v)
	}
	return err
}

// keepBars takes the bars of a database over that is put in the place of this one's.
func (s *Store) keepBars(to *bbolt.DB) error {
	from, err := s.openDatabase(forReading)
	if err != nil {
		return nil // there is none, or it cannot be read: who restores is told
	}
	defer func() { _ = from.Close() }() // only read
	return from.View(func(old *bbolt.Tx) error {
		return to.Update(func(btx *bbolt.Tx) error {
			meta, before := btx.Bucket(bucketMeta), old.Bucket(bucketMeta)
			err := eachBar(before, meta.Put)
			if key := before.Get([]byte(metaBarKey)); key != nil {
				err = errors.Join(err, meta.Put([]byte(metaBarKey), key))
			}
			return err
		})
	})
}

// IsBarred reports whether a version stays out once it is purged. What surrounds entries, and what programs
// write again and again, does not, nor does a text that is short, unless that is asked for.
func IsBarred(kind record.Kind, size int64, short bool) bool {
	switch kind {
	case record.KindFrame, record.KindMarker, record.KindState, record.KindSnapshot:
		return false
	}
	return short || size >= LeastBarred
}
