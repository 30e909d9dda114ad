package main

import (
	"strconv"
	"strings"
	"time"
)

// parseTime reads a time as users give it: "36h" and "2d" ago, a date, or a date
// with a time, local unless it has a zone.
func parseTime(text string, now time.Time) (time.Time, error) {
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 {
			return now.Add(-time.Duration(n * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError("malformed time %q: give 36h or 2d (ago), 2026-03-02 or 2026-03-02T10:00:00Z", text)
}
