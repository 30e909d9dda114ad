package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show returns n in one line: "text", [items], {key: value}.
func (n Node) show() string {
	var parts []string
	switch {
	case len(n.Pairs) > 0:
		for _, p := range n.Pairs {
			parts = append(parts, p.Key+": "+p.Value.show())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case len(n.List) > 0:
		for _, item := range n.List {
			parts = append(parts, item.show())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprintf("%q", n.scalar)
}

func TestParseYAML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", `""`},
		{"pairs", "a: 1\nb: two words\n", `{a: "1", b: "two words"}`},
		{"crlf", "a: 1\r\nb: 2\r\n", `{a: "1", b: "2"}`},
		{"quotes", `a: "x: \"y\"\n"` + "\nb: 'it''s'\nc: \"open\nd: 'x' # c\n", `{a: "x: \"y\"\n", b: "it's", c: "\"open", d: "x"}`},
		{"comments", "# head\na: 1 # one\nb: c#d\n", `{a: "1", b: "c#d"}`},
		{"list", "- a\n- b: 1\n  c: 2\n-\n  d: 3\n- - e\n  - f\n", `["a", {b: "1", c: "2"}, {d: "3"}, ["e", "f"]]`},
		{"list below a key", "a:\n  - x\n  - y\nb:\n- z\nc: 1\n", `{a: ["x", "y"], b: ["z"], c: "1"}`},
		{"nested", "a:\n  b:\n    c: 1\n  d: 2\n", `{a: {b: {c: "1"}, d: "2"}}`},
		{"flow", "a: [x, 'y, z', ]\nb: {c: 1, d: \"2\"}\nc: []\nd: {}\n", `{a: ["x", "y, z"], b: {c: "1", d: "2"}, c: "", d: ""}`},
		{"literal", "a: |\n  one\n    two\n\n  three\nb: 1\n", `{a: "one\n  two\n\nthree", b: "1"}`},
		{"folded", "a: >-\n  one\n  two\nb: 1\n", `{a: "one two", b: "1"}`},
		{"literal in a list", "- |\n  one\n  two\n- x\n", `["one\ntwo", "x"]`},
		{"continued", "a: one\n  two\n  three\nb: 1\n", `{a: "one two three", b: "1"}`},
		{"empty values", "a:\nb: ~\nc: \"\"\n", `{a: "", b: "~", c: ""}`},
		{"colons", "a: http://x/y\nb: 10:15\n\"c d\": e\n", `{a: "http://x/y", b: "10:15", c d: "e"}`},
		{"documents", "---\na: 1\n---\nb: 2\n", `{a: "1", b: "2"}`},
		{"first line deeper", "a: |\n    x\n  y\nb: >\n    x\n  y\n", `{a: "x\ny", b: "x y"}`},
		{"indented less later", "  a: 1\nb: 2\n", `{a: "1", b: "2"}`},
		{"list, then keys", "  - x\na: 1\n", `{a: "1"}`},
		{"scalar", "just text\n", `"just text"`},
		{
			"escapes", `a: "caf\xe9\_\u65e5 \"q\" \U0001F600\ud83d\ude00"` + "\n" + `b: "C:\dir"` + "\n",
			`{a: "café\u00a0日 \"q\" 😀😀", b: "C:\\dir"}`,
		},
		{
			"quotes over lines", "a: \"see #4 and\\\n  \\ #5: it's\n  # all\"\nb: 'one # two\n\n  three' # no\nc: ['x\n  # y', # no\n  z]\n",
			`{a: "see #4 and #5: it's # all", b: "one # two\nthree", c: ["x # y", "z"]}`,
		},
		{"brackets over lines", "{\n  \"a\": [\n    \"x\"\n  ],\n  \"b\": null\n}\n", `{a: ["x"], b: "null"}`},
		{"any bytes", "a: \xff\x00\n", `{a: "\xff\x00"}`},
	}
	for _, test := range tests {
		node, problems := ParseYAML(test.text, 1)
		if got := node.show(); got != test.want || len(problems) > 0 {
			t.Errorf("%s: ParseYAML(%q) = %s, %v, want %s", test.name, test.text, got, problems, test.want)
		}
	}
}

func TestParseYAMLProblems(t *testing.T) {
	t.Parallel()
	text := "a: 1\n    b: 2\nplain\nc: 3\n"
	node, problems := ParseYAML(text, 11)
	var got []string
	for _, p := range problems {
		got = append(got, p.Error())
	}
	want := []string{`:12: unexpected "b: 2"`, `:13: unexpected "plain"`}
	if diff := cmp.Diff(want, got); diff != "" || node.show() != `{a: "1", c: "3"}` {
		t.Errorf("ParseYAML(%q) = %s, problems (-want +got):\n%s", text, node.show(), diff)
	}
}

func TestYAMLScalars(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "a b", "a: b", "a:", "a #b", "#a", "- a", "-1", "'a'", `"a"`, "[a]", "a\nb", "\ta", "a ", "|", "> x", "*a", "&a", "!a", "%a", "@a", "`a`",
		"null", "none", "true", "2026-03-02T09:00:00Z", "é 💙", "\x7f", "\u0085", "\ufeffa", `a\b`, `a"b`, "{a: b}", "?", ", a",
	} {
		line := append(AppendYAML([]byte("k: "), text), '\n')
		node, problems := ParseYAML(string(line), 1)
		if got := node.Get("k").scalar; got != text || len(problems) > 0 {
			t.Errorf("%q is written as %q and read as %q, %v", text, line, got, problems)
		}
	}
}

func FuzzYAML(f *testing.F) {
	f.Add("a: |\n  x\nb:\n- c: [d, 'e']\n  f: \"g\"\n- {h: i}\n", "text: with #colon")
	f.Fuzz(func(t *testing.T, text, scalar string) {
		node, problems := ParseYAML(text, 1)
		lines := 1 + strings.Count(text, "\n")
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines {
				t.Fatalf("problem %v of %q lies outside of its %d lines", p, text, lines)
			}
		}
		if len(node.show()) > 40*len(text)+40 {
			t.Fatalf("%d bytes are read as %d", len(text), len(node.show()))
		}
		scalar = strings.ToValidUTF8(scalar, "\ufffd")
		read, _ := ParseYAML(string(AppendYAML([]byte("k: "), scalar)), 1)
		if got := read.Get("k").scalar; got != scalar {
			t.Fatalf("%q is written and read again as %q", scalar, got)
		}
	})
}

// nestedYAML returns keys in each other.
