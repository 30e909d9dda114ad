package main

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"filebus/materialize/markdown"
	"filebus/store"
)

// A logDay is how much was stored on one day.
type logDay struct {
	Day     string `json:"day"` // in UTC
	Entries int    `json:"entries"`
	Puts    int    `json:"puts"`
	Bytes   int64  `json:"bytes"` // of the texts that were put, unless they were destroyed since
}

type logDaysJSON struct {
	Days []logDay `json:"days"`
	More int      `json:"more,omitempty"` // entries before these
}

// countDays prints how many of the last entries are of which day.
func (l *logPrinter) countDays(ctx context.Context, limit int) error {
	if limit == 0 {
		limit = math.MaxInt - 1 // one more is looked for
	}
	lines, left, err := l.last(ctx, l.position, limit)
	if err != nil {
		return err
	}
	slices.Reverse(lines)
	days := []logDay{}
	for _, line := range lines {
		day := line.Time.UTC().Format(time.DateOnly)
		if len(days) == 0 || days[len(days)-1].Day != day { // a clock that went back begins a day again
			days = append(days, logDay{Day: day})
		}
		d := &days[len(days)-1]
		if d.Entries++; line.Op == store.OpPut {
			d.Puts++
			d.Bytes += line.size
		}
	}
	row := func(d logDay) []string {
		return []string{d.Day, strconv.Itoa(d.Entries), strconv.Itoa(d.Puts), byteSize(d.Bytes)}
	}
	return l.presentTable(markdown.Each(days, row), presentation{
		left: left, none: "no entries", rest: "--limit 0", json: func(int) any { return logDaysJSON{days, left} },
	})
}
