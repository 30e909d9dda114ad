package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/record"
)

// clock is a settable clock that moves one second with every look.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// testStore returns a new store whose Check must find nothing when the test
// ends.
func testStore(t testing.TB) (*store.Store, *clock) {
	t.Helper()
	c := newClock()
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{
		Now: c.Now, Random: rand.NewChaCha8([32]byte{1}), Wait: time.Minute, Command: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustCheck(t, s) })
	return s, c
}

func mustCheck(t testing.TB, s *store.Store) *store.Report {
	t.Helper()
	report, err := s.Check(context.Background(), nil)
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	for _, fault := range report.Faults {
		t.Errorf("Check: %s", fault)
	}
	return report
}

func name(t testing.TB, text string) record.Name {
	t.Helper()
	n, err := record.ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// draft prepares a put of text under a name.
func draft(t testing.TB, s *store.Store, of, text string, edits ...func(*store.Draft)) store.Draft {
	t.Helper()
	body, err := s.Prepare(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := store.Draft{Body: body, Record: record.Record{Name: name(t, of), Source: record.SourcePut}}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

func expect(e store.Expect) func(*store.Draft) { return func(d *store.Draft) { d.Expect = e } }

func tagged(tags ...string) func(*store.Draft) {
	return func(d *store.Draft) { d.Record.Tags = record.NormalizeTags(tags) }
}

func from(source record.Source) func(*store.Draft) {
	return func(d *store.Draft) { d.Record.Source = source }
}

func put(t testing.TB, s *store.Store, of, text string, edits ...func(*store.Draft)) store.Outcome {
	t.Helper()
	outcomes, err := s.Put(t.Context(), draft(t, s, of, text, edits...))
	if err != nil {
		t.Fatalf("Put(%s): %v", of, err)
	}
	return outcomes[0]
}

// view runs fn in a read transaction.
func view(t testing.TB, s *store.Store, fn func(tx *store.Tx)) {
	t.Helper()
	if err := s.View(t.Context(), func(tx *store.Tx) error { fn(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

func update(t testing.TB, s *store.Store, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// read returns the current text of a name.
func read(t testing.TB, s *store.Store, of string) (string, error) {
	t.Helper()
	var text []byte
	err := s.View(t.Context(), func(tx *store.Tx) error {
		v, err := tx.Head(name(t, of))
		if err != nil {
			return err
		}
		c, err := tx.Content(v.Record)
		if err != nil {
			return err
		}
		text, err = c.Bytes()
		return err
	})
	return string(text), err
}

func wantText(t testing.TB, s *store.Store, of, want string) {
	t.Helper()
	if got, err := read(t, s, of); err != nil || got != want {
		t.Errorf("text of %s = %q, %v; want %q", of, got, err, want)
	}
}

func collect[T any](t testing.TB, seq func(func(T, error) bool)) []T {
	t.Helper()
	var all []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func TestPutGet(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	for _, text := range []string{"", "x", strings.Repeat("a long line of text\n", 500), "\xff\x00\r\n\ufeff", randomText(2000)} {
		of := fmt.Sprintf("note/dir/%d bytes.md", len(text))
		outcome := put(t, s, of, text)
		wantText(t, s, of, text)
		if got, want := outcome.Record.Body, record.DigestOf([]byte(text)); got != want {
			t.Errorf("body digest of %q = %v, want %v", of, got, want)
		}
		view(t, s, func(tx *store.Tx) {
			got, err := tx.Get(outcome.Ref)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(outcome.Version, got); diff != "" {
				t.Errorf("Get differs from what Put returned (-put +get):\n%s", diff)
			}
		})
	}
}

func randomText(n int) string {
	r := rand.NewChaCha8([32]byte{7})
	text := make([]byte, n)
	r.Read(text)
	return string(text)
}

func TestVersions(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	first := put(t, s, "issue/ISSUE-20260302-001", "pending")
	second := put(t, s, "issue/ISSUE-20260302-001", "accepted")
	if second.Record.Prev != first.Ref {
		t.Errorf("prev = %v, want %v", second.Record.Prev, first.Ref)
	}
	again := put(t, s, "issue/ISSUE-20260302-001", "accepted")
	if !again.Unchanged || again.Ref != second.Ref {
		t.Errorf("the same put again: unchanged %v, ref %v; want true, %v", again.Unchanged, again.Ref, second.Ref)
	}
	back := put(t, s, "issue/ISSUE-20260302-001", "pending")
	if back.Unchanged || back.Ref == first.Ref {
		t.Errorf("an older text is a new version: unchanged %v, same ref %v", back.Unchanged, back.Ref == first.Ref)
	}
	view(t, s, func(tx *store.Tx) {
		events, err := tx.History(name(t, "issue/ISSUE-20260302-001"))
		if err != nil {
			t.Fatal(err)
		}
		want := []store.Event{{1, store.ChangePut, first.Ref}, {2, store.ChangePut, second.Ref}, {3, store.ChangePut, back.Ref}}
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
}

func TestCompareAndSet(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	const of = "state/session_state"
	first := put(t, s, of, "loop 1", expect(store.Absent()))
	var conflict *store.ConflictError
	_, err := s.Put(t.Context(), draft(t, s, of, "loop 2", expect(store.Absent())))
	if !errors.As(err, &conflict) || conflict.Actual != first.Ref || !errors.Is(err, store.ErrConflict) {
		t.Errorf("put of a present name expected absent: %v", err)
	}
	second := put(t, s, of, "loop 2", expect(store.Current(first.Ref)))
	_, err = s.Put(t.Context(), draft(t, s, of, "loop 3", expect(store.Current(first.Ref))))
	if !errors.As(err, &conflict) || conflict.Expected != first.Ref || conflict.Actual != second.Ref {
		t.Errorf("put against an old version: %v", err)
	}
	wantText(t, s, of, "loop 2")
}

func TestPutIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	put(t, s, "note/b", "old")
	_, err := s.Put(t.Context(), draft(t, s, "note/a", "new"), draft(t, s, "note/b", "new", expect(store.Absent())))
	if !errors.Is(err, store.ErrConflict) {
		t.Fatalf("Put = %v, want a conflict", err)
	}
	if _, err := read(t, s, "note/a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("note/a after a failed put of two: %v, want not found", err)
	}
}

func TestWriteOnce(t *testing.T) {
	t.Parallel()
	s, c := testStore(t)
	const of = "result/conv-1/call-1"
	first := put(t, s, of, "the finding", func(d *store.Draft) { d.Record.Agent = "researcher" })
	_, err := s.Put(t.Context(), draft(t, s, of, "another finding"))
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) || !conflict.WriteOnce {
		t.Errorf("another body under a result: %v, want a write-once conflict", err)
	}
	if again := put(t, s, of, "the finding"); !again.Unchanged || again.Ref != first.Ref {
		t.Errorf("the same body again: %+v, want the first ref %v", again, first.Ref)
	}
	more := put(t, s, of, "the finding", tagged("jwt"))
	if more.Unchanged || more.Record.Agent != "researcher" || !slices.Equal(more.Record.Tags, []string{"jwt"}) {
		t.Errorf("the same body with a tag = %+v, want a version with tag and agent", more.Record)
	}

	const seen = "result/conv-1/call-2"
	put(t, s, seen, "half a", from(record.SourceCapture))
	put(t, s, seen, "half a finding", from(record.SourceCapture))
	c.set(c.Now().Add(6 * time.Minute))
	if _, err := s.Put(t.Context(), draft(t, s, seen, "edited", from(record.SourceCapture))); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a captured result that was quiet for 6 minutes took another body: %v", err)
	}
}

// appendTo appends to the text of a name inside one transaction.
func appendTo(ctx context.Context, s *store.Store, of record.Name, more string) (put store.Outcome, err error) {
	err = s.Update(ctx, func(tx *store.Tx) error {
		d := store.Draft{Record: record.Record{Name: of, Source: "mcp"}}
		var body []byte
		head, err := tx.Head(of)
		if err == nil {
			var content store.Content
			if content, err = tx.Content(head.Record); err == nil {
				body, err = content.Bytes()
			}
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if d.Body, err = s.Prepare(ctx, append(body, more...)); err != nil {
			return err
		}
		put, err = tx.Put(d)
		return err
	})
	return put, err
}

func TestAppendAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := appendTo(t.Context(), s, name(t, "handoff/task-003"), fmt.Sprintf("line %02d\n", i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	text, err := read(t, s, "handoff/task-003")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	if err != nil || len(slices.Compact(lines)) != 20 {
		t.Errorf("after 20 transactions at once: %d lines, %v\n%s", len(lines), err, text)
	}
}

func TestRetire(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	of := name(t, "marker/task-003")
	first := put(t, s, "marker/task-003", "done", func(d *store.Draft) { d.Record.Task = "task-003" })
	update(t, s, func(tx *store.Tx) error { return tx.Retire(of, store.Current(first.Ref)) })
	if _, err := read(t, s, "marker/task-003"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a retired name: %v, want not found", err)
	}
	view(t, s, func(tx *store.Tx) {
		last, head, err := tx.Last(of)
		if err != nil || head || last.Ref != first.Ref {
			t.Errorf("Last = %v, %v, %v; want the retired version", last.Ref, head, err)
		}
		if got := collect(t, tx.Lookup("task", "task-003")); len(got) != 0 {
			t.Errorf("look-up of a retired name = %v", got)
		}
	})
	err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Retire(of, store.Expect{}) })
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("retiring twice: %v, want not found", err)
	}
	second := put(t, s, "marker/task-003", "done")
	if second.Unchanged || second.Record.Prev != first.Ref {
		t.Errorf("put after retire = %+v, want a new version after %v", second, first.Ref)
	}
}

func TestDrop(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	a := put(t, s, "result/c/1", "shared body")
	b := put(t, s, "result/c/2", "shared body")
	n1 := put(t, s, "note/n", "one")
	n2 := put(t, s, "note/n", "two")
	drop := func(ref record.Ref) { update(t, s, func(tx *store.Tx) error { return tx.Drop(ref) }) }

	drop(a.Ref)
	wantText(t, s, "result/c/2", "shared body")
	view(t, s, func(tx *store.Tx) {
		if _, err := tx.Get(a.Ref); !errors.Is(err, store.ErrDropped) {
			t.Errorf("Get of a dropped ref: %v", err)
		}
		if _, _, err := tx.Last(name(t, "result/c/1")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Last of a name whose only version was dropped: %v", err)
		}
	})
	drop(b.Ref)
	drop(n2.Ref)
	view(t, s, func(tx *store.Tx) {
		last, head, err := tx.Last(name(t, "note/n"))
		if err != nil || head || last.Ref != n1.Ref {
			t.Errorf("Last = %v, %v, %v; want %v, false", last.Ref, head, err, n1.Ref)
		}
	})
	report := mustCheck(t, s)
	if report.Records != 1 || report.Dropped != 3 || report.Bodies != 1 {
		t.Errorf("Check counts %d records, %d dropped, %d bodies; want 1, 3, 1", report.Records, report.Dropped, report.Bodies)
	}
	if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Drop(a.Ref) }); !errors.Is(err, store.ErrDropped) {
		t.Errorf("dropping twice: %v", err)
	}
	if again := put(t, s, "result/c/1", "other body"); again.Unchanged {
		t.Error("a put after a drop was not stored")
	}
}

func TestConflictVersions(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	head := put(t, s, "issue/I-1", "from the store")
	asConflict := func(d *store.Draft) {
		d.Record.Links = []record.Link{{Type: record.LinkConflict, Target: head.Ref.String()}}
	}
	side := put(t, s, "issue/I-1", "from the file", asConflict)
	if twice := put(t, s, "issue/I-1", "from the file", asConflict); !twice.Unchanged || twice.Ref != side.Ref {
		t.Errorf("the same conflict twice = %+v", twice)
	}
	wantText(t, s, "issue/I-1", "from the store")
	open := func() (refs []record.Ref) {
		view(t, s, func(tx *store.Tx) {
			for _, at := range collect(t, tx.Lookup(store.FieldConflict, "issue/I-1")) {
				refs = append(refs, at.Ref)
			}
		})
		return refs
	}
	if diff := cmp.Diff([]record.Ref{side.Ref}, open()); diff != "" {
		t.Errorf("open conflicts (-want +got):\n%s", diff)
	}
	mustCheck(t, s)
	update(t, s, func(tx *store.Tx) error { return tx.Settle(side.Ref) })
	if got := open(); len(got) != 0 {
		t.Errorf("open conflicts after Settle = %v", got)
	}
	if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Settle(head.Ref) }); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Settle of a head = %v", err)
	}
	update(t, s, func(tx *store.Tx) error { return tx.Drop(side.Ref) })
	wantText(t, s, "issue/I-1", "from the store")
	view(t, s, func(tx *store.Tx) {
		if v, err := tx.HeadAt(name(t, "issue/I-1"), tx.Position()); err != nil || v.Ref != head.Ref {
			t.Errorf("HeadAt = %v, %v; want %v", v.Ref, err, head.Ref)
		}
	})
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	var refs []record.Ref
	for i := range 300 {
		refs = append(refs, put(t, s, fmt.Sprintf("note/%d", i), "x").Ref)
	}
	prefix := func(text string) record.Prefix {
		p, ok := record.ParsePrefix(text)
		if !ok {
			t.Fatalf("ParsePrefix(%q) failed", text)
		}
		return p
	}
	view(t, s, func(tx *store.Tx) {
		for _, n := range []int{8, 9, 12, 63, 64} {
			if got, err := tx.Resolve(prefix(refs[5].String()[:n])); err != nil || got != refs[5] {
				t.Errorf("Resolve of %d digits = %v, %v; want %v", n, got, err, refs[5])
			}
		}
		if _, err := tx.Resolve(prefix("00000000000000000000")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Resolve of an unknown prefix: %v", err)
		}
		// No two of 300 refs share eight digits, so ambiguity is shown on less.
		_, err := tx.Resolve(record.Prefix(commonPrefix(refs)))
		var ambiguous *store.AmbiguousError
		if !errors.As(err, &ambiguous) || len(ambiguous.Candidates) < 2 {
			t.Errorf("Resolve of a shared prefix: %v, want candidates", err)
		}
	})
}

// commonPrefix returns two digits that at least two refs begin with.
func commonPrefix(refs []record.Ref) string {
	seen := map[string]bool{}
	for _, ref := range refs {
		p := ref.String()[:2]
		if seen[p] {
			return p
		}
		seen[p] = true
	}
	panic("300 refs with 256 beginnings share none")
}

func TestLookups(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	put(t, s, "knowledge/pattern-001", "a", tagged("React", "state"))
	put(t, s, "knowledge/gotcha-001", "b", tagged("react", "react-native"))
	put(t, s, "lib:knowledge/pattern-001", "c", tagged("react"))
	put(t, s, "knowledge/gotcha-001", "b2", tagged("react"))
	view(t, s, func(tx *store.Tx) {
		var names []string
		for _, at := range collect(t, tx.Lookup(store.FieldTag, "react")) {
			v, err := tx.Find(at)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, v.Record.Name.String())
		}
		want := []string{"knowledge/gotcha-001", "lib:knowledge/pattern-001", "knowledge/pattern-001"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("tag react, newest first (-want +got):\n%s", diff)
		}
		values := []store.Value{{Text: "react", Count: 3, Newest: 4, Places: 8}, {Text: "state", Count: 1, Newest: 1, Places: 1}}
		if diff := cmp.Diff(values, collect(t, tx.Values(store.FieldTag, ""))); diff != "" {
			t.Errorf("tags (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"react", "state"}, collect(t, tx.Distinct(store.FieldTag))); diff != "" {
			t.Errorf("distinct tags (-want +got):\n%s", diff)
		}
		for of, want := range map[string]uint64{"knowledge/pattern-001": 1, "knowledge/gotcha-001": 2, "knowledge/gotcha": 0} {
			if got, err := tx.Since(name(t, of)); got != want || err != nil {
				t.Errorf("%s came up at %d, %v, want %d", of, got, err, want)
			}
		}
		if diff := cmp.Diff(values[:1], collect(t, tx.Values(store.FieldTag, "rea"))); diff != "" {
			t.Errorf("tags that begin with rea (-want +got):\n%s", diff)
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	all := []string{"note/a", "note/a/b", "note/b", "result/c/1", "lib:note/a"}
	for _, of := range all {
		put(t, s, of, of)
	}
	update(t, s, func(tx *store.Tx) error { return tx.Retire(name(t, "note/b"), store.Expect{}) })
	view(t, s, func(tx *store.Tx) {
		list := func(seq func(func(store.NamedRef, error) bool)) (names []string) {
			for _, n := range collect(t, seq) {
				names = append(names, n.Name.String())
			}
			return names
		}
		if diff := cmp.Diff([]string{"note/a", "note/a/b", "result/c/1", "lib:note/a"}, list(tx.Names(record.Name{}))); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"result/c/1", "lib:note/a"}, list(tx.Names(name(t, "note/b")))); diff != "" {
			t.Errorf("names from note/b (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(all[:2], list(tx.NamesAt(record.Name{}, 2))); diff != "" {
			t.Errorf("names at position 2 (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(all, list(tx.NamesAt(record.Name{}, 5))); diff != "" {
			t.Errorf("names before the retire (-want +got):\n%s", diff)
		}
	})
}

func TestAsOf(t *testing.T) {
	t.Parallel()
	s, c := testStore(t)
	start := c.Now()
	var at []time.Time
	for i := range 5 {
		outcomes, err := s.Put(t.Context(), draft(t, s, "note/x", fmt.Sprint(i)), draft(t, s, "note/y", fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, outcomes[0].Record.Time)
	}
	view(t, s, func(tx *store.Tx) {
		for _, test := range []struct {
			time time.Time
			want uint64
		}{{start, 0}, {at[0], 2}, {at[0].Add(time.Millisecond), 2}, {at[2], 6}, {at[4], 10}, {at[4].Add(time.Hour), 10}} {
			if got, err := tx.AsOf(test.time); err != nil || got != test.want {
				t.Errorf("AsOf(%v) = %d, %v; want %d", test.time, got, err, test.want)
			}
		}
		if v, err := tx.HeadAt(name(t, "note/x"), 3); err != nil || v.Position != 3 {
			t.Errorf("HeadAt(3) = %d, %v", v.Position, err)
		}
	})
	c.set(start.Add(-time.Hour)) // the clock jumps back
	if v := put(t, s, "note/x", "late"); v.Record.Time.Before(at[4]) {
		t.Errorf("time after the clock jumped back = %v, before %v", v.Record.Time, at[4])
	}
}

func TestLargeBody(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	for _, text := range []string{randomText(store.InlineLimit), randomText(store.InlineLimit + 1), strings.Repeat("line\n", 1<<20)} {
		body, err := s.PrepareReader(t.Context(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		of := fmt.Sprintf("note/%d", len(text))
		outcomes, err := s.Put(t.Context(), store.Draft{Body: body, Record: record.Record{Name: name(t, of), Source: record.SourcePut}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, s, of); err != nil || got != text {
			t.Errorf("%d bytes came back as %d, %v", len(text), len(got), err)
		}
		if len(text) > store.InlineLimit {
			update(t, s, func(tx *store.Tx) error { return tx.Drop(outcomes[0].Ref) })
		}
	}
	for _, dir := range []string{"tmp", "bodies"} {
		err := filepath.WalkDir(filepath.Join(s.Dir(), dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%s was left behind", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestLargeBodyDamaged(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, err := store.Create(t.Context(), t.TempDir(), store.Options{Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	text := randomText(store.InlineLimit + 100)
	put(t, s, "note/large", text)
	files, err := filepath.Glob(filepath.Join(s.Dir(), "bodies", "*", "*.zst"))
	if err != nil || len(files) != 1 {
		t.Fatalf("body files = %v, %v", files, err)
	}
	flip(t, files[0], 5000)
	if _, err := read(t, s, "note/large"); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("reading a damaged body file: %v", err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, s, "note/large"); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("reading a missing body file: %v", err)
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil || !errors.Is(report.Err(), store.ErrDamaged) {
		t.Errorf("Check = %v, %v; want damaged", report.Err(), err)
	}
}

func TestPrepareCancelled(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.PrepareReader(ctx, bytes.NewReader(make([]byte, 3<<20))); !errors.Is(err, context.Canceled) {
		t.Errorf("PrepareReader = %v, want canceled", err)
	}
	if left, _ := os.ReadDir(filepath.Join(s.Dir(), "tmp")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	want := record.Description{Version: 1, Title: "Title", Preview: strings.Repeat("words ", 80), Words: 80, Tokens: 120,
		Attributes: map[string]string{record.AttributeType: "pattern"}}
	v := put(t, s, "note/a", "text", func(d *store.Draft) { d.Description = want })
	view(t, s, func(tx *store.Tx) {
		if diff := cmp.Diff(want, tx.Description(v.Ref)); diff != "" {
			t.Errorf("description (-want +got):\n%s", diff)
		}
	})
}

func TestBadDrafts(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	for label, edit := range map[string]func(*record.Record){
		"no source":   func(r *record.Record) { r.Source = "" },
		"bad kind":    func(r *record.Record) { r.Name.Kind = "thing" },
		"dotdot":      func(r *record.Record) { r.Name.ID = "a/../b" },
		"bad path":    func(r *record.Record) { r.Path = "/etc/passwd" },
		"newline":     func(r *record.Record) { r.Agent = "a\nb" },
		"loose tags":  func(r *record.Record) { r.Tags = []string{"b", "a"} },
		"NUL in link": func(r *record.Record) { r.Links = []record.Link{{Type: "x", Target: "a\x00b"}} },
	} {
		d := draft(t, s, "note/a", "text", func(d *store.Draft) { edit(&d.Record) })
		if _, err := s.Put(t.Context(), d); err == nil {
			t.Errorf("%s: the put was accepted", label)
		}
	}
}
