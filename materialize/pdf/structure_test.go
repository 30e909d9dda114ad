package pdf_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/pdf"
)

func TestNumbering(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, source string
		want         []string
	}{
		{"levels", "# A\n# B\n## C\n### D\n## E\n# F", []string{"1  A", "2  B", "-2.1  C", "--2.1.1  D", "-2.2  E", "3  F"}},
		{"from the second level", "# T\n\n## A\n### B\n## C", []string{"1  A", "-1.1  B", "2  C"}},
		{"without a number", "# T\n\n## Abstract\n## A\n## References\n### Web\n## Appendix\n## BIBLIOGRAPHY:", []string{
			"Abstract", "1  A", "References", "-Web", "2  Appendix", "BIBLIOGRAPHY:",
		}},
		{"skipped levels", "# T\n\n## A\n#### B\n### C", []string{"1  A", "-1.1  B", "-1.2  C"}},
		{"rising levels", "# T\n\n### A\n## B\n# C", []string{"1  A", "2  B", "3  C"}},
		{"own numbers", "# T\n\n## 1. A\n### 1.1 B\n### 1.2. C\n## 2) D\n## 7. References", []string{
			"1  A", "-1.1  B", "-1.2  C", "2  D", "References",
		}},
		{"numbers that are words", "# T\n\n## 2024 in review\n### 3.5 million users\n## 3 ways", []string{
			"1  2024 in review", "-1.1  3.5 million users", "2  3 ways",
		}},
		{"setext", "T\n=\n\nA\n-\n\nB\n-", []string{"1  A", "2  B"}},
		{"inline", "# T\n\n## `a` *b* [c](d) 🚀\n", []string{"1  a b c □"}},
		{"in quotes and lists", "# T\n\n> ## no\n\n- ## no\n\n## A", []string{"1  A"}},
		{"empty", "# T\n\n##\n\n## A", []string{"1  ", "2  A"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, _ := render(t, test.source, pdf.Options{Title: "T"})
			var got []string
			for _, item := range f.titles {
				got = append(got, strings.Repeat("-", item.level-1)+item.title)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outline of %q (-want +got):\n%s", test.source, diff)
			}
			for _, item := range f.titles {
				if !strings.Contains(words(f.text(item.page)), words(item.title)) {
					t.Errorf("%q is not on page %d", item.title, item.page)
				}
			}
		})
	}
}

// TestContents compares the numbers of the table of contents with the pages, and
// follows its links.
func TestContents(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	source.WriteString("# T\n\n")
	for i := range 30 {
		fmt.Fprintf(&source, "## Part %c\n\n%s\n\n### Detail %c\n\n", 'A'+i, strings.Repeat("word ", 700), 'A'+i)
	}
	f, _ := render(t, source.String(), pdf.Options{})
	text := f.text(1) + f.text(2)
	if !strings.Contains(text, "Contents") {
		t.Fatalf("no table of contents in %.200q", text)
	}
	pages := map[string]int{}
	for _, item := range f.titles {
		pages[words(item.title)] = item.page
	}
	numbers := map[string]int{}
	contents := regexp.MustCompile(`^(\d[\d.]* (?:Part|Detail) .) ?\(?`)
	var lefts []run
	for _, p := range f.pages[:2] {
		for _, r := range p.runs {
			if contents.MatchString(r.text) {
				lefts = append(lefts, r)
			}
		}
		for _, r := range p.runs {
			n, err := strconv.Atoi(r.text)
			for _, left := range lefts {
				if err == nil && left.y == r.y && r.x > 400 && numbers[left.text] == 0 {
					numbers[left.text] = n
				}
			}
		}
		lefts = nil
	}
	if diff := cmp.Diff(pages, numbers); diff != "" {
		t.Errorf("pages (-outline +contents):\n%s", diff)
	}
	inside := 0
	for _, l := range append(f.pages[0].links, f.pages[1].links...) {
		if l.page > 0 {
			inside++
		}
	}
	if inside < 60 {
		t.Errorf("%d links in the table of contents, want 60", inside)
	}
}

func TestNoContents(t *testing.T) {
	t.Parallel()
	f, _ := render(t, "# T\n\n## A\n\n## B\n", pdf.Options{})
	if text := f.text(0); strings.Contains(text, "Contents") {
		t.Errorf("two headings have a table of contents: %q", text)
	}
}

// linked returns the texts of a page that links lie on, with the text that each
// leads to.
func linked(f *readFile) map[string]string {
	all := map[string]string{}
	for _, p := range f.pages {
		for _, l := range p.links {
			from := ""
			for _, r := range p.runs {
				if r.x >= l.x0-1 && r.x <= l.x0+1 && r.y >= l.y0-16 && r.y <= l.y0+1 {
					from = r.text
				}
			}
			if l.page == 0 {
				all[strings.TrimSpace(from)] = l.uri
				continue
			}
			to := ""
			for _, r := range f.pages[l.page-1].runs {
				if to == "" && r.y < l.y && r.y > l.y-20 {
					to = r.text
				}
			}
			all[strings.TrimSpace(from)] = strings.TrimSpace(to)
		}
	}
	return all
}

func TestLinks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, source string
		want         map[string]string // from text to address, or to the first text there
	}{
		{"addresses", "[a](https://example.org/x?y=(1)) <mailto:b@example.org> https://example.com/x [d](https://example.org/ü)", map[string]string{
			"a": `https://example.org/x?y=\(1\)`, "mailto:b@example.org": "mailto:b@example.org",
			"https://example.com/x": "https://example.com/x",
			"d":                     "https://example.org/%C3%BC",
		}},
		{"not opened", "[a](javascript:alert(1)) [b](other.md) [c](file:///etc/passwd) [d](#nowhere)", map[string]string{}},
		{"headings", "[to](#second-part)\n\n## First\n\n## Second Part\n", map[string]string{"to": "2\u00A0\u00A0Second Part"}},
		{"citations", "a [1] b [2, 3] `[1]` [4]\n\n## References\n\n[1] one\n\n[2] two\n[3] three\n", map[string]string{
			"1": "[1]", "2": "[2]", "3": "[3]",
		}},
		{"range", "a [1–3]\n\n## Bibliography\n\n1. one\n2. two\n3. three\n", map[string]string{"1": "1.", "3": "3."}},
		{"items", "a [2]\n\n## References\n\n- [1] one\n- [2] two\n", map[string]string{"2": "[2]"}},
		{"definitions", "a [2]\n\n## References\n\n[1]: https://example.org/1\n[2]: https://example.org/2\n", map[string]string{
			"2": "[2]", "https://example.org/1": "https://example.org/1", "https://example.org/2": "https://example.org/2",
		}},
		{"bold entries", "a [1]\n\n## 3. References\n\n**[1]** one\n", map[string]string{"1": "[1]"}},
		{"without a list", "a [1]\n", map[string]string{}},
		{"code", "```\n[1]\n```\n\n## References\n\n[1] one\n", map[string]string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, _ := render(t, test.source, pdf.Options{Title: "T"})
			if diff := cmp.Diff(test.want, linked(f)); diff != "" {
				t.Errorf("links of %q (-want +got):\n%s", test.source, diff)
			}
		})
	}
}

// TestSeveralLists joins two documents, each with its own references.
func TestSeveralLists(t *testing.T) {
	t.Parallel()
	part := "# Part %[1]s\n\ncites [1]\n\n" + strings.Repeat("word ", 900) + "\n\n## References\n\n[1] entry %[1]s\n\n"
	f, _ := render(t, fmt.Sprintf(part, "A")+fmt.Sprintf(part, "B"), pdf.Options{Title: "T"})
	var leads []string
	for _, p := range f.pages {
		for _, l := range p.links {
			for _, r := range f.pages[l.page-1].runs {
				if r.y < l.y && r.y > l.y-20 && strings.HasPrefix(r.text, "entry") {
					leads = append(leads, r.text)
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"entry A", "entry B"}, leads); diff != "" {
		t.Errorf("citations lead to (-want +got):\n%s", diff)
	}
}

func TestFootnotes(t *testing.T) {
	t.Parallel()
	f, _ := render(t, "a[^x] b[^y] c[^x]\n\n[^x]: first\n[^y]: second\n", pdf.Options{})
	if got, want := words(f.text(0)), "a 1 b 2 c 1 1 first 2 second 1 / 1"; got != want {
		t.Errorf("footnotes show %q, want %q", got, want)
	}
	if n := len(f.pages[0].links); n != 5 {
		t.Errorf("%d links, want three to the notes and two back", n)
	}
}

// TestTables lays out tables of every kind within the page.
func TestTables(t *testing.T) {
	t.Parallel()
	row := func(n int, text string) string { return "|" + strings.Repeat(text+"|", n) + "\n" }
	tests := []struct{ name, source string }{
		{"wide", row(3, "h") + row(3, "-") + row(3, strings.Repeat("word ", 60))},
		{"long words", row(4, "h") + row(4, "-") + row(4, strings.Repeat("x", 200))},
		{"many columns", row(30, "head") + row(30, "-") + row(30, "cell text")},
		{"address", row(2, "h") + row(2, "-") + "|a|https://example.org/" + strings.Repeat("path/", 60) + "|\n"},
		{"in a list", "- x\n\n  " + strings.ReplaceAll(row(3, "h")+row(3, "-")+row(3, "some text here"), "\n", "\n  ")},
		{"empty", row(2, "") + row(2, "-") + row(2, "")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, report := render(t, test.source, pdf.Options{})
			f.checkFrame()
			if len(report.Warnings) > 0 {
				t.Errorf("warnings: %q", report.Warnings)
			}
		})
	}
}

func TestTableAlignment(t *testing.T) {
	t.Parallel()
	f, _ := render(t, "|Left heading|Right heading|Middle heading|\n|:--|--:|:-:|\n|a|b|c|\n", pdf.Options{})
	at := map[string]run{}
	for _, r := range f.pages[0].runs {
		at[strings.TrimSpace(r.text)] = r
	}
	left, right, middle := at["Left heading"], at["Right heading"], at["Middle heading"]
	if got := at["a"].x - left.x; got < -0.1 || got > 0.1 {
		t.Errorf("a left cell begins %.1f from its head", got)
	}
	if got := at["b"].x + at["b"].width - right.x - right.width; got < -0.1 || got > 0.1 {
		t.Errorf("a right cell ends %.1f from its head", got)
	}
	if got := at["c"].x + at["c"].width/2 - middle.x - middle.width/2; got < -0.1 || got > 0.1 {
		t.Errorf("a middle cell stands %.1f from its head", got)
	}
}

func TestTableHeaderOnEachPage(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	source.WriteString("|Heading one|Heading two|\n|-|-|\n")
	for i := range 200 {
		fmt.Fprintf(&source, "|row %d|text|\n", i)
	}
	f, _ := render(t, source.String(), pdf.Options{})
	if len(f.pages) < 4 {
		t.Fatalf("200 rows on %d pages", len(f.pages))
	}
	for n := range f.pages {
		if text := words(f.text(n + 1)); !strings.HasPrefix(text, "Heading one Heading two row ") {
			t.Errorf("page %d begins with %.40q", n+1, text)
		}
	}
	all := words(f.text(0))
	for i := range 200 {
		if strings.Count(all, fmt.Sprintf("row %d text", i)) != 1 {
			t.Errorf("row %d is there %d times", i, strings.Count(all, fmt.Sprintf("row %d text", i)))
		}
	}
}
