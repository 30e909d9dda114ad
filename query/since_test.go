package query_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store/record"
)

func TestFilesOfAHit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"paths and names", "See `src/auth/jwt.go:42`, (jwt.go), ./main.py and \"docs/a b.md\".", []string{"src/auth/jwt.go", "jwt.go", "main.py", "docs/a", "b.md"}},
		{"once each", "x/a.go x/a.go, x/a.go.", []string{"x/a.go"}},
		{"no files", "e.g. window.open, v1.2.3, 3.14, .env, /etc/passwd, .go", nil},
		{"not its own", "notes/own.md says own.md", []string{"own.md"}},
		{"another script", "файл src/кот.go и 猫/犬.ts。", []string{"src/кот.go", "猫/犬.ts"}},
		{"damaged", "\xff\xfea/b.go\xff", []string{"a/b.go"}},
	}
	for _, test := range tests {
		b := newBench(t)
		b.put("note/own", "# Heron\n\nheron "+test.text+"\n", at("notes/own.md"))
		h := b.search(query.SearchRequest{Request: index.Request{Query: "heron"}}).Hits[0]
		if diff := cmp.Diff(test.want, h.Files); diff != "" {
			t.Errorf("%s: files of %q (-want +got):\n%s", test.name, test.text, diff)
		}
	}
}

// TestFilesOfTheSection takes those of the lines to read, and where they name none
// those that the text begins with.
func TestFilesOfTheSection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "# Report\n\nAbout one.go.\n\n## Heron\n\nThe heron of two.go.\n\n## Stork\n\nNo file here, stork.\n")
	for word, want := range map[string][]string{"heron": {"two.go"}, "stork": {"one.go", "two.go"}} {
		if got := b.search(query.SearchRequest{Request: index.Request{Query: word}}).Hits[0].Files; !slices.Equal(got, want) {
			t.Errorf("files of the hit for %s = %q; want %q", word, got, want)
		}
	}
}

func TestCountCommits(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 3, 2, 10, minute, 0, 0, time.UTC) }
	hits := []*query.Hit{
		{Name: record.Name{Kind: record.KindNote, ID: "a"}, Time: at(5), Files: []string{"x.go", "y.go"}},
		{Name: record.Name{Kind: record.KindNote, ID: "b"}, Time: at(2), Files: []string{"y.go"}},
		{Name: record.Name{Tree: "lib", Kind: record.KindNote, ID: "c"}, Time: at(1), Files: []string{"x.go"}},
		{Name: record.Name{Kind: record.KindNote, ID: "d"}, Time: at(1)},
	}
	var since time.Time
	var files []string
	query.CountCommits(hits, func(from time.Time, asked []string) []query.Commit {
		since, files = from, asked
		return []query.Commit{
			{Time: at(9), Files: []string{"x.go", "y.go"}}, {Time: at(7), Files: []string{"x.go"}},
			{Time: at(5), Files: []string{"x.go"}}, {Time: at(3), Files: []string{"y.go"}},
		}
	})
	var got []int
	for _, h := range hits {
		got = append(got, h.Commits)
	}
	if want := []int{2, 2, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("commits = %v; want %v", got, want)
	}
	if want := []string{"x.go", "y.go"}; !since.Equal(at(2)) || !slices.Equal(files, want) {
		t.Errorf("asked for %q since %v; want %q since %v", files, since, want, at(2))
	}
	query.CountCommits(hits[2:], func(time.Time, []string) []query.Commit {
		t.Error("the log was asked for though no hit of the own tree names a file")
		return nil
	})
}
