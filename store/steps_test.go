package store_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filebus/store"
	"filebus/store/record"
)

// A wandering is a store whose clock is set as a test wants.
type wandering struct {
	*testing.T
	*store.Store
	now  time.Time
	told []time.Time
}

func newWandering(t *testing.T) *wandering {
	w := &wandering{T: t, now: day(1)}
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{
		Now: func() time.Time { return w.now }, SteppedBack: func(from time.Time) { w.told = append(w.told, from) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Store = s
	return w
}

func day(n int) time.Time { return time.Date(2026, 3, n, 10, 0, 0, 0, time.UTC) }

// putAt puts some records in one transaction.
func (w *wandering) putAt(at time.Time, ids ...string) []store.Outcome {
	w.Helper()
	w.now = at
	var drafts []store.Draft
	for _, id := range ids {
		body, err := w.Prepare(w.Context(), []byte(id+at.String()))
		if err != nil {
			w.Fatal(err)
		}
		name := record.Name{Kind: record.KindNote, ID: id}
		drafts = append(drafts, store.Draft{Body: body, Record: record.Record{Name: name, Source: record.SourcePut}})
	}
	out, err := w.Put(w.Context(), drafts...)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// view returns what fn says of the store.
func (w *wandering) view(fn func(tx *store.Tx) string) (text string) {
	w.Helper()
	if err := w.View(w.Context(), func(tx *store.Tx) error { text = fn(tx); return nil }); err != nil {
		w.Fatal(err)
	}
	return text
}

func (w *wandering) timeOf(o store.Outcome) string {
	w.Helper()
	return w.view(func(tx *store.Tx) string {
		v, err := tx.Get(o.Version.Ref)
		if err != nil {
			return err.Error()
		}
		return record.FormatTime(v.Record.Time)
	})
}

func (w *wandering) wantSound(remarks int) {
	w.Helper()
	report, err := w.Check(w.Context(), nil)
	if err != nil || len(report.Faults) > 0 || len(report.Remarks) != remarks {
		w.Errorf("Check: %q, %q, %v; want no fault and %d remarks", report.Faults, report.Remarks, err, remarks)
	}
}

// A clock that was far ahead freezes nothing: the next entry has the right time, and
// what lies ahead counts as of then.
func TestStepBack(t *testing.T) {
	t.Parallel()
	w := newWandering(t)
	far := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	w.putAt(day(1), "a")                  // 1
	wrong := w.putAt(far, "b", "c")[0]    // 2, 3
	w.putAt(far.Add(time.Hour), "d")      // 4
	right := w.putAt(day(2), "e", "f")[0] // 5, 6
	w.putAt(day(2), "g")                  // 7, a nanosecond later
	w.putAt(day(3), "h")                  // 8
	for _, c := range []struct {
		at   time.Time
		want uint64
	}{
		{day(1).Add(-1), 0}, {day(1), 1}, {day(2).Add(-1), 1}, {day(2), 6}, {day(2).Add(1), 7}, {day(3).Add(-1), 7}, {far, 8},
	} {
		got := w.view(func(tx *store.Tx) string { n, err := tx.AsOf(c.at); return fmt.Sprint(n, err) })
		if want := fmt.Sprint(c.want, nil); got != want {
			t.Errorf("AsOf(%v) = %s, want %s", c.at, got, want)
		}
	}
	if got, want := w.timeOf(right), record.FormatTime(day(2)); got != want {
		t.Errorf("the record after the step back is of %s, want %s", got, want)
	}
	if got, want := w.timeOf(wrong), record.FormatTime(day(2)); got != want {
		t.Errorf("the record ahead counts as of %s, want %s", got, want)
	}
	got := w.view(func(tx *store.Tx) string {
		position, behind, err := tx.SteppedBack()
		first, last, aroundErr := tx.Around(3)
		return fmt.Sprint(position, behind, err, first, last, aroundErr)
	})
	if want := fmt.Sprint(uint64(5), uint64(1), nil, uint64(2), uint64(3), nil); got != want {
		t.Errorf("SteppedBack, Around(3): %s, want %s", got, want)
	}
	if len(w.told) != 1 || !w.told[0].Equal(far.Add(time.Hour)) {
		t.Errorf("told of %v, want once, of the last entry", w.told)
	}
	w.wantSound(1)
	w.now = far.Add(24 * time.Hour) // what the clock has come up with was not wrong
	if got, want := w.timeOf(wrong), record.FormatTime(far); got != want {
		t.Errorf("in %v the record is of %s, want %s", w.now, got, want)
	}
	w.wantSound(1)
}

// Steps may follow each other, and then each counts as of the earliest behind it.
func TestStepsBack(t *testing.T) {
	t.Parallel()
	w := newWandering(t)
	first := w.putAt(day(20), "a")[0]
	second := w.putAt(day(10), "b")[0]
	w.putAt(day(12), "c")
	w.putAt(day(5), "d")
	for _, o := range []store.Outcome{first, second} {
		if got, want := w.timeOf(o), record.FormatTime(day(5)); got != want {
			t.Errorf("%s counts as of %s, want %s", o.Version.Record.Name, got, want)
		}
	}
	w.wantSound(2)
	if len(w.told) != 2 {
		t.Errorf("told of %v, want twice", w.told)
	}
}

// A clock that is a little behind, or has lost the time, makes no step.
func TestNoStepBack(t *testing.T) {
	t.Parallel()
	w := newWandering(t)
	w.putAt(day(2), "a")
	for i, at := range []time.Time{day(2), day(2).Add(-time.Second), day(2).Add(-time.Hour), time.Unix(5, 0), day(2)} {
		o := w.putAt(at, fmt.Sprint(i))[0]
		w.now = day(2)
		if got, want := w.timeOf(o), record.FormatTime(day(2).Add(time.Duration(i+1))); got != want {
			t.Errorf("put at %v: %s, want %s", at, got, want)
		}
	}
	if len(w.told) > 0 {
		t.Errorf("told of %v", w.told)
	}
	w.wantSound(0)
	if got := w.view(func(tx *store.Tx) string { return fmt.Sprint(tx.SteppedBack()) }); got != strings.Join([]string{"0", "0", "<nil>"}, " ") {
		t.Errorf("SteppedBack: %s", got)
	}
}
