package layout

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"filebus/store/record"
)

// dateFields are the fields of front matter that say when a text was written, as dateKey has
// them, the one that counts first in front: a text is as old as its last change.
func dateFields() []string {
	return []string{
		"updated", "updatedat", "lastupdated", "modified", "modifiedat", "lastmodified", "lastmodifiedat", "lastmod",
		"date", "created", "createdat",
	}
}

// dateKey returns a key in lower case without what is between its words.
func dateKey(key string) string { return strings.NewReplacer("_", "", "-", "", " ", "").Replace(key) }

// ParseDate reads a date as ISO 8601 and YAML have it: a day, or a day and a time. Without
// a zone it is in UTC, a day alone its first moment. Anything else is no date.
func ParseDate(text string) (date time.Time, ok bool) {
	if len(text) < len("2006-1-2") {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil { // as filebus writes it
		return t, true
	}
	text = strings.ToUpper(strings.TrimPrefix(strings.TrimSpace(text), "!!timestamp "))
	text = strings.NewReplacer("T", " ", " +", "+", " -", "-", " Z", "Z").Replace(strings.TrimSuffix(text, " UTC"))
	if len(text) > 40 {
		return time.Time{}, false
	}
	for _, day := range [...]string{time.DateOnly, "2006-1-2", "2006/01/02", "20060102"} {
		if t, err := time.Parse(day, text); err == nil {
			return t, true
		}
		for _, clock := range [...]string{" 15:04:05", " 15:04", " 150405"} {
			for _, zone := range [...]string{"", "Z07:00", "Z0700", "Z07"} {
				if t, err := time.Parse(day+clock+zone, text); err == nil {
					return t, true
				}
			}
		}
	}
	return time.Time{}, false
}

// PathDate returns the date that the path of a file of a kind has: that in its name, else,
// of files whose folders are not named for what goes on, of the folders.
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

// nameDate returns the date in a part of a path: at its beginning, or behind a word without
// a digit before it, as a model, a version or an id has. A time behind it has no zone, and
// says nothing. Digits alone count as one at the beginning or the end.
func nameDate(name string) (date time.Time, ok bool) {
	before := name[:max(0, strings.IndexAny(name, "0123456789"))]
	word := strings.TrimRight(before, "-_ .(")
	isID := word != "" && strings.Trim(word[strings.LastIndexAny(word, "-_ .")+1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	isShort := len(name)-len(before) < len("20060102") || !isDigits(name[len(before):][:4])
	if isID || isShort || before != "" && isWordByte(before[len(before)-1]) {
		return time.Time{}, false
	}
	for _, form := range [...]string{"20060102150405", "200601021504", time.DateOnly, "2006_01_02", "20060102"} {
		rest := name[len(before):]
		day, err := time.Parse(form, rest[:min(len(form), len(rest))])
		if err != nil {
			continue
		}
		rest = rest[len(form):]
		isTime := len(rest) > 1 && rest[0] == 'T' && isDigits(rest[1:2])
		isAlone := form[4] != '0' || day.Year() >= 1990 && !inUUID().MatchString(rest) && (before == "" || endOfDate().MatchString(rest))
		return day.Truncate(24 * time.Hour), isAlone && (rest == "" || isTime || !isWordByte(rest[0]))
	}
	return time.Time{}, false
}

var (
	inUUID = Pattern(`^-[0-9a-f]{4}-[0-9a-f]{4}-`)
	// endOfDate is what may stand behind the digits of a date at the end of a name: a time, or a number.
	endOfDate = Pattern(`^(T[0-9][^.]*|[-_ ][0-2][0-9]([-_:]?[0-5][0-9]){1,2}Z?|-[0-9])?[)\]]*(\.[^0-9.]*)*$`)
)

func isWordByte(c byte) bool {
	return c >= utf8.RuneSelf || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
}
