package index

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// completions returns the terms that the last word of a query may become.
func completions(t *testing.T, x *Index, query string, limit int) (terms []string, weights []float64) {
	t.Helper()
	b := BeginningOf(query)
	if b == nil {
		return nil, nil
	}
	found, err := x.Completions(context.Background(), b, false, limit)
	if err != nil {
		t.Fatalf("Completions(%.80q): %v", query, err)
	}
	for _, term := range found {
		terms, weights = append(terms, term.Term), append(weights, term.Weight)
	}
	return terms, weights
}

func TestCompletions(t *testing.T) {
	t.Parallel()
	titled := note("docs/ledger.md", "filler")
	titled.Title, titled.Tags = "Orchestrator", []string{"urgent"}
	x := build(t,
		note("a", "# Harvest\n\nvulnerability of the connection, authentication, 検索 Привет"),
		note("b", "parseHTTPHeader in src/auth/jwt.go; indexes of handlers; naïve"),
		note("c", "handler handoff v1.2.3 running happiness"),
		note("d", "handoff handoff"), note("e", "handoff"), titled)
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"", nil},
		{"h", nil},
		{"ha", []string{"handoff", "handler", "happi", "harvest"}},
		{"ha ", nil},
		{"ha.", nil},
		{"ha\"", nil},
		{"hand", []string{"handoff", "handler"}},
		{"token HAND", []string{"handoff", "handler"}},
		{"hand token", nil},
		{"handler", nil}, // itself alone
		{"vuln", []string{"vulner"}},
		{"vulnerab", []string{"vulner"}}, // longer than the stem
		{"vulnerabilit", []string{"vulner"}},
		{"vulnerax", nil},
		{"connecti", []string{"connect"}},
		{"authenticat", []string{"authent"}},
		{"authentica", []string{"authent"}},
		{"runni", []string{"run"}},
		{"happines", []string{"happi"}},
		{"orchestrato", []string{"orchestr"}}, // of a title
		{"urg", []string{"urgent"}},           // of a tag
		{"docs/ledg", []string{"ledger", "ledgermd"}},
		{"harv", []string{"harvest"}},
		{"parse_ht", []string{"parsehttphead"}},
		{"parseHT", []string{"parsehttphead"}},
		{"src/au", []string{"authent", "auth"}},
		{"v1.2", []string{"v1.2.3"}},
		{"1.2", []string{"1.2.3"}},
		{"NAÏ", []string{"naiv"}},
		{"При", []string{"привет"}},
		{"検", nil},
		{"zz", nil},
		{"in", []string{"index"}},
	} {
		got, _ := completions(t, x, test.query, 30)
		less := cmp.Transformer("set", func(terms []string) map[string]bool {
			set := make(map[string]bool)
			for _, term := range terms {
				set[term] = true
			}
			return set
		})
		if diff := cmp.Diff(test.want, got, less); diff != "" {
			t.Errorf("Completions(%q): -want +got\n%s", test.query, diff)
		}
	}
	if got, _ := completions(t, x, "ha", 2); cmp.Diff([]string{"handoff", "handler"}, got) != "" {
		t.Errorf("two completions of ha: %q; want the most frequent", got)
	}
	if got, _ := completions(t, x, "ha", 0); got != nil {
		t.Errorf("no completions of ha: %q", got)
	}
}

// Where documents have the word as it is, all its completions count for less.
func TestCompletionWeights(t *testing.T) {
	t.Parallel()
	documents := []*Document{note("whole", "cat"), note("again", "a cat")}
	for i := range 20 {
		documents = append(documents, note(fmt.Sprint(i), fmt.Sprintf("cat%02d and dog%02[1]d", i)))
	}
	x := build(t, documents...)
	for _, test := range []struct {
		query string
		most  float64 // of all weights together
	}{{"cat", completionWeight}, {"dog", 20 * completionWeight}} {
		terms, weights := completions(t, x, test.query, 30)
		sum := 0.0
		for _, weight := range weights {
			sum += weight
		}
		if len(terms) != 20 || sum > test.most+1e-9 || sum <= 0 {
			t.Errorf("Completions(%q) = %q with weights of %v together; want 20 with %v at most", test.query, terms, sum, test.most)
		}
	}
}

func TestCompletionsOfAnything(t *testing.T) {
	t.Parallel()
	x := build(t, generate(60, 1)...)
	for _, query := range []string{
		strings.Repeat("token ", 10000) + "tok", strings.Repeat("x", 1<<21), strings.Repeat("é", 1<<12), strings.Repeat("tok-", 1<<12) + "tok",
		strings.Repeat("a/", 1<<12) + "to", "\x00\xff\xfe", "tok\xff", "tok\x00en", "\"tok", "*?[(", "C++", "__", "I\u0307s", "…to", "to'", "'to",
	} {
		for _, term := range func() []string { terms, _ := completions(t, x, query, 30); return terms }() {
			if !BeginningOf(query).Has(term) {
				t.Errorf("Completions(%.80q) has %q", query, term)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Completions(ctx, BeginningOf("tok"), false, 30); !errors.Is(err, context.Canceled) {
		t.Errorf("Completions with a cancelled context: %v", err)
	}
}

// BenchmarkCompletions completes the beginning of many words.
func BenchmarkCompletions(b *testing.B) {
	dir := b.TempDir()
	var documents []*Document
	for i := range 10000 {
		documents = append(documents, note(fmt.Sprint(i), fmt.Sprintf("connection co%x of cop%d token", i*7919%65536, i)))
	}
	apply(b, dir, puts(documents...), 1)
	x := open(b, dir)
	for _, query := range []string{"co", "connecti"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if found, err := x.Completions(b.Context(), BeginningOf(query), false, 30); err != nil || len(found) == 0 {
					b.Fatal(found, err)
				}
			}
		})
	}
}
