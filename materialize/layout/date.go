package layout

import (
	"strings"
	"time"

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
		if name[i] < '0' || name[i] > '9' {
			continue
		}
		for _, form := range [...]string{"20060102150405", time.DateOnly, "2006_01_02", "2006.01.02", "20060102"} {
			day, err := time.Parse(form, name[i:min(len(name), i+len(form))])
			if err != nil {
				continue
			}
			around := name[:i] + "\x00" + name[i+len(form):]
			if !noDate().MatchString(around) && (form[4] != '.' || !noDottedDate().MatchString(around)) {
				return day.Truncate(24 * time.Hour), true
			}
		}
	}
	return time.Time{}, false
}

// noDate is what shows, with a NUL in place of what looks like a date, that this is a part of
// a word, of a UUID, or of an id such as ISSUE-20260101-001; noDottedDate that it is a part
// of a version such as 1.2026.10.11.
var (
	noDate = Pattern(`(?:[A-Za-z0-9]|[^\x00-\x7f])\x00|\x00(?:[A-SU-Za-z0-9]|[^\x00-\x7f]|T(?:[^0-9]|$))` +
		`|\x00[-_][-_.]*(?:[0-9a-f]{4}[-_.]+){2}[^-_.]` +
		`|(?:^|[-_ .])[A-Z]+[-_]*\x00[-_][-_.]*[0-9]{1,4}(?:[-_.]|$)`)
	noDottedDate = Pattern(`\.\x00|\x00\.[0-9]`)
)
