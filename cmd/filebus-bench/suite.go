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
	run         func(ctx context.Context, b *bench) ([]row, error)
}

// suites returns all suites, in the order in which they run.
func suites() []suite {
	return []suite{
		{"startup", "the start of the program, and its size", runStartup},
		{"put", "one durable put of 20 KB against writing the file, and git hash-object", runPut},
		{"agents", "exec, context and wait, as an orchestrator meets them", runAgents},
		{"processes", "1 to 50 processes that put at once", runProcesses},
		{"searchers", "1 to 50 processes that search at once, beside one that puts", runSearchers},
		{"capture", "taking in a folder of new files against git add", runCapture},
		{"sync", "an idle sync against git status", runSync},
		{"materialize", "laying files out against cp -r", runMaterialize},
		{"search", "searches against SQLite FTS5", runSearch},
		{"index", "indexing against SQLite FTS5, with its memory and size", runIndex},
		{"size", "store and index on disk against the texts", runSize},
		{"large", "one large body: the memory of put, exec and get", runLarge},
		{"ripgrep", "searches of 500 MB of text against ripgrep", runRipgrep},
		{"growth", "what everything takes as the store grows", runGrowth},
		{"relevance", "retrieval on a judged collection (-ir)", runRelevance},
		{"known", "known items: the files of an index by its lines (-known)", runKnown},
		{"tokens", "what references and hits cost a reader", runTokens},
	}
}

// A bench is what the suites share.
type bench struct {
	options
	temp     string // removed at the end
	program  string // the filebus that is measured
	progress io.Writer
	corpora  map[int]*corpus
	stocked  *workspace
	profiles string // a folder for the profiles of processes; empty: none are made
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
	b := &bench{options: opts, temp: temp, progress: progress, corpora: map[int]*corpus{}}
	if opts.cpuProfile != "" || opts.memProfile != "" {
		if b.profiles, err = b.folder("profiles"); err != nil {
			return nil, errors.Join(err, b.close())
		}
	}
	if b.program, err = b.findProgram(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// close removes the temporary folder, unless it is to be kept. A process that was
// interrupted may write to it for another moment.
func (b *bench) close() (err error) {
	if b.keep {
		fmt.Fprintf(b.progress, "kept %s\n", b.temp)
		return nil
	}
	for range 20 {
		if err = os.RemoveAll(b.temp); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// findProgram returns the absolute path of the filebus to measure.
func (b *bench) findProgram(ctx context.Context) (string, error) {
	if b.filebus != "" {
		path, err := exec.LookPath(b.filebus)
		if err != nil {
			return "", err
		}
		return filepath.Abs(path)
	}
	path := filepath.Join(b.temp, "filebus")
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", path}
	if b.profiles != "" {
		args = append(args, "-tags", "filebus_profile")
	}
	build := exec.CommandContext(ctx, "go", append(args, "filebus/cmd/filebus")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building filebus: %w\n%s\n  run this in the repository of filebus, or name a program with -filebus", err, bytes.TrimSpace(out))
	}
	return path, nil
}

// runSuites runs suites one after the other. What fails of a suite gives a row
// that says so, and the others go on; only an interrupt ends all, with the rows of
// the suites that are done.
func (b *bench) runSuites(ctx context.Context, chosen []suite) ([]row, error) {
	var rows []row
	for _, s := range chosen {
		begin := time.Now()
		fmt.Fprintf(b.progress, "%s: %s\n", s.name, s.about)
		found, err := s.run(ctx, b)
		if ctx.Err() != nil {
			return rows, ctx.Err()
		}
		for _, err := range parts(err) {
			found = append(found, failure(err))
		}
		for i := range found {
			found[i].Suite = s.name
		}
		rows = append(rows, found...)
		fmt.Fprintf(b.progress, "%s: done in %.1f s\n", s.name, time.Since(begin).Seconds())
	}
	return rows, nil
}

// parts returns the errors that were joined to one; none of nil.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, err := range joined.Unwrap() {
		all = append(all, parts(err)...)
	}
	return all
}

// failure makes a row of what could not be measured.
func failure(err error) row {
	var missing *missingError
	r := row{What: strings.Join(strings.Fields(err.Error()), " "), Verdict: failed}
	if errors.As(err, &missing) {
		r.Verdict = skipped
	}
	return r
}

// folder makes a new folder in the temporary one.
func (b *bench) folder(name string) (string, error) { return os.MkdirTemp(b.temp, name+"-") }

// A missingError says that something a measurement needs is not there.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what + " is missing" }

// hasTool reports whether a program is installed.
func hasTool(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}
