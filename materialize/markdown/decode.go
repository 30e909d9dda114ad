package markdown

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// windows1252 is what the bytes from 0x80 to 0x9f are in that encoding; the others are those of Latin-1.
var windows1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// IsUTF16 reports whether a text begins with a byte order mark of UTF-16, as what PowerShell writes does.
func IsUTF16(text []byte) bool { return byteOrder(text) != nil }

func byteOrder(text []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")) && !bytes.HasPrefix(text, []byte("\xff\xfe\x00\x00")): // UTF-32
		return binary.LittleEndian
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		return binary.BigEndian
	}
	return nil
}

// Decode returns a text as UTF-8: it may be UTF-16 with a byte order mark, or Latin-1 as Windows has it, in which
// at most every fourth byte is none of ASCII and none is 0xff. All else comes back as it is. The lines stay the same.
func Decode(text []byte) []byte {
	if order := byteOrder(text); order != nil {
		units := make([]uint16, 0, len(text)/2)
		for at := 2; at+1 < len(text); at += 2 {
			units = append(units, order.Uint16(text[at:]))
		}
		return []byte(string(utf16.Decode(units)))
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
