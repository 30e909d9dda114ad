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
	const most = 1000 // values that are changed at a time, as a cursor does not bear it
	descriptions := tx.Bucket([]byte("descriptions"))
	if descriptions == nil {
		return errors.New("there is no bucket descriptions")
	}
	for last := []byte(nil); ; {
		var keys, values [][]byte
		c := descriptions.Cursor()
		k, v := c.Seek(last)
		if bytes.Equal(k, last) {
			k, v = c.Next()
		}
		for ; k != nil && len(keys) < most; k, v = c.Next() {
			if bytes.Compare(k, last) <= 0 {
				return errors.New("the keys of descriptions are out of order: the database is damaged")
			}
			last = bytes.Clone(k)
			sum := sha256.Sum256(append(bytes.Clone(k), v...))
			keys, values = append(keys, last), append(values, append(sum[:8:8], v...))
		}
		if len(keys) == 0 {
			return nil
		}
		for i, key := range keys {
			if err := descriptions.Put(key, values[i]); err != nil {
				return err
			}
		}
	}
}
