package markdown

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

func TestCutMetadata(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line, key, value string
		ok               bool
	}{
		{"Status: done", "Status", "done", true},
		{"Status:", "Status", "", true},
		{"Depends On: RFC 28", "Depends On", "RFC 28", true},
		{"**Status:** done", "Status", "done", true},
		{"**Status**: done", "Status", "done", true},
		{"**Task Ref:**", "Task Ref", "", true},
		{"**bold** text: more", "", "", false},
		{"**Status: done**", "", "", false},
		{"One two three four: five", "", "", false},
		{"https://example.com", "", "", false},
		{"10:30 we met", "", "", false},
		{"2 things: a, b", "", "", false},
		{"`code`: text", "", "", false},
		{"[a](b): text", "", "", false},
		{": text", "", "", false},
		{"no field", "", "", false},
		{"Größe: 3", "Größe", "3", true},
	}
	for _, test := range tests {
		key, value, ok := cutMetadata([]byte(test.line))
		if ok != test.ok || ok && (string(key) != test.key || string(value) != test.value) {
			t.Errorf("cutMetadata(%q) = %q, %q, %v; want %q, %q, %v", test.line, key, value, ok, test.key, test.value, test.ok)
		}
	}
}

func TestIsSentence(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"":                                  false,
		"done":                              false,
		"done.":                             false,
		"v1.2.":                             false,
		"All five of them pass.":            true,
		"All *five* of them **pass.**":      true,
		"All five of them pass":             false,
		"a b c d e f g h i j k l m":         true,
		"2026-03-02, 2026-03-03 and others": false,
		"令牌桶允许突发流量。":                        true,
	}
	for value, want := range tests {
		if got := isSentence([]byte(value)); got != want {
			t.Errorf("isSentence(%q) = %v, want %v", value, got, want)
		}
	}
}

func TestPlainInline(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"plain":                            "plain",
		"- not a list":                     "- not a list",
		"# not a heading, `code`":          "# not a heading, code",
		"> *no quote*":                     "> no quote",
		"a*b*c":                            "abc",
		"a_b_c":                            "a_b_c",
		"__b__ ***c***":                    "b c",
		"``a ` b``":                        "a ` b",
		"`a\nb`":                           "a b",
		`\*a\* \\ \x`:                      `*a* \ \x`,
		"[a *b*](c) [d]":                   "a b [d]",
		"[a](<b c> 'd') ![e](f)g":          "a g",
		"[a]\n\n[a]: b":                    "[a]",
		"__init__.py and snake_case_name":  "__init__.py and snake_case_name",
		"`__init__.py` of `a*b*c`":         "__init__.py of a*b*c",
		"a*, b* and 2 * 3 * 4":             "a*, b* and 2 * 3 * 4",
		"_a_ _b_, **c *d* e**.":            "a b, c d e.",
		"[![x](y)](z) <https://e.com/a>":   "https://e.com/a",
		"src/**/a*.go and def.*x|def.*y":   "src/**/a*.go and def.*x|def.*y",
		"<a@example.com>":                  "a@example.com",
		"a <b>c</b> d":                     "a c d",
		"&lt;a&gt; &nope; &#x41;":          "<a> &nope; A",
		"a ~~b~~ ~c":                       "a b ~c",
		"*open **and `never closed":        "*open **and `never closed",
		"[a][b] and [1]":                   "[a][b] and [1]",
		"line *one\nline* two":             "line one line two",
		"tab\tand `nul` \x00 \x7f bell\a.": "tab and nul bell.",
	}
	for markdown, want := range tests {
		if got := PlainInline([]byte(markdown)); got != want {
			t.Errorf("plainInline(%q) = %q, want %q", markdown, got, want)
		}
	}
}

func TestCollapseSpace(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                             "",
		" \t\r\n ":                     "",
		" a  b\u00a0\u2003c\n":         "a b c",
		"a\x00b\x07\u0085c":            "ab c",
		"\ufeffa":                      "a",
		"a\xffb":                       "a\ufffdb",
		"\x1b[0m\x1b[38;5;1mred\x1b[m": "red",
		"\x1bc\x1b":                    "c",
		"\x1b[12":                      "12",
	}
	for text, want := range tests {
		if got := OneLine(text); got != want {
			t.Errorf("collapseSpace(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestHeadOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"aä", 2, "a"},
		{"ä", 1, ""},
		{"a🧁b", 4, "a"},
		{"a🧁b", 5, "a🧁"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"},
	}
	for _, test := range tests {
		if got := Head([]byte(test.text), test.n); string(got) != test.want {
			t.Errorf("Head(%q, %d) = %q, want %q", test.text, test.n, got, test.want)
		}
	}
}

// workspace is the sample workspace, whose files look like those of a real one.
const workspace = "../../testdata/workspace"

func TestWorkspacePreviews(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, title, preview string }{
		{".claude/agent_tool_results/conv-limiter-0302/call-a1f4.md", "Rate limiting algorithms for the public API",
			"For Ferrywire's public routes a generic cell rate algorithm (GCRA) kept in Redis fits best: it…"},
		{".claude/agent_tool_results/conv-limiter-0302/call-c93e.md", "GCRA in Redis costs 0.41 ms at the median and 1.9 ms at p99 on top of a request, and holds a limit of 600 a minute to…",
			"GCRA in Redis costs 0.41 ms at the median and 1.9 ms at p99 on top of a request, and holds a limit…"},
		{".claude/agent_tool_results/conv-billing-0303/call-3b4a.md", "Migration plan for whole cents",
			"Four migrations over two releases move invoices and invoice_lines from double precision to whole…"},
		{".claude/journal/task-001.md", "Task: Shared rate limiter for all public routes",
			"MaxRetries: -1 is set on the limiter's own client only. The cache shares the address of Redis but…"},
		{".claude/dialogues/retry-policy/round-1/scone.md", "Scone, round 1",
			"[CONCESSION: The floor of 20 retries costs at most 8,240 attempts in ten minutes if every tenant…"},
		{".claude/sessions/pr_reviews/pr_42_context.md", "PR 42: One rate limiter for all public routes",
			"The pull request replaces the limiter in each process by one that the replicas share, and puts the…"},
		{".claude/agent_complete/task-002.done", "done", "done"},
		{"docs/notes/beträge-und-rundung.md", "Beträge und Rundung",
			"Kaufmännisch gerundet wird bei Ferrywire immer vom Nullpunkt weg: aus 0,125 € werden 0,13 €, aus…"},
		{"docs/notes/limiter-load-test.md", "How to run the limiter's load test by hand",
			"The replay takes four minutes and needs nothing but compose and k6. Its one result is the share of…"},
		{"docs/notes/retrospective-2026-03-06.md", "", ""},
	}
	for _, test := range tests {
		text, err := os.ReadFile(path.Join(workspace, test.path))
		if err != nil {
			t.Fatal(err)
		}
		if got := Title(text); got != test.title {
			t.Errorf("%s: Title = %q, want %q", test.path, got, test.title)
		}
		if got := Preview(text, 100); got != test.preview {
			t.Errorf("%s: Preview = %q, want %q", test.path, got, test.preview)
		}
	}
}

func TestWorkspaceOutlines(t *testing.T) {
	t.Parallel()
	files := 0
	err := fs.WalkDir(os.DirFS(workspace), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".md") {
			return err
		}
		files++
		text, err := os.ReadFile(path.Join(workspace, name))
		if err != nil {
			return err
		}
		checkSections(t, text, Outline(text))
		if got, want := Words(text), len(bytes.Fields(text)); got != want {
			t.Errorf("%s: Words = %d, want %d", name, got, want)
		}
		return nil
	})
	if err != nil || files < 30 {
		t.Errorf("%d files read, error %v; want at least 30", files, err)
	}
}
