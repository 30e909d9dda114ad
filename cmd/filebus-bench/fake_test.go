package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fakeVariable makes the test binary act as a filebus that behaves, or misbehaves
// as its value says.
const fakeVariable = "BENCH_FAKE_FILEBUS"

// How a fake filebus misbehaves.
const (
	fakeSound   = "sound"
	fakeLossy   = "lossy"   // verify counts one record too few
	fakeCorrupt = "corrupt" // get changes a byte
	fakeBroken  = "broken"  // every command fails
	fakeSlow    = "slow"    // a put says who it is and takes a minute
)

// pidVariable names the file in which a slow fake says who it is.
const pidVariable = "BENCH_FAKE_PID"

// benchCommand makes the test binary act as the benchmark itself.
const benchCommand = "bench-main"

// TestMain lets the test binary be what stands between a test and a process
// whose memory it measures, and a fake filebus.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == benchCommand {
		os.Args = slices.Delete(os.Args, 1, 2)
		main()
		return
	}
	var err error
	switch behaviour := os.Getenv(fakeVariable); {
	case len(os.Args) > 1 && os.Args[1] == measureCommand:
		err = measureMain(os.Args[2:])
	case behaviour != "":
		err = fakeMain(behaviour, os.Args[1:])
	default:
		debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fakeMain is a filebus that keeps the last body in one file, and what was put in
// another, a byte each.
func fakeMain(behaviour string, args []string) error {
	dir := "."
	if len(args) > 1 && args[0] == "--store" {
		dir, args = args[1], args[2:]
	}
	if behaviour == fakeBroken {
		return errors.New("the fake is broken")
	}
	body, log := filepath.Join(dir, "body"), filepath.Join(dir, "log")
	switch args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--json" }); args[0] {
	case "put":
		if behaviour == fakeSlow {
			err := writeFile(os.Getenv(pidVariable), []byte(strconv.Itoa(os.Getpid())))
			time.Sleep(time.Minute)
			return err
		}
		return fakePut(args, body, log)
	case "search": // it knows one file
		tree := "ax"
		if at := slices.Index(args, "--tree"); at >= 0 {
			tree = args[at+1]
		}
		fmt.Printf(`{"hits": [{"tree": %q, "path": "a.md"}]}`, tree)
	case "capture":
		return os.MkdirAll(filepath.Join(dir, "index"), 0o777)
	case "verify":
		puts, err := os.ReadFile(log)
		if behaviour == fakeLossy {
			puts = puts[1:]
		}
		fmt.Printf("{\"records\":%d}\n", len(puts))
		return err
	case "get":
		text, err := os.ReadFile(body)
		if err == nil && behaviour == fakeCorrupt {
			text[len(text)/2]++
		}
		_, writeErr := os.Stdout.Write(text)
		return errors.Join(err, writeErr)
	}
	return nil
}

// fakePut keeps the files named behind the flags.
func fakePut(args []string, body, log string) error {
	files := slices.DeleteFunc(args[1:], func(arg string) bool { return !filepath.IsAbs(arg) })
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			err = writeFile(body, text)
		}
		if err != nil {
			return err
		}
	}
	f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Repeat([]byte("x"), len(files)))
	return errors.Join(err, f.Close())
}

// fakeRows runs a suite on a fake filebus.
func fakeRows(t *testing.T, behaviour string, opts options, plan func(a *attempt) []comparison) []row {
	t.Helper()
	t.Setenv(fakeVariable, behaviour)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := testAttempt(t, opts)
	a.program = self
	return (&suite{"fake", "", plan}).rows(a)
}

// find returns the row whose description begins with what.
func find(t *testing.T, rows []row, what string) row {
	t.Helper()
	for _, r := range rows {
		if strings.HasPrefix(r.What, what) {
			return r
		}
	}
	t.Fatalf("no row %q in %+v", what, rows)
	return row{}
}

func TestLargeComparesBytes(t *testing.T) {
	opts := options{largeSize: 100_000, seed: 1}
	rows := fakeRows(t, fakeSound, opts, planLarge)
	for _, what := range []string{"peak memory of get", "peak memory of put", "peak memory of exec"} {
		if got := find(t, rows, what); got.Verdict != met || got.Runs != 1 {
			t.Errorf("%s of a small program: got %+v, want %q", what, got, met)
		}
	}
	rows = fakeRows(t, fakeCorrupt, opts, planLarge)
	if got := find(t, rows, "get, bytes equal: get returned other bytes"); got.Verdict != failed {
		t.Errorf("a byte was changed: got %+v, want %q", got, failed)
	}
}

func TestProcessesCountsLosses(t *testing.T) {
	for behaviour, want := range map[string]struct {
		lost    float64
		verdict verdict
	}{fakeSound: {0, met}, fakeLossy: {1, notMet}} {
		opts := options{runs: 1, seed: 1}
		rows := fakeRows(t, behaviour, opts, func(a *attempt) []comparison { return a.putAtOnce(15, 1, 5) })
		got := find(t, rows, "records lost by 5 ")
		if got.Max != want.lost || got.Verdict != want.verdict {
			t.Errorf("%s: got %+v, want %v lost, %s", behaviour, got, want.lost, want.verdict)
		}
		if single := find(t, rows, "15 puts by 1 "); single.Limit != "" || single.Median <= 0 {
			t.Errorf("%s: got %+v, want a rate without a limit", behaviour, single)
		}
		if rate := find(t, rows, "15 puts by 5 "); rate.Median <= 0 || rate.Ratio <= 0 {
			t.Errorf("%s: got %+v, want a rate and a ratio", behaviour, rate)
		}
		if wait := find(t, rows, "longest"); wait.Median <= 0 {
			t.Errorf("%s: got %+v, want a wait", behaviour, wait)
		}
	}
}

// TestStartupComparesPrograms compares a fake with itself.
func TestStartupComparesPrograms(t *testing.T) {
	opts := options{runs: 1, docs: 3, seed: 1, against: os.Args[0]}
	rows := fakeRows(t, fakeSound, opts, planStartup)
	for _, what := range []string{"start-up (filebus version)", "put of 20 KB", "search in 3 records", "exec true"} {
		for _, kind := range []string{"", processorTime} {
			other := find(t, rows, what+ofOther+kind)
			i := slices.IndexFunc(rows, func(r row) bool { return r.What == what+kind })
			if i < 0 || rows[i].Runs != 8 || rows[i].Ratio <= 0 || other.Runs != 8 || other.Median <= 0 {
				t.Errorf("%s: got %+v and %+v, want 8 runs of each and a ratio", what+kind, rows, other)
			}
		}
	}
}

// TestGrowthMeasuresEachSize fills the smallest store: it has rows for what filling it
// took and for what is measured in it, and nothing to be compared with.
func TestGrowthMeasuresEachSize(t *testing.T) {
	rows := fakeRows(t, fakeSound, options{runs: 1, seed: 1, growthMax: 1000, small: true}, planGrowth)
	for _, m := range growthMeasures() {
		got := find(t, rows, m.what+", 1000 records")
		if got.Unit != m.unit || got.Runs == 0 || got.Ratio != 0 || strings.Contains(got.Limit, "×") {
			t.Errorf("%s: got %+v, want some %s without a ratio", m.what, got, m.unit)
		}
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.Verdict == failed }) {
		t.Errorf("got a failure in %+v", rows)
	}
}

// TestSuitesReportFailures runs the suites with a filebus that does nothing but fail.
func TestSuitesReportFailures(t *testing.T) {
	opts := options{docs: 2, runs: 1, seed: 1, largeSize: 10, growthMax: 1, rgSize: 1000, origins: 1, each: 1, small: true}
	for _, s := range suites() {
		if s.name == "processes" || s.name == "growth" {
			continue // they make a thousand texts first
		}
		said := slices.ContainsFunc(fakeRows(t, fakeBroken, opts, s.plan), func(r row) bool {
			broken := r.Verdict == failed && strings.Contains(r.What, "the fake is broken")
			return broken || r.Verdict == skipped && strings.HasSuffix(r.What, "is missing") // a collection, or ripgrep
		})
		if !said {
			t.Errorf("suite %s: got no row that says what the program said", s.name)
		}
	}
}
