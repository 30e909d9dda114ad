package markdown

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOneLineAndCleanText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, line, clean string }{
		{" a\r\n\tb\x1b[0m \n", "a b", "a\n\tb[0m"},
		{"\ufeffa\rb\x00c\xff", "a bc\ufffd", "a\nbc\ufffd"},
		{"größe\u00a0大\n\n\nx", "größe 大 x", "größe\u00a0大\n\n\nx"},
		{" \n", "", ""},
	} {
		if got := OneLine(test.text); got != test.line {
			t.Errorf("OneLine(%q) = %q, want %q", test.text, got, test.line)
		}
		if got := CleanText(test.text); got != test.clean {
			t.Errorf("CleanText(%q) = %q, want %q", test.text, got, test.clean)
		}
	}
}

// TestUnclosed closes what a text leaves open: with the lines that it is told, a
// heading at the end is one again.
func TestUnclosed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n": "", "": "", "```\na\n```\n": "", "- ```\n  a\n": "",
		"````go\n```\n": "````", "  ~~~\r\na\r\n": "~~~", "<!-- a\n\nb": "-->", "\ufeff```\na": "```", "a\n<script>\nb\n": "</script>",
	} {
		got := Unclosed([]byte(text))
		if got != want {
			t.Errorf("Unclosed(%q) = %q, want %q", text, got, want)
			continue
		}
		closed := text + "\n" + got + "\n\n# End\n"
		if sections := Outline([]byte(closed)); len(sections) != 1 || sections[0].Title != "End" {
			t.Errorf("%q, closed, has the sections %+v, want one", text, sections)
		}
	}
}

func TestUnclosedTurns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# a\n": "", "```\na\n```\n": "", "a\n````go\nb\n<!-- c\n": "````", "<!-- a\n```\nb\n```\n": "-->", "~~~\r\n": "~~~",
	} {
		if got := Unclosed([]byte(text)); got != want {
			t.Errorf("Unclosed(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestSectionBody has the heading of a section however it is written.
func TestSectionBody(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# A\nb\n": "b\n", "# A": "", "\ufeff# A\r\nb": "b", "   ## A ##\nb\n### C\nd\n": "b\n### C\nd\n",
		"A\nB\n===\nb\n": "b\n", "A\n---": "", "Über\r\n---\r\n\r\nb": "\r\nb",
	} {
		sections := Outline([]byte(text))
		if len(sections) == 0 {
			t.Errorf("%q has no section", text)
			continue
		}
		if got := text[sections[0].Body:sections[0].End]; got != want {
			t.Errorf("the body of the first section of %q = %q, want %q", text, got, want)
		}
	}
}

// TestUnlikeTexts reads one text in all its spellings: line ends, a byte order mark,
// marks of other kinds, and no line end at the end change neither outline nor preview.
func TestUnlikeTexts(t *testing.T) {
	t.Parallel()
	const text = "# Überblick\n\nDie Suche findet 大きな Dateien nicht.\n\n## Gründe\n\n* erstens\n* zweitens\n\n```go\n# no heading\n```\n\n## Ende\n\nFertig.\n"
	outline := func(text string) (titles []string) {
		for _, s := range Outline([]byte(text)) {
			titles = append(titles, strings.Repeat("#", s.Level)+s.Title)
		}
		return titles
	}
	want := []string{"#Überblick", "##Gründe", "##Ende"}
	preview := Preview([]byte(text), 200)
	if !strings.Contains(preview, "大きな") {
		t.Errorf("the preview of %q is %q", text, preview)
	}
	for label, spelling := range map[string]string{
		"as it is": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "byte order mark": "\ufeff" + text,
		"no line end": strings.TrimSuffix(text, "\n"), "spaces behind lines": strings.ReplaceAll(text, "\n\n",
			"  \n \n"),
		"indented headings": strings.ReplaceAll(text, "## ", "   ## "), "closed headings": strings.Replace(text,
			"## Ende", "## Ende ##", 1),
		"underlined headings": strings.Replace(text, "# Überblick", "Überblick\n=========", 1),
		"tildes":              strings.ReplaceAll(text, "```", "~~~~"), "other bullets": strings.ReplaceAll(text, "* ", "+ "),
	} {
		if diff := cmp.Diff(want, outline(spelling)); diff != "" {
			t.Errorf("%s: outline (-want +got):\n%s", label, diff)
		}
		if diff := cmp.Diff(preview, Preview([]byte(spelling), 200)); diff != "" {
			t.Errorf("%s: preview (-want +got):\n%s", label, diff)
		}
	}
}

func TestSyntaxError(t *testing.T) {
	t.Parallel()
	inner := errors.New("no title")
	err := error(&SyntaxError{File: "a/b.md", Line: 7, Err: inner})
	if got, want := err.Error(), "a/b.md:7: no title"; got != want || !errors.Is(err, inner) {
		t.Errorf("the error is %q, want %q; it wraps its reason: %t", got, want, errors.Is(err, inner))
	}
}

// TestCodeSpans finds where each run of backticks, or the span that it begins, ends.
func TestCodeSpans(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"a `b` c": "`b`", "``a ` b`` `c`": "``a ` b``|`c`", "`a ``b": "`|``", "```": "```", "`a` `b": "`a`|`", "none": "",
	} {
		spans := CodeSpans{Line: []byte(line)}
		var got []string
		for at := 0; at < len(line); {
			i := bytes.IndexByte([]byte(line[at:]), '`')
			if i < 0 {
				break
			}
			end := spans.Skip(at + i)
			got = append(got, line[at+i:end])
			at = end
		}
		if strings.Join(got, "|") != want {
			t.Errorf("the code of %q is %q, want %q", line, got, want)
		}
	}
}

func TestFirstWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"short\n text", "short text"}, {"one two three", "one two…"}, {"one, twothree", "one, twot…"}, {"", ""},
	} {
		if got := FirstWords(test.text, 10); got != test.want {
			t.Errorf("FirstWords(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}
