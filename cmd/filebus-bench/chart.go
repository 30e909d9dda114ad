package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
)

// A chart is lines over one horizontal axis. Both axes are logarithmic: what grows
// with the number of records rises as steeply in every chart, what does not is flat.
type chart struct {
	title, unit string
	lines       []line
}

// A line is points in the order of at.
type line struct {
	name   string
	points []point
}

type point struct{ at, value float64 }

// charts collects the points of rows, in the order in which charts and lines first
// appear. What was not measured, or is nothing, has no point.
func charts(rows []row) []chart {
	var all []chart
	for _, r := range rows {
		if r.Chart == "" || r.Runs == 0 || r.Median <= 0 || r.At <= 0 {
			continue
		}
		i := slices.IndexFunc(all, func(c chart) bool { return c.title == r.Chart })
		if i < 0 {
			i = len(all)
			all = append(all, chart{title: r.Chart, unit: r.Unit})
		}
		all[i].add(r.Line, point{r.At, r.Median})
	}
	return all
}

func (c *chart) add(name string, p point) {
	i := slices.IndexFunc(c.lines, func(l line) bool { return l.name == name })
	if i < 0 {
		i = len(c.lines)
		c.lines = append(c.lines, line{name: name})
	}
	c.lines[i].points = append(c.lines[i].points, p)
}

// The layout of the picture, in pixels.
const (
	chartWidth, chartHeight         = 400, 270
	marginLeft, marginRight         = 58, 22
	marginTop, marginBottom         = 54, 34
	chartColumns                    = 2
	plotWidth, plotHeight   float64 = chartWidth - marginLeft - marginRight, chartHeight - marginTop - marginBottom
)

// lineColors can be told apart by the colour-blind too.
func lineColors() []string { return []string{"#0072b2", "#d55e00", "#009e73", "#aa4499"} }

// drawTo writes a picture of the curves in rows to a file.
func drawTo(path string, rows []row) (err error) {
	all := charts(rows)
	if len(all) == 0 {
		return errors.New("there are no curves to draw: they are those of the suites growth, processes and searchers")
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return writeCharts(f, all)
}

// writeCharts draws charts side by side, as SVG.
func writeCharts(w io.Writer, all []chart) error {
	var out strings.Builder
	width := chartWidth * min(chartColumns, len(all))
	height := chartHeight * ((len(all) + chartColumns - 1) / chartColumns)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" fill="#333">`+"\n", width, height, width, height)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	for i := range all {
		fmt.Fprintf(&out, `<g transform="translate(%d %d)">`+"\n", i%chartColumns*chartWidth, i/chartColumns*chartHeight)
		all[i].draw(&out)
		out.WriteString("</g>\n")
	}
	out.WriteString("</svg>\n")
	_, err := io.WriteString(w, out.String())
	return err
}

func (c *chart) draw(out *strings.Builder) {
	title := c.title
	if c.unit != "" {
		title += ", " + c.unit
	}
	fmt.Fprintf(out, `<text x="%d" y="18" font-size="13" font-weight="bold">%s</text>`+"\n", marginLeft, escape(title))
	x, y := c.axes()
	for _, tick := range x.ticks {
		fmt.Fprintf(out, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%.1f" stroke="#eee"/>`, x.place(tick), x.place(tick), marginTop, marginTop+plotHeight)
		fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", x.place(tick), marginTop+plotHeight+16, short(tick))
	}
	for _, tick := range y.ticks {
		fmt.Fprintf(out, `<line x1="%d" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#ddd"/>`, marginLeft, marginLeft+plotWidth, y.place(tick), y.place(tick))
		fmt.Fprintf(out, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", marginLeft-6, y.place(tick)+4, short(tick))
	}
	left := float64(marginLeft)
	for i, l := range c.lines {
		color := lineColors()[i%len(lineColors())]
		fmt.Fprintf(out, `<text x="%.1f" y="36" font-size="10" fill="%s">● %s</text>`+"\n", left, color, escape(l.name))
		left += 22 + 5.2*float64(len(l.name))
		l.draw(out, x, y, color, -7+21*float64(i%2)) // above the points, or below
	}
}

// draw draws a line with its points, and the values at both ends, so many pixels
// below them.
func (l *line) draw(out *strings.Builder, x, y axis, color string, below float64) {
	var path strings.Builder
	for i, p := range l.points {
		fmt.Fprintf(&path, "%.1f,%.1f ", x.place(p.at), y.place(p.value))
		fmt.Fprintf(out, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, x.place(p.at), y.place(p.value), color)
		if i == 0 || i == len(l.points)-1 {
			fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="%s">%s</text>`, x.place(p.at), y.place(p.value)+below, color, short(p.value))
		}
	}
	fmt.Fprintf(out, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.TrimSpace(path.String()), color)
}

// An axis places values between two ends, by their logarithm.
type axis struct {
	low, high float64 // values at its ends
	from, to  float64 // pixels there
	ticks     []float64
}

func (a axis) place(value float64) float64 {
	return a.from + (a.to-a.from)*math.Log(value/a.low)/math.Log(a.high/a.low)
}

// axes returns those of a chart. The vertical one spans a power of ten at least, so
// that a curve is not made steep by taking a small part of the axis.
func (c *chart) axes() (x, y axis) {
	var ats, values []float64
	for _, l := range c.lines {
		for _, p := range l.points {
			ats, values = append(ats, p.at), append(values, p.value)
		}
	}
	slices.Sort(ats)
	ats = slices.Compact(ats)
	x = axis{low: ats[0], high: ats[len(ats)-1], from: marginLeft + 14, to: marginLeft + plotWidth - 14, ticks: ats}
	if x.low == x.high {
		x.low, x.high = x.low/2, x.high*2
	}
	y = axis{low: roundDown(slices.Min(values)), high: roundUp(slices.Max(values) * 1.2), from: marginTop + plotHeight, to: marginTop}
	for y.high < 10*y.low {
		y.low = roundDown(y.low * 0.99)
		if y.high < 10*y.low {
			y.high = roundUp(y.high * 1.01)
		}
	}
	for tick := y.low; tick <= y.high*1.0001; tick = roundUp(tick * 1.01) {
		y.ticks = append(y.ticks, tick)
	}
	if len(y.ticks) > 7 { // powers of ten are enough
		y.ticks = slices.DeleteFunc(y.ticks, func(tick float64) bool { return !isPower(tick) })
	}
	return x, y
}

// roundDown returns the greatest of 1, 2 and 5 times a power of ten that is not
// above value, which is positive.
func roundDown(value float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(value)))
	for _, step := range []float64{5, 2} {
		if step*power <= value*(1+1e-9) {
			return step * power
		}
	}
	return power
}

// roundUp returns the least such number that is not below value.
func roundUp(value float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(value)))
	for _, step := range []float64{1, 2, 5} {
		if step*power >= value*(1-1e-9) {
			return step * power
		}
	}
	return 10 * power
}

func isPower(value float64) bool {
	exponent := math.Log10(value)
	return math.Abs(exponent-math.Round(exponent)) < 1e-9
}

// short writes a number for an axis: 1.5k, 20M.
func short(value float64) string {
	switch {
	case value >= 1e6:
		return trimmed(value/1e6) + "M"
	case value >= 1e4:
		return trimmed(value/1e3) + "k"
	}
	return trimmed(value)
}

// trimmed is figure without what ends in zeros.
func trimmed(value float64) string {
	text := figure(value)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func escape(text string) string {
	var out strings.Builder
	// A strings.Builder takes everything.
	_ = xml.EscapeText(&out, []byte(text))
	return out.String()
}
