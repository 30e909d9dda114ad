package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A line says which row of the table is made of a figure.
type line struct {
	figure string
	unit   string
	what   string // that the row says; empty: the name of the figure
	over   string // another figure, to which the row has the ratio
	limit  string // see judge
}

// A verdict says what became of a limit.
type verdict string

const (
	noLimit verdict = "" // for information
	met     verdict = "met"
	notMet  verdict = "not met"
	skipped verdict = "skipped"
	failed  verdict = "failed"
)

// A row is one line of the results.
type row struct {
	Suite   string  `json:"suite"`
	What    string  `json:"what"`
	Unit    string  `json:"unit,omitempty"`
	Runs    int     `json:"runs,omitempty"`
	Median  float64 `json:"median"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Ratio   float64 `json:"ratio,omitempty"` // to what the limit or the row names; 0: to nothing
	Limit   string  `json:"limit,omitempty"`
	Verdict verdict `json:"verdict,omitempty"`
}

// row makes the row of a line. Of a figure that was not measured, it has no runs.
func (l line) row(found figures) row {
	values := found[l.figure]
	r := row{What: cmp.Or(l.what, l.figure), Unit: l.unit, Runs: len(values), Median: values.median(), Limit: l.limit}
	if len(values) > 0 {
		r.Min, r.Max = slices.Min(values), slices.Max(values)
	}
	if other := found[l.over].median(); other > 0 {
		r.Ratio = r.Median / other
	}
	r.Verdict = judge(r, found)
	return r
}

var limitForm = regexp.MustCompile(`^(all )?([≤≥]) ([\d.]+)( ×)?.*?(?:\+ (\d+) × (.*))?$`)

// judge says whether a row keeps within its limit. "≤ 18 ms" is of the median,
// "all ≤ 60 tokens" of every value, and "≤ 3 × git status" of the ratio. Behind a
// plus sign, "+ 5 × fsync alone" allows so many times the median of a figure more.
func judge(r row, found figures) verdict {
	form := limitForm.FindStringSubmatch(r.Limit)
	if form == nil {
		return noLimit
	}
	number := func(text string) float64 {
		value, _ := strconv.ParseFloat(text, 64) // the pattern lets numbers pass; without one it is 0
		return value
	}
	got, allowed := r.Median, number(form[3])+number(form[5])*found[form[6]].median()
	switch {
	case form[4] != "" && r.Ratio == 0: // there was nothing to compare with
		return skipped
	case form[4] != "":
		got = r.Ratio
	case form[1] != "":
		got = r.Max
	}
	if got == allowed || (got < allowed) == (form[2] == "≤") {
		return met
	}
	return notMet
}

// write prints rows, as JSON or as a table, and returns an error if something could
// not be measured.
func write(w io.Writer, rows []row, asJSON bool) error {
	count := map[verdict]int{}
	for _, r := range rows {
		count[r.Verdict]++
	}
	var err error
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", " ")
		err = encoder.Encode(map[string]any{"machine": thisMachine(), "rows": rows})
	} else {
		err = writeTable(w, rows, count)
	}
	if count[failed] > 0 {
		err = errors.Join(err, fmt.Errorf("%d measurements failed", count[failed]))
	}
	return err
}

// figure writes a number with three significant digits, large ones whole.
func figure(value float64) string {
	switch magnitude := math.Abs(value); {
	case magnitude >= 100 || value == math.Trunc(value):
		return fmt.Sprintf("%.0f", value)
	case magnitude >= 10:
		return fmt.Sprintf("%.1f", value)
	case magnitude >= 1:
		return fmt.Sprintf("%.2f", value)
	}
	return fmt.Sprintf("%.3g", value)
}

// cells returns the columns of a row as they are printed.
func (r row) cells() []string {
	median, span, ratio := "", "", ""
	if r.Runs > 0 {
		median = strings.TrimSpace(figure(r.Median) + " " + r.Unit)
	}
	if r.Runs > 1 {
		span = figure(r.Min) + "–" + figure(r.Max)
	}
	if r.Ratio > 0 {
		ratio = figure(r.Ratio) + " ×"
	}
	return []string{r.Suite, r.What, r.Limit, median, span, ratio, string(r.Verdict)}
}

// writeTable prints rows for reading: the figures of retrieval, each in a line of its
// own as programs that evaluate rankings print them, the machine, all rows, and how
// many limits are met.
func writeTable(w io.Writer, rows []row, count map[verdict]int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		if r.Suite == "relevance" && r.Runs > 0 {
			fmt.Fprintf(table, "%s %.4f\n", r.What, r.Median)
		}
	}
	fmt.Fprintf(table, "%s\n\nsuite\twhat\tlimit\tmedian\tmin–max\tratio\t\n", thisMachine())
	for _, r := range rows {
		fmt.Fprintln(table, strings.Join(r.cells(), "\t"))
	}
	if bars := barsOf(rows); bars != "" {
		fmt.Fprintf(table, "\n%s", bars)
	}
	fmt.Fprintf(table, "\n%d met, %d not met, %d skipped, %d failed\n",
		count[met], count[notMet], count[skipped], count[failed])
	return table.Flush()
}
