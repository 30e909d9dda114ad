package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"filebus/index"
	"filebus/query"
	"filebus/store"
)

// queriesPerTurn is how many searches each side runs in its turn.
const queriesPerTurn = 40

// runSearch measures searches as whole processes, as calls of package query, and
// as calls of package index, which do what FTS5 does: rank, and no more.
func runSearch(ctx context.Context, b *bench) ([]row, error) {
	texts, err := b.texts(b.docs)
	if err != nil {
		return nil, err
	}
	w, err := b.stock(ctx)
	if err != nil {
		return nil, err
	}
	queries, err := texts.queries(queriesPerTurn, b.seed)
	if err != nil {
		return nil, err
	}
	x, reader, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	s := &searches{b: b, w: w, queries: queries, index: x, reader: reader}
	rows, err := s.measure(ctx, texts)
	return rows, errors.Join(err, x.Close())
}

// open opens the index of a workspace, and a reader of its store.
func (w *workspace) open(ctx context.Context) (*index.Index, *query.Reader, error) {
	s, err := store.Open(w.storeDir(), store.Options{})
	if err != nil {
		return nil, nil, err
	}
	id, err := s.ID(ctx)
	if err != nil {
		return nil, nil, err
	}
	x, err := index.Open(filepath.Join(w.storeDir(), "index"), id)
	return x, query.New(s, query.Options{}), err
}

// searches are the sides of the suite.
type searches struct {
	b       *bench
	w       *workspace
	queries [][]string
	index   *index.Index
	reader  *query.Reader
	turn    int
}

func (s *searches) measure(ctx context.Context, texts *corpus) ([]row, error) {
	var fts5 string
	if hasTool(sqlite) {
		docs, err := s.b.fts5Docs(ctx, texts)
		if err != nil {
			return nil, err
		}
		if fts5, _, err = s.b.fts5Index(ctx, docs, ""); err != nil {
			return nil, err
		}
	}
	whole, wholeErr := inTurns(ctx, 8*s.b.runs, side{name: "filebus search", run: s.process},
		side{name: "sqlite3", tool: sqlite, run: func(ctx context.Context) (float64, error) { return s.sqlite(ctx, fts5) }})
	var ours, theirs, full sample
	for turn := -1; turn < s.b.runs; turn++ {
		a, b, c, err := s.round(ctx, fts5)
		if err != nil {
			return nil, err
		}
		if turn >= 0 { // the first warms the caches
			ours, theirs, full = append(ours, a...), append(theirs, b...), append(full, c...)
		}
	}
	return []row{
		measured(fmt.Sprintf("whole-process search, %d records", len(texts.files)), "ms", whole[0]).atMost(30, "≤ 30 ms"),
		measured("query part (index.Search)", "ms", ours).over(theirs).ratioAtMost(0.125, "≤ 1/8 of FTS5"),
		measured("FTS5 in C, the same queries", "ms", theirs).of(sqlite),
		measured("query.Search: with store, sections and snippets", "ms", full),
		measured("whole-process sqlite3, rank alone", "ms", whole[1]).of(sqlite),
	}, wholeErr
}

// sqlite runs one search as a process of sqlite3; each turn another.
func (s *searches) sqlite(ctx context.Context, db string) (float64, error) {
	script := fts5Query(s.queries[(s.turn-1)%len(s.queries)])
	done, err := s.b.execute(ctx, sqliteShell(s.b.temp, db, script))
	return milliseconds(done.elapsed), err
}

// process runs one search as a process; each turn another.
func (s *searches) process(ctx context.Context) (float64, error) {
	words := s.queries[s.turn%len(s.queries)]
	s.turn++
	return s.b.process(s.b.filebusIn(s.w, append([]string{"search"}, words...)...))(ctx)
}

// round runs all queries once on each side.
func (s *searches) round(ctx context.Context, fts5 string) (ours, theirs, full sample, err error) {
	for _, words := range s.queries {
		begin := time.Now()
		if _, err := s.index.Search(ctx, index.Request{Query: joined(words)}); err != nil {
			return nil, nil, nil, err
		}
		ours = append(ours, milliseconds(time.Since(begin)))
	}
	if fts5 != "" {
		if theirs, err = s.b.fts5Search(ctx, fts5, s.queries); err != nil {
			return nil, nil, nil, err
		}
	}
	for _, words := range s.queries {
		begin := time.Now()
		if _, err := s.reader.Search(ctx, query.SearchRequest{Query: joined(words)}); err != nil {
			return nil, nil, nil, err
		}
		full = append(full, milliseconds(time.Since(begin)))
	}
	return ours, theirs, full, nil
}

func joined(words []string) string { return strings.Join(words, " ") }
