package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/store"
	"filebus/store/record"
)

// What the harnesses share: commands as processes of their own, which must end and
// must never show the inside of Go; what was acknowledged, to be found again; and a
// workload of all that writes.

// bound is when a command counts as hung. It is far beyond what a busy machine
// needs, since nothing here is measured.
const bound = 2 * time.Minute

// A finished command is one that ran as a process of its own.
type finished struct {
	code     int // the exit code; -1 if a signal ended it
	out, err string
	took     time.Duration
}

// runProcess runs a command line as a process and waits for its end.
func runProcess(t testing.TB, dir, input string, args ...string) finished {
	t.Helper()
	return runCommand(t, filebusCommand(t, dir, args...), input)
}

func runCommand(t testing.TB, cmd *exec.Cmd, input string) finished {
	t.Helper()
	var out, errText bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errText
	cmd.WaitDelay = bound
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(bound, func() {
		t.Errorf("filebus %s: no end within %v", strings.Join(cmd.Args[1:], " "), bound)
		_ = cmd.Process.Kill() // it may have ended by now
	})
	_ = cmd.Wait() // the exit code tells
	hung.Stop()
	f := finished{cmd.ProcessState.ExitCode(), out.String(), errText.String(), time.Since(began)}
	f.wantPlain(t, cmd.Args[1:])
	return f
}

var insideOfGo = regexp.MustCompile(`(?m)^goroutine \d+ \[|^panic: |^fatal error: |runtime error: |\.go:\d+ \+0x`)

// wantPlain holds that a command never prints a stack trace, whatever it met.
func (f finished) wantPlain(t testing.TB, args []string) {
	t.Helper()
	if at := insideOfGo.FindStringIndex(f.err); at != nil {
		t.Errorf("filebus %s shows the inside of Go: %.3000s", strings.Join(args, " "), f.err[at[0]:])
	}
}

// mustProcess runs a command line as a process; it must end well.
func mustProcess(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	f := runProcess(t, dir, input, args...)
	if f.code != cli.ExitDone {
		t.Errorf("filebus %s: exit code %d\n%s%s", strings.Join(args, " "), f.code, f.out, f.err)
	}
	return f.out
}

// wantSound verifies the store in a process of its own, which also shows that no
// lock is stuck.
func wantSound(t testing.TB, dir string) {
	t.Helper()
	if out := mustProcess(t, dir, "", "verify"); !strings.Contains(out, ": sound\n") {
		t.Errorf("verify: %s", out)
	}
}

// A ledger holds what was acknowledged: the text of a name, or a part of it where
// filebus itself writes the rest.
type ledger struct {
	mu    sync.Mutex
	exact map[string]string
	holds map[string]string
	maybe map[string]string // of names in exact: what a put that was killed may have stored
	last  int
}

func newLedger() *ledger {
	return &ledger{exact: map[string]string{}, holds: map[string]string{}, maybe: map[string]string{}}
}

func (l *ledger) clone() *ledger {
	return &ledger{exact: maps.Clone(l.exact), holds: maps.Clone(l.holds), maybe: maps.Clone(l.maybe), last: l.last}
}

func (l *ledger) next() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	return l.last
}

// wantKept reads everything that was acknowledged, byte for byte.
func (l *ledger) wantKept(t testing.TB, dir string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.exact)+len(l.holds) == 0 {
		return
	}
	texts := heads(t, dir)
	for name, want := range l.exact {
		got, there := texts[name]
		if maybe, killed := l.maybe[name]; killed && there && got == maybe {
			l.exact[name] = got // what it stored before it died stays
		} else if !there || got != want {
			t.Errorf("%s was acknowledged and is lost: there %t, %d bytes, want %d", name, there, len(got), len(want))
		}
	}
	clear(l.maybe)
	for name, want := range l.holds {
		if got := texts[name]; !strings.Contains(got, want) {
			t.Errorf("%s was acknowledged with %q and is lost: %.300q", name, want, got)
		}
	}
}

// heads returns the text of every current version.
func heads(t testing.TB, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	s, err := store.Open(filepath.Join(dir, ".filebus"), store.Options{Wait: bound})
	if err != nil {
		t.Errorf("opening the store: %v", err)
		return texts
	}
	err = s.View(t.Context(), func(tx *store.Tx) error {
		for n, err := range tx.Names(record.Name{}) {
			if err != nil {
				return err
			}
			v, err := tx.Get(n.Ref)
			if err != nil {
				return err
			}
			c, err := tx.Content(v.Record)
			if err != nil {
				return err
			}
			text, err := c.Bytes()
			if err != nil {
				return fmt.Errorf("%s: %w", n.Name, err)
			}
			texts[n.Name.String()] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Errorf("reading everything: %v", err)
	}
	return texts
}

// A job is one command of a workload.
type job struct {
	args  []string
	input string
	// acknowledged notes what the command has promised with exit code 0 and what it
	// printed; of a command that was killed, it is not called.
	acknowledged func(l *ledger, out string)
	// killed, if there is one, notes what may have happened all the same.
	killed func(l *ledger)
}

// keeps returns an acknowledgement of exactly this text.
func keeps(name, text string) func(l *ledger, _ string) {
	return func(l *ledger, _ string) { l.exact[name] = text }
}

// contains returns an acknowledgement of a record whose id the command prints.
func contains(kind, part string) func(l *ledger, out string) {
	return func(l *ledger, out string) {
		id, _, _ := strings.Cut(strings.TrimSpace(out), " ")
		l.holds[kind+"/"+id] = part
	}
}

// randomJob picks a command of the workload: everything that writes, and some that
// read. Worker has names that no other writes to.
func randomJob(random *rand.Rand, dir string, l *ledger, worker int) job {
	n := l.next()
	text := fmt.Sprintf("# Text %d\n\n%s\n", n, strings.Repeat(fmt.Sprintf("word%d ", n), 1+random.IntN(300)))
	id, mine := fmt.Sprintf("k%d", n), fmt.Sprintf("note/of/%d.md", worker)
	read := func(args ...string) job { return job{args: args, acknowledged: func(*ledger, string) {}} }
	jobs := []func() job{
		func() job {
			return job{args: []string{"put", "--agent", "a", "--conversation", "c", "--call", id}, input: text,
				acknowledged: keeps("result/c/"+id, text)}
		},
		func() job { // large: a file of its own
			text := text + strings.Repeat(text+"\x00", 1+(2<<20)/len(text))
			return job{args: []string{"put", "--name", "note/large/" + id, "-"}, input: text, acknowledged: keeps("note/large/"+id, text)}
		},
		func() job { // the next version of a name
			return job{args: []string{"put", "--name", mine, "-"}, input: text, acknowledged: keeps(mine, text),
				killed: func(l *ledger) { l.maybe[mine] = text }}
		},
		func() job {
			return job{args: []string{"exec", "--agent", "a", "--conversation", "c", "--call", id, "--", "printf", "%s", text},
				acknowledged: keeps("result/c/"+id, text)}
		},
		func() job {
			summary := fmt.Sprintf("Summary number %d", n)
			return job{args: []string{"issue", "add", summary, "--type", "bug"}, acknowledged: contains("issue", summary)}
		},
		func() job {
			return job{args: []string{"issue", "next", "--claim", "--agent", "claimer-" + id},
				acknowledged: func(l *ledger, out string) {
					if id := anIssue.FindString(out); id != "" {
						l.holds["issue/"+id] = "claimer-" + fmt.Sprint("k", n)
					}
				}}
		},
		func() job {
			content := fmt.Sprintf("Learned number %d", n)
			return job{args: []string{"knowledge", "add", "--type", "gotcha", "--content", content},
				acknowledged: contains("knowledge", content)}
		},
		func() job { return read("sync") },
		func() job { return read("materialize", "--to", filepath.Join(dir, "out", id)) },
		func() job { return read("search", fmt.Sprintf("word%d", 1+random.IntN(n))) },
		func() job { return read("gc", "--kind", "result", "--conversation", "waste", "--older-than", "0d") },
		func() job {
			return job{args: []string{"put", "--agent", "a", "--conversation", "waste", "--call", id}, input: text,
				acknowledged: func(*ledger, string) {}}
		},
		func() job { return read("reindex") },
		func() job { return read("compact") },
		func() job { return read("verify", "--repair") },
	}
	return jobs[random.IntN(len(jobs))]()
}

var anIssue = regexp.MustCompile(`ISSUE-\d{8}-\d{3}`)

// run runs the job, and kills it after a while unless that is 0. It reports
// whether the job was killed; any other must end well.
func (j job) run(t testing.TB, dir string, l *ledger, after time.Duration) bool {
	t.Helper()
	cmd := filebusCommand(t, dir, j.args...)
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	if after > 0 {
		killer := time.AfterFunc(after, cancel)
		defer killer.Stop()
	}
	killable := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	killable.Args, killable.Dir, killable.Env = cmd.Args, cmd.Dir, cmd.Env
	var out, errText bytes.Buffer
	killable.Stdin, killable.Stdout, killable.Stderr = strings.NewReader(j.input), &out, &errText
	killable.WaitDelay = time.Second
	err := killable.Run()
	f := finished{killable.ProcessState.ExitCode(), out.String(), errText.String(), 0}
	f.wantPlain(t, j.args)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		t.Errorf("filebus %s: no end within %v", strings.Join(j.args, " "), bound)
	case f.code == -1, runtime.GOOS == "windows" && ctx.Err() != nil && f.code == 1:
		if j.killed != nil {
			j.killed(l)
		}
		return true
	case f.code != cli.ExitDone:
		t.Errorf("filebus %s: exit code %d, %v\n%s%s", strings.Join(j.args, " "), f.code, err, f.out, f.err)
	default:
		j.acknowledged(l, f.out)
	}
	return false
}

// populate puts a few records of each sort and says in the ledger what they are.
func populate(t testing.TB, dir string, l *ledger) {
	t.Helper()
	put := func(name, text string) {
		mustProcess(t, dir, text, "put", "--name", name, "-")
		l.exact[name] = text
	}
	mustProcess(t, dir, "", "init")
	put("note/small.md", "# Small\n\nA small text.\n")
	put("note/large", strings.Repeat("A line of another large text.\n", 60_000))
	for _, conversation := range []string{"c", "waste"} {
		text := "# Result\n\nOf " + conversation + ".\n"
		mustProcess(t, dir, text, "put", "--agent", "a", "--conversation", conversation, "--call", "k")
		if conversation != "waste" {
			l.exact["result/c/k"] = text
		}
	}
	contains("issue", "An old issue")(l, mustProcess(t, dir, "", "issue", "add", "An old issue", "--type", "bug"))
	contains("knowledge", "Once learned")(l, mustProcess(t, dir, "", "knowledge", "add", "--type", "gotcha", "--content", "Once learned"))
	mustProcess(t, dir, "", "search", "text")
}

// A stage holds what a harness begins with, again and again. The workspace always
// stands at the same path, which the mirror's memory knows.
type stage struct {
	dir, kept string
	ledger    *ledger
}

func newStage(t testing.TB, prepare func(t testing.TB, dir string, l *ledger)) *stage {
	t.Helper()
	st := &stage{filepath.Join(t.TempDir(), "work"), filepath.Join(t.TempDir(), "kept"), newLedger()}
	if err := os.Mkdir(st.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	prepare(t, st.dir, st.ledger)
	copyTree(t, st.dir, st.kept)
	return st
}

// set puts everything back as it was at the beginning.
func (st *stage) set(t testing.TB) {
	t.Helper()
	if err := os.RemoveAll(st.dir); err != nil {
		t.Fatal(err)
	}
	copyTree(t, st.kept, st.dir)
}

// copyTree copies a folder with all that is in it, with modes and times.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := os.CopyFS(to, os.DirFS(from))
	if err == nil {
		err = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			twin := filepath.Join(to, strings.TrimPrefix(name, from))
			return errors.Join(os.Chmod(twin, info.Mode().Perm()), os.Chtimes(twin, info.ModTime(), info.ModTime()))
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// chance is where a test draws at random: the same each time, unless FILEBUS_CHANCE is another number than 1.
// Several goroutines may draw from it.
func chance(t testing.TB) *rand.Rand {
	source, _ := chances.LoadOrStore(t.Name(), &shared{from: rand.NewPCG(uint64(effort(t, "FILEBUS_CHANCE", 1)), 0)})
	return rand.New(source.(*shared))
}

var chances = new(sync.Map) // by the names of tests

// A shared source gives each number once.
type shared struct {
	mu   sync.Mutex
	from rand.Source
}

func (s *shared) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from.Uint64()
}

// effort reads how much a harness is to do from the environment; short is what it
// does in the usual tests.
func effort(t testing.TB, variable string, short int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return short
	}
	var n int
	if _, err := fmt.Sscan(text, &n); err != nil || n < 1 {
		t.Fatalf("%s=%s is not a positive number", variable, text)
	}
	return n
}

// manyProcesses is how many processes a test starts at once: enough to keep each waiting
// for others, on the two processors of the usual tests. FILEBUS_PROCESSES=100 makes it a crowd.
func manyProcesses(t testing.TB) int { return effort(t, "FILEBUS_PROCESSES", 12) }

// sample returns some of all, in their order, without the same ones each time.
func sample[T any](random *rand.Rand, all []T, n int) []T {
	if n >= len(all) {
		return all
	}
	picked := map[int]bool{}
	for len(picked) < n {
		picked[random.IntN(len(all))] = true
	}
	var some []T
	for i := range all {
		if picked[i] {
			some = append(some, all[i])
		}
	}
	return some
}
