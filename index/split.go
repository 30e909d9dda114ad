package index

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// A part is one word of a run: its place, and its text in lower case without
// accents.
type part struct {
	start, end int
	text       string
}

// split emits the pieces of a run: for each name in it, which a path has
// several of, its whole form and its parts.
func (a *Analyzer) split(run []byte) {
	if isPlain(run) {
		a.emitPart(part{0, len(run), strings.ToLower(string(run))}, 0)
		return
	}
	position := 0
	for start, end := 0, 0; start <= len(run); start = end + 1 {
		end = nameEnd(run, start)
		if a.parts = appendParts(a.parts[:0], run, start, end); len(a.parts) > 0 {
			position = a.emitName(run[start:end], start, a.parts, position)
		}
	}
}

// isPlain reports whether run is one word, at most with a capital first.
func isPlain(run []byte) bool {
	if len(run) > maxTerm || !isLetter(run[0]) {
		return false
	}
	for _, c := range run[1:] {
		if !isLower(c) {
			return false
		}
	}
	return true
}

// nameEnd returns the end of the name of a path that begins at start.
func nameEnd(run []byte, start int) int {
	if i := bytes.IndexByte(run[start:], '/'); i >= 0 {
		return start + i
	}
	return len(run)
}

// emitName emits the whole form of a name that begins at start, if it differs
// from its one part, and its parts. It returns the position after them.
func (a *Analyzer) emitName(name []byte, start int, parts []part, position int) int {
	end := start + len(name)
	switch last := name[len(name)-1]; {
	case last == '+' || last == '#': // C++ is not C
		a.emit(joined(parts)+string(name[len(bytes.TrimRight(name, "+#")):]), start, end, position)
		return position + 1
	case name[0] == '.':
		a.emitWhole("."+joined(parts), start, end, position)
	case len(parts) > 1 && !isCompound(name, parts):
		a.emitWhole(joined(parts), start, end, position)
	}
	for _, p := range parts {
		a.emitPart(p, position)
		position++
	}
	return position
}

// isCompound reports whether name is an English compound such as file-based,
// which nobody writes as one word. The whole forms of these would be a tenth of
// the index. A short first part is a prefix, and people do write subagent for
// sub-agent, email for e-mail. A short last part makes it a name: agent-a.
func isCompound(name []byte, parts []part) bool {
	first := parts[0].end - parts[0].start
	return len(parts) == 2 && first > maxPrefix && first < len(name) && name[first] == '-' &&
		len(name)-first-1 >= leastWord && bytes.IndexFunc(name, unicode.IsDigit) < 0
}

// maxPrefix is the length of the longest prefix: sub, pre, non, ...; and leastWord
// that of the shortest word that ends a compound.
const (
	maxPrefix = 3
	leastWord = 3
)

// emitWhole emits the joined form of several parts, unless it is too long to be
// looked for.
func (a *Analyzer) emitWhole(term string, start, end, position int) {
	if len(term) <= maxTerm && !stopWords[term] {
		a.emit(a.stem(term), start, end, position)
	}
}

// emitPart emits the stem of one part, unless it is a stop word.
func (a *Analyzer) emitPart(p part, position int) {
	term := p.text
	if len(term) > maxTerm {
		cut := maxTerm
		for !utf8.RuneStart(term[cut]) {
			cut--
		}
		term = term[:cut]
	}
	if term == "" || stopWords[term] {
		return
	}
	end := min(p.end, p.start+maxRun+maxTerm) // a word without end is marked in part
	a.emit(a.stem(term), p.start, end, position)
	if len(term) > 1 && term[0] == 'v' && isDigit(term[1]) && strings.Trim(term[1:], "0123456789.") == "" {
		a.emit(term[1:], p.start+1, end, position) // v1.2.3 is found by 1.2.3
	}
}

// stem returns the stem of a word, or "" where it is seen to be none that Find looks for.
func (a *Analyzer) stem(word string) string {
	if a.may != nil && isLower(word[0]) && !begin(a.may, word) {
		return ""
	}
	return stem(word)
}

// joined returns the parts as one word. A dot stays between digits, so that
// versions and numbers keep their meaning.
func joined(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// appendParts cuts the name run[start:end] at punctuation and where its case
// says that a word begins. A name too long to have been written by hand, such
// as encoded data, is one part.
func appendParts(parts []part, run []byte, start, end int) []part {
	byCase := end-start <= maxTerm
	for i := start; i < end; {
		if isPunctuation(run, i, end) {
			i++
			continue
		}
		j := i + 1
		for j < end && !isPunctuation(run, j, end) && !(byCase && wordBegins(run, i, j, end)) {
			j++
		}
		if text := fold(run[i:j]); text != "" {
			parts = append(parts, part{i, j, text})
		}
		i = j
	}
	return parts
}

// isPunctuation reports whether the byte at i separates parts. An apostrophe
// does not, and neither does a dot between digits.
func isPunctuation(run []byte, i, end int) bool {
	switch run[i] {
	case '_', '-', '/', '+', '#':
		return true
	case '.':
		return i == 0 || i+1 >= end || !isDigit(run[i-1]) || !isDigit(run[i+1])
	}
	return false
}

// wordBegins reports whether a new word begins at j in a word that began at i:
// at a capital after a small letter or digit (parseHTTP), and at the last of
// several capitals before a small letter (HTTPHeader), but not before a plural
// s (APIs). A capital that only begins the word is no reason.
func wordBegins(run []byte, i, j, end int) bool {
	c, before := run[j], run[j-1]
	if !isUpper(c) {
		return false
	}
	if isLower(before) || isDigit(before) {
		return true
	}
	if !isUpper(before) || j+1 >= end || !isLower(run[j+1]) {
		return false
	}
	plural := run[j+1] == 's' && (j+2 >= end || !isLower(run[j+2]))
	return !plural && j > i
}

// These know ASCII only: identifiers that change case are written in it.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// fold returns word in lower case, without apostrophes, possessive s, accents
// and other marks.
func fold(word []byte) string {
	word = bytes.ReplaceAll(word, []byte("’"), []byte("'"))
	word = bytes.TrimSuffix(bytes.TrimSuffix(word, []byte("'s")), []byte("'S"))
	return string(appendFolded(make([]byte, 0, len(word)), word))
}

// pair emits every two neighbouring characters of run, or the only one.
func (a *Analyzer) pair(run []byte) {
	first, size := utf8.DecodeRune(run)
	if size == len(run) {
		a.emit(string(first), 0, size, 0)
		return
	}
	position := 0
	for start := 0; start+size < len(run); position++ {
		_, next := utf8.DecodeRune(run[start+size:])
		a.emit(string(run[start:start+size+next]), start, start+size+next, position)
		start, size = start+size, next
	}
}

// stopWords are too frequent in English to tell documents apart: Lucene's list
// in the first line, then the rest of Snowball's but for what tells something in
// technical text ("against" for one). The longer list raises the average
// precision on CACM from 0.330 to 0.344.
var stopWords = wordSet(`
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
about above after again all also am any because been before being below between both can could did do does doing down during each few
from further had has have having he her here him his how i its me more most my nor off once only other ought our ours out over own same
she should so some than them through too under until up very we were what when where which while who whom those why would you your
`)

// lightWords are what questions are made of besides what they ask for. They are
// looked for, but count little.
var lightWords = wordSet(`
ask even find get give go just keep know like look mani make much need new old one say see someon someth still tell thing think two use
want way
`)

// weightOf returns what a term of a query counts.
func weightOf(term string) float64 {
	if lightWords[term] {
		return lightWeight
	}
	return 1
}

// wordSet returns the words of a list.
func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// stem returns the English stem of a term of small letters, and any other term
// as it is.
func stem(term string) string {
	if len(term) < 3 {
		return term
	}
	for i := 0; i < len(term); i++ {
		if !isLower(term[i]) {
			return term
		}
	}
	env := snowballstem.NewEnv(term)
	english.Stem(env)
	return env.Current()
}

// withoutAccent returns a Latin letter without its accent (é gives e, ß gives
// ss) and any other letter as it is.
func withoutAccent(r rune) string {
	return string(asciifolding.New().Filter([]byte(string(r))))
}
