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
	var keys [][]byte // a cursor does not bear changes
	err := descriptions.ForEach(func(k, _ []byte) error {
		keys = append(keys, bytes.Clone(k))
		return nil
	})
	for _, k := range keys {
		v := descriptions.Get(k)
		sum := sha256.Sum256(append(bytes.Clone(k), v...))
		err = errors.Join(err, descriptions.Put(k, append(sum[:8:8], v...)))
	}
	return err
}
