package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/record"
)

// TestClockStandsStill puts, drops and puts again under a clock that does not
// move, and under one that was set back: every transaction gets a time of its
// own, so that no record comes out with the ref of a dropped one.
func TestClockStandsStill(t *testing.T) {
	t.Parallel()
	for label, back := range map[string]time.Duration{"still": 0, "an hour back": time.Hour} {
		t.Run(label, func(t *testing.T) {
			stopped := newClock().Now()
			now := stopped
			s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { mustCheck(t, s) })
			first := put(t, s, "note/a", "text")
			now = stopped.Add(-back)
			update(t, s, func(tx *store.Tx) error { return tx.Drop(first.Ref) })
			second := put(t, s, "note/a", "text")
			if second.Ref == first.Ref || !second.Record.Time.After(first.Record.Time) {
				t.Errorf("put again: ref %v at %v, the dropped one %v at %v", second.Ref, second.Record.Time, first.Ref, first.Record.Time)
			}
			side := put(t, s, "note/a", "side", conflictWith(second.Ref))
			update(t, s, func(tx *store.Tx) error { return tx.Settle(side.Ref) })
			if again := put(t, s, "note/a", "side", conflictWith(second.Ref)); again.Ref == side.Ref || again.Unchanged {
				t.Errorf("the conflict that was settled came again as %v, unchanged %v", again.Ref, again.Unchanged)
			}
			view(t, s, func(tx *store.Tx) {
				if at, err := tx.AsOf(first.Record.Time); err != nil || at != 1 {
					t.Errorf("AsOf the first put = %d, %v; want 1", at, err)
				}
			})
		})
	}
}

// TestDropAndPutInOneTransaction takes the same steps where no time can pass: a
// ref that was dropped never comes back.
func TestDropAndPutInOneTransaction(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	d := draft(t, s, "note/a", "text")
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		first, err := tx.Put(d)
		if err != nil {
			return err
		}
		if err := tx.Drop(first.Ref); err != nil {
			return err
		}
		_, err = tx.Put(d)
		return err
	})
	if !errors.Is(err, store.ErrDropped) {
		t.Errorf("put, drop and put of one record in one transaction = %v, want dropped", err)
	}
	if _, err := read(t, s, "note/a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after the failed transaction: %v, want not found", err)
	}
}

// TestMoveLargeBody drops the only record of a large body and puts the body
// under another name, in one transaction: its file must stay.
func TestMoveLargeBody(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	text := randomText(store.InlineLimit + 1)
	first := put(t, s, "note/old", text)
	moved := draft(t, s, "note/new", text)
	update(t, s, func(tx *store.Tx) error {
		if err := tx.Drop(first.Ref); err != nil {
			return err
		}
		_, err := tx.Put(moved)
		return err
	})
	wantText(t, s, "note/new", text)

	put(t, s, "note/brief", text+"x")
	brief := draft(t, s, "note/gone", text+"y")
	update(t, s, func(tx *store.Tx) error {
		outcome, err := tx.Put(brief)
		if err != nil {
			return err
		}
		return tx.Drop(outcome.Ref)
	})
	files, err := filepath.Glob(filepath.Join(s.Dir(), "bodies", "*", "*.zst"))
	if err != nil || len(files) != 2 {
		t.Errorf("body files = %q, %v; want those of note/new and note/brief", files, err)
	}
}

// TestFailedTransactionKeepsFiles drops a large body in a transaction that fails.
func TestFailedTransactionKeepsFiles(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	text := randomText(store.InlineLimit + 1)
	first := put(t, s, "note/a", text)
	stop := errors.New("stop")
	err := s.Update(t.Context(), func(tx *store.Tx) error { return errors.Join(tx.Drop(first.Ref), stop) })
	if !errors.Is(err, stop) {
		t.Errorf("Update = %v, want %v", err, stop)
	}
	wantText(t, s, "note/a", text)
}

// TestPutTwice puts one prepared body under two names, and again after the
// first transaction failed.
func TestPutTwice(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	for _, size := range []int{10, 5000, store.InlineLimit + 1} {
		text := randomText(size)
		d := draft(t, s, "note/one", text)
		other := d
		other.Record.Name = name(t, "note/other")
		stop := errors.New("stop")
		fail := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(d)
			return errors.Join(err, stop)
		})
		if !errors.Is(fail, stop) {
			t.Fatalf("Update = %v, want %v", fail, stop)
		}
		for _, d := range []store.Draft{d, other} {
			if _, err := s.Put(t.Context(), d); err != nil {
				t.Fatalf("Put of %d bytes as %s: %v", size, d.Record.Name, err)
			}
		}
		wantText(t, s, "note/one", text)
		wantText(t, s, "note/other", text)
	}
}

// TestCommitErrorThoughCommitted looks at the store after a commit whose last
// sync failed, and after one that did not happen.
func TestCommitErrorThoughCommitted(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	failed := errors.New("sync: input/output error")
	d := draft(t, s, "note/a", "text")
	write := func(tx *store.Tx) error {
		_, err := tx.Put(d)
		return err
	}
	if err := s.CommitFailing(t.Context(), write, true, failed); err != nil {
		t.Errorf("the commit happened, its error was %v: Update = %v, want nil", failed, err)
	}
	wantText(t, s, "note/a", "text")

	d = draft(t, s, "note/b", "text")
	if err := s.CommitFailing(t.Context(), write, false, failed); !errors.Is(err, failed) || !strings.Contains(err.Error(), "committing") {
		t.Errorf("the commit did not happen: Update = %v, want %v", err, failed)
	}
	if _, err := read(t, s, "note/b"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was not committed: %v, want not found", err)
	}

	nothing := func(*store.Tx) error { return nil }
	if err := s.CommitFailing(t.Context(), nothing, false, failed); !errors.Is(err, failed) {
		t.Errorf("a commit of nothing that failed: Update = %v, want its error", err)
	}
	if err := os.Rename(filepath.Join(s.Dir(), "store.db"), filepath.Join(s.Dir(), "away")); err != nil {
		t.Fatal(err)
	}
	err := s.LookAgain(t.Context(), failed)
	if !errors.Is(err, failed) || !errors.Is(err, store.ErrNoStore) {
		t.Errorf("a commit error, and no store to look at: %v, want both", err)
	}
	if err := os.Rename(filepath.Join(s.Dir(), "away"), filepath.Join(s.Dir(), "store.db")); err != nil {
		t.Fatal(err)
	}
}

// TestWriteOnceInherits adds a tag and a link to a sealed result. What the put
// does not say stays as it was.
func TestWriteOnceInherits(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	exit, source := 1, record.RefOf([]byte("x"))
	first := put(t, s, "result/c/1", "text", tagged("a"), func(d *store.Draft) {
		r := &d.Record
		r.Agent, r.Conversation, r.Session, r.Run, r.Loop, r.Task, r.Status = "a", "c", "s", "r", "l", "t", "done"
		r.Path, r.MediaType, r.Exit, r.From = "c/1.md", "text/markdown", &exit, []record.Ref{source}
		r.Links = []record.Link{{Type: "reviews", Target: "note/a"}}
	})
	second := put(t, s, "result/c/1", "text", tagged("b"), func(d *store.Draft) {
		d.Record.Links = []record.Link{{Type: "about", Target: "note/b"}, {Type: "reviews", Target: "note/a"}}
		d.Record.Status = "checked"
	})
	want := *first.Record
	want.Prev, want.Time, want.Status = first.Ref, second.Record.Time, "checked"
	want.Tags = []string{"a", "b"}
	want.Links = []record.Link{{Type: "about", Target: "note/b"}, {Type: "reviews", Target: "note/a"}}
	if diff := cmp.Diff(&want, second.Record); diff != "" {
		t.Errorf("a tag and a link added to a result (-want +got):\n%s", diff)
	}
	if again := put(t, s, "result/c/1", "text", tagged("a")); !again.Unchanged || again.Ref != second.Ref {
		t.Errorf("a put that adds nothing = unchanged %v, %v; want %v", again.Unchanged, again.Ref, second.Ref)
	}
}

// TestSealed shows which heads take another body.
func TestSealed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		of     string
		source record.Source
		age    time.Duration
		sealed bool
	}{
		{"result/c/1", record.SourcePut, 0, true},
		{"result/c/1", record.SourceExec, 0, true},
		{"lib:result/c/1", "import", 0, true},
		{"snapshot/run/1/diff.patch", record.SourcePut, 0, true},
		{"result/c/1", record.SourceCapture, 0, false},
		{"result/c/1", record.SourceSync, 4 * time.Minute, false},
		{"result/c/1", record.SourceSync, 6 * time.Minute, true},
		{"lib:result/c/1", record.SourceCapture, time.Hour, false},
		{"snapshot/run/1/diff.patch", record.SourceCapture, time.Hour, false},
		{"note/a", record.SourcePut, time.Hour, false},
		{"handoff/task-1", record.SourceExec, time.Hour, false},
	} {
		s, c := testStore(t)
		put(t, s, test.of, "text", from(test.source))
		c.set(c.Now().Add(test.age))
		_, err := s.Put(t.Context(), draft(t, s, test.of, "other"))
		var conflict *store.ConflictError
		if sealed := errors.As(err, &conflict) && conflict.WriteOnce; sealed != test.sealed || !sealed && err != nil {
			t.Errorf("%s by %s, %v old: another body = %v, want sealed %v", test.of, test.source, test.age, err, test.sealed)
		}
	}
}

// TestContentOfDropped reads the text of a version that was destroyed since the
// version was read: nothing is damaged.
func TestContentOfDropped(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	for _, text := range []string{"short", randomText(store.InlineLimit + 1)} {
		stored := put(t, s, "note/a", text)
		var v store.Version
		view(t, s, func(tx *store.Tx) { v, _ = tx.Get(stored.Ref) })
		content := contentOf(t, s, "note/a")
		update(t, s, func(tx *store.Tx) error { return tx.Drop(stored.Ref) })
		view(t, s, func(tx *store.Tx) {
			if _, err := tx.Content(v.Record); !errors.Is(err, store.ErrDropped) {
				t.Errorf("the text of %d bytes, destroyed meanwhile: %v; want dropped", len(text), err)
			}
		})
		if got, err := content.Bytes(); string(got) != text && !(content.IsLarge() && errors.Is(err, store.ErrDropped)) {
			t.Errorf("the text of %d bytes, destroyed before it was opened: %d bytes, %v", len(text), len(got), err)
		}
		put(t, s, "note/b", text)
		if got, err := content.Bytes(); string(got) != text || err != nil {
			t.Errorf("the text of %d bytes, stored again: %d bytes, %v", len(text), len(got), err)
		}
	}
}
