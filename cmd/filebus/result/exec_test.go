package result_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// agentEnv makes the test program play an agent in place of running tests.
const agentEnv = "FILEBUS_TEST_AGENT"

func TestMain(m *testing.M) {
	if job := os.Getenv(agentEnv); job != "" {
		os.Exit(playAgent(strings.Fields(job)))
	}
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	os.Exit(m.Run())
}

// playAgent does a job with its arguments and returns the exit code.
func playAgent(job []string) int {
	switch job[0] {
	case "print": // text, exit code
		fmt.Print(job[1])
		code, err := strconv.Atoi(job[2])
		if err != nil {
			panic(err)
		}
		return code
	case "bytes": // how many
		n, err := strconv.ParseInt(job[1], 10, 64)
		if err != nil {
			panic(err)
		}
		if _, err := io.Copy(os.Stdout, io.LimitReader(newPattern(), n)); err != nil {
			return 1
		}
	case "copy":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			return 1
		}
	case "environment":
		for _, variable := range os.Environ() {
			if strings.HasPrefix(variable, "FILEBUS_") && !strings.HasPrefix(variable, agentEnv) {
				fmt.Println(variable)
			}
		}
		schema, err := os.ReadFile(os.Getenv("FILEBUS_SCHEMA"))
		fmt.Printf("%s%v\n", schema, err == nil)
	case "wait": // until a file is there, or its test is over
		fmt.Println("first")
		for !exists(job[1]) && exists(filepath.Dir(job[1])) {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("last")
	case "leave": // a process that waits, with our stdout
		child := agent("wait", job[1])
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return 1
		}
		for !exists(job[1] + ".started") {
			time.Sleep(time.Millisecond)
		}
	case "exec": // a workspace, then the job of the command
		return playExec(job[1], job[2:])
	default:
		return playUnixAgent(job)
	}
	return 0
}

// playExec runs a command as a process that can be killed.
func playExec(dir string, job []string) int {
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(context.Background(), at, materialize.Settings{}, store.Options{})
	if err != nil {
		panic(err)
	}
	call := result.Call{Agent: "Lost One", Conversation: "c1", ID: "k1", Tags: []string{"lost"}, Task: "t1"}
	if _, err := result.Exec(context.Background(), w, call, command(job...)); err != nil {
		panic(err)
	}
	return 0
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// A pattern gives bytes without end that differ from place to place.
type pattern struct{ n int }

func newPattern() io.Reader { return bufio.NewReader(&pattern{}) }

func (p *pattern) Read(b []byte) (int, error) {
	line := fmt.Appendf(nil, "line %d of a long output\n", p.n)
	p.n++
	return copy(b, line), nil
}

// agent returns the test program as an agent with a job.
func agent(job ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), agentEnv+"="+strings.Join(job, " "))
	return cmd
}

// command returns the same for Exec.
func command(job ...string) result.Command {
	cmd := agent(job...)
	return result.Command{Args: cmd.Args, Env: cmd.Env, Stderr: os.Stderr, KillAfter: time.Minute}
}

// newWorkspace returns a workspace whose store must be sound when the test ends.
func newWorkspace(t testing.TB) *materialize.Workspace {
	t.Helper()
	dir := t.TempDir()
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{Home: t.TempDir()}, store.Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	return w
}

func mustExec(t testing.TB, w *materialize.Workspace, c result.Call, command result.Command) *result.Execution {
	t.Helper()
	run, err := result.Exec(t.Context(), w, c, command)
	if err != nil {
		t.Fatalf("Exec(%q): %v", command.Args, err)
	}
	return run
}

// textOf returns what the file of a result holds.
func textOf(t testing.TB, stored *result.Stored) string {
	t.Helper()
	text, err := os.ReadFile(stored.File)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// exitOf shows the exit code of a record.
func exitOf(r *record.Record) string {
	if r.Exit == nil {
		return "unknown"
	}
	return strconv.Itoa(*r.Exit)
}

// wantNoSpool fails if something is left of the commands that ran.
func wantNoSpool(t testing.TB, w *materialize.Workspace) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(w.Location.Store, "spool", "*"))
	if err != nil || len(left) > 0 || exists(filepath.Join(w.Location.Store, "spool")) {
		t.Errorf("the spool after all is stored: %q, %v; want no such folder", left, err)
	}
}

func TestExec(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	tests := []struct {
		job           string
		stdin         string
		status        string
		exit          int
		text, preview string
	}{
		{"print Done. 0", "", "done", 0, "Done.", "Done."},
		{"print Half. 3", "", "failed", 3, "Half.", "[failed, exit 3] Half."},
		{"bytes 0", "", "done", 0, "", "(no output)"},
		{"copy", "What is asked.\n", "done", 0, "What is asked.\n", "What is asked."},
		{"copy", "a\x00\xff\r\n", "done", 0, "a\x00\xff\r\n", "(binary, 5 bytes)"},
		{"print # 255", "", "failed", 255, "#", "[failed, exit 255] #"},
	}
	for _, test := range tests {
		c := command(strings.Fields(test.job)...)
		c.Stdin = strings.NewReader(test.stdin)
		run := mustExec(t, w, result.Call{Agent: "Web Researcher", Conversation: "c1", Tags: []string{"x"}}, c)
		got := []string{run.Status, strconv.Itoa(run.Exit), run.Record.Status, exitOf(run.Record), textOf(t, run.Stored), run.Reference().Preview}
		exit := strconv.Itoa(test.exit)
		if diff := cmp.Diff([]string{test.status, exit, test.status, exit, test.text, test.preview}, got); diff != "" {
			t.Errorf("%s: status, exit, those of the record, text, preview (-want +got):\n%s", test.job, diff)
		}
		if run.Record.Source != record.SourceExec || run.Record.Agent != "web_researcher" || run.Record.Conversation != "c1" || run.Background {
			t.Errorf("%s: source %s, agent %s, conversation %s, background %v", test.job, run.Record.Source, run.Record.Agent,
				run.Record.Conversation, run.Background)
		}
	}
	wantNoSpool(t, w)
}

// TestExecLarge streams an output that is larger than what is kept of it anywhere.
func TestExecLarge(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	const size = 5 << 20
	run := mustExec(t, w, result.Call{}, command("bytes", strconv.Itoa(size)))
	want, err := io.ReadAll(io.LimitReader(newPattern(), size))
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, run.Stored); got != string(want) {
		t.Errorf("an output of %d bytes came back with %d, or others", size, len(got))
	}
	wantNoSpool(t, w)
}

// TestExecEnvironment looks at what a command knows of its call, and that it is
// told nothing of the call that its parent is.
func TestExecEnvironment(t *testing.T) {
	for _, variable := range os.Environ() { // what the test itself was called with
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "FILEBUS_") {
			t.Setenv(name, "") // puts it back in the end
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := newWorkspace(t)
	schema, err := result.ParseSchema("s.json", []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	injected, _ := schema.Inject()
	inherited := []string{"FILEBUS_CALL=outer", "FILEBUS_TASK=outer", "FILEBUS_SCHEMA=outer", "FILEBUS_OTHER=kept"}
	tests := []struct {
		call result.Call
		want []string
	}{
		{
			result.Call{Agent: "Web Researcher", Conversation: "c1", ID: "k1", Session: "s1", Task: "t1", Run: "r1"},
			[]string{
				"FILEBUS_OTHER=kept", "FILEBUS_STORE=STORE", "FILEBUS_CONVERSATION=c1", "FILEBUS_CALL=k1", "FILEBUS_AGENT=web_researcher",
				"FILEBUS_TASK=t1", "FILEBUS_SESSION=s1", "FILEBUS_RUN=r1", "FILEBUS_RESULT_FILE=FILE", "false",
			},
		},
		{
			result.Call{Conversation: "c1", ID: "k2", Schema: schema},
			[]string{
				"FILEBUS_OTHER=kept", "FILEBUS_STORE=STORE", "FILEBUS_CONVERSATION=c1", "FILEBUS_CALL=k2", "FILEBUS_RESULT_FILE=FILE",
				"FILEBUS_SCHEMA=SCHEMA", string(injected) + "true",
			},
		},
	}
	for _, test := range tests {
		c := command("environment")
		c.Env = append(c.Env, inherited...)
		run := mustExec(t, w, test.call, c)
		var got []string
		for line := range strings.Lines(strings.ReplaceAll(textOf(t, run.Stored), w.Location.Store+"\n", "STORE\n")) {
			if strings.HasPrefix(line, "FILEBUS_SCHEMA=") && strings.HasPrefix(line, "FILEBUS_SCHEMA="+w.Location.Store) {
				line = "FILEBUS_SCHEMA=SCHEMA\n"
			}
			got = append(got, strings.TrimSuffix(strings.Replace(line, run.File, "FILE", 1), "\n"))
		}
		if diff := cmp.Diff(strings.Split(strings.Join(test.want, "\n"), "\n"), got); diff != "" {
			t.Errorf("the environment of %+v (-want +got):\n%s", test.call, diff)
		}
	}
}

// TestExecSchema checks an output against a schema that it does not fit.
func TestExecSchema(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	schema, err := result.ParseSchema("s.json", []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		job, status, record string
		problems            bool
	}{
		{`print {"a":"x","summary":"Fits."} 0`, "done", "done", false},
		{`print {"a":1} 0`, "done", "invalid", true},
		{`print {"a":1} 4`, "failed", "failed", true},
	}
	for _, test := range tests {
		run := mustExec(t, w, result.Call{Structured: true, Schema: schema}, command(strings.Fields(test.job)...))
		if run.Status != test.status || run.Record.Status != test.record || (len(run.Problems) > 0) != test.problems {
			t.Errorf("%s: status %s, of the record %s, problems %q; want %s, %s, any %v", test.job, run.Status, run.Record.Status,
				run.Problems, test.status, test.record, test.problems)
		}
	}
}

// TestExecRefused runs nothing and leaves nothing.
func TestExecRefused(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	mustExec(t, w, result.Call{Conversation: "c1", ID: "taken"}, command("print", "x", "0"))
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o666); err != nil {
		t.Fatal(err)
	}
	ok := command("print", "x", "0")
	tests := []struct {
		call result.Call
		args []string
		dir  string
		want string // of the error
	}{
		{result.Call{}, nil, "", `running "": there is no program to run`},
		{result.Call{}, []string{""}, "", `running "": there is no program to run`},
		{result.Call{}, []string{"no-such-program"}, "", "running no-such-program: executable file not found in"},
		{result.Call{}, []string{filepath.Join(plain, "x")}, "", "running "},
		{result.Call{}, []string{plain}, "", "running "},
		{result.Call{}, ok.Args, filepath.Join(t.TempDir(), "none"), "none: "},
		{result.Call{Conversation: "c1", ID: "taken"}, ok.Args, "", "result/c1/taken is there already"},
		{result.Call{ID: "k"}, ok.Args, "", "needs a conversation"},
		{result.Call{Name: "c1/k"}, ok.Args, "", "named by its conversation and call"},
		{result.Call{Conversation: "a/b"}, ok.Args, "", "without a slash"},
		{result.Call{Conversation: ".."}, ok.Args, "", "malformed call"},
		{result.Call{Conversation: ".Git"}, ok.Args, "", "does not write to"},
		{result.Call{Conversation: strings.Repeat("a", 201)}, ok.Args, "", "at most 200 bytes"},
		{result.Call{Conversation: "c1", ID: "\xff"}, ok.Args, "", "not UTF-8"},
	}
	for _, test := range tests {
		c := ok
		c.Args, c.Dir = test.args, test.dir
		run, err := result.Exec(t.Context(), w, test.call, c)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Exec(%+v, %q) = %+v, %v; want an error with %q", test.call, test.args, run, err, test.want)
		}
	}
	if names := resultNames(t, w); len(names) != 1 {
		t.Errorf("results after commands that did not run: %q, want one", names)
	}
	wantNoSpool(t, w)
}

func TestStartError(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o666); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		program string
		want    result.ExitCode
	}{
		{"no-such-program", 127},
		{filepath.Join(t.TempDir(), "none"), 127},
		{plain, 126},
		{t.TempDir(), 126},
	}
	for _, test := range tests {
		c := result.Command{Args: []string{test.program}}
		if err := c.Find(); err == nil {
			t.Errorf("Find(%q) finds it", test.program)
		} else if got, _ := record.Detail[result.ExitCode](err); got != test.want {
			t.Errorf("Find(%q) = %v, with %d, want %d", test.program, err, got, test.want)
		}
	}
}

// resultNames returns the names of all results.
func resultNames(t testing.TB, w *materialize.Workspace) []string {
	t.Helper()
	var names []string
	err := w.Store.View(t.Context(), func(tx *store.Tx) error {
		for at, err := range tx.Lookup(store.FieldKind, string(record.KindResult)) {
			if err != nil {
				return err
			}
			v, err := tx.Find(at)
			if err != nil {
				return err
			}
			names = append(names, v.Record.Name.String())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func TestExecTee(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	var seen bytes.Buffer
	c := command("bytes", "300000")
	c.Tee = &seen
	run := mustExec(t, w, result.Call{}, c)
	if got := textOf(t, run.Stored); got != seen.String() || len(got) != 300000 {
		t.Errorf("tee saw %d bytes, the file has %d", seen.Len(), len(got))
	}
	c = command("print", "x", "0")
	c.Tee = failingWriter{}
	if run := mustExec(t, w, result.Call{}, c); run.Exit != 0 || textOf(t, run.Stored) != "x" {
		t.Errorf("with a tee that nobody reads: exit %d, text %q", run.Exit, textOf(t, run.Stored))
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestExecTimeout(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	never := filepath.Join(t.TempDir(), "never")
	c := command("wait", never)
	c.Timeout, c.KillAfter = 300*time.Millisecond, 0
	run := mustExec(t, w, result.Call{}, c)
	if run.Status != "timeout" || run.Exit != 124 || exitOf(run.Record) != "124" {
		t.Errorf("after its time: %s, exit %d, of the record %s", run.Status, run.Exit, exitOf(run.Record))
	}
	if got := run.Reference().Preview; !strings.HasPrefix(got, "[timeout, exit 124]") {
		t.Errorf("preview %q, want [timeout, exit 124]", got)
	}
}

// TestExecParallel runs many commands in one conversation, and as many without.
func TestExecParallel(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	const n = 20
	var wg sync.WaitGroup
	files := make([]string, 2*n)
	for i := range files {
		wg.Go(func() {
			call := result.Call{Conversation: "c1"}
			if i >= n {
				call = result.Call{}
			}
			run, err := result.Exec(t.Context(), w, call, command("print", fmt.Sprintf("output-%d", i), "0"))
			if err != nil {
				t.Errorf("command %d: %v", i, err)
				return
			}
			if files[i] = run.File; textOf(t, run.Stored) != fmt.Sprintf("output-%d", i) {
				t.Errorf("command %d: %s has another's text", i, run.File)
			}
		})
	}
	wg.Wait()
	conversations := map[string]int{}
	for _, file := range files {
		conversations[filepath.Base(filepath.Dir(file))]++
	}
	slices.Sort(files)
	if got := len(slices.Compact(files)); got != 2*n || conversations["c1"] != n || len(conversations) != n+1 {
		t.Errorf("%d files in %d conversations, %d in c1; want %d, %d, %d", got, len(conversations), conversations["c1"], 2*n, n+1, n)
	}
	wantNoSpool(t, w)
}

// TestExecLateCollision stores another text under the ids of a command while it
// runs: both are kept.
func TestExecLateCollision(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"first\nlast\n", "another"} {
		w := newWorkspace(t)
		whileRunning(t, w, func() {
			if _, err := result.Put(t.Context(), w, result.Call{Conversation: "c1", ID: "k1"}, store.Expect{}, strings.NewReader(text)); err != nil {
				t.Error(err)
			}
		}, func(run *result.Execution, err error) {
			if err != nil {
				t.Fatal(err)
			}
			same := run.Name.ID == "c1/k1"
			if textOf(t, run.Stored) != "first\nlast\n" || same != (text == "first\nlast\n") || run.Record.Status != "done" {
				t.Errorf("beside %q: %s with %q, status %s", text, run.Name, textOf(t, run.Stored), run.Record.Status)
			}
		})
		wantNoSpool(t, w)
	}
}

// whileRunning does something while a command runs as c1/k1, and then shows how
// that came out.
func whileRunning(t *testing.T, w *materialize.Workspace, do func(), then func(*result.Execution, error)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "go")
	var run *result.Execution
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		run, err = result.Exec(t.Context(), w, result.Call{Conversation: "c1", ID: "k1"}, command("wait", file))
	})
	waitForOutput(t, w, "first\n")
	do()
	touch(t, file)
	wg.Wait()
	then(run, err)
}

func touch(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

// waitForOutput waits until the one command that runs has written a text.
func waitForOutput(t *testing.T, w *materialize.Workspace, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(w.Location.Store, "spool", "*", "output"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if got, err := os.ReadFile(file); err == nil && string(got) == text {
				return
			}
		}
	}
	t.Fatalf("no command has written %q", text)
}

// TestExecBusyStore cannot store an output, which must wait until it can be.
func TestExecBusyStore(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	w := newWorkspace(t)
	hasty, err := materialize.Open(w.Location, w.Settings, store.Options{Wait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var hold *turnstile.Hold
	whileRunning(t, hasty, func() {
		if hold, err = turnstile.New(folder.At(w.Location.Store), "test").Acquire(t.Context(), turnstile.Exclusive, time.Minute); err != nil {
			t.Fatal(err)
		}
	}, func(run *result.Execution, err error) {
		if run == nil || run.Stored != nil || !errors.Is(err, turnstile.ErrBusy) {
			t.Fatalf("with a busy store: %v, want that the output waits", err)
		}
		if text, err := os.ReadFile(run.Waiting); err != nil || string(text) != "first\nlast\n" {
			t.Errorf("the file that the error names holds %q, %v", text, err)
		}
	})
	if all, err := result.Recover(t.Context(), hasty); len(all) != 0 || !errors.Is(err, turnstile.ErrBusy) {
		t.Errorf("Recover with a busy store = %v, %v", all, err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	got := mustRecover(t, w)
	if got.Name.ID != "c1/k1" || got.Record.Status != "done" || exitOf(got.Record) != "0" || textOf(t, got) != "first\nlast\n" {
		t.Errorf("recovered %s, status %s, exit %s, text %q", got.Name, got.Record.Status, exitOf(got.Record), textOf(t, got))
	}
	wantNoSpool(t, w)
}

func mustRecover(t *testing.T, w *materialize.Workspace) *result.Stored {
	t.Helper()
	all, err := result.Recover(t.Context(), w)
	if err != nil || len(all) != 1 {
		t.Fatalf("Recover = %d results, %v; want one", len(all), err)
	}
	return all[0]
}

// TestExecCancelled ends the context while a command runs: nothing stops.
func TestExecCancelled(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if run, err := result.Exec(ctx, w, result.Call{}, command("print", "x", "0")); !errors.Is(err, context.Canceled) {
		t.Errorf("Exec after the end of its context = %+v, %v", run, err)
	}
	wantNoSpool(t, w)
	ctx, cancel = context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "go")
	var wg sync.WaitGroup
	wg.Go(func() {
		run, err := result.Exec(ctx, w, result.Call{}, command("wait", file))
		if err != nil || textOf(t, run.Stored) != "first\nlast\n" {
			t.Errorf("Exec whose context ended: %v", err)
		}
	})
	waitForOutput(t, w, "first\n")
	cancel()
	touch(t, file)
	wg.Wait()
}
