package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEntry(t *testing.T) {
	for _, test := range []struct{ line, text, target string }{
		{"- 2026-04-16 10:00 — Fix cache invalidation [host/git.md](host/git.md)\n", "Fix cache invalidation", "host/git.md"},
		{"* 2026-04-16: Fix `a-b` [git](host/git.md#fix)", "Fix `a-b`", "host/git.md"},
		{"12. See [the page](https://example.org/x) of [one](one.md) and [two](two.md)", "See the page of  and", "two.md"},
		{"- 12:30 - Lunch [l](l.md)", "Lunch", "l.md"},
		{"- [only](a.md)", "", "a.md"},
		{"- no link", "no link", ""},
		{"- an image [a](a.png)", "an image a", ""},
	} {
		text, target := parseEntry(test.line)
		if diff := cmp.Diff([]string{test.text, test.target}, []string{text, target}); diff != "" {
			t.Errorf("%q: -want +got\n%s", test.line, diff)
		}
	}
}

func TestTreeOf(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"/srv/ax/.claude/journal/index.md", "/srv/ax/"},
		{"/srv/ax/docs/index.md", "/srv/ax/docs"},
		{"/.journal/index.md", "/"},
		{"/srv/.index.md", "/srv"},
	} {
		if got := filepath.ToSlash(treeOf(filepath.FromSlash(test.file))); got != test.want {
			t.Errorf("%s: got %s, want %s", test.file, got, test.want)
		}
	}
}

func TestReadKnown(t *testing.T) {
	tree := t.TempDir()
	index := filepath.Join(tree, ".notes", "index.md")
	for name, body := range map[string]string{
		".notes/index.md": "# Index [self](index.md)\n\n- One [a](sub/a.md)\n- Gone [b](b.md)\n- Out [c](../../c.md)\n- Two [a](sub/a.md)\n- [x](sub/a.md)\n- Up [d](../d.md)\n",
		".notes/sub/a.md": "a",
		"d.md":            "d",
	} {
		if err := writeFile(filepath.Join(tree, filepath.FromSlash(name)), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	topics, answers, err := readKnown(tree, index)
	if err != nil {
		t.Fatal(err)
	}
	want := []topic{{"0", "One"}, {"1", "Two"}, {"2", "Up"}}
	if diff := cmp.Diff(want, topics, cmp.AllowUnexported(topic{})); diff != "" {
		t.Errorf("topics: -want +got\n%s", diff)
	}
	files := judgements{"0": {".notes/sub/a.md": 1}, "1": {".notes/sub/a.md": 1}, "2": {"d.md": 1}}
	if diff := cmp.Diff(files, answers); diff != "" {
		t.Errorf("answers: -want +got\n%s", diff)
	}
	if got, _, err := readKnown(tree, filepath.Join(tree, "d.md")); err == nil {
		t.Errorf("a file without entries: got %v, want an error", got)
	}
}
