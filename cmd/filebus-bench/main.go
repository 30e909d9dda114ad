// Filebus-bench measures filebus side by side with public tools: git, cp,
// SQLite's FTS5 and ripgrep, or with another filebus. It prints one row for each
// limit that docs/benchmarks.md explains, with the median of several runs and
// whether the limit is met.
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
	"slices"
	"strings"
	"syscall"
)

// options are the flags of the command line.
type options struct {
	filebus, against, ir, dir string
	corpus, questions         string
	runs, docs, growthMax     int
	origins, each, hear       int
	largeSize, rgSize         int64
	seed                      uint64
	small, keep, json         bool
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
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// flagsOf returns the flags, which set opts.
func flagsOf(opts *options) *flag.FlagSet {
	flags := flag.NewFlagSet("filebus-bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run says what is wrong
	text := func(to *string, name, usage string) { flags.StringVar(to, name, "", usage) }
	text(&opts.filebus, "filebus", "measure the `program` at this path (default: built from ./cmd/filebus)")
	text(&opts.against, "against", "compare start-up with that of the filebus `program` at this path, and answers with those of several, a,b")
	text(&opts.ir, "ir", "measure retrieval on the collection in `folder`: docs/ or docs.tar.gz, topics*, qrels*")
	text(&opts.corpus, "corpus", "quote from and search the texts of `folder`")
	text(&opts.questions, "questions", "ask the questions of `files` a,b about folders of -corpus: a header, then style, repo, query, answers")
	text(&opts.dir, "dir", "make the temporary folder in `folder`, whose disk is then measured")
	flags.IntVar(&opts.runs, "runs", 5, "measure each side `n` times")
	flags.IntVar(&opts.docs, "docs", 10000, "work on `n` files")
	flags.Uint64Var(&opts.seed, "seed", 1, "make the texts from this `number`")
	flags.Int64Var(&opts.largeSize, "large-size", 1<<30, "the size of the large body in `bytes`")
	flags.IntVar(&opts.growthMax, "growth-max", 10000, "grow up to `n` records: 1000, 10000, 100000, 1000000")
	flags.IntVar(&opts.origins, "origins", 10, "replicate `n` stores")
	flags.IntVar(&opts.each, "each", 500, "with `n` records each")
	flags.IntVar(&opts.hear, "hear", 10, "of these, let `n` hear all others")
	flags.BoolVar(&opts.small, "small", false, "grow with records of 300 bytes in place of the usual ones")
	flags.Int64Var(&opts.rgSize, "rg-size", ripgrepSize, "search `bytes` of text with ripgrep; "+
		"less is faster, but its limit is for that many")
	flags.BoolVar(&opts.keep, "keep", false, "do not remove the temporary folder, to look at it")
	flags.BoolVar(&opts.json, "json", false, "print JSON in place of a table")
	return flags
}

// parse reads the command line.
func parse(args []string) (opts options, chosen []suite, err error) {
	flags := flagsOf(&opts)
	if err := flags.Parse(args); err != nil {
		return opts, nil, err
	}
	if opts.runs < 1 || opts.docs < 1 || opts.largeSize < 1 || opts.rgSize < 1 || opts.origins < 1 || opts.each < 1 {
		return opts, nil, errors.New("-runs, -docs, -large-size, -rg-size, -origins and -each are at least 1")
	}
	chosen, err = choose(suites(), flags.Args())
	return opts, chosen, err
}

// help writes how the program is called.
func help(w io.Writer) {
	fmt.Fprintln(w, "usage: filebus-bench [flags] [SUITE...]\n\nsuites:")
	for _, s := range suites() {
		fmt.Fprintf(w, "  %-12s %s\n", s.name, s.about)
	}
	fmt.Fprintln(w, "\nflags:")
	flags := flagsOf(&options{})
	flags.SetOutput(w)
	flags.PrintDefaults()
}

// run measures what the command line asks for and returns the exit code. Rows go to
// stdout when all is done, or as many as there are after an interrupt, the progress
// of the work to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, chosen, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		help(stderr)
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "filebus-bench: %v\n  try: filebus-bench -h\n", err)
		return 2
	}
	err = measure(ctx, opts, chosen, stdout, stderr)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "filebus-bench: interrupted")
		return 130
	}
	fmt.Fprintln(stderr, "filebus-bench:", err)
	return 1
}

// measure runs suites and prints their rows.
func measure(ctx context.Context, opts options, chosen []suite, stdout, stderr io.Writer) (err error) {
	b, err := newBench(ctx, opts, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	rows := b.runSuites(ctx, chosen)
	if len(rows) > 0 {
		err = write(stdout, rows, opts.json)
	}
	return errors.Join(err, ctx.Err())
}

// choose returns the suites with the given names, in the order of all; all of
// them if no name is given.
func choose(all []suite, names []string) (chosen []suite, err error) {
	var known []string
	for _, s := range all {
		known = append(known, s.name)
		if len(names) == 0 || slices.Contains(names, s.name) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			err = fmt.Errorf("unknown suite %q: the suites are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, err
}
