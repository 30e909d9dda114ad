package query_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// childEnv makes the test program a writer and searcher in place of running
// tests.
const childEnv = "FILEBUS_TEST_QUERY_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		if err := child(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	os.Exit(m.Run())
}

// child puts records, and after each searches for it.
func child(job string) error {
	var dir, id string
	var puts int
	if _, err := fmt.Sscan(job, &puts, &id, &dir); err != nil {
		return err
	}
	c := &clock{now: benchStart()} // as all who write to the store
	s, err := store.Open(dir, store.Options{Now: c.Now, Command: "child " + id, Wait: time.Minute})
	if err != nil {
		return err
	}
	r := query.New(s, query.Options{Now: c.Now, Wait: time.Minute, Command: "child " + id})
	return putAndSearch(context.Background(), s, r, id, puts)
}

// putAndSearch fails unless every search finds what was put before it.
func putAndSearch(ctx context.Context, s *store.Store, r *query.Reader, id string, puts int) error {
	for i := range puts {
		body, err := s.Prepare(ctx, fmt.Appendf(nil, "# %s %d\n\nthe sandpiper of %s, number %d\n", id, i, id, i))
		if err != nil {
			return err
		}
		of, err := record.NewName("", record.KindNote, fmt.Sprintf("%s/%d", id, i))
		if err != nil {
			return err
		}
		draft := store.Draft{Body: body, Record: record.Record{Name: of, Agent: id, Source: record.SourcePut}}
		if _, err := s.Put(ctx, draft); err != nil {
			return err
		}
		answer, err := r.Search(ctx, query.SearchRequest{Request: index.Request{Query: "sandpiper", Filter: record.Filter{Agents: []string{id}}, Limit: puts}})
		if err != nil {
			return err
		}
		if answer.Total != uint64(i+1) || len(answer.Hits) != i+1 || answer.Unindexed > 0 {
			return fmt.Errorf("%s: search after put %d found %d of %d hits, %d unindexed", id, i, len(answer.Hits), answer.Total, answer.Unindexed)
		}
	}
	return nil
}

func TestConcurrentSearchers(t *testing.T) {
	t.Parallel()
	const processes, goroutines, puts = 4, 4, 8
	b := newBench(t)
	var wg sync.WaitGroup
	for i := range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d p%d %s", childEnv, puts, i, b.store.Dir()))
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v: %s", i, err, out)
			}
		})
	}
	for i := range goroutines {
		wg.Go(func() {
			if err := putAndSearch(t.Context(), b.store, b.Reader, fmt.Sprintf("g%d", i), puts); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	request := query.SearchRequest{Request: index.Request{Query: "sandpiper number", Limit: 1000}}
	before := b.search(request)
	if want := (processes + goroutines) * puts; len(before.Hits) != want {
		t.Errorf("%d hits after all; want %d", len(before.Hits), want)
	}
	b.deleteIndexFolder()
	if diff := cmp.Diff(ranked(b.search(request)), ranked(before)); diff != "" {
		t.Errorf("new index against the one that grew (-new +old):\n%s", diff)
	}
}

// TestReadOnlyStore searches where the index cannot be made.
func TestReadOnlyStore(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("the superuser can write everywhere")
	}
	b := newBench(t)
	b.put("note/a", "turnstone")
	folder := filepath.Join(b.store.Dir(), "index")
	if err := os.Chmod(b.store.Dir(), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(b.store.Dir(), 0o755) })
	answer := b.search(query.SearchRequest{Request: index.Request{Query: "turnstone"}})
	if len(answer.Hits) != 1 || answer.Unindexed != 1 {
		t.Errorf("without %s: %+v; want one scanned hit", folder, answer)
	}
}
