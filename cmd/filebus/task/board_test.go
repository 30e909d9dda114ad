package task_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/cmd/filebus/task"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A clock tells the time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A desk is a board in a workspace of its own.
type desk struct {
	*task.Tasks
	work  *materialize.Workspace
	clock *clock
}

func newDesk(t testing.TB, profile layout.Profile) *desk {
	t.Helper()
	dir := t.TempDir()
	c := &clock{now: time.Now()}
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{Home: dir, Profile: profile}, store.Options{Now: c.Now, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	return &desk{task.New(w, query.New(w.Store, query.Options{Now: c.Now}), c.Now), w, c}
}

func (d *desk) start(t testing.TB, id task.ID, r task.StartRequest) *task.Started {
	t.Helper()
	s, err := d.Start(t.Context(), id, r)
	if err != nil {
		t.Fatalf("starting %s: %v", id, err)
	}
	return s
}

// write writes a file below the workspace.
func (d *desk) write(t testing.TB, path, text string) string {
	t.Helper()
	file := d.work.FilePath(path)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func readText(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestClockJumpsBack starts, ends and starts a task while the clock goes back:
// each journal keeps its name, and the marker of the first never counts for the
// second.
func TestClockJumpsBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	first := d.start(t, "task-1", task.StartRequest{})
	if _, err := d.Finish(t.Context(), "task-1", layout.Handoff{Summary: "one"}); err != nil {
		t.Fatal(err)
	}
	d.clock.add(-time.Hour)
	second := d.start(t, "task-1", task.StartRequest{})
	if first.Name == second.Name || second.Cleared != 1 {
		t.Errorf("the second start has the name %s after %s and cleared %d markers", second.Name, first.Name, second.Cleared)
	}
	_, err := d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"task-1"}, Waiter: mirror.Waiter{Limit: time.Millisecond}})
	if !errors.Is(err, mirror.ErrLate) {
		t.Errorf("waiting for the second task: %v, want mirror.ErrLate", err)
	}
	file := d.write(t, ".claude/agent_complete/task-1.done", "done")
	old := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	got, err := d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"task-1"}, Waiter: mirror.Waiter{Limit: time.Minute}})
	if err != nil || len(got) != 1 || got[0].Seconds != nil {
		t.Errorf("waiting with a marker that came after the start: %+v, %v", got, err)
	}
}

// TestSameSecond starts a task twice in one second: the journals are two.
func TestSameSecond(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	first := d.start(t, "T1", task.StartRequest{})
	second := d.start(t, "T1", task.StartRequest{Restart: true})
	if first.Name == second.Name {
		t.Errorf("both journals have the name %s", first.Name)
	}
	if _, err := d.Start(t.Context(), "task-T1", task.StartRequest{}); !errors.Is(err, task.ErrRunning) {
		t.Errorf("starting what runs, under its other form: %v, want ErrRunning", err)
	}
}

// TestStartsAtOnce starts one task from many goroutines: one succeeds.
func TestStartsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	var mu sync.Mutex
	var wg sync.WaitGroup
	started := 0
	for range 8 {
		wg.Go(func() {
			_, err := d.Start(context.Background(), "T1", task.StartRequest{})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				started++
			case !errors.Is(err, task.ErrRunning):
				t.Errorf("starting: %v, want ErrRunning", err)
			}
		})
	}
	wg.Wait()
	if started != 1 {
		t.Errorf("%d starts succeeded", started)
	}
}

// TestNotes appends lines from many goroutines while an agent does so by hand.
func TestNotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, profileOf("orchestrator"))
	s := d.start(t, "T1", task.StartRequest{})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := d.Note(context.Background(), "T1", "by command"); err != nil {
				t.Errorf("noting: %v", err)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(readText(t, s.Journal), "] by command\n"); n != 10 {
		t.Errorf("%d of 10 lines are there", n)
	}
	if _, err := d.Note(t.Context(), "T1", strings.Repeat("x", 5000)); !errors.Is(err, record.Usage) {
		t.Errorf("noting 5000 bytes: %v, want a refusal", err)
	}
	if _, err := d.Note(t.Context(), "T2", "x"); !errors.Is(err, task.ErrNotStarted) {
		t.Errorf("noting for no task: %v, want ErrNotStarted", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	d.write(t, ".claude/journal/task-hand.md", "# Task: By hand\n\n## Metadata\n- Status: in_progress\n")
	if err := d.work.Import(t.Context(), ".claude/journal/task-hand.md"); err != nil {
		t.Fatal(err)
	}
	d.start(t, "T1", task.StartRequest{Title: "One", Agent: "a"})
	if _, err := d.Finish(t.Context(), "T1", layout.Handoff{Summary: "one"}); err != nil {
		t.Fatal(err)
	}
	d.clock.add(time.Minute)
	d.start(t, "T1", task.StartRequest{Title: "Two", Agent: "b"})
	d.clock.add(time.Hour)
	got, err := d.List(t.Context(), task.ListOptions{Running: true, Late: 30 * time.Minute})
	if err != nil || len(got) != 2 {
		t.Fatalf("running: %+v, %v; want two", got, err)
	}
	if i := got[0]; i.Title != "Two" || i.Agent != "b" || i.Seconds/60 != 60 || !i.Late || i.Marked {
		t.Errorf("the second T1 is listed as %+v", i)
	}
	d.write(t, ".claude/agent_complete/hand.done", "done")
	got, err = d.List(t.Context(), task.ListOptions{Running: true, Late: 2 * time.Hour})
	if err != nil || len(got) != 1 || got[0].Late {
		t.Errorf("with the marker of one: %+v, %v; want one that is not late", got, err)
	}
	if got, err = d.List(t.Context(), task.ListOptions{}); err != nil || len(got) != 2 {
		t.Errorf("all: %+v, %v; want two", got, err)
	}
}

// TestPromptSize holds what an agent is told within 250 tokens beside the paths.
func TestPromptSize(t *testing.T) {
	t.Parallel()
	for _, profile := range layout.Profiles() {
		d := newDesk(t, profile)
		text := d.Prompt("task-003", "Limit the requests of each client").Text
		bare := strings.ReplaceAll(text, d.work.Root, "/src/project")
		if n := len(bare) / 4; n > 250 {
			t.Errorf("%s: a prompt of %d tokens:\n%s", profile.Name, n, bare)
		}
	}
}

// TestLargeJournal starts a task anew whose journal somebody has filled with
// megabytes: it can be read, waited for and replaced, and nothing of it is lost.
func TestLargeJournal(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	s := d.start(t, "T1", task.StartRequest{})
	text := readText(t, s.Journal) + strings.Repeat("- [10:00] a line of output\n", 100_000)
	d.write(t, ".claude/journal/task-T1.md", text)
	if _, err := d.Note(t.Context(), "T1", "more"); !errors.Is(err, materialize.ErrTooLarge) {
		t.Errorf("noting: %v, want ErrTooLarge", err)
	}
	j, err := d.Look(t.Context(), "T1")
	if err != nil || len(j.Progress) != 100_000 {
		t.Fatalf("the journal has %d lines: %v", len(j.Progress), err)
	}
	if _, err := d.Start(t.Context(), "T1", task.StartRequest{}); !errors.Is(err, task.ErrRunning) {
		t.Errorf("starting: %v, want ErrRunning", err)
	}
	d.clock.add(time.Minute)
	d.start(t, "T1", task.StartRequest{Restart: true})
	if _, err := d.Finish(t.Context(), "T1", layout.Handoff{Summary: "s"}); err != nil {
		t.Error(err)
	}
	err = d.work.Store.View(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Get(j.Version.Ref)
		return err
	})
	if err != nil {
		t.Errorf("the large version: %v", err)
	}
}
