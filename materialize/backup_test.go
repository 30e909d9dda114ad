package materialize_test

import (
	"path/filepath"
	"testing"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// TestRestoredTrace restores a version that one backup brought and a later one destroyed: what it went
// on from stays known, as other stores decide by that.
func TestRestoredTrace(t *testing.T) {
	t.Parallel()
	w, dir := newWorkspace(t), filepath.Join(t.TempDir(), "backup")
	put(t, w, "note/a.md", "first")
	put(t, w, "note/a.md", "second")
	put(t, w, "note/a.md", "third")
	back := func() *materialize.Backup {
		b, err := w.BackUp(t.Context(), dir, false)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	back()
	var ref record.Ref
	trace := func() (text string) {
		err := w.Store.View(t.Context(), func(tx *store.Tx) error {
			known, _ := tx.Trace(ref)
			text = known.String()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	err := w.Store.Update(t.Context(), func(tx *store.Tx) error {
		e, err := tx.Entry(2)
		if err != nil {
			return err
		}
		ref = e.Ref
		return tx.Drop(ref)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := trace()
	out, err := w.Weigh(t.Context(), back(), materialize.Restoration{Insist: true})
	if err == nil {
		err = w.PutBack(t.Context(), out)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := trace(); got != want {
		t.Errorf("the trace after it was restored: %q, want %q", got, want)
	}
}
