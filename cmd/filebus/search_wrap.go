package main

import (
	"strings"
	"unicode"

	"filebus/cmd/filebus/cli"
	"filebus/query"
)

// writeWrapped writes a line of a hit: its heading and its snippet with the marked
// words. A terminal gets it wrapped at its width, a pipe whole.
func writeWrapped(e *cli.Environ, out *strings.Builder, heading string, s query.Snippet) {
	const indent = "  "
	text := heading + s.Text
	breaks := wrapPlaces(text, e.Columns-len(indent))
	piece := func(from, to int) string {
		var b strings.Builder
		for ; len(breaks) > 0 && breaks[0] < to; breaks = breaks[1:] {
			b.WriteString(text[from:breaks[0]] + "\n" + indent)
			from = breaks[0] + 1
		}
		return b.String() + text[from:to]
	}
	out.WriteString(indent)
	last := 0
	for _, m := range s.Marks {
		from, to := len(heading)+m.Start, len(heading)+m.End
		out.WriteString(piece(last, from) + e.Bold(piece(from, to)))
		last = to
	}
	out.WriteString(piece(last, len(text)) + "\n")
}

// boldRuns returns text with some of its bytes in bold; they are in order.
func boldRuns(e *cli.Environ, text string, runs []query.ByteRun) string {
	var out strings.Builder
	last := 0
	for _, r := range runs {
		out.WriteString(text[last:r.Start] + e.Bold(text[r.Start:r.End]))
		last = r.End
	}
	return out.String() + text[last:]
}

// writeFacts writes what a hit's first line says behind its name, which takes so
// many columns. A terminal gets the facts wrapped at its width, none cut in two.
func writeFacts(e *cli.Environ, out *strings.Builder, column int, facts []string) {
	for _, fact := range facts {
		if fact == "" {
			continue
		}
		gap, size := "  ", len("  ")
		for _, r := range fact {
			size += runeColumns(r)
		}
		if column += size; e.Columns > 0 && column > e.Columns {
			gap, column = "\n  ", size
		}
		out.WriteString(gap + fact)
	}
}

// wrapPlaces returns the spaces, as bytes of text, at which lines of so many columns
// end; none for a width too small to be true.
func wrapPlaces(text string, columns int) (breaks []int) {
	const least = 20
	if columns < least {
		return nil
	}
	width, space, behind := 0, -1, 0 // behind: the width from the last space on
	for i, r := range text {
		n := runeColumns(r)
		if width, behind = width+n, behind+n; r == ' ' {
			space, behind = i, 0
		}
		if width > columns && space >= 0 {
			breaks = append(breaks, space)
			width, space = behind, -1
		}
	}
	return breaks
}

// runeColumns is how many columns of a terminal a rune takes, about.
func runeColumns(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r) || unicode.IsControl(r):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
		r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}
