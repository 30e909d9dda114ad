package materialize_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/materialize"
	"filebus/store/record"
)

// dieBeforeWriting runs do, and then puts the files and the mirror's memory back:
// so things stand when a process dies after the store's commit.
func dieBeforeWriting(t testing.TB, w *materialize.Workspace, do func()) {
	t.Helper()
	memory := filepath.Join(w.Location.Store, "mirror")
	files, remembered := readTree(t, w.Root), readTree(t, memory)
	do()
	for name := range readTree(t, w.Root) {
		if err := os.Remove(filepath.Join(w.Root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(memory); err != nil {
		t.Fatal(err)
	}
	writeTree(t, w.Root, files)
	writeTree(t, memory, remembered)
}

func TestCrashBetweenStoreAndFile(t *testing.T) {
	third := "\n### ISSUE-20260302-003\n\n- **Status**: pending\n"
	byHand := func(t testing.TB, w *materialize.Workspace) {
		writeTree(t, w.Root, map[string]string{issueFile: issueQueue + third})
	}
	accept := func(t testing.TB, w *materialize.Workspace) {
		put(t, w, "issue/ISSUE-20260302-002", entryText(t, w, "issue/ISSUE-20260302-002", "accepted", "in_progress"))
	}
	inProgress := edited(issueQueue, secondPending, "- **Status**: in_progress")
	for label, test := range map[string]struct {
		before, during func(t testing.TB, w *materialize.Workspace)
		want           map[string]string
	}{
		"put of an entry": {nil, accept, map[string]string{issueFile: inProgress, stateFile: "run_id: a\n"}},
		"put of a whole file": {nil, func(t testing.TB, w *materialize.Workspace) { put(t, w, "state/session_state", "run_id: b\n") },
			map[string]string{issueFile: issueQueue, stateFile: "run_id: b\n"}},
		"put of a new file": {nil, func(t testing.TB, w *materialize.Workspace) { put(t, w, "handoff/task-001", "# Task: x\n") },
			map[string]string{issueFile: issueQueue, stateFile: "run_id: a\n", ".claude/journal/task-001.md": "# Task: x\n"}},
		"removal of an entry": {nil, func(t testing.TB, w *materialize.Workspace) {
			if err := w.Remove(t.Context(), record.Name{Kind: record.KindIssue, ID: "ISSUE-20260302-002"}); err != nil {
				t.Fatal(err)
			}
		}, map[string]string{issueFile: issueQueue[:strings.Index(issueQueue, "### ISSUE-20260302-002")], stateFile: "run_id: a\n"}},
		"removal of a file": {nil, func(t testing.TB, w *materialize.Workspace) {
			if err := w.Remove(t.Context(), record.Name{Kind: record.KindState, ID: "session_state"}); err != nil {
				t.Fatal(err)
			}
		}, map[string]string{issueFile: issueQueue}},
		"capture": {byHand, func(t testing.TB, w *materialize.Workspace) { runSync(t, w, materialize.SyncOptions{}) },
			map[string]string{issueFile: issueQueue + third, stateFile: "run_id: a\n"}},
		"merge": {func(t testing.TB, w *materialize.Workspace) {
			storeOnly(t, w, "issue/ISSUE-20260302-002", entryText(t, w, "issue/ISSUE-20260302-002", "accepted", "in_progress"))
			byHand(t, w)
		}, func(t testing.TB, w *materialize.Workspace) { runSync(t, w, materialize.SyncOptions{}) },
			map[string]string{issueFile: inProgress + third, stateFile: "run_id: a\n"}},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			w := syncedWorkspace(t, map[string]string{issueFile: issueQueue, stateFile: "run_id: a\n"})
			if test.before != nil {
				test.before(t, w)
			}
			dieBeforeWriting(t, w, func() { test.during(t, w) })
			report := runSync(t, w, materialize.SyncOptions{})
			if len(report.Skipped) > 0 || report.Count("conflict") > 0 {
				t.Errorf("the next sync did %v", actions(report))
			}
			for path := range readTree(t, w.Root) {
				if _, wanted := test.want[path]; !wanted {
					t.Errorf("%s is there, after %v", path, actions(report))
				}
			}
			for path, want := range test.want {
				wantFile(t, w, path, want)
			}
			wantTree(t, w, "", test.want)
			wantActions(t, runSync(t, w, materialize.SyncOptions{}))
		})
	}
}
