package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/record"
)

// A repair, and playing the log again, leave records of another store where Adopt put them.
func TestAdoptedStay(t *testing.T) {
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
	err = there.EachEntry(t.Context(), 1, func(tx *store.Tx, e store.Entry) (bool, error) {
		r, err := record.Decode(tx.Encoding(e.Ref))
		if err != nil {
			return true, err
		}
		content, err := tx.Content(r)
		body, _, receiveErr := here.Receive(t.Context(), r, content.Packed(), nil, true)
		drafts = append(drafts, store.Draft{Record: *r, Body: body})
		return false, errors.Join(err, receiveErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(drafts[2:]) // the second version of note/new comes first
	var fates []store.Fate
	err = here.Update(t.Context(), func(tx *store.Tx) error {
		for _, d := range drafts {
			fate, err := tx.Adopt(d)
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

// Of versions that go on from each other, some are told before those that they go on from, some come as records, are retired or
// destroyed, before or after they come, and some never come. Whatever the order, what counts and what is in conflict is the
// same, also when the log was played again.
func TestAnyOrder(t *testing.T) {
	type event struct{ op, of string }
	versions := []struct {
		id, follows string
		year        int
	}{
		{"root", "", 2032}, {"reply", "root", 2020}, {"hidden", "reply", 2029}, {"lost", "hidden", 2021}, {"next", "hidden", 2019},
		{"late", "", 2027}, {"other", "", 2025}, {"above", "other", 2030},
	}
	events := []event{
		{"come", "reply"}, {"come", "late"}, {"come", "other"}, {"tell", "root"}, {"tell", "hidden"}, {"drop", "lost"}, {"tell", "lost"},
		{"retire", "reply"}, {"retire", "other"}, {"come", "next"}, {"drop", "above"}, {"tell", "above"}, {"come", "root"},
	}
	s, _ := testStore(t)
	random := rand.New(rand.NewPCG(3, 3))
	texts := map[string]store.Draft{}
	for _, v := range versions {
		texts[v.id] = draft(t, s, "note/n", v.id)
	}
	var alike [][]record.Name
	ids := map[record.Ref]string{}
	for of := range 30 { // other events each
		some := slices.DeleteFunc(slices.Clone(events), func(event) bool { return random.IntN(3) == 0 })
		var all []record.Name
		for order := range 8 {
			n := name(t, fmt.Sprintf("note/%d.%d", of, order))
			all = append(all, n)
			drafts := map[string]store.Draft{}
			for _, v := range versions {
				d := texts[v.id]
				d.Record.Name, d.Record.Origin, d.Record.Time = n, "ff0102030405060708090a0b0c0d0e0f", time.Date(v.year, 1, 1, 0, 0, 0, 0, time.UTC)
				d.Record.Body, d.Record.Size = d.Body.Digest, d.Body.Size
				if before, known := drafts[v.follows]; known {
					d.Record.Prev = before.Record.Ref()
				}
				drafts[v.id], ids[d.Record.Ref()] = d, v.id
			}
			random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			update(t, s, func(tx *store.Tx) error {
				if err := tx.Hear("ff0102030405060708090a0b0c0d0e0f", uint64(of+1), record.Digest{}); err != nil {
					return err
				}
				for _, e := range some {
					d := drafts[e.of]
					var err error
					switch e.op {
					case "come":
						_, err = tx.Adopt(d)
					case "tell":
						var names []record.Name
						if names, err = tx.Tell(d.Record.Ref(), store.TraceOf(&d.Record)); slices.ContainsFunc(names, func(of record.Name) bool { return of != n }) {
							err = fmt.Errorf("it is of %s", names)
						}
					case "retire":
						_, err = tx.RetireAs(d.Record.Ref())
					case "drop":
						_, err = tx.DropAs(d.Record.Ref())
					}
					if err != nil {
						return fmt.Errorf("%v: %w", some, err)
					}
				}
				return tx.Conclude(n)
			})
		}
		alike = append(alike, all)
	}
	look := func(when string) {
		t.Helper()
		view(t, s, func(tx *store.Tx) {
			for i, all := range alike {
				want := ""
				for _, n := range all {
					first, _, isLive, err := tx.Leaves(n)
					got := "gone"
					if isLive {
						got = ids[first.Ref]
					} else if _, headErr := tx.Head(n); !errors.Is(headErr, store.ErrNotFound) {
						got = "gone, and there"
					}
					var open []string
					for ref, lookErr := range tx.Lookup(store.FieldConflict, n.String()) {
						open, err = append(open, ids[ref]), errors.Join(err, lookErr)
					}
					slices.Sort(open)
					got += fmt.Sprint(open)
					if want == "" {
						want = got
					}
					if got != want || err != nil {
						t.Errorf("%s: %s of case %d has %s, another order %s, %v", when, n, i, got, want, err)
					}
				}
			}
		})
	}
	look("as told")
	if _, err := s.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	look("played again")
}
