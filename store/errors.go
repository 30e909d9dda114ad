package store

import (
	"errors"
	"fmt"
	"strings"

	"filebus/store/record"
)

// What callers branch on. Absent, unreadable, too old and too new are four
// different answers.
const (
	// ErrNoStore says that a directory holds no store.
	ErrNoStore = record.NoStore
	// ErrNotFound says that no record has the name or ref.
	ErrNotFound = record.NotFound
	// ErrConflict says that a name's version is not the expected one, or that
	// another body was put under a write-once name.
	ErrConflict = record.Conflict
	// ErrDamaged says that stored bytes are not what was written.
	ErrDamaged = record.Damaged
	// ErrDropped says that the content of a record was destroyed on purpose.
	ErrDropped = record.Dropped
	// ErrBarred says that a text was destroyed on purpose, and stays out: see Bar.
	ErrBarred = record.Barred
	// errUnsafeFS says that a store lies on a file system whose locks lie.
	errUnsafeFS = record.UnsafeFS
)

// A ConflictError says which version of a name was expected and which one is
// there. The zero Ref stands for "no version".
type ConflictError struct {
	Name     record.Name
	Expected record.Ref
	Actual   record.Ref
	// WriteOnce says that the name is sealed: nothing may follow Actual.
	WriteOnce bool
}

// IsWriteOnce reports whether an error says that a name is sealed with another text.
func IsWriteOnce(err error) bool {
	conflict, is := errors.AsType[*ConflictError](err)
	return is && conflict.WriteOnce
}

func (e *ConflictError) Error() string {
	if e.WriteOnce {
		return fmt.Sprintf("%s is write-once and holds other content (%s)", e.Name, e.Actual.Short())
	}
	return fmt.Sprintf("%s has changed: expected %s, found %s", e.Name, version(e.Expected), version(e.Actual))
}

// Is reports whether target is ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

func version(ref record.Ref) string {
	if ref.IsZero() {
		return "no version"
	}
	return "version " + ref.Short()
}

// An AmbiguousError lists the refs that a short ref could mean.
type AmbiguousError struct {
	Prefix     record.Prefix
	Candidates []record.Ref
}

func (e *AmbiguousError) Error() string {
	var list []string
	for _, ref := range e.Candidates {
		list = append(list, ref.String()[:max(len(e.Prefix)+4, record.ShortRefLength)])
	}
	return fmt.Sprintf("ref %s is ambiguous: it can be %s", e.Prefix, strings.Join(list, ", "))
}

// A SchemaError says that a store was written by a newer filebus.
type SchemaError struct {
	Dir        string
	Have, Want int // the newest schema this program knows, and the store's
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("store %s has schema %d; this filebus knows up to %d", e.Dir, e.Want, e.Have)
}

// Is reports whether target is record.NewerStore.
func (e *SchemaError) Is(target error) bool { return target == record.NewerStore }

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

// HealHint is what helps where bodies alone are damaged.
const HealHint = "filebus verify --repair, or put or capture the same text again"

// bodyDamaged returns the error of a body that its own text heals.
func bodyDamaged(format string, args ...any) error {
	return (&record.Error{Code: ErrDamaged, Err: damaged(format, args...)}).
		Try(HealHint)
}
