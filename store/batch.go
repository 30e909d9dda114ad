package store

import (
	"errors"
	"maps"
	"slices"

	"go.etcd.io/bbolt"
)

// A batch is a bucket whose changes wait for the end of the transaction, and come in the order of the
// keys then. A leaf is not split before a commit, and moves all its later keys for each that comes
// between them: 80,000 keys in the order of their hashes took a minute.
type batch struct {
	*bbolt.Bucket // as it was, but for what a cursor has been asked for
	waiting       map[string][]byte
	failed        error
}

// Get returns the value of a key, or nil.
func (b *batch) Get(key []byte) []byte {
	if value, waits := b.waiting[string(key)]; waits {
		return value
	}
	return b.Bucket.Get(key)
}

// Put sets the value of a key. The value must stay as it is until the end of the transaction.
func (b *batch) Put(key, value []byte) error {
	if b.waiting == nil {
		b.waiting = make(map[string][]byte)
	}
	b.waiting[string(key)] = value
	return nil
}

// Delete takes a key out, if it is there.
func (b *batch) Delete(key []byte) error { return b.Put(key, nil) }

// settled returns the bucket after all changes.
func (b *batch) settled() *bbolt.Bucket {
	if len(b.waiting) == 0 {
		return b.Bucket
	}
	for _, key := range slices.Sorted(maps.Keys(b.waiting)) {
		if value := b.waiting[key]; value != nil {
			b.failed = errors.Join(b.failed, b.Bucket.Put([]byte(key), value))
		} else {
			b.failed = errors.Join(b.failed, b.Bucket.Delete([]byte(key)))
		}
	}
	b.waiting = nil
	return b.Bucket
}

// putWaiting ends a transaction that has changed something.
func (tx *Tx) putWaiting() (err error) {
	err = tx.weighAll()
	tx.lookups.settled()
	return errors.Join(err, tx.lookups.failed, tx.digests.settle(tx.position))
}
