package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"filebus/index"
	"filebus/query"
	"filebus/store/record"
)

// queriesPerTurn is how many searches each side runs in its turn.
const queriesPerTurn = 40

// planSearch measures searches as whole processes, as calls of package query, and
// as calls of package index, which do what FTS5 does: rank, and no more. It also
// measures what ten hits cost a reader.
func planSearch(a *attempt) []comparison {
	texts, w := a.texts(), a.stock(a.program)
	queries := a.queries(texts, queriesPerTurn)
	s, reader := a.open(w)
	var x *index.Index
	a.step(func() error {
		ids, err := s.Origins(a.ctx)
		if err == nil {
			x, err = index.Open(w.indexDir(), ids[0])
		}
		return err
	})
	fts5, _ := a.index(a.fts5Docs(texts.dir, "."), "")
	rank := func(ctx context.Context, words string) error {
		_, err := x.Search(ctx, index.Request{Query: words})
		return err
	}
	search := func(ctx context.Context, words string) error { // as the search command does it
		_, err := reader.Search(ctx, query.SearchRequest{Request: index.Request{Query: words}})
		return err
	}
	const hits, theirs = "ten hits of a search", "FTS5 in C, the same queries"
	next := eachTurn(queries, w.search)
	process := func(a *attempt) figures {
		done := a.run(next())
		tokens := float64(record.EstimateTokens(int64(len(done.stdout))))
		return figures{"": {milliseconds(done.Elapsed)}, hits: {tokens}}
	}
	return []comparison{
		{8 * a.runs, []side{
			{name: fmt.Sprintf("whole-process search, %d records", len(texts.files)), run: process,
				limit: "≤ 30 ms"},
			{name: "whole-process sqlite3, rank alone", tool: sqlite, run: whole(eachTurn(queries, fts5.search))},
		}, []line{{figure: hits, unit: "tokens", limit: "all ≤ 900 tokens"}}},
		{a.runs, []side{
			{name: "query part (index.Search)", run: eachTimed(queries, rank), over: theirs,
				limit: "≤ 0.125 × FTS5"},
			{name: theirs, tool: sqlite, run: fts5.times(queries)},
			{name: "query.Search: with store, sections and snippets", run: eachTimed(queries, search)},
		}, nil},
	}
}

// eachTimed measures the milliseconds of each of some queries.
func eachTimed(queries [][]string, search func(ctx context.Context, words string) error) measurement {
	return func(a *attempt) figures {
		var times sample
		for _, words := range queries {
			begin := time.Now()
			a.step(func() error { return search(a.ctx, strings.Join(words, " ")) })
			times = append(times, milliseconds(time.Since(begin)))
		}
		return figures{"": times}
	}
}

// planIndex compares making the index from the store with FTS5 making its own
// from a table, both as whole processes, and looks at memory and size. The first
// search makes an index of several segments, as FTS5 does; reindex goes on and
// merges them into one, as FTS5 does when it is told to optimize.
func planIndex(a *attempt) []comparison {
	const (
		theirs, optimized   = "FTS5 in C, whole process", "FTS5 in C, optimized"
		peak, theirPeak     = "peak memory of indexing", "peak memory of FTS5"
		size, theirSize     = "index on disk / texts, as a search leaves it", "index of FTS5 / texts"
		mergedSize, optSize = "index on disk / texts, merged by reindex", "index of FTS5 / texts, optimized"
	)
	texts, w := a.texts(), a.stock(a.program)
	docs := a.fts5Docs(texts.dir, ".")
	rate := func(done outcome) sample { return sample{texts.megabytes() / done.Elapsed.Seconds()} }
	ours := func(size string, args ...string) measurement {
		return func(a *attempt) figures {
			done := a.runForPeak(w.command(args...))
			return figures{"": rate(done), peak: done.megabytes(), size: texts.share(a.sizeOf(w.indexDir()))}
		}
	}
	fts5 := func(size, more string) measurement {
		return func(a *attempt) figures {
			made, done := a.index(docs, more)
			a.run(made.shell("vacuum;")) // pages that are free do not count
			return figures{"": rate(done), theirPeak: done.megabytes(), size: texts.share(a.sizeOf(made.db))}
		}
	}
	return []comparison{{a.runs, []side{
		{name: "indexing by the first search, whole process", unit: "MB/s", run: ours(size, firstSearch()...),
			prepare: func(a *attempt) { a.step(func() error { return os.RemoveAll(w.indexDir()) }) },
			over:    theirs, limit: "≥ 0.8 × FTS5 (goal: 1.0)"},
		{name: theirs, tool: sqlite, unit: "MB/s", run: fts5(theirSize, "")},
		{name: "reindex, all merged into one segment", unit: "MB/s", run: ours(mergedSize, "reindex"), over: optimized},
		{name: optimized, tool: sqlite, unit: "MB/s",
			run: fts5(optSize, "insert into fts(fts) values('optimize');\n")},
	}, []line{
		{figure: peak, unit: "MB", limit: "all ≤ 600 MB"},
		{figure: theirPeak, unit: "MB"},
		{figure: size, over: theirSize, limit: "≤ 0.45 of the texts"},
		{figure: theirSize},
		{figure: mergedSize, over: optSize},
		{figure: optSize},
	}}, onDisk(texts, w)}
}

// firstSearch returns the arguments of a search that indexes all there is.
func firstSearch() []string { return []string{"search", "--timeout", "10h", "the", "first"} }

// onDisk compares what store and index take on disk with the texts.
func onDisk(texts *corpus, w *workspace) comparison {
	both := fmt.Sprintf("store + index / texts of mean %.1f KB, not compacted", texts.meanKB())
	const store, index = "of these, the store", "of these, the index"
	return comparison{0, []side{{name: "sizes", run: func(a *attempt) figures {
		stored, indexed := a.sizes(w)
		return figures{both: texts.share(stored + indexed), store: texts.share(stored), index: texts.share(indexed)}
	}}}, []line{{figure: both, limit: "≤ 0.8 of the texts"}, {figure: store}, {figure: index}}}
}

// ripgrep is its program.
const ripgrep = "rg"

const (
	// ripgrepSize is the size of the texts that the limit is for, in bytes.
	ripgrepSize = 500_000_000
	// ripgrepQueries is how many searches there are. Each takes ripgrep a second or
	// more at that size, so there are fewer than elsewhere.
	ripgrepQueries = 15
)

// planRipgrep compares searches in an index that is current with ripgrep, which
// reads the same files for the same words: as whole processes, with all files in
// the cache of the system. Words are those of the texts, frequent ones included.
// Ripgrep finds the files that have any of them: their names, for which it may
// stop at the first match in a file, and the counts of matching lines, for which
// it may not. It has as many threads as it likes.
func planRipgrep(a *attempt) []comparison {
	if !hasTool(ripgrep) {
		a.check(missing(ripgrep))
	}
	texts := a.corpusOf(newGenerator(a.seed).next, func(c *corpus) bool { return c.bytes < a.rgSize })
	w := a.filled(a.program, texts.dir)
	queries := a.queries(texts, ripgrepQueries)
	faster := ""
	if texts.bytes >= ripgrepSize {
		faster = "≥ 10 × filebus"
	}
	ours := fmt.Sprintf("whole-process search in %.0f MB, %d records", texts.megabytes(), len(texts.files))
	rg := func(name, mode string) side {
		next := eachTurn(queries, func(words []string) command { return ripgrepFor(texts.dir, mode, words) })
		return side{name: name, run: whole(next), over: ours, limit: faster}
	}
	return []comparison{{turns: max(a.runs, ripgrepQueries), sides: []side{
		{name: ours, run: whole(eachTurn(queries, w.search))},
		rg("rg -il: names of the files with any of the words", "-il"),
		rg("rg -ic: counts of their lines", "-ic"),
	}}}
}

// ripgrepFor returns the command line that looks for words in all files of a folder.
// What it prints is thrown away.
func ripgrepFor(dir, mode string, words []string) command {
	args := []string{ripgrep, "--no-config", "--no-ignore", "--hidden", mode}
	for _, word := range words {
		args = append(args, "-e", word)
	}
	return command{dir: dir, args: append(args, "."), stdout: io.Discard}
}
