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

// itemsOfKind is how many queries of each kind are drawn.
const itemsOfKind = 300

// planVerbatim quotes lines, runs of content words and identifiers from random files of
// a folder, each from the only file that has it, and looks at which place that file is.
func planVerbatim(a *attempt) []comparison {
	a.needs(a.corpus, "a folder of texts (-corpus)")
	items := drawItems(a.readTexts("."), itemsOfKind, rand.New(rand.NewPCG(a.seed, 2)))
	return a.known(items, map[string]string{
		"line@1": "≥ 0.98", "line@3": "≥ 0.995", "words@1": "≥ 0.95", "words@3": "≥ 0.98",
		"identifier@1": "≥ 0.95", "identifier@3": "≥ 0.98",
	}, allTrees)
}

// planQuestions asks the questions of a file, each within the tree that answers it and in all trees.
func planQuestions(a *attempt) []comparison {
	a.needs(a.corpus, "a folder of texts (-corpus)")
	a.needs(a.questions, "a file of questions (-questions)")
	return a.known(a.readQuestions(), map[string]string{"all@1": "≥ 0.80", "paraphrase@3": "≥ 0.60"}, ownTree, allTrees)
}

// readQuestions reads the questions of -questions: a header, and lines of style, folder,
// question and the files that answer it, which must be there.
func (a *attempt) readQuestions() (items []knownItem) {
	a.step(func() error {
		text, err := os.ReadFile(a.questions)
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if header := "style\trepo\tquery\tanswers"; err == nil && lines[0] != header {
			err = fmt.Errorf("%s begins with %q in place of %q", a.questions, lines[0], header)
		}
		for i := 1; i < len(lines) && err == nil; i++ {
			fields := strings.Split(lines[i], "\t")
			if len(fields) != 4 {
				return fmt.Errorf("%s:%d has %d fields in place of 4", a.questions, i+1, len(fields))
			}
			item := knownItem{kind: fields[0], folder: fields[1], query: fields[2]}
			for _, file := range strings.Split(fields[3], ";") {
				item.files = append(item.files, path.Join(item.folder, file))
				if info, err := os.Stat(filepath.Join(a.corpus, item.folder, file)); err != nil || !info.Mode().IsRegular() {
					return fmt.Errorf("%s:%d: %s is no file of %s", a.questions, i+1, path.Join(item.folder, file), a.corpus)
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
	var all []byte // of every text, to see that a quotation stands in one alone
	paths := slices.Sorted(maps.Keys(texts))
	for _, path := range paths {
		all = append(append(all, texts[path]...), 0)
	}
	var items []knownItem
	for _, kind := range []string{"line", "words", "identifier"} {
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

// A scope says where a known item is looked for: in the tree that has it, or in all.
type scope string

const (
	ownTree  scope = "own-tree"
	allTrees scope = "all-trees"
)

// known asks for items, each side in its way, and measures the share of them of which a
// file is the first hit, among the first three, and among the first ten. The limits are
// those of the first scope.
func (a *attempt) known(items []knownItem, limits map[string]string, scopes ...scope) []comparison {
	folders := foldersOf(items)
	reader := a.shelve(folders)
	docs := a.fts5Docs(a.corpus, folders...)
	fts5, _ := a.index(docs, "")
	var all comparison
	for _, in := range scopes {
		all.sides = append(all.sides, side{name: string(in), run: placing(string(in), items, in.asking(reader, folders))})
	}
	all.sides = append(all.sides,
		side{name: "FTS5", tool: sqlite, run: placing("FTS5", items, func(a *attempt, item knownItem) []string {
			return fts5.found(a, docs, item.query)
		})},
		side{name: "rg -lF", tool: ripgrep, run: placing("rg -lF", items, func(a *attempt, item knownItem) []string {
			return a.grepped(item.query, folders)
		})})
	for i, s := range all.sides {
		for _, name := range placesOf(items) {
			l := line{figure: s.name + "/" + name}
			if i == 0 {
				l.limit = limits[name]
			}
			all.lines = append(all.lines, l)
		}
	}
	if a.err != nil {
		return nil
	}
	return []comparison{all}
}

// foldersOf returns the folders that the answers are in.
func foldersOf(items []knownItem) (folders []string) {
	for _, item := range items {
		if !slices.Contains(folders, item.folder) {
			folders = append(folders, item.folder)
		}
	}
	return folders
}

// placesOf names the figures of items: of all and of each kind, at each place.
func placesOf(items []knownItem) (names []string) {
	kinds := []string{"all"}
	for _, item := range items {
		if !slices.Contains(kinds, item.kind) {
			kinds = append(kinds, item.kind)
		}
	}
	for _, kind := range kinds {
		for _, place := range places {
			names = append(names, fmt.Sprintf("%s@%d", kind, place))
		}
	}
	return names
}

// places are the ranks that are looked at.
var places = []int{1, 3, 10}

// placing measures how often a file that answers is among the first that are found.
func placing(tool string, items []knownItem, find func(a *attempt, item knownItem) []string) measurement {
	return func(a *attempt) figures {
		got := figures{}
		for _, item := range items {
			at := slices.IndexFunc(find(a, item), func(file string) bool { return slices.Contains(item.files, file) })
			for _, place := range places {
				hit := 0.0
				if at >= 0 && at < place {
					hit = 1
				}
				for _, kind := range []string{"all", item.kind} {
					name := fmt.Sprintf("%s/%s@%d", tool, kind, place)
					got[name] = append(got[name], hit)
				}
			}
		}
		return got.means()
	}
}

// treeOf returns the name of the tree of a folder below -corpus.
func treeOf(folder string) record.Tree {
	return record.Tree(strings.ToLower(path.Base(path.Join("texts", folder))))
}

// shelve captures folders of -corpus, each as a tree, and indexes all of them. The clock
// stands still, so that the same files always make the same store.
func (a *attempt) shelve(folders []string) (reader *query.Reader) {
	at := materialize.Location{Main: a.folder("workspace")}
	at.Root, at.Store = at.Main, filepath.Join(at.Main, ".filebus")
	a.step(func() error {
		now := func() time.Time { return time.Unix(1_700_000_000, 0) }
		w, err := materialize.Create(a.ctx, at, materialize.Settings{}, store.Options{Now: now})
		for i := 0; i < len(folders) && err == nil; i++ {
			_, err = w.Capture(a.ctx, filepath.Join(a.corpus, folders[i]), materialize.CaptureOptions{Tree: treeOf(folders[i])})
		}
		if err == nil {
			reader = query.New(w.Store, query.Options{})
			err = reader.Reindex(a.ctx)
		}
		return err
	})
	return reader
}

// asking returns the files of the hits of an item, as the search command finds them, for as
// long as that takes.
func (in scope) asking(reader *query.Reader, folders []string) func(a *attempt, item knownItem) []string {
	return func(a *attempt, item knownItem) (files []string) {
		a.step(func() error {
			request := query.SearchRequest{All: true}
			if request.Parse(item.query); in == ownTree {
				request.Trees = []record.Tree{treeOf(item.folder)}
			}
			answer, err := reader.Search(a.ctx, request)
			for i := range answer.Hits {
				hit := &answer.Hits[i]
				folder := slices.IndexFunc(folders, func(folder string) bool { return treeOf(folder) == hit.Tree })
				files = append(files, path.Join(folders[folder], hit.Path))
			}
			return err
		})
		return files
	}
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

// grepped returns the files of some folders that have a text word by word.
func (a *attempt) grepped(text string, folders []string) []string {
	args := []string{ripgrep, "--no-config", "--no-ignore", "--hidden", "-lF", "--sort", "path", "-e", text}
	done, err := a.execute(a.ctx, command{dir: a.corpus, args: append(args, folders...)})
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
