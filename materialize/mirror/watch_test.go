package mirror

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestWatchWakes has only one of a watch's two means at a time: file events, which
// need a system that gives them, and the scan behind them.
func TestWatchWakes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		interval time.Duration
		write    bool
	}{{"events", time.Hour, true}, {"scan", time.Millisecond, false}} {
		t.Run(test.name, func(t *testing.T) {
			events, err := fsnotify.NewWatcher()
			if err != nil {
				t.Skipf("this system gives no file events: %v", err)
			}
			if err := events.Close(); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			wake := watch(t.Context(), test.interval, []string{dir})
			if test.write {
				if err := os.WriteFile(filepath.Join(dir, "task-001.done"), nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-wake:
			case <-time.After(time.Minute):
				t.Fatal("nothing woke")
			}
		})
	}
}

// TestWatch waits for files that appear in a folder, one after the other.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wake := watch(ctx, scanInterval, []string{dir})
	for _, name := range []string{"task-001.done", "task-002.done"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("done\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		select {
		case _, open := <-wake:
			if !open {
				t.Fatal("the watch has ended")
			}
		case <-time.After(time.Minute):
			t.Fatalf("nothing woke for %s", name)
		}
	}
	cancel()
	for range wake { // it is closed soon
	}
}
