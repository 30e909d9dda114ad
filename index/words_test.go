package index

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// wordsOf returns the words of text, folded.
func wordsOf(text string) []string {
	words := []string{}
	for w := range Words([]byte(text)) {
		words = append(words, string(w.Text))
	}
	return words
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", []string{}},
		{" \t\n-- ... ?!", []string{}},
		{"To be, or not to be:", []string{"to", "be", "or", "not", "to", "be"}},
		{"parse_http parseHTTP _x_", []string{"parse_http", "parsehttp", "_x_"}},
		{"sub-agent a/b.go std::vector", []string{"sub", "agent", "a", "b", "go", "std", "vector"}},
		{"v1.2.3 3.5, 7. 8", []string{"v1.2.3", "3.5", "7", "8"}},
		{"don't don’t 'quoted' users' O'Reilly", []string{"dont", "dont", "quoted", "users", "oreilly"}},
		{"C++ c# F#x g++ C+", []string{"c++", "c#", "f", "x", "g++", "c"}},
		{"Café CAFE\u0301 Straße Ærø", []string{"cafe", "cafe", "strasse", "aero"}},
		{"Привет ΩΜΕΓΑ", []string{"привет", "ωμεγα"}},
		{"日本語 テスト a", []string{"日", "本", "語", "テ", "ス", "ト", "a"}},
		{"ok 🚀🎉 → done", []string{"ok", "🚀", "🎉", "done"}},
		{"a\x00b\xffc\ufeffd", []string{"a", "b", "c", "d"}},
		{"\u0301 x", []string{"x"}},
	} {
		if diff := cmp.Diff(test.want, wordsOf(test.text)); diff != "" {
			t.Errorf("Words(%q) (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestFindable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "the of": false, "-> ...": false, "索": false, "the 索": false, "索引": true, "the token": true, "APIs": true,
		"doIt": true, "C++": true, ".env": true, "x\x00": true, "\xff": false,
	} {
		if got := Findable(text); got != want {
			t.Errorf("Findable(%q) = %v; want %v", text, got, want)
		}
	}
}

// isMet reports whether a text with these terms may have a phrase.
func isMet(needs []need, terms map[string]bool) bool {
	for _, n := range needs {
		if n.whole != "" && terms[n.whole] {
			continue
		}
		for _, part := range n.parts {
			if !terms[part] {
				return false
			}
		}
	}
	return true
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{
		"To be, or not to be", "fooBar.baz() parse_http-x a/b/.env", "v1.2.3 C++ don’t X's", "日本語 Café \xff\x00 🚀",
		"!'B#", "a/'C# .C++ x+F#", "JSONSchemaAPIs isReady.now __init__", strings.Repeat("aB", 200) + ".x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		terms := map[string]bool{}
		for token := range Analyze([]byte(text)) {
			terms[token.Term] = true
		}
		long := slices.ContainsFunc(strings.Fields(text), func(run string) bool { return len(run) > maxTerm })
		var starts []int
		all := wordsOf(text)
		for w := range Words([]byte(text)) {
			if w.Start < last || w.End <= w.Start || w.End > len(text) || !utf8.Valid(w.Text) {
				t.Fatalf("Words(%q): %q at %d-%d behind %d", text, w.Text, w.Start, w.End, last)
			}
			last = w.End
			starts = append(starts, w.Start)
			for i := max(0, len(starts)-3); i < len(starts); i++ {
				phrase := text[starts[i]:w.End]
				if slices.Equal(wordsOf(phrase), all[i:len(starts)]) && !long && !isMet(needsOf(phrase), terms) {
					t.Errorf("%q is in %q, but its terms are not there: %v", phrase, text, needsOf(phrase))
				}
			}
		}
	})
}
