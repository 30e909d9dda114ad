package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		fields     map[string][]string
		body       string
	}{
		{"two blocks", "---\npermalink: p\ntitle: x\n---\n\n---\ntitle: y\ntags: [a]\n---\nbody", map[string][]string{"permalink": {"p"}, "title": {"y"}, "tags": {"a"}}, "body"},
		{"YAML, then TOML", "---\na: 1\n---\n+++\nb = 2\n+++\nbody", map[string][]string{"a": {"1"}, "b": {"2"}}, "body"},
		{"a rule behind it", "---\na: 1\n---\n\n---\n\n# Head: x\n\n---\n", map[string][]string{"a": {"1"}}, "\n---\n\n# Head: x\n\n---\n"},
		{"none", "# a\n", nil, "# a\n"},
		{"empty text", "", nil, ""},
		{"scalars", "---\ntitle: A plan\nid: 17\n---\nbody\n", map[string][]string{"title": {"A plan"}, "id": {"17"}}, "body\n"},
		{"keys fold", "---\nThread_ID: t-1\nSession Id: x\n---\n", map[string][]string{"thread_id": {"t-1"}, "session id": {"x"}}, ""},
		{"BOM and CRLF", "\ufeff---\r\ntags: [a, b]\r\n---\r\nbody", map[string][]string{"tags": {"a", "b"}}, "body"},
		{"flow list", "---\ntags: [a, \"b, c\", 'd ''e''', ]\n---\n", map[string][]string{"tags": {"a", "b, c", "d 'e'"}}, ""},
		{"flow list over lines", "---\ntags: [\n  a,\n  b\n]\nid: 1\n---\n", map[string][]string{"tags": {"a", "b"}, "id": {"1"}}, ""},
		{"flow list never closed", "---\ntags: [a, b\nid: 1\n---\n", map[string][]string{"tags": {"a", "b"}, "id": {"1"}}, ""},
		{"list", "---\ntags:\n  - a\n  - \"b\"\nfiles:\n- c # why\n-\n---\n", map[string][]string{"tags": {"a", "b"}, "files": {"c"}}, ""},
		{"names and tags of values", "---\ntags: &t [a, b]\nids: &i\n  - &one c\n  - !!str d\nmore: &m !!map\n  e: 1\ntitle: R&D &c\n---\n",
			map[string][]string{"tags": {"a", "b"}, "ids": {"c", "d"}, "more": nil, "more.e": {"1"}, "title": {"R&D &c"}}, ""},
		{"no value", "---\ntags:\nid: \"\"\n---\n", map[string][]string{"tags": nil, "id": nil}, ""},
		{"quotes", "---\na: \"x \\\"y\\\" # z\"\nb: 'it''s'\nc: \"open\nd: \"x\" # y\n---\n", map[string][]string{"a": {`x "y" # z`}, "b": {"it's"}, "c": {`"open`}, "d": {"x"}}, ""},
		{"comments", "---\n# first\na: b # c\nd: e#f\n---\n", map[string][]string{"a": {"b"}, "d": {"e#f"}}, ""},
		{"colons in values", "---\nurl: https://example.com/a:b\ntime: 10:30\n---\n", map[string][]string{"url": {"https://example.com/a:b"}, "time": {"10:30"}}, ""},
		{"literal block", "---\na: |\n  one\n  two\n\n  three\nb: 1\n---\n", map[string][]string{"a": {"one\ntwo\n\nthree"}, "b": {"1"}}, ""},
		{"folded block", "---\na: >-\n  one\n  two\n---\n", map[string][]string{"a": {"one two"}}, ""},
		{"scalar goes on", "---\na: one\n  two: three\nb: 1\n---\n", map[string][]string{"a": {"one two: three"}, "b": {"1"}}, ""},
		{"nested", "---\nmeta:\n  agent: scout\n  tags: [x]\nid: 1\n---\n", map[string][]string{"meta": nil, "meta.agent": {"scout"}, "meta.tags": {"x"}, "id": {"1"}}, ""},
		{"repeated key", "---\ntag: a\ntag: b\n---\n", map[string][]string{"tag": {"a", "b"}}, ""},
		{"lines not understood", "---\na: 1\nwhat is this\n---\n", map[string][]string{"a": {"1"}}, ""},
		{"closed by dots", "---\na: 1\n...\nbody", map[string][]string{"a": {"1"}}, "body"},
		{"no final newline", "---\na: 1\n---", map[string][]string{"a": {"1"}}, ""},
		{"TOML", "+++\ntitle = \"A plan\"\ntags = ['a', \"b\"]\n[extra]\nid = 7\n+++\nbody", map[string][]string{"title": {"A plan"}, "tags": {"a", "b"}, "extra.id": {"7"}}, "body"},
		{"empty block", "---\n---\nbody", map[string][]string{}, "body"},
		{"item before any field", "+++\n[x]\n- a\nb = 1\n+++\n", map[string][]string{"x.b": {"1"}}, ""},
		{"no keys", "---\na: b\n- [x]: y\n{c}: d\ne:f\none two three four: g\n---\n",
			map[string][]string{"a": {"b"}, "one two three four": {"g"}}, ""},
		{"not closed", "---\na: 1\nbody", nil, "---\na: 1\nbody"},
		{"prose between rules", "---\nThis is no field\n---\n", nil, "---\nThis is no field\n---\n"},
		{"not at the start", "\n---\na: 1\n---\n", nil, "\n---\na: 1\n---\n"},
		{"longer mark", "----\na: 1\n----\n", nil, "----\na: 1\n----\n"},
		{"ends too late", "---\na: 1\n" + strings.Repeat("b: 2\n", maxFrontMatter/5) + "---\n", nil, "---\na: 1\n" + strings.Repeat("b: 2\n", maxFrontMatter/5) + "---\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fields, start := FrontMatter([]byte(test.text))
			if diff := cmp.Diff(test.fields, fields); diff != "" {
				t.Errorf("FrontMatter(%.80q): fields: -want +got\n%s", test.text, diff)
			}
			if got := test.text[start:]; got != test.body {
				t.Errorf("FrontMatter(%.80q): the body is %.80q, want %.80q", test.text, got, test.body)
			}
		})
	}
}

func FuzzFrontMatter(f *testing.F) {
	f.Add([]byte("\ufeff---\r\na: [b, 'c']\r\nd:\n  - e\nf: |\n  g\n---\nbody"))
	f.Add([]byte("+++\n[a]\nb = \"c\"\n+++\n"))
	f.Add([]byte("---\na: \"\n b: [\n---"))
	f.Fuzz(func(t *testing.T, text []byte) {
		fields, start := FrontMatter(text)
		if start < 0 || start > len(text) || (fields == nil) != (start == 0) {
			t.Fatalf("FrontMatter(%q) = %q, %d", text, fields, start)
		}
		size := 0
		for key, values := range fields {
			size += len(key) + len(strings.Join(values, ""))
		}
		// Lower-casing may lengthen a rune, and nested keys repeat their parent's.
		if size > 200*len(text) {
			t.Errorf("FrontMatter(%q): %d bytes make %d bytes of fields", text, len(text), size)
		}
	})
}
