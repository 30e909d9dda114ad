package pdf

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"filebus/materialize/markdown"
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
	fields, start := markdown.FrontMatter(source)
	matter := frontMatter{title: strings.Join(fields["title"], ", "), date: strings.Join(fields["date"], ", ")}
	for _, name := range slices.Concat(fields["author"], fields["authors"]) {
		matter.authors = append(matter.authors, strings.Trim(strings.TrimPrefix(name, "name:"), ` "'`))
	}
	return keepEntries(source[start:]), matter
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
