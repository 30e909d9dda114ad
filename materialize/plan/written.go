package plan

import (
	"slices"
	"time"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// written returns when a text was written, and zero if nothing tells. What the text says
// comes first, then the name of its file, then what is known of the file. What a command
// has written is as old as its record, unless the text says else.
//
// Dates before 1970 or more than a day ahead are slips, or no dates of writing: the next
// one is taken.
func (w Planner) written(f File) time.Time {
	latest := w.Now().Add(24 * time.Hour)
	isSound := func(date time.Time) bool { return date.Unix() > 0 && !date.After(latest) }
	isFile := f.Source == record.SourceCapture || f.Source == record.SourceSync
	dates := slices.Clone(f.Facts.Dates)
	if created, ok := layout.ParseDate(f.Facts.Attributes[record.AttributeCreated]); ok && isFile && !f.wasThere {
		dates = append(dates, created)
	}
	if date, ok := layout.PathDate(f.Path, f.Location.Kind); ok && isFile {
		dates = append(dates, date)
	}
	if at := slices.IndexFunc(dates, isSound); at >= 0 {
		return dates[at].UTC()
	}
	if isFile && f.Changed != nil {
		if date := f.Changed(); isSound(date) {
			return date.UTC()
		}
	}
	return time.Time{}
}
