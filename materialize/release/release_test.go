package release_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/release"
	"filebus/store"
	"filebus/store/record"
)

// A bench is a store whose time goes on by an hour with each put.
type bench struct {
	testing.TB
	store *store.Store
	now   time.Time
}

// newBench returns a new store, whose Check must find nothing when the test ends.
func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{TB: t, now: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)}
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{
		Now: func() time.Time { return b.now }, Random: rand.NewChaCha8([32]byte{1}), Wait: time.Minute, Command: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	b.store = s
	t.Cleanup(func() {
		report, err := s.Check(context.Background(), nil)
		if err != nil || len(report.Faults) > 0 {
			t.Errorf("Check: %v, %v", report, err)
		}
	})
	return b
}

func (b *bench) name(text string) record.Name {
	b.Helper()
	name, err := record.ParseName(text)
	if err != nil {
		b.Fatal(err)
	}
	return name
}

// put stores a text under a name, an hour after what was stored before. What stands
// before the first "/" of the id is the conversation.
func (b *bench) put(of, text string, edits ...func(*record.Record)) record.Ref {
	b.Helper()
	b.now = b.now.Add(time.Hour)
	body, err := b.store.Prepare(b.Context(), []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	r := record.Record{Name: b.name(of), Source: record.SourcePut}
	r.Conversation, _, _ = strings.Cut(r.Name.ID, "/")
	for _, edit := range edits {
		edit(&r)
	}
	outcome, err := b.store.Put(b.Context(), store.Draft{Record: r, Body: body})
	if err != nil {
		b.Fatalf("Put(%s): %v", of, err)
	}
	return outcome[0].Ref
}

func (b *bench) retire(of string) {
	b.Helper()
	err := b.store.Update(b.Context(), func(tx *store.Tx) error { return tx.Retire(b.name(of), store.Expect{}) })
	if err != nil {
		b.Fatal(err)
	}
}

// from says what a record was made from, linked what it links to.
func from(refs ...record.Ref) func(*record.Record) {
	return func(r *record.Record) { r.From = append(r.From, refs...) }
}

func linked(target string) func(*record.Record) {
	return func(r *record.Record) { r.Links = append(r.Links, record.Link{Type: "see", Target: target}) }
}

// carryOut does what the workspace does with a release, but for the files.
func carryOut(ctx context.Context, s *store.Store, request release.Request, between func()) (*release.Report, error) {
	run, err := release.Choose(ctx, s, request)
	if err != nil || request.DryRun {
		return run.Report(), err
	}
	between()
	for {
		batch, err := run.Next(ctx)
		if err != nil || len(batch) == 0 {
			return run.Report(), errors.Join(err, run.Finish(ctx))
		}
		if err := run.Retire(ctx, run.Left(batch)); err != nil {
			return run.Report(), err
		}
		if err := run.Drop(ctx, run.Left(batch)); err != nil {
			return run.Report(), err
		}
	}
}

// want releases what a retention picks, dry and then really, and compares what was
// said with what is wanted and with what is left in the store.
func (b *bench) want(keep release.Retention, want ...string) {
	b.Helper()
	request := release.Request{Retention: &keep, DryRun: true}
	dry, err := carryOut(b.Context(), b.store, request, nil)
	if err != nil {
		b.Fatal(err)
	}
	request.DryRun = false
	report, err := carryOut(b.Context(), b.store, request, func() {})
	if err != nil {
		b.Fatal(err)
	}
	if diff := cmp.Diff(dry, report); diff != "" {
		b.Errorf("a dry run says another thing than is done (-dry +done):\n%s", diff)
	}
	if diff := cmp.Diff(want, said(report),
		cmp.Transformer("all", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
		b.Errorf("the report (-want +got):\n%s", diff)
	}
	for _, n := range report.Released {
		if b.last(n.Name) == nil {
			b.Errorf("%s was released, and has a version still", n.Name)
		}
	}
	for _, k := range report.Kept {
		if err := b.last(k.Name); err != nil {
			b.Errorf("%s was kept: %v", k.Name, err)
		}
	}
}

// last returns an error if a name has no version.
func (b *bench) last(name record.Name) error {
	return b.store.View(b.Context(), func(tx *store.Tx) error {
		_, _, err := tx.Last(name)
		return err
	})
}

func said(report *release.Report) (lines []string) {
	for _, n := range report.Released {
		lines = append(lines, fmt.Sprintf("drop %s x%d", n.Name, n.Versions))
	}
	for _, k := range report.Kept {
		lines = append(lines, fmt.Sprintf("keep %s: %s", k.Name, k.Because))
	}
	return lines
}

func TestRetention(t *testing.T) {
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	for label, test := range map[string]struct {
		keep release.Retention
		want []string
	}{
		"all of a kind": {release.Retention{}, []string{"drop dialogue/a/1 x2", "drop dialogue/a/2 x1",
			"drop dialogue/a/3 x1", "drop dialogue/b/1 x1"}},
		"of a conversation": {release.Retention{Conversations: []string{"b", "none"}},
			[]string{"drop dialogue/b/1 x1"}},
		"older, by the newest version": {release.Retention{Before: start.Add(150 * time.Minute)},
			[]string{"drop dialogue/a/2 x1"}},
		"hidden": {release.Retention{Removed: true}, []string{"drop dialogue/a/3 x1"}},
		"but the newest of each": {release.Retention{Keep: 1}, []string{
			"drop dialogue/a/2 x1", "drop dialogue/a/3 x1", "keep dialogue/a/1: one of the newest 1", "keep dialogue/b/1: one of the newest 1",
		}},
		"all that is set must be met": {release.Retention{Conversations: []string{"b"}, Before: start}, nil},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.put("dialogue/a/1", "one")             // 11:00
			b.put("dialogue/a/2", "two")             // 12:00
			b.put("dialogue/b/1", "three")           // 13:00
			b.put("dialogue/a/3", "hidden")          // 14:00
			b.put("dialogue/a/1", "one, once again") // 15:00
			b.put("note/a/1", "of another kind")
			b.put("lib:dialogue/a/1", "of another tree")
			b.retire("dialogue/a/3")
			test.keep.Kind = record.KindDialogue
			b.want(test.keep, test.want...)
		})
	}
}

func TestRetentionCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		keep release.Retention
		want string
	}{
		{release.Retention{Kind: record.KindDialogue}, ""},
		{release.Retention{Kind: record.KindDialogue, Keep: -1}, "-1 names cannot be kept"},
		{release.Retention{Kind: record.KindKnowledge}, "records of the kind knowledge share files"},
		{release.Retention{Kind: record.KindFrame}, "records of the kind frame share files"},
	} {
		err := test.keep.Check()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("Check of %+v = %v, want %q", test.keep, err, test.want)
		}
	}
}

// TestReferencesProtect keeps what is referred to, and all that this refers to.
func TestReferencesProtect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.put("dialogue/c/1", "one")
	second := b.put("dialogue/c/2", "two", from(first))
	b.put("dialogue/c/2", "two, without its origin")
	b.put("dialogue/c/3", "three", from(second))
	b.put("note/n", "n", linked("dialogue/c/3"))
	b.put("dialogue/c/4", "four", linked("dialogue/c/5"))
	b.put("dialogue/c/5", "five", linked("dialogue/c/4"))
	b.want(release.Retention{Kind: record.KindDialogue},
		"drop dialogue/c/4 x1", "drop dialogue/c/5 x1",
		"keep dialogue/c/1: referred to by dialogue/c/2", "keep dialogue/c/2: referred to by dialogue/c/3", "keep dialogue/c/3: referred to by note/n")
	b.retire("note/n") // what is hidden refers to others still
	b.want(release.Retention{Kind: record.KindDialogue},
		"keep dialogue/c/1: referred to by dialogue/c/2", "keep dialogue/c/2: referred to by dialogue/c/3", "keep dialogue/c/3: referred to by note/n")
	b.want(release.Retention{Kind: record.KindNote}, "drop note/n x1")
	b.want(release.Retention{Kind: record.KindDialogue}, "drop dialogue/c/1 x1", "drop dialogue/c/2 x2",
		"drop dialogue/c/3 x1")
}

// TestNamesTogether releases names that go together or not at all.
func TestNamesTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.put("dialogue/c/1", "one")
	b.put("dialogue/c/2", "two", from(first))
	release1 := func(names ...string) (*release.Report, error) {
		var request release.Request
		for _, n := range names {
			request.Names = append(request.Names, b.name(n))
		}
		return carryOut(t.Context(), b.store, request, func() {})
	}
	report, err := release1("dialogue/c/1")
	if !errors.Is(err, release.ErrStillNeeded) || len(report.Released) > 0 || b.last(b.name("dialogue/c/1")) != nil {
		t.Errorf("what is referred to was released: %v, %v", said(report), err)
	}
	if _, err := release1("dialogue/c/2", "dialogue/c/none"); !errors.Is(err, store.ErrNotFound) ||
		b.last(b.name("dialogue/c/2")) != nil {
		t.Errorf("with a name that there is not: %v", err)
	}
	report, err = release1("dialogue/c/1", "dialogue/c/2")
	if diff := cmp.Diff([]string{"drop dialogue/c/1 x1", "drop dialogue/c/2 x1"}, said(report)); diff != "" ||
		err != nil {
		t.Errorf("both together (-want +got):\n%s\nerror %v", diff, err)
	}
	if want := int64(len("one") + len("two")); report.Bytes != want {
		t.Errorf("%d bytes were freed, want %d", report.Bytes, want)
	}
}

// TestSharedText frees the bytes of a text only with the last record that has it.
func TestSharedText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("dialogue/c/1", "the same")
	b.put("dialogue/c/2", "the same")
	b.put("note/n", "other")
	for i, want := range []int64{0, int64(len("the same"))} {
		request := release.Request{Names: []record.Name{b.name(fmt.Sprintf("dialogue/c/%d", i+1))}}
		report, err := carryOut(t.Context(), b.store, request, func() {})
		if err != nil || report.Bytes != want {
			t.Errorf("release %d freed %d bytes, %v, want %d", i+1, report.Bytes, err, want)
		}
	}
}

// TestMeanwhile changes the store between the choice and the end of a release: what
// has changed stays, and what is needed by now.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("dialogue/c/1", "one")
	second := b.put("dialogue/c/2", "two")
	b.put("dialogue/c/3", "three")
	request := release.Request{Retention: &release.Retention{Kind: record.KindDialogue}}
	report, err := carryOut(t.Context(), b.store, request, func() {
		b.put("dialogue/c/1", "one, changed")
		b.put("note/n", "n", from(second))
	})
	want := []string{"drop dialogue/c/3 x1", "keep dialogue/c/1: it has changed meanwhile",
		"keep dialogue/c/2: referred to by note/n"}
	if diff := cmp.Diff(want, said(report)); diff != "" || err != nil {
		t.Errorf("after a change in between (-want +got):\n%s\nerror %v", diff, err)
	}
}

// TestOpenConflict keeps a name until its conflict is decided.
func TestOpenConflict(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("dialogue/c/1", "one")
	side := b.put("dialogue/c/1", "side", func(r *record.Record) {
		r.Source, r.Links = record.SourceSync, []record.Link{{Type: record.LinkConflict, Target: "x"}}
	})
	all := release.Retention{Kind: record.KindDialogue}
	b.want(all, "keep dialogue/c/1: it has an open conflict")
	if err := b.store.Update(t.Context(), func(tx *store.Tx) error { return tx.Settle(side) }); err != nil {
		t.Fatal(err)
	}
	b.want(all, "drop dialogue/c/1 x2")
}

// TestManyVersions drops a name that has more versions than one transaction takes,
// and says how far it is.
func TestManyVersions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var drafts []store.Draft
	for i := range 600 {
		body, err := b.store.Prepare(t.Context(), fmt.Append(nil, i))
		if err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts,
			store.Draft{Body: body, Record: record.Record{Name: b.name("dialogue/c/1"), Source: record.SourcePut}})
	}
	if _, err := b.store.Put(t.Context(), drafts...); err != nil {
		t.Fatal(err)
	}
	b.put("dialogue/c/2", "two")
	var dropped, scanned [2]int
	report, err := carryOut(t.Context(), b.store, release.Request{
		Retention: &release.Retention{Kind: record.KindDialogue},
		Dropped:   func(done, total int) { dropped = [2]int{done, total} },
		Scanned:   func(done, total int) { scanned = [2]int{done, total} },
	}, func() {})
	if diff := cmp.Diff([]string{"drop dialogue/c/1 x600", "drop dialogue/c/2 x1"}, said(report)); diff != "" ||
		err != nil {
		t.Errorf("the report (-want +got):\n%s\nerror %v", diff, err)
	}
	if dropped != [2]int{2, 2} || scanned != [2]int{601, 601} {
		t.Errorf("told that %v names were dropped and %v entries scanned, want all", dropped, scanned)
	}
}
