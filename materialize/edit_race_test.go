package materialize_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// An agent writes the file by hand while a command adds an entry to it: between the
// look at the disk and the write. The command only was slower, and is no conflict.
func TestEditMeetsHand(t *testing.T) {
	const byHand = "\n### ISSUE-HAND-1\n\n- **Status**: pending\n\n---\n"
	for label, c := range map[string]struct{ before, hand string }{
		"a new file of entries":     {"", byHand},
		"a new file with a heading": {"", "# Our own queue\n\nRead this first.\n" + byHand},
		"a new file with the same id": {"", "# Issue Queue\n" +
			strings.ReplaceAll(byHand, "HAND-1", "20260302-001")},
		"an old file with the same id": {issueQueue, issueQueue +
			strings.ReplaceAll(byHand, "HAND-1", "20260302-003")},
		"an old file with another text":    {issueQueue, "Read this first.\n\n" + issueQueue + byHand},
		"an old file with another entry":   {issueQueue, issueQueue + byHand},
		"an old file that is empty by now": {"# Issue Queue\n", byHand},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			if c.before != "" {
				files[issueFile] = c.before
			}
			w := syncedWorkspace(t, files)
			var id string
			calls := 0
			err := w.EditEntries(t.Context(), record.KindIssue, "", record.SourcePut,
				func(e *materialize.Entries) (err error) {
					if calls++; calls == 1 {
						writeTree(t, w.Root, map[string]string{issueFile: c.hand})
					}
					id, err = e.NextID(record.KindIssue, "ISSUE-20260302-")
					e.Add(record.KindIssue, id, []byte("### "+id+"\n\n- **Status**: by_command\n"))
					return err
				})
			if err != nil {
				t.Errorf("EditEntries: %v", err)
			}
			text, err := os.ReadFile(filepath.Join(w.Root, issueFile))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(c.hand) {
				if !strings.Contains(string(text), line) {
					t.Errorf("%q of the agent is lost", line)
				}
			}
			if strings.Count(string(text), "### "+id+"\n") != 1 || !strings.Contains(string(text), "by_command") {
				t.Errorf("%s is not there once after %d calls:\n%s", id, calls, text)
			}
			if open, err := w.Conflicts(t.Context()); err != nil || len(open) > 0 {
				t.Errorf("conflicts: %v, %v", open, err)
			}
			wantActions(t, runSync(t, w, materialize.SyncOptions{}))
		})
	}
}

// impatient returns a workspace whose commands wait for a short time only.
func impatient(t testing.TB, w *materialize.Workspace) *materialize.Workspace {
	t.Helper()
	c := &testClock{now: time.Now().Add(time.Hour)}
	other, err := materialize.Open(w.Location, w.Settings, store.Options{Now: c.Now, Wait: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return other
}

// A file that has to be merged first, while a program keeps it open for writing, is
// waited for; after the deadline the command is refused as busy, and stores nothing.
func TestEditOfFileHeldOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who writes to a file")
	}
	held := func(t *testing.T) (*materialize.Workspace, *os.File) {
		w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
		storeOnly(t, w, "issue/ISSUE-20260302-002", "### ISSUE-20260302-002\n\n- **Status**: newer\n")
		f, err := os.OpenFile(filepath.Join(w.Root, issueFile), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.WriteString("\n### ISSUE-HAND-1\n\n- **Status**: pending\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		return w, f
	}
	add := func(t *testing.T, w *materialize.Workspace) error {
		return w.EditEntries(t.Context(), record.KindIssue, "", record.SourcePut, func(e *materialize.Entries) error {
			e.Add(record.KindIssue, "ISSUE-20260302-009",
				[]byte("### ISSUE-20260302-009\n\n- **Status**: by_command\n"))
			return nil
		})
	}
	t.Run("for a while", func(t *testing.T) {
		t.Parallel()
		w, f := held(t)
		time.AfterFunc(2*time.Second, func() { _ = f.Close() }) // only written to above
		if err := add(t, w); err != nil {
			t.Errorf("EditEntries: %v", err)
		}
		text, err := os.ReadFile(filepath.Join(w.Root, issueFile))
		for _, word := range []string{"by_command", "newer", "ISSUE-HAND-1"} {
			if err != nil || strings.Count(string(text), word) != 1 {
				t.Errorf("%s is not there once, %v:\n%s", word, err, text)
			}
		}
	})
	t.Run("for longer", func(t *testing.T) {
		t.Parallel()
		w, f := held(t)
		err := add(t, impatient(t, w))
		if closeErr := f.Close(); !errors.Is(err, record.Busy) || closeErr != nil {
			t.Errorf("EditEntries = %v, want busy; %v", err, closeErr)
		}
		name := record.Name{Kind: record.KindIssue, ID: "ISSUE-20260302-009"}
		if stored, err := w.EverStored(t.Context(), name); err != nil || stored {
			t.Errorf("it was stored: %t, %v", stored, err)
		}
	})
}
