package web

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A chart is a table whose rows have marks along one axis: bars, or spans from one place to
// another. Places are in hundredths, so that a page of any width draws it.
type chart struct {
	Title   string
	Legend  []string // what the marks of the classes series0, series1, ... are
	Columns []string // of labels and numbers
	Ticks   []tick
	Rows    []chartRow
	More    int // rows that are left out
}

type chartRow struct {
	Label, Link string
	Numbers     []string
	Marks       []mark
}

// A mark is a bar of a row: Y and Height are in hundredths of the row.
type mark struct {
	X, Width, Y, Height float64
	Class, Title        string
}

// A tick is a place on an axis.
type tick struct {
	At    float64
	Label string
}

// Anchor keeps a label within its drawing.
func (t tick) Anchor() string {
	switch {
	case t.At < 5:
		return "start"
	case t.At > 95:
		return "end"
	}
	return "middle"
}

// How many entries a page has of a list, and how many bars, each of which was asked for.
const (
	mostShown = 200
	mostRows  = 20
)

// cut returns the first entries of a list, and how many others there are.
func cut[T any](all []T, most int) (first []T, more int) {
	return all[:min(len(all), most)], max(len(all)-most, 0)
}

// bar adds a row with a bar for each value, one below the other. [chart.measure] makes them fit.
func (c *chart) bar(label, link string, numbers []string, values ...int) {
	row := chartRow{Label: label, Link: link, Numbers: numbers}
	height := 100 / float64(len(values))
	for i, value := range values {
		class, title := fmt.Sprint("series", i), c.Legend[i]+": "+count(value)
		row.Marks = append(row.Marks, mark{0, float64(value), height*float64(i) + 4, height - 8, class, title})
	}
	c.Rows = append(c.Rows, row)
}

// measure gives bars an axis that begins at 0, once all of them are there.
func (c *chart) measure() {
	top := 0.
	for _, row := range c.Rows {
		for _, m := range row.Marks {
			top = max(top, m.Width)
		}
	}
	axis := newAxis(0, top)
	c.Ticks = axis.ticks()
	for _, row := range c.Rows {
		for i := range row.Marks {
			row.Marks[i].Width = axis.at(row.Marks[i].Width)
		}
	}
}

// An axis is a range of numbers with round ends.
type axis struct{ low, high, step float64 }

// newAxis returns an axis that has two whole numbers on it.
func newAxis(low, high float64) axis {
	const steps = 4
	about := max((high-low)/steps, 1)
	step := math.Pow(10, math.Floor(math.Log10(about)))
	for _, times := range []float64{1, 2, 5, 10} {
		if step*times >= about {
			step *= times
			break
		}
	}
	low = math.Floor(low/step) * step
	return axis{low, max(math.Ceil(high/step)*step, low+step), step}
}

// at returns where a number is.
func (a axis) at(value float64) float64 {
	return math.Round(10_000*min(max((value-a.low)/(a.high-a.low), 0), 1)) / 100
}

func (a axis) ticks() (ticks []tick) {
	for i := range int(math.Round((a.high-a.low)/a.step)) + 1 {
		value := a.low + float64(i)*a.step
		ticks = append(ticks, tick{a.at(value), count(int(value))})
	}
	return ticks
}

// span returns a mark from one number to another, wide enough to be seen.
func (a axis) span(from, to float64, class, title string) mark {
	const least = .7
	x, end := a.at(from), a.at(to)
	return mark{min(x, 100-least), max(end-x, least), 20, 60, class, title}
}

// timeAxis returns an axis from one time to another, in seconds, with both and the middle named.
func timeAxis(from, to time.Time) (axis, []tick) {
	form := "2006-01-02"
	if to.Sub(from) < 48*time.Hour {
		form = "01-02 15:04"
	}
	at := func(place float64, t time.Time) tick { return tick{place, t.UTC().Format(form)} }
	low := seconds(from)
	return axis{low, max(seconds(to), low+1), 1}, []tick{at(0, from), at(50, from.Add(to.Sub(from)/2)), at(100, to)}
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// A series is a number for each of some places; nil: it is missing.
type series struct {
	Name   string
	Values []*int
}

// Curves are series drawn over the same places. A table has their numbers.
type curves struct {
	Title  string
	X, Y   []tick
	Series []curve
}

type curve struct {
	Name   string
	Points []point
}

// isEmpty reports whether there is nothing to see.
func (c curves) isEmpty() bool {
	return !slices.ContainsFunc(c.Series, func(s curve) bool { return len(s.Points) > 0 })
}

// A point is a value of a series; where there is one before it, a line goes there.
type point struct {
	X, Y         float64
	Joined       bool
	FromX, FromY float64
	Title        string
}

// drawn draws series over labelled places.
func drawn(title string, labels []string, all ...series) curves {
	low, high := 0, 1
	for _, s := range all {
		for _, v := range slices.DeleteFunc(slices.Clone(s.Values), func(v *int) bool { return v == nil }) {
			low, high = min(low, *v), max(high, *v)
		}
	}
	vertical, horizontal := newAxis(float64(low), float64(high)), axis{0, float64(max(len(labels)-1, 1)), 1}
	x := func(i int) float64 { return 10 + .87*horizontal.at(float64(i)) } // beside the numbers of the axis
	y := func(place float64) float64 { return 90 - .84*place }             // above the labels
	c := curves{Title: title}
	for _, t := range vertical.ticks() {
		c.Y = append(c.Y, tick{y(t.At), t.Label})
	}
	for i := 0; i < len(labels); i += 1 + len(labels)/12 {
		c.X = append(c.X, tick{x(i), labels[i]})
	}
	for _, s := range all {
		out, last := curve{Name: s.Name}, point{}
		for i, v := range s.Values {
			if v == nil {
				last = point{}
				continue
			}
			p := point{x(i), y(vertical.at(float64(*v))), last.X > 0, last.X, last.Y, fmt.Sprintf("%s, %s: %s", s.Name, labels[i], count(*v))}
			out.Points, last = append(out.Points, p), p
		}
		c.Series = append(c.Series, out)
	}
	return c
}
