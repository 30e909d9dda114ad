package task_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
)

// TestMarkerAgain ends a task with the text that its marker had in an earlier
// round, after another text was seen: that is no older version, and the task can
// be started again.
func TestMarkerAgain(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{
		{"done", "", "done"}, // an agent that writes slowly: it was empty when it was read
		{"done", "failed", "done"},
		{"", "done", ""},
	} {
		d := newDesk(t, profileOf("orchestrator"))
		for i, text := range texts {
			if i != 2 {
				d.start(t, "T1", task.StartRequest{})
			}
			d.clock.add(time.Minute)
			file := d.write(t, ".orchestrator/complete/T1.done", text)
			in := d.clock.Now().Add(time.Duration(i) * time.Second)
			if err := os.Chtimes(file, in, in); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"T1"}, Waiter: mirror.Waiter{Limit: time.Minute}}); err != nil {
				t.Fatalf("%q: %v", texts, err)
			}
		}
		s, err := d.Start(t.Context(), "T1", task.StartRequest{Restart: true})
		if err != nil || s.Cleared != 1 {
			t.Errorf("%q: starting the task again: %+v, %v", texts, s, err)
		}
		noConflicts(t, d)
	}
}

// TestMarkerWhileCleared starts a task while the agent of the one before writes
// its marker again and again: what is said of the old task is no conflict.
func TestMarkerWhileCleared(t *testing.T) {
	t.Parallel()
	d := newDesk(t, profileOf("orchestrator"))
	file := filepath.Join(d.work.Root, ".orchestrator", "complete", "T1.done")
	d.start(t, "T1", task.StartRequest{})
	for range 20 {
		ended := make(chan error, 1)
		go func() {
			for _, text := range []string{"", "do", "done", "", "done, with more"} {
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					ended <- err
					return
				}
				time.Sleep(time.Millisecond)
			}
			ended <- nil
		}()
		_, err := d.Start(t.Context(), "T1", task.StartRequest{Restart: true})
		if writeErr := <-ended; writeErr != nil {
			t.Fatal(writeErr)
		}
		if err != nil {
			t.Logf("while it was written: %v", err) // allowed, if the next start succeeds
		}
		d.start(t, "T1", task.StartRequest{Restart: true})
	}
	noConflicts(t, d)
}

func noConflicts(t testing.TB, d *desk) {
	t.Helper()
	if open, err := d.work.Conflicts(t.Context()); err != nil || len(open) > 0 {
		t.Errorf("conflicts: %+v, %v", open, err)
	}
}

// profileOf returns the predefined profile of a name.
func profileOf(name string) layout.Profile {
	p, err := layout.ParseProfile(name)
	if err != nil {
		panic(err)
	}
	return p
}
