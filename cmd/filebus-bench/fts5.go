package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// sqlite is the shell of SQLite, whose FTS5 is the C implementation to compare
// with. It stems as Porter does, keeps no text of its own and ranks by BM25.
const sqlite = "sqlite3"

// An fts5 is a database of texts, or of an index of them.
type fts5 struct{ db string }

// fts5Docs loads the texts below some folders of a folder into a table, from which FTS5
// indexes them as filebus does from its store. Without the tool there is none.
func (a *attempt) fts5Docs(dir string, folders ...string) fts5 {
	docs, script := fts5{filepath.Join(a.folder("fts5"), "docs.db")}, "create table docs(path text, body text);\n"
	for _, folder := range folders {
		script += fmt.Sprintf("insert into docs select name, cast(data as text) from fsdir(%s) where data is not null;\n", quoteSQL(folder))
	}
	if load := docs.shell(script); hasTool(sqlite) {
		load.dir = dir
		a.run(load)
	}
	return docs
}

// index indexes the texts of a database into a new one and runs more SQL on it.
func (a *attempt) index(docs fts5, more string) (fts5, outcome) {
	made := fts5{filepath.Join(a.folder("fts5"), "fts.db")}
	if !hasTool(sqlite) {
		return made, outcome{}
	}
	return made, a.runForPeak(made.shell(fmt.Sprintf(`attach %s as source;
create virtual table fts using fts5(path, body, content='', tokenize='porter');
insert into fts(rowid, path, body) select rowid, path, body from source.docs;
%s`, quoteSQL(docs.db), more)))
}

// search returns the command line of a query for the ten best of the texts that
// have any of the words.
func (f fts5) search(words []string) command { return f.shell(fts5Query(words) + ";") }

// times measures the milliseconds of each query, all in one process.
func (f fts5) times(queries [][]string) measurement {
	script := "pragma mmap_size = 1000000000;\n.timer on\n"
	for _, words := range queries {
		script += fts5Query(words) + ";\n"
	}
	return func(a *attempt) figures {
		times := shellTimes(string(a.run(f.shell(script)).stdout))
		if len(times) != len(queries) {
			a.check(fmt.Errorf("sqlite3 timed %d of %d queries", len(times), len(queries)))
		}
		return figures{"": times}
	}
}

func fts5Query(words []string) string {
	match := `"` + strings.Join(words, `" OR "`) + `"`
	return fmt.Sprintf("select rowid from fts where fts match %s order by rank limit 10", quoteSQL(match))
}

// shell returns the command line that runs SQL on the database.
func (f fts5) shell(script string) command {
	args := []string{sqlite, "-batch", "-bail", f.db}
	return command{dir: filepath.Dir(f.db), args: args, stdin: strings.NewReader(script)}
}

var runTime = regexp.MustCompile(`(?m)^Run Time: real \S+ user ([\d.]+) sys ([\d.]+)$`)

// shellTimes reads what ".timer on" prints, in milliseconds. The time of the CPU
// is taken, since that of the clock is rounded to whole milliseconds: a query on
// cached pages waits for nothing.
func shellTimes(output string) sample {
	var times sample
	for _, match := range runTime.FindAllStringSubmatch(output, -1) {
		user, err := strconv.ParseFloat(match[1], 64)
		system, systemErr := strconv.ParseFloat(match[2], 64)
		if err == nil && systemErr == nil { // else the queries' number shows that one is missing
			times = append(times, 1000*(user+system))
		}
	}
	return times
}

func quoteSQL(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
