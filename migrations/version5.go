package migrations

import (
	"errors"

	"go.etcd.io/bbolt"
)

// toVersion5 makes the buckets for what is known of the versions and the logs of other stores. Who
// is current among versions of several stores is decided by all that is known from then on.
func toVersion5(tx *bbolt.Tx) error {
	_, absent := tx.CreateBucketIfNotExists([]byte("absent"))
	_, told := tx.CreateBucketIfNotExists([]byte("told"))
	return errors.Join(absent, told)
}
