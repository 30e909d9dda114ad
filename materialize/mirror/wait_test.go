package mirror

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/store/record"
	"filebus/store/turnstile"
)

// TestWaiterOpen looks at what is missing, and no more at what is there; that others keep a lock ends no wait.
func TestWaiterOpen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		any  bool
		want [2]int // looks at each of two things
		left int    // times that something was missing after looks
	}{{"all", false, [2]int{1, 3}, 2}, {"any", true, [2]int{1, 1}, 0}} {
		var looks [2]int
		left := 0
		w := Waiter{Any: test.any, Around: func(context.Context) { left++ }}
		late, err := w.Await(t.Context(), nil, func(context.Context) (string, time.Duration, error) {
			looks[0]++
			return "", 0, nil
		}, func(context.Context) (string, time.Duration, error) {
			if looks[1]++; looks[1] == 2 {
				return "", 0, turnstile.ErrBusy
			}
			missing := []string{"", "two more looks", "one more look", ""}[looks[1]]
			return missing, time.Millisecond, nil
		})
		if late || err != nil || looks != test.want || left != test.left {
			t.Errorf("%s: late %t, %v after %v looks with %d left; want %v with %d", test.name, late, err, looks, left, test.want, test.left)
		}
	}
}

// TestWaiterSeen tells how long a file has been as it is.
func TestWaiterSeen(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := Waiter{Now: func() time.Time { return now }}
	file := filepath.Join(t.TempDir(), "x")
	see := func(text string, changed time.Time, wantNew bool, wantAge time.Duration) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o666), os.Chtimes(file, changed, changed)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if isNew, age := w.Seen(file, info); isNew != wantNew || age.Round(time.Second) != wantAge {
			t.Errorf("%q of %v: new %t, %v old, want %t, %v", text, changed, isNew, age, wantNew, wantAge)
		}
	}
	if isNew, _ := w.Seen(file, nil); isNew {
		t.Error("a file that is not there is new")
	}
	begun := now
	see("a", begun, true, 0)
	now = now.Add(time.Minute)
	see("a", begun, false, time.Minute)
	see("ab", begun, true, time.Minute)
	see("ab", now.Add(time.Hour), true, 0) // from the future
	now = now.Add(time.Minute)
	see("ab", now.Add(59*time.Minute), false, time.Minute)
	if isNew, _ := w.Seen(file, nil); !isNew {
		t.Error("a file that is gone is as it was")
	}
}

func TestWaiterSays(t *testing.T) {
	t.Parallel()
	var said []string
	w := Waiter{Limit: time.Minute, Say: func(line string) { said = append(said, line) }}
	for _, file := range []string{"x", "y", "x"} {
		w.Tell(file, "%s is old", file)
	}
	if want := []string{"x is old", "y is old"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
	var all []Missing
	for name := range strings.SplitSeq("abcdefg", "") {
		all = append(all, Missing{name, "not started"})
	}
	err := w.Late("no marker", all...)
	const want = "no marker after 1m0s: a (not started), b (not started), c (not started), d (not started), e (not started), and 2 more"
	detail, _ := record.Detail[[]Missing](err)
	if err.Error() != want || !errors.Is(err, ErrLate) || !errors.Is(err, record.Timeout) || len(err.Names) != 7 || len(detail) != 7 {
		t.Errorf("late: %v of %q with %v, want %s", err, err.Names, detail, want)
	}
	if err := w.Late("no new issue"); err.Error() != "no new issue after 1m0s" {
		t.Errorf("late with nothing to name: %v", err)
	}
}
