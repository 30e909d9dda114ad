package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"filebus/materialize"
	"filebus/materialize/release"
	"filebus/store/record"
)

// TestReleaseInterrupted interrupts a release of more than one batch again and
// again; the store is sound after each, and the last one finishes.
func TestReleaseInterrupted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	w := newWorkspace(t)
	const names = 1300
	fill(t, w, names)
	pick := &release.Retention{Kind: record.KindResult}
	rounds := 0
	for left := names; left > 0; rounds++ {
		ctx, cancel := context.WithCancel(t.Context())
		report, err := w.Release(ctx, release.Request{
			Retention: pick, Dropped: func(int, int) { cancel() },
		})
		cancel()
		if left -= len(report.Released); left > 0 && !errors.Is(err, context.Canceled) {
			t.Fatalf("round %d ended with %v, %d are left", rounds, err, left)
		}
		check, err := w.Store.Check(t.Context(), nil)
		if err = errors.Join(err, check.Err()); err != nil || check.Records != left || len(report.Released) == 0 {
			t.Fatalf("round %d: %d records, want %d; %d released; %v", rounds, check.Records, left, len(report.Released), err)
		}
	}
	if rounds < 3 {
		t.Errorf("%d names went in %d rounds", names, rounds)
	}
	if got := readTree(t, w.Root); len(got) > 0 {
		t.Errorf("%d files are left", len(got))
	}
}

// fill stores results with their files, many in a transaction.
func fill(t testing.TB, w *materialize.Workspace, names int) {
	t.Helper()
	files := map[string]string{}
	for i := range names {
		files[fmt.Sprintf(".claude/agent_tool_results/c%d/k%d.md", i%7, i)] = fmt.Sprintf("Result %d.\n", i)
	}
	writeTree(t, w.Root, files)
	runSync(t, w, materialize.SyncOptions{})
}

// TestReleaseCrash lets a process die at each step of a release: the next sync
// brings no file back and finds no conflict, and the release is finished later.
func TestReleaseCrash(t *testing.T) {
	t.Parallel()
	pick := release.Retention{Kind: record.KindResult}
	t.Run("before the files go", func(t *testing.T) {
		w := newWorkspace(t)
		fill(t, w, 5)
		dieBeforeWriting(t, w, func() {
			for i := range 5 {
				remove(t, w, fmt.Sprintf("result/c%d/k%d", i%7, i))
			}
		})
		report := runSync(t, w, materialize.SyncOptions{})
		if report.Count("deleted") != 5 || len(report.Files) != 5 {
			t.Errorf("sync did %v", actions(report))
		}
		if done := releaseBy(t, w, pick); len(done.Released) != 5 {
			t.Errorf("released %q", said(done))
		}
	})
	t.Run("before the mirror's memory is saved", func(t *testing.T) {
		w := newWorkspace(t)
		fill(t, w, 5)
		memory := filepath.Join(w.Location.Store, "mirror")
		remembered := readTree(t, memory)
		releaseBy(t, w, pick)
		if err := os.RemoveAll(memory); err != nil {
			t.Fatal(err)
		}
		writeTree(t, memory, remembered)
		wantActions(t, runSync(t, w, materialize.SyncOptions{}))
		if got := readTree(t, w.Root); len(got) > 0 {
			t.Errorf("files came back: %v", got)
		}
	})
}
