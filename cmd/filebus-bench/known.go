package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A knownItem is a query of which it is known which files answer it. Its folder, which is
// captured as a tree, and its files are slash-separated paths below -corpus.
type knownItem struct {
	kind, folder, query string
	files               []string
}

// planVerbatim quotes lines, runs of content words and identifiers from random files of
// a folder, each from the only file that has it, and looks at which place that file is.
func planVerbatim(a *attempt) []comparison {
	a.needs(a.corpus, "a folder of texts (-corpus)")
	items := drawItems(a.readTexts("."), 300, rand.New(rand.NewPCG(a.seed, 2)))
	return a.known(items, quotedKinds(), map[string]string{
		"all-trees/line@1": "≥ 0.98", "all-trees/words@1": "≥ 0.95", "all-trees/identifier@1": "≥ 0.95",
		"all-trees/line@3": "≥ 0.995", "all-trees/words@3": "≥ 0.98", "all-trees/identifier@3": "≥ 0.98",
	}, allTrees)
}

// quotedKinds are what is quoted, and styles how people ask.
func quotedKinds() []string { return []string{"line", "words", "identifier"} }
func styles() []string      { return []string{"keywords", "question", "paraphrase"} }

// readQuestions reads a file of questions: a header, and lines of style, folder,
// question and the files that answer it, which must be there.
func (a *attempt) readQuestions(file string) (items []knownItem) {
	a.step(func() error {
		text, err := os.ReadFile(file)
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if header := "style\trepo\tquery\tanswers"; err == nil && lines[0] != header {
			err = fmt.Errorf("%s begins with %q in place of %q", file, lines[0], header)
		}
		for i := 1; i < len(lines) && err == nil; i++ {
			fields := strings.Split(lines[i], "\t")
			if len(fields) != 4 || !slices.Contains(styles(), fields[0]) {
				return fmt.Errorf("%s:%d: %q is not a style of %q and three fields more", file, i+1, lines[i], styles())
			}
			item := knownItem{kind: fields[0], folder: fields[1], query: fields[2]}
			for _, answer := range strings.Split(fields[3], ";") {
				item.files = append(item.files, path.Join(item.folder, answer))
				if info, err := os.Stat(filepath.Join(a.corpus, item.folder, answer)); err != nil || !info.Mode().IsRegular() {
					return fmt.Errorf("%s:%d: %s is no file of %s", file, i+1, path.Join(item.folder, answer), a.corpus)
				}
			}
			items = append(items, item)
		}
		return err
	})
	return items
}

// readTexts returns the texts below some folders of -corpus, by their paths below that.
func (a *attempt) readTexts(folders ...string) map[string][]byte {
	texts := map[string][]byte{}
	for _, folder := range folders {
		a.step(func() error {
			return fs.WalkDir(os.DirFS(a.corpus), folder, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || !entry.Type().IsRegular() {
					return err
				}
				text, err := os.ReadFile(filepath.Join(a.corpus, path))
				if utf8.Valid(text) {
					texts[path] = text
				}
				return err
			})
		})
	}
	return texts
}

var (
	contentWord = regexp.MustCompile(`[\pL\pN]{4,}`)
	identifier  = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9]*(?:[_./-][A-Za-z0-9]+)+|[A-Za-z]+[a-z0-9][A-Z][A-Za-z0-9]+`)
)

// drawItems draws n queries of each kind from texts.
func drawItems(texts map[string][]byte, n int, random *rand.Rand) []knownItem {
	var all []byte // every path and text, to see that a quotation stands in one alone
	paths := slices.Sorted(maps.Keys(texts))
	for _, path := range paths { // who asks for a name of a file means that file
		all = append(append(append(all, path...), '\n'), texts[path]...)
	}
	var items []knownItem
	for _, kind := range quotedKinds() {
		for tries, drawn := 0, 0; len(paths) > 0 && tries < 20*n && drawn < n; tries++ {
			path := pick(random, paths)
			quoted, asked := quotation(kind, string(texts[path]), random)
			if quoted != "" && bytes.Count(all, []byte(quoted)) == 1 {
				items, drawn = append(items, knownItem{kind, ".", asked, []string{path}}), drawn+1
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

// Where a known item is looked for: in the tree that has it, or in all.
const ownTree, allTrees = "own-tree", "all-trees"

// known asks for items of some kinds, each side in its way, and measures the share of them of
// which a file is the first hit, among the first three, and among the first ten.
func (a *attempt) known(items []knownItem, kinds []string, limits map[string]string, scopes ...string) []comparison {
	s := a.shelve(items)
	docs := a.fts5Docs(a.corpus, s.folders()...)
	fts5, _ := a.index(docs, "")
	var all comparison
	compare := func(name, tool string, find finder) {
		all.sides = append(all.sides, side{name: name, tool: tool, run: placing(name, items, find)})
		for _, kind := range append(kinds, "all") {
			for _, place := range places {
				figure := fmt.Sprintf("%s/%s@%d", name, kind, place)
				all.lines = append(all.lines, line{figure: figure, limit: limits[figure]})
			}
		}
	}
	for _, scope := range scopes {
		compare(scope, "", s.finder(scope))
	}
	compare("FTS5", sqlite, func(a *attempt, item knownItem) []string { return fts5.found(a, docs, item.query) })
	compare("rg -lF", ripgrep, func(a *attempt, item knownItem) []string { return a.grepped(item.query, s.folders()) })
	return []comparison{all}
}

// places are the ranks that are looked at.
var places = []int{1, 3, 10}

// A finder returns the files that something finds for an item, best first.
type finder func(a *attempt, item knownItem) []string

// placing measures how often a file of an item is among the first that are found.
func placing(tool string, items []knownItem, find finder) measurement {
	return func(a *attempt) figures {
		got := figures{}
		for _, item := range items {
			at := slices.IndexFunc(find(a, item), func(file string) bool { return slices.Contains(item.files, file) })
			for _, place := range places {
				hit := map[bool]float64{true: 1}[at >= 0 && at < place]
				for _, kind := range []string{"all", item.kind} {
					name := fmt.Sprintf("%s/%s@%d", tool, kind, place)
					got[name] = append(got[name], hit)
				}
			}
		}
		return got.means()
	}
}

// A shelf is a store of folders of -corpus, each of which is a tree.
type shelf struct {
	reader *query.Reader
	trees  map[record.Tree]string // their folders
}

// treeOf returns the name of the tree of a folder: the folder's in small letters, and "texts" for all of -corpus.
func treeOf(folder string) record.Tree {
	name := strings.TrimPrefix(path.Join("texts", folder), "texts/")
	return record.Tree(strings.ToLower(strings.ReplaceAll(name, "/", "--")))
}

func (s shelf) folders() []string { return slices.Sorted(maps.Values(s.trees)) }

// shelve captures and indexes the folders of items. The clock stands still, so that the same
// files always make the same store.
func (a *attempt) shelve(items []knownItem) shelf {
	s, at := shelf{trees: map[record.Tree]string{}}, materialize.Location{Main: a.folder("workspace")}
	at.Root, at.Store = at.Main, filepath.Join(at.Main, ".filebus")
	for _, item := range items {
		s.trees[treeOf(item.folder)] = item.folder
	}
	a.step(func() error {
		now := func() time.Time { return time.Unix(1_700_000_000, 0) }
		w, err := materialize.Create(a.ctx, at, materialize.Settings{}, store.Options{Now: now})
		for _, folder := range s.folders() {
			if err == nil {
				_, err = w.Capture(a.ctx, filepath.Join(a.corpus, folder), materialize.CaptureOptions{Tree: treeOf(folder)})
			}
		}
		if err == nil {
			s.reader = query.New(w.Store, query.Options{})
			err = s.reader.Reindex(a.ctx)
		}
		return err
	})
	return s
}

// finder searches as the search command does, for as long as that takes.
func (s shelf) finder(scope string) finder {
	return func(a *attempt, item knownItem) (files []string) {
		a.step(func() error {
			request := query.SearchRequest{All: true}
			if request.Parse(item.query); scope == ownTree {
				request.Trees = []record.Tree{treeOf(item.folder)}
			}
			answer, err := s.reader.Search(a.ctx, request)
			for i := range answer.Hits {
				files = append(files, path.Join(s.trees[answer.Hits[i].Tree], answer.Hits[i].Path))
			}
			return err
		})
		return files
	}
}

// found returns the files that FTS5 ranks first for the words of a text.
func (f fts5) found(a *attempt, docs fts5, text string) []string {
	query := "select path from (%s) as best join source.docs on docs.rowid = best.rowid;"
	query = fmt.Sprintf(query, fts5Query(contentWord.FindAllString(text, -1)))
	return paths(a.run(f.shell("attach " + quoteSQL(docs.db) + " as source;\n" + query)))
}

// grepped returns the files of some folders that have a text word by word.
func (a *attempt) grepped(text string, folders []string) []string {
	args := []string{ripgrep, "--no-config", "--no-ignore", "--hidden", "-lF", "--sort", "path", "-e", text}
	done, _ := a.execute(a.ctx, command{dir: a.corpus, args: append(args, folders...)}) // an error if no file has it
	return paths(done)
}

// paths returns the files that a tool has printed, a line each.
func paths(done outcome) []string {
	files := strings.Split(strings.TrimSpace(string(done.stdout)), "\n")
	for i, file := range files {
		files[i] = path.Clean(file)
	}
	return files
}
