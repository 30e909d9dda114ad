package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// FilterFlags are the flags that pick records: --kind, --tree, --tag and so on.
type FilterFlags struct {
	fields       []string // those that there is a flag for; none: all
	Flags        *pflag.FlagSet
	Values       map[string]*[]string
	since, until string
	Filter       record.Filter // that check has made of them
}

// Picking returns flags for these fields alone.
func Picking(fields ...string) FilterFlags { return FilterFlags{fields: fields} }

// Check refuses flags and arguments that make no sense.
func (f *FilterFlags) Check(env *Environ, _ []string) (err error) {
	if err = CheckGiven(f.Flags, slices.Collect(maps.Keys(f.Values))...); err == nil {
		f.Filter, err = f.Read(env)
	}
	return err
}

// CheckGiven refuses a filter that is given and empty, as it would pick everything.
func CheckGiven(flags *pflag.FlagSet, fields ...string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		isEmpty := !isList && f.Value.String() == "" || isList && (len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), ""))
		if isEmpty && err == nil && slices.Contains(fields, f.Name) {
			err = UsageError("--%s is empty: is the variable that holds it set?", f.Name)
		}
	})
	return err
}

// checkWords refuses what hints have in the place of an agent's own words.
func checkWords(flags *pflag.FlagSet) (err error) {
	places := []string{"SUMMARY", "NEXT", "BLOCKER", "CONTENT", "WHAT WAS DONE", "WHAT STANDS IN THE WAY", "HOW TO RESOLVE IT"}
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, isList := f.Value.(pflag.SliceValue); isList {
			values = list.GetSlice()
		}
		for _, value := range values {
			if slices.Contains(places, strings.TrimSpace(value)) && slices.Contains([]string{"summary", "next", "blocker", "content"}, f.Name) {
				err = UsageError("--%s %s: put your own words in the place of %[2]s", f.Name, value)
			}
		}
	})
	return err
}

// Prepare gives a command the flags for the fields.
func (f *FilterFlags) Prepare(cmd *cobra.Command) {
	f.Flags, f.Values = cmd.Flags(), map[string]*[]string{}
	isWanted := func(field string) bool { return len(f.fields) == 0 || slices.Contains(f.fields, field) }
	for _, field := range record.FilterFields() {
		if field != "loop" && field != "not-session" && isWanted(field) { // search alone has --not-session
			f.Values[field] = f.Flags.StringSlice(field, nil, "")
		}
	}
	if isWanted("since") {
		f.Flags.StringVar(&f.since, "since", "", "")
		f.Flags.StringVar(&f.until, "until", "", "")
	}
}

// Read returns the filter that the flags ask for.
func (f *FilterFlags) Read(env *Environ) (filter record.Filter, err error) {
	for _, field := range record.FilterFields() {
		if f.Values[field] == nil {
			continue
		}
		values := *f.Values[field]
		switch field {
		case "agent":
			values = append(slices.Clone(values), markdown.Each(values, layout.Slug)...) // the ids that put makes
		case "task":
			values = layout.TaskForms(values...)
		case "status":
			values = withWords(values)
		}
		if err := filter.Add(field, values...); err != nil {
			for _, value := range values {
				if field == "kind" && !slices.Contains(record.Kinds(), record.Kind(value)) {
					err = fmt.Errorf("%w%s", err, Near(value, record.Kinds()))
				}
			}
			return filter, UsageError("%w", err)
		}
	}
	filter.Tags = record.NormalizeTags(filter.Tags)
	if f.since != "" {
		if filter.Since, err = ParseTime(f.since, env.Now()); err != nil {
			return filter, err
		}
	}
	if f.until != "" {
		filter.Until, err = ParseTime(f.until, env.Now())
	}
	return filter, err
}

// withWords returns statuses in all the ways to write them.
func withWords(statuses []string) (all []string) {
	for _, status := range statuses {
		all = append(all, layout.StatusWords(status)...)
	}
	return all
}

// A Page is the flags of a list that is printed in parts.
type Page struct {
	Limit  int `flag:"limit" least:"0"`
	Offset int `flag:"offset" least:"0"`
}

// Next is how to go on behind a page that has so many rows.
func (p *Page) Next(rows int) string { return fmt.Sprintf("--offset %d", p.Offset+rows) }

// CutPage returns the rows of a page, and how many are left behind it.
func CutPage[T any](p Page, all []T) (rows []T, left int) {
	all = all[min(p.Offset, len(all)):]
	rows = all
	if p.Limit > 0 {
		rows = all[:min(p.Limit, len(all))]
	}
	return rows, len(all) - len(rows)
}

// ParseTime reads a time as users give it: "36h" and "2d" ago, a date, or a date
// with a time, local unless it has a zone.
func ParseTime(text string, now time.Time) (time.Time, error) {
	if ago, ok := ParseLength(text); ok {
		return now.Add(-ago), nil
	}
	for _, form := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, UsageError("malformed time %q: give 36h or 2d (ago), 2026-03-02 or 2026-03-02T10:00:00Z", text)
}

// ParseLength reads a length of time, which may be in days: 36h, 2d.
func ParseLength(text string) (length time.Duration, ok bool) {
	if days, found := strings.CutSuffix(text, "d"); found {
		n, err := strconv.ParseFloat(days, 64)
		return time.Duration(n * 24 * float64(time.Hour)), err == nil && n >= 0 && n < 1e5
	}
	length, err := time.ParseDuration(text)
	return length, err == nil && length >= 0
}

// NoteUnknown says of the values of filters that no record has them.
func (w *Work) NoteUnknown(ctx context.Context, f *record.Filter) {
	w.noteStatus("record", f.Statuses, func() []string { return w.FilterValues(ctx, "status") })
	for _, field := range []string{"agent", "conversation", "session", "run", "task"} {
		known := w.FilterValues
		isKnown := func(value string) bool { return slices.Contains(known(ctx, field), value) }
		if values := f.Values(field); len(values) > 0 && !slices.ContainsFunc(values, isKnown) {
			w.Note("no record has the %s %s%s", field, ClipText(strconv.Quote(values[0])), Near(values[0], known(ctx, field)))
		}
	}
	for _, slug := range f.Dialogues {
		found, err := w.Reader.List(ctx, query.ListRequest{Filter: record.Filter{Dialogues: []string{slug}}, Limit: 1})
		if err == nil && len(found.Entries) == 0 {
			w.Note("there is no dialogue %s", ClipText(slug))
		}
	}
	for _, field := range []string{"tree", "tag"} { // of kinds there are always the same
		values, known := f.Values(field), []string(nil)
		if len(values) > 0 {
			known = w.FilterValues(ctx, field)
		}
		for _, value := range values {
			if value = TreeText(field, value); !slices.Contains(known, value) && !strings.ContainsAny(value, "*?[") {
				w.Note("no record has the %s %s%s", field, ClipText(strconv.Quote(value)), Near(value, known))
			}
		}
	}
}

// noteStatus says of a filter that nothing has one of its statuses, and which there are.
func (e *Environ) noteStatus(noun string, wanted []string, values func() []string) {
	if len(wanted) == 0 {
		return
	}
	known := values()
	isKnown := func(status string) bool { return slices.Contains(known, status) }
	if !slices.ContainsFunc(wanted, isKnown) {
		there := map[bool]string{true: "; there are " + FirstNames(known)}[len(known) > 0]
		e.Note("no %s has the status %s%s", noun, ClipText(strconv.Quote(wanted[0])), there)
	}
}

// Meant adds to an error that there is no tree which one may have been meant.
func (w *Work) Meant(ctx context.Context, err error, text string) error {
	if e, known := errors.AsType[*record.Error](err); known && e.Reason == materialize.ErrNoTree {
		return e.Code.Errorf("%w%s", err, Near(text, w.FilterValues(ctx, "tree"))).Because(e.Reason)
	}
	return err
}

// Near says which of the known values a text is a slip of the pen for.
func Near[T ~string](text string, known []T) string {
	like := slices.DeleteFunc(likeness.Nearest(text, known), func(value T) bool { return value == "." })
	if len(like) == 0 {
		return ""
	}
	return "; did you mean " + FirstNames(markdown.Each(like, func(value T) string { return string(value) })) + "?"
}
