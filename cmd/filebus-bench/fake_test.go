package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	fakeSlow     = "slow"     // a put says who it is and takes a minute
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
		if behaviour == fakeSlow {
			err := writeFile(os.Getenv(pidVariable), []byte(strconv.Itoa(os.Getpid())))
			time.Sleep(time.Minute)
			return err
		}
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
		rows, err := fakeBench(t, behaviour, options{runs: 1, seed: 1}).putAtOnce(t.Context(), 15, 1, 5)
		if err != nil {
			t.Fatalf("%s: %v", behaviour, err)
		}
		got := find(t, rows, "records lost by 5 ")
		if got.Max != want.lost || got.Verdict != want.verdict {
			t.Errorf("%s: got %+v, want %v lost, %s", behaviour, got, want.lost, want.verdict)
		}
		if single := find(t, rows, "15 puts by 1 "); single.Chart != "puts at once" || single.At != 1 || single.Limit != "" {
			t.Errorf("%s: got %+v, want a point of a curve without a limit", behaviour, single)
		}
		if rate := find(t, rows, "15 puts by 5 "); rate.Median <= 0 || rate.Ratio <= 0 {
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
	b := fakeBench(t, fakeBroken, options{docs: 2, runs: 1, seed: 1, largeSize: 10, growthMax: 1, rgSize: 1000, small: true})
	rows, err := b.runSuites(t.Context(), suites())
	if err != nil {
		t.Fatal(err)
	}
	said, skips := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		switch {
		case r.Verdict == failed && strings.Contains(r.What, "the fake is broken"):
			said[r.Suite] = true
		case r.Verdict == skipped && strings.HasSuffix(r.What, "is missing"):
			skips[r.Suite] = true // without a collection, or ripgrep
		}
	}
	for _, s := range suites() {
		if !said[s.name] && !skips[s.name] {
			t.Errorf("suite %s: got no row that says what the program said: %+v", s.name, rows)
		}
	}
	if !said["startup"] || !said["put"] || !said["growth"] {
		t.Errorf("got %v, want the suites that need nothing among them", said)
	}
	var out bytes.Buffer
	if err := b.write(&out, rows); exitCode(err, io.Discard) != 1 {
		t.Errorf("the exit code of %v: got %d, want 1", err, exitCode(err, io.Discard))
	}
}

func TestRipgrepSuite(t *testing.T) {
	if !hasTool(rg) {
		t.Skip("there is no rg")
	}
	rows, err := runRipgrep(t.Context(), fakeBench(t, fakeSound, options{runs: 1, seed: 1, rgSize: 50_000}))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"whole-process search in", "rg -il", "rg -ic"} {
		// The limit is for much more text than this.
		if got := find(t, rows, what); got.Runs != ripgrepQueries || got.Median <= 0 || got.Limit != "" {
			t.Errorf("%s: got %+v, want %d runs without a limit", what, got, ripgrepQueries)
		}
	}
	// The fake's index has 32768 bytes.
	if got := find(t, rows, "index on disk"); got.Verdict != notMet {
		t.Errorf("got %+v, want %s", got, notMet)
	}
}

func TestRipgrepIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	rows, err := fakeBench(t, fakeSound, options{}).runSuites(t.Context(), []suite{{"ripgrep", "", runRipgrep}})
	want := []row{{Suite: "ripgrep", What: "rg is missing", Verdict: skipped}}
	if diff := cmp.Diff(want, rows); diff != "" || err != nil {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
}

// TestRipgrepFindsFiles makes sure that it reads what lies there, hidden files
// included, and takes no word for an option.
func TestRipgrepFindsFiles(t *testing.T) {
	if !hasTool(rg) {
		t.Skip("there is no rg")
	}
	b := testBench(t, options{})
	dir := t.TempDir()
	for name, body := range map[string]string{"a.md": "One word", ".hidden/b.md": "a -word", "c.md": "none", ".gitignore": "a.md"} {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	done, err := b.execute(t.Context(), ripgrep(dir, "-il", []string{"word", "-x"}))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(done.stdout))
	slices.Sort(got)
	if want := "./.hidden/b.md ./a.md"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestSearchersSuite(t *testing.T) {
	rows, err := fakeBench(t, fakeSound, options{runs: 1, docs: 2, seed: 1}).searchAtOnce(t.Context(), 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s/%s at %v", r.Chart, r.Line, r.At))
		if r.Median <= 0 {
			t.Errorf("got %+v, want something measured", r)
		}
	}
	want := []string{
		"searches at once/search at 1", "search beside others/search at 1", "search beside others/put at 1",
		"searches at once/search at 3", "search beside others/search at 3", "search beside others/put at 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("points: -want +got\n%s", diff)
	}
	if each := rows[4]; each.Runs != 2*searchesAtOnce || each.Verdict != met {
		t.Errorf("searches of 3 processes, with the run that does not count: got %+v, want %d, %s", each, 2*searchesAtOnce, met)
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
	if !hasTool("go") {
		t.Skip("there is no Go tool to add profiles")
	}
	dir := t.TempDir()
	for _, folder := range []string{"", "none"} {
		b := testBench(t, options{filebus: "given", cpuProfile: filepath.Join(dir, folder, "cpu"), memProfile: filepath.Join(dir, folder, "memory")})
		b.profiles = t.TempDir()
		stop, err := b.startProfiles(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := stop(); (err == nil) != (folder == "") {
			t.Errorf("profiles in the folder %q, of which %q is not there: got %v", folder, "none", err)
		}
	}
	for _, file := range []string{"cpu", "memory"} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
			t.Errorf("profile %s: got %v, %v, want bytes", file, info, err)
		}
	}
}

// TestSumOfManyProfiles adds more profiles than go on one command line.
func TestSumOfManyProfiles(t *testing.T) {
	if !hasTool("go") {
		t.Skip("there is no Go tool to add profiles")
	}
	b := testBench(t, options{})
	b.profiles = t.TempDir()
	first := filepath.Join(b.profiles, "memory-0000.pprof")
	if err := writeMemoryProfile(first); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= profilesAtOnce; i++ {
		if err := writeFile(filepath.Join(b.profiles, fmt.Sprintf("memory-%04d.pprof", i)), body); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(b.profiles, "sum")
	if err := b.sumProfiles(t.Context(), "memory-*.pprof", to); err != nil {
		t.Fatal(err)
	}
	if got, want := bytesOf(t, to), float64(profilesAtOnce+1)*bytesOf(t, first); got < 0.99*want || got > 1.01*want {
		t.Errorf("the sum of %d equal profiles: got %v bytes, want %v", profilesAtOnce+1, got, want)
	}
}

// bytesOf returns what a profile of memory says was allocated.
func bytesOf(t *testing.T, profile string) float64 {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-raw", "-symbolize=none", profile).Output()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for line := range strings.Lines(string(out)) {
		// Objects and bytes, allocated and in use, before a colon.
		fields := strings.Fields(strings.SplitN(line, ":", 2)[0])
		if len(fields) != 4 {
			continue
		}
		if allocated, err := strconv.ParseFloat(fields[1], 64); err == nil {
			sum += allocated
		}
	}
	return sum
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
