package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/store/record"
)

// promised returns the bound of a row of testdata/promises.txt.
func promised(t *testing.T, name string) float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "promises.txt"))
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(line, "\t"); fields[0] == name {
			bound, err := strconv.ParseFloat(fields[2], 64)
			must(t, err)
			return bound
		}
	}
	t.Fatalf("testdata/promises.txt has no row %s", name)
	return 0
}

// peakVariable names the file into which a filebus of the tests writes, at its end, what the system says of it.
const peakVariable = "FILEBUS_TEST_PEAK"

// tellPeak writes that file. What a parent is told of a child's peak has its own memory in it.
func tellPeak() {
	if file := os.Getenv(peakVariable); file != "" {
		status, _ := os.ReadFile("/proc/self/status") // a test misses it
		_ = os.WriteFile(file, status, 0o666)         // as before
	}
}

// checkPeak compares the peak of memory of a process with what is promised. It runs it, if it does not run.
func checkPeak(t *testing.T, row string, cmd *exec.Cmd, run func() error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "status")
	cmd.Env = append(cmd.Env, peakVariable+"="+file)
	if err := run(); err != nil {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	status, err := os.ReadFile(file)
	must(t, err)
	found := regexp.MustCompile(`VmHWM:\s+([0-9]+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("the system does not say what %q needed: %s", cmd.Args, status)
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	must(t, err)
	if peak, bound := float64(kilobytes)*1024/1e6, promised(t, row); peak > bound {
		t.Errorf("%s: %q needed %.1f MB of memory, more than %v", row, cmd.Args[1:], peak, bound)
	} else {
		t.Logf("%s: %.1f MB of %v", row, peak, bound)
	}
}

// A repeated is a text that goes on for ever.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		copied := copy(p[n:], r.text[r.at:])
		n, r.at = n+copied, (r.at+copied)%len(r.text)
	}
	return n, nil
}

// long returns so many megabytes of a text that is repeated, between two others.
func long(before, text string, megabytes int64, behind string) io.Reader {
	many := strings.Repeat(text, 1+64<<10/len(text))
	return io.MultiReader(strings.NewReader(before), io.LimitReader(&repeated{text: many}, megabytes<<20), strings.NewReader(behind))
}

// TestPromisedMemory gives put and exec texts of many shapes, and gets two. A reader that holds what it reads is caught by 72 MB
// as by 256: these are for the promise.
func TestPromisedMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says in /proc what a process needed")
	}
	secret := "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	row := `{"type":"item.completed","item":{"type":"agent_message","text":"one of many"}}` + "\n"
	result := `{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":`
	for _, test := range []struct {
		name, row string
		text      func() io.Reader
		exit      int
	}{
		{"lines, then a line", "memory/put", func() io.Reader {
			return io.MultiReader(long(secret+"\n", "A line of a log that says something.\n", 100, secret), long("\n", "word after word ", 156, secret))
		}, 0},
		{"a line", "memory/exec", func() io.Reader {
			return io.MultiReader(long(secret+" ", "word after word ", 100, secret), long(" ", "word after word ", 156, " "+secret))
		}, 0},
		{"secrets", "memory/exec", func() io.Reader { return long("", "a line of text, and a key: "+secret+"\n", 72, "") }, 0},
		{"an answer", "memory/put", func() io.Reader { return long(result+`"`, `a \"word\" and `, 72, `"}`) },
			cli.ExitWanting},
		{"an answer of a tool", "memory/exec", func() io.Reader { return long(`[{"answer":["`, `a \"word\" and `, 72, `"]}]`) }, 0},
		{"JSON lines", "memory/put", func() io.Reader {
			return long(`{"type":"thread.started","thread_id":"t"}`+"\n", row, 72, "")
		}, cli.ExitWanting},
		{"a terminal", "memory/exec", func() io.Reader {
			return long("\x1b[1mx\x1b[m\n", "1%\r\x1b[32m2%\x1b[0m done\b and "+strings.Repeat("what is said of it ", 100)+"\n", 72, "")
		}, 0},
		{"bytes", "memory/put", func() io.Reader {
			return io.MultiReader(long("", "\x00", 36, ""), io.LimitReader(rand.NewChaCha8([32]byte{1}), 36<<20))
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) { // one after the other: garbage waits for a processor
			dir := t.TempDir()
			args := []string{"put", "--conversation", "c", "--call", "x", "-"}
			if test.row == "memory/exec" {
				args = []string{"exec", "--conversation", "c", "--call", "x", "--", "cat"}
			}
			digester := record.NewDigester()
			cmd := filebusCommand(t, dir, args...)
			cmd.Stdin = io.TeeReader(test.text(), digester)
			checkPeak(t, test.row, cmd, func() error {
				if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != test.exit {
					return fmt.Errorf("%w: %s", err, out)
				}
				return nil
			})
			if !strings.HasSuffix(test.name, "line") {
				return
			}
			got := record.NewDigester()
			cmd = filebusCommand(t, dir, "get", "--no-sync", "result/c/x")
			cmd.Stdout = got
			checkPeak(t, "memory/get", cmd, cmd.Run)
			if got.Digest() != digester.Digest() {
				t.Error("get gives other bytes")
			}
		})
	}
}

// TestPromisedIndexing indexes 20,000 records in one process.
func TestPromisedIndexing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says in /proc what a process needed")
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		name := filepath.Join(dir, "many", fmt.Sprint(i/1000), fmt.Sprint(i, ".md"))
		if i%1000 == 0 {
			must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		}
		text := fmt.Appendf(nil, "# Report %d\n\n", i)
		for range 60 {
			text = fmt.Appendf(text, "word%d ", int(random.ExpFloat64()*2000))
		}
		must(t, os.WriteFile(name, text, 0o666))
	}
	mustRun(t, dir, "capture", "many")
	cmd := filebusCommand(t, dir, "reindex")
	checkPeak(t, "memory/index", cmd, func() error {
		out, err := cmd.CombinedOutput()
		if !bytes.Contains(out, []byte("20000")) {
			t.Errorf("reindex: %s", out)
		}
		return err
	})
}

// TestPromisedReplicate looks at a replicate that has told what it had, and waits.
func TestPromisedReplicate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says in /proc what a process needed")
	}
	dir, state := t.TempDir(), "FILEBUS_STATE="+t.TempDir()
	for _, args := range [][]string{{"init"}, {"config", "set", "notes", "docs"}, {"remote", "add", "team", filepath.Join(dir, "shared")}} {
		cmd := filebusCommand(t, dir, args...)
		cmd.Env = append(cmd.Env, state)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	for i := range 200 {
		writeIn(t, dir, fmt.Sprintf("docs/%d.md", i), strings.Repeat(fmt.Sprintf("Note %d. ", i), 200))
	}
	cmd := filebusCommand(t, dir, "replicate", "--every", "1s")
	cmd.Env = append(cmd.Env, state)
	checkPeak(t, "memory/replicate", cmd, func() error {
		p := &watchProcess{t: t, cmd: cmd}
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
		p.collect(out, &p.out)
		for i := range 3 {
			name := fmt.Sprintf("docs/later-%d.md", i)
			writeIn(t, dir, name, "Written meanwhile.\n")
			p.waitFor(&p.out, "note/"+name)
		}
		if code := p.end(); code != cli.ExitInterrupted {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	})
}

// TestPromisedPages asks for pages of a store of 10,000 records, 3,000 of them issues: what is promised is the least time of some
// requests, as other programs run beside it, and the memory of the server while ten pages listen. The other tests of the package
// wait meanwhile. FILEBUS_PAGES says how many results there are.
func TestPromisedPages(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 10,000 records")
	}
	dir := t.TempDir()
	results, err := strconv.Atoi(cmp.Or(os.Getenv("FILEBUS_PAGES"), "6000"))
	must(t, err)
	crowded(t, dir, results, 500, 3000, 500)
	mustRun(t, dir, "init", "--yes")
	mustRun(t, dir, "reindex")
	mustRun(t, dir, "conversation", "list")
	first, server := servedBy(t, dir)
	v := visit(t, first)
	for range 10 {
		v.hears()
	}
	for row, path := range map[string]string{
		"page/now": "/", "page/record": "/record?name=result/conv-0001/call-00012",
		"page/issues": "/issues?group=priority&find=cache", "page/budget": "/budget", "page/health": "/health",
	} {
		var least time.Duration
		for range 20 {
			begin := time.Now()
			if status, text := v.get(path); status != 200 {
				t.Fatalf("%s = %d %s", path, status, heading(text))
			}
			if took := time.Since(begin); least == 0 || took < least {
				least = took
			}
		}
		if bound := promised(t, row); least.Seconds()*1000 > bound {
			t.Errorf("%s: %s takes %v, more than %v ms", row, path, least, bound)
		} else {
			t.Logf("%s: %v of %v ms", row, least, bound)
		}
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.Pid)) // on Linux
	if _, size, found := strings.Cut(string(text), "RssAnon:"); found {
		size, _, _ = strings.Cut(strings.TrimSpace(size), " ")
		kilobytes, err := strconv.Atoi(size)
		must(t, err)
		if mb := float64(kilobytes) / 1024; mb > promised(t, "memory/pages") {
			t.Errorf("the server has %.0f MB", mb)
		} else {
			t.Logf("the server has %.0f MB", mb)
		}
	}
}
