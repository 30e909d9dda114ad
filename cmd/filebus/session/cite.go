package session

import (
	"bytes"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// A citation is a part of a text that may name a record: a path, a name or a
// reference. Whether it does is only known by looking it up.
type citation struct {
	Text string // without what surrounds it
	Line int    // counted from 1, where it stands first
	// Link says that it can only mean a file: it is the target of a Markdown link,
	// or the value of result_file.
	Link bool
	Part bool // of what stands between quotes, or of the target of a link
}

// The bounds of one citation, in bytes.
const (
	minCitation = 3
	maxCitation = record.MaxID
	maxQuoted   = 512 // with spaces in it
	mostWide    = 50  // of such on a line that its words are compared with
)

// citations returns what may name a record in a text, each once, in the order of
// the lines, most of them at most; more says that there are others. The time that
// it takes grows with the text alone, whatever the text is.
func citations(text []byte, most int) (found []citation, more bool) {
	s := citer{most: most, seen: map[string]int{}}
	for line := range bytes.Lines(text) {
		s.line++
		s.scan(string(line))
		if s.more {
			break
		}
	}
	return s.found, s.more
}

// backslash is what stands between folders on Windows; in JSON it is mostly none.
var backslash = layout.Pattern(`\\([\pL\pN])`)

// A citer collects the citations of a text.
type citer struct {
	line  int
	most  int
	seen  map[string]int // where in found
	found []citation
	more  bool
	wide  []string // of the line: with spaces in them
}

// scan looks at one line in three ways: for links, for what stands between quotes
// and may have spaces in it, and for words.
func (s *citer) scan(line string) {
	s.wide = s.wide[:0]
	s.links(line)
	for _, quote := range []string{`"`, "`", "'"} {
		var key, between, last string // the parts before
		n := 0
		for part := range strings.SplitSeq(line, quote) {
			if n++; n > 2 { // neither the first nor the last is between quotes
				text, isFile := last, false
				if quote == `"` {
					text, isFile = strings.ReplaceAll(last, `\/`, "/"), key == "result_file" &&
						strings.TrimSpace(between) == ":"
				}
				s.quoted(text, isFile)
			}
			key, between, last = between, last, part
		}
	}
	for word := range strings.FieldsFuncSeq(line, isBetween) {
		s.add(strings.TrimRight(word, trailing), false)
	}
}

// trailing is what may stand behind a path and does not belong to it.
const trailing = ".:!?*_…"

// isBetween reports whether a rune stands between words. Some of them may be
// part of a path all the same: such a path is found between quotes.
func isBetween(r rune) bool {
	switch r {
	case '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '|', '\\',
		'“', '”', '‘', '’', '„', '«', '»', '、', '。', '，', '：', '；', '（', '）', '「', '」':
		return true
	}
	return r <= ' ' || r == 0x7f || r > 0x7f && unicode.IsSpace(r)
}

// links takes the targets of Markdown links: [text](target "title") and
// [text](<target with spaces>). No byte is looked at more than twice.
func (s *citer) links(line string) {
	for {
		_, rest, found := strings.Cut(line, "](")
		if !found {
			return
		}
		line = rest
		end := strings.IndexAny(line, "()[] \t\r\n")
		if inner, angled := strings.CutPrefix(line, "<"); angled {
			line = inner
			end = strings.IndexAny(line, "<>\n")
		}
		if end < 0 {
			end = len(line)
		}
		s.add(line[:end], true)
		line = line[end:]
	}
}

// quoted takes what stands between two quotes as a whole, if that is no word. With
// space at an end it stands between two quoted things.
func (s *citer) quoted(part string, isFile bool) {
	if !isFile && (len(part) > maxQuoted || strings.TrimSpace(part) != part || strings.IndexFunc(part, isBetween) < 0) {
		return
	}
	if isFile || strings.Contains(part, "/") || hasExtension(part) {
		s.add(part, isFile)
	}
}

// add takes a text in that may be a citation.
func (s *citer) add(text string, link bool) {
	if s.more || !isPlausible(text) && !(link && len(text) >= minCitation && len(text) <= maxCitation) {
		return
	}
	if strings.HasPrefix(text, "mailto:") || link && (strings.HasPrefix(text, "#") || isURL(text)) {
		return
	}
	if at, seen := s.seen[text]; seen {
		s.found[at].Link = s.found[at].Link || link
		return
	}
	if len(s.found) == s.most {
		s.more = true
		return
	}
	if strings.Contains(text, " ") && len(s.wide) < mostWide {
		s.wide = append(s.wide, text)
	}
	isPart := slices.ContainsFunc(s.wide, func(wide string) bool { return wide != text && strings.Contains(wide, text) })
	s.seen[text] = len(s.found)
	s.found = append(s.found, citation{text, s.line, link, isPart})
}

// isPlausible reports whether a text can be a path, a name or a reference.
func isPlausible(text string) bool {
	if len(text) < minCitation || len(text) > maxCitation || isURL(text) {
		return false
	}
	if strings.Contains(strings.Trim(text, "/"), "/") || hasExtension(text) {
		return true
	}
	_, isRef := record.ParsePrefix(text)
	return isRef
}

// isURL reports whether a text is the address of something that is no file.
func isURL(text string) bool {
	return strings.Contains(text, "://") && !strings.HasPrefix(text, "file://")
}

// hasExtension reports whether a text ends as the names of files do, or in the
// number of a line behind that.
func hasExtension(text string) bool {
	text = withoutPlace(text)
	extension := strings.TrimPrefix(path.Ext(text), ".")
	if extension == "" || len(extension) > 8 || len(text) < len(extension)+2 {
		return false
	}
	return strings.IndexFunc(extension, func(r rune) bool { return !isWordRune(r) }) < 0 && strings.Trim(extension, "0123456789") != ""
}

func isWordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// withoutPlace takes away the part of a file that a citation names: #heading,
// :12, :12-30.
func withoutPlace(text string) string {
	if at := strings.LastIndexByte(text, '#'); at > 0 {
		text = text[:at]
	}
	for {
		at := strings.LastIndexByte(text, ':')
		if at <= 0 || at == len(text)-1 || strings.Trim(text[at+1:], "0123456789-L") != "" {
			return text
		}
		text = text[:at]
	}
}

// forms returns what a citation can stand for, the most literal first.
func (c citation) forms() []string {
	bare, plain := c.bare(), c.plain()
	forms := []string{bare, withoutPlace(bare), plain}
	for _, between := range []string{"=", ":"} {
		if _, behind, found := strings.Cut(plain, between); found && isPlausible(behind) {
			forms = append(forms, behind)
		}
	}
	for _, run := range asciiRuns(bare) {
		forms = append(forms, withoutPlace(strings.TrimRight(run, trailing)))
	}
	forms = slices.DeleteFunc(forms, func(form string) bool { return len(form) < minCitation })
	return slices.Compact(append([]string{c.Text}, forms...))
}

// bare returns the citation without the signs that mark words in a text.
func (c citation) bare() string {
	bare := strings.TrimLeft(strings.TrimPrefix(c.Text, "file://"), "*_@=+")
	if strings.HasPrefix(bare, "~") && !strings.HasPrefix(bare, "~/") {
		bare = strings.TrimLeft(bare, "~*")
	}
	return bare
}

// plain returns the path that the citation most likely means.
func (c citation) plain() string {
	bare := withoutPlace(c.bare())
	if decoded, err := url.PathUnescape(bare); err == nil {
		return decoded
	}
	return bare
}

// asciiRuns returns the plausible parts of a text that has other letters too, as
// where a language writes no spaces.
func asciiRuns(text string) []string {
	runs := strings.FieldsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
	runs = slices.DeleteFunc(runs, func(run string) bool { return run == text || !isPlausible(run) })
	return runs[:min(len(runs), 4)]
}

// isMeant reports whether a citation can hardly mean anything but something that
// is stored.
func (c reference) isMeant(g *gatherer, by *record.Record, form string) bool {
	if c.Link {
		return true
	}
	if name, err := record.ParseName(form); err == nil {
		return strings.ContainsAny(name.ID, "/0123456789") // note/comment are two words
	}
	if strings.HasPrefix(form, "/") {
		form = g.absolute(form)[0]
	}
	form = path.Clean(form)
	top, _, hasFolder := strings.Cut(form, "/")
	isBeside := !hasFolder && by.Name.Kind == record.KindArtifact && strings.HasSuffix(form, ".md")
	isPath := hasFolder && !strings.Contains(strings.TrimLeft(top, "."), ".") // example.org/x.md is none
	if c.Part || !isBeside && !isPath || !hasExtension(form) || strings.ContainsAny(form, ":@= ") {
		return false
	}
	info, err := os.Stat(g.sessions.w.FilePath(top))
	return strings.HasSuffix(form, ".md") || err == nil && info.IsDir()
}
