package materialize_test

import (
	"fmt"
	"testing"
	"time"

	"filebus/materialize"
)

// A reading command stops looking when its time is over, says so, and has looked
// at the shared files first.
func TestSyncBudget(t *testing.T) {
	t.Parallel()
	files := map[string]string{issueFile: issueQueue}
	for i := range 300 {
		files[fmt.Sprintf(".claude/agent_tool_results/c%d/deep/call.md", i)] = "# Finding\n"
	}
	w := syncedWorkspace(t, files)
	third := "\n### ISSUE-20260302-003\n\n- **Status**: pending\n"
	writeTree(t, w.Root, map[string]string{issueFile: issueQueue + third})
	start := time.Now()
	for {
		report := runSync(t, w, materialize.SyncOptions{CaptureOnly: true, Budget: 300 * time.Microsecond})
		if report.Unread == 0 && report.Unlooked == 0 && report.Count("captured") == 0 {
			t.Fatalf("looking at 300 folders in 0.3 ms left none out: %+v", report)
		}
		if report.Count("captured") > 0 {
			break // the queue was reached, though the folders were not
		}
		if time.Since(start) > 20*time.Second {
			t.Fatalf("the queue was never reached: %+v", report)
		}
	}
	report := runSync(t, w, materialize.SyncOptions{CaptureOnly: true})
	if report.Unread != 0 || report.Unlooked != 0 || len(report.Files) != 0 {
		t.Errorf("without a budget: %+v", report)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}
