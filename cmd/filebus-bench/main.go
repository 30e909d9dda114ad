// Filebus-bench measures filebus side by side with public tools: git, cp and
// SQLite's FTS5. It prints one row for each limit that docs/benchmarks.md
// explains, with the median of several runs and whether the limit is met.
//
// Usage:
//
//	filebus-bench [flags] [SUITE...]
//
// Without names of suites all of them run. What is compared runs in turns, one
// after the other on the same files, so that a disturbance of the machine meets
// all of it. Everything happens in a temporary folder, which is removed at the
// end. A tool that is not installed is left out by name.
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
)

// options are the flags of the command line.
type options struct {
	filebus   string // the program to measure; built if empty
	corpus    string // a folder of texts to use in place of made ones
	ir        string // a retrieval collection; see relevance.go
	dir       string // where the temporary folder is made
	runs      int    // of each side of a comparison
	docs      int    // files in the suites that work on many
	seed      uint64
	largeSize int64
	growthMax int

	json                   bool
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "filebus-bench:", err)
		os.Exit(1)
	}
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (opts options, names []string, err error) {
	flags := flag.NewFlagSet("filebus-bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&opts.filebus, "filebus", "", "measure the `program` at this path (default: built from ./cmd/filebus)")
	flags.StringVar(&opts.corpus, "corpus", "", "use the files in `folder` in place of made ones")
	flags.StringVar(&opts.ir, "ir", "", "measure retrieval on the collection in `folder`: docs/, topics*, qrels*")
	flags.StringVar(&opts.dir, "dir", "", "make the temporary folder in `folder`, whose disk is then measured")
	flags.IntVar(&opts.runs, "runs", 5, "measure each side `n` times")
	flags.IntVar(&opts.docs, "docs", 10000, "work on `n` files")
	flags.Uint64Var(&opts.seed, "seed", 1, "make the texts from this `number`")
	flags.Int64Var(&opts.largeSize, "large-size", 1<<30, "the size of the large body in `bytes`")
	flags.IntVar(&opts.growthMax, "growth-max", 10000, "grow up to `n` records: 1000, 10000, 100000")
	flags.BoolVar(&opts.json, "json", false, "print JSON in place of a table")
	flags.StringVar(&opts.cpuProfile, "cpuprofile", "", "write a profile of what runs in this process to `file`")
	flags.StringVar(&opts.memProfile, "memprofile", "", "write a profile of this process's memory to `file`")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: filebus-bench [flags] [SUITE...]\n\nsuites:")
		for _, s := range suites() {
			fmt.Fprintf(stderr, "  %-12s %s\n", s.name, s.about)
		}
		fmt.Fprintln(stderr, "\nflags:")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return opts, nil, err
	}
	if opts.runs < 1 || opts.docs < 1 || opts.largeSize < 1 {
		return opts, nil, errors.New("-runs, -docs and -large-size are at least 1")
	}
	return opts, flags.Args(), nil
}

// run measures what the command line asks for. Rows go to stdout when all is
// done, the progress of the work to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	opts, names, err := parse(args, stderr)
	if err != nil {
		return err
	}
	chosen, err := choose(suites(), names)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, opts, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	stop, err := startProfiles(opts)
	if err != nil {
		return err
	}
	rows, err := b.runSuites(ctx, chosen)
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	if opts.json {
		return writeJSON(stdout, rows)
	}
	return writeTable(stdout, rows)
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
		return nil, fmt.Errorf("unknown suite %q: the suites are %s", name, strings.Join(known, ", "))
	}
	return chosen, nil
}
