package migrations

import (
	"bytes"
	"crypto/sha256"
	"errors"

	"go.etcd.io/bbolt"
)

// toVersion2 puts before each description the first 8 bytes of the SHA-256 of
// its key and itself.
func toVersion2(tx *bbolt.Tx) error {
	descriptions := tx.Bucket([]byte("descriptions"))
	if descriptions == nil {
		return errors.New("there is no bucket descriptions")
	}
	var keys [][]byte // a cursor does not bear that values change
	c := descriptions.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if len(keys) > 0 && bytes.Compare(k, keys[len(keys)-1]) <= 0 {
			return errors.New("the keys of descriptions are out of order: the database is damaged")
		}
		keys = append(keys, bytes.Clone(k))
	}
	for _, key := range keys {
		value := descriptions.Get(key)
		sum := sha256.Sum256(append(bytes.Clone(key), value...))
		if err := descriptions.Put(key, append(sum[:8:8], value...)); err != nil {
			return err
		}
	}
	return nil
}
