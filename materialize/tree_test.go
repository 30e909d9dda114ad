package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/store"
)

// refresh refreshes a tree and says what it has found: files in all, changed, new, gone.
func refresh(t testing.TB, w *materialize.Workspace, tree string) [4]int {
	t.Helper()
	of, err := w.FindTree(t.Context(), recordTree(tree))
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Refresh(t.Context(), of, materialize.CaptureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return [4]int{r.Files, r.Changed - r.Added, r.Added, len(r.Removed)}
}

func TestRefreshBySizeAndTime(t *testing.T) {
	t.Parallel()
	w, dir := newWorkspace(t), t.TempDir()
	at := time.Now().Add(-time.Hour)
	put := func(text string, at time.Time) {
		writeTree(t, dir, map[string]string{"Ä b.txt": text})
		if err := os.Chtimes(filepath.Join(dir, "Ä b.txt"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	put("one", at)
	capture(t, w, dir, "x")
	for _, step := range []struct {
		about string
		text  string
		at    time.Time
		want  [4]int
	}{
		{"the same", "one", at, [4]int{1, 0, 0, 0}},
		{"another time, the same bytes", "one", at.Add(time.Nanosecond), [4]int{1, 0, 0, 0}},
		{"another size", "three", at.Add(time.Nanosecond), [4]int{1, 1, 0, 0}},
		{"an earlier time, as by a clock set back", "eerht", at.Add(-time.Hour), [4]int{1, 1, 0, 0}},
		{"a file of the future", "fives", time.Now().Add(24 * time.Hour), [4]int{1, 1, 0, 0}},
	} {
		put(step.text, step.at)
		if got := refresh(t, w, "x"); got != step.want {
			t.Errorf("%s: a refresh finds %v, want %v", step.about, got, step.want)
		}
		wantTree(t, w, "x", map[string]string{"Ä b.txt": step.text})
	}
	put("seven", time.Now().Add(24*time.Hour))
	if got := refresh(t, w, "x"); got != [4]int{1, 1, 0, 0} {
		t.Errorf("a file of the future that stays so: %v", got)
	}
	put("eight", at)
	refresh(t, w, "x")
	put("NINE!", at) // neither size nor time tell: a capture reads all
	refresh(t, w, "x")
	wantTree(t, w, "x", map[string]string{"Ä b.txt": "eight"})
	capture(t, w, dir, "x")
	wantTree(t, w, "x", map[string]string{"Ä b.txt": "NINE!"})
	put("seven", at) // somebody has seen it
	names, err := w.NamesOf(t.Context(), "x", false)
	if err != nil {
		t.Fatal(err)
	}
	if how, err := w.Stale(t.Context(), "x", names, time.Now().Add(time.Hour)); how == "" || err != nil {
		t.Errorf("what has changed is not stale: %v", err)
	}
	refresh(t, w, "x")
	wantTree(t, w, "x", map[string]string{"Ä b.txt": "seven"})
	put("NINE!", at)
	capture(t, w, dir, "x")

	seen := filepath.Join(w.Location.Store, "seen") // which is a cache
	for _, broken := range []func() error{
		func() error { return os.RemoveAll(seen) },
		func() error { return errors.Join(os.RemoveAll(seen), os.WriteFile(seen, nil, 0o600)) },
	} {
		if err := broken(); err != nil {
			t.Fatal(err)
		}
		put("NINE!", at)
		if got := refresh(t, w, "x"); got != [4]int{1, 0, 0, 0} {
			t.Errorf("without what was seen: %v", got)
		}
	}
}

// Refreshes and captures beside each other lose nothing, and leave the tree as the folder.
func TestRefreshAtOnce(t *testing.T) {
	t.Parallel()
	w, dir := newWorkspace(t), t.TempDir()
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("f%d", i)] = "first"
	}
	writeTree(t, dir, files)
	capture(t, w, dir, "x")
	for round := range 3 {
		more := map[string]string{}
		for i := range 20 {
			more[fmt.Sprintf("f%d", round+i)] = fmt.Sprint("round ", round, i)
			more[fmt.Sprintf("n%d-%d", round, i)] = "new"
		}
		maps.Copy(files, more)
		var all sync.WaitGroup
		all.Go(func() { writeTree(t, dir, more) })
		for range 3 {
			all.Go(func() { refresh(t, w, "x") })
		}
		all.Go(func() { capture(t, w, dir, "x") })
		all.Wait()
		refresh(t, w, "x")
		wantTree(t, w, "x", files)
	}
}

// A rename that was cut short at any point is finished by the same call.
func TestRenameCutShort(t *testing.T) {
	t.Parallel()
	w, dir := newWorkspace(t), t.TempDir()
	files := sampleTree()
	for i := range 600 {
		files[fmt.Sprintf("many/%d.txt", i)] = fmt.Sprint("text ", i)
	}
	writeTree(t, dir, files)
	capture(t, w, dir, "old")
	for _, puts := range []int{1, 300, 610} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		w, err := materialize.Open(w.Location, w.Settings, store.Options{Now: func() time.Time {
			if calls++; calls == puts {
				cancel()
			}
			return time.Now().Add(2 * time.Hour)
		}})
		if err == nil {
			_, err = w.RenameTree(ctx, "old", "new")
		}
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, materialize.ErrNameTaken) {
			t.Fatal(err)
		}
		cancel()
	}
	if _, err := w.RenameTree(t.Context(), "old", "new"); err != nil && !errors.Is(err, materialize.ErrNameTaken) {
		t.Fatal(err)
	}
	wantTree(t, w, "new", files)
	all, err := w.Trees(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "new" || all[0].Check() != nil {
		t.Errorf("the trees after the rename: %v, %v", all, err)
	}
	if got := refresh(t, w, "new"); got != [4]int{len(files), 0, 0, 0} {
		t.Errorf("a refresh after the rename finds %v", got)
	}
	var errs [2]error // of two renames at once, one of which wins
	var both sync.WaitGroup
	for i, to := range []string{"b", "c"} {
		both.Go(func() { _, errs[i] = w.RenameTree(t.Context(), "new", recordTree(to)) })
	}
	both.Wait()
	all, err = w.Trees(t.Context())
	if (errs[0] == nil) == (errs[1] == nil) || err != nil || len(all) != 1 {
		t.Fatalf("two renames at once: %v, and the trees %v, %v", errs, all, err)
	}
	if _, err := w.RenameTree(t.Context(), all[0].Name, "new"); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveTree(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, readTree(t, dir)); diff != "" {
		t.Errorf("the folder (-want +got):\n%s", diff)
	}
	if names, err := w.NamesOf(t.Context(), "new", false); err != nil || len(names) > 0 {
		t.Errorf("after its removal the tree has %v, %v", names, err)
	}
}
