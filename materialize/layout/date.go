package layout

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"filebus/store/record"
)

// dateFields are the fields of front matter that say when a text was written, the one that
// counts first in front: a text is as old as its last change.
func dateFields() []string {
	return []string{
		"updated", "updated_at", "last_updated", "lastupdated", "modified", "modified_at", "last_modified", "lastmod",
		"date", "created", "created_at",
	}
}

// ParseDate reads a date as ISO 8601 and YAML have it: a day, or a day and a time. Without
// a zone it is in UTC, a day alone its first moment. Anything else is no date.
func ParseDate(text string) (date time.Time, ok bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), " UTC")
	if len(text) < 8 || len(text) > 40 || text[0] < '0' || text[0] > '9' {
		return time.Time{}, false
	}
	for _, day := range [...]string{time.DateOnly, "2006-1-2", "2006/01/02", "20060102"} {
		for _, clock := range [...]string{
			"", "T15:04:05", "T15:04:05Z07:00", "T15:04:05Z0700", "T15:04", "T15:04Z07:00", "T150405Z0700", "T150405",
			" 15:04:05", " 15:04:05Z07:00", " 15:04:05 Z07:00", " 15:04:05 Z0700", " 15:04:05 Z07", " 15:04", " 15:04 Z07:00",
		} {
			if t, err := time.Parse(day+clock, strings.Replace(text, "t", "T", 1)); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// PathDate returns the date that the path of a file of a kind has: the last one in its
// name, else, of files whose folders are not named for what goes on, of the folders.
func PathDate(path string, kind record.Kind) (date time.Time, ok bool) {
	parts := strings.Split(path, "/")
	last := len(parts) - 1
	for i := last; i >= 0 && (i == last || kind == record.KindNote || kind == record.KindKnowledge); i-- {
		if date, ok = nameDate(parts[i]); ok {
			return date, true
		}
		if i >= 3 { // 2026/02/19/x.md
			if date, err := time.Parse("2006/01/02", strings.Join(parts[i-3:i], "/")); err == nil {
				return date, true
			}
		}
	}
	return time.Time{}, false
}

// nameDate returns the last date in a part of a path. A time behind it has no zone, and
// says nothing.
func nameDate(name string) (date time.Time, ok bool) {
	for i := len(name) - len("20060102"); i >= 0; i-- {
		if i > 0 && isWordByte(name[i-1]) || name[i] < '0' || name[i] > '9' {
			continue
		}
		for _, form := range [...]string{"20060102150405", time.DateOnly, "2006_01_02", "2006.01.02", "20060102"} {
			if len(name) < i+len(form) {
				continue
			}
			day, err := time.Parse(form, name[i:i+len(form)])
			if err == nil && !inNumber(name[:i], name[i+len(form):], form[4] == '.') {
				return day.Truncate(24 * time.Hour), true
			}
		}
	}
	return time.Time{}, false
}

func isWordByte(c byte) bool {
	return c >= utf8.RuneSelf || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
}

// inNumber reports whether what looks like a date is a part of a word, of an id such as
// ISSUE-20260101-001, of a UUID, or of a version such as 1.2026.10.11.
func inNumber(before, after string, dotted bool) bool {
	if isTime := len(after) > 1 && after[0] == 'T' && isDigits(after[1:2]); after != "" && isWordByte(after[0]) && !isTime {
		return true
	}
	if dotted && (strings.HasSuffix(before, ".") || len(after) > 1 && after[0] == '.' && isDigits(after[1:2])) {
		return true
	}
	pieces := strings.FieldsFunc(after, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	if len(pieces) == 0 || after[0] == '.' {
		return false
	}
	if len(pieces) > 2 && len(pieces[0]) == 4 && strings.Trim(pieces[0]+pieces[1], "0123456789abcdef") == "" && len(pieces[1]) == 4 {
		return true
	}
	word := strings.TrimRight(before, "-_")
	word = word[strings.LastIndexAny(word, "-_ .")+1:]
	return isDigits(pieces[0]) && len(pieces[0]) < 5 && word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
