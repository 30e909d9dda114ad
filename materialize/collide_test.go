package materialize_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

const (
	graphFile = ".claude/knowledge_graph.json"
	graph     = `{
  "nodes": [
    {"id": "pattern-001", "type": "pattern", "tags": ["go"], "summary": "one"},
    {"id": "pattern-002", "type": "pattern", "tags": ["go"], "summary": "two"}
  ]
}
`
)

// secondRoot returns the workspace with another folder whose files mirror the
// same store.
func secondRoot(t testing.TB, w *materialize.Workspace) *materialize.Workspace {
	t.Helper()
	at := w.Location
	at.Root = t.TempDir()
	c := &testClock{now: time.Now().Add(time.Hour)}
	other, err := materialize.Open(at, w.Settings, store.Options{Now: c.Now, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return other
}

// heads returns how many names of a kind are current.
func heads(t testing.TB, w *materialize.Workspace, kind record.Kind) (n int) {
	t.Helper()
	view(t, w, func(tx *store.Tx) {
		for _, err := range tx.Lookup(store.FieldKind, string(kind)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
	})
	return n
}

// A file that a slip made unreadable must not retire what it held.
func TestSyncUnreadableAggregate(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{graphFile: graph})
	writeTree(t, w.Root, map[string]string{graphFile: strings.TrimSuffix(graph, "}\n")})
	for range 2 {
		wantActions(t, runSync(t, w, materialize.SyncOptions{}), "conflict "+graphFile)
		wantFile(t, w, graphFile, strings.TrimSuffix(graph, "}\n"))
	}
	if n := heads(t, w, record.KindKnowledge); n != 2 {
		t.Errorf("%d of 2 nodes are left", n)
	}
	writeTree(t, w.Root, map[string]string{graphFile: ""})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "conflict "+graphFile)
	wantFile(t, w, graphFile, graph)
	open, err := w.Conflicts(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("conflicts of a file that was emptied = %v, %v", open, err)
	}
	if _, err := w.Resolve(t.Context(), open[0], "file"); err != nil {
		t.Fatal(err)
	}
	if n := heads(t, w, record.KindKnowledge); n != 0 {
		t.Errorf("%d nodes are left of a file that was emptied on purpose", n)
	}
	wantFile(t, w, graphFile, "")
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}

func TestRemoveNodes(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"pattern-001", "pattern-002"}, {"pattern-002", "pattern-001"}} {
		w := syncedWorkspace(t, map[string]string{graphFile: graph})
		for i, id := range order {
			if err := w.Remove(t.Context(), record.Name{Kind: record.KindKnowledge, ID: id}); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(w.Root, graphFile))
			if err != nil || !json.Valid(text) {
				t.Errorf("after removing %v: %v: %s", order[:i+1], err, text)
			}
			wantActions(t, runSync(t, w, materialize.SyncOptions{}))
		}
		if _, err := w.Restore(t.Context(), record.Name{Kind: record.KindKnowledge, ID: order[0]}); err != nil {
			t.Errorf("restoring a node: %v", err)
		}
		if text, _ := os.ReadFile(filepath.Join(w.Root, graphFile)); !json.Valid(text) || !strings.Contains(string(text), order[0]) {
			t.Errorf("the graph after restoring %s: %s", order[0], text)
		}
	}
}

// The first sync of a second folder, in which another version lies already: what
// either side has more stays, and what stands there is imported.
func TestSyncUnknownFolder(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue, stateFile: "run_id: a\n"})
	there := secondRoot(t, w)
	at := strings.Index(issueQueue, "### ISSUE-20260302-002")
	writeTree(t, there.Root, map[string]string{
		issueFile: edited(issueQueue[:at], "Issue Queue", "Our issues") + "### ISSUE-20260302-007\n\n- **Status**: pending\n", stateFile: "run_id: b\n",
	})
	wantActions(t, runSync(t, there, materialize.SyncOptions{}), "merged "+issueFile, "captured "+stateFile)
	if n := heads(t, w, record.KindIssue); n != 3 {
		t.Errorf("%d issues, want 001, 002 and 007", n)
	}
	text, err := os.ReadFile(filepath.Join(there.Root, issueFile))
	if err != nil || !strings.HasPrefix(string(text), "# Our issues") || strings.Count(string(text), "### ISSUE") != 3 {
		t.Errorf("the resolved file = %q, %v", text, err)
	}
	wantFile(t, there, stateFile, "run_id: b\n")
	for _, root := range []*materialize.Workspace{w, there, w} {
		runSync(t, root, materialize.SyncOptions{})
	}
	wantFile(t, w, issueFile, string(text))
}

// A journal's place is taken by a new task, and then git puts the old one back.
func TestSyncTaskBackAndForth(t *testing.T) {
	t.Parallel()
	journal := ".claude/journal/task-001.md"
	first := "# Task: Login\n\n## Metadata\n- Status: completed\n- Started: 2026-03-02T10:00:00Z\n"
	second := edited(first, "Login", "Logout", "2026-03-02", "2026-03-09")
	w := syncedWorkspace(t, map[string]string{journal: first})
	writeTree(t, w.Root, map[string]string{journal: second})
	runSync(t, w, materialize.SyncOptions{})
	writeTree(t, w.Root, map[string]string{journal: first})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "rolled back "+journal)
	if got := textOf(t, w, "handoff/task-001~2"); got != second {
		t.Errorf("the second task = %q", got)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{Repair: true}), "restored "+journal)
	wantFile(t, w, journal, second)
}

// git puts an old queue back, and then a command changes an entry: nothing that
// the old file lacks may be taken for deleted.
func TestPutAfterRollback(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	put(t, w, "issue/ISSUE-20260302-003", "### ISSUE-20260302-003\n\n- **Status**: pending\n")
	writeTree(t, w.Root, map[string]string{issueFile: issueQueue})
	put(t, w, "issue/ISSUE-20260302-001", entryText(t, w, "issue/ISSUE-20260302-001", "pending", "accepted"))
	want := edited(issueQueue, firstPending, "| Status | accepted |") + "\n### ISSUE-20260302-003\n\n- **Status**: pending\n"
	wantFile(t, w, issueFile, want)
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}

// An entry is put, resolved and removed in the file that holds it, wherever that
// is.
func TestEntriesOfOtherFiles(t *testing.T) {
	t.Parallel()
	nested := "sub/.claude/issue_queue.md"
	w := newWorkspace(t)
	w.Settings.NoteFolders = []string{"sub"}
	writeTree(t, w.Root, map[string]string{issueFile: issueQueue, nested: issueQueue})
	runSync(t, w, materialize.SyncOptions{})
	name := "issue/ISSUE-20260302-001~2"
	put(t, w, name, entryText(t, w, name, "pending", "accepted"))
	changed := edited(issueQueue, firstPending, "| Status | accepted |")
	wantFile(t, w, nested, changed)
	wantFile(t, w, issueFile, issueQueue)

	storeOnly(t, w, name, entryText(t, w, name, "accepted", "in_progress"))
	writeTree(t, w.Root, map[string]string{nested: edited(changed, "| Status | accepted |", "| Status | done |")})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "conflict "+nested)
	open, err := w.Conflicts(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("conflicts = %v, %v", open, err)
	}
	if _, err := w.Resolve(t.Context(), open[0], "file"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, w, nested, edited(issueQueue, firstPending, "| Status | done |"))
	wantFile(t, w, issueFile, issueQueue)
}

// What was appended after a conflict was kept must survive its resolution.
func TestResolveRetiredAfterFurtherChanges(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{stateFile: "run_id: a\n"})
	err := w.Store.Update(t.Context(), func(tx *store.Tx) error {
		return tx.Retire(record.Name{Kind: record.KindState, ID: "session_state"}, store.Expect{})
	})
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, w.Root, map[string]string{stateFile: "run_id: b\n"})
	runSync(t, w, materialize.SyncOptions{})
	writeTree(t, w.Root, map[string]string{stateFile: "run_id: b\nmore\n"})
	open, err := w.Conflicts(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("conflicts = %v, %v", open, err)
	}
	if _, err := w.Resolve(t.Context(), open[0], "store"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("resolving a conflict whose file has changed again: %v, want a conflict", err)
	}
	wantFile(t, w, stateFile, "run_id: b\nmore\n")
	if open, err = w.Conflicts(t.Context()); err != nil || len(open) != 1 {
		t.Fatalf("conflicts = %v, %v; want one of the new text", open, err)
	}
	if text, err := w.TextOf(t.Context(), open[0].File); err != nil || string(text) != "run_id: b\nmore\n" {
		t.Errorf("the new conflict has %q, %v", text, err)
	}
}

// An aggregate file that was changed while the store retired all of it.
func TestResolveRetiredAggregate(t *testing.T) {
	t.Parallel()
	for _, take := range []string{"file", "store"} {
		w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
		err := w.Store.Update(t.Context(), func(tx *store.Tx) error {
			for _, name := range []record.Name{
				{Kind: record.KindFrame, ID: issueFile}, {Kind: record.KindIssue, ID: "ISSUE-20260302-001"},
				{Kind: record.KindIssue, ID: "ISSUE-20260302-002"},
			} {
				if err := tx.Retire(name, store.Expect{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		changed := edited(issueQueue, firstPending, "| Status | accepted |")
		writeTree(t, w.Root, map[string]string{issueFile: changed})
		wantActions(t, runSync(t, w, materialize.SyncOptions{}), "conflict "+issueFile)
		open, err := w.Conflicts(t.Context())
		if err != nil || len(open) != 1 {
			t.Fatalf("conflicts = %v, %v", open, err)
		}
		if _, err := w.Resolve(t.Context(), open[0], take); err != nil {
			t.Fatalf("take %s: %v", take, err)
		}
		want := map[string]string{}
		if take == "file" {
			want[issueFile] = changed
		}
		if diff := cmp.Diff(want, readTree(t, w.Root)); diff != "" {
			t.Errorf("take %s: the files (-want +got):\n%s", take, diff)
		}
		wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	}
}

// Two conflicts of one entry are resolved one after the other.
func TestResolveSeveral(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	name := "issue/ISSUE-20260302-001"
	for i, side := range []string{"one", "two"} {
		storeOnly(t, w, name, entryText(t, w, name, "pending", "accepted", "accepted", "merged"))
		text, err := os.ReadFile(filepath.Join(w.Root, issueFile))
		if err != nil {
			t.Fatal(err)
		}
		changed := edited(string(text), "| Status | pending |", "| Status | "+side+" |", "| Status | accepted |", "| Status | "+side+" |")
		writeTree(t, w.Root, map[string]string{issueFile: changed})
		wantActions(t, runSync(t, w, materialize.SyncOptions{}), "conflict "+issueFile)
		if open, err := w.Conflicts(t.Context()); err != nil || len(open) != i+1 {
			t.Fatalf("conflicts = %v, %v", open, err)
		}
	}
	for n := 2; n > 0; n-- {
		open, err := w.Conflicts(t.Context())
		if err != nil || len(open) != n {
			t.Fatalf("conflicts = %v, %v; want %d", open, err, n)
		}
		if _, err := w.Resolve(t.Context(), open[n-1], "file"); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, w, issueFile, edited(issueQueue, firstPending, "| Status | two |"))
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}

// A put that says which version it read fails when that is not the current one.
func TestPutEntryExpects(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	name := "issue/ISSUE-20260302-001"
	first := put(t, w, name, entryText(t, w, name, "pending", "accepted"))
	second := put(t, w, name, entryText(t, w, name, "accepted", "done"))
	for _, test := range []struct {
		expect store.Expect
		want   error
	}{
		{store.Current(first.Ref), store.ErrConflict}, {store.Absent(), store.ErrConflict}, {store.Current(second.Ref), nil},
	} {
		_, err := w.Put(t.Context(), materialize.PutRequest{
			Kind: record.KindIssue, ID: "ISSUE-20260302-001", Source: record.SourcePut, Expect: test.expect,
			Text: strings.NewReader(entryText(t, w, name, "done", "reopened")),
		})
		if !errors.Is(err, test.want) {
			t.Errorf("a put that expects %v: %v, want %v", test.expect, err, test.want)
		}
	}
	wantFile(t, w, issueFile, edited(issueQueue, firstPending, "| Status | reopened |"))
}

// Two folders change the text around the entries: the store's stays until somebody
// decides, and the file's then stands around all entries that there are.
func TestSyncAroundEntries(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	there := secondRoot(t, w)
	writeTree(t, there.Root, map[string]string{issueFile: issueQueue})
	wantActions(t, runSync(t, there, materialize.SyncOptions{}))
	more := "\n### ISSUE-20260302-007\n\n- **Status**: pending\n"
	writeTree(t, w.Root, map[string]string{issueFile: edited(issueQueue, "Issue Queue", "Ours") + more})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "captured "+issueFile)
	writeTree(t, there.Root, map[string]string{issueFile: edited(issueQueue, "Issue Queue", "Theirs")})
	wantActions(t, runSync(t, there, materialize.SyncOptions{}), "conflict "+issueFile)
	wantFile(t, there, issueFile, edited(issueQueue, "Issue Queue", "Ours")+more)
	open, err := w.Conflicts(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("conflicts = %v, %v", open, err)
	}
	if _, err := there.Resolve(t.Context(), open[0], "file"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, there, issueFile, edited(issueQueue, "Issue Queue", "Theirs")+more)
	runSync(t, w, materialize.SyncOptions{})
	wantFile(t, w, issueFile, edited(issueQueue, "Issue Queue", "Theirs")+more)
}
