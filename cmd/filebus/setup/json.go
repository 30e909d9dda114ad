package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// An entry is a value of ours in a file of JSON, which may have comments and commas at
// the end. What is to hold it is made where it is missing, in several lines; into an
// empty one of the user's it is put in the line that this begins in. So remove can tell
// whose it is. It is put before what is there, where no comma can be missing.
type entry struct {
	path  []string // the names that lead to it; the last is "" of an element of a list
	value json.RawMessage
}

func parse(text []byte) (v hujson.Value, err error) {
	v, err = hujson.Parse(append(bytes.TrimRight(bytes.Clone(text), "\n"), '\n')) // a comment in the last line need not end
	if err != nil {
		err = errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return v, err
}

// An item is a member of an object or an element of a list, with what stands before it.
type item struct {
	name  string
	lead  hujson.Extra
	start int
	value hujson.Value
}

func items(v hujson.Value) (all []item) {
	switch v := v.Value.(type) {
	case *hujson.Object:
		for _, m := range v.Members {
			all = append(all, item{m.Name.Value.(hujson.Literal).String(), m.Name.BeforeExtra, m.Name.StartOffset, m.Value})
		}
	case *hujson.Array:
		for _, e := range v.Elements {
			all = append(all, item{"", e.BeforeExtra, e.StartOffset, e})
		}
	}
	return all
}

// A step is an object or a list on the way to the entry.
type step struct {
	start int // where its items begin
	items []item
	i     int // of the item that leads on, or is the entry; -1: none
}

// find returns the way to the entry, as far as there is one, and the entry; nil: it is
// not there.
func (e entry) find(text []byte) (way []step, it *item, err error) {
	v, err := parse(text)
	for i := 0; i < len(e.path) && err == nil; i++ {
		line := 1 + bytes.Count(text[:v.StartOffset], []byte("\n"))
		what := strings.Join(append([]string{"the file"}, e.path[:i]...), ".")
		if kind := map[bool]hujson.Kind{true: '[', false: '{'}[e.path[i] == ""]; v.Value.Kind() != kind {
			return nil, nil, fmt.Errorf("line %d: %s begins with no %c", line, what, kind)
		}
		s := step{v.StartOffset + 1, items(v), -1}
		isIt := func(it item) bool { return it.name == e.path[i] && (it.name != "" || e.isSame(it.value)) }
		s.i = slices.IndexFunc(s.items, isIt)
		if way = append(way, s); s.i < 0 {
			return way, nil, nil
		}
		if it = &s.items[s.i]; it.name != "" && slices.ContainsFunc(s.items[s.i+1:], isIt) {
			return nil, nil, fmt.Errorf("line %d: %s has %s there twice", line, what, it.name)
		}
		v = it.value
	}
	if err == nil && !e.isSame(v) {
		err = kept(strings.Join(e.path, ".") + " is there in another form")
	}
	return way, it, err
}

// isSame reports whether a value means what the entry does.
func (e entry) isSame(v hujson.Value) bool {
	var own, other any
	v = v.Clone()
	v.Standardize()
	return json.Unmarshal(e.value, &own) == nil && json.Unmarshal(v.Pack(), &other) == nil && reflect.DeepEqual(own, other)
}

func (e entry) add(text []byte) ([]byte, error) {
	if text == nil {
		return append(e.written(0, "", "  "), '\n'), nil
	}
	if len(bytes.TrimSpace(text)) == 0 { // as {}; without a line end, by which remove knows the file for the user's
		return append(bytes.Clone(text), e.written(0, "", "  ")...), nil
	}
	way, it, err := e.find(text)
	if err != nil || it != nil {
		return text, err
	}
	unit, depth, last := "  ", len(way), way[len(way)-1]
	if first := way[0].items; len(first) > 0 {
		unit = cmp.Or(strings.TrimLeft(indentOf(first[0]), "\n"), unit)
	}
	put := e.written(depth, strings.Repeat(unit, depth), unit)
	if name := e.path[depth-1]; name != "" {
		put = slices.Concat(hujson.String(name), []byte(": "), put)
	}
	if len(last.items) > 0 {
		put = slices.Concat([]byte(indentOf(last.items[0])), put, []byte(","))
	}
	put = bytes.ReplaceAll(put, []byte("\n"), []byte(lineEnd(text)))
	return slices.Concat(text[:last.start], put, text[last.start:]), nil
}

// indentOf returns the line ends and white space before an item that begins a line.
func indentOf(it item) string { return string(regexp.MustCompile(`\n+[ \t]*`).Find(it.lead)) }

// written returns the entry with what holds it below a depth, in lines.
func (e entry) written(depth int, indent, unit string) []byte {
	var value any = e.value
	for _, name := range slices.Backward(e.path[depth:]) {
		if name == "" {
			value = []any{value}
		} else {
			value = map[string]any{name: value}
		}
	}
	text, _ := json.MarshalIndent(value, indent, unit) // a test writes each
	return text
}

// remove takes out the entry, with what was made for it. What holds anything else by now loses the entry alone.
func (e entry) remove(text []byte) (now []byte, err error) {
	if !bytes.Contains(text, []byte("filebus")) { // each of ours has it
		return text, nil
	}
	way, it, err := e.find(text)
	if err != nil || it == nil {
		return text, err
	}
	if made, _ := e.add(nil); bytes.Equal(made, bytes.ReplaceAll(text, []byte("\r"), nil)) {
		return nil, nil
	}
	if before, isIt := bytes.CutSuffix(text, e.written(0, "", "  ")); isIt && len(bytes.TrimSpace(before)) == 0 {
		return before, nil
	}
	i := len(way) - 1
	for i > 0 && way[i].isMade(text, way[i-1]) {
		i--
	}
	return way[i].cut(text), nil
}

// isMade reports whether add has made what holds the item, which lies in an outer step: nothing else is in it, and the
// item begins a line.
func (s step) isMade(text []byte, outer step) bool {
	it := s.items[s.i]
	before, after := text[s.start:it.start], text[it.value.EndOffset:outer.items[outer.i].value.EndOffset-1]
	return len(s.items) == 1 && bytes.Contains(before, []byte("\n")) && len(bytes.Trim(slices.Concat(before, after), ", \t\r\n")) == 0
}

// cut takes an item out, with its comma or the one before it. Comments stay.
func (s step) cut(text []byte) []byte {
	it := s.items[s.i]
	lead, end := it.start-len(it.lead), it.value.EndOffset
	start, comma := it.start, end+len(it.value.AfterExtra)
	if len(bytes.TrimSpace(it.lead)) == 0 {
		start = lead
	}
	switch {
	case text[comma] == ',':
		return slices.Concat(text[:start], text[end:comma], text[comma+1:])
	case s.i > 0:
		return slices.Concat(text[:lead-1], text[lead:start], text[end:])
	}
	return slices.Concat(text[:start], text[end:])
}
