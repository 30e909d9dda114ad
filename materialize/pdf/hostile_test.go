package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"filebus/materialize/pdf"
)

// TestHostile renders sources that are made to be slow to parse or to lay out. A
// missing limit lets the test run for minutes.
func TestHostile(t *testing.T) {
	t.Parallel()
	lines := func(n int, line func(i int) string) string {
		var out strings.Builder
		for i := range n {
			out.WriteString(line(i))
		}
		return out.String()
	}
	tests := []struct {
		name, source string
		warning      string
	}{
		{"quotes", strings.Repeat("> ", 10_000) + "x", ""},
		{"deeper and deeper quotes", lines(300, func(i int) string { return strings.Repeat("> ", i) + "x\n" }), ""},
		{"lists in a line", strings.Repeat("- ", 12_000) + "x", ""},
		{"numbered lists in a line", strings.Repeat("1. ", 12_000) + "x", ""},
		{"nested lists", lines(12_000, func(i int) string { return strings.Repeat("  ", i%150) + "- a\n" }), ""},
		{"quotes and lists", lines(200, func(i int) string { return strings.Repeat("> 1. ", i) + "x\n" }), ""},
		{"links", strings.Repeat("[a](", 10_000), "a block of 40000 bytes with 30000 marks is shown as it stands"},
		{"links over lines", strings.Repeat("[a](\n", 60_000), "a block of"},
		{"links in a heading", "# " + strings.Repeat("[a](", 20_000), "a block of"},
		{"links over a line", strings.Repeat("[a](", 20_000) + "\n===\n", "a block of"},
		{"emphasis", strings.Repeat("*a **b ", 50_000), "a block of"},
		{"backticks", strings.Repeat("`", 25_000), ""},
		{"growing backticks", lines(500, func(i int) string { return strings.Repeat("`", i) + "a " }), "a block of"},
		{"tags", strings.Repeat("<a ", 200_000), "a block of"},
		{"comments", strings.Repeat("<!-- ", 50_000), ""},
		{"table", strings.Repeat("a|", 2000) + "\n" + strings.Repeat("-|", 2000) + "\n" + strings.Repeat("b\n", 2000),
			"a table of 2002 rows and 2000 columns is shown as it stands"},
		{"long table", strings.Repeat("a|", 30) + "\n" + strings.Repeat("-|", 30) + "\n" + strings.Repeat("b\n", 20_000),
			"a table of 20002 rows and 30 columns is shown as it stands"},
		{"footnotes", lines(2_100, func(i int) string { return fmt.Sprintf("x[^%d]\n\n[^%d]: y\n\n", i, i) }),
			"more than 2000 footnotes: they are shown as they stand"},
		{"lines", strings.Repeat("a\n", 410_000), "more than 400000 lines: the source is shown as it stands"},
		{"headings", strings.Repeat("# same\n", 1_000), ""},
		{"zero bytes", strings.Repeat("\x00\xff", 12_000), ""},
		{"escapes", strings.Repeat(`\[`, 100_000), "a block of"},
		{"citations", strings.Repeat("[1] ", 1_000) + "\n\n# References\n\n" + strings.Repeat("[1] x\n", 1_000), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			report, err := pdf.Render(&out, []byte(test.source), pdf.Options{})
			if err != nil || report.Pages == 0 {
				t.Fatalf("%.20q… of %d bytes: %d pages, %v", test.source, len(test.source), report.Pages, err)
			}
			got := strings.Join(report.Warnings, "\n")
			if !strings.HasPrefix(got, test.warning) || test.warning == "" && got != "" {
				t.Errorf("%.20q… of %d bytes: warnings %q, want %q", test.source, len(test.source), got, test.warning)
			}
		})
	}
}

// TestShownAsItStands makes sure that a block that is not parsed loses nothing, and
// that what surrounds it is.
func TestShownAsItStands(t *testing.T) {
	t.Parallel()
	f, _ := render(t, "*before*\n\n"+strings.Repeat("[a](", 8_000)+"the end\n\n*after*", pdf.Options{})
	text := words(f.text(0))
	if n := strings.Count(strings.ReplaceAll(text, " ", ""), "[a]("); n < 7_900 || !strings.HasPrefix(text, "before") || !strings.Contains(text, "theend after") && !strings.Contains(text, "the end after") {
		t.Errorf("%d of 8000 marks, from %.30q to %.60q", n, text, text[len(text)-60:])
	}
}

func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		everything, "# a\n\n[1]\n\n## References\n[1] x", "|a|\n|-|\n|b|", "> - 1. `x`", "---\ntitle: x\n---\n", "a[^1]\n\n[^1]: b",
		"```\n\t\x00🚀\n```", "<div>\n<b>x", "![a](b)", "\U000E0001\uFFFF\uFFFE\uD7FF", "a\u0301\u200d日本語、。",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		if len(source) > 4096 {
			return // long inputs are slow, and find no more
		}
		var out bytes.Buffer
		report, err := pdf.Render(&out, source, pdf.Options{Image: testImage})
		if err != nil {
			t.Fatalf("Render(%q): %v", source, err)
		}
		readPDF(t, out.Bytes()).checkFrame()
		if report.Pages == 0 {
			t.Errorf("Render(%q): no page", source)
		}
	})
}

// BenchmarkRender renders about a hundred pages.
func BenchmarkRender(b *testing.B) {
	source := []byte("# A long paper\n\n")
	for i := range 115 {
		source = fmt.Appendf(source, "## Section %d\n\n%s\n\n- item [1]\n- item `code`\n\n|a|b|\n|-|-|\n|x|y|\n\n", i, strings.Repeat("Some *words* of a paper that goes on [2]. ", 60))
	}
	source = append(source, "## References\n\n[1] one\n[2] two\n"...)
	pages := 0
	for b.Loop() {
		var out bytes.Buffer
		report, err := pdf.Render(&out, source, pdf.Options{})
		if err != nil {
			b.Fatal(err)
		}
		pages = report.Pages
	}
	b.ReportMetric(float64(pages), "pages")
}

// everything is a source with every kind of block.
const everything = `---
title: Everything
authors: [Ada, Bob]
date: 2026-03-02
---
# Everything

## Abstract

A paragraph with *italic*, **bold**, ***both***, ~~struck~~, ` + "`code`" + ` and a [link](https://example.org) [1, 2].
Another[^n] line with 🚀 and 日本, see [the table](#table).

## Lists

- one
  1. two
     - [x] three

> A quote
>
> > in a quote

## Table

| A | B |
|:--|--:|
| *a* | [2] |

` + "```go\nfunc main() {}\n```" + `

![one](test.png) ![two](test1.png "Title") ![three](test2.png) ![four](clear.png) ![five](test.jpg) ![six](gone.png)

***

<details><summary>More</summary>text</details>

## References

[1] One. https://example.org/1
[2] Two.

[^n]: A note.
`
