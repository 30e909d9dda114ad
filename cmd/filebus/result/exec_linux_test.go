package result_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/store"
)

// smallDisk returns a folder on a disk of its own with a number of bytes, and a
// function that makes it larger.
func smallDisk(t *testing.T, size string) (dir string, grow func(size string)) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a disk that fills up cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func(size string) {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExecNoRoom lets an output fill the disk: what fitted waits, with how the
// command has ended, until there is room.
func TestExecNoRoom(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	dir, grow := smallDisk(t, "1m")
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{Home: t.TempDir()}, store.Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	run, err := result.Exec(t.Context(), w, result.Call{Conversation: "c1", ID: "k1"}, command("bytes", "4000000"))
	if run == nil || run.Stored != nil || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Exec that fills the disk: %v, want that the output waits for room", err)
	}
	received, err := os.ReadFile(run.Waiting)
	if err != nil || len(received) == 0 {
		t.Fatalf("%s has %d bytes, %v; want what came", run.Waiting, len(received), err)
	}
	grow("16m")
	all, err := result.Recover(t.Context(), w)
	if err != nil || len(all) != 1 {
		t.Fatalf("Recover stored %d, %v; want 1", len(all), err)
	}
	if r := all[0].Record; r.Status != materialize.StatusFailed || exitOf(r) == "unknown" || textOf(t, all[0]) != string(received) {
		t.Errorf("recovered with status %q, exit %s, the text that came: %t; want failed with its exit code",
			r.Status, exitOf(r), textOf(t, all[0]) == string(received))
	}
	wantNoSpool(t, w)
}
