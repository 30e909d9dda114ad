package index

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// suggestions writes suggestions as word at start: terms.
func suggestions(t *testing.T, x *Index, query string) []string {
	t.Helper()
	found, err := x.Suggest(context.Background(), query)
	if err != nil {
		t.Fatalf("Suggest(%.80q): %v", query, err)
	}
	var out []string
	for _, s := range found {
		if s.Word != query[s.Start:s.End] {
			t.Errorf("Suggest(%.80q): word %q at %d to %d", query, s.Word, s.Start, s.End)
		}
		text := fmt.Sprintf("%d %s: %s", s.Start, s.Word, strings.Join(s.Terms, " "))
		out = append(out, text)
	}
	return out
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	titled := note("titled", "filler")
	titled.Title = "Orchestrator"
	x := build(t,
		note("a", "authentication of the session by a connection token, 検索 Привет"),
		note("b", "authentication, connections and parseHTTPHeader; a budget for subagents"),
		note("c", "cached caches; conjunction of the database, naïve, budges"),
		note("d", "token, token budget v1.2.3 abc sess"),
		note("e", "oauth on the path"), note("f", "path"), titled)
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"", nil},
		{"the of and", nil},
		{"token session", nil},
		{"tokne", []string{"0 tokne: token"}},
		{"toke", []string{"0 toke: token"}},
		{"xtoken", []string{"0 xtoken: token"}},
		{"tokken", []string{"0 tokken: token"}},
		{"TOKNE", []string{"0 TOKNE: token"}},
		{"authenticaton", []string{"0 authenticaton: authent"}},
		{"autentication", []string{"0 autentication: authent"}},
		{"uthentication", []string{"0 uthentication: authent"}},
		{"authentikasion", nil},
		{"conection", []string{"0 conection: connect"}},
		{"connetcions", []string{"0 connetcions: connect"}},
		{"conjnction", []string{"0 conjnction: conjunct"}},
		{"budgit", []string{"0 budgit: budget"}},
		{"budgef", []string{"0 budgef: budget budg"}},
		{"orchestratr", []string{"0 orchestratr: orchestr"}},
		{"orkestrator", []string{"0 orkestrator: orchestr"}},
		{"naive naibe", []string{"6 naibe: naiv"}},
		{"Прибет", []string{"0 Прибет: привет"}},
		{"abd", nil},                  // too short
		{"1.2.4 v1.2.4 a1b2c4d", nil}, // other numbers are other things
		{"検察", nil},                   // pairs are too short
		{"the tokne, and (budgit)", []string{"4 tokne: token", "16 budgit: budget"}},
		{"nothing like anything there", nil},
		{"parseHTPHeadr", nil}, // a part of it is known
		{"myBudgit", []string{"2 Budgit: budget"}},
		{"oath", []string{"0 oath: oauth path"}}, // the first letter is seldom wrong
		{"sub-agemts", []string{"0 sub-agemts: subag"}},
		{"sessiontoken", nil},
		{"data base", nil}, // a search joins neighbours by itself
		{"data, base", nil},
		{"src/tokne/budgit.go", []string{"4 tokne: token", "10 budgit: budget"}},
		{"tokne-budgit", []string{"0 tokne: token", "6 budgit: budget"}},
	} {
		if diff := cmp.Diff(test.want, suggestions(t, x, test.query)); diff != "" {
			t.Errorf("Suggest(%q): -want +got\n%s", test.query, diff)
		}
	}
}

// The most frequent of the closest come first, five at most.
func TestSuggestOrder(t *testing.T) {
	t.Parallel()
	var documents []*Document
	for i, word := range strings.Fields("tokenA tokenA tokenA tokenb tokenb tokenc tokend token tokenf tokenfg") {
		documents = append(documents, note(fmt.Sprint(i), strings.ToLower(word)))
	}
	x := build(t, documents...)
	want := []string{"0 tokenq: tokena tokenb token tokenc tokend"}
	if diff := cmp.Diff(want, suggestions(t, x, "tokenq")); diff != "" {
		t.Errorf("Suggest: -want +got\n%s", diff)
	}
}

// Terms of documents that are gone are no help, in whatever segments they stay.
func TestSuggestWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apply(t, dir, puts(note("a", "tokens"), note("b", "taken"), note("c", "tokyo")), 1)
	apply(t, dir, []Change{remove("a")}, 2)
	apply(t, dir, puts(note("b", "other")), 3)
	apply(t, dir, puts(note("d", "tokem")), 4)
	x := open(t, dir)
	if diff := cmp.Diff([]string{"0 token: tokem"}, suggestions(t, x, "token")); diff != "" {
		t.Errorf("Suggest: -want +got\n%s", diff)
	}
}

func TestSuggestAnything(t *testing.T) {
	t.Parallel()
	x := build(t, generate(60, 1)...)
	var many strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&many, "sesion%c%c ", 'a'+i%26, 'a'+i/26%26)
	}
	for _, query := range []string{
		many.String(), strings.Repeat("x", 1<<20), strings.Repeat("é", 1<<12), strings.Repeat("sesion-", 1<<12), strings.Repeat("a/", 1<<12),
		"\x00\xff\xfe", "sesion\x00tokne", "\"sesion", "*?[(", "sesion.tokne", "I\u0307stanbul", "ſeſſion", "C++ C# .evn",
	} {
		for _, s := range suggestions(t, x, query) {
			if strings.HasSuffix(s, ": ") {
				t.Errorf("Suggest(%.80q): %s says nothing", query, s)
			}
		}
	}
	if got := suggestions(t, x, many.String()); len(got) != maxSuggestions {
		t.Errorf("%d suggestions for 10,000 words, want %d", len(got), maxSuggestions)
	}
	if got := suggestions(t, build(t), "tokne"); got != nil {
		t.Errorf("suggestions of an empty index: %q", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Suggest(ctx, "tokne"); !errors.Is(err, context.Canceled) {
		t.Errorf("Suggest with a cancelled context: %v", err)
	}
}
