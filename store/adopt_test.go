package store_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/record"
)

// A repair, and playing the log again, leave records of another store where Adopt put them.
func TestAdoptedStay(t *testing.T) {
	t.Parallel()
	here, c := testStore(t)
	there, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{
		Now: c.Now, Random: rand.NewChaCha8([32]byte{2}),
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, here, "note/a", "of here")
	put(t, here, "note/gone", "of here")
	put(t, there, "note/a", "of there")
	put(t, there, "note/gone", "without having seen the retire")
	put(t, there, "note/new", "first")
	put(t, there, "note/new", "second")
	err = here.Update(t.Context(), func(tx *store.Tx) error { return tx.Retire(name(t, "note/gone"), store.Expect{}) })
	if err != nil {
		t.Fatal(err)
	}
	var drafts []store.Draft
	err = there.EachEntry(t.Context(), 1, func(tx *store.Tx, e store.Entry) error {
		r, err := record.Decode(tx.Encoding(e.Ref))
		if err != nil {
			return err
		}
		content, err := tx.Content(r)
		body, _, receiveErr := here.Receive(t.Context(), r, content.Packed(), nil, true)
		drafts = append(drafts, store.Draft{Record: *r, Body: body})
		return errors.Join(err, receiveErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(drafts[2:]) // the second version of note/new comes first
	var fates []store.Fate
	err = here.Update(t.Context(), func(tx *store.Tx) error {
		for _, d := range drafts {
			fate, err := tx.Adopt(d)
			if err == nil && fate == "" {
				fate, err = tx.Fate(d.Record.Ref())
			}
			if fates = append(fates, fate); err != nil {
				return err
			}
		}
		return nil
	})
	want := []store.Fate{store.FateHead, store.FateHead, store.FateHead, store.FateBelow}
	if diff := cmp.Diff(want, fates); diff != "" || err != nil {
		t.Fatalf("%v; fates (-want +got):\n%s", err, diff)
	}
	lines := func() (all []string) {
		err := here.View(t.Context(), func(tx *store.Tx) error {
			for n, err := range tx.NamesEver(record.Name{}) {
				events, historyErr := tx.History(n)
				if err = errors.Join(err, historyErr); err != nil {
					return err
				}
				for _, e := range events {
					all = append(all, n.String()+" "+e.Change.String()+" "+e.Ref.Short())
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := lines()
	if _, err := here.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, lines()); diff != "" {
		t.Errorf("after a repair (-before +after):\n%s", diff)
	}
	// What never was the head takes none away when it is destroyed.
	err = here.Update(t.Context(), func(tx *store.Tx) error { return tx.Drop(drafts[3].Record.Ref()) })
	if err != nil {
		t.Fatal(err)
	}
	err = here.View(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Head(name(t, "note/new"))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
