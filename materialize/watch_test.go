package materialize_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"filebus/materialize/mirror"
)

func TestAwaitNoFolder(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	if err := os.WriteFile(filepath.Join(w.Root, ".claude"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	look := func(context.Context) (string, time.Duration, error) { return "", 0, nil }
	if _, err := w.Await(t.Context(), &mirror.Waiter{}, []string{".claude/agent_complete"}, look); err == nil {
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
		look  func(ctx context.Context, looks int, stop func()) (string, time.Duration, error)
		late  bool
		err   error
		looks int // at least
	}{
		{"at once", 0, func(context.Context, int, func()) (string, time.Duration, error) { return "", 0, nil }, false, nil, 1},
		{"at the third look", 0, func(_ context.Context, looks int, _ func()) (string, time.Duration, error) {
			if looks == 3 {
				return "", 0, nil
			}
			return "more looks", time.Millisecond, nil
		}, false, nil, 3},
		{"the limit", time.Millisecond, func(context.Context, int, func()) (string, time.Duration, error) {
			return "all", 0, nil
		}, true, nil, 2},
		{"a writer at the limit", time.Millisecond, func(_ context.Context, looks int, _ func()) (string, time.Duration, error) {
			if looks < 4 {
				return mirror.Writing, 0, nil
			}
			return "", 0, nil
		}, false, nil, 4},
		{"a look that fails", 0, func(context.Context, int, func()) (string, time.Duration, error) {
			return "all", 0, broken
		}, false, broken, 1},
		{"the context", time.Hour, func(_ context.Context, _ int, stop func()) (string, time.Duration, error) {
			stop()
			return "all", 0, nil
		}, false, context.Canceled, 1},
	}
	w := newWorkspace(t)
	for _, test := range tests {
		ctx, stop := context.WithCancel(t.Context())
		looks := 0
		look := func(ctx context.Context) (string, time.Duration, error) {
			looks++
			return test.look(ctx, looks, stop)
		}
		late, err := w.Await(ctx, &mirror.Waiter{Limit: test.limit}, []string{".claude/agent_complete"}, look)
		stop()
		if late != test.late || !errors.Is(err, test.err) || looks < test.looks {
			t.Errorf("%s: late %t, %v after %d looks; want %t, %v after %d", test.name, late, err, looks, test.late, test.err, test.looks)
		}
	}
}
