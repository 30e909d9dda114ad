package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/pdf"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	m.Run()
}

// TestText renders small sources and looks for texts in the order of the page.
func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, source, want string
	}{
		{"paragraph", "one *two* **three** ***four*** ~~five~~ `six`.", "one two three four five six."},
		{"entities", `&amp; &lt;b&gt; &#65; \*x\* a\_b`, "& <b> A *x* a_b"},
		{"soft and hard breaks", "a\nb  \nc<br>d", "a b c d"},
		{"html", "<div>\n<p>in <b>html</b></p>\n<script>bad()</script>\n</div>\n\nx<!-- no --><sup>2</sup>", "in html x 2"},
		{"comment", "a\n\n<!-- hidden\n\nhidden -->\n\nb", "a b"},
		{"bullets", "- a\n  - b\n    - c\n- d", "• a – b ▪ c • d"},
		{"numbers", "7. a\n8. b", "7. a 8. b"},
		{"brackets", "3) a\n4) b", "3) a 4) b"},
		{"tasks", "- [ ] a\n- [x] b", "☐ a ☑ b"},
		{"quote", "> a\n>\n> > b", "a b"},
		{"code", "```go\nfunc f() {\n\treturn\n}\n```", "func f() { return }"},
		{"indented code", "    a  b\n\n    c", "a b c"},
		{"table", "| A | B |\n|---|--:|\n| a\\|b | `x` |\n| c |", "A B a|b x c"},
		{"footnote", "a[^x]\n\n[^x]: note", "a 1 1 note"},
		{"link", "[text](https://example.org) <https://example.com>", "text https://example.com"},
		{"image without a folder", "![the chart](x.png)", "the chart"},
		{"emoji", "🚀 👍 ✅ ❌ 🫠 ⭐ 𝐀𝑏 🇩🇪", "□ □ ✓ ✗ □ ★ Ab DE"},
		{"joined emoji", "a👩‍💻b ❤️", "a□□b ❤"},
		{"controls", "a\x00b\x07c\u200bd\ufeffe\u00adf", "abcdef"},
		{"invalid UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"carriage returns", "a\r\n\r\nb\rc", "a b c"},
		{"no glyph", "日本", "□□"},
		{"scripts", "Ελλάδα Кириллица → ∑ ½", "Ελλάδα Кириллица → ∑ ½"},
		{"line ends in UTF-16", "\u0A0D \u010A \u0D28", "□ Ċ □"},
		{"brackets in strings", `a (b) \\ (c`, `a (b) \ (c`},
		{"empty", "", ""},
		{"only marks", "***\n\n---\n\n#\n\n>\n\n-", "1 •"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, _ := render(t, test.source, pdf.Options{})
			got := strings.TrimSpace(strings.TrimSuffix(words(f.text(0)), "1 / 1"))
			if got != test.want {
				t.Errorf("%q shows\n%q, want\n%q", test.source, got, test.want)
			}
			f.checkFrame()
		})
	}
}

func TestTitleBlock(t *testing.T) {
	t.Parallel()
	matter := "---\ntitle: \"Front: Matter\"\nauthors:\n  - name: Ada\n  - Bob\ndate: 2026-03-02\n---\n"
	tests := []struct {
		name, source string
		o            pdf.Options
		title, want  string
	}{
		{"front matter", matter + "text", pdf.Options{}, "Front: Matter", "Front: Matter Ada, Bob 2 March 2026 text"},
		{"options win", matter + "text", pdf.Options{
			Title: "T", Authors: []string{"Cleo"}, Date: time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC),
		}, "T", "T Cleo 31 January 2025 text"},
		{"TOML", "+++\ntitle = 'A'\nauthor = \"B\"\n+++\ntext", pdf.Options{}, "A", "A B text"},
		{"list of authors", "---\nauthors: [A B, 'C']\n---\ntext", pdf.Options{}, "", "A B, C text"},
		{"a date of words", "---\ndate: Spring 2026\n---\nx", pdf.Options{}, "", "Spring 2026 x"},
		{"first heading", "# The *Title*\n\ntext", pdf.Options{}, "The Title", "The Title text"},
		{"heading equals title", "# the title\n\ntext", pdf.Options{Title: "The Title"}, "The Title", "The Title text"},
		{"another heading", "# Other\n\ntext", pdf.Options{Title: "T"}, "T", "T 1 Other text"},
		{"heading later", "text\n\n# Later", pdf.Options{}, "Later", "Later text 1 Later"},
		{"comment before", "<!-- x -->\n\n# Title\n\ntext", pdf.Options{}, "Title", "Title text"},
		{"second level alone", "## Title\n\n### Part", pdf.Options{}, "Title", "Title 1 Part"},
		{"second level among others", "## One\n\n## Two", pdf.Options{}, "One", "One 1 One 2 Two"},
		{"fallback", "text", pdf.Options{Fallback: "draft"}, "draft", "draft text"},
		{"a rule is no front matter", "---\n\ntext\n\n---\n\nmore", pdf.Options{}, "", "text more"},
		{"unclosed front matter", "---\ntitle: x\n\ntext", pdf.Options{}, "", "title: x text"},
		{"byte order mark", "\uFEFF---\ntitle: B\n---\nx", pdf.Options{}, "B", "B x"},
		{"emoji in the title", "# 🚀 Launch", pdf.Options{}, "🚀 Launch", "□ Launch"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, report := render(t, test.source, test.o)
			got := strings.TrimSpace(strings.TrimSuffix(words(f.text(0)), "1 / 1"))
			if got != test.want || report.Title != test.title {
				t.Errorf("%q shows\n%q with title %q, want\n%q with %q", test.source, got, report.Title, test.want, test.title)
			}
		})
	}
}

// TestSameBytes renders a source with everything in it several times: the order of
// maps must not show.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	source := everything + "\n\n\u00A0 \u2126\u03A9 \u00B5\u03BC \u2010 \u0394\u2206\n"
	var first []byte
	for i := range 12 {
		var out bytes.Buffer
		if _, err := pdf.Render(&out, []byte(source), pdf.Options{Image: testImage}); err != nil {
			t.Fatalf("Render: %v", err)
		}
		if i == 0 {
			first = out.Bytes()
		} else if !bytes.Equal(first, out.Bytes()) {
			t.Fatalf("rendering %d gives other bytes: %d and %d of them", i, len(first), out.Len())
		}
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	f, _ := render(t, "---\ntitle: Ünï (x)\nauthor: Ada\n---\nx", pdf.Options{Date: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)})
	info := f.dict(len(f.objects) - 1)
	if !strings.Contains(info, "/CreationDate (D:20260302000000)") || !strings.Contains(info, "/ModDate (D:20260302000000)") {
		t.Errorf("the document was made at another time: %s", info)
	}
	title := info[strings.Index(info, "/Title ")+len("/Title ") : strings.Index(info, "\n/Author")]
	if got := decode(title); got != "Ünï (x)" {
		t.Errorf("the title is %q", got)
	}
}

// TestFonts makes sure that all faces are embedded, and only as subsets.
func TestFonts(t *testing.T) {
	t.Parallel()
	f, _ := render(t, "a *b* **c** ***d*** `e` **`f`**", pdf.Options{})
	if len(f.fonts) != 6 {
		t.Errorf("%d fonts, want 6", len(f.fonts))
	}
	for _, font := range f.fonts {
		if font.glyphs == 0 || font.glyphs > 100 {
			t.Errorf("%.60q has %d glyphs, want a subset", font.name, font.glyphs)
		}
	}
	if len(f.data) > 250_000 {
		t.Errorf("six letters make %d bytes", len(f.data))
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		source []byte
		want   error
	}{
		{"source", bytes.Repeat([]byte("a"), pdf.MaxSource+1), pdf.ErrTooLarge},
		{"pages", bytes.Repeat([]byte("![](tall.png)\n\n"), 10_001), pdf.ErrTooLarge},
	} {
		var out bytes.Buffer
		_, err := pdf.Render(&out, test.source, pdf.Options{Image: testImage})
		if !errors.Is(err, test.want) || out.Len() > 0 {
			t.Errorf("%s: error %v and %d bytes, want %v and none", test.name, err, out.Len(), test.want)
		}
	}
}

// TestPages lets long blocks run over many pages.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, source string
		pages        int // at least
		last         string
	}{
		{"paragraphs", strings.Repeat("word word word.\n\n", 300) + "the end", 8, "the end"},
		{"one paragraph", strings.Repeat("word ", 9000) + "the end", 8, "the end"},
		{"one word", strings.Repeat("x", 30_000) + "end", 4, "end"},
		{"code", "```\n" + strings.Repeat("line\n", 500) + "the end\n```", 7, "the end"},
		{"list", strings.Repeat("- item\n", 400) + "- the end", 7, "the end"},
		{"quote", strings.Repeat("> quote\n>\n", 300) + "> the end", 8, "the end"},
		{"row higher than a page", "|a|b|\n|-|-|\n|x|" + strings.Repeat("word ", 12_000) + "the end|", 5, "the end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, _ := render(t, test.source, pdf.Options{})
			n := len(f.pages)
			if n < test.pages {
				t.Errorf("%d pages, want at least %d", n, test.pages)
			}
			want := fmt.Sprintf("%s %d / %d", test.last, n, n)
			if got := words(f.text(n)); !strings.HasSuffix(got, want) {
				t.Errorf("the last page ends with %q, want %q", got[max(0, len(got)-60):], want)
			}
			f.checkFrame()
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	source := "![a](http://example.org/x.png) ![b](data:image/png;base64,xx) ![c](gone.png) ![d](broken.png) ![e](x.svg) 日🚀 [9]\n\n" +
		"## References\n\n[1] x\n"
	_, report := render(t, source, pdf.Options{Image: testImage})
	want := []string{
		"citation [9] has no entry in the list of references",
		"image http://example.org/x.png is shown as its text: it is not a file; nothing is fetched",
		"image data:image/png;base64,xx is shown as its text: it is not a file; nothing is fetched",
		"image gone.png is shown as its text: no such image",
		"image broken.png is shown as its text: it is no PNG, JPEG or GIF",
		"image x.svg is shown as its text: it is no PNG, JPEG or GIF",
		"no font has 2 of the characters, shown as boxes: U+65E5 U+1F680; --font FILE.ttf takes one that does",
	}
	if diff := cmp.Diff(want, report.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	var many strings.Builder
	for i := range 50 {
		fmt.Fprintf(&many, "![x](%d.png)\n\n", i)
	}
	_, report = render(t, many.String(), pdf.Options{Image: testImage})
	if n := len(report.Warnings); n != 21 || report.Warnings[20] != "30 more warnings" {
		t.Errorf("50 missing images give %d warnings: %q", n, report.Warnings)
	}
}
