package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A bench is a workspace with a clock that stands still until it is moved.
type bench struct {
	t   *testing.T
	dir string
	now time.Time
	w   *materialize.Workspace
	b   *Runs
}

func newBench(t *testing.T, profile layout.Profile) *bench {
	t.Helper()
	x := &bench{t: t, dir: t.TempDir(), now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return x.now }
	at := materialize.Location{Store: filepath.Join(x.dir, ".filebus"), Main: x.dir, Root: x.dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{Profile: profile, Home: t.TempDir()}, store.Options{Now: clock, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	x.w = w
	x.b = Open(w, query.New(w.Store, query.Options{Now: clock}), Options{
		Now: clock, Variables: os.Environ(),
		Standing: func(context.Context, string) (layout.Standing, error) { return layout.Standing{}, nil },
	})
	return x
}

// state returns the file as it stands on disk.
func (x *bench) state() string {
	x.t.Helper()
	file, err := x.w.PathOf(record.Name{Kind: record.KindState, ID: "session_state"})
	if err != nil {
		x.t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		x.t.Fatal(err)
	}
	return string(text)
}

// write writes a file of the workspace by hand.
func (x *bench) write(name, text string) {
	x.t.Helper()
	file := filepath.Join(x.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		x.t.Fatal(err)
	}
}

func (x *bench) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *bench) start(r StartRequest) *Outcome {
	x.t.Helper()
	out, err := x.b.Start(x.t.Context(), r)
	x.must(err)
	return out
}

// agent starts an agent, and ends it after a while unless outcome is empty.
func (x *bench) agent(id, task, outcome string, took time.Duration) {
	x.t.Helper()
	_, err := x.b.AgentStart(x.t.Context(), layout.Agent{ID: id, Task: task, Model: "small"})
	x.must(err)
	if x.now = x.now.Add(took); outcome != "" {
		_, err = x.b.AgentDone(x.t.Context(), id, outcome)
		x.must(err)
	}
}

const wholeRun = `# Session State

## Current Run
- Run ID: run-2026-03-02-001
- Started: 2026-03-02T09:00:00Z
- Loop: 2 of 3
- Focus: security | speed
- Ended: 2026-03-02T10:50:45Z

## Running Agents
| ID | Task | Model | Started |
|----|------|-------|---------|
| a3 | ISSUE-1 | small | 10:20:45 |

## Completed Agents
| ID | Task | Outcome | Duration |
|----|------|---------|----------|
| a1 | task-001 | completed | 45s |
| a2 | task-002 | failed: no \| yes | 1h 20m |

## Loop History
- Loop 1: 1/2 tasks completed, 1 failed
- Loop 2: 0/1 tasks completed
`

// TestRun plays a run in each profile.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("orchestrator"), layout.ProfileBelow("agents")} {
		x := newBench(t, profile)
		x.start(StartRequest{Focus: "security | speed", Loops: 3})
		x.agent("a1", "task-001", "completed", 45*time.Second)
		x.agent("a2", "task-002", "failed: no | yes", 80*time.Minute)
		_, err := x.b.Loop(t.Context(), 0)
		x.must(err)
		x.agent("a3", "ISSUE-1", "", 30*time.Minute)
		_, err = x.b.End(t.Context())
		x.must(err)
		if diff := cmp.Diff(wholeRun, x.state()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", profile.Name, diff)
		}
		if _, err := os.Stat(filepath.Join(x.dir, profile.Root, "loop_snapshots", "run-2026-03-02-001", "loop-2", "start.json")); err != nil {
			t.Errorf("%s: %v", profile.Name, err)
		}
	}
}

func TestRunRefusals(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	ctx := t.Context()
	long := strings.Repeat("x", MaxField+1)
	_, err := x.b.Loop(ctx, 0)
	wantTry(t, "a loop without a run", err, "filebus run start")
	_, err = x.b.AgentStart(ctx, layout.Agent{ID: "a1"})
	wantTry(t, "an agent without a run", err, "filebus run start")
	x.start(StartRequest{Loops: 2})
	_, err = x.b.Start(ctx, StartRequest{})
	wantTry(t, "a second run", err, "filebus run show; it may be another's")
	_, err = x.b.Start(ctx, StartRequest{ID: "../x"})
	wantError(t, "an id that is a path", err, record.Usage)
	_, err = x.b.Start(ctx, StartRequest{ID: "run-2026-03-02-001", End: true})
	wantTry(t, "an id that was used", err, "filebus run start, for the next free id")
	x.agent("a1", "task-001", "", 0)
	_, err = x.b.AgentStart(ctx, layout.Agent{ID: "a1"})
	wantTry(t, "an agent twice", err, "filebus run show")
	_, err = x.b.AgentDone(ctx, "a2", "completed")
	wantTry(t, "an agent that is not there", err, "filebus run agent start {1}")
	_, err = x.b.AgentDone(ctx, "a1", long)
	e := wantError(t, "an outcome with the whole output", err, record.Usage)
	if e != nil && e.Hint != "filebus put - --agent a1" {
		t.Errorf("the way out is %q", e.Hint)
	}
	_, err = x.b.AgentDone(ctx, "a1", "completed")
	x.must(err)
	_, err = x.b.AgentDone(ctx, "a1", "completed")
	wantTry(t, "an agent that has ended", err, "filebus run show")
	_, err = x.b.Loop(ctx, 0)
	x.must(err)
	_, err = x.b.Loop(ctx, 0)
	wantTry(t, "a loop too many", err, "filebus run end, or filebus run loop --loops {1}")
	out, err := x.b.Loop(ctx, 5)
	x.must(err)
	if out.State.Loop != "3 of 5" {
		t.Errorf("after planning more the loop is %q", out.State.Loop)
	}
}

// wantError returns err, or reports that it is something else than the kind of error
// that is wanted.
func wantError(t *testing.T, what string, err, kind error) (e *record.Error) {
	t.Helper()
	if !errors.Is(err, kind) || !errors.As(err, &e) {
		t.Errorf("%s: %v, want %v", what, err, kind)
	}
	return e
}

// wantTry is wantError for the command that helps.
func wantTry(t *testing.T, what string, err error, hint string) {
	t.Helper()
	if e := (*record.Error)(nil); !errors.As(err, &e) || e.Hint != hint {
		t.Errorf("%s: %v, want one that says: %s", what, err, hint)
	}
}

// TestSecondRun begins a run while another goes on, in both ways.
func TestSecondRun(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.start(StartRequest{Focus: "speed", Loops: 4})
	x.agent("a1", "", "completed", time.Second)
	again := x.start(StartRequest{Restart: true})
	if s := again.State; s.RunID != "run-2026-03-02-002" || s.Focus != "speed" || s.Loop != "1 of 4" || len(s.Completed) > 0 {
		t.Errorf("begun again: %+v", s)
	}
	other := x.start(StartRequest{End: true})
	if s := other.State; s.RunID != "run-2026-03-02-003" || s.Focus != "" || s.Loop != "1" {
		t.Errorf("begun after the end of another: %+v", s)
	}
	listing, err := x.b.Snapshots(t.Context(), "")
	if err != nil || len(listing) != 0 {
		t.Errorf("loops that have only begun are snapshots: %v, %v", listing, err)
	}
}

// TestStatesByHand changes states that were written by hand, and finds what was
// not asked about where it was.
func TestStatesByHand(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.write(".claude/session_state.md", "\ufeffrun_id: r7\r\nloop: 1\r\nnote: keep me\r\n\r\n## Running Agents\r\n"+
		"| ID | Task | Started |\r\n|--|--|--|\r\n| b1 | task-001 | 08:59:00 |\r\n")
	out, err := x.b.AgentDone(t.Context(), "b1", "completed")
	x.must(err)
	if done := out.Agent; done.Duration != "1m" || done.Task != "task-001" {
		t.Errorf("done: %+v", out.Agent)
	}
	_, err = x.b.Loop(t.Context(), 0)
	x.must(err)
	want := strings.ReplaceAll("\ufeffrun_id: r7\nloop: 2\nnote: keep me\n\n## Running Agents\n| ID | Task | Started |\n|--|--|--|\n\n## Completed Agents\n"+
		"| ID | Task | Outcome | Duration |\n|----|------|---------|----------|\n| b1 | task-001 | completed | 1m |\n\n"+
		"## Loop History\n- Loop 1: 1/1 tasks completed\n", "\n", "\r\n")
	if diff := cmp.Diff(want, x.state()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLargeStates(t *testing.T) {
	t.Parallel()
	for _, size := range []int{150_000, 10 << 20} {
		x := newBench(t, layout.Claude())
		x.start(StartRequest{})
		x.write(".claude/session_state.md", x.state()+"\n## Notes\n"+strings.Repeat("all that an agent wrote\n", size/24))
		_, err := x.b.AgentStart(t.Context(), layout.Agent{ID: "a1"})
		e := wantError(t, "an agent for a large state", err, record.Usage)
		if e != nil && (!strings.Contains(e.Error(), "tokens") || e.Hint != "filebus put .claude/session_state.md") {
			t.Errorf("%d bytes: %v, %s", size, e, e.Hint)
		}
	}
}

// TestRestoreState takes a state back from a loop and begins anew: the loops
// that there were keep their snapshots.
func TestRestoreState(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.start(StartRequest{Loops: 9})
	x.agent("a1", "task-001", "completed", time.Second)
	_, err := x.b.Take(t.Context(), "", 0)
	x.must(err)
	kept := x.state()
	_, err = x.b.Loop(t.Context(), 0)
	x.must(err)
	x.agent("a2", "task-002", "failed", time.Second)
	before := x.state()
	restored, err := x.b.RestoreState(t.Context(), "1")
	x.must(err)
	if diff := cmp.Diff(kept, x.state()); diff != "" || record.Ref(restored.Before).IsZero() {
		t.Fatalf("restored %+v (-want +got):\n%s", restored, diff)
	}
	var old []byte
	err = x.w.Store.View(t.Context(), func(tx *store.Tx) error {
		v, err := tx.Get(record.Ref(restored.Before))
		if err != nil {
			return err
		}
		content, err := tx.Content(v.Record)
		if err == nil {
			old, err = content.Bytes()
		}
		return err
	})
	if err != nil || string(old) != before {
		t.Errorf("the state of before is %q, %v", old, err)
	}
	out, err := x.b.Loop(t.Context(), 0)
	x.must(err)
	if out.State.Loop != "3 of 9" {
		t.Errorf("the loop after a restored one is %q, though there was a second one", out.State.Loop)
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 0, 10, 0, 0, time.UTC)
	tests := []struct {
		started string
		want    string
		run     string // when the run was started
	}{
		{"00:09:15", "45s", ""}, {"23:50:00", "20m", ""}, {"00:40", "0s", ""}, {"", "unknown", ""}, {"soon", "unknown", "2026-03-01"},
		{"2026-03-01T00:10:00Z", "24h", ""}, {"2026-02-27T23:00:00Z", "2d 1h", ""}, {"2026-03-02T02:08:30+02:00", "1m 30s", ""},
		{"2026-03-05 10:00", "0s", ""}, {"`00:09:00`", "1m", ""}, {"00:00:00", "10m", ""}, {"01:15:00", "22h 55m", ""},
		{"00:09:15", "45s", "2026-03-01T22:00:00Z"}, {"22:10:00", "2h", "2026-03-01 22:00"}, {"22:10:00", "2d 2h", "2026-02-27"},
		{"21:59", "2d 2h", "2026-02-26T22:00:00Z"}, {"09:00", "79d 15h", "2025-12-12 08:30 UTC"}, {"10:00:00", "14h 10m", "soon"},
	}
	for _, test := range tests {
		got := "unknown"
		if took, known := Since(test.started, test.run, now); known {
			got = layout.DurationText(took)
		}
		if got != test.want {
			t.Errorf("started %q at 00:10: %s ago, want %s", test.started, got, test.want)
		}
	}
}

// TestBudgetOfUnknownRun holds that the run that goes on is named in place of one that
// nothing is stored of.
func TestBudgetOfUnknownRun(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	_, err := x.b.BudgetOf(t.Context(), "nope")
	wantTry(t, "a budget without any run", err, "filebus run show")
	x.start(StartRequest{})
	_, err = x.b.BudgetOf(t.Context(), "nope")
	wantTry(t, "a budget of another run", err, "filebus budget --run {1}")
	if e := (*record.Error)(nil); errors.As(err, &e) && !slices.Equal(e.Names, []string{"run-2026-03-02-001"}) {
		t.Errorf("the hint names %q", e.Names)
	}
}

// TestBudgetsDoNotOverlap holds that a run has nothing of the one before it, though a
// state gives its start in whole seconds and was stored some seconds later.
func TestBudgetsDoNotOverlap(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.start(StartRequest{})
	x.now = x.now.Add(700 * time.Millisecond)
	ended := x.now
	_, err := x.b.End(t.Context())
	x.must(err)
	x.write(".claude/session_state.md", "# Session State\n\n## Current Run\n- Run ID: second\n- Started: 2026-03-02T09:00:00Z\n- Loop: 1\n")
	x.now = x.now.Add(5 * time.Second)
	_, err = x.b.AgentStart(t.Context(), layout.Agent{ID: "a1"})
	x.must(err)
	budget, err := x.b.BudgetOf(t.Context(), "second")
	x.must(err)
	if !budget.Started.Equal(ended) {
		t.Errorf("the second run began at %v, want %v, where the first one had ended", budget.Started, ended)
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
