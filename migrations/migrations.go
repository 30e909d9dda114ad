// Package migrations brings a store's database from one schema version to the
// next: one frozen step per version, all in one transaction with the new
// version number, or in another database beside the old one.
//
// A step that was released never changes. It carries its own copies of the
// types it needs, and testdata/schema holds a database of every version.
package migrations

import (
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"
)

// The bucket and key that hold the schema version, in every version.
const (
	metaBucket = "meta"
	schemaKey  = "schema"
)

// A Step brings a database from version Version-1 to Version.
type Step struct {
	Version int
	Apply   func(tx *bbolt.Tx) error
	// Copy, if not nil, brings what a database of version Version-1 holds to an empty one of Version: Apply
	// is only for that.
	Copy func(from *bbolt.Tx, put Put) error
}

// A Put writes a pair to a bucket of another database. It may keep the slices as they are.
type Put = func(bucket string, key, value []byte) error

// Steps returns all steps in order. The first makes an empty file a store.
func Steps() []Step {
	return []Step{
		{1, toVersion1, nil}, {2, toVersion2, nil}, {3, toVersion3, nil}, {4, toVersion4, nil}, {5, toVersion5, nil},
		{6, toVersion6, copyVersion6}, {7, toVersion7, nil},
	}
}

// Copies returns how many of the steps, the first ones, an empty database takes that a database of a version is to
// be copied to; 0: it can be brought to the last one where it is.
func Copies(version int, steps []Step) int {
	for i, step := range steps {
		if version > 0 && step.Version > version && step.Copy != nil {
			return i + 1
		}
	}
	return 0
}

// Copy brings what a database holds to an empty one, to which so many of the steps were applied. The transaction
// it is read in is not to be committed.
func Copy(from *bbolt.Tx, steps []Step, put Put) error {
	last := steps[len(steps)-1]
	if _, err := Apply(from, steps[:len(steps)-1]); err != nil {
		return err
	}
	return last.Copy(from, put)
}

// Version returns the schema version of a database, and 0 of one that has none
// because it is empty.
func Version(tx *bbolt.Tx) (int, error) {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return 0, nil
	}
	text := string(meta.Get([]byte(schemaKey)))
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 {
		return 0, fmt.Errorf("malformed schema version %q", text)
	}
	return version, nil
}

// Apply runs the steps that lie above the database's version and notes the
// last one's number. It returns how many ran.
func Apply(tx *bbolt.Tx, steps []Step) (int, error) {
	version, err := Version(tx)
	if err != nil {
		return 0, err
	}
	began, ran := version, 0
	for _, step := range steps {
		if step.Version <= version {
			continue
		}
		if step.Version != version+1 {
			return ran, fmt.Errorf("no step from schema %d to %d", version, step.Version)
		}
		if step.Copy != nil && began > 0 {
			return ran, fmt.Errorf("schema %d needs another database", step.Version)
		}
		if err := step.Apply(tx); err != nil {
			return ran, fmt.Errorf("migrating to schema %d: %w", step.Version, err)
		}
		version = step.Version
		if err := setVersion(tx, version); err != nil {
			return ran, err
		}
		ran++
	}
	return ran, nil
}

func setVersion(tx *bbolt.Tx, version int) error {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return errors.New("the first step made no meta bucket")
	}
	return meta.Put([]byte(schemaKey), []byte(strconv.Itoa(version)))
}
