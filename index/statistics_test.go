package index

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// scoresOf returns the scores of all matches.
func scoresOf(t *testing.T, x *Index, request Request) map[record.Name]float64 {
	t.Helper()
	request.Limit, request.Duplicates = 1000, true
	scores := make(map[record.Name]float64)
	for _, hit := range find(t, x, request).Hits {
		scores[hit.Name] = hit.Score
	}
	return scores
}

// Two indexes searched with the sum of their statistics give each document the
// score, to the last bit, that it has in one index of all.
func TestSummedStatistics(t *testing.T) {
	t.Parallel()
	documents := generate(200, 1)
	documents[0].Text = append(documents[0].Text, " lonely"...)
	for _, cut := range []int{0, 1, 60, 199} {
		whole, one, two := build(t, documents...), build(t, documents[:cut]...), build(t, documents[cut:]...)
		requests := []Request{
			{Query: "token lonely", More: []WeightedTerm{{"queue", 0.3}, {"pars", 0.1}}},
			{Query: "session", HalfLife: 5 * time.Hour, Filter: record.Filter{Agents: []string{"agent_3"}}},
			{Query: "session", HalfLife: 5 * time.Hour, Phrases: []string{"retry"}},
			{},
		}
		for _, query := range exactQueries {
			requests = append(requests, Request{Query: query})
		}
		for _, request := range requests {
			want := scoresOf(t, whole, request)
			var sum Statistics
			for _, x := range []*Index{two, one} {
				statistics, err := x.Statistics(context.Background(), request)
				if err != nil {
					t.Fatalf("Statistics(%+v): %v", request, err)
				}
				sum.Add(statistics)
			}
			request.Statistics = &sum
			got := scoresOf(t, one, request)
			for name, score := range scoresOf(t, two, request) {
				got[name] = score
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("cut at %d, Search(%+v): -want +got\n%.1500s", cut, request, diff)
			}
		}
	}
}

// Statistics of another request, or of nothing, give no nonsense.
func TestForeignStatistics(t *testing.T) {
	t.Parallel()
	x := build(t, generate(50, 1)...)
	other, err := build(t, note("a", "token")).Statistics(context.Background(), Request{Query: "other"})
	if err != nil {
		t.Fatal(err)
	}
	for name, statistics := range map[string]*Statistics{"empty": {}, "of one document": other} {
		for _, request := range []Request{{Query: "token budget"}, {Query: "token", HalfLife: time.Hour}} {
			request.Statistics = statistics
			for name2, score := range scoresOf(t, x, request) {
				if !(score > 0) || math.IsInf(score, 0) {
					t.Errorf("%s statistics: the score of %s is %v", name, name2, score)
				}
			}
		}
	}
}

// The points of a hit are its score.
func TestExplain(t *testing.T) {
	t.Parallel()
	x := build(t, generate(120, 3)...)
	for _, request := range []Request{
		{Query: "token budget src/auth/jwt.go", Limit: 30},
		{Query: "session queue error", Offset: 20, Duplicates: true},
		{Query: "token token", More: []WeightedTerm{{"queue", 0.3}, {"token", 0.5}},
			Filter: record.Filter{Tags: []string{"token"}}},
		{Query: "parseHeader 検索 nowhere"},
	} {
		request.Explain = true
		got := find(t, x, request)
		if len(got.Hits) == 0 {
			t.Errorf("Search(%+v) finds nothing: the test is empty", request)
		}
		for _, hit := range got.Hits {
			sum := 0.0
			for i, p := range hit.Points {
				sum += p.Score
				if !(p.Score > 0) || !(p.Rarity > 0) || len(p.Fields) == 0 || i > 0 && p.Score > hit.Points[i-1].Score {
					t.Errorf("Search(%+v): points %d of %s: %+v", request, i, hit.Name, p)
				}
			}
			if math.Abs(sum-hit.Score) > 1e-12*hit.Score {
				t.Errorf("Search(%+v): the points of %s are %v, its score %v", request, hit.Name, sum, hit.Score)
			}
		}
		request.Explain = false
		plain := find(t, x, request)
		for i := range got.Hits {
			got.Hits[i].Points = nil
		}
		if diff := cmp.Diff(plain, got); diff != "" {
			t.Errorf("Search(%+v) explained is another: -want +got\n%s", request, diff)
		}
	}
}

func TestExplainedFields(t *testing.T) {
	t.Parallel()
	d := note("alpha", "# Alpha\n\nalpha and beta, alpha again")
	d.Title, d.Tags = "Beta", []string{"gamma"}
	x := build(t, d, note("other", "gamma"))
	hits := find(t, x, Request{Query: "gamma beta alphas delta", Explain: true, Duplicates: true}).Hits
	got := make(map[string]map[string]int)
	for _, p := range hits[0].Points {
		got[p.Term] = p.Fields
	}
	want := map[string]map[string]int{
		"alpha": {"headings": 1, "path": 1, "body": 3},
		"beta":  {"title": 1, "body": 1},
		"gamma": {"tags": 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields of the terms: -want +got\n%s", diff)
	}
	if got := find(t, x, Request{Explain: true}); slices.ContainsFunc(got.Hits, func(h Hit) bool { return h.Points != nil }) {
		t.Errorf("hits of no terms have points: %+v", got)
	}
	rarity := fmt.Sprintf("%.4f", hits[len(hits)-1].Points[0].Rarity)
	if want := fmt.Sprintf("%.4f", math.Log(1+0.5/2.5)); rarity != want {
		t.Errorf("the rarity of a term that both documents have is %s, want %s", rarity, want)
	}
}
