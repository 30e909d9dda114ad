package task_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/store/record"
)

func TestFinishGaps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		given layout.Handoff
		flags []string // that are missing; nil: none
	}{
		{"nothing", layout.Handoff{}, []string{"summary"}},
		{"complete", layout.Handoff{Summary: "s"}, nil},
		{"no known outcome", layout.Handoff{Outcome: "great", Summary: "s"}, []string{"outcome"}},
		{"partial", layout.Handoff{Outcome: "partial", Summary: "s"}, []string{"blocker"}},
		{"blocked", layout.Handoff{Outcome: "stuck"}, []string{"summary", "blocker"}},
		{"failed, with a blocker", layout.Handoff{Outcome: "error", Summary: "s", Blockers: []string{"b"}}, []string{"next"}},
		{"failed", layout.Handoff{Outcome: "failed", Summary: "s", NextSteps: []string{"n"}}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, layout.Claude())
			s := d.start(t, "T1", task.StartRequest{})
			before := readText(t, s.Journal)
			_, err := d.Finish(t.Context(), "T1", test.given)
			var flags []string
			if gap := (*record.Error)(nil); errors.As(err, &gap) {
				for _, m := range regexp.MustCompile(`--(outcome|summary|blocker|next) `).FindAllStringSubmatch(gap.Hint, -1) {
					flags = append(flags, m[1])
				}
				err = nil
			}
			if diff := cmp.Diff(test.flags, flags); diff != "" || err != nil {
				t.Errorf("%+v: %v; missing flags (-want +got):\n%s", test.given, err, diff)
			}
			if flags != nil && readText(t, s.Journal) != before {
				t.Errorf("the journal was changed:\n%s", readText(t, s.Journal))
			}
		})
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	own := layout.Handoff{Outcome: "partial", Summary: "s", Blockers: []string{"b"}, Gotchas: []layout.HandoffGotcha{{Issue: "g"}}}
	over := layout.Handoff{Summary: "t", Blockers: []string{"c"}, Files: []layout.HandoffFile{{Path: "f"}}}
	want := layout.Handoff{Outcome: "partial", Summary: "t", Blockers: []string{"c"}, Gotchas: own.Gotchas, Files: over.Files}
	if diff := cmp.Diff(want, task.Merge(own, over)); diff != "" {
		t.Errorf("Merge(%+v, %+v) (-want +got):\n%s", own, over, diff)
	}
}

// TestEnd ends the task of a command: what the agent has written stands, what is
// missing is added.
func TestEnd(t *testing.T) {
	t.Parallel()
	failed := task.Run{Outcome: layout.StatusFailed, Summary: "out", Problem: "exit code 3", NextStep: "look"}
	tests := []struct {
		name    string
		journal string // below the heading and metadata
		run     task.Run
		marker  string // the status of an orchestrator's
		want    layout.Handoff
	}{
		{"none, complete", "", task.Run{Outcome: layout.StatusComplete, Summary: "out"}, layout.StatusComplete,
			layout.Handoff{Outcome: "completed", Summary: "out"}},
		{"none, failed", "", failed, layout.StatusFailed,
			layout.Handoff{Outcome: "failed", Summary: "out", Blockers: []string{"exit code 3"}, NextSteps: []string{"look"}}},
		{"own, failed", "## Handoff\n| Outcome | completed |\n| Summary | mine |\n", failed, layout.StatusFailed,
			layout.Handoff{Outcome: "completed", Summary: "mine"}},
		{"half, failed", "## Handoff\n| Outcome | blocked |\n", failed, layout.StatusFailed,
			layout.Handoff{Outcome: "blocked", Summary: "out", Blockers: []string{"exit code 3"}}},
		{"half, complete", "## Handoff\n| Outcome | partial |\n| Summary | mine |\n", task.Run{Outcome: layout.StatusComplete, Summary: "out"}, layout.StatusComplete,
			layout.Handoff{Outcome: "partial", Summary: "mine", Blockers: []string{"not named"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, profileOf("orchestrator"))
			for range 2 { // the second time it goes on
				if err := d.Begin(t.Context(), "T1", task.StartRequest{}); err != nil {
					t.Fatalf("beginning: %v", err)
				}
			}
			file := task.JournalFile(d.Tasks, "T1")
			d.write(t, ".orchestrator/journal/task-T1.md", readText(t, file)+"\n"+test.journal)
			f, err := d.End(t.Context(), "T1", test.run)
			if err != nil {
				t.Fatal(err)
			}
			if want := task.MarkerFile(d.Tasks, "T1", test.marker); f.Marker != want {
				t.Errorf("the marker is %s, want %s", f.Marker, want)
			}
			j, _ := layout.ParseJournal([]byte(readText(t, file)))
			if j.Handoff == nil {
				t.Fatalf("no handoff in\n%s", readText(t, file))
			}
			if diff := cmp.Diff(test.want, *j.Handoff); diff != "" {
				t.Errorf("%s: handoff (-want +got):\n%s", test.name, diff)
			}
		})
	}
}

// TestHandKeeps makes sure that a command's handoff leaves what an agent has
// written beside it.
func TestHandKeeps(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	s := d.start(t, "T1", task.StartRequest{Title: "One"})
	text := strings.Replace(readText(t, s.Journal), "## Progress Log\n", "## Progress Log\r\n- [10:00] mine\r\n\r\n## Notes\r\nKept.\r\n", 1)
	d.write(t, ".claude/journal/task-T1.md", text)
	if _, err := d.Finish(t.Context(), "T1", layout.Handoff{Summary: "s"}); err != nil {
		t.Fatal(err)
	}
	got := readText(t, s.Journal)
	for _, want := range []string{"- [10:00] mine\r\n", "## Notes\r\nKept.\r\n", "# Task: One\n", "| Summary | s |"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestFinishSaysHow holds what a task without a handoff is told to say.
func TestFinishSaysHow(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	d.start(t, "T1", task.StartRequest{})
	for outcome, want := range map[string]string{
		"":        `filebus task done {1} --summary "WHAT WAS DONE" --files FILE,FILE`,
		"failed":  `filebus task fail {1} --summary "WHAT WAS DONE" --next "HOW TO RESOLVE IT" --files FILE,FILE`,
		"blocked": `filebus task block {1} --summary "WHAT WAS DONE" --blocker "WHAT STANDS IN THE WAY" --files FILE,FILE`,
		"partial": `filebus task done {1} --summary "WHAT WAS DONE" --blocker "WHAT STANDS IN THE WAY" --outcome partial --files FILE,FILE`,
	} {
		_, err := d.Finish(t.Context(), "T1", layout.Handoff{Outcome: outcome})
		if e := (*record.Error)(nil); !errors.As(err, &e) || e.Hint != want || e.Names[0] != "T1" {
			t.Errorf("outcome %q: %v, want that it says: %s", outcome, err, want)
		}
	}
}
