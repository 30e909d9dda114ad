package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// sqlite is the shell of SQLite, whose FTS5 is the C implementation to compare
// with. It stems as Porter does, keeps no text of its own and ranks by BM25.
const sqlite = "sqlite3"

// fts5Docs loads the texts of a corpus into a table, from which FTS5 indexes them
// as filebus does from its store. It returns the database.
func (b *bench) fts5Docs(ctx context.Context, texts *corpus) (string, error) {
	dir, err := b.folder("fts5")
	if err != nil {
		return "", err
	}
	db := filepath.Join(dir, "docs.db")
	script := fmt.Sprintf(`create table docs(path text, body text);
insert into docs select name, cast(data as text) from fsdir(%s) where data is not null;
`, quoteSQL(texts.dir))
	_, err = b.sqlite(ctx, db, script)
	return db, err
}

// fts5Index indexes the texts of a database into a new one, runs more SQL on it,
// and returns it.
func (b *bench) fts5Index(ctx context.Context, docs, more string) (string, outcome, error) {
	dir, err := b.folder("fts5-index")
	if err != nil {
		return "", outcome{}, err
	}
	db := filepath.Join(dir, "fts.db")
	script := fmt.Sprintf(`attach %s as source;
create virtual table fts using fts5(path, body, content='', tokenize='porter');
insert into fts(rowid, path, body) select rowid, path, body from source.docs;
%s`, quoteSQL(docs), more)
	done, err := b.executeSmall(ctx, sqliteShell(b.temp, db, script))
	return db, done, err
}

// fts5Search runs queries in one process and returns the milliseconds of each.
// A query finds the ten best of the texts that have any of its words.
func (b *bench) fts5Search(ctx context.Context, db string, queries [][]string) (sample, error) {
	var script strings.Builder
	script.WriteString("pragma mmap_size = 1000000000;\n.timer on\n")
	for _, words := range queries {
		script.WriteString(fts5Query(words))
	}
	done, err := b.sqlite(ctx, db, script.String())
	if err != nil {
		return nil, err
	}
	times := shellTimes(string(done.stdout))
	if len(times) != len(queries) {
		return nil, fmt.Errorf("sqlite3 timed %d of %d queries", len(times), len(queries))
	}
	return times, nil
}

func fts5Query(words []string) string {
	match := `"` + strings.Join(words, `" OR "`) + `"`
	return fmt.Sprintf("select rowid from fts where fts match %s order by rank limit 10;\n", quoteSQL(match))
}

func (b *bench) sqlite(ctx context.Context, db, script string) (outcome, error) {
	if !hasTool(sqlite) {
		return outcome{}, &missingError{sqlite}
	}
	return b.execute(ctx, sqliteShell(b.temp, db, script))
}

func sqliteShell(dir, db, script string) command {
	return command{dir: dir, args: []string{sqlite, "-batch", "-bail", db}, stdin: strings.NewReader(script)}
}

var runTime = regexp.MustCompile(`(?m)^Run Time: real \S+ user (\S+) sys (\S+)`)

// shellTimes reads what ".timer on" prints, in milliseconds. The time of the CPU
// is taken, since that of the clock is rounded to whole milliseconds: a query on
// cached pages waits for nothing.
func shellTimes(output string) sample {
	var times sample
	for _, match := range runTime.FindAllStringSubmatch(output, -1) {
		// The pattern takes any word; what is no number counts as nothing, and is
		// seen by the queries' number of a millisecond each.
		user, err := strconv.ParseFloat(match[1], 64)
		if err != nil {
			continue
		}
		system, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			continue
		}
		times = append(times, 1000*(user+system))
	}
	return times
}

func quoteSQL(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
