package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/record"
)

const elsewhere = record.StoreID("ff0102030405060708090a0b0c0d0e0f")

// adopted returns what another store has made of a name in some year, which goes on from another version.
func adopted(t *testing.T, s *store.Store, of, text string, year int, prev ...store.Draft) store.Draft {
	t.Helper()
	d := draft(t, s, of, text)
	d.Record.Origin, d.Record.Time = elsewhere, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	d.Record.Body, d.Record.Size = d.Body.Digest, d.Body.Size
	for _, p := range prev {
		d.Record.Prev = p.Record.Ref()
	}
	return d
}

// hear is a transaction that takes in what another store tells of some names.
func hear(t *testing.T, s *store.Store, fn func(*store.Tx) error, names ...string) {
	t.Helper()
	update(t, s, func(tx *store.Tx) error {
		err := errors.Join(tx.Hear(elsewhere, tx.Position()+1, record.Digest{}), fn(tx))
		for _, n := range names {
			err = errors.Join(err, tx.Conclude(name(t, n)))
		}
		return err
	})
}

func come(t *testing.T, s *store.Store, all ...store.Draft) {
	t.Helper()
	hear(t, s, func(tx *store.Tx) (err error) {
		for _, d := range all {
			_, adoptErr := tx.Adopt(d)
			err = errors.Join(err, adoptErr)
		}
		return err
	}, "note/n")
}

func tell(t *testing.T, s *store.Store, d store.Draft) {
	t.Helper()
	hear(t, s, func(tx *store.Tx) error {
		_, err := tx.Tell(d.Record.Ref(), store.TraceOf(&d.Record))
		return err
	}, "note/n")
}

func dropAs(t *testing.T, s *store.Store, d store.Draft) {
	t.Helper()
	hear(t, s, func(tx *store.Tx) error {
		_, err := tx.DropAs(d.Record.Ref(), tx.Now())
		return err
	}, "note/n")
}

// standing returns, for each name, the version that counts, whether it is current, and the conflicts.
func standing(t *testing.T, s *store.Store, names ...string) (all []string) {
	t.Helper()
	view(t, s, func(tx *store.Tx) {
		for _, n := range names {
			first, _, isLive, err := tx.Leaves(name(t, n))
			head, headErr := tx.Head(name(t, n))
			switch isThere := headErr == nil; {
			case err != nil || isThere != isLive:
				t.Errorf("%s is there: %v, and has a version that counts: %v, %v", n, isThere, isLive, err)
			case isThere && head.Record.Body != first.Record.Body:
				t.Errorf("%s has the text of %s, and %s counts", n, head.Ref.Short(), first.Ref.Short())
			}
			var open []string
			for at, err := range tx.Lookup(store.FieldConflict, n) {
				if open = append(open, at.Ref.Short()); err != nil {
					t.Error(err)
				}
			}
			slices.Sort(open)
			all = append(all, fmt.Sprint(n, " ", first.Ref.Short(), open))
		}
	})
	return all
}

// What was told later has decided for another version: users go on from that one, and nothing is settled, retired or there
// again that nobody has.
func TestConclude(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"b", "the same"} {
		s, _ := testStore(t)
		root := adopted(t, s, "note/n", "root", 2040)
		a, b := adopted(t, s, "note/n", "the same", 2030), adopted(t, s, "note/n", text, 2029, root)
		come(t, s, a, b)
		tell(t, s, root)
		if text == "b" {
			put(t, s, "note/n", "of the user")
			if got := standing(t, s, "note/n"); len(got) != 1 || got[0][len(got[0])-14:] != "["+a.Record.Ref().Short()+"]" {
				t.Errorf("after a put there is %s, want the conflict with %s", got, a.Record.Ref().Short())
			}
		}
		update(t, s, func(tx *store.Tx) error { return tx.Retire(name(t, "note/n"), store.Expect{}) })
		standing(t, s, "note/n")
	}
}

// It is decided once, then the other way, and then as before.
func TestConcludeAgain(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	x, y := adopted(t, s, "note/n", "x", 2040), adopted(t, s, "note/n", "y", 2050)
	come(t, s, adopted(t, s, "note/n", "a", 2030, y), adopted(t, s, "note/n", "b", 2029, x))
	for _, d := range []store.Draft{x, y} {
		tell(t, s, d)
		standing(t, s, "note/n")
	}
}

// What a destroyed version went on from is gone, whichever came first; what it agreed with is not.
func TestConcludeDropped(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"come drop", "drop come", "between"} {
		s, _ := testStore(t)
		before := adopted(t, s, "note/n", "before", 2030)
		between := adopted(t, s, "note/n", "between", 2031, before)
		last := adopted(t, s, "note/n", "last", 2032, between)
		come(t, s, before)
		switch order {
		case "come drop":
			come(t, s, between, last)
			dropAs(t, s, last)
		case "drop come":
			come(t, s, between)
			dropAs(t, s, last)
			come(t, s, last)
		case "between":
			come(t, s, last)
			dropAs(t, s, last)
			come(t, s, between)
		}
		standing(t, s, "note/n")
		if _, err := read(t, s, "note/n"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v, want not found", order, err)
		}
	}
	s, _ := testStore(t)
	a, b := adopted(t, s, "note/n", "the same", 2030), adopted(t, s, "note/n", "the same", 2031)
	come(t, s, a, b)
	update(t, s, func(tx *store.Tx) error {
		of := []record.Ref{b.Record.Ref(), a.Record.Ref()}
		d := store.Draft{Record: b.Record, Body: store.BodyOf(&b.Record), Replaces: true, Merged: of}
		d.Record.Tags = record.NormalizeTags([]string{"of both"})
		_, err := tx.Put(d)
		return err
	})
	dropAs(t, s, b)
	wantText(t, s, "note/n", "the same")
}

// Versions of many names come, are told, retired and destroyed in any order, users put, retire, settle and drop between, and
// the log is played again: what counts is current, and stays what it is.
func TestConcludeAtRandom(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{100, 106, 111} {
		s, _ := testStore(t)
		random := rand.New(rand.NewPCG(seed, 99))
		var names []string
		var all []store.Draft
		for i := range 60 {
			names = append(names, fmt.Sprint("note/", i))
		}
		for i := range 600 {
			d := adopted(t, s, names[i%60], fmt.Sprint("text", random.IntN(4)), 2000+random.IntN(60))
			d.Record.Time = d.Record.Time.Add(time.Duration(i) * time.Hour)
			if same := i % 60; i >= 60 && random.IntN(4) > 0 {
				d.Record.Prev = all[same+60*random.IntN(i/60)].Record.Ref()
				if random.IntN(4) == 0 {
					target := all[same+60*random.IntN(i/60)].Record.Ref()
					d.Record.Links = []record.Link{{Type: record.LinkMerged, Target: target.String()}}
				}
			}
			all = append(all, d)
		}
		for range 16 {
			hear(t, s, func(tx *store.Tx) error {
				for range 60 {
					if err := somewhat(tx, random, all[random.IntN(len(all))]); err != nil &&
						!errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDropped) {
						return err
					}
				}
				return nil
			}, names...)
			for range 4 {
				put(t, s, names[random.IntN(60)], fmt.Sprint("text", random.IntN(4)))
			}
			before := standing(t, s, names...)
			if random.IntN(4) == 0 {
				if _, err := s.Rebuild(t.Context()); err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(before, standing(t, s, names...)); diff != "" {
					t.Fatalf("seed %d, played again (-before +after):\n%s", seed, diff)
				}
			}
		}
	}
}

// somewhat does something with a version.
func somewhat(tx *store.Tx, random *rand.Rand, d store.Draft) (err error) {
	ref := d.Record.Ref()
	switch op := random.IntN(40); {
	case op < 16 && !d.Record.IsMerged():
		_, err = tx.Adopt(d)
	case op < 33:
		_, err = tx.Tell(ref, store.TraceOf(&d.Record))
	case op == 33:
		_, err = tx.DropAs(ref, tx.Now())
	case op == 34:
		_, err = tx.RetireAs(ref)
	case op == 35:
		err = tx.Retire(d.Record.Name, store.Expect{})
	case op == 36:
		for open := range tx.Lookup(store.FieldConflict, d.Record.Name.String()) {
			return tx.Settle(open.Ref)
		}
	case op == 37:
		v, _, lastErr := tx.Last(d.Record.Name)
		if err = lastErr; err == nil {
			err = tx.Drop(v.Ref)
		}
	}
	return err
}

// histories are what has happened to a name, and what counts then and is in conflict with that; "": whatever is said in the first
// order. A version is ID[<PREV][=TEXT]@YEAR, with a * where a store has made it by itself. A rule that decides otherwise has failed
// with each of them once.
var histories = []struct{ what, versions, events, want string }{
	{"what is told later decides", "top@2040 a@2030 b<top@2029", "come a, come b, tell top", "b[a]"},
	{"it is told of both", "x@2040 y@2050 a<y@2030 b<x@2029", "come a, come b, tell x, tell y", "a[b]"},
	{"a clock is ahead", "a@2040 b<a@2030 c@2035", "come a, come b, come c", "b[c]"},
	{"one comes over what never does", "a@2030 hidden<a@2035 b<hidden@2020 c@2033", "come a, tell hidden, come b, come c", "b[c]"},
	{"the later one is retired", "root@2029 a<root@2030 b<root@2031", "come root, come a, come b, retire b", "gone[a]"},
	{"a conflict is settled", "a@2030 b@2031", "come a, come b, retire a", "b[]"},
	{"it is retired before it comes", "a@2030 b@2031 c@2029", "retire b, come b, come a, come c", "gone[a c]"},
	{"what was gone on from is retired", "a@2030 b<a@2031", "come a, come b, retire a", "b[]"},
	{"a destroyed one takes with it what it went on from", "a@2030 b<a@2031 c<b@2032", "come a, come b, come c, drop c", "gone[]"},
	{"over one that never comes", "a@2030 hidden<a@2031 lost<hidden@2032", "come a, tell hidden, tell lost, drop lost", "gone[]"},
	{"and takes the head away", "a@2030 b@2031 lost<b@2032", "come a, come b, tell lost, drop lost", "gone[a]"},
	{"what goes on from what is lost is there", "a@2030 lost<a@2031 b<lost@2032", "come a, come b, tell lost, drop lost", "b[]"},
	{"one destroyed after another", "a@2030 x<a@2031 y<x@2032 b@2029", "come a, come b, tell x, tell y, drop x, drop y", "gone[b]"},
	{"what a store has made is destroyed by itself", "a@2030 m<a@2031* b@2029", "come a, come b, tell m, drop m", "a[b]"},
	{"nobody knows what is destroyed", "a@2030 b@2031", "come a, come b, drop b", "a[]"},
	{"they say the same", "a=x@2030 b=x@2031", "come a, come b", "b[]"},
	{"one says what was gone on from", "a=x@2030 b<a@2032 c=x@2031", "come a, come b, come c", "b[]"},
	{"which is destroyed", "a=x@2030 b<a@2032 c=x@2031", "come a, come b, come c, drop a", "b[c]"},
	{"one has come back to it", "a=x@2030 b<a@2031 c<b=x@2032 d<b@2033", "come a, come b, come c, come d", "d[c]"},
	{"what a store has made says nothing", "a@2030 m<a=x@2031* b<m@2033 c=x@2032", "come a, tell m, come b, come c", "b[c]"},
}

// Of versions that go on from each other, some are told before those that they go on from, some come as records, are retired or
// destroyed, before or after they come, and some never come. Whatever the order, what counts and what is in conflict is the
// same, also when the log was played again.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	all := slices.Clone(histories)
	for range 30 { // other events each
		h := all[0]
		h.what, h.want = "some of these", ""
		h.versions = "root@2032 reply<root@2020 hidden<reply@2029 lost<hidden@2021 next<hidden@2019 late@2027 other@2025 above<other@2030"
		h.events = strings.Join(slices.DeleteFunc(strings.Split("come reply, come late, come other, tell root, tell hidden, drop lost, "+
			"tell lost, retire reply, retire other, come next, drop above, tell above, come root", ", "),
			func(string) bool { return random.IntN(3) == 0 }), ", ")
		all = append(all, h)
	}
	s, _ := testStore(t)
	names, ids := make([][]string, len(all)), map[record.Ref]string{}
	for i, h := range all {
		for order := range 8 {
			names[i] = append(names[i], fmt.Sprintf("note/%d.%d", i, order))
		}
		hear(t, s, func(tx *store.Tx) error {
			events := strings.Split(h.events, ", ")
			for _, n := range names[i] {
				drafts := versionsOf(t, s, n, h.versions)
				for id, d := range drafts {
					ids[d.Record.Ref()] = id
				}
				for _, e := range events {
					op, id, _ := strings.Cut(e, " ")
					if err := happen(tx, op, drafts[id]); err != nil {
						return fmt.Errorf("%v: %w", events, err)
					}
				}
				random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
			}
			return nil
		}, names[i]...)
	}
	look := func(when string) {
		t.Helper()
		view(t, s, func(tx *store.Tx) {
			for i, h := range all {
				for order, n := range names[i] {
					got := decided(t, tx, name(t, n), ids)
					if h.want = cmp.Or(h.want, got); got != h.want {
						t.Errorf("%s, %s: order %d of %q has %s, want %s", when, h.what, order, h.events, got, h.want)
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

// versionsOf returns versions of a name, as histories write them.
func versionsOf(t *testing.T, s *store.Store, n, versions string) map[string]store.Draft {
	t.Helper()
	drafts := map[string]store.Draft{}
	for _, version := range strings.Fields(versions) {
		rest, year, _ := strings.Cut(strings.TrimSuffix(version, "*"), "@")
		rest, text, _ := strings.Cut(rest, "=")
		id, follows, _ := strings.Cut(rest, "<")
		at, _ := strconv.Atoi(year)
		d := adopted(t, s, n, cmp.Or(text, id), at)
		if before, known := drafts[follows]; known {
			d.Record.Prev = before.Record.Ref()
		}
		if strings.HasSuffix(version, "*") {
			d.Record.Links = []record.Link{{Type: record.LinkMerged, Target: d.Record.Prev.String()}}
		}
		d.Record.Agent = id
		drafts[id] = d
	}
	return drafts
}

// happen does one thing with a version.
func happen(tx *store.Tx, op string, d store.Draft) (err error) {
	switch ref := d.Record.Ref(); op {
	case "come":
		_, err = tx.Adopt(d)
	case "tell":
		var names []record.Name
		if names, err = tx.Tell(ref, store.TraceOf(&d.Record)); slices.ContainsFunc(names, func(of record.Name) bool { return of != d.Record.Name }) {
			err = fmt.Errorf("it is of %s", names)
		}
	case "retire":
		_, err = tx.RetireAs(ref)
	case "drop":
		_, err = tx.DropAs(ref, tx.Now())
	}
	return err
}

// decided returns the id of the version that counts, and of those in conflict with it.
func decided(t *testing.T, tx *store.Tx, n record.Name, ids map[record.Ref]string) string {
	t.Helper()
	first, _, isLive, err := tx.Leaves(n)
	got := "gone"
	if isLive {
		got = ids[first.Ref]
	} else if _, headErr := tx.Head(n); !errors.Is(headErr, store.ErrNotFound) {
		got = "gone, and there"
	}
	var open []string
	for at, lookErr := range tx.Lookup(store.FieldConflict, n.String()) {
		open, err = append(open, ids[at.Ref]), errors.Join(err, lookErr)
	}
	if slices.Sort(open); err != nil {
		t.Error(err)
	}
	return got + fmt.Sprint(open)
}
