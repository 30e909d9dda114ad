package materialize_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// appendTo appends a text as a shell does: it opens the file, and writes a little
// later.
func appendTo(t testing.TB, file, text string, later time.Duration) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		t.Error(err)
		return
	}
	time.Sleep(later)
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		t.Error(err, closeErr)
	}
}

// Agents append to a file all the time while commands put other entries of it: no
// line is ever lost.
func TestAppenderNeverLosesALine(t *testing.T) {
	t.Parallel()
	w := impatient(t, syncedWorkspace(t, map[string]string{issueFile: issueQueue}))
	file := filepath.Join(w.Root, issueFile)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var appended [3]int
	for agent := range appended {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				text := fmt.Sprintf("\n### ISSUE-2026030%d-%03d\n\n- **Status**: pending\n", agent+3, n+1)
				appendTo(t, file, text, time.Duration(agent*2)*time.Millisecond)
				appended[agent] = n + 1
				time.Sleep(7 * time.Millisecond)
			}
		})
	}
	puts := 0
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); puts++ {
		text := fmt.Sprintf("### ISSUE-20260302-002\n\n- **Status**: round_%d\n", puts)
		putWhileWritten(t, w, text)
	}
	close(stop)
	wg.Wait()
	runSync(t, w, materialize.SyncOptions{Accept: true})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	everything := string(text) + everStored(t, w)
	for agent, count := range appended {
		for n := range count {
			id := fmt.Sprintf("ISSUE-2026030%d-%03d", agent+3, n+1)
			if !strings.Contains(everything, "### "+id+"\n") {
				t.Errorf("%s of %d was lost after %d puts", id, count, puts)
			}
		}
	}
	t.Logf("%d puts, %v lines appended", puts, appended)
}

// putWhileWritten puts an issue; it may fail only because the file is busy.
func putWhileWritten(t testing.TB, w *materialize.Workspace, text string) {
	t.Helper()
	_, err := w.Put(t.Context(), materialize.PutRequest{
		Kind: "issue", ID: "ISSUE-20260302-002", Text: strings.NewReader(text), Source: "put",
	})
	if err != nil && !strings.Contains(err.Error(), "changed") &&
		!strings.Contains(err.Error(), "that text is note/") {
		t.Errorf("Put: %v", err)
	}
}

// A program that keeps a file open for writing keeps it: its next line must not go
// to a file that has no name any more.
func TestFileHeldOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who writes to a file")
	}
	for label, change := range map[string]func(t testing.TB, w *materialize.Workspace){
		"the store has newer": func(t testing.TB, w *materialize.Workspace) {
			storeOnly(t, w, "state/session_state", "run_id: a\nnewer\n")
		},
		"the store retired it": func(t testing.TB, w *materialize.Workspace) {
			err := w.Store.Update(t.Context(), func(tx *store.Tx) error {
				return tx.Retire(record.Name{Kind: record.KindState, ID: "session_state"}, store.Expect{})
			})
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			w := syncedWorkspace(t, map[string]string{stateFile: "run_id: a\n"})
			change(t, w)
			f, err := os.OpenFile(filepath.Join(w.Root, stateFile), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			wantActions(t, runSync(t, w, materialize.SyncOptions{}), "waiting "+stateFile)
			if _, err := f.WriteString("by hand\n"); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			wantFile(t, w, stateFile, "run_id: a\nby hand\n")
			wantActions(t, runSync(t, w, materialize.SyncOptions{}), "conflict "+stateFile)
			wantPaths(t, "after sync", readTree(t, filepath.Join(w.Root, ".claude")), existing(w, "session_state.md")...)
		})
	}
}

// existing returns the name if the file is there.
func existing(w *materialize.Workspace, name string) []string {
	if _, err := os.Stat(filepath.Join(w.Root, ".claude", name)); err != nil {
		return nil
	}
	return []string{name}
}

// A line that is written while the file is being replaced, by a program that
// opened it before, is merged.
func TestLateLine(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	for i := range 5 {
		storeOnly(t, w, "issue/ISSUE-20260302-002", fmt.Sprintf("### ISSUE-20260302-002\n\n- **Status**: round_%d\n", i))
		done := make(chan struct{})
		opened := make(chan struct{})
		go func() {
			defer close(done)
			f, err := os.OpenFile(filepath.Join(w.Root, issueFile), os.O_WRONLY|os.O_APPEND, 0)
			close(opened)
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(8 * time.Millisecond)
			_, err = fmt.Fprintf(f, "\n### ISSUE-20260303-%03d\n\n- **Status**: pending\n", i+1)
			if closeErr := f.Close(); err != nil || closeErr != nil {
				t.Error(err, closeErr)
			}
		}()
		<-opened
		runSync(t, w, materialize.SyncOptions{})
		<-done
	}
	runSync(t, w, materialize.SyncOptions{})
	text, err := os.ReadFile(filepath.Join(w.Root, issueFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "### ISSUE-20260303-"); got != 5 || !strings.Contains(string(text), "round_4") {
		t.Errorf("%d of 5 late lines are there:\n%s", got, text)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}
