package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	m.Run()
}

// testClock is far enough ahead of the files that tests write for them to count
// as still.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func newWorkspace(t testing.TB) *materialize.Workspace {
	t.Helper()
	return workspaceIn(t, t.TempDir(), materialize.Settings{Home: t.TempDir()})
}

// workspaceIn returns a workspace whose store must be sound when the test ends.
func workspaceIn(t testing.TB, dir string, settings materialize.Settings) *materialize.Workspace {
	t.Helper()
	c := &testClock{now: time.Now().Add(time.Hour)}
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, settings, store.Options{Now: c.Now, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	return w
}

// writeTree writes files, by their slash-separated paths.
func writeTree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// readTree returns the files below dir, without the store.
func readTree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".filebus" {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(name)
		rel, relErr := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = string(text)
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func capture(t testing.TB, w *materialize.Workspace, dir, tree string) *materialize.CaptureReport {
	t.Helper()
	report, err := w.Capture(t.Context(), dir, materialize.CaptureOptions{Tree: recordTree(tree)})
	if err != nil {
		t.Fatalf("Capture(%s): %v", dir, err)
	}
	return report
}

// wantTree lays a tree out and compares it with files.
func wantTree(t testing.TB, w *materialize.Workspace, tree string, want map[string]string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	pick := materialize.Selection{Filter: record.Filter{Trees: trees(tree)}}
	if _, err := w.LayOut(t.Context(), out, pick, nil); err != nil {
		t.Fatalf("LayOut(%s): %v", tree, err)
	}
	if diff := cmp.Diff(want, readTree(t, out)); diff != "" {
		t.Errorf("the tree %s laid out (-want +got):\n%s", tree, diff)
	}
}

func runSync(t testing.TB, w *materialize.Workspace, opts materialize.SyncOptions) *materialize.SyncReport {
	t.Helper()
	opts.Announced = true
	report, err := w.Sync(t.Context(), w.Root, opts)
	if err != nil {
		t.Fatalf("Sync: %v", err)
	}
	return report
}

// actions returns what a sync did as "action path".
func actions(report *materialize.SyncReport) []string {
	var list []string
	for _, f := range report.Files {
		list = append(list, fmt.Sprintf("%s %s", f.Action, f.Path))
	}
	for _, s := range report.Skipped {
		list = append(list, fmt.Sprintf("skipped %s: %s", s.Path, s.Reason))
	}
	return list
}
