package index

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/store/record"
)

// requireDocuments differ in how they spell the same words.
func requireDocuments() []*Document {
	titled := note("titled", "nothing but filler")
	titled.Title = "Parse errors"
	tagged := note("tagged", "errors of the http kind")
	tagged.Tags = []string{"parse"}
	documents := []*Document{
		note("whole", "calls parseHTTP with errors"),
		note("apart", "parse what the http server sends"),
		titled, tagged,
		note("path", "see src/auth/jwt.go for it"),
		note("names", "the auth of src knows jwt and go, but has other errors"),
		note("version", "since v1.2.3"),
		note("number", "since 1.2.3"),
		note("compound", "a file-based lock"),
		note("han", "全文検索"),
	}
	for i, d := range documents {
		d.Time = d.Time.Add(-time.Duration(i) * time.Hour) // newest first is their order
	}
	return documents
}

func TestMust(t *testing.T) {
	t.Parallel()
	x := build(t, requireDocuments()...)
	for _, test := range []struct {
		must []string
		want string
	}{
		{[]string{"parse"}, "whole apart titled tagged"},
		{[]string{"parse errors"}, "whole titled tagged"},
		{[]string{"parse", "http"}, "whole apart tagged"},
		{[]string{"parse_http"}, "whole apart tagged"}, // apart: as in parse_http.go
		{[]string{"parsehttp"}, "whole"},
		{[]string{"parseHTTP with"}, "whole apart tagged"},
		{[]string{"doIt"}, "whole apart titled tagged path names version number compound han"},
		{[]string{"jwt.go"}, "path names"},
		{[]string{"全"}, "whole apart titled tagged path names version number compound han"},
		{[]string{"文検"}, "han"},
		{[]string{"文検 全検"}, ""},
		{[]string{"the of and", "...", ""}, "whole apart titled tagged path names version number compound han"},
		{[]string{"parse the of"}, "whole apart titled tagged"},
		{[]string{"parse", "nowhere"}, ""},
		{[]string{"parse\x00\xff(errors"}, "whole titled tagged"},
		{[]string{strings.Repeat("parse errors ", 10000)}, "whole titled tagged"},
	} {
		if got := names(find(t, x, Request{Phrases: test.must, Limit: 100})); got != test.want {
			t.Errorf("hits that must have %.100q\n got %q\nwant %q", test.must, got, test.want)
		}
	}
	// What must be there adds nothing to the score.
	for _, hit := range find(t, x, Request{Query: "errors", Phrases: []string{"parse"}}).Hits {
		for _, plain := range find(t, x, Request{Query: "errors"}).Hits {
			if plain.Name == hit.Name && plain.Score != hit.Score {
				t.Errorf("%s scores %v where a word must be there, else %v", hit.Name, hit.Score, plain.Score)
			}
		}
	}
	if got := names(find(t, x, Request{Query: "http", Phrases: []string{"errors"}})); got != "tagged whole" {
		t.Errorf("hits for http that must have errors: %q, want %q", got, "tagged whole")
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	x := build(t, requireDocuments()...)
	all := "whole apart titled tagged path names version number compound han"
	for _, test := range []struct{ without, left string }{
		{"parse", "path names version number compound han"},
		{"parseHTTP", "apart titled tagged path names version number compound han"},
		{"parse http", "titled path names version number compound han"},
		{"src/auth/jwt.go", "whole apart titled tagged names version number compound han"},
		{"v1.2.3", "whole apart titled tagged path names number compound han"},
		{"1.2.3", "whole apart titled tagged path names compound han"},
		{"file-based", "whole apart titled tagged path names version number han"},
		{"全文検索", "whole apart titled tagged path names version number compound"},
		{"全文 索引", all},
		{"the", all},
		{"", all},
		{"...", all},
		{"nowhere", all},
		{"parse nowhere", all},
		{strings.Repeat("parse http ", 10000), "titled path names version number compound han"},
	} {
		if got := names(find(t, x, Request{Without: []string{test.without}, Limit: 100})); got != test.left {
			t.Errorf("hits without %.100q\n got %q\nwant %q", test.without, got, test.left)
		}
	}
	got := find(t, x, Request{Query: "errors", Phrases: []string{"parse"}, Without: []string{"http", "nowhere"}})
	if names(got) != "titled" || got.Total != 1 {
		t.Errorf("hits for errors with parse, without http: %q of %d, want titled of 1", names(got), got.Total)
	}
}

// A bound on the distinct terms bounds the time.
func TestManyRequired(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 10000 {
		text.WriteString("w" + strings.Repeat("x", i%50) + strings.Repeat("y", i/50%50) + " ")
	}
	if got := len(distinctNeeds([]string{text.String()})); got != maxNeeds {
		t.Errorf("%d words are required, want %d", got, maxNeeds)
	}
	x := build(t, note("a", text.String()), note("b", "w other"))
	if got := names(find(t, x, Request{Phrases: []string{text.String()}})); got != "a" {
		t.Errorf("hits that must have many words: %q, want a", got)
	}
}

func TestMore(t *testing.T) {
	t.Parallel()
	x := build(t, generate(120, 2)...)
	scores := func(request Request) map[record.Name]float64 {
		request.Limit, request.Duplicates = 1000, true
		out := make(map[record.Name]float64)
		for _, hit := range find(t, x, request).Hits {
			out[hit.Name] = hit.Score
		}
		return out
	}
	twice := scores(Request{Query: "token token queue"})
	for _, request := range []Request{
		{Query: "token queue", More: []WeightedTerm{{"token", 1}}},
		{Query: "token", More: []WeightedTerm{{"queue", 1}, {"token", 1}}},
		{Query: "token", More: []WeightedTerm{{"token", 0.5}, {"queue", 0.25}, {"token", 0.5}, {"queue", 0.75}}},
		{More: []WeightedTerm{{"token", 2}, {"queu", 1}, {"queue", 1}}},
	} {
		got := scores(request)
		if len(got) != len(twice) || len(got) < 50 {
			t.Fatalf("Search(%+v): %d hits, want %d", request, len(got), len(twice))
		}
		for name, score := range got {
			if score != twice[name] {
				t.Errorf("Search(%+v): %s scores %v, want %v as for token token queue", request, name, score, twice[name])
			}
		}
	}
	nan := 0.0
	plain := scores(Request{Query: "token"})
	for _, more := range []WeightedTerm{{"queue", 0}, {"queue", -1}, {"queue", nan / nan}, {"", 1}, {"nowhere", 1}} {
		if got := scores(Request{Query: "token", More: []WeightedTerm{more}}); len(got) != len(plain) {
			t.Errorf("%+v changes the hits: %d, want %d", more, len(got), len(plain))
		}
	}
	for _, weight := range []float64{1e-300, 1e300, 1 / nan} {
		result := find(t, x, Request{Query: "token", More: []WeightedTerm{{"queue", weight}, {"index", weight}}, Limit: 1000})
		if slices.ContainsFunc(result.Hits, func(h Hit) bool { return !(h.Score > 0) || h.Score > 1e300 }) || result.Total > 120 {
			t.Errorf("with the weight %v: %d hits of %d documents, or scores that are no numbers", weight, result.Total, 120)
		}
	}
}

func TestHalfLife(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	var documents []*Document
	for i, id := range []string{"new", "day", "week", "old"} {
		d := note(id, "alpha beta "+strings.Repeat("filler ", i))
		d.Time = d.Time.Add(-[]time.Duration{0, day, 7 * day, 200 * 365 * day}[i])
		documents = append(documents, d)
	}
	ancient := note("ancient", "alpha alpha alpha")
	ancient.Time = time.Time{}
	x := build(t, append(documents, ancient)...)
	plain := make(map[string]float64)
	for _, hit := range find(t, x, Request{Query: "alpha"}).Hits {
		plain[hit.Name.ID] = hit.Score
	}
	got := find(t, x, Request{Query: "alpha", HalfLife: day})
	if names(got) != "new day week ancient old" && names(got) != "new day week old ancient" {
		t.Errorf("hits with a half-life of a day: %q", names(got))
	}
	for i, half := range []float64{1, 0.5, 1.0 / 128} {
		hit := got.Hits[i]
		if want := plain[hit.Name.ID] * half; hit.Score != want {
			t.Errorf("%s scores %v with a half-life of a day, want %v", hit.Name.ID, hit.Score, want)
		}
	}
	// Age counts against the newest match, not against the newest document or now.
	if got := find(t, x, Request{Query: "alpha", HalfLife: day, Phrases: []string{"filler"}}); got.Hits[0].Score != plain["day"] {
		t.Errorf("the newest of the matches scores %v, want %v", got.Hits[0].Score, plain["day"])
	}
	for _, request := range []Request{{HalfLife: day}, {Query: "alpha", HalfLife: 1}, {Query: "alpha", HalfLife: -day}, {Query: "nowhere", HalfLife: day}} {
		result := find(t, x, request)
		if request.Query != "nowhere" && len(result.Hits) != 5 {
			t.Errorf("Search(%+v) gives %d hits, want 5", request, len(result.Hits))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Search(ctx, Request{Query: "alpha", HalfLife: day}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}
