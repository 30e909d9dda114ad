package pdf

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
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

var entryLine = pattern(`^ {0,3}\[\d{1,4}\]:`)

// keepEntries makes lines such as "[1]: https://example.org" text where they are
// the entries of the list of references. Markdown takes them for definitions of
// links, which are not shown.
func keepEntries(source []byte) []byte {
	if !bytes.Contains(source, []byte("]:")) {
		return source
	}
	var out bytes.Buffer
	inside, open := false, false // nothing ends what is open
	for _, l := range markdown.Lines(source) {
		line := source[l.Start:l.End]
		open = open || l.Open
		switch {
		case open || l.Quiet:
		case l.Level > 0:
			inside = isReferences(string(bytes.Trim(line, "# \t\n")))
		case inside && entryLine().Match(line):
			out.WriteByte('\\')
			line = bytes.TrimLeft(line, " ")
		}
		out.Write(line)
	}
	return out.Bytes()
}

// box stands for a character that cannot be shown.
const box = '□'

// clean makes text fit for a document: what is invisible goes.
func clean(text string) string {
	if isPlain(text) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == utf8.RuneError:
			out.WriteRune('\uFFFD')
		case r == '\t' || r == '\n' || r == '\r':
			out.WriteByte(' ')
		case isInvisible(r):
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// basic makes text fit for what the PDF writer encodes itself: it knows the basic
// plane alone, where faceOf finds all that is written on pages.
func basic(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xFFFF {
			r = substitute(r)
		}
		if r > 0xFFFF {
			return box
		}
		return r
	}, text)
}

func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// isInvisible reports whether a character has no shape: controls, joiners, marks of
// direction, variation selectors, soft hyphens.
func isInvisible(r rune) bool {
	switch {
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE0FFF, r >= 0x1F3FB && r <= 0x1F3FF:
		return true
	}
	return false
}

// isWide reports whether a line may be broken on both sides of a character:
// those of Chinese, Japanese and Korean.
func isWide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF || r >= 0xAC00 && r <= 0xD7A3 ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE4F || r >= 0xFF00 && r <= 0xFF60)
}

// staysLeft reports whether a wide character may not begin a line.
func staysLeft(r rune) bool {
	return strings.ContainsRune("、。，．：；！？）」』】〉》〕］｝ー", r)
}

// lacking are characters that fonts often lack, each before one of like meaning that
// DejaVu Sans has.
const lacking = "\u2705✓\u2714✓\u274C✗\u274E✗\u2716✗\u2B50★\u2B51★\u2757!\u2755!\u2753?\u2754?" +
	"\u2B06↑\u2B07↓\u2B05←\u27A1→\u2B1B■\u25FC■\u2B1C□\u25FB□\u2011-\u2010-\u2212-" +
	"\u2002\u00A0\u2003\u00A0\u2007\u00A0\u2009\u00A0\u200A\u00A0\u202F\u00A0\u3000\u00A0"

// substitute returns a character of like meaning for one that fonts often lack.
func substitute(r rune) rune {
	switch {
	case r >= 0x1D400 && r <= 0x1D6A3: // letters of mathematics, in thirteen styles
		n := (r - 0x1D400) % 52
		return 'A' + n + n/26*('a'-'Z'-1)
	case r >= 0x1D7CE && r <= 0x1D7FF:
		return '0' + (r-0x1D7CE)%10
	case r >= 0x1F1E6 && r <= 0x1F1FF: // a flag is two letters
		return 'A' + r - 0x1F1E6
	}
	if at := strings.IndexRune(lacking, r); at >= 0 {
		_, size := utf8.DecodeRuneInString(lacking[at:])
		other, _ := utf8.DecodeRuneInString(lacking[at+size:])
		return other
	}
	return r
}

// pattern returns an expression that is compiled when it is first used: most
// commands that start with this package print nothing.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
