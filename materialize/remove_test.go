package materialize_test

import (
	"os"
	"path/filepath"
	"testing"

	"filebus/materialize"
)

// TestRemoveAltered hides a result whose file was changed by hand: that text is
// kept as a note, and the file goes all the same.
func TestRemoveAltered(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	putFrom(t, w, "result/c/a", "a", nil)
	writeTree(t, w.Root, map[string]string{".claude/agent_tool_results/c/a.md": "mine"})
	remove(t, w, "result/c/a")
	if got := textOf(t, w, "note/.claude/agent_tool_results/c/a.md~altered"); got != "mine" {
		t.Errorf("the altered text is %q", got)
	}
	if got := readTree(t, w.Root); len(got) > 0 {
		t.Errorf("files are left: %v", got)
	}
	if open, err := w.Conflicts(t.Context()); err != nil || len(open) > 0 {
		t.Errorf("conflicts: %v, %v", open, err)
	}
}

// TestRemoveRolledBack hides a record whose file holds an older version, as after
// a git checkout: the store has that text, so nothing is kept beside.
func TestRemoveRolledBack(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{stateFile: "run_id: a\n"})
	for _, text := range []string{"run_id: b\n", "run_id: a\n"} {
		writeTree(t, w.Root, map[string]string{stateFile: text})
		runSync(t, w, materialize.SyncOptions{})
	}
	remove(t, w, "state/session_state")
	if got := readTree(t, filepath.Join(w.Root, ".claude")); len(got) > 0 {
		t.Errorf("files are left: %v", got)
	}
	if open, err := w.Conflicts(t.Context()); err != nil || len(open) > 0 {
		t.Errorf("conflicts: %v, %v", open, err)
	}
}

// TestRemoveFolder looks at what is left of a conversation's folder when its
// results are hidden.
func TestRemoveFolder(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	folder := filepath.Join(w.Root, ".claude", "agent_tool_results", "c")
	there := func() bool { _, err := os.Lstat(folder); return err == nil }
	putFrom(t, w, "result/c/a", "a", nil)
	putFrom(t, w, "result/c/b", "b", nil)
	remove(t, w, "result/c/a")
	if !there() {
		t.Error("the folder went with a result in it")
	}
	remove(t, w, "result/c/b")
	if there() {
		t.Error("the empty folder is left")
	}
	putFrom(t, w, "result/c/x", "x", nil)
	writeTree(t, folder, map[string]string{"own.txt": "mine"})
	remove(t, w, "result/c/x")
	if got, err := os.ReadFile(filepath.Join(folder, "own.txt")); err != nil || string(got) != "mine" {
		t.Errorf("a file of somebody else in the folder: %q, %v", got, err)
	}
}
