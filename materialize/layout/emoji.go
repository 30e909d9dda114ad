package layout

import (
	"strings"
	"unicode/utf8"
)

// IsEmoji reports whether c is a pictograph, or a part of one: a selector, a
// joiner, a skin tone, a letter of a flag. Arrows and the marks of typography are
// none.
func IsEmoji(c rune) bool {
	switch {
	case c >= 0x1F000 && c <= 0x1FAFF, c >= 0x2600 && c <= 0x27BF, c >= 0x2B00 && c <= 0x2BFF:
		return true
	}
	return c == 0x200D || c == 0xFE0F
}

// splitEmoji splits text at the first emoji, which may have several characters:
// what stands before it, the emoji, and what stands behind it.
func splitEmoji(text string) (before, emoji, after string) {
	start := strings.IndexFunc(text, IsEmoji)
	if start < 0 {
		return strings.TrimSpace(text), "", ""
	}
	end := start
	for end < len(text) {
		c, size := utf8.DecodeRuneInString(text[end:])
		if !IsEmoji(c) {
			break
		}
		end += size
	}
	return strings.TrimSpace(text[:start]), text[start:end], strings.TrimSpace(text[end:])
}

// cutEmoji cuts the emoji before or behind a name.
func cutEmoji(text string) (emoji, name string) {
	before, emoji, after := splitEmoji(text)
	if before != "" && after != "" {
		return "", strings.TrimSpace(text) // in the middle of a sentence
	}
	return emoji, before + after
}
