package main

import (
	"cmp"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// corpusVariable and questionsVariable name folders of texts and of questions about them, in
// files *.tsv, that are asked besides those of testdata.
const corpusVariable, questionsVariable = "FILEBUS_CORPUS", "FILEBUS_QUESTIONS"

// TestPromisedAnswers asks the questions of testdata/questions, and those that the variables
// name, and holds the shares that are right to the floors in testdata/promises.txt. A file of
// questions that has no row there is only reported.
func TestPromisedAnswers(t *testing.T) {
	testdata := filepath.Join("..", "..", "testdata")
	own := filepath.Join(testdata, "questions")
	floors := readFloors(t, filepath.Join(testdata, "promises.txt"), t.Name())
	corpora := map[string]string{filepath.Join(own, "small.tsv"): own}
	if corpus, questions := os.Getenv(corpusVariable), os.Getenv(questionsVariable); corpus != "" && questions != "" {
		others, err := filepath.Glob(filepath.Join(questions, "*.tsv"))
		if err != nil || len(others) == 0 {
			t.Errorf("%s=%s has no file *.tsv (%v)", questionsVariable, questions, err)
		}
		for _, file := range others {
			if corpora[file] = corpus; filepath.Base(file) == "small.tsv" {
				t.Fatalf("%s has the name of the questions in testdata, and would be held to their floors", file)
			}
		}
	}
	for file, corpus := range corpora {
		set := strings.TrimSuffix(filepath.Base(file), ".tsv")
		wanted := floors[set]
		delete(floors, set)
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			holdShares(t, rightShares(t, set, corpus, file), wanted)
		})
	}
	for set := range floors {
		t.Run(set, func(t *testing.T) {
			t.Skipf("%s and %s name no folders with questions %s.tsv", corpusVariable, questionsVariable, set)
		})
	}
}

// holdShares compares shares with their floors, of which each has one.
func holdShares(t *testing.T, shares, floors map[string]float64) {
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		floor, hasFloor := floors[name]
		switch {
		case len(floors) == 0:
			t.Logf("%s: %.3f, without a floor", name, shares[name])
		case !hasFloor:
			t.Errorf("%s: got %.3f, and testdata/promises.txt has no row for it", name, shares[name])
		case shares[name] < floor:
			t.Errorf("%s: got %.3f of right answers, want at least %.2f", name, shares[name], floor)
		}
	}
	for name := range floors {
		if _, measured := shares[name]; !measured {
			t.Errorf("%s has a floor, and nothing measures it", name)
		}
	}
}

// rightShares asks the questions of a file, and what is quoted from the folders that they are
// about, and returns the shares of right answers: the first, and one of the first three.
func rightShares(t *testing.T, set, corpus, file string) map[string]float64 {
	const quotedOfKind = 100
	a := testAttempt(t, options{corpus: corpus, questions: file})
	asked := a.readQuestions(file)
	a.corpus = copyDated(t, corpus, asked)
	kept := a.shelve(asked)
	quoted := drawItems(a.readTexts(kept.folders()...), quotedOfKind, rand.New(rand.NewPCG(1, 2)))
	shares := map[string]float64{}
	measure := func(suite, scope string, items []knownItem) {
		for name, share := range placing(scope, items, kept.finder(scope))(a) {
			if !strings.HasSuffix(name, "@10") {
				shares[suite+"/"+set+"/"+name] = share.median()
			}
		}
	}
	if a.err == nil {
		measure("questions", ownTree, asked)
		measure("questions", allTrees, asked)
		measure("verbatim", allTrees, quoted)
	}
	if a.err != nil {
		t.Fatal(a.err)
	}
	return shares
}

// copyDated copies the folders of items, with one time for all files: that of a clone's files differs from
// clone to clone, and decides between hits of the same score.
func copyDated(t *testing.T, dir string, items []knownItem) string {
	t.Helper()
	made := t.TempDir()
	for _, item := range items {
		to := filepath.Join(made, item.folder)
		if _, err := os.Stat(to); err == nil {
			continue
		}
		err := os.CopyFS(to, os.DirFS(filepath.Join(dir, item.folder)))
		if err == nil {
			err = filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
				return cmp.Or(err, os.Chtimes(path, time.Time{}, time.Unix(1_700_000_000, 0)))
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// readFloors returns the rows of a holder in a file of promises: by set, and then by name.
func readFloors(t *testing.T, file, holder string) map[string]map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	floors := map[string]map[string]float64{}
	for row := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if fields[len(fields)-1] != holder {
			continue
		}
		bound, err := strconv.ParseFloat(fields[min(2, len(fields)-1)], 64)
		parts := strings.Split(fields[0], "/")
		if err != nil || len(fields) != 5 || fields[1] != ">=" || fields[3] != "share" || len(parts) != 4 {
			t.Fatalf("%s: %q is no floor of a share", file, row)
		}
		if floors[parts[1]] == nil {
			floors[parts[1]] = map[string]float64{}
		}
		floors[parts[1]][fields[0]] = bound
	}
	return floors
}

func TestReadQuestions(t *testing.T) {
	const header = "style\trepo\tquery\tanswers\n"
	corpus := writeFiles(t, map[string]string{"Ax/a.md": "a", "Ax/b/c.md": "c"})
	for _, test := range []struct{ text, said string }{
		{header + "keywords\tAx\ta b\ta.md;b/c.md\n", ""},
		{header, ""},
		{"", `begins with "" in place of "style\trepo\tquery\tanswers"`},
		{"keywords\ta b\ta.md|b/c.md\n", `begins with "keywords\ta b\ta.md|b/c.md" in place of`},
		{header + "keywords\tAx\ta b\n", ":2: \"keywords\\tAx\\ta b\" is not a style of [\"keywords\" \"question\" \"paraphrase\"] and three fields more"},
		{header + "keywords\tAx\ta\ta.md\nkeywords\tAx\ta\ta.md\t\n", ":3: "},
		{header + "riddle\tAx\ta\ta.md\n", ":2: "},
		{header + "keywords\tAx\ta\ta.md;d.md\n", ":2: Ax/d.md is no file of " + corpus},
		{header + "keywords\tAx\ta\tb\n", ":2: Ax/b is no file of " + corpus},
		{header + "\n", `:2: "" is not a style`},
	} {
		file := filepath.Join(writeFiles(t, map[string]string{"q.tsv": test.text}), "q.tsv")
		a := testAttempt(t, options{corpus: corpus, questions: file})
		items := a.readQuestions(file)
		switch {
		case test.said == "" && (a.err != nil || len(items) != strings.Count(test.text, "\n")-1):
			t.Errorf("%q: got %v, %v", test.text, items, a.err)
		case test.said != "" && (a.err == nil || !strings.Contains(a.err.Error(), test.said)):
			t.Errorf("%q: got the error %v, want one with %q", test.text, a.err, test.said)
		case test.said == "" && len(items) == 1 && !slices.Equal(items[0].files, []string{"Ax/a.md", "Ax/b/c.md"}):
			t.Errorf("%q: got the answers %q", test.text, items[0].files)
		}
	}
}

// TestScopes asks for what two trees have: each tree alone has it first.
func TestScopes(t *testing.T) {
	corpus := writeFiles(t, map[string]string{
		"Ax/lock.md": "# Locks\n\nA fair lock hands over in order.\n",
		"blue/a.md":  "# Locks\n\nA fair lock hands over in order, and a fair lock waits.\n",
		"none/a.md":  "A fair lock, a fair lock.\n",
	})
	items := []knownItem{{"k", "Ax", "fair lock", []string{"Ax/lock.md"}}, {"l", "blue", "fair lock", []string{"blue/a.md"}}}
	a := testAttempt(t, options{corpus: corpus})
	kept := a.shelve(items)
	own := placing(ownTree, items, kept.finder(ownTree))(a)
	all := placing(allTrees, items, kept.finder(allTrees))(a)
	first, three := all["all-trees/all@1"].median(), all["all-trees/all@3"].median()
	if a.err != nil || own["own-tree/all@1"].median() != 1 || first != 0.5 || three != 1 {
		t.Errorf("got %v and %v (%v), want 1 in each tree alone, and one of both first in all", own, all, a.err)
	}
}
