package materialize_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAwaitNoFolder(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	if err := os.WriteFile(filepath.Join(w.Root, ".claude"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	look := func(context.Context) (bool, time.Duration, error) { return true, 0, nil }
	if _, err := w.Await(t.Context(), 0, look, ".claude/agent_complete"); err == nil {
		t.Error("a file stands where the folder should be, and nothing is said")
	}
}

// TestAwait ends waits in each of the ways in which one ends.
func TestAwait(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := []struct {
		name  string
		limit time.Duration
		look  func(ctx context.Context, looks int, stop func()) (bool, time.Duration, error)
		over  bool
		err   error
		looks int // at least
	}{
		{"at once", 0, func(context.Context, int, func()) (bool, time.Duration, error) { return true, 0, nil }, true, nil, 1},
		{"at the third look", 0, func(_ context.Context, looks int, _ func()) (bool, time.Duration, error) {
			return looks == 3, time.Millisecond, nil
		}, true, nil, 3},
		{"the limit", time.Millisecond, func(context.Context, int, func()) (bool, time.Duration, error) { return false, 0, nil }, false, nil, 1},
		{"a look that fails", 0, func(context.Context, int, func()) (bool, time.Duration, error) { return false, 0, broken }, false, broken, 1},
		{"the context", time.Hour, func(_ context.Context, _ int, stop func()) (bool, time.Duration, error) {
			stop()
			return false, 0, nil
		}, false, context.Canceled, 1},
	}
	w := newWorkspace(t)
	for _, test := range tests {
		ctx, stop := context.WithCancel(t.Context())
		looks := 0
		over, err := w.Await(ctx, test.limit, func(ctx context.Context) (bool, time.Duration, error) {
			looks++
			return test.look(ctx, looks, stop)
		}, ".claude/agent_complete")
		stop()
		if over != test.over || !errors.Is(err, test.err) || looks < test.looks {
			t.Errorf("%s: over %t, %v after %d looks; want %t, %v after %d", test.name, over, err, looks, test.over, test.err, test.looks)
		}
	}
}
