package mirror

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAwaitScans waits for what gives no events: the scan behind them finds it.
func TestAwaitScans(t *testing.T) {
	t.Parallel()
	looks, start := 0, time.Now()
	over, err := await(t.Context(), 0, func(context.Context) (bool, time.Duration, error) {
		looks++
		return looks == 2, 0, nil
	}, []string{t.TempDir()})
	if took := time.Since(start); !over || err != nil || took < scanWithoutAny {
		t.Errorf("over %t, %v after %v", over, err, took)
	}
}

// TestWatch waits for files that appear in a folder, one after the other.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wake := Watched{dir: true}.Events(t.Context())
	if wake == nil {
		t.Skip("this system gives no file events")
	}
	for _, name := range []string{"task-001.done", "task-002.done"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("done\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		select {
		case <-wake:
		case <-time.After(time.Minute):
			t.Fatalf("nothing woke for %s", name)
		}
	}
}
