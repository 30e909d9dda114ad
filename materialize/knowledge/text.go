package knowledge

import (
	"strings"
	"unicode"

	"filebus/index"
)

// oneLine returns text in one line without control characters.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	return strings.Join(strings.Fields(text), " ")
}

// cleanText returns Markdown without what is no text: bytes that are not UTF-8,
// and control characters but for tabs and line ends.
func cleanText(text string) string {
	text = strings.NewReplacer("\ufeff", "", "\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\ufffd"))
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text))
}

// word returns a value of one word as entries have it, in lower case.
func word(value string) string { return strings.ToLower(oneLine(value)) }

// terms returns what the index finds a text by.
func terms(text string) map[string]bool {
	all := map[string]bool{}
	for token := range index.Analyze([]byte(text)) {
		all[token.Term] = true
	}
	return all
}

// sharedTerms returns twice the number of terms that two sets share, divided by
// the number of terms of both.
func sharedTerms(a, b map[string]bool) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	shared := 0
	for term := range a {
		if b[term] {
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}
