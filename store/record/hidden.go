package record

import "unicode"

// IsHidden reports whether a terminal, or who looks at a page, may obey a character
// instead of showing it: control characters, those that turn the direction of text,
// ends of lines and paragraphs, and all others of Unicode's category Cf but those that
// have a sign of their own. Line ends and tabs are hidden too.
func IsHidden(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Joins reports whether a joiner or a non-joiner (U+200C, U+200D) may stand behind a
// character: scripts and emoji need them there, plain ASCII never does.
func Joins(before, r rune) bool {
	return (r == '\u200c' || r == '\u200d') && before > unicode.MaxASCII &&
		(unicode.IsLetter(before) || unicode.IsMark(before) || unicode.IsSymbol(before))
}
