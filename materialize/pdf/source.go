package pdf

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"
)

// A frontMatter is what the lines before a document say of it.
type frontMatter struct {
	title   string
	authors []string
	date    string
}

// prepare returns the Markdown of a source: valid UTF-8 with plain line ends,
// without a byte order mark and without front matter, which it returns beside.
func prepare(source []byte) ([]byte, frontMatter) {
	source = bytes.TrimPrefix(source, []byte("\uFEFF"))
	if !utf8.Valid(source) {
		source = bytes.ToValidUTF8(source, []byte("\uFFFD"))
	}
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	source = bytes.ReplaceAll(source, []byte("\r"), []byte("\n"))
	source, matter := cutFrontMatter(source)
	return keepEntries(source), matter
}

// maxFrontMatter is the most lines that front matter has.
const maxFrontMatter = 200

var frontMatterLine = pattern(`^\s*(#.*|[-\w"'. ]+\s*[:=].*|- .*|\[.*\]|)$`)

// cutFrontMatter takes the YAML or TOML before a document away. What merely begins
// with a rule is left alone.
func cutFrontMatter(source []byte) ([]byte, frontMatter) {
	first, rest, _ := bytes.Cut(source, []byte("\n"))
	mark := string(bytes.TrimRight(first, " \t"))
	if mark != "---" && mark != "+++" {
		return source, frontMatter{}
	}
	var lines []string
	for len(lines) < maxFrontMatter && len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		text := strings.TrimRight(string(line), " \t")
		rest = after
		if text == mark || mark == "---" && text == "..." {
			return rest, readFrontMatter(lines)
		}
		if !frontMatterLine().MatchString(text) && !strings.HasPrefix(text, "  ") {
			return source, frontMatter{}
		}
		lines = append(lines, text)
	}
	return source, frontMatter{}
}

// readFrontMatter reads the three fields that a title block has. It knows the
// forms that people write, not all of YAML.
func readFrontMatter(lines []string) frontMatter {
	var m frontMatter
	key := ""
	for _, line := range lines {
		name, value, found := cutField(line)
		item, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case isItem && (key == "author" || key == "authors"):
			if name, value, found := cutField(item); found && name == "name" {
				item = value
			}
			m.authors = append(m.authors, unquote(item))
			continue
		case !found || line != strings.TrimLeft(line, " \t"):
			continue
		}
		key = name
		switch key {
		case "title":
			m.title = unquote(value)
		case "author", "authors":
			m.authors = append(m.authors, listOf(value)...)
		case "date":
			m.date = unquote(value)
		}
	}
	return m
}

// cutField cuts "key: value" or "key = value".
func cutField(line string) (name, value string, found bool) {
	at := strings.IndexAny(line, ":=")
	if at < 0 {
		return "", "", false
	}
	return strings.ToLower(unquote(line[:at])), strings.TrimSpace(line[at+1:]), true
}

func unquote(text string) string {
	text = strings.TrimSpace(text)
	if len(text) >= 2 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
		text = text[1 : len(text)-1]
	}
	return strings.TrimSpace(text)
}

// listOf reads "[a, b]", or one value.
func listOf(value string) []string {
	inner, isList := strings.CutPrefix(value, "[")
	if !isList {
		if value = unquote(value); value == "" {
			return nil
		}
		return []string{value}
	}
	var all []string
	for part := range strings.SplitSeq(strings.TrimSuffix(inner, "]"), ",") {
		if part = unquote(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// dateText writes a date as a title block shows it; a text that is no date stays.
func dateText(text string) string {
	for _, form := range []string{time.DateOnly, time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006/01/02"} {
		if t, err := time.Parse(form, text); err == nil {
			return t.Format(dateForm)
		}
	}
	return text
}

const dateForm = "2 January 2006"

var (
	entryLine     = pattern(`^ {0,3}\[\d{1,4}\]:`)
	referenceHead = pattern(`^ {0,3}#{1,6}[ \t]`)
)

// keepEntries makes lines such as "[1]: https://example.org" text where they are
// the entries of the list of references. Markdown takes them for definitions of
// links, which are not shown.
func keepEntries(source []byte) []byte {
	if !bytes.Contains(source, []byte("]:")) {
		return source
	}
	var out bytes.Buffer
	inside, fenced := false, false
	for line := range bytes.Lines(source) {
		trimmed := bytes.TrimLeft(line, " ")
		switch {
		case bytes.HasPrefix(trimmed, []byte("```")) || bytes.HasPrefix(trimmed, []byte("~~~")):
			fenced = !fenced
		case fenced:
		case referenceHead().Match(line):
			inside = isReferences(string(bytes.Trim(line, "# \t\n")))
		case inside && entryLine().Match(line):
			out.WriteByte('\\')
			line = trimmed
		}
		out.Write(line)
	}
	return out.Bytes()
}
