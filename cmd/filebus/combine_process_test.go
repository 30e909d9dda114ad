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

	"filebus/store/record"
)

// TestManyCombines combines from many processes at once: each is stored, also of
// those that write to one output only one wins, and the file is whole.
func TestManyCombines(t *testing.T) {
	t.Parallel()
	processes := manyProcesses(t)
	dir := t.TempDir()
	var inputs []string
	for i := range 5 {
		file := filepath.Join(dir, fmt.Sprintf("in%d.md", i))
		if err := os.WriteFile(file, []byte(fmt.Sprintf("Text %d.\n\n", i)+strings.Repeat("word\n", 2000)), 0o666); err != nil {
			t.Fatal(err)
		}
		mustRun(t, dir, "put", "--conversation", "c1", "--call", fmt.Sprintf("in%d", i), file)
		inputs = append(inputs, fmt.Sprintf("result/c1/in%d", i))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	written := 0
	for p := range processes {
		wg.Go(func() {
			args := append([]string{"combine", "--separator", fmt.Sprintf("\n-- %d --\n", p)}, inputs...)
			out, err := filebusCommand(t, dir, args...).Output()
			if err != nil {
				t.Errorf("combine: %v", err)
				return
			}
			checkPrinted(t, string(out), 5*10009+4*len(fmt.Sprintf("\n-- %d --\n", p)))
			if filebusCommand(t, dir, append(args, "-o", "out.md")...).Run() == nil {
				mu.Lock()
				written++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if written != 1 {
		t.Errorf("%d of %d processes wrote their text to the one output, want 1", written, processes)
	}
	if out := mustRun(t, dir, "verify"); !strings.HasPrefix(out, fmt.Sprintf("%d records", processes+5)) || !strings.Contains(out, "sound") {
		t.Errorf("verify = %s, want %d records, sound", out, processes+5)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".filebus-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// checkPrinted makes sure that the file of a printed reference is there, with
// all bytes.
func checkPrinted(t *testing.T, line string, size int) {
	t.Helper()
	var r record.Reference
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Errorf("%q is no reference: %v", line, err)
		return
	}
	if info, err := os.Stat(r.ResultFile); err != nil || info.Size() != int64(size) {
		t.Errorf("the file of %s: %v, %v; want %d bytes", line, info, err, size)
	}
}

// TestKilledPuts kills puts and combines at random moments. A reference that was
// printed has its whole file, one that was not is made by the same command run
// again, and the store is sound.
func TestKilledPuts(t *testing.T) {
	t.Parallel()
	const tries, size = 16, 2 << 20 // more than a database holds of one text
	dir := t.TempDir()
	text := strings.Repeat("0123456789abcde\n", size/16)
	file := filepath.Join(dir, "text.md")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if out, err := filebusCommand(t, dir, "put", "--conversation", "c1", "--call", "first",
		file).CombinedOutput(); err != nil {
		t.Fatalf("put: %v: %s", err, out)
	}
	took := int64(time.Since(begun))
	printed := 0
	for i := range tries {
		args := []string{"put", "--conversation", "c1", "--call", fmt.Sprintf("k%d", i), file}
		want := size
		if i%2 == 1 {
			args = []string{"combine", "--call", fmt.Sprintf("k%d", i), "--separator", "", "result/c1/first", file}
			want *= 2
		}
		cmd := filebusCommand(t, dir, args...)
		var out strings.Builder
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(chance(t).Int64N(2 * took)))
		_ = cmd.Process.Kill() // it may be done already
		_ = cmd.Wait()         // it was killed
		if strings.HasSuffix(out.String(), "\n") {
			printed++
			checkPrinted(t, out.String(), want)
		}
		checkPrinted(t, mustRun(t, dir, args...), want)
	}
	t.Logf("%d of %d references were printed before the end", printed, tries)
	if out := mustRun(t, dir, "verify"); !strings.HasPrefix(out, fmt.Sprintf("%d records, 2 bodies", tries+1)) || !strings.Contains(out, "sound") {
		t.Errorf("verify after killed puts = %s, want %d records, sound", out, tries+1)
	}
}
