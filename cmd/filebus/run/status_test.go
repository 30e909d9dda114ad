package run

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// TestStatus looks at a workspace before a run and in it: with an agent that has ended,
// one that is late, a journal of a task, issues and a result.
func TestStatus(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	got, err := x.b.Status(t.Context(), time.Hour)
	x.must(err)
	if got.State != nil || got.Run != "" || got.Working+got.Late+got.Issues.Open+len(got.Results) != 0 {
		t.Errorf("before there is anything: %+v", got)
	}
	x.start(StartRequest{Focus: "speed", Loops: 3})
	x.agent("a1", "task-001", "completed", time.Minute)
	x.agent("a2", "ISSUE-20260302-001", "", 90*time.Minute)
	x.put(record.KindHandoff, "task-002",
		"# Task: Measure\n\n## Metadata\n- Status: in_progress\n- Started: 2026-03-02T10:30:00Z\n")
	x.put(record.KindResult, "c1/call-1", "# Found\n\nTwo of five.\n")
	if got, err = x.b.Status(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	want := &Status{
		Run: "run-2026-03-02-001", Loop: 1, Loops: 3, Focus: "speed", Completed: 1, Working: 2, Late: 1,
		Tasks: []work{
			{Agent: "a2", Task: "ISSUE-20260302-001", Seconds: 5400, Late: true, Model: "small", Known: true},
			{Task: "task-002", Seconds: 60, Known: true, Journal: true},
		},
		Results: []lastResult{{Ref: got.Results[0].Ref, Tokens: 6, Title: "Found"}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Status{}, "State", "Ends", "Behind")); diff != "" {
		t.Errorf("in a run (-want +got):\n%s", diff)
	}
	if got.Behind == nil || *got.Behind == 0 {
		t.Errorf("the index is behind by %v", got.Behind)
	}
}

// put stores a text.
func (x *bench) put(kind record.Kind, id, text string) {
	x.t.Helper()
	_, err := x.w.Put(x.t.Context(), materialize.PutRequest{
		Kind: kind, ID: id, Text: strings.NewReader(text), Source: record.SourcePut,
	})
	x.must(err)
}

// TestView reads the state of a run, with fewer entries where there is less room.
func TestView(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	_, err := x.b.View(t.Context())
	wantTry(t, "a view without a run", err, "filebus run start")
	x.start(StartRequest{Loops: 2, Focus: strings.Repeat("long ", 60)})
	x.agent("a1", "task-001", "completed", time.Minute)
	x.agent("a2", "task-002", "failed", time.Minute)
	_, err = x.b.Loop(t.Context(), 0)
	x.must(err)
	x.agent("a3", "", "", 0)
	v, err := x.b.View(t.Context())
	x.must(err)
	if v.Run != "run-2026-03-02-001" || v.Loop != 2 || v.Loops != 2 || v.Entries() != 4 || len(v.Focus) > 130 {
		t.Errorf("the view is %+v", v)
	}
	first := v.First(3)
	if len(first.Running) != 1 || len(first.History) != 1 || len(first.Completed) != 1 || first.More != 1 {
		t.Errorf("three entries of it: %+v", first)
	}
	if ended := first.Completed[0]; ended.ID != "a2" || ended.Outcome != "failed" || ended.Duration != "1m" {
		t.Errorf("who ended last: %+v", ended)
	}
}

// TestOldRuns lists the runs whose snapshots may go: never the one of the state.
func TestOldRuns(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	for range 3 {
		x.start(StartRequest{End: true})
		x.now = x.now.Add(time.Hour)
	}
	for _, test := range []struct {
		name   string
		keep   int
		before time.Time
		want   []string
	}{
		{"none is kept", 0, time.Time{}, []string{"run-2026-03-02-002", "run-2026-03-02-001"}},
		{"two are kept", 2, time.Time{}, []string{"run-2026-03-02-001"}},
		{"all are kept", 3, time.Time{}, nil},
		{"not the young ones", 0, x.now.Add(-2*time.Hour - time.Minute), []string{"run-2026-03-02-001"}},
	} {
		old, err := x.b.OldRuns(t.Context(), test.keep, test.before)
		x.must(err)
		var got []string
		for _, o := range old {
			if got = append(got, o.ID); len(o.Names) == 0 {
				t.Errorf("%s: %s has no snapshot", test.name, o.ID)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	x.must(x.b.Sweep(t.Context()))
}

// TestSettleStale holds that what lies there of an attempt that ended before an agent
// began is not that agent's end, also when a day has passed since it ended.
func TestSettleStale(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	var stand layout.Standing
	x.b.opts.Standing = func(context.Context, string) (layout.Standing, error) { return stand, nil }
	x.start(StartRequest{})
	stand = layout.Standing{Outcome: "failed", Started: x.now, Ended: x.now.Add(time.Minute)}
	x.now = x.now.Add(30 * time.Minute)
	x.agent("second", "task-5", "", 0)
	atWork := func(when string, want int) {
		t.Helper()
		x.must(x.b.Settle(t.Context()))
		if view, err := x.b.View(t.Context()); err != nil || len(view.Running) != want {
			t.Errorf("%s: %v, %d at work, want %d", when, err, len(view.Running), want)
		}
	}
	atWork("what ended before", 1)
	begun := x.now
	x.now = x.now.Add(25 * time.Hour)
	atWork("what ended the day before", 1)
	stand = layout.Standing{Outcome: "completed", Started: begun, Ended: begun.Add(time.Hour)}
	atWork("what ended a day ago, and began with the agent", 0)
}
