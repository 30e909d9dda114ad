package markdown

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// SingleSpaced returns text with each run of white space made one space.
func SingleSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// pattern returns what compiles a regular expression when it is first asked for.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// escapeSequence is one of a terminal: ESC "[", parameters, a final byte; or ESC alone.
var escapeSequence = pattern(`\x1b(?:\[(?:[ -?]{0,30}[@-~])?)?`)

// OneLine returns text as one line of valid UTF-8: white space as single
// spaces, control characters and the colour codes of terminals left out.
func OneLine(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.IndexByte(text, 0x1b) >= 0 {
		text = escapeSequence().ReplaceAllString(text, "")
	}
	line := make([]byte, 0, len(text))
	for _, r := range text {
		switch last := len(line) - 1; {
		case ' ' < r && r < 0x7f:
			line = append(line, byte(r))
		case unicode.IsSpace(r) && last >= 0 && line[last] != ' ':
			line = append(line, ' ')
		case !unicode.IsSpace(r) && !unicode.IsControl(r) && r != '\ufeff':
			line = utf8.AppendRune(line, r)
		}
	}
	return strings.TrimSuffix(string(line), " ")
}

// Clip returns line cut to at most limit runes, the "…" that marks the cut
// included. It cuts between words; in Chinese and Japanese, and where a word is longer
// than half of limit, between runes.
func Clip(line string, limit int) string {
	// Runes are counted only when there are enough bytes for too many of them.
	if len(line) <= limit || utf8.RuneCountInString(line) <= limit {
		return line
	}
	runes := []rune(line[:min(len(line), utf8.UTFMax*limit)])
	end := max(limit-1, 0)
	for end > 0 && isMark(runes[end]) {
		end--
	}
	cut := end // between words, else between runes
	for cut >= max(limit/2, 1) && runes[cut] != ' ' && !isWide(runes[cut]) && !isWide(runes[cut-1]) {
		cut--
	}
	if cut < limit/2 || cut == 0 {
		cut = end
	}
	return strings.TrimRight(string(runes[:cut]), " ,;:-–—(，、；：（") + "…"
}

var (
	widePunctuation = &unicode.RangeTable{R16: []unicode.Range16{{0x3000, 0x303f, 1}, {0xff00, 0xffef, 1}}}
	joiner          = &unicode.RangeTable{R16: []unicode.Range16{{0x200d, 0x200d, 1}}}
	skinTone        = &unicode.RangeTable{R32: []unicode.Range32{{0x1f3fb, 0x1f3ff, 1}}}
)

// isWide reports whether r belongs to a script that is written without spaces.
func isWide(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, widePunctuation)
}

// isMark reports whether r belongs to the rune before it.
func isMark(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.M, joiner, skinTone) }

// Head returns the first n bytes of text, or fewer so that no rune is cut.
func Head[T string | []byte](text T, n int) T {
	if n = max(n, 0); len(text) <= n {
		return text
	}
	for cut := n; cut >= 0 && cut > n-utf8.UTFMax; cut-- {
		if utf8.RuneStart(text[cut]) {
			return text[:cut]
		}
	}
	return text[:n]
}

// CleanText returns Markdown without what is no text: bytes that are not UTF-8, and
// control characters but for tabs and line ends.
func CleanText(text string) string {
	text = strings.NewReplacer("\ufeff", "", "\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\ufffd"))
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text))
}

// FirstWords returns the beginning of a text in one line, of at most some
// characters, cut between words.
func FirstWords(text string, limit int) string { return Clip(OneLine(text), limit) }

// Each returns what a function makes of each of a list.
func Each[T, S any](list []T, of func(T) S) (all []S) {
	for _, one := range list {
		all = append(all, of(one))
	}
	return all
}
