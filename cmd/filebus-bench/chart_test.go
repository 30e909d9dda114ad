package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCharts(t *testing.T) {
	ms := func(value float64) row { return measured("x", "ms", sample{value}) }
	got := charts([]row{
		ms(1).on("put", "whole", 1000),
		ms(5).on("search", "whole", 1000),
		ms(2), // no point
		ms(3).on("put", "part", 1000),
		ms(4).on("put", "whole", 10000),
		measured("x", "ms", nil).on("put", "whole", 100000), // not measured
		ms(0).on("put", "whole", 100000),                    // has no logarithm
	})
	want := []chart{
		{"put", "ms", []line{{"whole", []point{{1000, 1}, {10000, 4}}}, {"part", []point{{1000, 3}}}}},
		{"search", "ms", []line{{"whole", []point{{1000, 5}}}}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(chart{}, line{}, point{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Several lines share the horizontal axis.
func TestAxisOfSeveralLines(t *testing.T) {
	var c chart
	for _, name := range []string{"whole", "part"} {
		for at := 1000.0; at <= 100000; at *= 10 {
			c.add(name, point{at, 5})
		}
	}
	x, _ := c.axes()
	var got []float64
	for _, tick := range x.ticks {
		got = append(got, math.Round(x.place(tick)-x.from))
	}
	width := math.Round(x.to - x.from)
	if want := []float64{0, width / 2, width}; !cmp.Equal(want, got) {
		t.Errorf("ticks %v are at %v, want %v", x.ticks, got, want)
	}
}

func TestAxes(t *testing.T) {
	curve := func(values ...float64) chart {
		c := chart{}
		at := 1000.0
		for _, value := range values {
			c.add("x", point{at, value})
			at *= 10
		}
		return c
	}
	for _, test := range []struct {
		what      string
		chart     chart
		low, high float64
		ticks     int
	}{
		{"a flat curve spans a power of ten", curve(13, 13, 14), 5, 50, 4},
		{"one point", curve(300), 100, 1000, 4},
		{"much growth has ticks at powers of ten", curve(1, 9000, 90000), 1, 200000, 6},
		{"small values", curve(0.02, 0.3), 0.02, 0.5, 5},
	} {
		x, y := test.chart.axes()
		if math.Abs(y.low/test.low-1) > 1e-9 || math.Abs(y.high/test.high-1) > 1e-9 || len(y.ticks) != test.ticks {
			t.Errorf("%s: got %v to %v with ticks %v, want %v to %v with %d", test.what, y.low, y.high, y.ticks, test.low, test.high, test.ticks)
		}
		if y.high < 10*y.low {
			t.Errorf("%s: got %v to %v, want at least ten times as much", test.what, y.low, y.high)
		}
		for _, l := range test.chart.lines {
			for _, p := range l.points {
				if px, py := x.place(p.at), y.place(p.value); px < marginLeft || px > marginLeft+plotWidth || py < marginTop || py > marginTop+plotHeight {
					t.Errorf("%s: the point %v lies outside, at %v, %v", test.what, p, px, py)
				}
			}
		}
	}
}

func TestRounding(t *testing.T) {
	for value, want := range map[float64][2]float64{1: {1, 1}, 1.5: {1, 2}, 2: {2, 2}, 4.9: {2, 5}, 5: {5, 5}, 7: {5, 10}, 99: {50, 100}, 0.03: {0.02, 0.05}} {
		if down, up := roundDown(value), roundUp(value); math.Abs(down/want[0]-1) > 1e-9 || math.Abs(up/want[1]-1) > 1e-9 {
			t.Errorf("%v: got %v and %v, want %v", value, down, up, want)
		}
	}
}

func TestShort(t *testing.T) {
	for value, want := range map[float64]string{0.5: "0.5", 1.25: "1.25", 20: "20", 1000: "1000", 10_000: "10k", 12_500: "12.5k", 1_000_000: "1M"} {
		if got := short(value); got != want {
			t.Errorf("short(%v): got %s, want %s", value, got, want)
		}
	}
}

var circle = regexp.MustCompile(`<circle cx="([\d.]+)" cy="([\d.]+)"`)

// TestPicture reads the points out of a picture: it must be well-formed, and more
// must be higher.
func TestPicture(t *testing.T) {
	var out bytes.Buffer
	rows := []row{
		measured("x", "ms", sample{10}).on("a < b & c", "<one>", 1000),
		measured("x", "ms", sample{20}).on("a < b & c", "<one>", 10_000),
		measured("x", "ms", sample{20}).on("a < b & c", "<one>", 100_000),
	}
	if err := writeCharts(&out, charts(rows)); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(out.Bytes()))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is not well-formed: %v\n%s", err, out.String())
		}
	}
	var x, y []float64
	for _, match := range circle.FindAllStringSubmatch(out.String(), -1) {
		x, y = append(x, number(t, match[1])), append(y, number(t, match[2]))
	}
	if len(x) != 3 || !(x[0] < x[1] && x[1] < x[2]) || math.Abs(x[1]-x[0]-(x[2]-x[1])) > 0.2 {
		t.Errorf("1000, 10,000 and 100,000: got %v, want equal steps to the right", x)
	}
	if len(y) != 3 || y[1] >= y[0] || y[1] != y[2] {
		t.Errorf("10, 20 and 20: got %v, want one step up", y)
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestDrawTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "curves.svg")
	if err := drawTo(file, []row{measured("x", "ms", sample{1})}); err == nil {
		t.Error("rows without curves: got no error")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("rows without curves: got a file")
	}
	rows := []row{measured("x", "ms", sample{1}).on("a", "b", 1)}
	if err := drawTo(filepath.Join(file, "none", "x.svg"), rows); err == nil {
		t.Error("a folder that is not there: got no error")
	}
	if err := drawTo(file, rows); err != nil {
		t.Error(err)
	}
}
