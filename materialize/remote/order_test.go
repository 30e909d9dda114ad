package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/record"
)

// Four stores edit one issue queue, one knowledge graph and some notes, and tell of it in many segments. Fresh stores that
// hear these logs a piece at a time, in any interleaving, have the same heads, conflicts and files, in which all
// edits stand.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newMemory()
			f := &five{Rand: rand.New(rand.NewPCG(seed, 11)), t: t, acked: map[string][]record.Ref{}}
			for i := range 4 {
				f.machines = append(f.machines, newMachine(t, fmt.Sprint("writer", i), m.Open(), time.Duration(f.IntN(9)-4)*365*24*time.Hour))
			}
			var fresh []*machine
			for i := range 2 {
				fresh = append(fresh, newMachine(t, fmt.Sprint("fresh", i), m.Open(), 0))
			}
			trusts(append(fresh, f.machines...)...)
			for i, w := range f.machines {
				if err := f.putIssue(w, ownIssue(i)); err != nil {
					t.Fatal(err)
				}
			}
			for range 30 {
				f.work(f.machines[f.IntN(4)])
			}
			for _, w := range f.machines {
				w.push()
			}
			for _, late := range fresh {
				f.hearBit(m, late, 40)
			}
			exchange(t, fresh...) // they may have made something of a part of it
			wantSame(t, fresh...)
			text, err := os.ReadFile(filepath.Join(fresh[0].Root, queueFile))
			if err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				if id := ownIssue(i); !strings.Contains(string(text), id) {
					t.Errorf("%s, which one store has put, is not in the file", id)
				}
			}
		})
	}
}

// Four stores with wrong clocks write one note, of which some versions are private. Who hears that a piece at a
// time, and so of versions before those that they go on from, has the same head and conflicts.
func TestAnyOrderOfVersions(t *testing.T) {
	t.Parallel()
	seeds, first := uint64(6), uint64(0)
	if *long > 0 {
		seeds, first = uint64(*long/time.Second), uint64(time.Now().UnixNano())
	}
	if given := os.Getenv("FILEBUS_SEED"); given != "" {
		_, _ = fmt.Sscan(given, &first)
		seeds = 1
	}
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newMemory()
			f := &five{Rand: rand.New(rand.NewPCG(seed, 13)), t: t}
			open := func(label string) *machine {
				id, now := fmt.Sprintf("%016x%016x", f.Uint64(), f.Uint64()), time.Unix(1.8e9, 0)
				return newMachineOf(t, id, label, m.Open(), now.Add(time.Duration(f.IntN(9)-4)*365*24*time.Hour))
			}
			for i := range 4 {
				f.machines = append(f.machines, open(fmt.Sprint("writer", i)))
			}
			fresh := []*machine{open("fresh0"), open("fresh1"), open("fresh2")}
			trusts(append(fresh, f.machines...)...)
			for range 40 {
				w := f.machines[f.IntN(4)]
				f.version(w)
				w.push()
			}
			for _, late := range fresh {
				f.hearBit(m, late, 10)
			}
			exchange(t, fresh...)
			wantSame(t, fresh...)
		})
	}
}

// version does something to the versions of one note.
func (f *five) version(m *machine) {
	f.t.Helper()
	n := note("n")
	var err error
	switch f.IntN(10) {
	case 0, 1:
		m.put(n.ID, fmt.Sprint("text", f.IntN(6)))
	case 2:
		m.put(n.ID, fmt.Sprint("text", f.IntN(6)), materialize.TagPrivate)
	case 3:
		err = m.Remove(context.Background(), n)
	case 4:
		err = f.resolve(context.Background(), m)
	case 5:
		_, _, err = f.destroy(context.Background(), m)
	default:
		m.pull()
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
		f.t.Fatalf("%s: %v", m.label, err)
	}
}

// putIssue puts an issue.
func (f *five) putIssue(m *machine, id string) error {
	_, err := m.Put(context.Background(), materialize.PutRequest{
		Kind: record.KindIssue, ID: id, Text: strings.NewReader(entryText(id, "of "+m.label)), Source: record.SourcePut,
	})
	return err
}

// ownIssue returns the id of an issue that one writer has alone.
func ownIssue(writer int) string { return fmt.Sprintf("ISSUE-20260302-%03d", 100+writer) }

// work does something on a machine, and tells it.
func (f *five) work(m *machine) {
	f.t.Helper()
	ctx, token := context.Background(), f.newToken()
	var err error
	switch f.IntN(9) {
	case 0, 1:
		err = f.put(ctx, m, token)
	case 2, 3:
		err = f.byHand(ctx, m, token)
	case 4:
		err = f.putEntry(ctx, m, token)
	case 5:
		err = f.knowledge(ctx, m, token)
	case 6:
		_, _, err = f.destroy(ctx, m)
	case 7:
		err = f.resolve(ctx, m)
	default:
		if err = m.sync(ctx); err == nil {
			m.pull()
			err = m.sync(ctx)
		}
	}
	if err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
		f.t.Fatalf("%s: %v", m.label, err)
	}
	if err = m.sync(ctx); err != nil {
		f.t.Fatal(err)
	}
	m.push()
}

// hearBit lets a machine hear the logs a piece at a time.
func (f *five) hearBit(m *memory, late *machine, most int) {
	f.t.Helper()
	until := map[record.StoreID]uint64{}
	defer func() { m.Hide = nil }()
	m.Hide = func(n remote.Name) bool { return n.Span().Last > until[n.Teller()] }
	for range 12 {
		until[f.machines[f.IntN(4)].id()] += uint64(f.IntN(most))
		late.pull()
		if f.IntN(3) == 0 {
			if err := late.sync(context.Background()); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	m.Hide = nil
	late.pull()
	if err := late.sync(context.Background()); err != nil {
		f.t.Fatal(err)
	}
}

// Whose version of an entry is purged may have that of another store in its place: it stands in the file then.
func TestPurgeOfRival(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	a, b := newMachine(t, "a", openFolder(t, dir), 0), newMachine(t, "b", openFolder(t, dir), time.Hour)
	trusts(a, b)
	const id = "ISSUE-20260302-001"
	issue := record.Name{Kind: record.KindIssue, ID: id}
	edit := func(m *machine, token string) {
		t.Helper()
		_, err := m.Put(t.Context(), materialize.PutRequest{
			Kind: issue.Kind, ID: id, Text: strings.NewReader(entryText(id, token)), Source: record.SourcePut,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	edit(a, "as it was")
	exchange(t, a, b)
	edit(a, "of a")
	edit(b, "of b")
	exchange(t, a, b)
	var head record.Ref
	a.view(func(tx *store.Tx) error {
		v, err := tx.Head(issue)
		head = v.Ref
		return err
	})
	a.purge(head)
	if err := a.sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(a.Root, queueFile))
	if err != nil || !strings.Contains(string(text), "of a") {
		t.Errorf("what is current is not in the file: %q, %v", text, err)
	}
	exchange(t, a, b)
	wantSame(t, a, b)
}

// deaf is a transport that takes no segments.
type deaf struct{ remote.Transport }

func (d deaf) Put(ctx context.Context, name remote.Name, size int64, from io.Reader) error {
	if strings.Contains(name.String(), "/log/") {
		return errCut
	}
	return d.Transport.Put(ctx, name, size, from)
}

// A push may be cut short after a body that travels by itself, which is destroyed before the next push.
func TestPurgeOfBody(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	a := newMachine(t, "a", openFolder(t, dir), 0)
	secret := random(400 << 10)
	ref := a.put("large", secret)
	through := a.through
	a.through = deaf{through}
	if _, err := a.replica().Push(t.Context()); !errors.Is(err, errCut) {
		t.Fatalf("Push = %v, want %v", err, errCut)
	}
	bodies := func() (n int) {
		files, err := filepath.Glob(filepath.Join(dir, "*", "bodies", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	if n := bodies(); n != 1 {
		t.Fatalf("%d bodies were put, want 1", n)
	}
	a.purge(ref)
	a.through = through
	if a.push(); bodies() > 0 {
		t.Error("a body that is destroyed is still there")
	}
}

// Who pushes into a folder that is synchronised in part tells again what others have heard, and have destroyed since. The same
// text may be that of a later version.
func TestPurgeOfHeard(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	out := &flaky{Transport: openFolder(t, dir)}
	a, b := newMachine(t, "a", out, 0), newMachine(t, "b", openFolder(t, dir), 0)
	trusts(a, b)
	for _, text := range []string{"short", random(400 << 10)} {
		id := fmt.Sprint("n", len(text))
		ref := a.put(id, text)
		a.push()
		b.pull()
		if err := b.Store.Update(t.Context(), func(tx *store.Tx) error { return tx.Drop(ref) }); err != nil { // a purge would keep it out
			t.Fatal(err)
		}
		a.put(id, text, "tag")
		out.hide = func(remote.Name) bool { return true }
		a.push()
		out.hide = nil
		b.pull()
		if got := b.head(id); got != text {
			t.Errorf("%.20q is there, want %.20q", got, text)
		}
	}
}

// What a store has retold of another one's log may be out of sight when it is destroyed.
func TestPurgeOutOfSight(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	a, b := newMachine(t, "a", openFolder(t, dir), 0), newMachine(t, "b", &flaky{Transport: openFolder(t, dir)}, 0)
	trusts(a, b)
	ref := a.put("n", "token0001x")
	a.push()
	b.pull()
	if err := os.RemoveAll(filepath.Join(dir, string(a.id()))); err != nil {
		t.Fatal(err)
	}
	if b.push(); len(blobs(t, dir, "token0001x")) != 1 {
		t.Fatal("what the remote has lost was not told again")
	}
	a.push()
	a.purge(ref)
	a.push()
	b.pull()
	b.through.(*flaky).hide = func(name remote.Name) bool { return name.Teller() == b.id() && name.Span().Origin == a.id() }
	b.push()
	b.through.(*flaky).hide = nil
	b.push()
	if files := blobs(t, dir, "token0001x"); len(files) > 0 {
		t.Errorf("what is destroyed is still in %q", files)
	}
}

// What was told again while it was out of sight lies within another segment, and is removed when it is seen. That what was in it
// is destroyed does not bring it back, and is true of it also while it is out of sight.
func TestPurgeOfCovered(t *testing.T) {
	t.Parallel()
	for _, isHidden := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "shared")
		through := &flaky{Transport: openFolder(t, dir)}
		a := newMachine(t, "a", through, 0)
		ref := a.put("n", "token0001x")
		a.push()
		covered := blobs(t, dir, "token0001x")
		a.put("m", "another")
		through.hide = func(n remote.Name) bool { return n.Span().Last == 1 }
		a.push()
		a.purge(ref)
		if err := a.Store.Update(t.Context(), func(tx *store.Tx) error { return tx.SetWaiting(1) }); err != nil { // it has bytes yet
			t.Fatal(err)
		}
		if !isHidden {
			through.hide = nil
		}
		a.push()
		if files := blobs(t, dir, "token0001x"); len(files) > 0 {
			t.Errorf("hidden: %v: what is destroyed is still in %q", isHidden, files)
		}
		through.hide = nil
		exchange(t, a)
		if _, err := os.Stat(covered[0]); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("hidden: %v: %s lies within another one, and is there: %v", isHidden, covered[0], err)
		}
	}
}
