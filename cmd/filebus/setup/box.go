package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// byteOrderMark may stand before JSON, and is none of it.
const byteOrderMark = "\ufeff"

// maxNested bounds what the parser, which calls itself, has to go down into.
const maxNested = 100_000

// parseJSON reads a file. Its offsets count from behind the mark.
func parseJSON(text []byte) (hujson.Value, error) {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxNested {
		return hujson.Value{}, errors.New("it has too many objects and arrays")
	}
	// A comment in the last line need not end.
	v, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return v, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return v, nil
}

// A box is an object or an array, as it stands in a text.
type box struct {
	kind        hujson.Kind // '{' or '['
	first, last int         // the offsets behind the opening and before the closing sign
	items       []item
}

// An item is a member of an object, or an element of an array.
type item struct {
	name       string
	start, end int // with its name, and without the comma
	comma      int // the offset of the comma behind it; -1: there is none
	value      hujson.Value
}

func boxOf(text []byte, v hujson.Value) (b box, ok bool) {
	b = box{first: v.StartOffset + 1, last: v.EndOffset - 1, kind: v.Value.Kind()}
	add := func(name string, start int, v hujson.Value) {
		comma := v.EndOffset + len(v.AfterExtra)
		if text[comma] != ',' {
			comma = -1
		}
		b.items = append(b.items, item{name, start, v.EndOffset, comma, v})
	}
	switch v := v.Value.(type) {
	case *hujson.Object:
		for _, m := range v.Members {
			add(m.Name.Value.(hujson.Literal).String(), m.Name.StartOffset, m.Value)
		}
	case *hujson.Array:
		for _, element := range v.Elements {
			add("", element.StartOffset, element)
		}
	default:
		return b, false
	}
	return b, true
}

// A step is a box on the way to an entry, and the item to go on with, or -1.
type step struct {
	box
	next int
}

// isMade reports whether a box was made for the one item that it has.
func (s step) isMade(text []byte) bool {
	if len(s.items) != 1 {
		return false
	}
	before, after := text[s.first:s.items[0].start], text[s.items[0].end:s.last]
	return bytes.HasPrefix(bytes.TrimPrefix(before, []byte("\r")), []byte("\n")) &&
		len(bytes.TrimSpace(before)) == 0 && len(bytes.TrimSpace(after)) == 0
}

// without returns the text without the step's item: with its comma, or else the one
// before it. Comments around it stay.
func (s step) without(text []byte) []byte {
	i := s.items[s.next]
	from, to, start := s.first, i.comma, i.start
	if s.next > 0 {
		from = s.items[s.next-1].comma + 1
	}
	if space := bytes.TrimRight(text[from:start], " \t\r\n"); len(space) == 0 {
		start = from
	}
	switch {
	case to >= 0:
		return slices.Concat(text[:start], text[i.end:to], text[to+1:])
	case s.next > 0:
		return slices.Concat(text[:from-1], text[from:start], text[i.end:])
	}
	return slices.Concat(text[:start], text[i.end:])
}

// cutMark returns the byte order mark, or nothing, and what follows.
func cutMark(text []byte) (mark, rest []byte) {
	if rest, found := bytes.CutPrefix(text, []byte(byteOrderMark)); found {
		return []byte(byteOrderMark), rest
	}
	return []byte{}, text
}

// lineEnd returns how lines of a text end.
func lineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// unitOf returns by what a file indents: as its first member, or by two spaces.
func unitOf(text []byte, root box) string {
	if len(root.items) > 0 {
		if unit := indentOf(text[root.first:root.items[0].start]); len(unit) > 0 {
			return string(unit)
		}
	}
	return "  "
}

// indentOf returns the white space that the last line begins with, or nothing if it is
// the only one.
func indentOf(before []byte) []byte {
	at := bytes.LastIndexByte(before, '\n')
	if at < 0 {
		return nil
	}
	line := before[at+1:]
	return line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
}

// decoded returns what a value means.
func decoded(v hujson.Value) (value any) {
	v = v.Clone()
	v.BeforeExtra, v.AfterExtra = nil, nil
	v.Standardize()
	if json.Unmarshal(v.Pack(), &value) != nil {
		return v // equal to nothing
	}
	return value
}
