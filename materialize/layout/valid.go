package layout

import (
	"strings"
	"time"
)

// ValidFlag is the name of the field that says when an entry of knowledge holds. Commands have a flag for each end.
const ValidFlag = "valid"

// Valid writes when something holds: from a date, until another one comes, each as
// given; "" is open.
func Valid(from, until string) string {
	if from+until == "" {
		return ""
	}
	return from + ".." + until
}

// CutValid cuts when something holds into the dates that Valid has joined.
func CutValid(text string) (from, until string) {
	from, until, _ = strings.Cut(strings.Join(strings.Fields(text), ""), "..")
	return from, until
}

// ParseValid reads when something holds: from the first moment of a date up to that of
// another one. An end that is open, or no date, is zero.
func ParseValid(text string) (from, until time.Time) {
	if text == "" {
		return from, until
	}
	first, last := CutValid(text)
	from, _ = ParsePoint(first) // zero if it is none
	until, _ = ParsePoint(last)
	return from, until
}

// ParsePoint reads a date, which may be a month or a year alone, as its first moment.
func ParsePoint(text string) (time.Time, bool) {
	for _, form := range [...]string{"2006", "2006-01"} {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return ParseDate(text)
}

// isValid reports whether a text is what Valid writes, of dates.
func isValid(text string) bool {
	first, last := CutValid(text)
	isDate := func(end string) bool {
		_, is := ParsePoint(end)
		return end == "" || is
	}
	return strings.Contains(text, "..") && isDate(first) && isDate(last) && first+last != ""
}
