package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// testBench returns a bench that measures nothing but what the test gives it.
func testBench(t *testing.T, opts options) *bench {
	t.Helper()
	return &bench{options: opts, temp: t.TempDir(), progress: io.Discard, stocks: map[string]*workspace{}}
}

func testAttempt(t *testing.T, opts options) *attempt {
	t.Helper()
	return &attempt{bench: testBench(t, opts), ctx: t.Context()}
}

// writeFiles writes files into a new folder.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestParse(t *testing.T) {
	t.Parallel()
	opts, chosen, err := parse([]string{"-runs", "3", "-json", "-seed", "9", "put", "sync"})
	if err != nil {
		t.Fatal(err)
	}
	want := options{runs: 3, json: true, seed: 9, docs: 10000, largeSize: 1 << 30, growthMax: 10000, rgSize: 500_000_000, origins: 10, each: 500, hear: 10}
	if diff := cmp.Diff(want, opts, cmp.AllowUnexported(options{})); diff != "" {
		t.Errorf("options: -want +got\n%s", diff)
	}
	if len(chosen) != 2 || chosen[0].name != "put" || chosen[1].name != "sync" {
		t.Errorf("suites: got %v, want put and sync", chosen)
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx  context.Context
		args string
		want int
		said string
	}{
		{t.Context(), "-h", 0, "usage: filebus-bench [flags] [SUITE...]\n\nsuites:\n  startup"},
		{t.Context(), "nonsense", 2, "filebus-bench: unknown suite \"nonsense\": the suites are startup, put,"},
		{t.Context(), "-runs 0", 2, "filebus-bench: -runs, -docs,"},
		{t.Context(), "-docs 0", 2, "filebus-bench: -runs, -docs,"},
		{t.Context(), "-large-size -1", 2, "filebus-bench: -runs, -docs,"},
		{t.Context(), "-rg-size 0", 2, "filebus-bench: -runs, -docs,"},
		{t.Context(), "-nothing", 2, "filebus-bench: flag provided but not defined: -nothing\n  try: filebus-bench -h"},
		{t.Context(), "-filebus no-such-program put", 1, "filebus-bench: exec: \"no-such-program\""},
		{cancelled, "-filebus " + os.Args[0] + " put", 130, "put: one durable put"},
	} {
		var stderr bytes.Buffer
		if got := run(test.ctx, strings.Fields(test.args), io.Discard, &stderr); got != test.want {
			t.Errorf("%s: got exit code %d, want %d", test.args, got, test.want)
		}
		if !strings.HasPrefix(stderr.String(), test.said) {
			t.Errorf("%s: got %q, want it to begin with %q", test.args, stderr.String(), test.said)
		}
	}
}

func TestHelpNamesEverySuite(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	help(&said)
	for _, s := range suites() {
		if !strings.Contains(said.String(), s.name) || !strings.Contains(said.String(), s.about) {
			t.Errorf("help lacks %s: %s", s.name, said.String())
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	all := []suite{{name: "a"}, {name: "b"}, {name: "c"}}
	for _, test := range []struct{ names, want string }{
		{"", "a b c"}, {"b", "b"}, {"c a", "a c"}, {"a a", "a"},
	} {
		chosen, err := choose(all, strings.Fields(test.names))
		var got []string
		for _, s := range chosen {
			got = append(got, s.name)
		}
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("choose %q: got %v, %v, want %s", test.names, got, err, test.want)
		}
	}
	_, err := choose(all, []string{"a", "x"})
	if err == nil || !strings.Contains(err.Error(), `"x"`) || !strings.Contains(err.Error(), "a, b, c") {
		t.Errorf("unknown suite: got %v, want an error that names it and the known ones", err)
	}
}

func TestRunSuites(t *testing.T) {
	t.Parallel()
	b := testBench(t, options{})
	works := side{name: "x", run: func(*attempt) figures { return one(1) }}
	fails := func(err error) side {
		return side{name: "y", run: func(a *attempt) figures { a.check(err); return nil }}
	}
	plan := func(sides ...side) func(a *attempt) []comparison {
		return func(*attempt) []comparison { return []comparison{{0, sides, nil}} }
	}
	rows := b.runSuites(t.Context(), []suite{
		{"works", "", plan(works)},
		{"lacks", "", func(a *attempt) []comparison { a.check(missing("git")); return nil }},
		{"half", "", plan(fails(errors.New("broken:\nnothing there")), works, fails(missing("cp")))},
	})
	measured := row{What: "x", Unit: "ms", Runs: 1, Median: 1, Min: 1, Max: 1}
	want := []row{measured, {What: "git is missing", Verdict: skipped}, measured,
		{What: "y: broken: nothing there", Verdict: failed}, {What: "y: cp is missing", Verdict: skipped}}
	for i, name := range []string{"works", "lacks", "half", "half", "half"} {
		want[i].Suite = name
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows: -want +got\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows = b.runSuites(ctx, []suite{
		{"done", "", plan(works)},
		{"interrupted", "", func(*attempt) []comparison { cancel(); return nil }},
	})
	if len(rows) != 1 {
		t.Errorf("after an interrupt: got %+v, want the first row", rows)
	}
}

func TestBenchRemovesItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := newBench(t.Context(), options{dir: dir, filebus: os.Args[0], docs: 1}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(b.program) {
		t.Errorf("program: got %q, want an absolute path", b.program)
	}
	a := &attempt{bench: b, ctx: t.Context()}
	if a.texts(); a.err != nil {
		t.Fatal(a.err)
	}
	err = b.close()
	if left, _ := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("after close: got %v and %v, want nothing left", left, err)
	}
	if _, err := newBench(t.Context(), options{dir: dir, filebus: filepath.Join(dir, "none")}, io.Discard); err == nil {
		t.Error("a program that is not there: got no error")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("after an error: got %v, want nothing left", left)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	a := testAttempt(t, options{seed: 1, docs: 12})
	c := a.texts()
	size := int64(0)
	for _, file := range c.files {
		info, err := os.Stat(filepath.Join(c.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if a.err != nil || len(c.files) != 12 || size != c.bytes {
		t.Errorf("got %d files of %d bytes, %v, want 12 of %d", len(c.files), size, a.err, c.bytes)
	}
	if again := a.texts(); again != c {
		t.Errorf("again: got %p, want the same corpus %p", again, c)
	}
	queries, again := a.queries(c, 50), a.queries(c, 50)
	if diff := cmp.Diff(queries, again); diff != "" || a.err != nil || len(queries) != 50 {
		t.Errorf("%d queries of the same seed: %v, -first +again\n%s", len(queries), a.err, diff)
	}
	for _, words := range queries {
		if len(words) < 1 || len(words) > 3 || slices.Contains(words, "") {
			t.Errorf("query %q: want one to three words", words)
		}
	}
}

func TestQueriesNeedWords(t *testing.T) {
	t.Parallel()
	a := testAttempt(t, options{})
	c := a.corpusOf(func() text { return text{"a.md", []byte("1 2 3")} }, upTo(1))
	if got := a.queries(c, 3); a.err == nil {
		t.Errorf("texts without words: got %q, want an error", got)
	}
}

func TestCorpusOfSize(t *testing.T) {
	t.Parallel()
	a := testAttempt(t, options{seed: 1})
	c := a.corpusOf(newGenerator(a.seed).next, func(c *corpus) bool { return c.bytes < 60_000 })
	if a.err != nil || c.bytes < 60_000 || c.bytes > 60_000+mostSize+mostSize/4 || len(c.files) < 2 {
		t.Errorf("got %d bytes in %d files, %v, want 60000 and at most one text more", c.bytes, len(c.files), a.err)
	}
}

func TestSizeOnDisk(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"a/b": strings.Repeat("x", 10_000)})
	a := testAttempt(t, options{})
	if got := a.sizeOf(dir); a.err != nil || got < 10_000 || got > 1<<16 {
		t.Errorf("a file of 10000 bytes: got %d, %v, want a few blocks", got, a.err)
	}
	if a.sizeOf(filepath.Join(dir, "none")); a.err == nil {
		t.Error("a folder that is not there: got no error")
	}
}

func TestExecute(t *testing.T) {
	if !hasTool("sh") {
		t.Skip("there is no shell")
	}
	b := testBench(t, options{})
	for _, name := range strings.Fields("FILEBUS_STORE FILEBUS_STATE XDG_STATE_HOME RIPGREP_CONFIG_PATH " +
		profileVariable) {
		t.Setenv(name, "elsewhere")
	}
	script := `printf "%s %s %s" "$HOME" "$FILEBUS_STORE$XDG_STATE_HOME$RIPGREP_CONFIG_PATH$FILEBUS_STATE" ` +
		`"$` + profileVariable + `"`
	done, err := b.execute(t.Context(), command{dir: b.temp, args: []string{"sh", "-c", script}})
	if got, want := string(done.stdout), b.temp+" off elsewhere"; err != nil || got != want {
		t.Errorf("environment: got %q, %v, want %q", got, err, want)
	}
	_, err = b.execute(t.Context(), command{args: []string{"sh", "-c", "echo went wrong >&2; exit 3"}})
	if err == nil || !strings.Contains(err.Error(), "went wrong") || !strings.Contains(err.Error(), "status 3") {
		t.Errorf("a failure: got %v, want what the process said and its code", err)
	}
}

func TestExecuteForPeak(t *testing.T) {
	t.Parallel()
	if !hasTool("sh") {
		t.Skip("there is no shell")
	}
	b := testBench(t, options{})
	ballast := bytes.Repeat([]byte("x"), 64<<20) // which the child must not be charged with
	script := "cat; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05"
	c := command{args: []string{"sh", "-c", script}, stdin: strings.NewReader("in"), peak: true}
	done, err := b.execute(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if done.Elapsed < 50*time.Millisecond || string(done.stdout) != "in" {
		t.Errorf("got %v and %q, want at least 50 ms and %q", done.Elapsed, done.stdout, "in")
	}
	if done.Processor <= 0 || done.Processor > done.Elapsed {
		t.Errorf("got %v of the processor in %v, want some", done.Processor, done.Elapsed)
	}
	if done.Peak >= int64(len(ballast)) {
		t.Errorf("peak of a shell: got %d bytes, want less than the %d of this process", done.Peak, len(ballast))
	}
	if _, err := b.execute(t.Context(), command{args: []string{"sh", "-c", "exit 3"}, peak: true}); err == nil {
		t.Error("a command that fails: got no error")
	}
}

func TestShellTimes(t *testing.T) {
	t.Parallel()
	output := "3\nRun Time: real 0.005 user 0.004321 sys 0.000100\n7\n8\n" +
		"Run Time: real 0.000 user 0.000050 sys 0.000000\nRun Time: real - user x sys y\n"
	got := shellTimes(output)
	if len(got) != 2 || got[0] < 4.42 || got[0] > 4.43 || got[1] < 0.049 || got[1] > 0.051 {
		t.Errorf("times in %q: got %v, want 4.421 and 0.05", output, got)
	}
}

func TestQuoteSQL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a": "'a'", "it's": "'it''s'", "": "''"} {
		if got := quoteSQL(in); got != want {
			t.Errorf("quoteSQL(%q): got %s, want %s", in, got, want)
		}
	}
}

func TestBeyondPreview(t *testing.T) {
	t.Parallel()
	line := `{"agent":"a","result_file":"/f.md","word_count":3,"preview":"some \"words\""}`
	want := record.EstimateTokens(int64(len(`{"agent":"a","result_file":"/f.md","word_count":3,"preview":""}`)))
	if got, err := beyondPreview([]byte(line)); err != nil || got != float64(want) {
		t.Errorf("%s: got %v, %v, want %d", line, got, err, want)
	}
	for _, line := range []string{`{"agent":"a"}`, "no JSON"} {
		if got, err := beyondPreview([]byte(line)); err == nil {
			t.Errorf("%s: got %v, want an error", line, got)
		}
	}
}

func TestWriteRandom(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "random")
	digest, err := writeRandom(file, 100_000, 5)
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(file)
	if err != nil || len(body) != 100_000 || record.DigestOf(body) != digest {
		t.Errorf("got %d bytes, %v, digest %s, want 100000 of %s", len(body), err, record.DigestOf(body), digest)
	}
	if other, err := writeRandom(file, 100_000, 6); err != nil || other == digest {
		t.Errorf("another seed: got %s, %v, want another digest", other, err)
	}
}

func TestReplaceFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, body := range []string{"first", "second"} {
		fsync, err := replaceFile(dir, []byte(body))
		if err != nil || fsync <= 0 {
			t.Fatalf("got %v, %v, want the time of its fsync", fsync, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "written.md")); err != nil || string(got) != body {
			t.Errorf("got %q, %v, want %q", got, err, body)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: got %v, %v, want only the file", left, err)
	}
	if _, err := replaceFile(filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a folder that is not there: got no error")
	}
}

func TestGrowthSizes(t *testing.T) {
	t.Parallel()
	for most, want := range map[int][]int{
		1: {1000}, 1000: {1000}, 9999: {1000}, 10000: {1000, 10000}, 100000: {1000, 10000, 100000},
	} {
		if got := growthSizes(most); !slices.Equal(got, want) {
			t.Errorf("growthSizes(%d): got %v, want %v", most, got, want)
		}
	}
}

// TestRipgrepFindsFiles makes sure that it reads what lies there, hidden files
// included, and takes no word for an option.
func TestRipgrepFindsFiles(t *testing.T) {
	t.Parallel()
	if !hasTool(ripgrep) {
		t.Skip("there is no rg")
	}
	dir := writeFiles(t, map[string]string{
		"a.md": "One word", ".hidden/b.md": "a -word", "c.md": "none", ".gitignore": "a.md",
	})
	c := ripgrepFor(dir, "-il", []string{"word", "-x"})
	c.stdout = nil
	done, err := testBench(t, options{}).execute(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(done.stdout))
	slices.Sort(got)
	if want := "./.hidden/b.md ./a.md"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// TestSmallRun measures a capture by a real filebus, its searches, its index and the
// retrieval of one document: each must give rows without a failure. Which limits are
// met says nothing at this size.
func TestSmallRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go tool to build the program")
	}
	collection := writeFiles(t, map[string]string{
		"docs/D1.html": "<html><pre>A lock that is fair to writers.</pre></html>",
		"docs/D2.html": "<html><pre>Sorting numbers on tape.</pre></html>",
		"topics.txt":   "<DOC><DOCNO>1</DOCNO> fair locks </DOC>",
		"qrels.txt":    "1 Q0 D1 1\n",
	})
	// Built as the tests are, it takes what they have compiled.
	program := filepath.Join(t.TempDir(), "filebus")
	if out, err := exec.Command("go", "build", "-o", program, "filebus/cmd/filebus").CombinedOutput(); err != nil {
		t.Fatalf("building filebus: %v\n%s", err, out)
	}
	var out, progress bytes.Buffer
	args := []string{"-json", "-runs", "1", "-docs", "10", "-dir", t.TempDir(), "-filebus", program, "-ir", collection,
		"capture", "search", "index", "relevance"}
	if code := run(t.Context(), args, &out, &progress); code != 0 {
		t.Fatalf("got exit code %d\n%s%s", code, progress.String(), out.String())
	}
	var got struct{ Rows []row }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range got.Rows {
		seen[r.Suite]++
		if r.Verdict == failed {
			t.Errorf("%s failed: %s", r.Suite, r.What)
		}
		if r.What == "MAP" && r.Median != 1 {
			t.Errorf("%s of one topic whose document comes first: got %v, want 1", r.What, r.Median)
		}
	}
	for _, name := range []string{"capture", "search", "index", "relevance"} {
		if seen[name] == 0 {
			t.Errorf("suite %s gave no rows", name)
		}
	}
}
