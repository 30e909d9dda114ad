package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"filebus/query"
)

// A knownItem is a query of which it is known which files answer it.
type knownItem struct {
	kind, query string
	files       []string // slash-separated, below the folder
}

// itemsOfKind is how many queries of each kind are drawn.
const itemsOfKind = 300

// planVerbatim quotes lines, runs of content words and identifiers from random files of
// a folder, each from the only file that has it, and looks at which place that file is.
func planVerbatim(a *attempt) []comparison {
	texts := a.readTexts()
	return a.known(drawItems(texts, rand.New(rand.NewPCG(a.seed, 2))), map[string]string{
		"line @1": "≥ 0.98", "line @3": "≥ 0.995", "words @1": "≥ 0.95", "words @3": "≥ 0.98",
		"identifier @1": "≥ 0.95", "identifier @3": "≥ 0.98",
	})
}

// planQuestions asks the questions of a file, each line of which has a kind, a question
// and the files that answer it, with | between them, separated by tabs.
func planQuestions(a *attempt) []comparison {
	if a.questions == "" {
		a.check(missing("a file of questions (-questions)"))
		return nil
	}
	a.readTexts()
	var items []knownItem
	a.step(func() error {
		text, err := os.ReadFile(a.questions)
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
			if len(fields) != 3 {
				return fmt.Errorf("%s: %q has %d fields in place of 3", a.questions, line, len(fields))
			}
			items = append(items, knownItem{fields[0], fields[1], strings.Split(fields[2], "|")})
		}
		return err
	})
	return a.known(items, map[string]string{"all @1": "≥ 0.80", "paraphrase @3": "≥ 0.60"})
}

// readTexts returns the texts of the folder that is searched, by their paths.
func (a *attempt) readTexts() map[string][]byte {
	if a.corpus == "" {
		a.check(missing("a folder of texts (-corpus)"))
		return nil
	}
	texts := map[string][]byte{}
	a.step(func() error {
		return filepath.WalkDir(a.corpus, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if rel, relErr := filepath.Rel(a.corpus, path); relErr == nil && utf8.Valid(text) {
				texts[filepath.ToSlash(rel)] = text
			}
			return err
		})
	})
	return texts
}

var (
	contentWord = regexp.MustCompile(`[\pL\pN]{4,}`)
	identifier  = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9]*(?:[_./-][A-Za-z0-9]+)+|[A-Za-z]+[a-z0-9][A-Z][A-Za-z0-9]+`)
)

// drawItems draws queries from texts.
func drawItems(texts map[string][]byte, random *rand.Rand) []knownItem {
	var all []byte // of every text, to see that a quotation stands in one alone
	paths := slices.Sorted(maps.Keys(texts))
	for _, path := range paths {
		all = append(append(all, texts[path]...), 0)
	}
	var items []knownItem
	for _, kind := range []string{"line", "words", "identifier"} {
		for tries, drawn := 0, 0; len(paths) > 0 && tries < 20*itemsOfKind && drawn < itemsOfKind; tries++ {
			path := pick(random, paths)
			quoted, asked := quotation(kind, string(texts[path]), random)
			if quoted != "" && bytes.Count(all, []byte(quoted)) == 1 {
				items, drawn = append(items, knownItem{kind, asked, []string{path}}), drawn+1
			}
		}
	}
	return items
}

// quotation returns a piece of a text, and the query that is made of it.
func quotation(kind, text string, random *rand.Rand) (quoted, asked string) {
	if kind == "identifier" {
		if found := identifier.FindAllString(text, -1); len(found) > 0 {
			quoted = pick(random, found)
		}
		return quoted, quoted
	}
	line := strings.TrimSpace(pick(random, strings.Split(text, "\n")))
	words := contentWord.FindAllString(line, -1)
	if len(line) < 20 || len(line) > 200 || len(words) < 4 {
		return "", ""
	}
	if kind == "words" {
		return line, strings.Join(words, " ")
	}
	return line, line
}

// known asks for items, each side in its way, and measures the share of them whose file
// is the first, among the first three, and among the first ten.
func (a *attempt) known(items []knownItem, limits map[string]string) []comparison {
	if a.err != nil {
		return nil
	}
	w := a.filled(a.program, a.corpus)
	_, reader := a.open(w)
	texts := &corpus{dir: a.corpus}
	docs := a.fts5Docs(texts)
	fts5, _ := a.index(docs, "")
	sides := []side{
		{name: "filebus", run: placing("", items, func(a *attempt, q string) []string { return a.searched(reader, q) })},
		{name: "FTS5", tool: sqlite, run: placing("FTS5: ", items, func(a *attempt, q string) []string {
			return fts5.found(a, docs, q)
		})},
		{name: "ripgrep", tool: ripgrep, run: placing("rg -lF: ", items, func(a *attempt, q string) []string {
			return a.grepped(q)
		})},
	}
	all := comparison{sides: sides}
	kinds := []string{"all"}
	for _, item := range items {
		if !slices.Contains(kinds, item.kind) {
			kinds = append(kinds, item.kind)
		}
	}
	for _, tool := range []string{"", "FTS5: ", "rg -lF: "} {
		for _, kind := range kinds {
			for _, place := range places {
				name := fmt.Sprintf("%s @%d", kind, place)
				all.lines = append(all.lines, line{figure: tool + name, limit: limits[tool+name]})
			}
		}
	}
	return []comparison{all}
}

// places are the ranks that are looked at.
var places = []int{1, 3, 10}

// placing measures how often a file that answers is among the first that are found.
func placing(tool string, items []knownItem, find func(a *attempt, query string) []string) measurement {
	return func(a *attempt) figures {
		got := figures{}
		for _, item := range items {
			found := find(a, item.query)
			at := slices.IndexFunc(found, func(path string) bool { return slices.Contains(item.files, path) })
			for _, place := range places {
				hit := 0.0
				if at >= 0 && at < place {
					hit = 1
				}
				for _, kind := range []string{"all", item.kind} {
					name := fmt.Sprintf("%s%s @%d", tool, kind, place)
					got[name] = append(got[name], hit)
				}
			}
		}
		return got.means()
	}
}

// searched returns the files of the hits of a search, as the search command finds them.
func (a *attempt) searched(reader *query.Reader, text string) (files []string) {
	a.step(func() error {
		request := query.SearchRequest{}
		request.Parse(text)
		answer, err := reader.Search(a.ctx, request)
		for i := range answer.Hits {
			files = append(files, answer.Hits[i].Path)
		}
		return err
	})
	return files
}

// found returns the files that FTS5 ranks first for the words of a text.
func (f fts5) found(a *attempt, docs fts5, text string) []string {
	words := contentWord.FindAllString(text, -1)
	if len(words) == 0 {
		return nil
	}
	match := `"` + strings.Join(words, `" OR "`) + `"`
	done := a.run(f.shell(fmt.Sprintf(`attach %s as source;
select path from (select rowid as n from fts where fts match %s order by rank limit 10) join source.docs on docs.rowid = n;
`, quoteSQL(docs.db), quoteSQL(match))))
	return below(a.corpus, string(done.stdout))
}

// grepped returns the files that have a text word by word.
func (a *attempt) grepped(text string) []string {
	args := []string{ripgrep, "--no-config", "--no-ignore", "--hidden", "-lF", "--sort", "path", "-e", text, "."}
	done, err := a.execute(a.ctx, command{dir: a.corpus, args: args})
	if err != nil {
		return nil // no file has it
	}
	return below(".", string(done.stdout))
}

// below returns the lines of a list of files, relative to a folder.
func below(dir, list string) (files []string) {
	for _, path := range strings.Fields(list) {
		if rel, err := filepath.Rel(dir, path); err == nil {
			files = append(files, filepath.ToSlash(rel))
		}
	}
	return files
}
