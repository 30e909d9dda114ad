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
	"filebus/store/record"
)

// TestEditText appends lines to one journal from many goroutines, while an agent
// writes to the file by hand.
func TestEditText(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	journal := layout.AppendJournal(nil, layout.Journal{Task: "Whole cents", Status: layout.StatusInProgress, Started: "2026-03-02T10:00:00Z"})
	start, err := w.EditText(t.Context(), record.KindHandoff, "task-001", record.SourcePut, func(old []byte, head *store.Version) ([]byte, error) {
		if old != nil || head != nil {
			t.Errorf("the journal is there before it was made: %q", old)
		}
		return journal, nil
	})
	if err != nil || start.Name.String() != "handoff/task-001" || start.Unchanged {
		t.Fatalf("made %+v: %v", start, err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			_, err := w.EditText(t.Context(), record.KindHandoff, "task-001", record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
				return layout.AppendProgress(old, layout.Progress{Time: "10:00", Text: fmt.Sprintf("step %d", i)}), nil
			})
			if err != nil {
				t.Errorf("step %d: %v", i, err)
			}
		})
	}
	group.Wait()
	text, err := os.ReadFile(start.File)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if n := strings.Count(string(text), fmt.Sprintf("step %d", i)); n != 1 {
			t.Errorf("step %d stands %d times in\n%s", i, n, text)
		}
	}
	same, err := w.EditText(t.Context(), record.KindHandoff, "task-001", record.SourcePut,
		func(old []byte, _ *store.Version) ([]byte, error) { return old, nil })
	if err != nil || !same.Unchanged {
		t.Errorf("an edit that changes nothing: %+v, %v", same, err)
	}
}

// TestEditTextMeanwhile has an agent write to the file while a command edits it,
// once or again and again: both lines are there, each once.
func TestEditTextMeanwhile(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 3} {
		w := newWorkspace(t)
		journal := layout.AppendJournal(nil, layout.Journal{Task: "A", Status: layout.StatusInProgress, Started: "2026-03-02T10:00:00Z"})
		made, err := w.EditText(t.Context(), record.KindHandoff, "task-001", record.SourcePut,
			func([]byte, *store.Version) ([]byte, error) { return journal, nil })
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"- [10:01] by command\n"}
		calls := 0
		_, err = w.EditText(t.Context(), record.KindHandoff, "task-001", record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
			if calls++; calls <= times {
				line := fmt.Sprintf("- [10:00] by hand %d\n", calls)
				want = append(want, line)
				appendFile(t, made.File, line)
			}
			return layout.AppendProgress(old, layout.Progress{Time: "10:01", Text: "by command"}), nil
		})
		if err != nil {
			t.Errorf("%d times: %v", times, err)
		}
		text, err := os.ReadFile(made.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if n := strings.Count(string(text), line); n != 1 {
				t.Errorf("%d times: %q stands %d times in\n%s", times, line, n, text)
			}
		}
		if conflicts, err := w.Conflicts(t.Context()); err != nil || len(conflicts) > 0 {
			t.Errorf("%d times: conflicts %v, %v", times, conflicts, err)
		}
	}
}

// appendFile adds to a file as a shell's ">>" does.
func appendFile(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEditTextNewTask(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	for i, want := range []string{"handoff/task-001", "handoff/task-001~2"} {
		made, err := w.EditText(t.Context(), record.KindHandoff, "task-001", record.SourcePut, func([]byte, *store.Version) ([]byte, error) {
			started := time.Date(2026, 3, 2+i, 10, 0, 0, 0, time.UTC).Format(time.RFC3339)
			return layout.AppendJournal(nil, layout.Journal{Task: "A", Status: layout.StatusComplete, Started: started}), nil
		})
		if err != nil || made.Name.String() != want {
			t.Errorf("journal %d is %v, want %s: %v", i, made.Name, want, err)
		}
	}
}

// TestEditEntries has many goroutines allocate ids in one queue.
func TestEditEntries(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	add := func(summary string) error {
		return w.EditEntries(t.Context(), record.KindIssue, "", record.SourcePut, func(e *materialize.Entries) error {
			id, err := e.NextID(record.KindIssue, "ISSUE-20260302-")
			if err == nil {
				e.Add(record.KindIssue, id,
					layout.IssueFields().Append(nil, layout.Issue{ID: id, Status: "pending", Summary: summary}))
			}
			return err
		})
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if err := add(fmt.Sprintf("summary %d", i)); err != nil {
				t.Errorf("adding %d: %v", i, err)
			}
		})
	}
	group.Wait()
	remove := record.Name{Kind: record.KindIssue, ID: "ISSUE-20260302-008"}
	if err := w.Remove(t.Context(), remove); err != nil {
		t.Fatal(err)
	}
	if err := add("after the removal"); err != nil { // the id of one that is gone is not given again
		t.Fatal(err)
	}
	var ids []string
	err := w.EditEntries(t.Context(), record.KindIssue, "", record.SourcePut, func(e *materialize.Entries) error {
		ids = nil
		for _, entry := range e.List() {
			ids = append(ids, entry.Name.ID)
		}
		first, _ := e.Find("ISSUE-20260302-001")
		e.Set(first.Name, layout.IssueFields().Set(first.Text, "Status", "accepted"))
		e.Add(record.KindIssue, "ISSUE-20260303-001",
			layout.IssueFields().Append(nil, layout.Issue{ID: "ISSUE-20260303-001", Status: "pending"}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 9} {
		want = append(want, fmt.Sprintf("ISSUE-20260302-%03d", n))
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	file, err := w.PathOf(record.Name{Kind: record.KindIssue, ID: "any"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), "| accepted |") != 1 || !strings.Contains(string(text), "ISSUE-20260303-001") {
		t.Errorf("the file: %v\n%s", err, text)
	}
}

func TestEditNothing(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	idle := func(*materialize.Entries) error { return nil }
	if err := w.EditEntries(t.Context(), record.KindIssue, "", record.SourcePut, idle); err != nil {
		t.Error(err)
	}
	refused := errors.New("refused")
	err := w.EditEntries(t.Context(), record.KindIssue, "", record.SourcePut, func(*materialize.Entries) error { return refused })
	if !errors.Is(err, refused) {
		t.Errorf("got %v, want the error of the edit", err)
	}
	file, err := w.PathOf(record.Name{Kind: record.KindIssue, ID: "any"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an edit without a change made %s: %v", file, err)
	}
}

// TestImport imports one file, and nothing where nothing stands.
func TestImport(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	writeTree(t, w.Root, map[string]string{
		".claude/agent_complete/task-001.done": "done", ".claude/agent_complete/task-002.done": "done",
	})
	for _, p := range []string{".claude/agent_complete/task-001.done", ".claude/agent_complete/task-003.done"} {
		if err := w.Import(t.Context(), p); err != nil {
			t.Errorf("taking in %s: %v", p, err)
		}
	}
	for id, want := range map[string]bool{"task-001": true, "task-002": false, "task-003": false} {
		err := w.Store.View(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Head(record.Name{Kind: record.KindMarker, ID: id})
			return err
		})
		if got := err == nil; got != want || err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("marker/%s is stored: %t, want %t: %v", id, got, want, err)
		}
	}
	if err := os.Mkdir(w.FilePath(".claude/agent_complete/task-004.done"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := w.Import(t.Context(), ".claude/agent_complete/task-004.done"); err == nil {
		t.Error("a folder was taken in")
	}
}

// TestEditTextNewMeanwhile has an agent make the file while a command makes it: the
// command's edit is made again, of the agent's text.
func TestEditTextNewMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	name := record.Name{Kind: record.KindTurn, ID: "x/round-0/muffin"}
	file, err := w.PathOf(name)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	made, err := w.EditText(t.Context(), name.Kind, name.ID, record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		seen = append(seen, string(old))
		if len(old) > 0 {
			return old, nil
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte("by hand\n"), 0o666)); err != nil {
			return nil, err
		}
		return []byte("[ERROR: no file]\n"), nil
	})
	if err != nil || made.Record.Source != record.SourceSync {
		t.Errorf("the head is of source %v, %v; want the agent's, of sync", made, err)
	}
	if diff := cmp.Diff([]string{"", "by hand\n"}, seen); diff != "" {
		t.Errorf("texts that were edited (-want +got):\n%s", diff)
	}
	wantFile(t, w, ".claude/dialogues/x/round-0/muffin.md", "by hand\n")
	if conflicts, err := w.Conflicts(t.Context()); err != nil || len(conflicts) > 0 {
		t.Errorf("conflicts %v, %v", conflicts, err)
	}
}

// TestEditTextAs stores what a text was made from and who it belongs to.
func TestEditTextAs(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	from := put(t, w, "result/c1/k1", "text\n").Ref
	origin := materialize.Origin{Source: record.SourceExec, From: []record.Ref{from}, Facts: layout.Facts{Session: "s1"}}
	made, err := w.EditTextAs(t.Context(), record.KindTurn, "x/round-0/muffin", origin, func([]byte, *store.Version) ([]byte, error) {
		return []byte("text\n"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := made.Record
	if diff := cmp.Diff([]record.Ref{from}, r.From); diff != "" || r.Session != "s1" || r.Agent != "muffin" || r.Source != record.SourceExec {
		t.Errorf("the record is %+v; want it from %v, of s1 and muffin, by exec", r, from)
	}
}

// TestImportStill leaves a file alone that was changed just now.
func TestImportStill(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	const p = ".claude/dialogues/x/round-0/muffin.md"
	w, err := materialize.Open(w.Location, w.Settings, store.Options{}) // by the clock that files have
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		age  time.Duration
		want string
	}{
		{"", 0, ""},
		{"half", 0, "waiting"},
		{"half of it", time.Second, "waiting"},
		{"half of it, and all\n", materialize.StillFor, "captured"},
		{"half of it, and all\n", 0, ""}, // touched
	} {
		if test.text != "" {
			writeTree(t, w.Root, map[string]string{p: test.text})
			at := time.Now().Add(-test.age)
			if err := os.Chtimes(w.FilePath(p), at, at); err != nil {
				t.Fatal(err)
			}
		}
		got, err := w.ImportStill(t.Context(), record.KindTurn, "x/round-0/muffin")
		if err != nil || got.Action != test.want {
			t.Errorf("%q, %v old: %q, %v; want %q", test.text, test.age, got.Action, err, test.want)
		}
	}
	if got := textOf(t, w, "turn/x/round-0/muffin"); got != "half of it, and all\n" {
		t.Errorf("stored: %q", got)
	}
	if n := position(t, w); n != 1 {
		t.Errorf("%d entries in the log, want 1: what is half written is not stored", n)
	}
}

// TestRemoveVersion removes a name only in the version that the caller has seen, be it
// in the store or on disk.
func TestRemoveVersion(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	name := record.Name{Kind: record.KindNote, ID: "docs/idea.md"}
	put := func(text string) *materialize.PutResult {
		t.Helper()
		result, err := w.Put(t.Context(), materialize.PutRequest{Kind: name.Kind, ID: name.ID, Text: strings.NewReader(text), Source: record.SourcePut})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	first := put("one\n")
	second := put("two\n")
	if err := w.RemoveVersion(t.Context(), name, store.Current(first.Ref)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("removing the version before: %v, want a conflict", err)
	}
	if err := os.WriteFile(second.File, []byte("by hand\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveVersion(t.Context(), name, store.Current(second.Ref)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("removing a file that was changed by hand: %v, want a conflict", err)
	}
	if text, err := os.ReadFile(second.File); string(text) != "by hand\n" || err != nil {
		t.Errorf("the file after that: %q, %v", text, err)
	}
	third := put("by hand\n")
	if err := w.RemoveVersion(t.Context(), name, store.Current(third.Ref)); err != nil {
		t.Errorf("removing the newest version: %v", err)
	}
	if _, err := os.Stat(second.File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file after that: %v", err)
	}
}
