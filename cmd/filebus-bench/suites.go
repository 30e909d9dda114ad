package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A suite measures one subject.
type suite struct {
	name, about string
	// plan makes what is needed, and says what is compared on it.
	plan func(a *attempt) []comparison
}

// suites returns all suites, in the order in which they run.
func suites() []suite {
	return []suite{
		{"startup", "the start of common commands, against another filebus (-against), and its size", planStartup},
		{"put", "one durable put of 20 KB against writing the file", planPut},
		{"agents", "exec, context and wait, as an orchestrator meets them", planAgents},
		{"processes", "1 to 50 processes that put at once", func(a *attempt) []comparison { return a.putAtOnce(1000, 1, 2, 5, 10, 20, 50) }},
		{"capture", "taking in a folder of new files against git add", planCapture},
		{"sync", "an idle sync against git status", planSync},
		{"materialize", "laying files out against cp -r", planMaterialize},
		{"search", "searches against SQLite FTS5", planSearch},
		{"index", "indexing against SQLite FTS5, with its memory, and what all takes on disk", planIndex},
		{"large", "one large body: the memory of put, exec and get", planLarge},
		{"ripgrep", "searches of 500 MB of text against ripgrep", planRipgrep},
		{"growth", "what everything takes as the store grows", planGrowth},
		{"replicate", "many stores over a folder and over NATS JetStream", planReplicate},
		{"relevance", "retrieval on a judged collection (-ir)", planRelevance},
		{"verbatim", "what stands in one text alone, found by its words (-corpus)", planVerbatim},
		{"questions", "questions about texts (-corpus, -questions)", planQuestions},
	}
}

// A bench is what the suites share.
type bench struct {
	options
	temp     string // removed at the end
	program  string // the filebus that is measured
	progress io.Writer
	made     *corpus               // see texts
	stocks   map[string]*workspace // by program; see stock
}

// newBench makes the temporary folder and finds or builds the program.
func newBench(ctx context.Context, opts options, progress io.Writer) (*bench, error) {
	temp, err := os.MkdirTemp(opts.dir, "filebus-bench-")
	if err != nil {
		return nil, err
	}
	if temp, err = filepath.Abs(temp); err != nil {
		return nil, err
	}
	b := &bench{options: opts, temp: temp, progress: progress, stocks: map[string]*workspace{}}
	if b.program, err = findProgram(opts.filebus); opts.filebus == "" {
		b.program, err = b.build(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// close removes the temporary folder, unless it is to be kept. A process that was
// interrupted may write to it for another moment.
func (b *bench) close() error {
	if b.keep {
		fmt.Fprintf(b.progress, "kept %s\n", b.temp)
		return nil
	}
	if os.RemoveAll(b.temp) == nil {
		return nil
	}
	time.Sleep(time.Second)
	return os.RemoveAll(b.temp)
}

// findProgram returns the absolute path of a program.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// build makes the filebus to measure and returns its path.
func (b *bench) build(ctx context.Context) (string, error) {
	path := filepath.Join(b.temp, "filebus")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "filebus/cmd/filebus")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building filebus: %w\n%s\n  run this in cmd/filebus-bench of the repository, "+
			"or name a program with -filebus", err, bytes.TrimSpace(out))
	}
	return path, nil
}

// runSuites runs suites one after the other. What fails of a suite gives a row
// that says so, and the others go on; only an interrupt ends all, with the rows of
// the suites that are done.
func (b *bench) runSuites(ctx context.Context, chosen []suite) (rows []row) {
	for _, s := range chosen {
		begin := time.Now()
		fmt.Fprintf(b.progress, "%s: %s\n", s.name, s.about)
		found := s.rows(&attempt{bench: b, ctx: ctx})
		if ctx.Err() != nil {
			return rows
		}
		rows = append(rows, found...)
		fmt.Fprintf(b.progress, "%s: done in %.1f s\n", s.name, time.Since(begin).Seconds())
	}
	return rows
}

// rows runs a suite. They are those of what was measured, and one for each failure.
func (s *suite) rows(a *attempt) (rows []row) {
	comparisons, found := s.plan(a), figures{}
	failures := []error{a.err}
	if a.err != nil {
		comparisons = nil
	}
	for _, c := range comparisons {
		failures = append(failures, found.take(a, c)...)
		for _, l := range c.allLines() {
			if r := l.row(found); r.Runs > 0 {
				rows = append(rows, r)
			}
		}
	}
	for _, err := range failures {
		switch {
		case errors.Is(err, errMissing):
			rows = append(rows, row{What: err.Error(), Verdict: skipped})
		case err != nil:
			rows = append(rows, row{What: strings.Join(strings.Fields(err.Error()), " "), Verdict: failed})
		}
	}
	for i := range rows {
		rows[i].Suite = s.name
	}
	return rows
}

var errMissing = errors.New("missing")

// missing says that something a measurement needs is not there.
func missing(what string) error { return fmt.Errorf("%s is %w", what, errMissing) }

// hasTool reports whether a program is installed.
func hasTool(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}
