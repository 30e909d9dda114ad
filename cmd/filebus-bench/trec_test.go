package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/query"
	"filebus/store/record"
)

func TestParseTopics(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, source string
		want         []topic
		fails        bool
	}{
		{"documents", "<DOC>\n<DOCNO> 1 </DOCNO>\n\n What is TSS,\nan operating system?\n \n</DOC>\n<DOC>\n<DOCNO>2</DOCNO> locks\n</DOC>\n",
			[]topic{{"1", "What is TSS, an operating system?"}, {"2", "locks"}}, false},
		{"tops", "<top>\n<num> Number: 301\n<title> organized crime\n</top>", []topic{{"301", "organized crime"}}, false},
		{"lower case", "<doc><docno> 9 </docno> x < y </doc>", []topic{{"9", "x < y"}}, false},
		{"no number", "<DOC>text</DOC>", nil, true},
		{"a title beside more", "<top>\n<num> Number: 5 </num>\n<title> Topic: fair locks\n<desc> Description:\nWhich locks are fair?\n</top>", []topic{{"5", "fair locks"}}, false},
		{"nothing", "", nil, false},
	} {
		got, err := parseTopics(test.source)
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v, want one: %v", test.name, err, test.fails)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(topic{})); diff != "" {
			t.Errorf("%s: %q: -want +got\n%s", test.name, test.source, diff)
		}
	}
}

// Ties are broken by the number, the greatest first, as trec_eval does, whose
// scores are in single precision.
func TestInTrecOrder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		run  []retrieved
		want string
	}{
		{nil, ""},
		{[]retrieved{{"a", 2}, {"b", 1}}, "a b"},
		{[]retrieved{{"b", 1}, {"a", 2}}, "a b"},
		{[]retrieved{{"a", 1}, {"c", 1}, {"b", 1}, {"d", 0}}, "c b a d"},
		{[]retrieved{{"a", 1 + 1e-12}, {"b", 1}}, "b a"},
		{[]retrieved{{"a", 3}, {"b", 2}, {"a", 1}}, "a b"},
	} {
		if got := strings.Join(inTrecOrder(test.run), " "); got != test.want {
			t.Errorf("%v: got %q, want %q", test.run, got, test.want)
		}
	}
	var run []retrieved
	for i := range 1200 {
		run = append(run, retrieved{strconv.Itoa(i), float64(-i)})
	}
	if got := inTrecOrder(run); len(got) != 1000 || got[999] != "999" {
		t.Errorf("of 1200: got %d with %q last, want 1000 with 999", len(got), got[len(got)-1])
	}
}

func TestParseJudgements(t *testing.T) {
	t.Parallel()
	got, err := parseJudgements(("1 Q0 CACM-1410 1\n\n1 Q0 CACM-1572 0\n2\tQ0\tD9\t3\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := judgements{"1": {"CACM-1410": 1, "CACM-1572": 0}, "2": {"D9": 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("judgements: -want +got\n%s", diff)
	}
	for _, source := range []string{"1 Q0 D1\n", "1 Q0 D1 yes\n", "a b c 1 2\n"} {
		if got, err := parseJudgements("1 Q0 D 1\n" + source); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: got %v, %v, want an error in line 2", source, got, err)
		}
	}
}

// The figures are computed by hand from the definitions of trec_eval.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		ranking   string
		relevance map[string]int
		want      figures
	}{
		{"first and third of three", "a x b y", map[string]int{"a": 1, "b": 1, "c": 1, "x": 0}, figures{
			"MAP": {(1.0/1 + 2.0/3) / 3}, "P@10": {2.0 / 10}, "P@30": {2.0 / 30}, "MRR": {1},
			"nDCG@10": {(1 + 1/math.Log2(4)) / (1 + 1/math.Log2(3) + 1/math.Log2(4))},
		}},
		{"second of one", "x a", map[string]int{"a": 1}, figures{
			"MAP": {0.5}, "P@10": {0.1}, "P@30": {1.0 / 30}, "nDCG@10": {1 / math.Log2(3)}, "MRR": {0.5},
		}},
		{"grades", "b a", map[string]int{"a": 3, "b": 1}, figures{
			"MAP": {1}, "P@10": {0.2}, "P@30": {2.0 / 30}, "nDCG@10": {(1 + 3/math.Log2(3)) / (3 + 1/math.Log2(3))}, "MRR": {1},
		}},
		{"behind the tenth", "1 2 3 4 5 6 7 8 9 10 a", map[string]int{"a": 1}, figures{"MAP": {1.0 / 11}, "P@30": {1.0 / 30}, "MRR": {1.0 / 11}}},
		{"not found", "x y", map[string]int{"a": 1}, figures{}},
		{"nothing relevant", "a", map[string]int{"a": 0}, figures{}},
		{"no hits", "", map[string]int{"a": 1}, figures{}},
	} {
		got := evaluate(strings.Fields(test.ranking), test.relevance)
		for _, what := range []string{"MAP", "P@10", "P@30", "nDCG@10", "MRR"} {
			if want := test.want[what].median(); len(got[what]) != 1 || math.Abs(got[what][0]-want) > 1e-12 {
				t.Errorf("%s: %s of %q: got %v, want %v", test.name, what, test.ranking, got[what], want)
			}
		}
	}
}

// The ideal ranking has ten places: what is relevant beyond them does not lower
// the measure.
func TestEvaluateBeyondTen(t *testing.T) {
	t.Parallel()
	relevance := map[string]int{}
	var ranking []string
	for _, name := range strings.Fields("a b c d e f g h i j k l m") {
		relevance[name] = 2
		ranking = append(ranking, name)
	}
	got := evaluate(ranking, relevance)
	for _, what := range []string{"nDCG@10", "P@10", "MAP"} {
		if math.Abs(got[what][0]-1) > 1e-12 {
			t.Errorf("a perfect ranking of %d: got %v, want ones", len(ranking), got)
		}
	}
}

func TestReadCollection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, _, err := readCollection(dir); !errors.Is(err, errMissing) {
		t.Errorf("empty folder: got %v, want %v", err, errMissing)
	}
	files := map[string]string{
		"topics.t.txt": "<DOC><DOCNO>1</DOCNO> locks </DOC>",
		"qrels.t.txt":  "1 Q0 D1 1\n",
	}
	for name, body := range files {
		if err := writeFile(dir+"/"+name, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	topics, relevance, err := readCollection(dir)
	if err != nil || len(topics) != 1 || relevance["1"]["D1"] != 1 {
		t.Errorf("got %v, %v, %v, want one topic with one document", topics, relevance, err)
	}
}

func TestRanked(t *testing.T) {
	t.Parallel()
	hits := []query.Hit{{Path: "docs/D1.html", Score: 3}, {Path: "D2.txt", Score: 2}, {Path: "D3", Score: 1}}
	hits[0].Like = []record.Name{{ID: "docs/D9.html"}}
	got := strings.Join(ranked(hits, map[string]int{"D2.txt": 0}), " ")
	if want := "D9 D1 D2.txt D3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
