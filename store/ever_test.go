package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/record"
)

// TestNamesEver wants every name, whatever became of it, once and in order.
func TestNamesEver(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	put(t, s, "note/a b", "one")
	put(t, s, "note/a b", "two")
	put(t, s, "note/retired", "one")
	dropped := put(t, s, "artifact/x/dropped", "one")
	put(t, s, "lib:note/a", "one")
	update(t, s, func(tx *store.Tx) error { return tx.Retire(name(t, "note/retired"), store.Expect{}) })
	update(t, s, func(tx *store.Tx) error { return tx.Drop(dropped.Ref) })
	for from, want := range map[string][]string{
		"":             {"artifact/x/dropped", "note/a b", "note/retired", "lib:note/a"},
		"note/a b":     {"note/a b", "note/retired", "lib:note/a"},
		"note/b":       {"note/retired", "lib:note/a"},
		"lib:note/a":   {"lib:note/a"},
		"lib:note/aa":  nil,
		"note/a b/c/d": {"note/retired", "lib:note/a"},
	} {
		var begin record.Name
		if from != "" {
			begin = name(t, from)
		}
		var got []string
		view(t, s, func(tx *store.Tx) {
			for _, n := range collect(t, tx.NamesEver(begin)) {
				got = append(got, n.String())
			}
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("NamesEver from %q (-want +got):\n%s", from, diff)
		}
	}
}
