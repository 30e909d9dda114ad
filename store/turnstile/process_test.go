package turnstile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/store/folder"
)

// childEnv makes the test program do a job in place of running tests.
const childEnv = "FILEBUS_TEST_TURNSTILE_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		if err := child(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child does "job times folder": hold the turnstile for ever, read with pauses,
// or count in a file that only the turnstile guards.
func child(text string) error {
	var job, dir string
	var times int
	if _, err := fmt.Sscan(text, &job, &times, &dir); err != nil {
		return err
	}
	of := New(folder.At(dir), "child "+job)
	worst := time.Duration(0)
	for range times {
		start := time.Now()
		mode := Exclusive
		if job == "read" {
			mode = Shared
		}
		hold, err := of.Acquire(context.Background(), mode, time.Minute)
		if err != nil {
			return err
		}
		worst = max(worst, time.Since(start))
		switch job {
		case "hold":
			fmt.Println("held")
			time.Sleep(time.Hour)
		case "read":
			fmt.Println("reads")
			time.Sleep(5 * time.Millisecond)
		case "count":
			err = increment(filepath.Join(dir, "counter"))
		}
		if err := errors.Join(err, hold.Release()); err != nil {
			return err
		}
	}
	fmt.Println(worst.Microseconds())
	return nil
}

// increment adds one to the number in a file, in a way that loses counts if two
// do it at once.
func increment(path string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n, _ := strconv.Atoi(string(text)) // no text is zero
	return os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o666)
}

func start(t *testing.T, job string, times int, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", childEnv, job, times, dir))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

func TestKilledHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, out := start(t, "hold", 1, dir)
	if !out.Scan() || out.Text() != "held" {
		t.Fatalf("the child says %q, %v", out.Text(), out.Err())
	}
	busy := wantBusy(t, New(folder.At(dir), "put"), Shared)
	if want := fmt.Sprintf("pid %d on ", cmd.Process.Pid); !strings.HasPrefix(busy.Holder, want) || !strings.HasSuffix(busy.Holder, "child hold") {
		t.Errorf("the error names %q, want %q", busy.Holder, want)
	}
	kill(t, cmd)
	reader := acquire(t, New(folder.At(dir), "show"), Shared)
	if busy := wantBusy(t, New(folder.At(dir), "put"), Exclusive); busy.Holder != "" {
		t.Errorf("a reader holds it, the error names the killed %q", busy.Holder)
	}
	release(t, reader)
	release(t, acquire(t, New(folder.At(dir), "put"), Exclusive))
}

// TestKilledWaiter kills a process that holds the gate while it waits.
func TestKilledWaiter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hold := acquire(t, New(folder.At(dir), "holder"), Exclusive)
	cmd, _ := start(t, "count", 1, dir)
	gate, err := New(folder.At(dir), "").open(gateFile)
	if err != nil {
		t.Fatal(err)
	}
	for {
		free, err := TryLock(gate, Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		if !free {
			break // the child is behind it
		}
		if err := unlock(gate); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	kill(t, cmd)
	release(t, hold)
	release(t, acquire(t, New(folder.At(dir), "next"), Exclusive))
	if err := gate.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoStarvationByProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		cmd, out := start(t, "read", 1<<30, dir)
		if !out.Scan() {
			t.Fatal("a child does not read")
		}
		defer kill(t, cmd)
		wg.Go(func() {
			for out.Scan() {
			}
		})
	}
	t.Logf("worst wait of the writer: %v", worstWait(t, New(folder.At(dir), "writer"), 20))
}

func TestManyProcesses(t *testing.T) {
	t.Parallel()
	const processes, times = 20, 20
	dir := t.TempDir()
	var mu sync.Mutex
	var worst time.Duration
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range processes {
		cmd, out := start(t, "count", times, dir)
		wg.Go(func() {
			out.Scan()
			micros, err := strconv.Atoi(out.Text())
			if err = errors.Join(err, cmd.Wait()); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			worst = max(worst, time.Duration(micros)*time.Microsecond)
		})
	}
	wg.Wait()
	text, err := os.ReadFile(filepath.Join(dir, "counter"))
	if err != nil || string(text) != strconv.Itoa(processes*times) {
		t.Errorf("the counter stands at %s, %v; want %d", text, err, processes*times)
	}
	t.Logf("%d processes × %d acquisitions in %v, worst wait %v", processes, times, time.Since(begin).Round(time.Millisecond), worst)
}
