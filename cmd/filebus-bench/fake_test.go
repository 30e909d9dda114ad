package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeVariable makes the test binary act as a filebus that behaves, or misbehaves
// as its value says.
const fakeVariable = "BENCH_FAKE_FILEBUS"

// How a fake filebus misbehaves.
const (
	fakeSound    = "sound"
	fakeLossy    = "lossy"    // verify counts one record too few
	fakeCorrupt  = "corrupt"  // get changes a byte
	fakeBroken   = "broken"   // every command fails
	fakeComplete = "complete" // sound, and has compact and exec
)

// TestMain lets the test binary be what stands between a test and a process
// whose memory it measures, and a fake filebus.
func TestMain(m *testing.M) {
	var err error
	switch behaviour := os.Getenv(fakeVariable); {
	case len(os.Args) > 1 && os.Args[1] == measureCommand:
		err = measureMain(os.Args[2:])
	case behaviour != "":
		err = fakeMain(behaviour, os.Args[1:])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fakeBench returns a bench whose program is a fake.
func fakeBench(t *testing.T, behaviour string, opts options) *bench {
	t.Helper()
	t.Setenv(fakeVariable, behaviour)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := testBench(t, opts)
	b.program = self
	return b
}

// fakeMain is a filebus that keeps the last body in one file, and what was put in
// another, a byte each.
func fakeMain(behaviour string, args []string) error {
	dir := "."
	if len(args) > 1 && args[0] == "--store" {
		dir, args = args[1], args[2:]
	}
	if slices.Contains(args, "--help") {
		if behaviour != fakeComplete && (args[0] == "compact" || args[0] == "exec") {
			return errors.New("unknown command " + args[0])
		}
		return nil
	}
	if behaviour == fakeBroken {
		return errors.New("the fake is broken")
	}
	body, log := filepath.Join(dir, "body"), filepath.Join(dir, "log")
	switch args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--json" }); args[0] {
	case "put":
		return fakePut(args, body, log)
	case "verify":
		return fakeVerify(behaviour, log)
	case "get":
		return fakeGet(behaviour, body)
	case "capture":
		return errors.Join(
			writeFile(body, bytes.Repeat([]byte("b"), 1<<16)),
			writeFile(filepath.Join(dir, "index", "segment"), bytes.Repeat([]byte("i"), 1<<15)))
	case "compact":
		return os.Truncate(body, 0)
	case "search":
		_, err := fmt.Print(strings.Repeat("a hit\n", 10))
		return err
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
	if _, err := f.Write(bytes.Repeat([]byte("x"), len(files))); err != nil {
		return errors.Join(err, f.Close())
	}
	fmt.Println(`{"agent":"a","result_file":"/f","word_count":1,"preview":"p"}`)
	return f.Close()
}

func fakeVerify(behaviour, log string) error {
	puts, err := os.ReadFile(log)
	if behaviour == fakeLossy {
		puts = puts[1:]
	}
	fmt.Printf("{\"records\":%d}\n", len(puts))
	return err
}

func fakeGet(behaviour, body string) error {
	text, err := os.ReadFile(body)
	if err == nil && behaviour == fakeCorrupt {
		text[len(text)/2]++
	}
	return errors.Join(err, writeTo(os.Stdout, text))
}

func writeTo(w io.Writer, text []byte) error {
	_, err := w.Write(text)
	return err
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
	rows, err := runLarge(t.Context(), fakeBench(t, fakeSound, opts))
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, rows, "peak memory of get"); got.Verdict != met && got.Verdict != skipped {
		t.Errorf("get of a small program: got %+v, want %q", got, met)
	}
	if got := find(t, rows, "peak memory of exec"); got.Verdict != skipped {
		t.Errorf("exec of a program without it: got %+v, want %q", got, skipped)
	}
	_, err = runLarge(t.Context(), fakeBench(t, fakeCorrupt, opts))
	if err == nil || !strings.Contains(err.Error(), "other bytes") {
		t.Errorf("a byte was changed: got %v, want an error about it", err)
	}
}

func TestLargeMeasuresExec(t *testing.T) {
	if !hasTool("cat") {
		t.Skip("there is no cat")
	}
	rows, err := runLarge(t.Context(), fakeBench(t, fakeComplete, options{largeSize: 1000, seed: 1}))
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, rows, "peak memory of exec"); got.Runs != 1 {
		t.Errorf("exec: got %+v, want it measured", got)
	}
}

func TestProcessesCountsLosses(t *testing.T) {
	for behaviour, want := range map[string]struct {
		lost    float64
		verdict verdict
	}{fakeSound: {0, met}, fakeLossy: {1, notMet}} {
		rows, err := fakeBench(t, behaviour, options{runs: 1, seed: 1}).putAtOnce(t.Context(), load{processes: 5, each: 3})
		if err != nil {
			t.Fatalf("%s: %v", behaviour, err)
		}
		got := find(t, rows, "records lost")
		if got.Max != want.lost || got.Verdict != want.verdict {
			t.Errorf("%s: got %+v, want %v lost, %s", behaviour, got, want.lost, want.verdict)
		}
		if rate := find(t, rows, "puts by 5 "); rate.Median <= 0 || rate.Ratio <= 0 {
			t.Errorf("%s: got %+v, want a rate and a ratio", behaviour, rate)
		}
		if wait := find(t, rows, "longest"); wait.Median <= 0 {
			t.Errorf("%s: got %+v, want a wait", behaviour, wait)
		}
	}
}

func TestSizeCompactsWhereItCan(t *testing.T) {
	stores := map[string]float64{}
	for behaviour, state := range map[string]string{fakeSound: "before compact", fakeComplete: "after compact"} {
		rows, err := runSize(t.Context(), fakeBench(t, behaviour, options{docs: 3, seed: 1}))
		if err != nil {
			t.Fatalf("%s: %v", behaviour, err)
		}
		all, part, indexed := find(t, rows, "store + index"), find(t, rows, "of these, the store"), find(t, rows, "of these, the index")
		if !strings.HasSuffix(all.What, state) {
			t.Errorf("%s: got %q, want it %s", behaviour, all.What, state)
		}
		if indexed.Median <= 0 || math.Abs(all.Median-part.Median-indexed.Median) > 1e-9 {
			t.Errorf("%s: got %v in all, %v and %v, want the sum of its parts", behaviour, all.Median, part.Median, indexed.Median)
		}
		stores[behaviour] = part.Median
	}
	if stores[fakeComplete] >= stores[fakeSound] {
		t.Errorf("a compacted store: got %v times the texts, want less than %v", stores[fakeComplete], stores[fakeSound])
	}
}

func TestSuitesReportFailures(t *testing.T) {
	b := fakeBench(t, fakeBroken, options{docs: 2, runs: 1, seed: 1, largeSize: 10, growthMax: 1})
	var chosen []suite
	for _, s := range suites() {
		if s.name != "relevance" && s.name != "growth" { // which need a collection, and a thousand texts
			chosen = append(chosen, s)
		}
	}
	rows, err := b.runSuites(t.Context(), chosen)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if r.Suite != chosen[i].name || r.Verdict != failed || !strings.Contains(r.What, "the fake is broken") {
			t.Errorf("suite %s: got %+v, want one row that says what the program said", chosen[i].name, r)
		}
	}
	if len(rows) != len(chosen) {
		t.Errorf("got %d rows of %d suites", len(rows), len(chosen))
	}
}

func TestRelevanceWithoutCollection(t *testing.T) {
	_, err := runRelevance(t.Context(), fakeBench(t, fakeSound, options{}))
	var missing *missingError
	if !errors.As(err, &missing) {
		t.Errorf("got %v, want a %T", err, missing)
	}
}

func TestPutSuite(t *testing.T) {
	// The store's part works on a real store, which a fake does not make.
	_, err := runPut(t.Context(), fakeBench(t, fakeSound, options{runs: 1, seed: 1}))
	if err == nil || !strings.Contains(err.Error(), "no store") {
		t.Errorf("a put that made no store: got %v, want an error about it", err)
	}
}

func TestReferenceTokens(t *testing.T) {
	b := fakeBench(t, fakeSound, options{docs: 2, seed: 1})
	texts, err := b.texts(2)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.referenceTokens(t.Context(), texts)
	// The fake's reference has 61 bytes without its preview and with its line end.
	if want := 16.0; err != nil || len(got) != 2 || got[0] != want {
		t.Errorf("got %v, %v, want %v twice", got, err, want)
	}
}

func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	opts := options{cpuProfile: filepath.Join(dir, "cpu"), memProfile: filepath.Join(dir, "memory")}
	stop, err := startProfiles(opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{opts.cpuProfile, opts.memProfile} {
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("profile %s: got %v, %v, want bytes", file, info, err)
		}
	}
	if _, err := startProfiles(options{cpuProfile: filepath.Join(dir, "none", "cpu")}); err == nil {
		t.Error("a profile in a folder that is not there: got no error")
	}
	if stop, err := startProfiles(options{memProfile: filepath.Join(dir, "none", "memory")}); err != nil || stop() == nil {
		t.Errorf("a memory profile in a folder that is not there: got %v and no error at the end", err)
	}
}

func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	for _, body := range []string{"first", "second"} {
		if err := replaceFile(dir, []byte(body)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "written.md")); err != nil || string(got) != body {
			t.Errorf("got %q, %v, want %q", got, err, body)
		}
	}
	if _, err := syncTime(dir, []byte("x")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: got %v, %v, want only the file", left, err)
	}
	if err := replaceFile(filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a folder that is not there: got no error")
	}
}

func TestGrowthSizes(t *testing.T) {
	for most, want := range map[int]string{1: "[1000]", 1000: "[1000]", 9999: "[1000]", 10000: "[1000 10000]", 100000: "[1000 10000 100000]"} {
		if got := fmt.Sprint(growthSizes(most)); got != want {
			t.Errorf("growthSizes(%d): got %s, want %s", most, got, want)
		}
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{10: "10 bytes", 1 << 20: "1 MB", 1 << 30: "1024 MB", 3 << 19: "1.50 MB"} {
		if got := bytesText(n); got != want {
			t.Errorf("bytesText(%d): got %s, want %s", n, got, want)
		}
	}
}
