package materialize_test

import (
	"os"
	"strings"
	"testing"

	"filebus/materialize"
)

// TestDocumentedFrame holds the frame in docs/format.md against what is stored.
func TestDocumentedFrame(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "```frame\n")
	want, _, closed := strings.Cut(after, "```\n")
	if !found || !closed {
		t.Fatal("docs/format.md has no frame example")
	}
	entry := "### ISSUE-20260302-001\n\n- **Status**: pending\n"
	w := syncedWorkspace(t, map[string]string{issueFile: "# Issue Queue\n\n" + entry})
	if got := textOf(t, w, "frame/"+issueFile); got != want {
		t.Errorf("the frame = %q\nthe document has %q", got, want)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}
