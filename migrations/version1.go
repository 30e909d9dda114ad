package migrations

import "go.etcd.io/bbolt"

// toVersion1 makes the buckets of schema 1, as docs/format.md describes them.
func toVersion1(tx *bbolt.Tx) error {
	for _, name := range []string{
		"meta", "records", "bodies", "uses", "descriptions", "names", "history", "lookups", "log", "dropped",
	} {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	return nil
}
