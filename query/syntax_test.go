package query_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store/record"
)

// A reading is a parsed text, its query without the blanks.
type reading struct {
	Request   query.SearchRequest
	Operators []string
}

func parse(text string) reading {
	var r reading
	r.Operators = r.Request.Parse(text)
	r.Request.Query = strings.Join(strings.Fields(r.Request.Query), " ")
	r.Request.Text = ""
	return r
}

func TestParse(t *testing.T) {
	t.Parallel()
	type request = query.SearchRequest
	for _, test := range []struct {
		text string
		want reading
	}{
		{"", reading{}},
		{" \t\n ", reading{}},
		{"token refresh race", reading{request{Request: index.Request{Query: "token refresh race"}}, nil}},

		{`"token refresh" race`, reading{request{Request: index.Request{Query: "token refresh race", Phrases: []string{"token refresh"}}}, nil}},
		{"“token refresh” „le mot“", reading{request{Request: index.Request{Query: "token refresh le mot", Phrases: []string{"token refresh", "le mot"}}}, nil}},
		{`"a b""c d"`, reading{request{Request: index.Request{Query: "a b c d", Phrases: []string{"a b", "c d"}}}, nil}},
		{`"a b", c`, reading{request{Request: index.Request{Query: "a b , c", Phrases: []string{"a b"}}}, nil}},
		{`"a b"-c`, reading{request{Request: index.Request{Query: "a b -c", Phrases: []string{"a b"}}}, nil}},
		{`"a b"tag:c`, reading{request{Request: index.Request{Query: "a b tag:c", Phrases: []string{"a b"}}}, nil}},
		{`““x”`, reading{request{Request: index.Request{Query: "“x", Phrases: []string{"“x"}}}, nil}},
		{`"`, reading{request{Request: index.Request{Query: `"`}}, nil}},
		{`"" " "`, reading{request{Request: index.Request{Query: `"" " "`}}, nil}},
		{`"open ended`, reading{request{Request: index.Request{Query: `"open ended`}}, nil}},
		{`3.5" disk 5" x`, reading{request{Request: index.Request{Query: `3.5" disk 5" x`}}, nil}},
		{`don't say "hello`, reading{request{Request: index.Request{Query: `don't say "hello`}}, nil}},

		{"jwt -refresh", reading{request{Request: index.Request{Query: "jwt", Without: []string{"refresh"}}}, []string{"-refresh"}}},
		{"-ab -55 -éa", reading{request{Request: index.Request{Without: []string{"ab", "55", "éa"}}}, []string{"-ab", "-55", "-éa"}}},
		{"bash set -e", reading{request{Request: index.Request{Query: "bash set -e"}}, nil}},
		{"find . -name foo -type f", reading{request{Request: index.Request{Query: "find . -name foo -type f"}}, nil}},
		{`what does rm -rf do -"not this" kind:note`, reading{request{
			Request:        index.Request{Query: "what does rm -rf do", Filter: record.Filter{Kinds: []record.Kind{"note"}}},
			WithoutPhrases: []string{"not this"},
		}, []string{`-"not this"`, "kind:note"}}},
		{`x -"a b" -“c d”`, reading{request{Request: index.Request{Query: "x"}, WithoutPhrases: []string{"a b", "c d"}}, []string{`-"a b"`, "-“c d”"}}},
		{"-parseHTTP.go", reading{request{Request: index.Request{Without: []string{"parseHTTP.go"}}}, []string{"-parseHTTP.go"}}},
		{"-session:s1 x", reading{request{Request: index.Request{Query: "x", Filter: record.Filter{NotSessions: []string{"s1"}}}}, []string{"-session:s1"}}},
		{"-tag:x", reading{request{Request: index.Request{Without: []string{"tag:x"}}}, []string{"-tag:x"}}},
		{"- -- --flag -> -- -", reading{request{Request: index.Request{Query: "- -- --flag -> -- -"}}, nil}},
		{`-" x -"open -""`, reading{request{Request: index.Request{Query: `open -""`}, WithoutPhrases: []string{" x -"}}, []string{`-" x -"`}}},
		{`-"x -“y`, reading{request{Request: index.Request{Query: `-"x -“y`}}, nil}},
		{"e-mail a- x-1", reading{request{Request: index.Request{Query: "e-mail a- x-1"}}, nil}},

		// What was pasted is text.
		{"File \"a.py\", in f\r\n-    call(x)\nkind:note -x", reading{request{Request: index.Request{Query: `File "a.py", in f - call(x) kind:note -x`}}, nil}},
		{`"a b" ` + strings.Repeat("x", 999), reading{request{Request: index.Request{Query: `"a b" ` + strings.Repeat("x", 999)}}, nil}},
		{"\n\"a b\" c\n", reading{request{Request: index.Request{Query: "a b c", Phrases: []string{"a b"}}}, nil}},

		{"tag:auth kind:issue x", reading{
			request{Request: index.Request{Query: "x", Filter: record.Filter{Tags: []string{"auth"}, Kinds: []record.Kind{"issue"}}}},
			[]string{"tag:auth", "kind:issue"},
		}},
		{"kind:issue,note kind:result", reading{
			request{Request: index.Request{Filter: record.Filter{Kinds: []record.Kind{"issue", "note", "result"}}}},
			[]string{"kind:issue,note", "kind:result"},
		}},
		{`tag:"two words" tag:“a,b”`, reading{request{Request: index.Request{Filter: record.Filter{Tags: []string{"two words", "a,b"}}}},
			[]string{`tag:"two words"`, "tag:“a,b”"}}},
		{"agent:a session:s task:t run:r status:done conversation:c", reading{
			request{Request: index.Request{Filter: record.Filter{Agents: []string{"a"}, Sessions: []string{"s"}, Tasks: []string{"t", "task-t"},
				Runs: []string{"r"}, Statuses: []string{"done"}, Conversations: []string{"c"}}}},
			[]string{"agent:a", "session:s", "task:t", "run:r", "status:done", "conversation:c"},
		}},
		{"tree:. tree:lib", reading{request{Request: index.Request{Filter: record.Filter{Trees: []record.Tree{"", "lib"}}}},
			[]string{"tree:.", "tree:lib"}}},
		{"kind:foo tree:a/b tag: tag:, agent:a, : :x", reading{request{Request: index.Request{Query: "kind:foo tree:a/b tag: tag:, agent:a, : :x"}}, nil}},
		{`http://x C:\x std::vector npm:run Tag:x task: do`, reading{request{Request: index.Request{Query: `http://x C:\x std::vector npm:run Tag:x task: do`}}, nil}},
		{`tag:"open agent:“a`, reading{request{Request: index.Request{Query: `tag:"open agent:“a`}}, nil}},
		{`tag:a"b c"`, reading{request{Request: index.Request{Query: `tag:a"b c"`}}, nil}},
		{"(tag:x) .*[a-z]+$ a|b", reading{request{Request: index.Request{Query: "(tag:x) .*[a-z]+$ a|b"}}, nil}},
		{"a\x00b \x1b[1m \xff\xfe", reading{request{Request: index.Request{Query: "a\x00b \x1b[1m \xff\xfe"}}, nil}},
	} {
		if diff := cmp.Diff(test.want, parse(test.text)); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestParseAddsToFilters(t *testing.T) {
	t.Parallel()
	r := query.SearchRequest{Request: index.Request{Filter: record.Filter{Tags: []string{"a"}, Kinds: []record.Kind{"note"}}}}
	r.Parse("tag:b kind:issue")
	want := query.SearchRequest{Request: index.Request{Query: strings.Repeat(" ", 16), Filter: record.Filter{Tags: []string{"a", "b"}, Kinds: []record.Kind{"note", "issue"}}}, Text: "tag:b kind:issue"}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("Parse into filters (-want +got):\n%s", diff)
	}
}

// FuzzParse wants every byte of a text to be either a part of the query, at its
// place, or a part of an operator or a quote.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`a "b c" -d -"e f" tag:g kind:issue,x "`, "“a” „b“ -“c”", "-session:x \xff\"\xfe\" \u00a0-a", `"a"tag:x""-y`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r query.SearchRequest
		operators := r.Parse(text)
		if r.Text != text || len(r.Query) != len(text) {
			t.Fatalf("Parse(%q): text %q, query %q; want the text, and a query as long", text, r.Text, r.Query)
		}
		blanks := 0
		for i := range len(text) {
			switch {
			case r.Query[i] == text[i]:
			case r.Query[i] == ' ':
				blanks++
			default:
				t.Fatalf("Parse(%q): query %q differs at %d", text, r.Query, i)
			}
		}
		for _, o := range operators {
			if !strings.Contains(text, o) {
				t.Errorf("Parse(%q): operator %q is not in it", text, o)
			}
			blanks -= len(strings.ReplaceAll(o, " ", ""))
		}
		if quotes := 2 * len("“") * len(r.Phrases); blanks > quotes {
			t.Errorf("Parse(%q): %d bytes are lost but for %d of quotes", text, blanks, quotes)
		}
		for _, p := range append(r.Phrases, r.WithoutPhrases...) {
			if strings.TrimSpace(p) == "" || utf8.ValidString(text) && !utf8.ValidString(p) {
				t.Errorf("Parse(%q): phrase %q", text, p)
			}
		}
	})
}
