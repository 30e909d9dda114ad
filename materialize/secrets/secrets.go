// Package secrets finds secrets in texts, such as keys and tokens of services, and takes
// them out. What is one is said by rules, which are data: see rules.txt. A text in which a
// NUL byte stands near the beginning is binary, and not looked at, unless it is UTF-16 or UTF-32.
//
// Scan looks at a text in memory, a Reader at a stream in flat memory. Time is linear: each
// rule is tried only where one of its keywords stands, and over a bounded length.
package secrets

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A Mode says what is done about secrets in a text that is to be stored.
type Mode string

const (
	Warn   Mode = "warn"   // the text is stored, and they are named
	Redact Mode = "redact" // they are taken out before
	Refuse Mode = "refuse" // the text is not stored
	Off    Mode = "off"    // nobody looks
)

// ParseMode reads a mode; "" is none.
func ParseMode(text string) (Mode, error) {
	if m := Mode(text); text == "" || slices.Contains([]Mode{Warn, Redact, Refuse, Off}, m) {
		return m, nil
	}
	return "", fmt.Errorf("secrets is %q; it is warn, redact, refuse or off", text)
}

// A Match is a secret in a text: which rule found it, in which line, counted from 1, and
// between which bytes. It does not hold the secret.
type Match struct {
	Rule       string `json:"rule"`
	Line       int    `json:"line"`
	Start, End int    `json:"-"` // of a stream, within a part of it

	rank int
	gap  int // how many zeros stand between its bytes
}

// allowance, in a line, says that what looks like a secret there is none. Other programs
// know it too.
const allowance = "gitleaks:allow"

// Scan returns the secrets of a text in order; none overlap.
func Scan(text []byte) []Match {
	return numbered(text, scanOf(text)(text), 0, 1)
}

// scanOf returns what finds the secrets of a text, by its beginning.
func scanOf(text []byte) func(part []byte) []Match {
	switch {
	case isWide(text[:min(len(text), 8<<10)]):
		return scanWide
	case isBinary(text):
		return func([]byte) []Match { return nil }
	}
	return scan
}

func isBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), 8<<10)], 0) >= 0 }

// scan is Scan without lines.
func scan(text []byte) (all []Match) {
	known := rules()
	done := map[int]int{} // where the last match of each rule ends
	known.each(text, func(at int, r *rule) {
		if at < done[r.rank] {
			return
		}
		if start, end, found := r.match(text, at); found {
			done[r.rank] = end
			all = append(all, Match{Rule: r.id, Start: start, End: end, rank: r.rank})
		}
	})
	slices.SortFunc(all, func(a, b Match) int { return cmp.Or(a.Start-b.Start, a.rank-b.rank) })
	apart := all[:0]
	for _, f := range all {
		if last := len(apart) - 1; last >= 0 && f.Start < apart[last].End {
			if apart[last].End = max(apart[last].End, f.End); f.rank < apart[last].rank {
				apart[last].Rule, apart[last].rank = f.Rule, f.rank
			}
			continue
		}
		apart = append(apart, f)
	}
	return slices.DeleteFunc(apart, func(f Match) bool { return isAllowed(text, f) })
}

// isAllowed reports whether a line of a match says that it is no secret.
func isAllowed(text []byte, f Match) bool {
	before := text[max(0, f.Start-partBehind):f.Start] // lines may be long
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	behind, _, _ := bytes.Cut(text[f.End:min(len(text), f.End+partBehind)], []byte("\n"))
	isIn := func(part []byte) bool { return bytes.Contains(part, []byte(allowance)) }
	return isIn(before) || isIn(text[f.Start:f.End]) || isIn(behind)
}

// numbered gives matches their lines, where text[from:] begins in a line.
func numbered(text []byte, all []Match, from, line int) []Match {
	for i, f := range all {
		line += bytes.Count(text[from:f.Start], []byte("\n"))
		all[i].Line, from = line, f.Start
	}
	return all
}

// Take returns a text without its secrets: each is a word that says which rule found it.
func Take(text []byte, all []Match) []byte {
	if len(all) == 0 {
		return text
	}
	return taken(nil, text, all, 0)
}

func taken(to, text []byte, all []Match, from int) []byte {
	for _, f := range all {
		word := []byte("[redacted " + f.Rule + "]")
		if f.gap > 0 {
			word = bytes.Join(bytes.Split(word, nil), make([]byte, f.gap))
		}
		to = append(append(to, text[from:f.Start]...), word...)
		from = f.End
	}
	return append(to, text[from:]...)
}

// Text returns a short text without its secrets.
func Text(text string) string { return string(Take([]byte(text), Scan([]byte(text)))) }

// A Reader looks for the secrets of a stream while it is read, and takes them out if it is to.
type Reader struct {
	Found []Match // so far, the first of them; all in the end
	Count int     // how many there were

	source io.Reader
	take   bool
	part   []byte // that was read, behind some that went before
	from   int    // where it begins
	line   int
	scan   func([]byte) []Match
	made   []byte // what the part has become
	ready  []byte // of that, to be read by others
	err    error
}

// NewReader returns a Reader.
func NewReader(source io.Reader, take bool) *Reader {
	return &Reader{source: source, take: take}
}

// ReadThrough looks at all of a text that is to be opened.
func ReadThrough(open func() (io.ReadCloser, error)) (*Reader, error) {
	text, err := open()
	if err != nil {
		return nil, err
	}
	looked := NewReader(text, false)
	_, err = io.Copy(io.Discard, looked)
	return looked, errors.Join(err, text.Close())
}

// isWide reports whether the characters of a text have several bytes each: it has a mark, or all of many zeros are the
// first or the second bytes.
func isWide(head []byte) bool {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			return true
		}
	}
	zeros := [2]int{}
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	return min(zeros[0], zeros[1]) == 0 && max(zeros[0], zeros[1]) > len(head)/6
}

// scanWide is scan for such a text, of which it looks at what is ASCII.
func scanWide(text []byte) (all []Match) {
	var narrow []byte
	var at []int // where its bytes stand
	for i, c := range text {
		if c != 0 {
			narrow, at = append(narrow, c), append(at, i)
		}
	}
	for _, f := range scan(narrow) {
		f.Start, f.End, f.gap = at[f.Start], at[f.End-1]+1, at[f.Start+1]-at[f.Start]-1
		all = append(all, f)
	}
	return all
}

// A stream is looked at in parts. What is at the end of one is looked at with the next,
// and some of what went before once more: a match has no more than mostSpan bytes.
const (
	partSize   = 512 << 10
	partAhead  = 2 * mostSpan
	partBehind = 512
	mostKept   = 100 // matches of a stream
)

// Read reads the stream, without its secrets if they are to be taken out.
func (r *Reader) Read(p []byte) (n int, err error) {
	for len(r.ready) == 0 && r.err == nil {
		r.advance()
	}
	n = copy(p, r.ready)
	if r.ready = r.ready[n:]; n == 0 && len(p) > 0 {
		err = r.err
	}
	return n, err
}

// advance reads a part and makes ready what is known of it.
func (r *Reader) advance() {
	r.part = slices.Grow(r.part, partSize)
	for end := len(r.part) + partSize; len(r.part) < end && r.err == nil; {
		n := 0
		n, r.err = r.source.Read(r.part[len(r.part):end])
		r.part = r.part[:len(r.part)+n]
	}
	if r.line == 0 {
		r.line, r.scan = 1, scanOf(r.part)
	}
	to := len(r.part)
	var found []Match
	all := r.scan(r.part)
	if r.err == nil {
		to -= partAhead
	}
	for _, f := range all {
		if f.Start >= r.from && f.Start < to {
			found = append(found, f)
			to = max(to, f.End)
		}
	}
	numbered(r.part, found, r.from, r.line)
	r.line += bytes.Count(r.part[r.from:to], []byte("\n"))
	r.Count += len(found)
	r.Found = append(r.Found, found[:min(len(found), mostKept-len(r.Found))]...)
	if !r.take {
		found = nil
	}
	r.made = taken(r.made[:0], r.part[:to], found, r.from)
	r.ready = r.made
	keep := max(0, to-partBehind)
	r.part, r.from = append(r.part[:0], r.part[keep:]...), to-keep
}
