package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// name returns the word that the tests use for a kind of line.
func (k lineKind) name() string {
	return [...]string{"blank", "text", "heading", "underline", "rule", "fence", "code", "html"}[k]
}

func TestBlockScanner(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		text string
		want []string // of each line: kind, what it stands in, "+" where a paragraph begins, "d" for a delimiter row
	}{
		{"paragraphs", "a\nb\n\nc", []string{"text +", "text", "blank", "text +"}},
		{"indented text", "a\n      b\n\n      c", []string{"text +", "text", "blank", "code"}},
		{"heading ends a paragraph", "a\n# b\nc", []string{"text +", "heading 1", "text +"}},
		{"setext", "a\nb\n---\nc", []string{"text +", "text", "underline 2", "text +"}},
		{"rule", "***\n_ _ _\n---", []string{"rule", "rule", "rule"}},
		{"fence", "```go\na\n\n```\nb", []string{"fence", "code", "code", "fence", "text +"}},
		{"quote", "> a\nb\n\nc", []string{"text > +", "text >", "blank", "text +"}},
		{"quote of a heading", "> # a\n> b", []string{"heading 1 >", "text > +"}},
		{"list", "- a\n  b\nc\n- d\n\n  e\nf", []string{"text - +", "text -", "text -", "text - +", "blank -", "text - +", "text -"}},
		{"list left", "- a\n\nb", []string{"text - +", "blank -", "text +"}},
		{"fence in a list", "1. ```\n   a\n   ```\n2. b", []string{"fence -", "code -", "fence -", "text - +"}},
		{"html in a quote", "> <!-- a\n> b -->\nc", []string{"html >", "html >", "text +"}},
		{"tag in a paragraph", "- a\n<b>\n\n<b>", []string{"text - +", "text -", "blank -", "html"}},
		{"table", "| a |\n|---|\n| b |\n\n|---|", []string{"text +", "text d", "text", "blank", "text +"}},
		{"table after text", "a\n| b |\n|---|\n|---|", []string{"text +", "text", "text d", "text"}},
		{"no table", "a b\n--- | ---\n", []string{"text +", "text"}},
		{"references", "[a]: b\n[c]: d 'e'\nf", []string{"text +", "text", "text +"}},
		{"no reference", "[a]: b c\n[d]: e", []string{"text +", "text"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, describeLines(test.text)); diff != "" {
				t.Errorf("lines of %q: -want +got\n%s", test.text, diff)
			}
		})
	}
}

func describeLines(text string) []string {
	var b blockScanner
	var out []string
	for line := range strings.Lines(text) {
		info := b.next([]byte(strings.TrimSuffix(line, "\n")))
		word := info.kind.name()
		if info.level > 0 {
			word += fmt.Sprint(" ", info.level)
		}
		if info.outer != 0 {
			word += " " + string(info.outer)
		}
		if info.opens {
			word += " +"
		}
		if info.delim {
			word += " d"
		}
		out = append(out, word)
	}
	return out
}

func TestBlockScannerKeepsItsDepth(t *testing.T) {
	t.Parallel()
	var b blockScanner
	for _, line := range []string{strings.Repeat("> ", 1000) + "a", strings.Repeat("- ", 1000) + "a", strings.Repeat(">", 1000)} {
		b.next([]byte(line))
		if len(b.open) != maxDepth {
			t.Errorf("%.20q... opens %d containers, want %d", line, len(b.open), maxDepth)
		}
	}
}

func TestMarkerSize(t *testing.T) {
	t.Parallel()
	tests := map[string]int{
		"": 0, "-": 1, "- a": 1, "-\ta": 1, "-a": 0, "* a": 1, "+ a": 1, "_ a": 0,
		"1. a": 2, "1) a": 2, "12.": 3, "1.a": 0, "1": 0, ". a": 0, "1: a": 0,
		"123456789. a": 10, "1234567890. a": 0,
	}
	for text, want := range tests {
		if got := markerSize([]byte(text)); got != want {
			t.Errorf("markerSize(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestLineCursor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line        string
		skip        int
		width, rest int // what indent returns afterwards
	}{
		{"   a", 0, 3, 3},
		{"   a", 2, 1, 3},
		{"\ta", 0, 4, 1},
		{"\ta", 1, 3, 1},
		{"\ta", 4, 0, 1},
		{" \ta", 2, 2, 2},
		{"\t\ta", 6, 2, 2},
		{"  ", 5, 0, 2},
	}
	for _, test := range tests {
		c := lineCursor{line: []byte(test.line)}
		c.skip(test.skip)
		if width, rest := c.indent(); width != test.width || rest != test.rest {
			t.Errorf("%q after %d columns: indent() = %d, %d; want %d, %d", test.line, test.skip, width, rest, test.width, test.rest)
		}
	}
}

func TestDelimiterRows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text    string
		isRow   bool
		columns int
	}{
		{"|---|", true, 1},
		{"|---|:-:|", true, 2},
		{"--- | ---", true, 2},
		{":--", true, 1},
		{"---", false, 1},
		{"| a |", false, 1},
		{"| a | b", false, 2},
		{`a \| b | c`, false, 2},
		{`| a \|`, false, 1},
		{"||", false, 1},
		{"|", false, 1},
		{"|:|", false, 1},
	}
	for _, test := range tests {
		if got := isDelimiterRow([]byte(test.text)); got != test.isRow {
			t.Errorf("isDelimiterRow(%q) = %v, want %v", test.text, got, test.isRow)
		}
		if got := columns([]byte(test.text)); got != test.columns {
			t.Errorf("columns(%q) = %d, want %d", test.text, got, test.columns)
		}
	}
}

func TestIsReference(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"[a]: b":                true,
		"[a b]: <b> \"c d\"":    true,
		"[a]: b (c)":            true,
		"[a]: b c":              false,
		"[a]:":                  false,
		"[]: b":                 false,
		"[ ]: b":                false,
		"[a][b]: c":             false,
		"a]: b":                 false,
		"[RESOLVED T01: taken]": false,
	}
	for text, want := range tests {
		if got := isReference([]byte(text)); got != want {
			t.Errorf("isReference(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestHTMLStart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text        string
		inParagraph bool
		end         string
		ok          bool
	}{
		{"<!-- a", true, "-->", true},
		{"<?php", true, "?>", true},
		{"<!DOCTYPE html>", true, ">", true},
		{"<![CDATA[", true, "]]>", true},
		{"<!", true, ">", false},
		{"<!1", true, ">", false},
		{"<pre>", true, "</pre>", true},
		{"<PRE class=a>", true, "</pre>", true},
		{"<prefix", true, "", false},
		{"</pre>", true, "</pre>", false},
		{"<div", true, "", true},
		{"<div/>", true, "", true},
		{"</div>", true, "", true},
		{"<division>", true, "", false},
		{"<division>", false, "", true},
		{"<a href=\"b>c\">  ", false, "", true},
		{"<a href='b>", false, "", false},
		{"<a href=b> c", false, "", false},
		{"<a `b`>", false, "", false},
		{"</a >", false, "", true},
		{"</a b>", false, "", false},
		{"<a/>", false, "", true},
		{"<https://example.com>", false, "", false},
		{"<", false, "", false},
		{"<>", false, "", false},
		{"< a>", false, "", false},
	}
	for _, test := range tests {
		if end, ok := htmlStart([]byte(test.text), test.inParagraph); ok != test.ok || ok && end != test.end {
			t.Errorf("htmlStart(%q, %v) = %q, %v; want %q, %v", test.text, test.inParagraph, end, ok, test.end, test.ok)
		}
	}
}

func TestContainsFold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, want string
		found      bool
	}{
		{"a </PRE> b", "</pre>", true},
		{"</pr</pre>", "</pre>", true},
		{"</pre", "</pre>", false},
		{"", "-->", false},
		{"--->", "-->", true},
	}
	for _, test := range tests {
		if got := containsFold([]byte(test.text), test.want); got != test.found {
			t.Errorf("containsFold(%q, %q) = %v, want %v", test.text, test.want, got, test.found)
		}
	}
}
