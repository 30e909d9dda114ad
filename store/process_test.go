package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// childEnv makes the test program a writer in place of running tests.
const childEnv = "FILEBUS_TEST_STORE_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		if err := child(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	os.Exit(m.Run())
}

// child writes records until it has written enough or is killed, and prints the
// name of each once its put has returned.
func child(job string) error {
	var dir, id string
	var puts int
	if _, err := fmt.Sscan(job, &puts, &id, &dir); err != nil {
		return err
	}
	ctx := context.Background()
	switch id {
	case "step":
		return dieInMigration(ctx, dir)
	case "repair":
		s, err := store.Open(dir, store.Options{Wait: time.Minute})
		if err == nil {
			_, err = s.Repair(ctx, store.RepairOptions{})
		}
		return err
	}
	s, err := store.Create(ctx, dir, store.Options{Command: "writer " + id, Wait: time.Minute})
	if err != nil {
		return err
	}
	for i := range puts {
		n, err := record.NewName("", record.KindNote, fmt.Sprintf("%s/%d", id, i))
		if err != nil {
			return err
		}
		body, err := s.Prepare(ctx, []byte(randomText(3000)+n.String()))
		if err != nil {
			return err
		}
		if _, err := s.Put(ctx, store.Draft{Body: body, Record: record.Record{Name: n, Source: record.SourcePut}}); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return nil
}

// dieInMigration kills this process in the middle of a step.
func dieInMigration(ctx context.Context, dir string) error {
	steps := noted(func(*bbolt.Tx) error {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		time.Sleep(time.Minute) // until that has happened
		return err
	})
	s, err := store.Open(dir, store.WithSteps(store.Options{}, steps))
	if err != nil {
		return err
	}
	return s.Update(ctx, func(*store.Tx) error { return nil })
}

// runChild runs a child that is to be killed.
func runChild(t *testing.T, job string) error {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+job)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Success() || len(out) > 0 {
		return fmt.Errorf("the child was not killed: %v, %s", err, out)
	}
	return nil
}

func startChild(t *testing.T, puts int, id, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", childEnv, puts, id, dir))
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

func TestManyProcesses(t *testing.T) {
	t.Parallel()
	const processes, puts = 12, 10
	dir := filepath.Join(t.TempDir(), ".filebus")
	var wg sync.WaitGroup
	for i := range processes {
		cmd, out := startChild(t, puts, fmt.Sprintf("p%d", i), dir)
		wg.Go(func() {
			for out.Scan() {
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report := mustCheck(t, s); report.Records != processes*puts {
		t.Errorf("%d records after %d puts", report.Records, processes*puts)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".filebus")
	var acknowledged []string
	random := rand.New(rand.NewPCG(1, 8))
	for round := range 8 {
		cmd, out := startChild(t, 100000, fmt.Sprintf("r%d", round), dir)
		for range 1 + random.IntN(15) {
			if out.Scan() {
				acknowledged = append(acknowledged, out.Text())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() { // what it printed before it died counts too
			if strings.HasPrefix(out.Text(), "note/r") {
				acknowledged = append(acknowledged, out.Text())
			}
		}
		_ = cmd.Wait() // it was killed
	}
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustCheck(t, s)
	for _, of := range acknowledged {
		if _, err := read(t, s, of); err != nil {
			t.Errorf("%s was acknowledged and is lost: %v", of, err)
		}
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	holder := turnstile.New(folder.At(s.Dir()), "a long import")
	hold, err := holder.Acquire(t.Context(), turnstile.Exclusive, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	waiter, err := store.Open(s.Dir(), store.Options{Wait: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	err = waiter.View(t.Context(), func(*store.Tx) error { return nil })
	var busy *turnstile.BusyError
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), "a long import") || !strings.Contains(err.Error(), fmt.Sprint("pid ", os.Getpid())) {
		t.Errorf("View while another writes: %v; want busy with the holder", err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	if err := waiter.View(t.Context(), func(*store.Tx) error { return nil }); err != nil {
		t.Errorf("View after the release: %v", err)
	}
}
