package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// filebusCommand returns the program as a process of its own: the test program
// becomes filebus when it is called by that name.
func filebusCommand(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0] = "filebus"
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "FILEBUS_STORE="+filepath.Join(dir, ".filebus"))
	return cmd
}

// mustRun runs a command line inside the test, which must end well, and returns
// what it prints.
func mustRun(t testing.TB, dir string, args ...string) string {
	t.Helper()
	store := filepath.Join(dir, ".filebus")
	var out, errText bytes.Buffer
	env := docEnviron(dir, &out)
	env.Err, env.Now, env.Variables = &errText, time.Now, append(os.Environ(), "FILEBUS_STORE="+store)
	env.Getenv = func(name string) string {
		if name == "FILEBUS_STORE" {
			return store
		}
		return os.Getenv(name)
	}
	if code := run(t.Context(), env, args); code != cli.ExitDone {
		t.Fatalf("filebus %s: exit code %d\n%s", strings.Join(args, " "), code, errText.String())
	}
	return out.String()
}

// TestKilledCapture kills captures at random moments. Run again, the capture must
// be complete and the store sound.
func TestKilledCapture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const captured = 600 // files: more than one transaction takes
	source := filepath.Join(dir, "source")
	for i := range captured {
		name := filepath.Join(source, fmt.Sprintf("d%d", i%20), fmt.Sprintf("f%d.md", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("# File %d\n\n%s\n", i, strings.Repeat(fmt.Sprintf("word%d ", i), 200))
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		cmd := filebusCommand(t, dir, "capture", "source")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(10+chance(t).IntN(90)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may be done already
		_ = cmd.Wait()         // it was killed
	}
	mustRun(t, dir, "capture", "source")
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") || !strings.HasPrefix(out, fmt.Sprint(captured, " records")) {
		t.Errorf("verify after killed captures: %s", out)
	}
	mustRun(t, dir, "materialize", "--tree", "source", "--to", "copy")
	for i := range captured {
		rel := filepath.Join(fmt.Sprintf("d%d", i%20), fmt.Sprintf("f%d.md", i))
		if _, same, err := sameFile(filepath.Join(source, rel), filepath.Join(dir, "copy", rel)); err != nil || !same {
			t.Fatalf("%s came back the same: %v, %v", rel, same, err)
		}
	}
}

// TestManyPuts puts from many processes at once: none may be lost, and every file
// must stand when its reference is printed.
func TestManyPuts(t *testing.T) {
	t.Parallel()
	processes, puts := manyProcesses(t), 6
	dir := t.TempDir()
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			for i := range puts {
				cmd := filebusCommand(t, dir, "put", "--agent", fmt.Sprintf("a%d", p), "--conversation", "c1")
				cmd.Stdin = strings.NewReader(fmt.Sprintf("Result %d of process %d.\n", i, p))
				out, err := cmd.Output()
				_, rest, _ := strings.Cut(string(out), `"result_file":"`)
				file, _, _ := strings.Cut(rest, `"`)
				if err != nil {
					t.Errorf("put: %v: %s", err, exitText(err))
				} else if _, err := os.Stat(file); err != nil {
					t.Errorf("the reference came before the file: %v", err)
				}
			}
		})
	}
	wg.Wait()
	out := mustRun(t, dir, "verify")
	if want := fmt.Sprintf("%d records", processes*puts); !strings.HasPrefix(out, want) || !strings.Contains(out, "sound") {
		t.Errorf("verify = %s, want %s, sound", out, want)
	}
	files, err := filepath.Glob(filepath.Join(dir, ".claude", "agent_tool_results", "c1", "*.md"))
	if err != nil || len(files) != processes*puts {
		t.Errorf("%d files for %d puts, %v", len(files), processes*puts, err)
	}
}

// TestManyTags tags one note from many processes at once: tags do not get in each
// other's way, so each must be set.
func TestManyTags(t *testing.T) {
	t.Parallel()
	processes := manyProcesses(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "one.md")
	if err := os.WriteFile(file, []byte("one\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, dir, "put", "--name", "note/one.md", file)
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			if out, err := filebusCommand(t, dir, "tag", "add", "note/one.md", fmt.Sprintf("t%d", p)).CombinedOutput(); err != nil {
				t.Errorf("tag add t%d: %v: %s", p, err, out)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(mustRun(t, dir, "tag", "list"), "\n"); got != processes {
		t.Errorf("%d tags after %d processes set one each", got, processes)
	}
}

// exitText returns what a process that failed wrote to stderr.
func exitText(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

func waitForFile(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s did not appear", path)
}

// sameFile compares two files, and returns the size of the second.
func sameFile(a, b string) (size int64, same bool, err error) {
	x, err := os.ReadFile(a)
	y, otherErr := os.ReadFile(b)
	return int64(len(y)), bytes.Equal(x, y), errors.Join(err, otherErr)
}
