package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func citedTexts(found []citation) []string {
	all := []string{}
	for _, c := range found {
		all = append(all, c.Text)
	}
	return all
}

func TestCitations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"", []string{}},
		{"No path, no name. Version 1.5 of it.", []string{}},
		{"See docs/a.md, then (docs/b.md).", []string{"docs/a.md", "docs/b.md"}},
		{"`.claude/x/plan.md` and **docs/a.md**", []string{".claude/x/plan.md", "**docs/a.md"}},
		{"in docs/a.md:12-30 and a.md#part", []string{"docs/a.md:12-30", "a.md#part"}},
		{"plan.md twice: plan.md", []string{"plan.md"}},
		{"result/c1/a, lib:note/x.md!", []string{"result/c1/a", "lib:note/x.md"}},
		{"refs 3f9c21ab and 3F9C21AB00 and 3f9c21", []string{"3f9c21ab", "3F9C21AB00"}},
		{"https://example.org/a.md file:///tmp/a.md", []string{"file:///tmp/a.md"}},
		{"[a](b.md) [c](<d e.md>) [f](#g) [h](https://i.org/j.md) [k](mailto:l@m.org)", []string{"b.md", "d e.md", "e.md"}},
		{`[a](b%20c.md "title")`, []string{"b%20c.md"}},
		{"`a file/with (odd) name.md`", []string{"a file/with (odd) name.md", "file/with", "name.md"}},
		{`{"agent":"x","result_file":"/w/my results/a","word_count":3}`, []string{"/w/my results/a", "/w/my", "results/a"}},
		{`{"result_file": "\/w\/a.md"}`, []string{"/w/a.md", "/a.md"}},
		{"请看docs/a.md。", []string{"请看docs/a.md"}},
		{"path=docs/a.md", []string{"path=docs/a.md"}},
		{"/ // ./ a/ b", []string{}},
		{"| a/b.md | c/d.md |\n", []string{"a/b.md", "c/d.md"}},
		{strings.Repeat("x", 5000) + ".md " + strings.Repeat("a/", 3000), []string{}},
	}
	for _, test := range tests {
		found, more := citations([]byte(test.text), 100)
		got := citedTexts(found)
		missing := []string{}
		for _, want := range test.want {
			if i := slices.Index(got, want); i < 0 {
				missing = append(missing, want)
			} else {
				got = append(got[:i], got[i+1:]...)
			}
		}
		if len(missing) > 0 || len(got) > 0 || more {
			t.Errorf("citations(%.80q): not found %q, not wanted %q, more %t", test.text, missing, got, more)
		}
	}
}

func TestCitationsLinesAndLinks(t *testing.T) {
	t.Parallel()
	found, _ := citations([]byte("a/b.md\n\nc/d.md [x](a/b.md)\n{\"result_file\":\"e/f\"}\n"), 100)
	want := []citation{{"a/b.md", 1, true, false}, {"c/d.md", 3, false, false}, {"e/f", 4, true, false}}
	for i := range want {
		if j := slices.Index(citedTexts(found), want[i].Text); j < 0 || found[j] != want[i] {
			t.Errorf("citations = %+v, want %+v among them", found, want[i])
		}
	}
}

func TestCitationsAreBounded(t *testing.T) {
	t.Parallel()
	found, more := citations([]byte("a/1 a/2 a/3 a/1 a/4"), 3)
	if diff := cmp.Diff([]string{"a/1", "a/2", "a/3"}, citedTexts(found)); diff != "" || !more {
		t.Errorf("more %t, citations (-want +got):\n%s", more, diff)
	}
	found, more = citations([]byte("a/1 a/2 a/3 a/1"), 3)
	if len(found) != 3 || more {
		t.Errorf("with as many as allowed: %d citations, more %t", len(found), more)
	}
}

// TestCitationsOfHugeLines gives lines of up to 10 MB to the reader, made of what it looks
// for: if any of it took time by the square, the test would not end.
func TestCitationsOfHugeLines(t *testing.T) {
	t.Parallel()
	for i, part := range []string{"](", `"`, "a/b.md ", "](<", "`a", "'", "[[[(((", "a/", ":1", "#", "a.b ", "](a ", `"result_file":`, "\xff\xfe/", "。", "~/", "...", "\\/"} {
		size := 10 << 20
		if i > 2 {
			size = 2 << 20
		}
		text := strings.Repeat(part, size/len(part)) + " docs/end.md"
		found, more := citations([]byte(text), 1000)
		if len(found) > 1000 || !more && slices.Index(citedTexts(found), "docs/end.md") < 0 {
			t.Errorf("%d bytes of %q: %d citations, more %t, and the last one is not found", size, part, len(found), more)
		}
	}
}

func FuzzCitations(f *testing.F) {
	for _, text := range []string{
		"See `docs/a b.md`, [x](<y z.md>) and result/c1/a.", `{"result_file":"/a/b.md"}`, "](](<\"`'\n\r\x00\xff", "~/a.md:1:2#x",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, more := citations(text, 50)
		if len(found) > 50 || more && len(found) != 50 {
			t.Errorf("citations(%q) = %d of 50, more %t", text, len(found), more)
		}
		seen := map[string]bool{}
		for _, c := range found {
			// What was cited stands there, but for the slashes that JSON may escape.
			plain := strings.ReplaceAll(string(text), `\/`, "/")
			if !strings.Contains(plain, c.Text) || seen[c.Text] || c.Line < 1 || c.Line > 1+strings.Count(string(text), "\n") {
				t.Errorf("citations(%q) has %+v", text, c)
			}
			seen[c.Text] = true
		}
	})
}
