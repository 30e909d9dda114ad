package task_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/task"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// TestWaitMany waits for tasks that end one after the other, by hand and by
// command, in a folder that is missing at first.
func TestWaitMany(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("orchestrator")} {
		t.Run(profile.Name, func(t *testing.T) {
			d := newDesk(t, profile)
			var ids []task.ID
			for i := range 5 {
				ids = append(ids, task.ID(fmt.Sprintf("T%d", i)))
				d.start(t, ids[i], task.StartRequest{})
			}
			next := make(chan task.Ending)
			go func() {
				for i, id := range ids {
					if i%2 == 0 {
						d.write(t, profile.Markers+"/"+string(id)+".done", "done\n")
					} else if _, err := d.Finish(context.Background(), id, layout.Handoff{Summary: string(id)}); err != nil {
						t.Errorf("ending %s: %v", id, err)
					}
					<-next // the next one only then
				}
			}()
			got, err := d.Wait(t.Context(), task.WaitRequest{IDs: ids, Waiter: mirror.Waiter{Limit: 2 * time.Minute}, Ended: func(e task.Ending) { next <- e }})
			if err != nil || len(got) != len(ids) {
				t.Fatalf("waiting: %+v, %v", got, err)
			}
			for i, e := range got {
				if e.ID != ids[i] || e.Status != layout.StatusComplete || e.Seconds != nil || i%2 == 1 &&
					e.Summary != string(ids[i]) {
					t.Errorf("ending %d: %+v", i, e)
				}
			}
		})
	}
}

func TestWaitCanceled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.Wait(ctx, task.WaitRequest{IDs: []task.ID{"T1"}, Waiter: mirror.Waiter{Limit: time.Minute}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("waiting without time: %v, want canceled", err)
	}
}

// TestWaitBusy waits for a task while another process has the store for itself: the
// wait goes on, and says at its end what it waited for.
func TestWaitBusy(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	d.start(t, "T1", task.StartRequest{})
	d.write(t, ".claude/agent_complete/T1.done", "done\n")
	w, err := materialize.Open(d.work.Location, d.work.Settings, store.Options{Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	impatient := task.New(w, query.New(w.Store, query.Options{}), d.clock.Now)
	hold, err := turnstile.New(folder.At(d.work.Location.Store), "a long import").Acquire(t.Context(), turnstile.Exclusive, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := impatient.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"T1"}, Waiter: mirror.Waiter{Limit: 50 * time.Millisecond}})
	waiting, _ := record.Detail[[]mirror.Missing](err)
	if !errors.Is(err, mirror.ErrLate) || len(ended) > 0 || len(waiting) != 1 {
		t.Errorf("waiting beside an import: %+v, %v; want mirror.ErrLate with one task", ended, err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	ended, err = impatient.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"T1"}, Waiter: mirror.Waiter{Limit: time.Minute}})
	if err != nil || len(ended) != 1 {
		t.Errorf("waiting after the import: %+v, %v; want one task", ended, err)
	}
}

// TestWorstCounts gives marker and journal two opinions.
func TestWorstCounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file, marker, outcome string
		want                  string
	}{
		{"T1.done", "done", "completed", layout.StatusComplete},
		{"T1.done", "", "", layout.StatusComplete},
		{"T1.done", "done", "blocked", layout.StatusBlocked},
		{"T1.done", "FAILED: no compiler", "completed", layout.StatusFailed},
		{"T1.done", "started", "partial", layout.StatusPartial},
		{"T1.failed", "", "completed", layout.StatusFailed},
		{"T1.failed", "", "blocked", layout.StatusBlocked},
		{"T1.failed", "blocked", "", layout.StatusBlocked},
		{"task-T1.done", "done", "failed", layout.StatusFailed},
	}
	for _, test := range tests {
		d := newDesk(t, profileOf("orchestrator"))
		text := "# Task: One\n\n## Metadata\n- Status: in_progress\n"
		if test.outcome != "" {
			text += "\n## Handoff\n| Field | Value |\n|---|---|\n| Outcome | " + test.outcome + " |\n| Summary | s |\n"
		}
		d.write(t, ".orchestrator/journal/task-T1.md", text)
		d.write(t, ".orchestrator/complete/"+test.file, test.marker)
		got, err := d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"T1"}, Waiter: mirror.Waiter{Limit: time.Minute}})
		if err != nil || len(got) != 1 || got[0].Status != test.want || got[0].HasHandoff != (test.outcome != "") {
			t.Errorf("%+v: got %+v, %v", test, got, err)
		}
	}
}

// TestLookAlikes says which names are taken for a marker that was misspelled.
func TestLookAlikes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id    task.ID
		file  string
		alike bool
	}{
		{"TASK-V01", "analysis-TASK-V01.done", true},
		{"TASK-V01", "TASK-V01-analysis.done", true},
		{"TASK-V01", "task_v1.done", true},
		{"TASK-V01", "TASK-V01.done.txt", true},
		{"TASK-V01", "TASK-V01", true},
		{"TASK-V01", "TASK-V01.complete", true},
		{"TASK-V01", "TAKS-V01.done", true},
		{"TASK-V01", "TASK-V02.done", false},
		{"TASK-V01", "TASK-V011.done", false},
		{"task-003", "task-3.done", true},
		{"task-003", "Task 003.done", true},
		{"task-003", "tsk-003.done", true},
		{"task-003", "task-004.done", false},
		{"task-003", "L003.done", false},
		{"task-003", "report-003.done", true},
		{"task-003", "task-1003.done", false},
		{"auth-middleware", "auth-midleware.done", true},
		{"auth-middleware", "auth_middleware.failed", true},
		{"auth-middleware", "auth.done", false},
		{"auth", "oath.done", false},
	}
	for _, test := range tests {
		d := newDesk(t, layout.Claude())
		d.write(t, ".claude/agent_complete/"+test.file, "done")
		var said []string
		_, err := d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{test.id}, Waiter: mirror.Waiter{Limit: time.Millisecond, Say: func(line string) { said = append(said, line) }}})
		alike := slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, "looks like the marker") })
		if !errors.Is(err, mirror.ErrLate) || alike != test.alike {
			t.Errorf("%s for %s: said %q, %v; want it named: %t", test.file, test.id, said, err, test.alike)
		}
	}
}

// TestOthersMarker names no marker of a task that has a journal of its own.
func TestOthersMarker(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	d.start(t, "auth", task.StartRequest{})
	d.start(t, "auth-tests", task.StartRequest{})
	if _, err := d.Finish(t.Context(), "auth-tests", layout.Handoff{Summary: "s"}); err != nil {
		t.Fatal(err)
	}
	var said []string
	_, err := d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"auth"}, Waiter: mirror.Waiter{Limit: time.Millisecond, Say: func(line string) { said = append(said, line) }}})
	if len(said) > 0 {
		t.Errorf("said %q, %v", said, err)
	}
	d.write(t, ".claude/agent_complete/auth-docs.done", "done")
	d.write(t, ".claude/journal/task-auth-docs.md", "# Task: Docs\n")
	d.write(t, ".claude/agent_complete/auth-more.done", "done")
	_, err = d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"auth"}, Waiter: mirror.Waiter{Limit: time.Millisecond, Say: func(line string) { said = append(said, line) }}})
	if len(said) != 1 || !strings.Contains(said[0], "auth-more.done") {
		t.Errorf("with others: said %q, %v; want auth-more named", said, err)
	}
}

// TestForgottenMarker tells of a journal that is complete while its marker is
// missing.
func TestForgottenMarker(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	d.start(t, "T1", task.StartRequest{})
	if _, err := d.HandOver(t.Context(), "T1", layout.Handoff{Outcome: "completed", Summary: "s"}); err != nil {
		t.Fatal(err)
	}
	d.clock.add(time.Minute)
	var said []string
	_, err := d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"T1"}, Waiter: mirror.Waiter{Limit: time.Millisecond, Say: func(line string) { said = append(said, line) }}})
	want := "the journal of T1 has a handoff (complete), but there is no marker: filebus task done T1 writes it"
	if !slices.Equal(said, []string{want}) {
		t.Errorf("said %q, %v; want %q", said, err, want)
	}
	d.write(t, ".claude/agent_complete/T1.done", "")
	said = nil
	_, err = d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"T1"}, Waiter: mirror.Waiter{Limit: time.Minute, Say: func(line string) { said = append(said, line) }}})
	if len(said) > 0 || err != nil {
		t.Errorf("with an empty marker: said %q, %v", said, err)
	}
}

// TestFolderGone waits on while the folder of the markers is deleted and made
// again: the slow scan finds what events do not tell.
func TestFolderGone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	d.start(t, "T1", task.StartRequest{})
	done := make(chan error, 1)
	waiting := make(chan string, 1)
	d.write(t, ".claude/agent_complete/t1.DONE", "")
	go func() {
		_, err := d.Wait(context.Background(), task.WaitRequest{IDs: []task.ID{"T1"}, Waiter: mirror.Waiter{Limit: time.Minute, Say: func(line string) { waiting <- line }}})
		done <- err
	}()
	<-waiting
	if err := os.RemoveAll(d.work.FilePath(".claude/agent_complete")); err != nil {
		t.Fatal(err)
	}
	d.write(t, ".claude/agent_complete/T1.done", "done")
	if err := <-done; err != nil {
		t.Error(err)
	}
}
