package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"filebus/store"
)

// TestRestoreCutShort holds that a restore that fails, or was killed, leaves no second name of the
// database in use: what was done to that would be done to this store.
func TestRestoreCutShort(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	put(t, s, "note/large", randomText(store.InlineLimit+7))
	origins, err := s.Origins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	killed, kept := filepath.Join(s.Dir(), "replaced-killed"), filepath.Join(s.Dir(), "replaced-kept")
	for _, dir := range []string{killed, kept} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(kept, "store.db"), readFile(t, filepath.Join(s.Dir(), "store.db")))
	if err := os.Link(filepath.Join(s.Dir(), "store.db"), filepath.Join(killed, "store.db")); err != nil {
		t.Skip(err)
	}
	failure := errors.New("the disk is full")
	feed := func(*store.Replay) error { return nil }
	err = s.Restore(t.Context(), origins[0], "", "replaced-now", feed, func() error { return failure })
	if !errors.Is(err, failure) {
		t.Errorf("Restore = %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(s.Dir(), "replaced-*")); err != nil || len(left) != 1 || left[0] != kept {
		t.Errorf("it leaves %q, %v", left, err)
	}
	mustCheck(t, s)
	if err := s.Restore(t.Context(), origins[0], "", "replaced-now", feed, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(s.Dir(), "replaced-*")); err != nil || len(left) != 2 {
		t.Errorf("replaced: %q, %v", left, err)
	}
	mustCheck(t, s)
}
