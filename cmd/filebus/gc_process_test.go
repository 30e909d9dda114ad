package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

type gcReport struct {
	Released []struct{ Name, Ref string }
	Kept     []struct{ Name, Because string }
}

func runGcProcess(t testing.TB, dir string, args ...string) gcReport {
	t.Helper()
	var report gcReport
	out, err := filebusCommand(t, dir, append([]string{"gc", "--kind", "result", "--json"}, args...)...).Output()
	if err != nil {
		t.Fatalf("gc: %v: %s", err, exitText(err))
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("gc printed %s: %v", out, err)
	}
	return report
}

// TestGcWhilePutting collects again and again while many processes put results
// into the same conversations, of which one is emptied each time. No put may fail,
// and nothing may be counted twice or left over.
func TestGcWhilePutting(t *testing.T) {
	t.Parallel()
	processes, puts := manyProcesses(t), 4
	dir := t.TempDir()
	mustRun(t, dir, "init")
	var wg sync.WaitGroup
	stop := make(chan struct{})
	released := map[string]bool{}
	collect := func() {
		for _, args := range [][]string{{"--keep", "2"}, {"--conversation", "c2", "--older-than", "0d"}} {
			for _, n := range runGcProcess(t, dir, args...).Released {
				released[n.Name] = true
			}
		}
	}
	wg.Go(func() {
		for {
			collect()
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	var putters sync.WaitGroup
	for p := range processes {
		putters.Go(func() {
			for i := range puts {
				args := []string{"put", "--agent", fmt.Sprintf("a%d", p), "--conversation", fmt.Sprintf("c%d", p%3), "--call", fmt.Sprintf("k%d-%d", p, i)}
				cmd := filebusCommand(t, dir, args...)
				cmd.Stdin = strings.NewReader(fmt.Sprintf("Result %d of process %d.\n", i, p))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("put: %v: %s", err, out)
				}
			}
		})
	}
	putters.Wait()
	close(stop)
	wg.Wait()
	collect()
	if want := processes*puts - 2*2; len(released) != want {
		t.Errorf("%d results were destroyed, want %d", len(released), want)
	}
	wantSoundAndMirrored(t, dir, 4)
	if _, err := os.Stat(filepath.Join(dir, ".claude", "agent_tool_results", "c2")); err == nil {
		t.Error("the folder of a conversation without results is left")
	}
}

// wantSoundAndMirrored verifies the store, and compares the files of results with
// what is current.
func wantSoundAndMirrored(t testing.TB, dir string, results int) {
	t.Helper()
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
	var sync struct{ Roots []struct{ Files []any } }
	if out := mustRun(t, dir, "sync", "--json"); json.Unmarshal([]byte(out), &sync) != nil || len(sync.Roots) == 0 || len(sync.Roots[0].Files) > 0 {
		t.Errorf("sync had something to do: %s", out)
	}
	files, err := filepath.Glob(filepath.Join(dir, ".claude", "agent_tool_results", "*", "*.md"))
	if err != nil || len(files) != results {
		t.Errorf("%d files, want %d; %v", len(files), results, err)
	}
	if got := strings.Count(mustRun(t, dir, "list", "result", "--limit", "0"), "\n"); got != results {
		t.Errorf("%d results are listed, want %d", got, results)
	}
}

// TestKilledGc kills collections at random moments. The store must be sound after
// each, no file may come back, and running it again finishes.
func TestKilledGc(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const results = 500
	mustRun(t, dir, "init")
	for i := range results {
		folder := filepath.Join(dir, ".claude", "agent_tool_results", fmt.Sprintf("c%d", i%10))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, fmt.Sprintf("k%d.md", i))
		if err := os.WriteFile(file, fmt.Appendf(nil, "Result %d.\n", i), 0o666); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour) // whole, and not still being written
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, dir, "sync")
	for range 4 {
		cmd := filebusCommand(t, dir, "gc", "--kind", "result", "--keep", "3")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+chance(t).IntN(120)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may be done already
		_ = cmd.Wait()         // it was killed
		if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
			t.Fatalf("verify after a killed gc: %s", out)
		}
	}
	mustRun(t, dir, "sync") // deletes the files of names that were hidden when it died
	mustRun(t, dir, "gc", "--kind", "result", "--keep", "3")
	wantSoundAndMirrored(t, dir, 30)
	if out := mustRun(t, dir, "verify"); !strings.HasPrefix(out, "30 records") {
		t.Errorf("hidden results are left: %s", out)
	}
}

// TestDroppedRef uses a reference that was given out before its record was
// destroyed, and a time before that.
func TestDroppedRef(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "n.md"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		mustRun(t, dir, "put", "--name", "note/n.md", "n.md")
	}
	fails := func(exit int, want string, args ...string) {
		t.Helper()
		cmd := filebusCommand(t, dir, args...)
		out, _ := cmd.CombinedOutput() // the exit code tells
		if got := cmd.ProcessState.ExitCode(); got != exit || !strings.Contains(string(out), want) {
			t.Errorf("filebus %s: exit code %d, want %d; output without %q:\n%s", strings.Join(args, " "), got, exit, want, out)
		}
	}
	ref := func() string {
		t.Helper()
		var listing struct{ Records []struct{ Ref string } }
		if err := json.Unmarshal([]byte(mustRun(t, dir, "list", "note", "--json")), &listing); err != nil || len(listing.Records) != 1 {
			t.Fatalf("list: %+v, %v", listing, err)
		}
		return listing.Records[0].Ref
	}
	write("one\n")
	first := ref()
	write("two\n")
	second := ref()
	fails(cli.ExitUsage, "is an older version of note/n.md", "rm", "--drop", first)
	before := time.Now().UTC().Format(time.RFC3339Nano)
	mustRun(t, dir, "rm", "--drop", second)
	for _, text := range []string{first, second, second[:8]} {
		fails(cli.ExitNotFound, "dropped", "get", text)
	}
	fails(cli.ExitDone, "1 name not laid out, as the content was destroyed since: note/n.md",
		"materialize", "--as-of", before, "--to", "out")
	if out := mustRun(t, dir, "materialize", "--as-of", before, "--to", "out", "--json"); !strings.Contains(out, `"missing":["note/n.md"]`) {
		t.Errorf("materialize: %s", out)
	}
}
