package layout

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"filebus/materialize/markdown"
)

// PlainPath returns a path as agents name it in one form, without code marks; "" stays.
func PlainPath(file string) string {
	if file = strings.TrimSuffix(strings.Trim(markdown.OneLine(file), "` "), "/"); file == "" {
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

// leading returns the characters that text begins with and that are part of something.
func leading(text string, isPart func(c rune) bool) string {
	return text[:len(text)-len(strings.TrimLeftFunc(text, isPart))]
}

// Pattern returns an expression that is compiled when it is first used: the
// program has many commands, and all of them start with every package.
func Pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
