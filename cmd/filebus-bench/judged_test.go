package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestJudged compares a program with two variants over two sets. Each is chosen where the other set is left out, and
// only one of them is better there.
func TestJudged(t *testing.T) {
	t.Parallel()
	items := func(kind string) []knownItem { return []knownItem{{kind: kind}, {kind: kind}, {kind: kind}} }
	sets := []questionSet{{"one", items("keywords")}, {"two", items("question")}}
	var v verdicts
	v.add(1, ownTree, sets, []string{"now", "a", "b"}, [][]float64{
		{0.5, 0.5, 1, 0, 0.5, 1},
		{1, 0.5, 1, 0.5, 1, 0.5},
		{1, 1, 1, 0, 0, 1},
	})
	for name, want := range map[string]float64{
		"now own-tree/keywords@1": 1.0 / 3, "now own-tree/question MRR@10": 0.5, "a own-tree/all@1": 0.5,
		"a own-tree better": 3, "a own-tree worse": 1, "a own-tree sign test": 0.625, "b own-tree better": 2, "b own-tree worse": 1,
		"a own-tree without one, on it": 1.0 / 6, "b own-tree without two, on it": -1.0 / 6,
		"a own-tree accepted": 0.5, "b own-tree accepted": 0,
	} {
		got := v.figures[name]
		if m := got.median(); len(got) == 0 || m < want-1e-9 || m > want+1e-9 || got[0] > m || got[len(got)-1] < m {
			t.Errorf("%s: got %v, want %.3f, in its interval", name, got, want)
		}
	}
}

func TestSignTest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		better, worse int
		want          string
	}{{0, 0, "1"}, {5, 0, "0.0625"}, {8, 1, "0.0391"}, {1, 8, "0.0391"}, {6, 6, "1"}, {55, 9, "3.54e-09"}, {600, 500, "0.00282"}} {
		if got := fmt.Sprintf("%.3g", signTest(test.better, test.worse)); got != test.want {
			t.Errorf("%d better and %d worse: got %s, want %s", test.better, test.worse, got, test.want)
		}
	}
}

// TestJudgedPrograms asks two sets of questions of programs, which find the same.
func TestJudgedPrograms(t *testing.T) {
	t.Setenv(fakeVariable, fakeSound)
	questions := filepath.Join("testdata", "questions", "one.tsv") + "," + filepath.Join("testdata", "questions", "two.tsv")
	a := testAttempt(t, options{corpus: filepath.Join("testdata", "questions"), questions: questions, against: os.Args[0]})
	a.program = os.Args[0]
	found := map[string]sample{}
	for _, c := range planQuestions(a) {
		failures := figures(found).take(a, c)
		for _, err := range failures {
			a.check(err)
		}
	}
	for name, want := range map[string]float64{"own-tree/all@1": 0.5, "own-tree/keywords@1": 1, "all-trees/question@1": 0, "own-tree better": 0} {
		for figure, got := range found {
			if strings.HasSuffix(figure, " "+name) && got.median() != want {
				t.Errorf("%s: got %v, want %v", figure, got, want)
			}
		}
	}
	if a.err != nil || len(found) < 20 {
		t.Errorf("got %v (%v)", found, a.err)
	}
}
