package index

import (
	"bytes"
	"iter"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// analysisVersion is part of the mapping: raise it with every change that
// gives some text other terms, also of how a body is made readable, so that older generations
// are not used.
const analysisVersion = 4

const (
	maxTerm = 64      // bytes of a term; longer words are cut
	maxRun  = 256     // bytes after which a run ends at its next connector
	maxMemo = 1 << 18 // runs and terms an Analyzer remembers
)

// A Token is one term at one place of a text.
type Token struct {
	Term       string
	Start, End int // byte offsets of the word in the text
	// Position counts words from 0. The whole form of an identifier has the
	// position of its first part.
	Position int
}

// Analyze returns the tokens of text, in the order of the text. Use an Analyzer
// where several texts are analysed in turn.
func Analyze(text []byte) iter.Seq[Token] { return NewAnalyzer().tokens(text, nil) }

// An Analyzer turns text into terms and remembers what it made of each word.
// It is not safe for concurrent use.
//
// Words are runs of letters, digits and marks. They are folded to lower case,
// Latin letters without their accents, stemmed as English, and dropped when they
// are stop words.
// An identifier, file name, version or hyphenated word gives its whole form,
// which is the parts joined without punctuation, and after it the parts: so
// parseHTTPHeader, parse_http_header and parse-http-header have the same four
// terms. A path gives those of each of its names. Scripts without spaces give
// overlapping pairs of characters, each emoji is a word. Nothing is an error.
type Analyzer struct {
	memo  *memo             // what each run gives
	ids   map[string]uint32 // term to its number
	terms []string          // number to term

	hashes []uint64 // of the terms, for fingerprints

	counts  []uint32 // by term number; all zero between texts
	touched []uint32 // the terms whose count is not zero
	scratch []piece  // for runs that are not remembered
	parts   []part   // likewise

	may *beginnings // of the words that are stemmed; nil: all are. See Find
}

// A piece is a token relative to its run.
type piece struct {
	term       uint32 // its number
	start, end uint32 // bytes; a run of underscores may have a million
	position   uint32
}

// NewAnalyzer returns an Analyzer that remembers nothing yet.
func NewAnalyzer() *Analyzer {
	a := &Analyzer{}
	a.forget()
	return a
}

// isFull reports whether so much is remembered that it is time to forget.
func (a *Analyzer) isFull() bool { return a.memo.count > maxMemo || len(a.terms) > maxMemo }

// rest forgets when it is time to. Not while there are entries whose terms are
// numbers.
func (a *Analyzer) rest() {
	if a.isFull() {
		a.forget()
	}
}

// forget empties the memory. Between texts only: counts are by term number. A
// text has at most a million terms, so memory stays bounded.
func (a *Analyzer) forget() {
	a.memo = newMemo()
	a.ids = make(map[string]uint32)
	a.terms, a.counts, a.hashes = nil, nil, nil
}

// tokens returns the tokens of text in the order of the text, without those of plain
// words that skip says yes to, if it is not nil. The text must not change meanwhile, and
// the Analyzer must not be used for another.
func (a *Analyzer) tokens(text []byte, skip func(run []byte) bool) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		a.rest()
		a.scan(text, skip, func(start, position int, pieces []piece) bool {
			for _, p := range pieces {
				if !yield(Token{a.terms[p.term], start + int(p.start), start + int(p.end), position + int(p.position)}) {
					return false
				}
			}
			return true
		})
	}
}

// scan finds the runs of text and calls visit with the start, the position of
// the first word and the pieces of each, until visit returns false. Plain words
// that skip says yes to, if it is not nil, only count.
func (a *Analyzer) scan(text []byte, skip func(run []byte) bool, visit func(start, position int, pieces []piece) bool) {
	position := 0
	for i := 0; i < len(text); {
		end, paired := nextRun(text, i)
		if end < 0 {
			i -= end
			continue
		}
		if run := text[i:end]; skip == nil || paired || !isPlain(run) || !skip(run) {
			pieces := a.remembered(run, paired)
			if !visit(i, position, pieces) {
				return
			}
			if n := len(pieces); n > 0 {
				position += int(pieces[n-1].position)
			}
		}
		position++
		i = end
	}
}

// remembered returns the pieces of run, from memory where it can, until the next
// call.
func (a *Analyzer) remembered(run []byte, paired bool) []piece {
	short := len(run) <= maxTerm
	place := 0
	if short {
		pieces, free, known := a.memo.find(run)
		if known {
			return pieces
		}
		place = free
	}
	a.scratch = a.scratch[:0]
	if paired {
		a.pair(run)
	} else {
		a.split(run)
	}
	if short && a.memo.count <= 2*maxMemo {
		a.memo.add(run, place, a.scratch)
	}
	return a.scratch
}

// emit adds a piece to the run being analysed. Equal terms share one string and
// one number, by which they are counted without another look-up.
func (a *Analyzer) emit(term string, start, end, position int) {
	a.scratch = append(a.scratch, piece{a.number(term), uint32(start), uint32(end), uint32(position)})
}

// number returns the number of a term.
func (a *Analyzer) number(term string) uint32 {
	id, known := a.ids[term]
	if !known {
		id = uint32(len(a.terms))
		a.ids[term] = id
		a.terms = append(a.terms, term)
		a.counts = append(a.counts, 0)
		a.hashes = append(a.hashes, hashTerm(term))
	}
	return id
}

// The classes of ASCII bytes.
const (
	classOther = iota
	classWord  // letter, digit or underscore
	classJoin  // a connector between two words: . - / and apostrophe
	classWide  // not ASCII
)

// classOf returns the class of a byte. Underscores are part of words here, since
// they can begin and end one; they are cut off later.
func classOf(c byte) int {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
		return classWord
	case c == '.', c == '-', c == '/', c == '\'':
		return classJoin
	case c >= utf8.RuneSelf:
		return classWide
	}
	return classOther
}

// nextRun returns the end of the run that begins at i, and whether it is of a
// script that is indexed in pairs. If none begins there, it returns minus the
// number of bytes to skip.
func nextRun(text []byte, i int) (end int, paired bool) {
	switch classOf(text[i]) {
	case classWord:
		return runEnd(text, i), false
	case classJoin:
		// A name such as .env: a dot that follows no word and precedes one.
		if text[i] == '.' && i+1 < len(text) && isLetter(text[i+1]) && (i == 0 || text[i-1] != '.') {
			return runEnd(text, i+1), false
		}
		return -1, false
	case classWide:
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case isPaired(r):
			return pairedEnd(text, i+size), true
		case isWide(r):
			return runEnd(text, i+size), false
		case isPicture(r):
			return i + size, false
		}
		return -size, false
	}
	return -1, false
}

// runEnd returns where the run that goes on at i ends.
func runEnd(text []byte, i int) int {
	start := i
	for i < len(text) {
		switch classOf(text[i]) {
		case classWord:
			i++
		case classJoin:
			if i-start > maxRun || !joins(text, i+1) {
				return i
			}
			i++
			if text[i] == '.' { // a/.env
				i++
			}
		case classWide:
			size := wideInside(text, i)
			if size == 0 {
				return i
			}
			i += size
		default:
			return i + signs(text, start, i)
		}
	}
	return i
}

// joins reports whether a connector before i is inside a run.
func joins(text []byte, i int) bool {
	if i >= len(text) {
		return false
	}
	switch classOf(text[i]) {
	case classWord:
		return true
	case classJoin:
		return text[i] == '.' && text[i-1] == '/' && i+1 < len(text) && isLetter(text[i+1])
	case classWide:
		r, _ := utf8.DecodeRune(text[i:])
		return isWide(r) && !isPaired(r)
	}
	return false
}

// wideInside returns the length of the character at i if it goes on a run,
// else 0.
func wideInside(text []byte, i int) int {
	r, size := utf8.DecodeRune(text[i:])
	if r == '’' && joins(text, i+size) || isWide(r) && !isPaired(r) {
		return size
	}
	return 0
}

// signs returns the length of the ++ or # that ends the name of a language:
// C++, C#, F#.
func signs(text []byte, start, end int) int {
	if end-start > 2 || !isLetter(text[start]) {
		return 0
	}
	rest := text[end:]
	switch {
	case bytes.HasPrefix(rest, []byte("++")):
		return 2
	case rest[0] == '#' && (len(rest) == 1 || classOf(rest[1]) != classWord && rest[1] != '#'):
		return 1
	}
	return 0
}

// pairedEnd returns the end of the run of paired characters that goes on at i.
func pairedEnd(text []byte, i int) int {
	for start := i; i < len(text) && i-start < maxRun; {
		r, size := utf8.DecodeRune(text[i:])
		if !isPaired(r) {
			break
		}
		i += size
	}
	return i
}

// isLetter reports whether c is an ASCII letter.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isWide reports whether r, which is not ASCII, is part of words.
func isWide(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// isPicture reports whether r is an emoji or another sign that people look for: a
// check mark, a warning, a rocket. What changes an emoji's looks is none.
func isPicture(r rune) bool {
	switch {
	case r >= 0x1f3fb && r <= 0x1f3ff: // tones of skin
		return false
	case r >= 0x1f000 && r <= 0x1faff, r >= 0x2600 && r <= 0x27bf:
		return true
	}
	return r == '⌚' || r == '⌛' || r >= '⏩' && r <= '⏺' || r == '⭐' || r == '⭕'
}

// isPaired reports whether r belongs to a script that is written without
// spaces.
func isPaired(r rune) bool {
	return r >= 0x0e00 && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// Find returns those tokens of text whose terms are wanted: the same as Analyze
// gives, faster, as most words are seen not to be among them before they are
// analysed. The values of wanted mean nothing here.
func (a *Analyzer) Find(text []byte, wanted map[string]int) iter.Seq[Token] {
	may := new(beginnings)
	for term := range wanted {
		may.add(term)
	}
	return func(yield func(Token) bool) {
		if a.may == nil || *a.may != *may { // what is remembered lacks other words
			a.forget()
			a.may = may
		}
		for token := range a.tokens(text, func(run []byte) bool { return !begin(may, run) }) {
			if _, ok := wanted[token.Term]; ok && !yield(token) {
				return
			}
		}
	}
}

// beginnings are what plain words begin with whose stems are wanted. A stem has
// the first two letters of its word, unless it has but one letter, or the second
// is a y: dying gives die.
type beginnings struct {
	one [26]bool      // letters that some term begins with
	two [26 * 26]bool // pairs of letters that some term begins with
	all [26]bool      // terms of one letter
}

// add notes the beginning of a term. Those that do not begin with a small letter
// are no stems of plain words.
func (b *beginnings) add(term string) {
	if term == "" || !isLower(term[0]) {
		return
	}
	first := int(term[0] - 'a')
	b.one[first] = true
	switch {
	case len(term) == 1:
		b.all[first] = true
	case isLower(term[1]):
		b.two[26*first+int(term[1]-'a')] = true
	}
}

// begin reports whether a word that begins with a letter may have one of the terms for a stem.
func begin[T string | []byte](b *beginnings, word T) bool {
	first := int(word[0]|0x20) - 'a'
	if len(word) == 1 || word[1] == 'y' || !isLower(word[1]) {
		return b.one[first]
	}
	return b.all[first] || b.two[26*first+int(word[1]-'a')]
}

// Terms returns the terms that a text is found by.
func Terms(text string) map[string]bool {
	all := map[string]bool{}
	for token := range Analyze([]byte(text)) {
		all[token.Term] = true
	}
	return all
}

// A Share is a part of what two texts have, from 0 to 1. JSON has two digits of it.
type Share float64

// MarshalJSON leaves out all but two digits.
func (s Share) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(int(100*s))/100, 'f', -1, 64), nil
}

// Shared returns how many terms two texts share, and twice that divided by the number of terms of both.
func Shared(a, b map[string]bool) (shared int, share Share) {
	for term := range a {
		if b[term] {
			shared++
		}
	}
	return shared, Share(2*shared) / Share(max(len(a)+len(b), 1))
}
