package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
)

// rg is the program of ripgrep.
const rg = "rg"

const (
	// ripgrepSize is the size of the texts that the limit is for, in bytes.
	ripgrepSize = 500_000_000
	// ripgrepQueries is how many searches there are. Each takes ripgrep a second or
	// more at that size, so there are fewer than elsewhere.
	ripgrepQueries = 15
)

// runRipgrep compares searches in an index that is current with ripgrep, which
// reads the same files for the same words: as whole processes, with all files in
// the cache of the system. Words are those of the texts, frequent ones included.
// Ripgrep finds the files that have any of them: their names, for which it may
// stop at the first match in a file, and the counts of matching lines, for which
// it may not. It has as many threads as it likes.
func runRipgrep(ctx context.Context, b *bench) ([]row, error) {
	if !hasTool(rg) {
		return nil, &missingError{rg}
	}
	texts, err := b.textsOfSize(b.rgSize)
	if err != nil {
		return nil, err
	}
	w, err := b.newWorkspace("ripgrep")
	if err != nil {
		return nil, err
	}
	if err := b.fill(ctx, w, texts); err != nil {
		return nil, err
	}
	queries, err := texts.queries(ripgrepQueries, b.seed)
	if err != nil {
		return nil, err
	}
	samples, err := inTurns(ctx, max(b.runs, ripgrepQueries),
		side{name: "filebus search", run: b.eachTurn(queries, func(words []string) command {
			return b.filebusIn(w, append([]string{"search"}, words...)...)
		})},
		side{name: "rg -il", run: b.eachTurn(queries, func(words []string) command { return ripgrep(texts.dir, "-il", words) })},
		side{name: "rg -ic", run: b.eachTurn(queries, func(words []string) command { return ripgrep(texts.dir, "-ic", words) })})
	indexed, sizeErr := folderSize(filepath.Join(w.storeDir(), "index"))
	if sizeErr != nil {
		return nil, sizeErr
	}
	ours, list, count := samples[0], samples[1], samples[2]
	names, counts := measured("rg -il: names of the files with any of the words", "ms", list).over(ours), measured("rg -ic: counts of their lines", "ms", count).over(ours)
	if texts.bytes >= ripgrepSize {
		names = names.ratioAtLeast(10, "filebus ≥ 10 × as fast")
		counts = counts.ratioAtLeast(10, "filebus ≥ 10 × as fast")
	}
	return []row{
		measured(fmt.Sprintf("whole-process search in %.0f MB, %d records", texts.megabytes(), len(texts.files)), "ms", ours),
		names, counts,
		measured("index on disk / these texts", "", sample{float64(indexed) / float64(texts.bytes)}).atMost(0.45, "≤ 0.45 × the texts"),
	}, err
}

// eachTurn returns a measurement of a process whose words are others each turn.
// What it prints is thrown away.
func (b *bench) eachTurn(queries [][]string, of func(words []string) command) func(ctx context.Context) (float64, error) {
	turn := -1
	return func(ctx context.Context) (float64, error) {
		turn++
		c := of(queries[turn%len(queries)])
		c.stdout = io.Discard
		return b.process(c)(ctx)
	}
}

// ripgrep returns the command line that looks for words in all files of a folder.
func ripgrep(dir, mode string, words []string) command {
	args := []string{rg, "--no-config", "--no-ignore", "--hidden", mode}
	for _, word := range words {
		args = append(args, "-e", word)
	}
	return command{dir: dir, args: append(args, ".")}
}

// textsOfSize returns a corpus of so many bytes at least, of the folder that the
// options name as many as there are.
func (b *bench) textsOfSize(size int64) (*corpus, error) {
	dir, err := b.folder("texts")
	if err != nil {
		return nil, err
	}
	c := &corpus{dir: dir}
	if b.corpus != "" {
		return c, c.copyWhile(b.corpus, func() bool { return c.bytes < size })
	}
	for g := newGenerator(b.seed); c.bytes < size; {
		if err := c.make(g.next, 1); err != nil {
			return nil, err
		}
	}
	return c, nil
}
