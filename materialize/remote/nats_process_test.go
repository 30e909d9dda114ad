package remote_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestNATSProcess kills a real server between what two stores say to each other, and in the end restores an old backup of it.
func TestNATSProcess(t *testing.T) {
	t.Parallel()
	goTool, err := exec.LookPath("go")
	if err != nil || testing.Short() {
		t.Skip("building nats-server needs go, and a while")
	}
	program, port := filepath.Join(t.TempDir(), "nats-server"), freePorts(t, 1)[0]
	dir, backup := filepath.Join(t.TempDir(), "kept"), filepath.Join(t.TempDir(), "backup")
	if said, err := exec.CommandContext(t.Context(), goTool, "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("building nats-server: %v\n%s", err, said)
	}
	at := fmt.Sprintf("127.0.0.1:%d", port)
	start := func() (kill func()) {
		cmd := exec.Command(program, "-js", "-sd", dir, "-a", "127.0.0.1", "-p", fmt.Sprint(port))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill = func() {
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
		}
		t.Cleanup(kill)
		for range 200 {
			if conn, err := net.Dial("tcp", at); err == nil {
				_ = conn.Close()
				return kill
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatal("nats-server does not start")
		return nil
	}
	kill, address := start(), "nats://"+at
	openRemote(t, address, true)
	all := []*natsStore{newNATSStore(t, address), newNATSStore(t, address)}
	trustEachOther(t, all...)
	for n := range 3 {
		for i, s := range all {
			s.keep(t, fmt.Sprintf("%d-%d", i, n), fmt.Sprintf("text %d of %d", n, i))
			if _, err := s.replica(t).Push(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		kill()
		if n == 0 {
			err = os.CopyFS(backup, os.DirFS(dir))
		} else if n == 2 {
			err = errors.Join(os.RemoveAll(dir), os.Rename(backup, dir))
		}
		if err != nil {
			t.Fatal(err)
		}
		within(t, time.Second, func() { all[0].keep(t, fmt.Sprint("away-", n), "put while no server runs") })
		kill = start()
		openRemote(t, address, true)
		settle(t, all)
	}
}
