package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"filebus/store/record"
)

// A terminal stands before a terminal. What agents write is text there: whatever the
// terminal would obey, or not show, is written out, such as \x1b or \u202e. Of what a
// terminal obeys only line ends, tabs and our own styles get through.
type terminal struct {
	to     io.Writer
	styles styles
	before rune   // the last one that was shown
	rest   []byte // of a rune that is not whole yet, or a \r
}

// styles are what stands for bold on and off in the texts of this process: characters
// that it has drawn by lot, so that no text of an agent can have them.
type styles struct{ on, off string }

// drawStyles returns two different characters for private use.
func drawStyles() styles {
	const first, half = 0x100000, 0x7000 // of Unicode's last plane
	return styles{string(first + rand.Int32N(half)), string(first + half + rand.Int32N(half))}
}

// Write writes text out. What may be the beginning of a rune waits for the next.
func (t *terminal) Write(p []byte) (int, error) {
	text := append(t.rest, p...)
	var out strings.Builder
	for len(text) > 0 {
		if text[0] == '\r' && len(text) == 1 || !utf8.FullRune(text) {
			break
		}
		r, size := utf8.DecodeRune(text)
		t.show(&out, text[:size], r, text[size:])
		text = text[size:]
	}
	t.rest = append([]byte(nil), text...)
	_, err := io.WriteString(t.to, out.String())
	return len(p), err
}

// Flush writes out what no more text completes.
func (t *terminal) Flush() error {
	var out strings.Builder
	for _, b := range t.rest {
		fmt.Fprintf(&out, `\x%02x`, b)
	}
	t.rest = nil
	_, err := io.WriteString(t.to, out.String())
	return err
}

// show appends a character as it may be shown. What follows it is needed for line ends.
func (t *terminal) show(out *strings.Builder, text []byte, r rune, next []byte) {
	switch {
	case r == utf8.RuneError && len(text) == 1, r < ' ' && r != '\n' && r != '\t' && r != '\r', r == '\x7f':
		fmt.Fprintf(out, `\x%02x`, text[0])
	case r == '\r' && next[0] != '\n':
		out.WriteString(`\r`)
	case t.styles.on != "" && string(text) == t.styles.on:
		out.WriteString(boldOn)
		return
	case t.styles.on != "" && string(text) == t.styles.off:
		out.WriteString(boldOff)
		return
	case r == '\n', r == '\t', r == '\r', !record.IsHidden(r), record.Joins(t.before, r):
		out.Write(text)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r) // as JSON writes it
		fmt.Fprintf(out, `\u%04x\u%04x`, high, low)
	default:
		fmt.Fprintf(out, `\u%04x`, r)
	}
	t.before = r
}

// guard puts a terminal before the outputs that are ones, and returns what ends them.
func (e *environ) guard() (flush func()) {
	var guarded []*terminal
	if e.outTerminal {
		e.styles = drawStyles()
		guarded = append(guarded, &terminal{to: e.out, styles: e.styles})
		e.out = guarded[0]
	}
	if e.errTerminal {
		t := &terminal{to: e.err}
		guarded = append(guarded, t)
		e.err = t
	}
	return func() {
		for _, t := range guarded {
			_ = t.Flush() // the last bytes of a broken text
		}
	}
}

// rawErr returns where what is no text of agents goes to: a child's own output, and
// bars of progress.
func (e *environ) rawErr() io.Writer {
	if t, ok := e.err.(*terminal); ok {
		return t.to
	}
	return e.err
}
