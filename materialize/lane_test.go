package materialize_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// withRemote gives a store a remote.
func withRemote(t *testing.T, w *materialize.Workspace, name string) {
	t.Helper()
	dir := filepath.Join(w.Location.Store, "remotes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// nextIDs adds issues with the next ids and returns those.
func nextIDs(t *testing.T, w *materialize.Workspace, n int) (ids []string) {
	t.Helper()
	err := w.EditEntries(t.Context(), record.KindIssue, "", record.SourcePut, func(e *materialize.Entries) error {
		ids = nil
		for i := range n {
			id, err := e.NextID(record.KindIssue, "ISSUE-20260302-")
			if err != nil {
				return err
			}
			fields := layout.Issue{ID: id, Status: "pending", Summary: fmt.Sprintf("summary %d", i)}
			e.Add(record.KindIssue, id, layout.IssueFields().Append(nil, fields))
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestLane allocates ids before and after a store has a remote, and beside those of another
// machine.
func TestLane(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	lane := func() string {
		lane, err := w.Lane(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return lane
	}
	want := func(got []string, want ...string) {
		t.Helper()
		for i := range want {
			want[i] = "ISSUE-20260302-" + strings.ReplaceAll(want[i], "LANE", lane())
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the ids are %v, want %v", got, want)
		}
	}
	for _, name := range []string{"trusted", ".filebus-half", "folder/x"} {
		if err := os.MkdirAll(filepath.Join(w.Location.Store, "remotes", "folder"), 0o700); err != nil {
			t.Fatal(err)
		}
		if withRemote(t, w, name); lane() != "" {
			t.Errorf("with %s alone the lane is %q", name, lane())
		}
	}
	want(nextIDs(t, w, 3), "001", "002", "003")
	if err := w.Remove(t.Context(), record.Name{Kind: record.KindIssue, ID: "ISSUE-20260302-003"}); err != nil {
		t.Fatal(err)
	}
	withRemote(t, w, "team")
	if lane() == "" {
		t.Fatal("a store with a remote has no lane")
	}
	want(nextIDs(t, w, 2), "004-LANE", "005-LANE") // 003 is not given again
	appendFile(t, filepath.Join(w.Root, ".claude", "issue_queue.md"), "\n### ISSUE-20260302-009-f0000\n\n**Summary:** x\n")
	want(nextIDs(t, w, 1), "010-LANE")
	if err := os.Remove(filepath.Join(w.Location.Store, "remotes", "team")); err != nil {
		t.Fatal(err)
	}
	want(nextIDs(t, w, 1), "011")
}
