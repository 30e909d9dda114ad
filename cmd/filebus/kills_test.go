package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestKills kills processes of a mixed workload with SIGKILL at random moments,
// while others go on, which must not notice. After each kill the store must be
// sound, no lock stuck, and everything that was acknowledged readable byte for byte.
// FILEBUS_KILLS says how many, as in
//
//	FILEBUS_KILLS=1000 go test ./cmd/filebus -run '^TestKills$' -timeout 2h -v
func TestKills(t *testing.T) {
	t.Parallel()
	want, kills, jobs := effort(t, "FILEBUS_KILLS", 8), 0, 0
	var dir string
	var l *ledger
	for round := 0; kills < want && !t.Failed(); round++ {
		if round%100 == 0 { // a store that grows makes each round slower
			dir, l = t.TempDir(), newLedger()
			mustRun(t, dir, "init")
		}
		killed := [3]bool{}
		var wg sync.WaitGroup
		for worker := range killed {
			j, after := randomJob(chance(t), dir, l, worker), time.Duration(0)
			if worker == 0 {
				after = time.Duration(1+chance(t).IntN(120)) * time.Millisecond
			}
			wg.Go(func() { killed[worker] = j.run(t, dir, l, after) })
		}
		wg.Wait()
		jobs += len(killed)
		if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
			t.Fatal(err)
		}
		if killed[0] {
			kills++
			wantSound(t, dir)
			l.wantKept(t, dir)
		}
	}
	t.Logf("%d kills in %d commands", kills, jobs)
}
