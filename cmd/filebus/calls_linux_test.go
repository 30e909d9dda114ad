//go:build amd64 || arm64

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// A scenario is a command that is broken at each of its calls that change files.
type scenario struct {
	prepare func(t testing.TB, dir string) // makes what is there before, instead of a populated store
	change  func(t testing.TB, st *stage)  // adds to a populated store
	args    []string
	input   string
	again   []string // what is run afterwards; default: args
	damaged bool     // the store is, until the command has done its work
	// done holds what the command promises by exit code 0.
	done func(t testing.TB, dir, out string)
}

// scenarios are the commands that write in different ways.
func scenarios() map[string]scenario {
	small := "# New\n\nA text that is put.\n"
	large := strings.Repeat("A long line of a large text.\n", 100_000)
	result := []string{"put", "--agent", "a", "--conversation", "new", "--call", "k"}
	return map[string]scenario{
		"init":      {prepare: nothing, args: []string{"init"}},
		"first put": {prepare: nothing, args: result, input: small, done: wantHead("result/new/k", small)},
		"put":       {args: result, input: small, done: wantHead("result/new/k", small)},
		"large put": {args: []string{"put", "--name", "note/new", "-"}, input: large, done: wantHead("note/new", large)},
		"edit": {args: []string{"put", "--name", "note/small.md", "-"}, input: small, done: wantHead("note/small.md", small),
			change: func(_ testing.TB, st *stage) { st.ledger.maybe["note/small.md"] = small }},
		"issue add": {args: []string{"issue", "add", "A new issue", "--type", "bug"}, done: func(t testing.TB, dir, out string) {
			name := "issue/" + strings.TrimSpace(out)
			if got := heads(t, dir)[name]; !strings.Contains(got, "A new issue") {
				t.Errorf("%s is %q", name, got)
			}
		}},
		"sync": {change: appendByHand, args: []string{"sync"}, done: func(t testing.TB, dir, _ string) {
			if got := heads(t, dir)["issue/ISSUE-20260101-077"]; !strings.Contains(got, "By hand") {
				t.Errorf("what was written by hand is %q", got)
			}
		}},
		"materialize": {args: []string{"materialize", "--to", "out"}, again: []string{"materialize", "--to", "out2"}, done: wantLaidOut},
		"reindex":     {args: []string{"reindex"}},
		"gc": {args: []string{"gc", "--kind", "result", "--conversation", "waste", "--older-than", "0d"}, done: func(t testing.TB, dir, _ string) {
			if text, there := heads(t, dir)["result/waste/k"]; there {
				t.Errorf("what was collected is there: %q", text)
			}
		}},
		"compact": {args: []string{"compact"}},
		"purge": {args: []string{"purge", "--files", "result/waste/k"}, done: func(t testing.TB, dir, _ string) {
			if files := holders(t, dir, "of waste."); len(files) > 0 {
				t.Errorf("what was purged is in %q", files)
			}
		}},
		"repair": {change: loseBodies, damaged: true, args: []string{"verify", "--repair"}},
		"migration": {prepare: func(t testing.TB, dir string) {
			copyTree(t, filepath.Join("..", "..", "testdata", "schema", "1"), filepath.Join(dir, ".filebus"))
		}, args: []string{"put", "--name", "note/new", "-"}, input: small, done: wantHead("note/new", small)},
	}
}

func nothing(testing.TB, string) {}

func wantHead(name, text string) func(t testing.TB, dir, out string) {
	return func(t testing.TB, dir, _ string) {
		t.Helper()
		if got := heads(t, dir)[name]; got != text {
			t.Errorf("%s was acknowledged: %d bytes, want %d", name, len(got), len(text))
		}
	}
}

// wantLaidOut compares the files of results that were laid out with the records.
func wantLaidOut(t testing.TB, dir, _ string) {
	t.Helper()
	out := filepath.Join(dir, "out2")
	if _, err := os.Stat(out); err != nil {
		out = filepath.Join(dir, "out")
	}
	for name, text := range heads(t, dir) {
		if id, is := strings.CutPrefix(name, "result/"); is {
			got, err := os.ReadFile(filepath.Join(out, ".claude", "agent_tool_results", id+".md"))
			if err != nil || string(got) != text {
				t.Errorf("%s is laid out as %q, %v; want %q", name, got, err, text)
			}
		}
	}
}

// loseBodies removes the large texts, of which the workspace's files are left, and
// destroys the list of the database's free pages.
func loseBodies(t testing.TB, st *stage) {
	t.Helper()
	folder := filepath.Join(st.kept, ".filebus")
	bodies, err := filepath.Glob(filepath.Join(folder, "bodies", "*", "*"))
	if err != nil || len(bodies) == 0 {
		t.Fatalf("%d large texts: %v", len(bodies), err)
	}
	for _, body := range bodies {
		if err := os.Remove(body); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range targets(t, folder) {
		if g.kind == "freelist" {
			if err := pageDamages(chance(t))["zeroed"](filepath.Join(folder, g.file), "", g.page); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// appendByHand adds an issue to the queue's file, as an editor does that was done
// with it some time ago.
func appendByHand(t testing.TB, st *stage) {
	t.Helper()
	file := filepath.Join(st.kept, ".claude", "issue_queue.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "\n### ISSUE-20260101-077\n\n- **Status**: pending\n- **Summary**: By hand\n"...)
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(file, text, 0o666), os.Chtimes(file, old, old)); err != nil {
		t.Fatal(err)
	}
}

// A rehearsal is a scenario on its stage.
type rehearsal struct {
	scenario
	*stage
}

// newRehearsal sets a scenario on a stage of its own: a copy of the populated one,
// at the same path.
func newRehearsal(t testing.TB, s scenario, populated *stage) *rehearsal {
	t.Helper()
	if s.again == nil {
		s.again = s.args
	}
	if s.prepare != nil {
		return &rehearsal{s, newStage(t, func(t testing.TB, dir string, _ *ledger) { s.prepare(t, dir) })}
	}
	st := &stage{populated.dir, filepath.Join(t.TempDir(), "kept"), populated.ledger.clone()}
	copyTree(t, populated.kept, st.kept)
	if s.change != nil {
		s.change(t, st)
	}
	return &rehearsal{s, st}
}

// broken runs the command once, as the judge says, and holds what must hold after
// it: a clear answer, nothing lost, a sound store, and a next run that works. It
// returns how many calls there were.
func (st *rehearsal) broken(t testing.TB, judge func(n int, c fileCall) verdict) (calls int) {
	t.Helper()
	st.set(t)
	tr := trace(t, st.dir, st.input, st.args, judge)
	if tr.code > 0 && !strings.HasPrefix(tr.err, "filebus: ") && !strings.Contains(tr.err, "\nfilebus: ") {
		t.Errorf("exit code %d without a message: %q", tr.code, tr.err)
	}
	l := st.ledger.clone()
	_, err := os.Stat(filepath.Join(st.dir, ".filebus", "store.db"))
	switch {
	case st.damaged && tr.code != cli.ExitDone: // the next run makes it whole
	case err == nil:
		wantSound(t, st.dir)
		l.wantKept(t, st.dir)
	case tr.code == cli.ExitDone || len(l.exact) > 0:
		t.Errorf("after exit code %d: %v", tr.code, err)
	}
	if tr.code == cli.ExitDone && st.done != nil {
		st.done(t, st.dir, tr.out)
	}
	if !tr.reached {
		return tr.calls
	}
	out := mustProcess(t, st.dir, st.input, st.again...)
	if st.done != nil {
		st.done(t, st.dir, out)
	}
	wantSound(t, st.dir)
	maps.Copy(l.maybe, st.ledger.maybe) // by now it has been stored
	l.wantKept(t, st.dir)
	return tr.calls
}

// ways are what happens at the k-th call, or from it on.
func ways() map[string]func(k, n int) verdict {
	at := func(v verdict) func(k, n int) verdict {
		return func(k, n int) verdict {
			if n == k {
				return v
			}
			return verdict{}
		}
	}
	return map[string]func(k, n int) verdict{
		"killed":     at(verdict{kill: true}),
		"EIO":        at(verdict{errno: syscall.EIO}),
		"ENOSPC":     at(verdict{errno: syscall.ENOSPC}),
		"EDQUOT":     at(verdict{errno: syscall.EDQUOT}),
		"half write": at(verdict{short: true}),
		"disk full": func(k, n int) verdict {
			switch {
			case n == k:
				return verdict{short: true}
			case n > k:
				return verdict{errno: syscall.ENOSPC}
			}
			return verdict{}
		},
	}
}

// TestEveryCall breaks commands at each call of the system that changes files: the
// process is killed there, or the call fails. In the usual tests it takes a sample;
// all of them are taken by
//
//	FILEBUS_CALLS=1000000 go test ./cmd/filebus -run '^TestEveryCall$' -timeout 3h -v
func TestEveryCall(t *testing.T) {
	t.Parallel()
	most := effort(t, "FILEBUS_CALLS", 1)
	populated := newStage(t, populate)
	for label, s := range scenarios() {
		t.Run(label, func(t *testing.T) {
			st := newRehearsal(t, s, populated)
			calls := st.broken(t, func(int, fileCall) verdict { return verdict{} })
			type fault struct {
				way string
				k   int
			}
			var all []fault
			for way := range ways() {
				for k := range calls + 2 { // the number differs a little from run to run
					all = append(all, fault{way, k + 1})
				}
			}
			all = sample(chance(t), all, most)
			for _, f := range all {
				t.Run(fmt.Sprintf("%s at %d", f.way, f.k), func(t *testing.T) {
					judge, at := ways()[f.way], fileCall{}
					st.broken(t, func(n int, c fileCall) verdict {
						if n == f.k {
							at = c
						}
						return judge(f.k, n)
					})
					if t.Failed() {
						t.Logf("the call is %s", at.name)
					}
				})
			}
			t.Logf("%d calls change files; %d faults", calls, len(all))
		})
	}
}
