package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// testBench returns a bench that measures nothing but what the test gives it.
func testBench(t *testing.T, opts options) *bench {
	t.Helper()
	return &bench{options: opts, temp: t.TempDir(), progress: io.Discard, corpora: map[int]*corpus{}}
}

func TestParse(t *testing.T) {
	opts, names, err := parse([]string{"-runs", "3", "-json", "-seed", "9", "put", "size"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := options{runs: 3, json: true, seed: 9, docs: 10000, largeSize: 1 << 30, growthMax: 10000, rgSize: 500_000_000}
	if diff := cmp.Diff(want, opts, cmp.AllowUnexported(options{})); diff != "" {
		t.Errorf("options: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"put", "size"}, names); diff != "" {
		t.Errorf("suites: -want +got\n%s", diff)
	}
	for _, args := range [][]string{{"-runs", "0"}, {"-docs", "0"}, {"-large-size", "-1"}, {"-rg-size", "0"}, {"-nothing"}} {
		if _, _, err := parse(args, io.Discard); exitCode(err, io.Discard) != 2 {
			t.Errorf("%v: got %v with exit code %d, want 2", args, err, exitCode(err, io.Discard))
		}
	}
}

func TestExitCode(t *testing.T) {
	_, _, help := parse([]string{"-h"}, io.Discard)
	_, unknown := choose(suites(), []string{"nonsense"})
	for _, test := range []struct {
		err  error
		want int
		said string
	}{
		{nil, 0, ""},
		{help, 0, ""},
		{unknown, 2, "filebus-bench: unknown suite \"nonsense\": the suites are startup, put,"},
		{fmt.Errorf("search: %w", context.Canceled), 130, "filebus-bench: interrupted"},
		{errors.New("2 measurements failed"), 1, "filebus-bench: 2 measurements failed"},
	} {
		var stderr bytes.Buffer
		if got := exitCode(test.err, &stderr); got != test.want || !strings.HasPrefix(stderr.String(), test.said) {
			t.Errorf("%v: got %d and %q, want %d and %q", test.err, got, stderr.String(), test.want, test.said)
		}
	}
}

func TestList(t *testing.T) {
	var out bytes.Buffer
	// No program is looked for, and nothing is measured.
	if err := run(t.Context(), []string{"-list", "-filebus", "none"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(out.String(), "\n"), len(suites()); got != want {
		t.Errorf("got %d lines, want %d:\n%s", got, want, out.String())
	}
}

func TestUsageNamesEverySuite(t *testing.T) {
	var usage bytes.Buffer
	if _, _, err := parse([]string{"-h"}, &usage); err == nil {
		t.Error("-h: got no error")
	}
	for _, s := range suites() {
		if !strings.Contains(usage.String(), s.name) || !strings.Contains(usage.String(), s.about) {
			t.Errorf("usage lacks %s: %s", s.name, usage.String())
		}
	}
}

func TestChoose(t *testing.T) {
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
	if _, err := choose(all, []string{"a", "x"}); err == nil || !strings.Contains(err.Error(), `"x"`) || !strings.Contains(err.Error(), "a, b, c") {
		t.Errorf("unknown suite: got %v, want an error that names it and the known ones", err)
	}
}

func TestRunSuites(t *testing.T) {
	b := testBench(t, options{})
	broken := errors.New("broken")
	rows, err := b.runSuites(t.Context(), []suite{
		{name: "works", run: func(context.Context, *bench) ([]row, error) { return []row{{What: "x", Verdict: met}}, nil }},
		{name: "lacks", run: func(context.Context, *bench) ([]row, error) { return nil, &missingError{"git"} }},
		{name: "fails", run: func(context.Context, *bench) ([]row, error) { return []row{{What: "half"}}, broken }},
		{name: "twice", run: func(context.Context, *bench) ([]row, error) {
			return nil, errors.Join(fmt.Errorf("git add: %w:\nnothing there", broken), errors.Join(&missingError{"cp"}, nil))
		}},
	})
	want := []row{
		{Suite: "works", What: "x", Verdict: met},
		{Suite: "lacks", What: "git is missing", Verdict: skipped},
		{Suite: "fails", What: "half"},
		{Suite: "fails", What: "broken", Verdict: failed},
		{Suite: "twice", What: "git add: broken: nothing there", Verdict: failed},
		{Suite: "twice", What: "cp is missing", Verdict: skipped},
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows: -want +got\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows, err = b.runSuites(ctx, []suite{
		{name: "done", run: func(context.Context, *bench) ([]row, error) { return []row{{What: "x"}}, nil }},
		{name: "interrupted", run: func(context.Context, *bench) ([]row, error) { cancel(); return nil, broken }},
	})
	if len(rows) != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("after an interrupt: got %+v, %v, want the first row and %v", rows, err, context.Canceled)
	}
}

func TestBenchRemovesItsFolder(t *testing.T) {
	dir := t.TempDir()
	b, err := newBench(t.Context(), options{dir: dir, filebus: os.Args[0]}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(b.program) {
		t.Errorf("program: got %q, want an absolute path", b.program)
	}
	if _, err := b.texts(1); err == nil {
		err = b.close()
		if left, _ := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("after close: got %v and %v, want nothing left", left, err)
		}
	}
	if _, err := newBench(t.Context(), options{dir: dir, filebus: filepath.Join(dir, "none")}, io.Discard); err == nil {
		t.Error("a program that is not there: got no error")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("after an error: got %v, want nothing left", left)
	}
}

func TestTexts(t *testing.T) {
	b := testBench(t, options{seed: 1})
	c, err := b.texts(12)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, file := range c.files {
		info, err := os.Stat(filepath.Join(c.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if len(c.files) != 12 || size != c.bytes {
		t.Errorf("got %d files of %d bytes, want 12 of %d", len(c.files), size, c.bytes)
	}
	if again, err := b.texts(12); err != nil || again != c {
		t.Errorf("again: got %p, %v, want the same corpus %p", again, err, c)
	}
}

func TestTextsFromFolder(t *testing.T) {
	source := t.TempDir()
	for name, body := range map[string]string{".git/HEAD": "ref", "a.md": "first text here", "b/c.md": "second", "d.md": "third"} {
		if err := writeFile(filepath.Join(source, name), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := testBench(t, options{corpus: source}).texts(2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.md", filepath.Join("b", "c.md")}, c.files); diff != "" {
		t.Errorf("files: -want +got\n%s", diff)
	}
	if _, err := testBench(t, options{corpus: t.TempDir()}).texts(2); err == nil {
		t.Error("an empty folder: got no error")
	}
}

func TestBodiesOfFolder(t *testing.T) {
	source := t.TempDir()
	for name, body := range map[string]string{"a": "first", "b": "second"} {
		if err := writeFile(filepath.Join(source, name), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	next, err := testBench(t, options{corpus: source, docs: 10}).bodies()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 5 {
		body, err := next()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(body))
	}
	if diff := cmp.Diff([]string{"first", "second", "first\n1\n", "second\n1\n", "first\n2\n"}, got); diff != "" {
		t.Errorf("bodies: -want +got\n%s", diff)
	}
}

func TestTextsOfSize(t *testing.T) {
	b := testBench(t, options{seed: 1})
	c, err := b.textsOfSize(60_000)
	if err != nil {
		t.Fatal(err)
	}
	if c.bytes < 60_000 || c.bytes > 60_000+mostSize+mostSize/4 || len(c.files) < 2 {
		t.Errorf("got %d bytes in %d files, want 60000 and at most one text more", c.bytes, len(c.files))
	}
	b.corpus = c.dir
	again, err := b.textsOfSize(1 << 40)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.files, again.files, cmpopts.SortSlices(strings.Compare)); diff != "" || again.bytes != c.bytes {
		t.Errorf("a folder with less: got %d bytes, want all %d, files -want +got\n%s", again.bytes, c.bytes, diff)
	}
}

func TestQueries(t *testing.T) {
	c, err := testBench(t, options{seed: 1}).texts(5)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := c.queries(50, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.queries(50, 1)
	if diff := cmp.Diff(queries, again); diff != "" || err != nil {
		t.Errorf("the same seed: %v, -first +again\n%s", err, diff)
	}
	for _, words := range queries {
		if len(words) < 1 || len(words) > 3 || slices.Contains(words, "") {
			t.Errorf("query %q: want one to three words", words)
		}
	}
	empty := &corpus{dir: c.dir}
	if err := empty.add("numbers.md", []byte("1 2 3")); err != nil {
		t.Fatal(err)
	}
	if got, err := empty.queries(3, 1); err == nil {
		t.Errorf("texts without words: got %q, want an error", got)
	}
}

func TestExecute(t *testing.T) {
	b := testBench(t, options{})
	if !hasTool("sh") {
		t.Skip("there is no shell")
	}
	for _, name := range []string{"FILEBUS_STORE", "FILEBUS_STATE", "XDG_STATE_HOME", "RIPGREP_CONFIG_PATH"} {
		t.Setenv(name, "elsewhere")
	}
	script := `printf "%s %s" "$HOME" "$FILEBUS_STORE$XDG_STATE_HOME$RIPGREP_CONFIG_PATH$FILEBUS_STATE"`
	done, err := b.execute(t.Context(), command{dir: b.temp, args: []string{"sh", "-c", script}})
	if got, want := string(done.stdout), b.temp+" off"; err != nil || got != want {
		t.Errorf("environment: got %q, %v, want %q", got, err, want)
	}
	_, err = b.execute(t.Context(), command{args: []string{"sh", "-c", "echo went wrong >&2; exit 3"}})
	if err == nil || !strings.Contains(err.Error(), "went wrong") || !strings.Contains(err.Error(), "status 3") {
		t.Errorf("a failure: got %v, want what the process said and its code", err)
	}
}

func TestExecuteSmall(t *testing.T) {
	if !hasTool("sh") {
		t.Skip("there is no shell")
	}
	b := testBench(t, options{})
	ballast := bytes.Repeat([]byte("x"), 300<<20) // which the child must not be charged with
	var out bytes.Buffer
	done, err := b.executeSmall(t.Context(), command{args: []string{"sh", "-c", "cat; sleep 0.05"}, stdin: strings.NewReader("in"), stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if done.elapsed < 50*time.Millisecond || out.String() != "in" {
		t.Errorf("got %v and %q, want at least 50 ms and %q", done.elapsed, out.String(), "in")
	}
	if done.peak >= int64(len(ballast)) {
		t.Errorf("peak of a shell: got %d bytes, want less than the %d of this process", done.peak, len(ballast))
	}
	if _, err := b.executeSmall(t.Context(), command{args: []string{"sh", "-c", "exit 3"}}); err == nil {
		t.Error("a command that fails: got no error")
	}
}
