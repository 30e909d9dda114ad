package mirror

import (
	"bytes"
	"encoding/hex"
	"hash/maphash"
	"iter"
	"math/bits"
	"strconv"

	"filebus/store/record"
)

// The lines of a memory: "settled POSITION", "file POSITION SIZE TIME DIGEST PATH"
// and "gone PATH". Paths are quoted as in Go.
const (
	lineFile    = "file "
	lineGone    = "gone "
	lineSettled = "settled "
)

// savedLines are the lines of a memory's file. Every reading command loads them,
// of 100,000 files 15 MB, and asks for the few files that it gets to look at. So
// loading only finds the last line about each path; it is read when it is asked
// for.
type savedLines struct {
	text    []byte
	seed    maphash.Seed
	table   []lastLine // by the hash of the quoted path; a power of two, half of it empty
	files   int        // paths whose last line does not say that they are gone; some may be broken
	lines   int
	settled uint64
}

// A lastLine is where the last line about a path begins.
type lastLine struct {
	hash uint64 // of the path
	next int    // the place plus 1; 0: there is none
	gone bool   // it says that the path is gone
}

// findLines finds the last line about each path of a text.
func findLines(text []byte) savedLines {
	s := savedLines{text: text, seed: maphash.MakeSeed()}
	s.table = make([]lastLine, 2<<bits.Len(uint(bytes.Count(text, []byte{'\n'}))))
	for at := 0; at < len(text); {
		line, begin := lineAt(text, at), at
		at += len(line) + 1
		line = bytes.TrimRight(line, "\r")
		s.lines++
		if position, found := bytes.CutPrefix(line, []byte(lineSettled)); found {
			if n, err := strconv.ParseUint(string(position), 10, 64); err == nil {
				s.settled = n
			}
		} else if path := quotedPath(line); path != nil {
			s.add(path, begin, isGone(line, path))
		}
	}
	return s
}

// lineAt returns the line that begins at a place, without the newline.
func lineAt(text []byte, at int) []byte {
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return text[at : at+end]
	}
	return text[at:]
}

// lineOf returns the line that begins at a place, without its end.
func (s *savedLines) lineOf(at int) []byte { return bytes.TrimRight(lineAt(s.text, at), "\r") }

// quotedPath returns the path that a line is about, in its quotes. It is nil if
// the line is about none, as one that was cut short.
func quotedPath(line []byte) []byte {
	if !bytes.HasPrefix(line, []byte(lineFile)) && !bytes.HasPrefix(line, []byte(lineGone)) {
		return nil
	}
	quote := bytes.IndexByte(line, '"') // neither numbers nor digests have one
	if quote < 0 || quote == len(line)-1 || line[len(line)-1] != '"' {
		return nil
	}
	return line[quote:]
}

// isGone reports whether a line about a quoted path says that it is gone.
func isGone(line, quoted []byte) bool {
	return len(line) == len(lineGone)+len(quoted) && line[0] == lineGone[0]
}

// add makes the line at a place the last one about its path.
func (s *savedLines) add(path []byte, at int, gone bool) {
	last := s.find(path)
	if last.next > 0 && !last.gone {
		s.files--
	}
	if !gone {
		s.files++
	}
	last.next, last.gone = at+1, gone
}

// find returns the place in the table of a path, which is empty if there is no
// line about it.
func (s *savedLines) find(path []byte) *lastLine {
	hash, mask := maphash.Bytes(s.seed, path), uint64(len(s.table)-1)
	for slot := hash & mask; ; slot = (slot + 1) & mask {
		last := &s.table[slot]
		if last.next == 0 {
			last.hash = hash
			return last
		}
		if last.hash == hash && bytes.Equal(quotedPath(s.lineOf(last.next-1)), path) {
			return last
		}
	}
}

// get returns what the lines say of a path.
func (s *savedLines) get(path string) (f Memo, found bool) {
	if s.lines == 0 {
		return Memo{}, false
	}
	var buffer [256]byte
	quoted := appendQuoted(buffer[:0], path)
	last := s.find(quoted)
	if last.next == 0 || last.gone {
		return Memo{}, false
	}
	return s.read(last.next-1, quoted)
}

// appendQuoted is strconv.AppendQuote, faster for most paths: a sync quotes each.
func appendQuoted(dst []byte, path string) []byte {
	for i := range len(path) {
		if c := path[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(dst, path)
		}
	}
	return append(append(append(dst, '"'), path...), '"')
}

// read reads the last line about a path, or the one before it that is whole.
func (s *savedLines) read(at int, quoted []byte) (f Memo, found bool) {
	for {
		line := s.lineOf(at)
		if isGone(line, quoted) {
			return Memo{}, false
		}
		if f, found = readFileLine(line); found {
			return f, true
		}
		if at = s.before(at, quoted); at < 0 {
			return Memo{}, false
		}
	}
}

// before returns where the last line about a path begins that stands before a
// place, or -1. It is slow, and needed only behind a line that nobody wrote.
func (s *savedLines) before(at int, quoted []byte) int {
	for at > 0 {
		at = bytes.LastIndexByte(s.text[:at-1], '\n') + 1
		if bytes.Equal(quotedPath(s.lineOf(at)), quoted) {
			return at
		}
	}
	return -1
}

// paths returns the paths whose last line does not say that they are gone, in no
// order.
func (s *savedLines) paths() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, last := range s.table {
			if last.next == 0 || last.gone {
				continue
			}
			quoted := quotedPath(s.lineOf(last.next - 1))
			path, err := strconv.Unquote(string(quoted))
			if err != nil {
				continue
			}
			if _, found := s.read(last.next-1, quoted); found && !yield(path) {
				return
			}
		}
	}
}

// readFileLine reads a line about a file. It reports whether it is whole.
func readFileLine(line []byte) (f Memo, whole bool) {
	text, found := bytes.CutPrefix(line, []byte(lineFile))
	if !found {
		return Memo{}, false
	}
	var numbers [3]int64 // position, size, time
	for i := range numbers {
		word, rest, _ := bytes.Cut(text, []byte{' '})
		n, err := strconv.ParseInt(string(word), 10, 64)
		if err != nil {
			return Memo{}, false
		}
		numbers[i], text = n, rest
	}
	const digits = 2 * len(record.Digest{})
	if numbers[0] < 0 || len(text) < digits+2 || text[digits] != ' ' || text[digits+1] != '"' || bytes.ContainsAny(text[:digits], "ABCDEF") {
		return Memo{}, false
	}
	f = Memo{Position: uint64(numbers[0]), size: numbers[1], modTime: numbers[2]}
	_, err := hex.Decode(f.Digest[:], text[:digits])
	return f, err == nil
}
