package materialize_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// a workspace whose files and store agree.
func syncedWorkspace(t testing.TB, files map[string]string) *materialize.Workspace {
	t.Helper()
	w := newWorkspace(t)
	writeTree(t, w.Root, files)
	runSync(t, w, materialize.SyncOptions{})
	return w
}

func wantActions(t testing.TB, report *materialize.SyncReport, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, actions(report)); diff != "" {
		t.Errorf("sync (-want +got):\n%s", diff)
	}
}

func wantFile(t testing.TB, w *materialize.Workspace, path, want string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Root, filepath.FromSlash(path)))
	if err != nil || string(text) != want {
		t.Errorf("%s = %q, %v; want %q", path, text, err, want)
	}
}

func put(t testing.TB, w *materialize.Workspace, name, text string) *materialize.PutResult {
	t.Helper()
	n, err := record.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	result, err := w.Put(t.Context(), materialize.PutRequest{
		Kind: n.Kind, ID: n.ID, Text: strings.NewReader(text), Source: record.SourcePut,
	})
	if err != nil {
		t.Fatalf("Put(%s): %v", name, err)
	}
	return result
}

// TestReadsWaitForNobody looks for changed files as reading commands do, while somebody has the mirror's lock.
func TestReadsWaitForNobody(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: "", "docs/a.md": "a\n"})
	lock := turnstile.New(folder.At(w.Location.Store).Sub("mirror"), "sync")
	hold, err := lock.Acquire(t.Context(), turnstile.Exclusive, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	other, err := materialize.Open(w.Location, w.Settings, store.Options{Wait: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	reads := materialize.SyncOptions{CaptureOnly: true, Finished: true, Budget: time.Minute}
	if report, err := other.Sync(t.Context(), w.Root, reads); err != nil || len(report.Files)+report.Unread > 0 {
		t.Errorf("a look at files that are in step, while others sync: %+v, %v", report, err)
	}
	writeTree(t, w.Root, map[string]string{".claude/journal/task-1.md": "# Task 1\n"})
	if _, err := other.Sync(t.Context(), w.Root, reads); !errors.Is(err, turnstile.ErrBusy) {
		t.Errorf("a look at a new file, while others sync: %v, want it to wait", err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	if report, err := other.Sync(t.Context(), w.Root, reads); err != nil || len(report.Files) != 1 {
		t.Errorf("a look at a new file: %+v, %v", report, err)
	}
}

const (
	issueFile     = ".claude/issue_queue.md"
	stateFile     = ".claude/session_state.md"
	firstPending  = "| Status | pending |"
	secondPending = "- **Status**: accepted"
)

func edited(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

// withIssue returns the n-th entry of the sample queue with replacements made.
func entryText(t testing.TB, w *materialize.Workspace, name string, pairs ...string) string {
	t.Helper()
	return edited(textOf(t, w, name), pairs...)
}

func TestSyncTakesOnlyWhatLayoutsKnow(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	writeTree(t, w.Root, map[string]string{
		issueFile: issueQueue, ".claude/settings.json": `{"key": "secret"}`, ".claude/commands/x.md": "command",
		"src/main.go": "package main", "docs/notes/a.md": "a note",
	})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "captured "+issueFile)
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	w.Settings.NoteFolders = []string{"docs/notes"}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "captured docs/notes/a.md")
	if got := textOf(t, w, "note/docs/notes/a.md"); got != "a note" {
		t.Errorf("note = %q", got)
	}
}

// TestSyncOrder takes in many places of the settings, folders and single files, always in one order.
func TestSyncOrder(t *testing.T) {
	t.Parallel()
	w, files, want := newWorkspace(t), map[string]string{}, []string(nil)
	w.Settings.Kinds = layout.Folders{}
	for i := range 12 {
		folder := fmt.Sprintf("learned/%02d", i)
		w.Settings.Kinds[folder] = record.KindKnowledge
		files[folder+"/a.md"], want = "a text", append(want, "captured "+folder+"/a.md")
	}
	for i := range 12 {
		file := fmt.Sprintf("note-%02d.md", i)
		w.Settings.NoteFolders = append(w.Settings.NoteFolders, file)
		files[file], want = "a note", append(want, "captured "+file)
	}
	writeTree(t, w.Root, files)
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), want...)
}

func TestSyncDiskChanged(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	before := position(t, w)
	writeTree(t, w.Root, map[string]string{issueFile: edited(issueQueue, firstPending, "| Status | accepted |")})
	dry := runSync(t, w, materialize.SyncOptions{DryRun: true})
	wantActions(t, dry, "captured "+issueFile)
	if position(t, w) != before {
		t.Error("a dry run wrote to the store")
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "captured "+issueFile)
	if got := textOf(t, w, "issue/ISSUE-20260302-001"); !strings.Contains(got, "accepted") {
		t.Errorf("issue 1 = %q", got)
	}
	if n := position(t, w) - before; n != 1 {
		t.Errorf("one changed entry made %d log entries", n)
	}
}

func TestSyncStoreChanged(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	changed := entryText(t, w, "issue/ISSUE-20260302-002", "accepted", "in_progress")
	put(t, w, "issue/ISSUE-20260302-002", changed)
	want := edited(issueQueue, secondPending, "- **Status**: in_progress")
	wantFile(t, w, issueFile, want)
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}

// storeOnly changes an entry in the store as a process does that dies before it
// writes the file.
func storeOnly(t testing.TB, w *materialize.Workspace, name, text string) {
	t.Helper()
	n, err := record.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	body, err := w.Store.Prepare(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var old store.Version
	view(t, w, func(tx *store.Tx) { old, err = tx.Head(n) })
	if err == nil {
		_, err = w.Store.Put(t.Context(), store.Draft{Record: *old.Record, Body: body})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSyncBothChanged(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	storeOnly(t, w, "issue/ISSUE-20260302-002", entryText(t, w, "issue/ISSUE-20260302-002", "accepted", "in_progress"))
	writeTree(t, w.Root, map[string]string{
		issueFile: edited(issueQueue, firstPending, "| Status | duplicate |") + "\n### ISSUE-20260302-003\n\n- **Status**: pending\n",
	})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "merged "+issueFile)
	want := edited(issueQueue, firstPending, "| Status | duplicate |", secondPending, "- **Status**: in_progress") +
		"\n### ISSUE-20260302-003\n\n- **Status**: pending\n"
	wantFile(t, w, issueFile, want)
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}

func TestSyncBothAdded(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	put(t, w, "issue/ISSUE-20260302-003", "### ISSUE-20260302-003\n\n- **Status**: pending\n")
	if err := os.WriteFile(filepath.Join(w.Root, issueFile), []byte(issueQueue+"\n### ISSUE-20260302-004\n\n- **Status**: pending"), 0o666); err != nil {
		t.Fatal(err)
	}
	report := runSync(t, w, materialize.SyncOptions{})
	text, err := os.ReadFile(filepath.Join(w.Root, issueFile))
	if err != nil {
		t.Fatal(err)
	}
	// An editor has read the file before 003 was added: it never removed that.
	wantActions(t, report, "merged "+issueFile)
	if !strings.Contains(string(text), "003") || !strings.Contains(string(text), "004") {
		t.Errorf("the file = %q", text)
	}
}

func TestSyncEntryConflict(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	storeOnly(t, w, "issue/ISSUE-20260302-001", entryText(t, w, "issue/ISSUE-20260302-001", "pending", "accepted"))
	writeTree(t, w.Root, map[string]string{issueFile: edited(issueQueue, firstPending, "| Status | wont_fix |")})
	report := runSync(t, w, materialize.SyncOptions{})
	wantActions(t, report, "conflict "+issueFile)
	wantFile(t, w, issueFile, edited(issueQueue, firstPending, "| Status | accepted |"))

	open, err := w.Conflicts(t.Context())
	if err != nil || len(open) != 1 || open[0].Name.String() != "issue/ISSUE-20260302-001" {
		t.Fatalf("conflicts = %v, %v", open, err)
	}
	text, err := w.TextOf(t.Context(), open[0].File)
	if err != nil || !strings.Contains(string(text), "wont_fix") {
		t.Errorf("the file's side = %q, %v", text, err)
	}
	if _, err := w.Resolve(t.Context(), open[0], "file"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, w, issueFile, edited(issueQueue, firstPending, "| Status | wont_fix |"))
	if open, _ := w.Conflicts(t.Context()); len(open) != 0 {
		t.Errorf("conflicts after resolving = %v", open)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}

func TestSyncTakeBoth(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue, stateFile: "run_id: a\n"})
	storeOnly(t, w, "issue/ISSUE-20260302-001", entryText(t, w, "issue/ISSUE-20260302-001", "pending", "accepted"))
	storeOnly(t, w, "state/session_state", "run_id: b\n")
	writeTree(t, w.Root, map[string]string{
		issueFile: edited(issueQueue, firstPending, "| Status | wont_fix |"), stateFile: "run_id: c\n",
	})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "conflict "+issueFile, "conflict "+stateFile)
	open, err := w.Conflicts(t.Context())
	if err != nil || len(open) != 2 {
		t.Fatalf("conflicts = %v, %v", open, err)
	}
	for _, c := range open {
		if _, err := w.Resolve(t.Context(), c, "both"); err != nil {
			t.Fatalf("resolving %s: %v", c.Name, err)
		}
	}
	runSync(t, w, materialize.SyncOptions{})
	if got := textOf(t, w, "issue/ISSUE-20260302-001-2"); !strings.Contains(got, "wont_fix") {
		t.Errorf("the second issue = %q", got)
	}
	wantFile(t, w, stateFile, "run_id: b\n")
	if got := textOf(t, w, "state/session_state~2"); got != "run_id: c\n" {
		t.Errorf("the second state = %q", got)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}

// What was deleted stays deleted: issues and markers are retired, a journal stays in
// the store, and comes back when it is asked for.
func TestSyncDeleted(t *testing.T) {
	t.Parallel()
	marker, journal := ".claude/agent_complete/task-001.done", ".claude/journal/task-001.md"
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue, marker: "done", journal: "# Task: a\n"})
	for _, path := range []string{issueFile, marker, journal} {
		if err := os.Remove(filepath.Join(w.Root, path)); err != nil {
			t.Fatal(err)
		}
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "retired "+issueFile, "cleared "+marker)
	for range 2 {
		wantActions(t, runSync(t, w, materialize.SyncOptions{}))
		for _, path := range []string{issueFile, marker, journal} {
			if _, err := os.Stat(filepath.Join(w.Root, path)); err == nil {
				t.Errorf("%s was written again", path)
			}
		}
	}
	if n := heads(t, w, record.KindIssue); n != 0 {
		t.Errorf("%d issues of a file that was deleted are left", n)
	}
	all := func(string, bool) bool { return true }
	wantActions(t, runSync(t, w, materialize.SyncOptions{Restore: all}), "written "+issueFile, "written "+journal)
	wantFile(t, w, issueFile, issueQueue)
	if n := heads(t, w, record.KindIssue); n != 2 {
		t.Errorf("%d issues are back, want 2", n)
	}
	wantFile(t, w, journal, "# Task: a\n")
}

func TestSyncRetired(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{stateFile: "run_id: a\n"})
	retire := func() {
		err := w.Store.Update(t.Context(), func(tx *store.Tx) error {
			return tx.Retire(record.Name{Kind: record.KindState, ID: "session_state"}, store.Expect{})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	retire()
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "deleted "+stateFile)

	writeTree(t, w.Root, map[string]string{stateFile: "run_id: b\n"})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "captured "+stateFile)
	retire()
	writeTree(t, w.Root, map[string]string{stateFile: "run_id: c\n"})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "conflict "+stateFile)
	wantFile(t, w, stateFile, "run_id: c\n")
	open, err := w.Conflicts(t.Context())
	if err != nil || len(open) != 1 || open[0].Head != nil {
		t.Fatalf("conflicts = %v, %v", open, err)
	}
	if _, err := w.Resolve(t.Context(), open[0], "store"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.Root, stateFile)); err == nil {
		t.Error("the file is still there after the retired side was taken")
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}

func TestSyncRolledBack(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue, stateFile: "run_id: a\n"})
	newer := edited(issueQueue, firstPending, "| Status | accepted |")
	writeTree(t, w.Root, map[string]string{issueFile: newer, stateFile: "run_id: b\n"})
	runSync(t, w, materialize.SyncOptions{})
	older := map[string]string{issueFile: issueQueue, stateFile: "run_id: a\n"}
	writeTree(t, w.Root, older)
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "merged "+issueFile, "rolled back "+stateFile)
	wantFile(t, w, issueFile, newer)
	wantFile(t, w, stateFile, "run_id: a\n")
	wantActions(t, runSync(t, w, materialize.SyncOptions{Repair: true}), "restored "+stateFile)
	wantFile(t, w, stateFile, "run_id: b\n")
	writeTree(t, w.Root, older)
	wantActions(t, runSync(t, w, materialize.SyncOptions{Accept: true}), "captured "+issueFile, "captured "+stateFile)
	if got := textOf(t, w, "issue/ISSUE-20260302-001"); !strings.Contains(got, "pending") {
		t.Errorf("issue 1 = %q", got)
	}
}

func TestSyncAlteredResult(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	result := put(t, w, "result/c1/call1", "# Finding\n\nThe text.\n")
	path := ".claude/agent_tool_results/c1/call1.md"
	wantFile(t, w, path, "# Finding\n\nThe text.\n")
	if result.File != filepath.Join(w.Root, path) {
		t.Errorf("result file = %s", result.File)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	writeTree(t, w.Root, map[string]string{path: "edited"})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "altered "+path)
	if got := textOf(t, w, "note/"+path+"~altered"); got != "edited" {
		t.Errorf("the altered text = %q", got)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{Repair: true}), "restored "+path)
	wantFile(t, w, path, "# Finding\n\nThe text.\n")
	writeTree(t, w.Root, map[string]string{path: "edited again"})
	_, err := w.Put(t.Context(), materialize.PutRequest{
		Kind: record.KindResult, ID: "c1/call1", Text: strings.NewReader("Another.\n"), Source: record.SourcePut,
		Replaces: true, Expect: store.Current(result.Ref),
	})
	if got := textOf(t, w, "note/"+path+"~altered"); err != nil || got != "edited again" {
		t.Errorf("the text altered before another took its place = %q, %v", got, err)
	}
	wantFile(t, w, path, "Another.\n")
	if open, err := w.Conflicts(t.Context()); err != nil || len(open) > 0 {
		t.Errorf("Conflicts = %v, %v", open, err)
	}
}

func TestSyncNewTask(t *testing.T) {
	t.Parallel()
	journal := ".claude/journal/task-001.md"
	text := "# Task: Login\n\n## Metadata\n- Status: completed\n- Started: 2026-03-02T10:00:00Z\n"
	w := syncedWorkspace(t, map[string]string{journal: text})
	second := edited(text, "Login", "Logout", "2026-03-02", "2026-03-09")
	writeTree(t, w.Root, map[string]string{journal: second})
	runSync(t, w, materialize.SyncOptions{})
	if got := textOf(t, w, "handoff/task-001"); got != text {
		t.Errorf("the first task = %q", got)
	}
	if got := textOf(t, w, "handoff/task-001~2"); got != second {
		t.Errorf("the second task = %q", got)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	wantTree(t, w, "", map[string]string{journal: second})
}

func TestSyncGitConflict(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	writeTree(t, w.Root, map[string]string{
		issueFile: edited(issueQueue, firstPending, "<<<<<<< HEAD\n| Status | a |\n=======\n| Status | b |\n>>>>>>> other"),
	})
	report := runSync(t, w, materialize.SyncOptions{})
	wantActions(t, report, "skipped "+issueFile+": holds conflict markers of git")
	if got := textOf(t, w, "issue/ISSUE-20260302-001"); !strings.Contains(got, firstPending) {
		t.Errorf("issue 1 = %q", got)
	}
}

func TestSyncLostMemory(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue, stateFile: "run_id: a\n"})
	if err := os.RemoveAll(filepath.Join(w.Location.Store, "mirror")); err != nil {
		t.Fatal(err)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	if err := os.RemoveAll(filepath.Join(w.Location.Store, "mirror")); err != nil {
		t.Fatal(err)
	}
	// Nobody knows now whether the store or the file is newer: what stands there counts.
	queue := edited(issueQueue, firstPending, "| Status | done |") + "\n### ISSUE-20260302-003\n\n- **Status**: pending\n"
	writeTree(t, w.Root, map[string]string{stateFile: "run_id: b\n", issueFile: queue})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "merged "+issueFile, "captured "+stateFile)
	wantFile(t, w, stateFile, "run_id: b\n")
	wantFile(t, w, issueFile, queue)
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))

	// What is not there is not written back.
	err := errors.Join(os.RemoveAll(filepath.Join(w.Location.Store, "mirror")), os.RemoveAll(filepath.Join(w.Root, ".claude")))
	if err != nil {
		t.Fatal(err)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	if _, err := os.Stat(filepath.Join(w.Root, issueFile)); err == nil {
		t.Error("a new memory wrote what it did not know")
	}
}

func TestRemoveAndRestore(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue, stateFile: "run_id: a\n"})
	first := record.Name{Kind: record.KindIssue, ID: "ISSUE-20260302-001"}
	if err := w.Remove(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	at, end := strings.Index(issueQueue, "### ISSUE-20260302-001"), strings.Index(issueQueue, "### ISSUE-20260302-002")
	wantFile(t, w, issueFile, issueQueue[:at]+issueQueue[end:])
	if _, err := w.Restore(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, w, first.String()); !strings.Contains(got, firstPending) {
		t.Errorf("restored = %q", got)
	}
	state := record.Name{Kind: record.KindState, ID: "session_state"}
	if err := w.Remove(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.Root, stateFile)); err == nil {
		t.Error("the file of a removed name is still there")
	}
	if _, err := w.Restore(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	wantFile(t, w, stateFile, "run_id: a\n")
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}

func TestPutEntries(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	put(t, w, "issue/ISSUE-20260302-001", "### ISSUE-20260302-001\n\n- **Status**: pending\n")
	put(t, w, "issue/ISSUE-20260302-002", "### ISSUE-20260302-002\n\n- **Status**: pending\n")
	put(t, w, "issue/ISSUE-20260302-001", "### ISSUE-20260302-001\n\n- **Status**: accepted\n")
	wantFile(t, w, issueFile, "# Issue Queue\n\n### ISSUE-20260302-001\n\n- **Status**: accepted\n\n### ISSUE-20260302-002\n\n- **Status**: pending\n")
	if got := textOf(t, w, "issue/ISSUE-20260302-001"); got != "### ISSUE-20260302-001\n\n- **Status**: accepted\n" {
		t.Errorf("issue 1 = %q", got)
	}
	put(t, w, "knowledge/gotcha-001", "### gotcha-001\n- Type: gotcha\n- Tags: [go]\n- Content: x\n")
	put(t, w, "knowledge/pattern-001", "### pattern-001\n- Type: pattern\n- Tags: [go]\n- Content: y\n")
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	n, err := w.Put(t.Context(), materialize.PutRequest{
		Kind: record.KindIssue, ID: "ISSUE-20260302-009", Text: strings.NewReader("no heading"), Source: record.SourcePut,
	})
	if err == nil {
		t.Errorf("a text that is no entry was put as %v", n)
	}
}

func TestManyWritersOneFile(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			// Each writer has a handle of its own, as a process has.
			mine, err := materialize.Open(w.Location, w.Settings, store.Options{Now: time.Now, Wait: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			id := fmt.Sprintf("ISSUE-20260302-%03d", i+1)
			for _, status := range []string{"pending", "accepted"} {
				_, err := mine.Put(t.Context(), materialize.PutRequest{
					Kind: record.KindIssue, ID: id, Source: record.SourcePut,
					Text: strings.NewReader("### " + id + "\n\n- **Status**: " + status + "\n"),
				})
				if err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	text, err := os.ReadFile(filepath.Join(w.Root, issueFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "accepted"); got != 24 || strings.Contains(string(text), "pending") {
		t.Errorf("%d of 24 issues are accepted:\n%s", got, text)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	wantTree(t, w, "", map[string]string{issueFile: string(text)})
}

// An agent appends by hand, as agents do, while commands change other entries of
// the same file.
func TestHandAndCommandAtOnce(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	file := filepath.Join(w.Root, issueFile)
	for i := range 15 {
		status := fmt.Sprintf("round_%d", i)
		storeOnly(t, w, "issue/ISSUE-20260302-002", entryText(t, w, "issue/ISSUE-20260302-002", "accepted", status, fmt.Sprintf("round_%d", i-1), status))
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(f, "\n### ISSUE-20260303-%03d\n\n- **Status**: pending\n", i+1)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		wantActions(t, runSync(t, w, materialize.SyncOptions{}), "merged "+issueFile)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "### ISSUE-20260303-"); got != 15 || !strings.Contains(string(text), "round_14") {
		t.Errorf("%d of 15 appended issues are there:\n%s", got, text)
	}
}

func TestSyncSweepsTemporaryFiles(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	stale, fresh := ".claude/.filebus-abcdefghijklmnopqrstuvwxy2.new", ".claude/journal/.filebus-abcdefghijklmnopqrstuvwxy3.new"
	writeTree(t, w.Root, map[string]string{stale: "half", fresh: "half"})
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(w.Root, stale), old, old); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Add(2 * time.Hour) // the test's clock is an hour ahead
	if err := os.Chtimes(filepath.Join(w.Root, fresh), now, now); err != nil {
		t.Fatal(err)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	wantPaths(t, "after sync", readTree(t, w.Root), fresh)
}

// A file can have the size and the time that are remembered, and other bytes.
func TestSameSizeSameTime(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{stateFile: "run_id: a\n"})
	file := filepath.Join(w.Root, filepath.FromSlash(stateFile))
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, w.Root, map[string]string{stateFile: "run_id: b\n"})
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	n := record.Name{Kind: record.KindState, ID: "session_state"}
	_, err = w.Put(t.Context(), materialize.PutRequest{
		Kind: n.Kind, ID: n.ID, Text: strings.NewReader("run_id: c\n"), Source: record.SourcePut,
	})
	if err != nil && !errors.Is(err, store.ErrConflict) {
		t.Fatal(err)
	}
	found := false
	view(t, w, func(tx *store.Tx) {
		for e, err := range tx.Log(1) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := tx.Get(e.Ref)
			if err != nil {
				t.Fatal(err)
			}
			found = found || v.Record.Body == record.DigestOf([]byte("run_id: b\n"))
		}
	})
	if !found {
		t.Error("the text that was on disk is lost")
	}
}

// A body that is lost keeps no other file from being reconciled.
func TestSyncGoesOnAfterDamage(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	large := strings.Repeat("0123456789abcdef\n", 80_000)
	writeTree(t, w.Root, map[string]string{".claude/journal/task-001.md": "# Task: a\n" + large, stateFile: "run_id: a\n"})
	runSync(t, w, materialize.SyncOptions{})
	bodies, err := filepath.Glob(filepath.Join(w.Location.Store, "bodies", "*", "*.zst"))
	if err != nil || len(bodies) != 1 {
		t.Fatalf("large bodies = %v, %v", bodies, err)
	}
	kept := bodies[0] + ".kept"
	if err := os.Rename(bodies[0], kept); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{".claude/journal/task-001.md", stateFile} {
		if err := os.Remove(filepath.Join(w.Root, path)); err != nil {
			t.Fatal(err)
		}
	}
	all := func(string, bool) bool { return true }
	_, err = w.Sync(t.Context(), w.Root, materialize.SyncOptions{Announced: true, Restore: all})
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "task-001") {
		t.Errorf("Sync with a lost body = %v, want damaged with its path", err)
	}
	wantFile(t, w, stateFile, "run_id: a\n")
	if err := os.Rename(kept, bodies[0]); err != nil {
		t.Fatal(err)
	}
	runSync(t, w, materialize.SyncOptions{Restore: all})
	wantFile(t, w, ".claude/journal/task-001.md", "# Task: a\n"+large)
}
