package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestBackupWhilePutting backs a store up again and again while many processes put results. What
// was acknowledged before a backup began is in it: the last one is restored and verified.
func TestBackupWhilePutting(t *testing.T) {
	t.Parallel()
	processes, puts := manyProcesses(t), 4
	dir, saved, restored := t.TempDir(), filepath.Join(t.TempDir(), "saved"), t.TempDir()
	mustRun(t, dir, "init")
	var mu sync.Mutex
	var acknowledged []string
	var putters sync.WaitGroup
	for p := range processes {
		putters.Go(func() {
			for i := range puts {
				conversation, call := fmt.Sprintf("c%d", p), fmt.Sprintf("k%d", i)
				cmd := filebusCommand(t, dir, "put", "--conversation", conversation, "--call", call, "-")
				cmd.Stdin = strings.NewReader(fmt.Sprintf("Result %d of process %d.\n", i, p))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("put: %v: %s", err, out)
					continue
				}
				mu.Lock()
				acknowledged = append(acknowledged, "result/"+conversation+"/"+call)
				mu.Unlock()
			}
		})
	}
	var before []string
	for len(before) < processes*puts/2 && !t.Failed() {
		mu.Lock()
		before = acknowledged[:len(acknowledged):len(acknowledged)]
		mu.Unlock()
		mustRun(t, dir, "backup", saved)
	}
	putters.Wait()
	mustRun(t, restored, "restore", saved)
	mustRun(t, restored, "verify")
	for _, name := range before {
		mustRun(t, restored, "get", name)
	}
}
