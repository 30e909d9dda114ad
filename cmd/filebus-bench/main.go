// Filebus-bench measures filebus side by side with public tools: git, cp,
// SQLite's FTS5 and ripgrep. It prints one row for each limit that docs/benchmarks.md
// explains, with the median of several runs and whether the limit is met.
//
// Usage:
//
//	filebus-bench [flags] [SUITE...]
//
// Without names of suites all of them run. What is compared runs in turns, one
// after the other on the same files, so that a disturbance of the machine meets
// all of it. Everything happens in a temporary folder, which is removed at the
// end. A tool that is not installed is left out by name. The exit code is 1 if
// something could not be measured, 2 if the command line is wrong, and 130 after
// an interrupt; a limit that is not met does not change it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// options are the flags of the command line.
type options struct {
	filebus   string // the program to measure; built if empty
	corpus    string // a folder of texts to use in place of made ones
	ir        string // a retrieval collection; see relevance.go
	known     string // an index of known items; see known.go
	dir       string // where the temporary folder is made
	runs      int    // of each side of a comparison
	docs      int    // files in the suites that work on many
	seed      uint64
	largeSize int64
	growthMax int
	small     bool  // growth is of small records
	rgSize    int64 // bytes of text in the suite of ripgrep

	keep                   bool // the temporary folder
	list                   bool // print the suites, measure nothing
	json                   bool
	svg                    string // a file for the curves
	cpuProfile, memProfile string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == measureCommand {
		if err := measureMain(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(exitCode(run(ctx, os.Args[1:], os.Stdout, os.Stderr), os.Stderr))
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (opts options, names []string, err error) {
	flags := flag.NewFlagSet("filebus-bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&opts.filebus, "filebus", "", "measure the `program` at this path (default: built from ./cmd/filebus)")
	flags.StringVar(&opts.corpus, "corpus", "", "use the files in `folder` in place of made ones")
	flags.StringVar(&opts.ir, "ir", "", "measure retrieval on the collection in `folder`: docs/ or docs.tar.gz, topics*, qrels*")
	flags.StringVar(&opts.known, "known", "", "look for the files that the entries of this Markdown `file` link to")
	flags.StringVar(&opts.dir, "dir", "", "make the temporary folder in `folder`, whose disk is then measured")
	flags.IntVar(&opts.runs, "runs", 5, "measure each side `n` times")
	flags.IntVar(&opts.docs, "docs", 10000, "work on `n` files")
	flags.Uint64Var(&opts.seed, "seed", 1, "make the texts from this `number`")
	flags.Int64Var(&opts.largeSize, "large-size", 1<<30, "the size of the large body in `bytes`")
	flags.IntVar(&opts.growthMax, "growth-max", 10000, "grow up to `n` records: 1000, 10000, 100000, 1000000")
	flags.BoolVar(&opts.small, "small", false, "grow with records of 300 bytes in place of the usual ones")
	flags.Int64Var(&opts.rgSize, "rg-size", 500_000_000, "search `bytes` of text with ripgrep; less is faster, but its limit is for that many")
	flags.BoolVar(&opts.keep, "keep", false, "do not remove the temporary folder, to look at it")
	flags.BoolVar(&opts.list, "list", false, "list the suites and measure nothing")
	flags.BoolVar(&opts.json, "json", false, "print JSON in place of a table")
	flags.StringVar(&opts.svg, "svg", "", "draw the curves of growth and processes to `file`")
	flags.StringVar(&opts.cpuProfile, "cpuprofile", "", "write a CPU profile of all filebus processes and this one to `file`")
	flags.StringVar(&opts.memProfile, "memprofile", "", "write a profile of their allocations to `file`")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: filebus-bench [flags] [SUITE...]\n\nsuites:")
		listSuites(stderr)
		fmt.Fprintln(stderr, "\nflags:")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return opts, nil, &usageError{err, true}
	}
	if opts.runs < 1 || opts.docs < 1 || opts.largeSize < 1 || opts.rgSize < 1 {
		return opts, nil, &usageError{errors.New("-runs, -docs, -large-size and -rg-size are at least 1"), false}
	}
	return opts, flags.Args(), nil
}

// listSuites writes a line for each suite.
func listSuites(w io.Writer) {
	for _, s := range suites() {
		fmt.Fprintf(w, "  %-12s %s\n", s.name, s.about)
	}
}

// A usageError is a command line that asks for nothing that there is.
type usageError struct {
	err  error
	said bool // by package flag
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// exitCode returns the exit code for what run returned, and says why it is not 0.
func exitCode(err error, stderr io.Writer) int {
	var usage *usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		if !usage.said {
			fmt.Fprintf(stderr, "filebus-bench: %v\n  try: filebus-bench -h\n", err)
		}
		return 2
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "filebus-bench: interrupted")
		return 130
	}
	fmt.Fprintln(stderr, "filebus-bench:", err)
	return 1
}

// run measures what the command line asks for. Rows go to stdout when all is
// done, or as many as there are after an interrupt, the progress of the work to
// stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	opts, names, err := parse(args, stderr)
	if err != nil {
		return err
	}
	chosen, err := choose(suites(), names)
	if err != nil {
		return err
	}
	if opts.list {
		listSuites(stdout)
		return nil
	}
	b, err := newBench(ctx, opts, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	stop, err := b.startProfiles(ctx)
	if err != nil {
		return err
	}
	rows, err := b.runSuites(ctx, chosen)
	err = errors.Join(err, stop())
	if len(rows) > 0 {
		err = errors.Join(err, b.write(stdout, rows))
	}
	return err
}

// write prints rows, draws their curves, and returns an error if something could
// not be measured.
func (b *bench) write(stdout io.Writer, rows []row) error {
	var err error
	if b.json {
		err = writeJSON(stdout, rows)
	} else {
		err = errors.Join(writeMeasures(stdout, rows), writeTable(stdout, rows))
	}
	if b.svg != "" {
		err = errors.Join(err, drawTo(b.svg, rows))
	}
	failures := 0
	for _, r := range rows {
		if r.Verdict == failed {
			failures++
		}
	}
	if failures > 0 {
		err = errors.Join(err, fmt.Errorf("%d measurements failed", failures))
	}
	return err
}

// choose returns the suites with the given names, in the order of all; all of
// them if no name is given.
func choose(all []suite, names []string) ([]suite, error) {
	if len(names) == 0 {
		return all, nil
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var chosen []suite
	var known []string
	for _, s := range all {
		known = append(known, s.name)
		if wanted[s.name] {
			chosen = append(chosen, s)
			delete(wanted, s.name)
		}
	}
	for name := range wanted {
		return nil, &usageError{fmt.Errorf("unknown suite %q: the suites are %s", name, strings.Join(known, ", ")), false}
	}
	return chosen, nil
}
