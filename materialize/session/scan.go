package session

import (
	"bytes"
	"unicode/utf8"

	"filebus/store/record"
)

// A tailScan reads a text once and says whether it seems to end too early: within a
// code fence or within a character.
type tailScan struct {
	digest *record.Digester
	size   int64
	fence  []byte // the marks that opened the block, nil outside of one
	line   []byte // the beginning of the line that is being read
	tail   []byte // the last bytes
	binary bool
}

func newTailScan() *tailScan { return &tailScan{digest: record.NewDigester()} }

// maxLine is how much of a line is looked at: a fence stands at its beginning.
const maxLine = 256

// Write never fails.
func (s *tailScan) Write(p []byte) (int, error) {
	n := len(p)
	_, _ = s.digest.Write(p) // never fails
	s.size += int64(n)
	s.binary = s.binary || bytes.IndexByte(p, 0) >= 0
	s.tail = append(s.tail, p[max(0, n-utf8.UTFMax):]...)
	s.tail = s.tail[max(0, len(s.tail)-utf8.UTFMax):]
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		s.line = append(s.line, part[:min(len(part), maxLine-len(s.line))]...)
		if ended {
			s.endLine()
		}
		p = rest
	}
	return n, nil
}

// endLine looks whether a line opens or closes a block of code.
func (s *tailScan) endLine() {
	line := bytes.TrimRight(s.line, " \t\r")
	text := bytes.TrimLeft(line, " ")
	s.line = s.line[:0]
	if len(text) < 3 || len(line)-len(text) > 3 || text[0] != '`' && text[0] != '~' {
		return
	}
	marks := text[:len(text)-len(bytes.TrimLeft(text, string(text[:1])))]
	switch {
	case len(marks) < 3:
	case s.fence == nil && (text[0] == '~' || bytes.IndexByte(text[len(marks):], '`') < 0):
		s.fence = bytes.Clone(marks)
	case s.fence != nil && marks[0] == s.fence[0] && len(marks) >= len(s.fence) && len(marks) == len(text):
		s.fence = nil
	}
}

// cut says how the text seems to end too early, or "".
func (s *tailScan) cut(markdown bool) string {
	s.endLine()
	switch {
	case s.binary:
	case endsInRune(s.tail):
		return "it ends within a character"
	case markdown && s.fence != nil:
		return "it ends within a block of code"
	}
	return ""
}

// endsInRune reports whether the last character of a text is not whole.
func endsInRune(tail []byte) bool {
	for i := len(tail) - 1; i >= 0; i-- {
		if utf8.RuneStart(tail[i]) {
			return !utf8.FullRune(tail[i:])
		}
	}
	return false
}
