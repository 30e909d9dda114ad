package filebus_test

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"filebus"
)

// The tests in this file hold the rules for documents and other texts.

// markdown returns the documents: the Markdown files that are no test data.
func markdown(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t), func(name string) bool { return path.Ext(name) != ".md" || isData(name) })
}

// TestText finds what does not belong into sources and documents: paths of the
// machine they were written on, bytes that editors leave behind.
func TestText(t *testing.T) {
	machine := regexp.MustCompile(`(^|[^\w.~-])/(` + strings.Join([]string{"work", "root", "home", "Users"}, "|") + `)/\w`)
	for _, name := range files(t) {
		text := read(t, name)
		if slices.Contains([]string{".db", ".png", ".gz", ".sum"}, path.Ext(name)) || strings.Contains(name, ".min.") {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := machine.FindString(line); found != "" {
				t.Errorf("%s:%d: the path of a machine: %q", name, i+1, found)
			}
			if !isData(name) && strings.TrimRight(line, " \t\r") != line {
				t.Errorf("%s:%d: white space at the end of the line", name, i+1)
			}
		}
		if isData(name) {
			continue
		}
		if !bytes.HasSuffix(text, []byte("\n")) || bytes.HasSuffix(text, []byte("\n\n")) {
			t.Errorf("%s: does not end with one line end", name)
		}
		if !utf8.Valid(text) {
			t.Errorf("%s: not UTF-8", name)
		}
	}
}

// TestPacked holds what help reads against the document.
func TestPacked(t *testing.T) {
	packed, err := filebus.CommandLine()
	if err != nil || packed != string(read(t, "docs/cli.md")) {
		t.Errorf("docs/cli.md.gz is not docs/cli.md as it is now: run \"go generate\" (%v)", err)
	}
}

// TestDecisions holds the numbering: no number is missing or used twice, and the
// title has the file's.
func TestDecisions(t *testing.T) {
	names, err := filepath.Glob("docs/decisions/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("docs/decisions: %d files, %v", len(names), err)
	}
	file := regexp.MustCompile(`^([0-9]{4})-[a-z0-9-]+\.md$`)
	title := regexp.MustCompile(`^# 0*([0-9]+)[.:] \S`)
	for i, name := range names { // sorted
		number := file.FindStringSubmatch(filepath.Base(name))
		if number == nil {
			t.Errorf("%s: not named NNNN-title.md", name)
			continue
		}
		if n, _ := strconv.Atoi(number[1]); n != i+1 {
			t.Errorf("%s: its number is %d, want %d: numbers have no gaps and are used once", name, n, i+1)
		}
		text := string(read(t, name))
		if got := title.FindStringSubmatch(text); got == nil || got[1] != strings.TrimLeft(number[1], "0") {
			t.Errorf("%s: its first line is %q, want # and its number", name, firstLine(text))
		}
		for _, part := range []string{"Context", "Choice", "Consequences"} {
			if !strings.Contains(text, "\n## "+part+"\n") {
				t.Errorf("%s: no part %q", name, part)
			}
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// TestLinks follows the relative links of the documents: each leads somewhere,
// to a heading if it names one, and each document can be reached from the README.
func TestLinks(t *testing.T) {
	reached, queue := map[string]bool{"README.md": true}, []string{"README.md"}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		for _, l := range linksOf(string(read(t, name))) {
			target, fragment, _ := strings.Cut(l, "#")
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			info, err := os.Stat(filepath.FromSlash(file))
			if err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, l)
				continue
			}
			if info.IsDir() || path.Ext(file) != ".md" {
				continue
			}
			if fragment != "" && !slices.Contains(anchorsOf(string(read(t, file))), fragment) {
				t.Errorf("%s: the link %s names no heading", name, l)
			}
			if !reached[file] {
				reached[file] = true
				queue = append(queue, file)
			}
		}
	}
	for _, name := range markdown(t) {
		if !reached[name] {
			t.Errorf("%s: no link leads to it from README.md", name)
		}
	}
}

// linksOf returns the relative targets of the links of a document.
func linksOf(text string) []string {
	var links []string
	for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(prose(text), -1) {
		if !strings.Contains(m[1], "://") {
			links = append(links, m[1])
		}
	}
	return links
}

// anchorsOf returns the fragments by which a document's headings are reached.
func anchorsOf(text string) []string {
	var anchors []string
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(prose(text)) {
		heading := strings.TrimLeft(line, "#")
		if heading != line && strings.HasPrefix(heading, " ") {
			words := drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			anchors = append(anchors, strings.ReplaceAll(words, " ", "-"))
		}
	}
	return anchors
}

// prose returns a document without its fenced blocks and inline code.
func prose(text string) string {
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		ticks := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && trimmed == fence:
			fence = ""
		case fence == "" && strings.HasPrefix(line, "#"):
			out.WriteString(line) // anchors keep the words of inline code
		case fence == "":
			out.WriteString(inlineCode.ReplaceAllString(line, ""))
		}
	}
	return out.String()
}

var inlineCode = regexp.MustCompile("`[^`]*`")

func TestLinksOf(t *testing.T) {
	text := "# A `b` heading: 2\n\n[a](b.md#c) `[x](no.md)` [d](https://example.org) [e](#f)\n\n```\n[y](no.md)\n# no\n```\n"
	if got, want := fmt.Sprint(linksOf(text)), "[b.md#c #f]"; got != want {
		t.Errorf("linksOf(%q) = %s, want %s", text, got, want)
	}
	if got, want := fmt.Sprint(anchorsOf(text)), "[a-b-heading-2]"; got != want {
		t.Errorf("anchorsOf(%q) = %s, want %s", text, got, want)
	}
}

// TestLayoutPages makes sure that every page shows a whole file, which the tests
// of the layouts read.
func TestLayoutPages(t *testing.T) {
	names, err := filepath.Glob("docs/layouts/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("docs/layouts: %d pages, %v", len(names), err)
	}
	for _, name := range names {
		text := string(read(t, name))
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s: its first line is %q, want a title", name, firstLine(text))
		}
		if !strings.Contains(text, "\n````") || !strings.Contains(text, " file=") {
			t.Errorf("%s: shows no file: a fence of four backticks with file=NAME", name)
		}
	}
}
