package dialogue

import (
	"strings"
	"testing"
)

func TestSlugOf(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Retry policy":                     "retry-policy",
		"  Retry -- policy!  ":             "retry-policy",
		"RFC 0029: File-Based Output":      "rfc-0029-file-based-output",
		"Don't panic":                      "dont-panic",
		"Straße, naïve façade & ŁÓDŹ":      "strasse-naive-facade-lodz",
		"e\u0301te\u0301":                  "ete",
		"東京 2026":                          "2026",
		"a/../b":                           "a-b",
		"☃":                                "",
		"..":                               "",
		strings.Repeat("word ", 40):        strings.TrimSuffix(strings.Repeat("word-", 16), "-"),
		strings.Repeat("x", 200):           strings.Repeat("x", 80),
		strings.Repeat("y", 78) + " z zz":  strings.Repeat("y", 78) + "-z",
		"an\x00odd\ttitle\nof \xff bytes ": "an-odd-title-of-bytes",
	} {
		got, err := slugOf(title)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("slugOf(%q) = %q, %v; want %q", title, got, err, want)
		}
		if err != nil && !refuses(err, trySlug) {
			t.Errorf("slugOf(%q): %v is another error", title, err)
		}
		if err := checkSlug(got); want != "" && err != nil {
			t.Errorf("checkSlug(slugOf(%q)): %v", title, err)
		}
	}
}

func TestCheckSlug(t *testing.T) {
	t.Parallel()
	for slug, isSlug := range map[string]bool{
		"retry-policy-2": true, "": false, "..": false, "../x": false, "a/b": false, `a\b`: false, "Retry": false, "é": false,
		"a b": false, "-a": false, "a-": false, "docs": false, strings.Repeat("a", 81): false,
	} {
		err := checkSlug(slug)
		if (err == nil) != isSlug || err != nil && !refuses(err, trySlug) {
			t.Errorf("checkSlug(%q) = %v, want a slug: %t", slug, err, isSlug)
		}
	}
}

func TestFoldName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Muffin": "muffin", " scone ": "scone", "agent_2.b-1": "agent_2.b-1", "ÉCLAIR": "éclair", "prompt": "prompt",
		"": "", " ": "", ".": "", "..": "", "a/b": "", `a\b`: "", "a b": "", "-a": "", ".a": "", "a.": "", "a.prompt": "", "A.Prompt": "",
		"muffin.md": "", "a\x00": "", "\xff": "", "a~2": "", "a:b": "", strings.Repeat("a", 81): "",
	} {
		got, err := FoldName(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("FoldName(%q) = %q, %v; want %q", text, got, err, want)
		}
		if err != nil && !refuses(err, "is no name of an agent") {
			t.Errorf("FoldName(%q): %v is another error", text, err)
		}
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"muffin": "Muffin", "éclair": "Éclair", "": ""} {
		if got := labelOf(name); got != want {
			t.Errorf("labelOf(%q) = %q, want %q", name, got, want)
		}
	}
}
