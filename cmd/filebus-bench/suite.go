package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
		{"put", "one durable put of 20 KB against writing the file", runPut},
		{"agents", "exec, context and wait, as an orchestrator meets them", runAgents},
		{"processes", "50 processes that put at once against one", runProcesses},
		{"capture", "taking in a folder of new files against git add", runCapture},
		{"sync", "an idle sync against git status", runSync},
		{"materialize", "laying files out against cp -r", runMaterialize},
		{"search", "searches against SQLite FTS5", runSearch},
		{"index", "indexing against SQLite FTS5, with its memory and size", runIndex},
		{"size", "store and index on disk against the texts", runSize},
		{"large", "one large body: the memory of put, exec and get", runLarge},
		{"growth", "put and search as the store grows", runGrowth},
		{"relevance", "retrieval on a judged collection (-ir)", runRelevance},
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
	if b.program, err = b.findProgram(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// close removes the temporary folder.
func (b *bench) close() error { return os.RemoveAll(b.temp) }

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
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "filebus/cmd/filebus")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building filebus: %w\n%s", err, out)
	}
	return path, nil
}

// runSuites runs suites one after the other. A suite that fails gives a row that
// says so, and the others go on; only an interrupt ends all.
func (b *bench) runSuites(ctx context.Context, chosen []suite) ([]row, error) {
	var rows []row
	for _, s := range chosen {
		begin := time.Now()
		fmt.Fprintf(b.progress, "%s: %s\n", s.name, s.about)
		found, err := s.run(ctx, b)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var missing *missingError
		switch {
		case errors.As(err, &missing):
			found = append(found, row{What: err.Error(), Verdict: skipped})
		case err != nil:
			found = append(found, row{What: err.Error(), Verdict: failed})
		}
		for i := range found {
			found[i].Suite = s.name
		}
		rows = append(rows, found...)
		fmt.Fprintf(b.progress, "%s: done in %.1f s\n", s.name, time.Since(begin).Seconds())
	}
	return rows, nil
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
