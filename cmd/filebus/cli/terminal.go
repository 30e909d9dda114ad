package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"filebus/store/record"
)

// A Terminal stands before a terminal. What agents write is text there: whatever the
// terminal would obey, or not show, is written out, such as \x1b or \u202e. Of what a
// terminal obeys only line ends, tabs and our own styles get through.
type Terminal struct {
	To     io.Writer
	Styles *strings.Replacer // writes out our own styles
	before rune              // the last one that was shown
	rest   []byte            // of a rune that is not whole yet, or a \r
}

// drawStyles returns what stands for bold on and off in the texts of this process: two
// characters for private use, drawn by lot, so that no text of an agent can have them.
func drawStyles() (on, off string) {
	const first, half = 0x100000, 0x7000 // of Unicode's last plane
	return string(first + rand.Int32N(half)), string(first + half + rand.Int32N(half))
}

// Write writes text out. What may be the beginning of a rune waits for the next.
func (t *Terminal) Write(p []byte) (int, error) { return len(p), t.show(append(t.rest, p...), false) }

// Flush writes out what no more text completes.
func (t *Terminal) Flush() error { return t.show(t.rest, true) }

func (t *Terminal) show(text []byte, isLast bool) error {
	var out strings.Builder
	for len(text) > 0 && (isLast || utf8.FullRune(text) && string(text) != "\r") {
		r, size := utf8.DecodeRune(text)
		switch next := text[size:]; {
		case r == '\n', r == '\t', r == '\r' && bytes.HasPrefix(next, []byte("\n")):
			out.WriteRune(r)
		case r == '\r':
			out.WriteString(`\r`)
		case r == utf8.RuneError && size == 1, r < ' ', r == '\x7f':
			fmt.Fprintf(&out, `\x%02x`, text[0])
		case !record.IsHidden(r), record.Joins(t.before, r):
			out.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) { // as JSON writes it
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		}
		t.before, text = r, text[size:]
	}
	t.rest = bytes.Clone(text)
	_, err := t.Styles.WriteString(t.To, out.String())
	return err
}

// Guard puts a terminal before the outputs that are ones, and returns what ends them.
func (e *Environ) Guard() (flush func()) {
	none := strings.NewReplacer()
	out, err := &Terminal{To: e.Out, Styles: none}, &Terminal{To: e.Err, Styles: none}
	if e.OutTerminal {
		e.boldOn, e.boldOff = drawStyles()
		out.Styles = strings.NewReplacer(e.boldOn, BoldOn, e.boldOff, BoldOff)
		e.pager = &pager{to: e.Out, rows: e.Rows, notes: e.Err, signals: e.TakeSignals}
		e.Out, out.To = out, e.pager
	}
	if e.ErrTerminal {
		e.Err = err
		if e.pager != nil {
			err.To = pagerNotes{e.pager}
		}
	}
	return func() { // the last bytes of a broken text
		_ = errors.Join(out.Flush(), err.Flush())
		if e.pager != nil {
			_ = e.pager.Close() // its reader saw what went wrong
		}
	}
}

// RawErr returns where what is no text of agents goes to: a child's own output, and
// bars of progress.
func (e *Environ) RawErr() io.Writer {
	out := e.Err
	if counted, ok := out.(*ResultWriter); ok {
		out = counted.W
	}
	if t, ok := out.(*Terminal); ok {
		return t.To
	}
	return out
}
