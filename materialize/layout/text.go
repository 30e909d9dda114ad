package layout

import (
	"path"
	"strings"
	"unicode"
)

// OneLine returns text in one line without control characters.
func OneLine(text string) string {
	return singleSpaced(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd")))
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

// PlainPath returns a path as agents name it in one form, without code marks; "" stays.
func PlainPath(file string) string {
	if file = strings.TrimSuffix(strings.Trim(OneLine(file), "` "), "/"); file == "" {
		return ""
	}
	return path.Clean(file)
}

// Covers reports whether a place, as PlainPath gives it, is a file, a folder that the
// file lies below, or a pattern that it matches.
func Covers(place, file string) bool {
	if place == "" || file == "" {
		return false
	}
	folder, _, deep := strings.Cut(place, "**")
	matched, err := path.Match(place, file)
	return file == place || err == nil && matched || strings.HasPrefix(file, place+"/") ||
		deep && folder != "" && strings.HasPrefix(file, folder)
}
