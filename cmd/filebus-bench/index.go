package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"filebus/index"
	"filebus/store/record"
)

// runIndex compares making the index from the store with FTS5 making its own
// from a table, both as whole processes, and looks at memory and size. The first
// search makes an index of several segments, as FTS5 does; reindex goes on and
// merges them into one, as FTS5 does when it is told to optimize.
func runIndex(ctx context.Context, b *bench) ([]row, error) {
	texts, err := b.texts(b.docs)
	if err != nil {
		return nil, err
	}
	w, err := b.stock(ctx)
	if err != nil {
		return nil, err
	}
	documents, err := texts.documents()
	if err != nil {
		return nil, err
	}
	m := &indexing{b: b, w: w, texts: texts, sizes: map[string]sample{}}
	if hasTool(sqlite) {
		if m.docs, err = b.fts5Docs(ctx, texts); err != nil {
			return nil, err
		}
	}
	samples, err := inTurns(ctx, b.runs, m.sides(documents)...)
	first, fts5, merged, optimized := samples[0], samples[1], samples[2], samples[3]
	return []row{
		measured("indexing by the first search, whole process", "MB/s", first).over(fts5).ratioAtLeast(0.8, "≥ 0.8 × FTS5 (goal: 1.0)"),
		measured("FTS5 in C, whole process", "MB/s", fts5).of(sqlite),
		measured("reindex, all merged into one segment", "MB/s", merged).over(optimized),
		measured("FTS5 in C, optimized", "MB/s", optimized).of(sqlite),
		measured("the index alone (index.Apply)", "MB/s", samples[4]).over(fts5),
		measured("peak memory of indexing", "MB", m.ours).noneAbove(600, "≤ 600 MB"),
		measured("peak memory of FTS5", "MB", m.theirs).of(sqlite),
		measured("index on disk / texts, as a search leaves it", "", m.sizes["first"]).over(m.sizes["FTS5"]).atMost(0.45, "≤ 0.45 × the texts"),
		measured("index of FTS5 / texts", "", m.sizes["FTS5"]).of(sqlite),
		measured("index on disk / texts, merged by reindex", "", m.sizes["merged"]).over(m.sizes["optimized"]),
		measured("index of FTS5 / texts, optimized", "", m.sizes["optimized"]).of(sqlite),
	}, err
}

// sides returns what is compared, in the order of the rows.
func (m *indexing) sides(documents []*index.Document) []side {
	const optimize = "insert into fts(fts) values('optimize');\n"
	return []side{
		{name: "first search", prepare: m.removeIndex, run: func(ctx context.Context) (float64, error) {
			return m.filebus(ctx, "first", firstSearch()...)
		}},
		{name: "FTS5", tool: sqlite, run: func(ctx context.Context) (float64, error) { return m.fts5(ctx, "FTS5", "") }},
		{name: "reindex", run: func(ctx context.Context) (float64, error) { return m.filebus(ctx, "merged", "reindex") }},
		{name: "FTS5, optimized", tool: sqlite, run: func(ctx context.Context) (float64, error) {
			return m.fts5(ctx, "optimized", optimize)
		}},
		{name: "index.Apply", run: func(ctx context.Context) (float64, error) {
			return m.b.applyAll(ctx, documents, m.texts.megabytes())
		}},
	}
}

// An indexing is the sides of the suite, and what they took of memory.
type indexing struct {
	b            *bench
	w            *workspace
	texts        *corpus
	docs         string            // FTS5's table of texts
	ours, theirs sample            // megabytes
	sizes        map[string]sample // of the indexes on disk, as shares of the texts
}

// keepSize notes what an index takes on disk: a folder, or a file.
func (m *indexing) keepSize(side, path string) error {
	size, err := folderSize(path)
	m.sizes[side] = append(m.sizes[side], float64(size)/float64(m.texts.bytes))
	return err
}

// removeIndex makes the next search begin from nothing.
func (m *indexing) removeIndex(context.Context) error {
	return os.RemoveAll(filepath.Join(m.w.storeDir(), "index"))
}

// filebus runs a command that indexes all texts, and returns megabytes a second.
func (m *indexing) filebus(ctx context.Context, name string, args ...string) (float64, error) {
	done, err := m.b.executeSmall(ctx, m.b.filebusIn(m.w, args...))
	if err != nil {
		return 0, err
	}
	m.ours = append(m.ours, memoryOf(done)...)
	return m.texts.megabytes() / done.elapsed.Seconds(), m.keepSize(name, filepath.Join(m.w.storeDir(), "index"))
}

// fts5 indexes all texts, runs more SQL, and returns megabytes a second.
func (m *indexing) fts5(ctx context.Context, name, more string) (float64, error) {
	db, done, err := m.b.fts5Index(ctx, m.docs, more)
	if err != nil {
		return 0, err
	}
	m.theirs = append(m.theirs, memoryOf(done)...)
	if _, err := m.b.sqlite(ctx, db, "vacuum;"); err != nil { // pages that are free do not count
		return 0, err
	}
	return m.texts.megabytes() / done.elapsed.Seconds(), m.keepSize(name, db)
}

// documents returns the texts as the index gets them.
func (c *corpus) documents() ([]*index.Document, error) {
	var documents []*index.Document
	for i, file := range c.files {
		body, err := os.ReadFile(filepath.Join(c.dir, file))
		if err != nil {
			return nil, err
		}
		documents = append(documents, &index.Document{
			Name: record.Name{Tree: "made", Kind: record.KindNote, ID: filepath.ToSlash(file)},
			// Any time will do, as long as the documents differ in it.
			Position: uint64(i + 1), Time: time.Unix(int64(1_700_000_000+60*i), 0), Text: body,
		})
	}
	return documents, nil
}

// benchStore is the store that an index without a store belongs to.
const benchStore record.StoreID = "00000000000000000000000000000001"

// indexBatch is how much text goes into one call of Apply, in bytes.
const indexBatch = 64 << 20

// applyAll indexes documents without a store and returns megabytes a second.
func (b *bench) applyAll(ctx context.Context, documents []*index.Document, megabytes float64) (float64, error) {
	dir, err := b.folder("index")
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	w, err := index.OpenWriter(dir, benchStore)
	if err != nil {
		return 0, err
	}
	var changes []index.Change
	size := 0
	for i, d := range documents {
		changes = append(changes, index.Change{Name: d.Name, Document: d})
		if size += len(d.Text); size < indexBatch && i+1 < len(documents) {
			continue
		}
		if err := w.Apply(ctx, changes, d.Position); err != nil {
			return 0, errors.Join(err, w.Close())
		}
		changes, size = nil, 0
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	rate := megabytes / time.Since(begin).Seconds()
	return rate, os.RemoveAll(dir)
}
