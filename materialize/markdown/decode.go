package markdown

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// windows1252 is what the bytes from 0x80 to 0x9f are in that encoding; the others are those of Latin-1.
var windows1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// An encoding has units of several bytes.
type encoding struct {
	name, mark string // the mark stands in front
	order      binary.ByteOrder
	size       int
}

// encodings are those that are told by a mark, of which the longest counts.
var encodings = []encoding{
	{"UTF-32", "\xff\xfe\x00\x00", binary.LittleEndian, 4}, {"UTF-32", "\x00\x00\xfe\xff", binary.BigEndian, 4},
	{"UTF-16", "\xff\xfe", binary.LittleEndian, 2}, {"UTF-16", "\xfe\xff", binary.BigEndian, 2},
}

// encodingOf returns the encoding of a text that has a mark, as what PowerShell writes does, or is UTF-16 without one:
// a third of all units are ASCII, and no other byte is zero.
func encodingOf(text []byte) (e encoding) {
	for _, e := range encodings {
		if bytes.HasPrefix(text, []byte(e.mark)) {
			return e
		}
	}
	zeros := [2]int{}
	for i := bytes.IndexByte(text, 0); i >= 0 && i < len(text); i++ {
		if text[i] == 0 {
			zeros[i%2]++
		}
	}
	few, many := min(zeros[0], zeros[1]), max(zeros[0], zeros[1])
	if few > 0 || len(text)%2 > 0 || many == 0 || many < len(text)/6 {
		return e
	}
	if e = encodings[2]; zeros[0] > 0 {
		e = encodings[3]
	}
	e.mark = ""
	return e
}

// Wide returns the name of the encoding of a text in which a character has several bytes, UTF-16 or UTF-32, or "".
func Wide(text []byte) string { return encodingOf(text).name }

func (e encoding) decode(text []byte) []byte {
	var out []byte
	var units []uint16
	for at := len(e.mark); at+e.size <= len(text); at += e.size {
		if e.size == 4 {
			out = utf8.AppendRune(out, rune(e.order.Uint32(text[at:])))
		} else {
			units = append(units, e.order.Uint16(text[at:]))
		}
	}
	return append(out, string(utf16.Decode(units))...)
}

// Decode returns a text as UTF-8: it may be UTF-16 or UTF-32, or Latin-1 as Windows has it, in which
// at most every fourth byte is none of ASCII and none is 0xff. All else comes back as it is. The lines stay the same.
func Decode(text []byte) []byte {
	if e := encodingOf(text); e.size > 0 {
		return e.decode(text)
	}
	if utf8.Valid(text) || IsBinary(text) || bytes.IndexByte(text, 0xff) >= 0 { // which no text has
		return text
	}
	out, foreign := make([]byte, 0, len(text)+len(text)/4), 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			foreign++
			if r = rune(text[at]); r < 0xa0 {
				r = windows1252[r-0x80]
			}
		}
		out, at = utf8.AppendRune(out, r), at+size
	}
	if foreign > len(text)/4 {
		return text
	}
	return out
}
