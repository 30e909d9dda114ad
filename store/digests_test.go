package store_test

import (
	"errors"
	"fmt"
	"testing"

	"filebus/store"
	"filebus/store/record"
)

// TestManyRecords puts, drops and puts again so many records that runs of digests are joined. Equal
// bodies are there once, and outlive the first record that has them.
func TestManyRecords(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	const all, each = 9000, 750
	texts, shared := map[string]string{}, put(t, s, "note/shared", "a shared text")
	for first := 0; first < all; first += each {
		var drafts []store.Draft
		for i := first; i < first+each; i++ {
			id, text := fmt.Sprintf("note/n%d", i), fmt.Sprintf("text %d", i)
			if i%100 == 0 {
				text = "a shared text"
			}
			drafts, texts[id] = append(drafts, draft(t, s, id, text)), text
		}
		if _, err := s.Put(t.Context(), drafts...); err != nil {
			t.Fatal(err)
		}
		dropped := fmt.Sprintf("note/n%d", first/2+1) // of an older run
		update(t, s, func(tx *store.Tx) error {
			v, err := tx.Head(name(t, dropped))
			return errors.Join(err, tx.Drop(v.Ref))
		})
		delete(texts, dropped)
	}
	update(t, s, func(tx *store.Tx) error { return tx.Drop(shared.Ref) })
	for i := 0; i < all; i += 50 {
		if id := fmt.Sprintf("note/n%d", i); texts[id] != "" {
			wantText(t, s, id, texts[id])
		}
	}
	mustCheck(t, s)
	view(t, s, func(tx *store.Tx) {
		v, err := tx.Head(name(t, "note/n8999"))
		if err != nil {
			t.Fatal(err)
		}
		prefix, _ := record.ParsePrefix(v.Ref.String()[:8])
		if ref, err := tx.Resolve(prefix); ref != v.Ref || err != nil {
			t.Errorf("Resolve(%s) = %s, %v; want %s", v.Ref.String()[:8], ref, err, v.Ref)
		}
	})
	if _, _, err := s.Compact(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	mustCheck(t, s)
}
