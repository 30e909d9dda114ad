package query_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// putMany stores n notes in few transactions.
func (b *bench) putMany(prefix string, n int, text func(i int) string) {
	b.Helper()
	for i := 0; i < n; {
		var drafts []store.Draft
		for ; i < n && len(drafts) < 512; i++ {
			drafts = append(drafts, b.draft(fmt.Sprintf("note/%s%04d", prefix, i), text(i)))
		}
		if _, err := b.store.Put(b.Context(), drafts...); err != nil {
			b.Fatal(err)
		}
	}
}

func birds(i int) string {
	return strings.Repeat(fmt.Sprintf("%s and the %s. ", vocabulary[i%len(vocabulary)], vocabulary[i*i%len(vocabulary)]), 1+i%7)
}

// TestFarBehind catches up with more than a slice's worth of entries, and wants
// the scores that catching up in small steps gives.
func TestFarBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	b := newBench(t)
	request := query.SearchRequest{Request: index.Request{Query: "heron ibis", Limit: 50}}
	for part := range 5 {
		b.putMany(fmt.Sprint(part, "-"), 500, birds)
		b.search(request)
	}
	small := ranked(b.search(request))
	b.deleteIndexFolder()
	var steps []uint64
	r := b.reader(query.Options{Progress: func(done, total uint64) {
		steps = append(steps, done)
		if total != 2500 {
			t.Errorf("progress of %d entries; want 2500", total)
		}
	}})
	if err := r.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(steps) || len(steps) == 0 || steps[len(steps)-1] != 2500 {
		t.Errorf("progress went %v; want it to rise to 2500", steps)
	}
	if diff := cmp.Diff(ranked(b.search(request)), small); diff != "" {
		t.Errorf("in large steps against small ones (-large +small):\n%s", diff)
	}
}

// TestCatchUpInterrupted ends catching up at every point where it looks at its
// context, and wants the next search to make up for it.
func TestCatchUpInterrupted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	request := query.SearchRequest{Request: index.Request{Query: "heron ibis", Limit: 50}}
	for round := range 8 {
		b.putMany(fmt.Sprint(round, "-"), 60, birds)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(round)*time.Millisecond)
		if err := b.CatchUp(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("round %d: %v; want nothing but the context's error", round, err)
		}
		cancel()
		if answer := b.search(query.SearchRequest{Request: index.Request{Limit: 1}}); answer.Total != uint64(60*(round+1)) || answer.Unindexed > 0 {
			t.Errorf("round %d: %d records found, %d unindexed; want %d", round, answer.Total, answer.Unindexed, 60*(round+1))
		}
	}
	grown := ranked(b.search(request))
	b.deleteIndexFolder()
	if diff := cmp.Diff(ranked(b.search(request)), grown); diff != "" {
		t.Errorf("new index against the interrupted one (-new +old):\n%s", diff)
	}
}

// TestSweepLeavesOthers drops an indexed record among many, and one that was
// never indexed.
func TestSweepLeavesOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.putMany("", 50, birds)
	v := b.put("note/victim", "wryneck")
	b.put("lib:note/victim", "wryneck")
	b.put("state/quiet", "wryneck")
	if got := found(b.search(query.SearchRequest{Request: index.Request{Query: "wryneck"}})); len(got) != 2 {
		t.Fatalf("before: %v", got)
	}
	b.drop(v.Ref)
	b.drop(b.put("note/never", "wryneck").Ref)
	if got, want := found(b.search(query.SearchRequest{Request: index.Request{Query: "wryneck"}})), []string{"lib:note/victim"}; !slices.Equal(got, want) {
		t.Errorf("after: %v; want %v", got, want)
	}
	if answer := b.search(query.SearchRequest{}); answer.Total != 51 {
		t.Errorf("%d records left; want 51", answer.Total)
	}
	if got := found(b.search(query.SearchRequest{Request: index.Request{Query: "wryneck", Filter: record.Filter{Kinds: []record.Kind{record.KindState}}}})); !slices.Equal(got, []string{"state/quiet"}) {
		t.Errorf("quiet record: %v", got)
	}
}

// TestDamagedBody finds the other records, and the damaged one by what was
// stored beside its body.
func TestDamagedBody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/large", "# Waders\n\n"+strings.Repeat("a whimbrel calls\n", 100_000))
	b.put("note/small", "a whimbrel")
	paths, err := filepath.Glob(filepath.Join(b.store.Dir(), "bodies", "*", "*.zst"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("body files %v, %v", paths, err)
	}
	good, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func() error{
		func() error { return os.WriteFile(paths[0], []byte("junk"), 0o666) },
		func() error { return os.Remove(paths[0]) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		for _, wait := range []time.Duration{1, 0} {
			b.deleteIndexFolder()
			answer, err := b.reader(query.Options{MaxWait: wait}).Search(t.Context(), query.SearchRequest{Request: index.Request{Query: "waders whimbrel"}})
			if err != nil {
				t.Fatal(err)
			}
			if len(answer.Hits) != 2 {
				t.Errorf("wait %d: found %v; want both", wait, found(answer))
			}
			for _, h := range answer.Hits {
				if isLarge := h.Name.ID == "large"; h.Damaged != isLarge || isLarge && h.Title != "Waders" {
					t.Errorf("wait %d: %s damaged: %v", wait, h.Name, h.Damaged)
				}
			}
		}
	}
	if err := os.WriteFile(paths[0], good, 0o666); err != nil {
		t.Fatal(err)
	}
}
