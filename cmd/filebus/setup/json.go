package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// An entry is a value of ours in a file of JSON, which may have comments and commas at
// the end.
type entry struct {
	at    []string // the names that lead to what holds it
	name  string   // its own in an object; "": it is an element of an array
	value any      // as package json writes it, in the order of its fields
	alike func(any) bool
}

// String names the entry for the user.
func (e entry) String() string {
	return strings.Join(slices.DeleteFunc(append(slices.Clone(e.at), e.name), func(n string) bool { return n == "" }), ".")
}

// entries are those of one file. Where an object or array is missing, it is made, in
// several lines; into an empty one of the user's the first entry is put in the line
// that it begins in. So remove can tell whose it is.
type entries []entry

func (all entries) add(text []byte) ([]byte, []string, error) {
	before, kept := text, []string(nil)
	var added entries
	for _, e := range all {
		next, why, err := e.add(text)
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			kept = append(kept, why)
		} else if !bytes.Equal(next, text) {
			added = append(added, e)
		}
		text = next
	}
	if back, _, err := added.remove(text, false); err != nil || !bytes.Equal(back, before) || (back == nil) != (before == nil) {
		return nil, nil, errors.New("an entry could not be taken out of it again as it was put in")
	}
	return text, kept, nil
}

func (all entries) remove(text []byte, force bool) ([]byte, []string, error) {
	var kept []string
	for _, e := range slices.Backward(all) {
		for text != nil {
			next, why, err := e.remove(text, force)
			if err != nil {
				return nil, nil, err
			}
			if why != "" && !slices.Contains(kept, why) {
				kept = append(kept, why)
			}
			if next != nil && bytes.Equal(next, text) {
				break
			}
			text = next
		}
	}
	return text, kept, nil
}

// find goes down to the entry. The last box is the one that holds it, or the one in
// which what would hold it is missing.
func (e entry) find(text []byte) (way []step, err error) {
	v, err := parseJSON(text)
	for i := 0; err == nil; i++ {
		kind := hujson.Kind('{')
		if i == len(e.at) && e.name == "" {
			kind = '['
		}
		b, _ := boxOf(text, v)
		if b.kind != kind {
			line := 1 + bytes.Count(text[:v.StartOffset], []byte("\n"))
			return nil, fmt.Errorf("line %d: %s is no %s", line, strings.Join(append([]string{"the file"}, e.at[:i]...), "."),
				map[hujson.Kind]string{'{': "object", '[': "list"}[kind])
		}
		next, err := e.choose(text, b, i)
		way = append(way, step{b, next})
		if err != nil || next < 0 || i == len(e.at) {
			return way, err
		}
		v = b.items[next].value
	}
	return nil, err
}

// choose returns the item of a box on the way.
func (e entry) choose(text []byte, b box, depth int) (next int, err error) {
	next = -1
	if depth == len(e.at) && e.name == "" {
		if next = slices.IndexFunc(b.items, func(i item) bool { return e.isSame(i.value) }); next < 0 {
			next = slices.IndexFunc(b.items, func(i item) bool { return e.isAlike(i.value) })
		}
		return next, nil
	}
	name := append(slices.Clone(e.at), e.name)[depth]
	for i, item := range b.items {
		switch {
		case item.name != name:
		case next >= 0:
			return -1, fmt.Errorf("line %d: %q is there twice", 1+bytes.Count(text[:item.start], []byte("\n")), name)
		default:
			next = i
		}
	}
	return next, nil
}

func (e entry) isSame(v hujson.Value) bool {
	var own any
	text, err := json.Marshal(e.value)
	return err == nil && json.Unmarshal(text, &own) == nil && reflect.DeepEqual(own, decoded(v))
}

func (e entry) isAlike(v hujson.Value) bool {
	return e.name != "" || e.alike != nil && e.alike(decoded(v))
}

// add returns the text with the entry, or why it is left as it is.
func (e entry) add(text []byte) (_ []byte, kept string, err error) {
	if text == nil {
		made, err := e.made(0, "  ")
		return append(made, '\n'), "", err
	}
	mark, rest := cutMark(text)
	way, err := e.find(rest)
	if err != nil {
		return nil, "", err
	}
	depth := len(way) - 1
	b := way[depth]
	if b.next >= 0 {
		if !e.isSame(b.items[b.next].value) {
			kept = e.String() + " is there in another form"
		}
		return text, kept, nil
	}
	unit, end := unitOf(rest, way[0].box), lineEnd(rest)
	made, err := e.inside(depth, strings.Repeat(unit, depth+1), unit)
	if err != nil {
		return nil, "", err
	}
	var ins []byte
	if len(b.items) > 0 {
		if before := rest[b.first:b.items[0].start]; bytes.Contains(before, []byte("\n")) {
			ins = append([]byte("\n"), indentOf(before)...)
		}
		made = append(made, ',')
	}
	ins = bytes.ReplaceAll(append(ins, made...), []byte("\n"), []byte(end))
	return slices.Concat(mark, rest[:b.first], ins, rest[b.first:]), "", nil
}

// made returns what holds the entry, at a depth: all that is missing from there on.
func (e entry) made(depth int, unit string) ([]byte, error) {
	sides := "{}"
	if depth == len(e.at) && e.name == "" {
		sides = "[]"
	}
	indent := strings.Repeat(unit, depth)
	inside, err := e.inside(depth, indent+unit, unit)
	return fmt.Appendf(nil, "%c\n%s%s%s\n%s%c", sides[0], indent, unit, inside, indent, sides[1]), err
}

// inside returns the item to put into the box at a depth.
func (e entry) inside(depth int, indent, unit string) (value []byte, err error) {
	name := e.name
	if depth < len(e.at) {
		name = e.at[depth]
		value, err = e.made(depth+1, unit)
	} else {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent(indent, unit)
		err = enc.Encode(e.value)
		value = bytes.TrimSpace(out.Bytes())
	}
	if name != "" {
		value = slices.Concat(hujson.String(name), []byte(": "), value)
	}
	return value, err
}

// remove returns the text without the entry, and without what was made for it; nil if
// nothing else is left of a file that was made for it.
func (e entry) remove(text []byte, force bool) (_ []byte, kept string, err error) {
	mark, rest := cutMark(text)
	way, err := e.find(rest)
	if err != nil {
		return nil, "", err
	}
	last := way[len(way)-1]
	if len(way) <= len(e.at) || last.next < 0 {
		return text, "", nil
	}
	if v := last.items[last.next].value; !e.isSame(v) && (!force || e.alike != nil && !e.alike(decoded(v))) {
		return text, e.String() + " was changed", nil
	}
	for ; last.isMade(rest); last = way[len(way)-1] {
		if way = way[:len(way)-1]; len(way) > 0 {
			continue
		}
		if whole := bytes.ReplaceAll(text, []byte("\r"), nil); whole[0] == '{' && bytes.HasSuffix(whole, []byte("\n}\n")) {
			return nil, "", nil
		}
		break // its line ends, its mark or a comment are the user's
	}
	return append(mark, last.without(rest)...), "", nil
}
