package bundle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/record"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	m.Run()
}

func newStore(t testing.TB, seed byte) *store.Store {
	t.Helper()
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC).Add(time.Duration(seed) * time.Hour)
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{
		Random: rand.NewChaCha8([32]byte{seed}), Now: func() time.Time { now = now.Add(time.Second); return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := s.Check(context.Background(), nil) // that of the test is over
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("Check: %v", err)
		}
	})
	return s
}

func put(t testing.TB, s *store.Store, id, text string) record.Ref {
	t.Helper()
	body, err := s.PrepareReader(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r := record.Record{Name: record.Name{Kind: record.KindNote, ID: id}, Source: record.SourcePut}
	out, err := s.Put(t.Context(), store.Draft{Record: r, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return out[0].Ref
}

func update(t testing.TB, s *store.Store, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// filled returns a store with versions, a body that two records have, one that is retired, and one
// that is destroyed.
func filled(t testing.TB, seed byte) *store.Store {
	s := newStore(t, seed)
	put(t, s, "übung/a b\nc.md", "one\r\n")
	put(t, s, "übung/a b\nc.md", strings.Repeat("two ", 200))
	put(t, s, "same", "one\r\n")
	put(t, s, "empty\xff", "")
	gone := put(t, s, "gone", "a secret")
	update(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.Drop(gone), tx.Retire(record.Name{Kind: record.KindNote, ID: "same"}, store.Expect{}))
	})
	return s
}

func write(t testing.TB, s *store.Store, request bundle.Request) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := bundle.Write(t.Context(), s, &out, request); err != nil {
		t.Fatalf("Write: %v", err)
	}
	return out.Bytes()
}

// read reads a bundle to its end.
func read(t testing.TB, s *store.Store, text []byte) (items []bundle.Item, err error) {
	r, err := bundle.NewReader(s, bytes.NewReader(text))
	bodies := map[record.Digest]store.Body{}
	for err == nil {
		var item bundle.Item
		if item, err = r.Next(t.Context()); err != nil {
			break
		}
		if item.Head != nil {
			bodies[item.Draft.Body.Digest] = item.Draft.Body
		} else if item.Draft != nil {
			item.Draft.Body = bodies[item.Draft.Body.Digest] // what had it may be destroyed where it is taken in
		}
		items = append(items, item)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return items, err
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	text := write(t, s, bundle.Request{})
	items, err := read(t, newStore(t, 2), text)
	if err != nil || len(items) != 8 {
		t.Fatalf("%d items, %v, want 8", len(items), err)
	}
	if string(items[0].Head) != "one\r\n" || items[2].Head != nil || items[3].Head == nil || items[4].Draft != nil ||
		items[4].Name.String() != "note/gone" || bytes.Contains(text, []byte("a secret")) {
		t.Errorf("got %+v", items)
	}
	if again := write(t, s, bundle.Request{}); !bytes.Equal(again, text) {
		t.Error("a second bundle of the same log has other bytes")
	}
	later, err := read(t, s, write(t, s, bundle.Request{After: 6}))
	if err != nil || len(later) != 2 || later[0].Position != 7 {
		t.Errorf("behind position 6: %+v, %v", later, err)
	}
	picked := write(t, s, bundle.Request{Picks: func(_ *store.Tx, r *record.Record, _ store.Content) bool { return r.Name.ID == "same" }})
	if items, err = read(t, s, picked); err != nil || len(items) != 8 || items[0].Draft != nil || string(items[2].Head) != "one\r\n" {
		t.Errorf("picked: %+v, %v", items, err)
	}
	if _, err := bundle.Write(t.Context(), s, io.Discard, bundle.Request{After: 9}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("behind the end of the log: %v", err)
	}
}

// A bundle that is cut anywhere, or has another byte anywhere, is refused.
func TestDamage(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	text := write(t, s, bundle.Request{})
	sound, _ := read(t, s, text)
	isSame := func(a, b bundle.Item) bool {
		return a.Entry == b.Entry && bytes.Equal(a.Head, b.Head) && (a.Draft == nil) == (b.Draft == nil) &&
			(a.Draft == nil || reflect.DeepEqual(a.Draft.Record, b.Draft.Record))
	}
	for i := range text {
		if _, err := read(t, s, text[:i]); err == nil {
			t.Errorf("cut at byte %d of %d: no error", i, len(text))
		}
		for _, bit := range []byte{1, 0x20, 0x80} {
			flipped := bytes.Clone(text)
			flipped[i] ^= bit
			// Some bits of a compressed text mean nothing, and names of what is destroyed nobody can prove.
			if items, err := read(t, s, flipped); err == nil && !slices.EqualFunc(items, sound, isSame) {
				t.Errorf("byte %d is %q, not %q: no error", i, flipped[i], text[i])
			}
		}
	}
	if _, err := read(t, s, append(bytes.Clone(text), '\n')); !errors.Is(err, bundle.ErrMalformed) {
		t.Errorf("a byte behind the end: %v", err)
	}
	if _, err := read(t, s, []byte("filebus bundle 3\n")); !errors.Is(err, record.NewerStore) {
		t.Errorf("a newer version: %v", err)
	}
	huge := bytes.Replace(text, []byte("body 6 "), []byte("body 4611686018427387904 "), 1)
	if _, err := read(t, s, huge); bytes.Equal(huge, text) || !errors.Is(err, bundle.ErrMalformed) {
		t.Errorf("a length of 2^62: %v", err)
	}
}

func TestLargeBody(t *testing.T) {
	t.Parallel()
	s, other := newStore(t, 1), newStore(t, 2)
	random := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(random)
	put(t, s, "large", string(random))
	put(t, s, "again", string(random))
	text := write(t, s, bundle.Request{})
	if len(text) > 4<<20 {
		t.Errorf("the bundle has %d bytes: the body travels twice", len(text))
	}
	for _, at := range []int{len(text) / 2, len(text) - 2000} {
		flipped := bytes.Clone(text)
		flipped[at] ^= 1
		if _, err := read(t, other, flipped); !errors.Is(err, bundle.ErrMalformed) {
			t.Errorf("byte %d is another: %v", at, err)
		}
	}
	r, err := bundle.NewReader(other, bytes.NewReader(text))
	for err == nil {
		r.Keep = true
		var item bundle.Item
		if item, err = r.Next(t.Context()); err == nil {
			update(t, other, func(tx *store.Tx) error {
				fate, err := tx.Adopt(*item.Draft)
				if fate != store.FateHead {
					t.Errorf("%s: %s", item.Draft.Record.Name, fate)
				}
				return err
			})
			err = item.Draft.Body.Discard()
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
}

// side is one of two stores that tell each other of what they have.
type side struct{ *store.Store }

// tell applies all entries of one store to another and says how each record fared.
func (s side) tell(t *testing.T, to side) string {
	t.Helper()
	items, err := read(t, to.Store, write(t, s.Store, bundle.Request{}))
	if err != nil {
		t.Fatal(err)
	}
	var fates []string
	update(t, to.Store, func(tx *store.Tx) error {
		for _, item := range items {
			fate, err := hear(tx, item)
			if err != nil {
				return err
			}
			fates = append(fates, fate)
		}
		return nil
	})
	return strings.Join(strings.Fields(strings.Join(fates, " ")), " ")
}

// hear does what an entry of another store's log tells.
func hear(tx *store.Tx, item bundle.Item) (did string, err error) {
	isDone := false
	if err := tx.Hear("ff0102030405060708090a0b0c0d0e0f", 1, record.Digest{}); err != nil {
		return "", err
	}
	if item.Trace != nil {
		_, err = tx.Tell(item.Ref, *item.Trace)
	}
	switch {
	case item.Op == store.OpRetire:
		did = "retired"
		isDone, err = tx.RetireAs(item.Ref)
	case item.Op == store.OpDrop:
		did = "dropped"
		isDone, err = tx.DropAs(item.Ref, item.Time)
	case item.Draft != nil:
		fate, err := tx.Adopt(*item.Draft)
		if err == nil && fate == "" {
			fate, err = tx.Fate(item.Ref)
		}
		return string(fate), err
	}
	if !isDone {
		did = ""
	}
	return did, err
}

// state returns the refs of a name's history with what they did, and its open conflicts.
func (s side) state(t *testing.T, id string) (head string, changes []string, open int) {
	n := record.Name{Kind: record.KindNote, ID: id}
	err := s.View(t.Context(), func(tx *store.Tx) error {
		if v, err := tx.Head(n); err == nil {
			head = v.Ref.Short()
		}
		for _, err := range tx.Lookup(store.FieldConflict, n.String()) {
			if open++; err != nil {
				return err
			}
		}
		events, err := tx.History(n)
		for _, e := range events {
			changes = append(changes, e.Change.String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return head, changes, open
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	a, b := side{newStore(t, 1)}, side{newStore(t, 2)}
	first := put(t, a.Store, "n", "first")
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	want("new", a.tell(t, b), "head")
	want("again", a.tell(t, b), "known")
	second := put(t, a.Store, "n", "second")
	want("it goes on there", a.tell(t, b), "known head")
	put(t, b.Store, "n", "third")
	want("it goes on here", a.tell(t, b), "known known")
	want("and is told back", b.tell(t, a), "known known head")
	theirs := put(t, a.Store, "n", "of a")
	mine := put(t, b.Store, "n", "of b") // an hour later, by its clock
	want("both went on", a.tell(t, b), "known known known beside")
	head, changes, open := b.state(t, "n")
	if got := strings.Join(changes, " "); head != mine.Short() || open != 1 || got != "put put put put adopt" {
		t.Errorf("after both went on: head %s, want %s; %d open; %s", head, mine.Short(), open, got)
	}
	want("and back", b.tell(t, a), "known known known head known")
	if head, _, open := a.state(t, "n"); head != mine.Short() || open != 1 {
		t.Errorf("there the head is %s, want %s; %d open", head, mine.Short(), open)
	}
	update(t, b.Store, func(tx *store.Tx) error { return tx.Settle(theirs) })
	want("one decides", b.tell(t, a), "known known known known known retired")
	if _, _, open := a.state(t, "n"); open != 0 {
		t.Errorf("%d conflicts are open that were decided", open)
	}
	update(t, b.Store, func(tx *store.Tx) error { return errors.Join(tx.Drop(first), tx.Drop(second)) })
	want("what was destroyed stays so", a.tell(t, b), "destroyed destroyed known known known")
	want("and is destroyed there", b.tell(t, a), "known known known dropped dropped")
}

// What is retired is there again by what has not seen that, if it is newer.
func TestAdoptRetired(t *testing.T) {
	t.Parallel()
	a, b := side{newStore(t, 1)}, side{newStore(t, 2)}
	n := record.Name{Kind: record.KindNote, ID: "n"}
	put(t, a.Store, "n", "first")
	a.tell(t, b)
	put(t, a.Store, "n", "second")
	update(t, b.Store, func(tx *store.Tx) error { return tx.Retire(n, store.Expect{}) })
	if got := b.tell(t, a); got != "known" {
		t.Errorf("the removal of what was edited: %s", got)
	}
	if got := a.tell(t, b); got != "known head" {
		t.Errorf("an edit that has not seen the removal: %s", got)
	}
	c := side{newStore(t, 3)}
	put(t, c.Store, "n", "third")
	if got := c.tell(t, b); got != "head" {
		t.Errorf("what is newer: %s", got)
	}
	update(t, c.Store, func(tx *store.Tx) error { return tx.Retire(n, store.Expect{}) })
	if got := c.tell(t, b); got != "known retired" {
		t.Errorf("what is retired there: %s", got)
	}
	if head, _, open := b.state(t, "n"); head != "" || open != 1 {
		t.Errorf("head %q, %d open: want none, and the other text", head, open)
	}
}

// Three stores that each have a text under one name tell each other all until nothing is new: all of
// them have the last one, and the other two in conflict.
func TestAdoptAmongThree(t *testing.T) {
	t.Parallel()
	texts := []string{"of a", "of b", "of c"}
	var sides []side
	for i, text := range texts {
		s := side{newStore(t, byte(i+1))}
		put(t, s.Store, "n", text)
		sides = append(sides, s)
	}
	exchange := func() {
		for range 3 {
			for i, from := range sides {
				from.tell(t, sides[(i+1)%3])
				from.tell(t, sides[(i+2)%3])
			}
		}
	}
	want := func(want [][]string) {
		t.Helper()
		for i, s := range sides {
			if diff := cmp.Diff(want, s.current(t, "n")); diff != "" {
				t.Errorf("store %d: head, and what is in conflict (-want +got):\n%s", i, diff)
			}
			if fates := s.tell(t, sides[(i+1)%3]); strings.Trim(fates, "know ") != "" {
				t.Errorf("store %d still has something new to tell: %s", i, fates)
			}
		}
	}
	exchange()
	want([][]string{{"of c"}, {"of a", "of b"}})
	put(t, sides[1].Store, "n", texts[0]) // one takes another's text: there is nothing more to decide between those two
	exchange()
	want([][]string{{"of a"}, {"of b"}})
}

// current returns the head's text, and those of the open conflicts, sorted.
func (s side) current(t *testing.T, id string) [][]string {
	n := record.Name{Kind: record.KindNote, ID: id}
	var heads, open []string
	text := func(tx *store.Tx, v store.Version) string {
		content, err := tx.Content(v.Record)
		b, readErr := content.Bytes()
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	err := s.View(t.Context(), func(tx *store.Tx) error {
		if v, err := tx.Head(n); err == nil {
			heads = append(heads, text(tx, v))
		}
		for at, err := range tx.Lookup(store.FieldConflict, n.String()) {
			v, getErr := tx.Find(at)
			if err = errors.Join(err, getErr); err != nil {
				return err
			}
			open = append(open, text(tx, v))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(open)
	return [][]string{heads, open}
}

// Stores that put, retire, destroy and decide at random, by clocks that are wrong, and tell each other now
// and then, have the same heads and conflicts when each has heard all, in whatever order; and no text that
// nobody has gone on from, retired or destroyed is out of sight.
func TestConverge(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		if seed == 24 {
			seed = 191 // the words of a version that was gone on from are destroyed: others have not come back to them
		}
		random := rand.New(rand.NewPCG(seed, 7))
		var sides []side
		for i := range 4 {
			sides = append(sides, side{newStore(t, byte(1+(i+int(seed))%7))})
		}
		for range 60 {
			sides[random.IntN(4)].act(t, random, sides)
		}
		all := make([][]bundle.Item, len(sides))
		for i, s := range sides {
			all[i], _ = read(t, s.Store, write(t, s.Store, bundle.Request{}))
		}
		late := side{newStore(t, 9)} // hears all logs by turns, entry by entry
		update(t, late.Store, func(tx *store.Tx) error { return hearMixed(tx, random, all) })
		for range 4 {
			for i := range sides {
				for _, j := range random.Perm(4) {
					if i != j {
						sides[i].tell(t, sides[j])
					}
				}
			}
		}
		for _, id := range []string{"n", "m"} {
			want := sides[0].refs(t, id)
			for i, s := range append(sides[1:], late) {
				if diff := cmp.Diff(want, s.refs(t, id)); diff != "" {
					t.Fatalf("seed %d: %s, head and conflicts of store 0 and %d (-0 +%d):\n%s", seed, id, i+1, i+1, diff)
				}
			}
		}
	}
}

// What a store has made by itself is told without its text. It may say the same as another store's
// version: that decides nothing, for the others cannot know it.
func TestConvergeMerged(t *testing.T) {
	t.Parallel()
	a, b := side{newStore(t, 2)}, side{newStore(t, 1)} // the clock of a is ahead
	first := put(t, a.Store, "n", "first")
	body, err := a.Prepare(t.Context(), []byte("the same"))
	if err != nil {
		t.Fatal(err)
	}
	update(t, a.Store, func(tx *store.Tx) error {
		r := record.Record{Name: record.Name{Kind: record.KindNote, ID: "n"}, Source: record.SourceSync}
		_, err := tx.Put(store.Draft{Record: r, Body: body, Merged: []record.Ref{first}})
		return err
	})
	put(t, b.Store, "n", "the same")
	put(t, a.Store, "n", "what goes on")
	put(t, a.Store, "n", "what goes on from that")
	picks := func(_ *store.Tx, r *record.Record, _ store.Content) bool { return !r.IsMerged() }
	for range 2 {
		for from, to := range map[side]side{a: b, b: a} {
			items, _ := read(t, to.Store, write(t, from.Store, bundle.Request{Picks: picks}))
			update(t, to.Store, func(tx *store.Tx) (err error) {
				for _, item := range items {
					_, hearErr := hear(tx, item)
					err = errors.Join(err, hearErr)
				}
				return err
			})
		}
	}
	if diff := cmp.Diff(a.refs(t, "n"), b.refs(t, "n")); diff != "" {
		t.Errorf("head and conflicts (-a +b):\n%s", diff)
	}
}

// What was destroyed may be told before what it went on from comes: all decide alike.
func TestConvergeDropped(t *testing.T) {
	t.Parallel()
	a, b, c, d := side{newStore(t, 1)}, side{newStore(t, 2)}, side{newStore(t, 3)}, side{newStore(t, 4)}
	var first record.Ref
	for _, id := range []string{"n", "m"} {
		first = put(t, a.Store, id, "first")
		ref := put(t, a.Store, id, "second")
		update(t, a.Store, func(tx *store.Tx) error { return tx.Drop(ref) })
	}
	tell := func(from, to side) {
		origin := ""
		update(t, from.Store, func(tx *store.Tx) error { origin = string(tx.Origin()); return nil })
		picks := func(_ *store.Tx, r *record.Record, _ store.Content) bool { return string(r.Origin) == origin }
		items, _ := read(t, to.Store, write(t, from.Store, bundle.Request{Picks: picks}))
		update(t, to.Store, func(tx *store.Tx) (err error) {
			for _, item := range items {
				_, hearErr := hear(tx, item)
				err = errors.Join(err, hearErr)
			}
			return err
		})
	}
	e := side{newStore(t, 0)} // whose texts are older
	put(t, e.Store, "m", "of e")
	tell(a, b)
	for _, from := range []side{e, b, a} {
		tell(from, c)
	}
	for _, from := range []side{a, b, e} {
		tell(from, d)
	}
	want := func() {
		t.Helper()
		for _, id := range []string{"n", "m"} {
			if diff := cmp.Diff(d.refs(t, id), c.refs(t, id)); diff != "" {
				t.Errorf("%s, head and conflicts (-in order +out of it):\n%s", id, diff)
			}
		}
	}
	want()
	for _, s := range []side{c, d} { // what is left counts again
		update(t, s.Store, func(tx *store.Tx) error {
			_, err := tx.DropAs(first, tx.Now())
			return err
		})
	}
	if want(); c.refs(t, "m")[0][0] == "" {
		t.Error("what is left is not current")
	}
}

// hearMixed hears several logs, each in its order.
func hearMixed(tx *store.Tx, random *rand.Rand, all [][]bundle.Item) error {
	for at := make([]int, len(all)); ; {
		var open []int
		for i := range all {
			if at[i] < len(all[i]) {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return nil
		}
		i := open[random.IntN(len(open))]
		item := all[i][at[i]]
		if _, err := hear(tx, item); err != nil {
			return err
		}
		at[i]++
	}
}

// act does one thing at random.
func (s side) act(t *testing.T, random *rand.Rand, sides []side) {
	t.Helper()
	n := record.Name{Kind: record.KindNote, ID: string("nm"[random.IntN(2)])}
	switch random.IntN(10) {
	case 0, 1, 2, 3:
		put(t, s.Store, n.ID, fmt.Sprint("text ", random.IntN(6)))
	case 4:
		_ = s.Update(t.Context(), func(tx *store.Tx) error { return tx.Retire(n, store.Expect{}) })
	case 5:
		update(t, s.Store, func(tx *store.Tx) error {
			events, err := tx.History(n)
			if len(events) > 0 {
				if ref := events[random.IntN(len(events))].Ref; !tx.IsDropped(ref) {
					err = errors.Join(err, tx.Drop(ref))
				}
			}
			return err
		})
	case 6:
		update(t, s.Store, func(tx *store.Tx) (err error) {
			var decided []record.Ref
			for at := range tx.Lookup(store.FieldConflict, n.String()) {
				if random.IntN(2) == 0 {
					decided = append(decided, at.Ref)
				}
			}
			for _, ref := range decided {
				err = errors.Join(err, tx.Settle(ref))
			}
			return err
		})
	default:
		s.tell(t, sides[random.IntN(len(sides))])
	}
}

// refs returns the ref of a name's head, and those of its open conflicts, sorted.
func (s side) refs(t *testing.T, id string) [][]string {
	t.Helper()
	n, head, open := record.Name{Kind: record.KindNote, ID: id}, "", []string{}
	err := s.View(t.Context(), func(tx *store.Tx) error {
		if v, err := tx.Head(n); err == nil {
			head = v.Ref.Short()
		}
		for at, err := range tx.Lookup(store.FieldConflict, n.String()) {
			if open = append(open, at.Ref.Short()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(open)
	return [][]string{{head}, open}
}

func FuzzReader(f *testing.F) {
	s := filled(f, 1)
	f.Add(write(f, s, bundle.Request{}))
	f.Add(write(f, s, bundle.Request{After: 3}))
	f.Add(write(f, newStore(f, 2), bundle.Request{}))
	f.Add([]byte("filebus bundle 1\norigin 4611686018427387904 "))
	f.Add([]byte("filebus bundle 1\r\norigin 1 a\n"))
	f.Add([]byte("filebus bundle 1\norigin -2 6"))
	f.Fuzz(func(t *testing.T, text []byte) {
		items, err := read(t, s, text)
		positions := func(a, b bundle.Item) int { return int(a.Position) - int(b.Position) }
		if err == nil && !slices.IsSortedFunc(items, positions) {
			t.Errorf("positions are out of order: %+v", items)
		}
	})
}
