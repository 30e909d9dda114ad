package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

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
	Ratio   float64 `json:"ratio,omitempty"` // to what the limit names; 0: to nothing
	Limit   string  `json:"limit,omitempty"`
	Verdict verdict `json:"verdict,omitempty"`

	// A row that is a point of a curve says which: see writeCharts.
	Chart string  `json:"chart,omitempty"`
	Line  string  `json:"line,omitempty"`
	At    float64 `json:"at,omitempty"`
}

// measured makes a row of a sample; skipped if the sample is empty.
func measured(what, unit string, s sample) row {
	r := row{What: what, Unit: unit, Runs: len(s), Median: s.median()}
	r.Min, r.Max = s.bounds()
	if len(s) == 0 {
		r.Verdict = skipped
	}
	return r
}

// on makes the row a point of a line in a chart.
func (r row) on(chart, line string, at int) row {
	r.Chart, r.Line, r.At = chart, line, float64(at)
	return r
}

// of names the tool that a row needs: without it, the row is skipped and says so.
// With it, a row of nothing is that of a side that failed.
func (r row) of(tool string) row {
	switch {
	case r.Runs > 0:
	case hasTool(tool):
		r.Verdict = failed
	default:
		r.What += ": " + tool + " is missing"
	}
	return r
}

// atMost sets a limit that the median must not pass.
func (r row) atMost(limit float64, text string) row { return r.judge(r.Median <= limit, text) }

// atLeast sets a limit that the median must reach.
func (r row) atLeast(limit float64, text string) row { return r.judge(r.Median >= limit, text) }

// noneAbove sets a limit that no value may pass.
func (r row) noneAbove(limit float64, text string) row { return r.judge(r.Max <= limit, text) }

// over sets the ratio of the median to that of another sample.
func (r row) over(other sample) row {
	if m := other.median(); m > 0 && r.Runs > 0 {
		r.Ratio = r.Median / m
	}
	return r
}

// ratioAtMost sets a limit to the ratio, which must have been set.
func (r row) ratioAtMost(limit float64, text string) row { return r.judgeRatio(r.Ratio <= limit, text) }

// ratioAtLeast sets a limit to the ratio, which must have been set.
func (r row) ratioAtLeast(limit float64, text string) row {
	return r.judgeRatio(r.Ratio >= limit, text)
}

func (r row) judgeRatio(ok bool, text string) row {
	if r.Ratio == 0 {
		r.Limit, r.Verdict = text, skipped // there was nothing to compare with
		return r
	}
	return r.judge(ok, text)
}

func (r row) judge(ok bool, text string) row {
	r.Limit = text
	switch {
	case r.Verdict == skipped:
	case ok:
		r.Verdict = met
	default:
		r.Verdict = notMet
	}
	return r
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

// writeTable prints rows for reading, with the machine above them and the limits
// that are not met counted below.
func writeTable(w io.Writer, rows []row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\n\n", thisMachine())
	fmt.Fprintln(table, "suite\twhat\tlimit\tmedian\tmin–max\tratio\t")
	count := map[verdict]int{}
	for _, r := range rows {
		fmt.Fprintln(table, strings.Join(r.cells(), "\t"))
		count[r.Verdict]++
	}
	fmt.Fprintf(table, "\n%d met, %d not met, %d skipped, %d failed\n", count[met], count[notMet], count[skipped], count[failed])
	return table.Flush()
}

// writeJSON prints rows for programs.
func writeJSON(w io.Writer, rows []row) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(struct {
		machine
		Rows []row `json:"rows"`
	}{thisMachine(), rows})
}
