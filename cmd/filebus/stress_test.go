package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// A crowd is many processes at once on one store.
type crowd struct {
	dir    string
	ledger *ledger

	mu      sync.Mutex
	counted map[string]int // the increments of each counter that were acknowledged
	count   int            // of commands
	worst   finished
	slowest string // the command that took longest
}

// run runs a command, which must end with one of the codes.
func (c *crowd) run(t testing.TB, input string, codes []int, args ...string) finished {
	f := runProcess(t, c.dir, input, append([]string{"--lock-wait", "50s"}, args...)...)
	if !slices.Contains(codes, f.code) {
		t.Errorf("filebus %s: exit code %d\n%s%s", strings.Join(args, " "), f.code, f.out, f.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	if f.took > c.worst.took {
		c.worst, c.slowest = f, strings.Join(args, " ")
	}
	return f
}

var done = []int{cli.ExitDone}

// increment counts one up in a note, unless another process was faster.
func (c *crowd) increment(t testing.TB, name string) {
	var got struct{ Ref, Text string }
	if err := json.Unmarshal([]byte(c.run(t, "", done, "get", "--json", name).out), &got); err != nil {
		t.Errorf("get --json: %v", err)
		return
	}
	n, err := strconv.Atoi(strings.TrimSpace(got.Text))
	if err != nil {
		t.Errorf("%s holds %q", name, got.Text)
		return
	}
	put := c.run(t, fmt.Sprintln(n+1), []int{cli.ExitDone, cli.ExitConflict}, "put", "--name", name, "--expect",
		got.Ref, "-")
	if put.code == cli.ExitDone {
		c.mu.Lock()
		c.counted[name]++
		c.mu.Unlock()
	}
}

// write does one thing that a writer does.
func (c *crowd) write(t testing.TB) {
	id := fmt.Sprint("k", c.ledger.next())
	text := "# Result " + id + "\n\nA text with a zebra.\n"
	switch chance(t).IntN(4) {
	case 0:
		c.run(t, text, done, "put", "--agent", "a", "--conversation", "kept", "--call", id)
		c.ledger.mu.Lock()
		c.ledger.exact["result/kept/"+id] = text
		c.ledger.mu.Unlock()
	case 1:
		c.run(t, text, done, "put", "--agent", "a", "--conversation", "waste", "--call", id)
	default:
		c.increment(t, counters[chance(t).IntN(len(counters))])
	}
}

var counters = []string{"note/one", "note/two", "note/three"}

// read does one thing that a reader does.
func (c *crowd) read(t testing.TB) {
	reads := [][]string{{"search", "zebra"}, {"list", "--limit", "50"}, {"get", counters[0]}, {"log", "--limit", "20"}, {"status"}}
	c.run(t, "", done, reads[chance(t).IntN(len(reads))]...)
}

// TestStress lets 24 writers, 24 readers, a loop of syncs and one of collections
// work at the same time, each command a process: no command may fail, no update be
// lost. FILEBUS_STRESS says for how many seconds, as in
//
//	FILEBUS_STRESS=60 go test ./cmd/filebus -run '^TestStress$' -v
//
// which also prints the longest that a command took.
func TestStress(t *testing.T) {
	t.Parallel()
	c := &crowd{dir: t.TempDir(), ledger: newLedger(), counted: map[string]int{}}
	mustRun(t, c.dir, "init")
	for _, name := range counters {
		mustProcess(t, c.dir, "0\n", "put", "--name", name, "-")
	}
	end := time.Now().Add(time.Duration(effort(t, "FILEBUS_STRESS", 1)) * time.Second)
	var wg sync.WaitGroup
	loop := func(n int, do func(t testing.TB)) {
		for range n {
			wg.Go(func() {
				for time.Now().Before(end) && !t.Failed() {
					do(t)
				}
			})
		}
	}
	loop(24, c.write)
	loop(24, c.read)
	loop(1, func(t testing.TB) { c.run(t, "", done, "sync") })
	loop(1, func(t testing.TB) {
		c.run(t, "", done, "gc", "--kind", "result", "--conversation", "waste", "--older-than", "0d")
	})
	wg.Wait()
	for _, name := range counters {
		c.ledger.exact[name] = fmt.Sprintln(c.counted[name])
	}
	c.ledger.wantKept(t, c.dir)
	wantSound(t, c.dir)
	t.Logf("%d commands, %d texts kept, %v counted; the longest took %v: %s", c.count, len(c.ledger.exact), c.counted, c.worst.took, c.slowest)
}
