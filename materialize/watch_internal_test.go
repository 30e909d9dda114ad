package materialize

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestWatchWakes has only one of a watch's two means at a time: file events, which
// need a system that gives them, and the scan behind them.
func TestWatchWakes(t *testing.T) {
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
			w := &Workspace{Location: Location{Root: dir}}
			wake, err := w.watch(t.Context(), test.interval, []string{"markers"})
			if err != nil {
				t.Fatal(err)
			}
			if test.write {
				if err := os.WriteFile(filepath.Join(dir, "markers", "task-001.done"), nil, 0o666); err != nil {
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
