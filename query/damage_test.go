package query_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// loseRecord alters the key of a record in the database, so that names, look-ups
// and log lead to something that is not there.
func loseRecord(t testing.TB, s *store.Store, ref record.Ref) {
	t.Helper()
	file := filepath.Join(s.Dir(), "store.db")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for at := 0; ; {
		next := bytes.Index(data[at:], ref[:])
		if next < 0 {
			break
		}
		at += next + len(ref)
		if bytes.HasPrefix(data[min(at, len(data)):], []byte("filebus record 1\n")) { // before its encoding
			data[at-1] ^= 1
			lost++
		}
	}
	if lost == 0 {
		t.Fatalf("the database has no record %s", ref)
	}
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestListDamaged lists where the store leads to a missing record: that is damage,
// not a name that was not found.
func TestListDamaged(t *testing.T) {
	t.Parallel()
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{TB: t, Reader: query.New(s, query.Options{}), store: s}
	v := b.put("note/a", "one", tagged("x"))
	b.put("note/b", "two")
	loseRecord(t, s, v.Ref)
	for label, request := range map[string]query.ListRequest{
		"by a look-up":     {Filter: record.Filter{Tags: []string{"x"}}},
		"by the kind":      {Filter: record.Filter{Kinds: []record.Kind{record.KindNote}}},
		"all, by the log":  {},
		"as of a position": {At: 1},
	} {
		listing, err := b.List(t.Context(), request)
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: List(%+v) = %d records, %v; want it damaged", label, request, len(listing.Entries), err)
		}
	}
}
