package web

import (
	"fmt"
	"math"
	"slices"
)

// mostShown is how many entries of a list a page has.
const mostShown = 200

// cut returns the first entries of a list, and how many others there are.
func cut[T any](all []T, most int) (first []T, more int) {
	return all[:min(len(all), most)], max(len(all)-most, 0)
}

// An axis is a range of numbers with round ends. Places on it are in hundredths, for pages of any width.
type axis struct{ low, high, step float64 }

type tick struct {
	At    float64
	Label string
}

// newAxis returns an axis with two whole numbers on it, and some five in all.
func newAxis(low, high int) axis {
	from, to := float64(low), float64(high)
	step := math.Pow(10, math.Floor(math.Log10(max(to-from, 1))))
	if to-from > 5*step {
		step *= 2
	}
	from = math.Floor(from/step) * step
	return axis{from, max(math.Ceil(to/step)*step, from+step), step}
}

// At returns where a number is; one beyond an end is at that.
func (a axis) At(value int) float64 {
	return math.Round(10_000*min(max((float64(value)-a.low)/(a.high-a.low), 0), 1)) / 100
}

// Span returns how far it is from the beginning of one number to the end of another.
func (a axis) Span(from, to int) float64 { return max(a.At(to+1)-a.At(from), .5) }

// Ticks returns the round numbers.
func (a axis) Ticks() (ticks []tick) {
	for i := range int(math.Round((a.high-a.low)/a.step)) + 1 {
		value := int(a.low + float64(i)*a.step)
		label := count(value)
		switch { // one that is long would touch the next
		case value != 0 && value%1_000_000 == 0:
			label = fmt.Sprintf("%d M", value/1_000_000)
		case value/10_000 != 0 && value%1000 == 0:
			label = fmt.Sprintf("%d k", value/1000)
		}
		ticks = append(ticks, tick{a.At(value), label})
	}
	return ticks
}

// Curves are numbers drawn over the same places. A table has them too.
type curves struct {
	Title string
	X, Y  axis
	Names []string
	Lines [][]string // of each series, as points; a line ends where a number is missing
}

// draw returns the curves of rows, which have a number for each name, or none.
func draw(title string, at []int, names []string, rows [][]int) curves {
	all := append(slices.Concat(rows...), 0)
	up := newAxis(slices.Min(all), slices.Max(all))
	c := curves{title, newAxis(at[0], at[len(at)-1]), up, names, make([][]string, len(names))}
	for i, row := range rows {
		for n, v := range row {
			point := fmt.Sprintf("%.2f,%.2f ", c.X.At(at[i]), c.Y.At(v))
			if i > 0 && rows[i-1] != nil {
				c.Lines[n][len(c.Lines[n])-1] += point
			} else {
				c.Lines[n] = append(c.Lines[n], point+point) // one alone is a dot
			}
		}
	}
	return c
}
