package index

import (
	"bytes"
	"iter"
	"unicode"
	"unicode/utf8"
)

// A writtenWord is a word as it is written: what quoted phrases are made of.
type writtenWord struct {
	// Text is folded as terms are, to lower case without accents, but is neither
	// stemmed nor cut into parts. It is valid until the next word.
	Text       []byte
	Start, End int // byte offsets in the text
}

// Words returns the words of text in its order, stop words included. A word is a
// run of letters, digits, marks and underscores, with apostrophes inside it, dots
// between its digits (1.2.3), and the signs of C++ and C#. All else separates
// words: a hyphen, a slash, a dot between letters. Each character of a script
// without spaces, and each emoji, is a word.
func Words(text []byte) iter.Seq[writtenWord] {
	return func(yield func(writtenWord) bool) {
		var scratch []byte
		run := 0 // where the analyser's run ends that i is in
		for i := 0; i < len(text); {
			if i >= run {
				run, _ = nextRun(text, i)
			}
			end := wordEnd(text, i)
			if end < 0 {
				i -= end
				continue
			}
			if end < run && (text[end] == '+' || text[end] == '#') { // C++, C#
				end = run
			}
			w := writtenWord{text[i:end], i, end}
			if !isFolded(w.Text) {
				scratch = appendFolded(scratch[:0], w.Text)
				w.Text = scratch
			}
			if len(w.Text) > 0 && !yield(w) {
				return
			}
			i = end
		}
	}
}

// wordEnd returns the end of the word that begins at i. If none does, it is minus
// the number of bytes to skip.
func wordEnd(text []byte, i int) int {
	size, alone := wordRune(text, i)
	switch {
	case size < 0:
		return size
	case alone:
		return i + size
	}
	for i += size; i < len(text); i += size {
		if size, alone = wordRune(text, i); size > 0 && !alone {
			continue
		}
		if size = insideWord(text, i); size == 0 {
			break
		}
	}
	return i
}

// wordRune returns the length of the character at i, and whether it is a word by
// itself. The length is negative if the character is of no word.
func wordRune(text []byte, i int) (size int, alone bool) {
	if c := text[i]; c < utf8.RuneSelf {
		if isLetter(c) || isDigit(c) || c == '_' {
			return 1, false
		}
		return -1, false
	}
	r, size := utf8.DecodeRune(text[i:])
	switch {
	case isPaired(r) || isPicture(r):
		return size, true
	case isWide(r):
		return size, false
	}
	return -size, false
}

// insideWord returns the length of the punctuation at i if a word goes on behind
// it, else 0.
func insideWord(text []byte, i int) int {
	size := 1
	switch {
	case text[i] == '\'':
	case bytes.HasPrefix(text[i:], []byte("’")):
		size = len("’")
	case text[i] == '.':
		if i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1]) {
			return 1
		}
		return 0
	default:
		return 0
	}
	if i+size == len(text) {
		return 0
	}
	if next, alone := wordRune(text, i+size); next < 0 || alone {
		return 0
	}
	return size
}

// isFolded reports whether a word is as appendFolded would write it.
func isFolded(word []byte) bool {
	for _, c := range word {
		if c >= utf8.RuneSelf || isUpper(c) || c == '\'' {
			return false
		}
	}
	return true
}

// appendFolded appends word in lower case, without accents and apostrophes.
func appendFolded(dst, word []byte) []byte {
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRune(word[i:])
		i += size
		switch {
		case isUpper(byte(r)) && r < utf8.RuneSelf:
			dst = append(dst, byte(r)|0x20)
		case r == '\'' || r == '’' || unicode.Is(unicode.Mn, r):
		case r < utf8.RuneSelf:
			dst = append(dst, byte(r))
		case r >= 0x370 && r < 0x1d00: // Greek to Vedic: nothing there has a Latin form
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		default:
			dst = append(dst, withoutAccent(unicode.ToLower(r))...)
		}
	}
	return dst
}
