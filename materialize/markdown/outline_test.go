package markdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

func TestOutline(t *testing.T) {
	t.Parallel()
	src := "intro\n\n# One\ntext\n\n## Sub **bold** ##\nmore\n\nSetext\ntwo lines\n---\nend\n# Two"
	got := Outline([]byte(src))
	want := []Section{
		{Title: "One", Level: 1, Start: 7, Body: 13, Next: 19, End: 69, Line: 3, EndLine: 12},
		{Title: "Sub **bold**", Level: 2, Start: 19, Body: 38, Next: 44, End: 44, Line: 6, EndLine: 8},
		{Title: "Setext two lines", Level: 2, Start: 44, Body: 65, Next: 69, End: 69, Line: 9, EndLine: 12},
		{Title: "Two", Level: 1, Start: 69, Body: 74, Next: 74, End: 74, Line: 13, EndLine: 13},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Outline(%q): -want +got\n%s", src, diff)
	}
}

// outlineTexts are Markdown texts with the headings that they have, as
// "level title". The differential test and the fuzz test use them too.
var outlineTexts = []struct {
	name, text string
	want       []string
}{
	{"empty", "", nil},
	{"no heading", "some text\nand more\n", nil},
	{"six levels", "# a\n## b\n### c\n#### d\n##### e\n###### f\n####### g\n", []string{"1 a", "2 b", "3 c", "4 d", "5 e", "6 f"}},
	{"no space", "#a\n#1 b\n", nil},
	{"tab after the sign", "#\ta\n", []string{"1 a"}},
	{"indent", " # a\n   # b\n\n    # code\n", []string{"1 a", "1 b"}},
	{"closing signs", "# a #\n## b ###   \n# c#\n# #\n#\n### ###\n", []string{"1 a", "2 b", "1 c#", "1 ", "1 ", "3 "}},
	{"escaped sign", "\\# a\n", nil},
	{"no final newline", "text\n# a", []string{"1 a"}},
	{"CRLF", "# a\r\n\r\nb\r\n===\r\n\r\n```\r\n# c\r\n```\r\n## d\r\n", []string{"1 a", "1 b", "2 d"}},
	{"interrupts a paragraph", "text\n# a\nmore\n", []string{"1 a"}},
	{"setext", "a\n=\n\nb\n--\n\nc\nd\n  ====  \n", []string{"1 a", "2 b", "1 c d"}},
	{"underline after a blank line", "a\n\n===\n\n---\n", nil},
	{"underline with text", "a\n=== b\n--- c\n", nil},
	{"rule, not underline", "# a\n---\nb\n\n---\n", []string{"1 a"}},
	{"spaced rule", "a\n- - -\nb\n* * *\nc\n", nil},
	{"underline indented as code", "a\n    ---\n", nil},
	{"code indented after a heading", "# a\n    # b\n", []string{"1 a"}},
	{"fence", "```\n# no\n```\n# a\n", []string{"1 a"}},
	{"fence of tildes", "~~~ sh\n# no\n```\n# no\n~~~~\n# a\n", []string{"1 a"}},
	{"longer fence", "````md\n```\n# no\n```\n# no\n````\n# a\n", []string{"1 a"}},
	{"fence not closed by info", "```\n# no\n``` go\n# no\n", nil},
	{"fence never closed", "# a\n```\n# no\n", []string{"1 a"}},
	{"backquote in the info", "``` a`b\n# a\n", []string{"1 a"}},
	{"indented fence", "   ```\n# no\n  ```\n# a\n", []string{"1 a"}},
	{"closing fence indented too far", "```\n# no\n    ```\n# no\n", nil},
	{"fence interrupts a paragraph", "text\n```\nx\n===\n```\n# a\n", []string{"1 a"}},
	{"quote", "> # no\n> ---\n# a\n", []string{"1 a"}},
	{"quote, lazy line", "> text\nlazy\n===\n# a\n", []string{"1 a"}},
	{"quote, rule", "> text\n---\n", nil},
	{"fence in a quote ends with it", "> ```\n# a\n> # no\n", []string{"1 a"}},
	{"list", "- # no\n- b\n  # no\n# a\n", []string{"1 a"}},
	{"list, rule", "- a\n---\n- b\n***\n", nil},
	{"list, setext inside", "- a\n  ---\n\n  b\n  ===\n", nil},
	{"list, lazy line", "- a\nlazy\n===\n", nil},
	{"list left after a blank line", "- a\n\nb\n===\n", []string{"1 b"}},
	{"ordered list", "1. # no\n\n   # no\n  # a\n", []string{"1 a"}},
	{"wide item", "10) a\n\n   # b\n", []string{"1 b"}},
	{"item with code", "-     code\n\n  # no\n # a\n", []string{"1 a"}},
	{"item begins empty", "-\n  # no\n\n-\n\n  # a\n", []string{"1 a"}},
	{"fence in an item", "- ```\n  # no\n  ```\n  # no\n# a\n", []string{"1 a"}},
	{"fence in an item ends with it", "- ```\n# a\n", []string{"1 a"}},
	{"nested lists", "- a\n  - b\n    - # no\n      # no\n    # no\n  # no\n # a\n", []string{"1 a"}},
	{"tab after the marker", "-\ta\n\n    # no\n   # b\n # a\n", []string{"1 b", "1 a"}},
	{"tab indents the item", "- a\n\n\t# no\n\n\t\t# no\n", nil},
	{"quote in a list", "- > # no\n  > text\n\n# a\n", []string{"1 a"}},
	{"list in a quote", "> - # no\n>   # no\n\n# a\n", []string{"1 a"}},
	{"number that is no list", "2026.5 was\n===\n", []string{"1 2026.5 was"}},
	{"list cannot interrupt with 2", "text\n2. a\n---\n", []string{"2 text 2. a"}},
	{"list interrupts with 1", "text\n1. a\n---\n", nil},
	{"empty item cannot interrupt", "text\n*\n===\n", []string{"1 text *"}},
	{"comment", "<!--\n# no\n-->\n# a\n", []string{"1 a"}},
	{"comment on a line", "<!-- x -->\n# a\n", []string{"1 a"}},
	{"comment with a blank line", "<!-- x\n\n# no\n\n--> tail\n# a\n", []string{"1 a"}},
	{"comment never closed", "# a\n<!-- x\n# no\n", []string{"1 a"}},
	{"details", "<details>\n<summary>x</summary>\n# no\n\n# a\n</details>\n", []string{"1 a"}},
	{"pre", "<pre>\n\n# no\n</pre>\n# a\n", []string{"1 a"}},
	{"script", "<SCRIPT>\n\n# no\n</Script>\n# a\n", []string{"1 a"}},
	{"processing instruction", "<?xml\n\n# no\n?>\n# a\n", []string{"1 a"}},
	{"declaration", "<!DOCTYPE\n# no\n>\n# a\n", []string{"1 a"}},
	{"cdata", "<![CDATA[\n# no\n]]>\n# a\n", []string{"1 a"}},
	{"other tag alone", "<x-y a=\"b\">\n# no\n\n# a\n", []string{"1 a"}},
	{"other tag in a paragraph", "text\n<b>\n===\n", []string{"1 text <b>"}},
	{"autolink", "<https://example.com>\n===\n", []string{"1 <https://example.com>"}},
	{"inline tag", "<b>x</b> y\n---\n", []string{"2 <b>x</b> y"}},
	{"table", "| a |\n|---|\n| b |\n---\n# c\n", []string{"1 c"}},
	{"table without outer bars", "a | b\n--- | ---\nc | d\n===\n", nil},
	{"delimiter row of another width", "a | b\n|---|\n===\n", []string{"1 a | b |---|"}},
	{"references", "[1]: https://example.com/a\n[2]: https://example.com/b 'B'\n---\n# a\n", []string{"1 a"}},
	{"text after references", "[1]: https://example.com/a\ntitle\n===\n", []string{"1 title"}},
	{"invalid UTF-8", "# a\xff\n\xfe\xfd\n===\n", []string{"1 a\ufffd", "1 \ufffd"}},
	{"NUL", "# a\x00b\n", []string{"1 a\x00b"}},
	{"emoji", "## 🧁 Muffin\n", []string{"2 🧁 Muffin"}},
}

func TestOutlineTexts(t *testing.T) {
	t.Parallel()
	for _, test := range outlineTexts {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, titles(Outline([]byte(test.text)))); diff != "" {
				t.Errorf("Outline(%q): -want +got\n%s", test.text, diff)
			}
		})
	}
}

func titles(sections []Section) []string {
	var out []string
	for _, s := range sections {
		out = append(out, fmt.Sprintf("%d %s", s.Level, s.Title))
	}
	return out
}

// TestScannerAgreesWithGoldmark compares the headings, code and HTML that both find: in the texts of these tests, in
// the examples of CommonMark's specification that goldmark brings along, in the documents of this
// project, and in texts that are put together from pieces which begin and end blocks.
func TestScannerAgreesWithGoldmark(t *testing.T) {
	t.Parallel()
	texts := randomTexts(20_000)
	for _, test := range outlineTexts {
		texts = append(texts, []byte(test.text))
	}
	for _, root := range []string{workspace, "../../docs", "testdata"} {
		files, err := doublestar.FilepathGlob(root + "/**/*.{md,txt}")
		if err != nil || len(files) < 10 {
			t.Fatalf("%d files below %s, error %v", len(files), root, err)
		}
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, markdownBody(src))
		}
	}
	for _, src := range append(texts, specExamples(t)...) {
		src = bytes.ReplaceAll(src, []byte("<b>\t"), []byte("<b> ")) // goldmark takes it for text
		want, got := parsedBlocks(src), scannedBlocks(src)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: -goldmark +scanner\n%s", src, diff)
		}
	}
}

// randomTexts returns texts of pieces that begin and end blocks, the same ones in every run.
func randomTexts(n int) (texts [][]byte) {
	pieces := []string{
		"# a", "## b", "#", "a", "b c", "===", "---", "==", "--", "***", "- ", "* ", "+ x", "1. ", "2) ", "10. y", "> ",
		"```", "~~~", "````", "    ", "  ", " ", "\t", "\n", "\n", "\n", "\n\n", "<!--", "-->", "<div>", "</div>",
		"<b>", "<pre>", "</pre>", "\n\n| a |\n|---|\n\n", "[a]", "\\",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range n {
		var src []byte
		for range 2 + random.IntN(12) {
			src = append(src, pieces[random.IntN(len(pieces))]...)
		}
		texts = append(texts, src)
	}
	return texts
}

// specExamples returns the examples of CommonMark's specification, from where Go keeps the source of
// goldmark.
func specExamples(t *testing.T) (texts [][]byte) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	var source []byte
	if err == nil {
		source, err = os.ReadFile(strings.TrimSpace(string(dir)) + "/_test/spec.json")
	}
	var examples []struct {
		Markdown string
		Example  int
	}
	if err == nil {
		err = json.Unmarshal(source, &examples)
	}
	if err != nil || len(examples) < 600 {
		t.Errorf("%d examples, error %v", len(examples), err)
	}
	for _, e := range examples {
		texts = append(texts, []byte(e.Markdown))
	}
	return texts
}

// scannedBlocks returns what the lines at the top level of a text are: headings with their level, code and HTML.
func scannedBlocks(src []byte) map[int]string {
	out := map[int]string{}
	for _, s := range Outline(src) {
		out[s.Line] = fmt.Sprint(s.Level)
	}
	var b blockScanner
	number := bytes.Count(src[:len(src)-len(markdownBody(src))], []byte("\n"))
	for line := range bytes.Lines(markdownBody(src)) {
		number++
		line, _ = cutTextLine(line)
		if info := b.next(line); info.outer == 0 && !isBlankLine(line) && (info.kind == lineCode || info.kind == lineHTML) {
			out[number] = info.kind.name()
		}
	}
	return out
}

// parsedBlocks returns what goldmark finds of that.
func parsedBlocks(src []byte) map[int]string {
	out := map[int]string{}
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		what := map[ast.NodeKind]string{ast.KindCodeBlock: "code", ast.KindFencedCodeBlock: "code", ast.KindHTMLBlock: "html"}[node.Kind()]
		if heading, ok := node.(*ast.Heading); ok {
			out[bytes.Count(src[:heading.Pos()], []byte("\n"))+1] = fmt.Sprint(heading.Level)
		}
		lines := node.Lines().Sliced(0, node.Lines().Len())
		if html, ok := node.(*ast.HTMLBlock); ok && html.HasClosure() {
			lines = append(lines, html.ClosureLine)
		}
		for _, line := range lines {
			if what != "" && !isBlankLine(bytes.TrimSpace(line.Value(src))) {
				out[bytes.Count(src[:line.Start], []byte("\n"))+1] = what
			}
		}
	}
	return out
}

func TestOutlineSkipsFrontMatter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []Section
	}{
		{"YAML", "---\ntitle: x\n# no\n---\n# a\n", []Section{{Title: "a", Level: 1, Start: 22, Body: 26, Next: 26, End: 26, Line: 5, EndLine: 5}}},
		{"TOML", "+++\ntitle = 1\n+++\n# a", []Section{{Title: "a", Level: 1, Start: 18, Body: 21, Next: 21, End: 21, Line: 4, EndLine: 4}}},
		{"BOM, CRLF", "\ufeff---\r\na: b\r\n---\r\n# a\r\n", []Section{{Title: "a", Level: 1, Start: 19, Body: 24, Next: 24, End: 24, Line: 4, EndLine: 4}}},
		{"BOM alone", "\ufeff# a\n", []Section{{Title: "a", Level: 1, Start: 3, Body: 7, Next: 7, End: 7, Line: 1, EndLine: 1}}},
		{"not closed", "---\na: b\n# a\n", []Section{{Title: "a", Level: 1, Start: 9, Body: 13, Next: 13, End: 13, Line: 3, EndLine: 3}}},
		{"a rule", "---\n\nplain text\n\n# a\n\n---\n", []Section{{Title: "a", Level: 1, Start: 17, Body: 21, Next: 26, End: 26, Line: 5, EndLine: 7}}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, Outline([]byte(test.text))); diff != "" {
			t.Errorf("%s: Outline(%q): -want +got\n%s", test.name, test.text, diff)
		}
	}
}

func TestOutlineReader(t *testing.T) {
	t.Parallel()
	texts := []string{
		"---\na: b\n---\n" + strings.Repeat("# a\n\ntext\n\nb\n===\n```\n# c\n```\n", 10_000),
		"---\n" + strings.Repeat("text: long\n", 10_000) + "# a\n",
		"# a\n" + strings.Repeat("x", 3*maxScanLine) + "\n# b\n" + strings.Repeat("y", 2*maxScanLine),
		strings.Repeat("x", maxHeading) + "ä\n===\n",
	}
	for _, test := range outlineTexts {
		texts = append(texts, test.text)
	}
	for _, src := range texts {
		want := Outline([]byte(src))
		for _, size := range []int{1, 7, 64 << 10, 1 << 20} {
			got, _, err := OutlineReader(&pieceReader{[]byte(src), size})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("OutlineReader(%.60q) in pieces of %d: error %v, -Outline +got\n%s", src, size, err, diff)
			}
		}
	}
}

// A pieceReader returns at most size bytes at a time.
type pieceReader struct {
	text []byte
	size int
}

func (r *pieceReader) Read(p []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.text[:min(r.size, len(r.text))])
	r.text = r.text[n:]
	return n, nil
}

func TestOutlineReaderError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken disk")
	got, _, err := OutlineReader(io.MultiReader(strings.NewReader("# a\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if diff := cmp.Diff([]string{"1 a"}, titles(got)); diff != "" {
		t.Errorf("sections before the error: -want +got\n%s", diff)
	}
}

func TestOutlineIsBounded(t *testing.T) {
	t.Parallel()
	got := Outline([]byte("# first\n" + strings.Repeat("## a\n", maxSections+10) + "# last\n"))
	if len(got) != maxSections {
		t.Fatalf("got %d sections, want %d", len(got), maxSections)
	}
	first := Section{Title: "first", Level: 1, Start: 0, Body: 8, Next: 8, End: 8 + 5*(maxSections+10), Line: 1, EndLine: maxSections + 11}
	if diff := cmp.Diff(first, got[0]); diff != "" {
		t.Errorf("the first section: -want +got\n%s", diff)
	}
	long := Outline([]byte("# " + strings.Repeat("ä", 1<<20)))
	if n := len(long[0].Title); n > maxHeading+3 {
		t.Errorf("a heading of 2 MiB gives a title of %d bytes, want at most %d", n, maxHeading+3)
	}
}

// slowTexts are known to take parsers of Markdown quadratic time or worse.
var slowTexts = map[string]string{
	"quotes":           strings.Repeat("> ", 40_000),
	"links":            strings.Repeat("[a](", 20_000),
	"table":            strings.Repeat("|a", 2_000) + "|\n" + strings.Repeat("|-", 2_000) + "|\n" + strings.Repeat("|b|\n", 2_000),
	"lists":            strings.Repeat("- ", 40_000) + "\n" + strings.Repeat("\n", 100_000),
	"nested lists":     strings.Repeat("* a\n ", 40_000),
	"emphasis":         strings.Repeat("*a **b ", 20_000),
	"brackets":         strings.Repeat("[", 80_000),
	"backquotes":       strings.Repeat("`a``b", 20_000),
	"angles":           strings.Repeat("<!--", 40_000),
	"tags":             strings.Repeat("</pre", 40_000),
	"indented":         strings.Repeat(strings.Repeat(" ", 1000)+"a\n", 400),
	"references":       strings.Repeat("[a]: b\n", 40_000),
	"one line":         strings.Repeat("word ", 200_000),
	"front matter":     "---\na: [b,\n" + strings.Repeat("c,\n", 15_000) + "]\n---\n",
	"scalar goes on":   "---\na: b\n" + strings.Repeat(" c\n", 15_000) + "---\n",
	"unclosed strings": strings.Repeat(`{"a":"`, 40_000) + "}",
}

func TestSlowTextsHaveShortPreviews(t *testing.T) {
	t.Parallel()
	for name, src := range slowTexts {
		preview, title := Preview([]byte(src), 500), Title([]byte(src))
		if len([]rune(preview)) > 500 || len([]rune(title)) > maxTitleRunes {
			t.Errorf("%s: preview %q and title %q are too long", name, preview, title)
		}
	}
}

func FuzzOutline(f *testing.F) {
	for _, test := range outlineTexts {
		f.Add([]byte(test.text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		sections := Outline(src)
		checkSections(t, src, sections)
		streamed, _, err := OutlineReader(&pieceReader{src, 5})
		if diff := cmp.Diff(sections, streamed); diff != "" || err != nil {
			t.Errorf("OutlineReader(%q): error %v, -Outline +got\n%s", src, err, diff)
		}
	})
}

// checkSections checks what holds for the sections of any text.
func checkSections(t *testing.T, src []byte, sections []Section) {
	t.Helper()
	lines := bytes.Count(src, []byte("\n"))
	if !bytes.HasSuffix(src, []byte("\n")) && len(src) > 0 {
		lines++
	}
	for i, s := range sections {
		end, endLine := len(src), lines
		for _, next := range sections[i+1:] {
			if next.Level <= s.Level {
				end, endLine = next.Start, next.Line-1
				break
			}
		}
		want := s
		want.End, want.EndLine, want.Next = end, endLine, len(src)
		if i+1 < len(sections) {
			want.Next = sections[i+1].Start
		}
		want.Line = bytes.Count(src[:s.Start], []byte("\n")) + 1
		if s != want || s.Body <= s.Start || s.Body > s.Next || s.Level < 1 || s.Level > 6 || i > 0 && s.Start <= sections[i-1].Start {
			t.Fatalf("Outline(%q): section %d is %+v, want %+v", src, i, s, want)
		}
	}
}

func BenchmarkOutline(b *testing.B) {
	src := benchmarkText()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if got := Outline(src); len(got) != 640 {
			b.Fatalf("got %d sections, want 640", len(got))
		}
	}
}

func BenchmarkOutlineReader(b *testing.B) {
	src := benchmarkText()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if got, _, err := OutlineReader(bytes.NewReader(src)); len(got) != 640 || err != nil {
			b.Fatalf("got %d sections and error %v, want 640", len(got), err)
		}
	}
}

// benchmarkText is about 1 MB of Markdown as agents write it: a heading for
// every 1.3 KB of paragraphs, lists, a table and code.
func benchmarkText() []byte {
	const part = `## Findings of the review

The limiter keeps one bucket for each tenant, and the clock that refills it is
the one of the process, so two replicas drift apart by as much as their start
times differ. Under the load of the last incident this let through 4 % more
requests than configured.

- The bucket is locked for the whole of the request, not for the decision.
- Tests use the real clock; three of them fail when the machine is busy.
  They were marked as slow instead of being mended.
1. Take the time once.
2. Decide.

| Replica | Requests | Let through |
|---------|----------|-------------|
| a       | 10,000   | 1,012       |
| b       | 10,000   | 1,044       |

` + "```go\n// take reports whether n tokens are there.\nfunc (b *bucket) take(n int, now time.Time) bool {\n\tb.refill(now)\n\treturn b.tokens >= n\n}\n```\n\n"
	prose := strings.Repeat("A paragraph that says what was seen and what it means for the plan, in\nseveral lines of the usual length, some of them with `code` and **marks**.\n\n", 4)
	return []byte(strings.Repeat(part+prose, 640))
}
