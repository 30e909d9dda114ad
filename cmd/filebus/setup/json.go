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
// the end. What is to hold it is made where it is missing, in several lines; into an
// empty one of the user's it is put in the line that this begins in. So remove can tell
// whose it is. It is put before what is there, where no comma can be missing.
type entry struct {
	at    []string // the names that lead to what holds it
	name  string   // its own in an object; "": it is an element of a list
	value any      // as package json writes it
}

func (e entry) String() string {
	return strings.TrimSuffix(strings.Join(append(slices.Clone(e.at), e.name), "."), ".")
}

// maxNested bounds what the parser, which calls itself, has to go down into.
const maxNested = 100_000

// parse reads a text without a byte order mark.
func parse(text []byte) (v hujson.Value, err error) {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxNested {
		return v, errors.New("it has too many objects and lists")
	}
	if !bytes.HasSuffix(text, []byte("\n")) { // a comment in the last line need not end
		text = append(bytes.Clone(text), '\n')
	}
	if v, err = hujson.Parse(text); err != nil {
		err = errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return v, err
}

// decoded returns what a value means.
func decoded(v hujson.Value) (value any) {
	v = v.Clone()
	v.Standardize()
	if json.Unmarshal(v.Pack(), &value) != nil {
		return v // equal to nothing
	}
	return value
}

// An item is a member of an object or an element of a list, with what stands before it.
type item struct {
	name  string
	lead  hujson.Extra
	start int
	value hujson.Value
}

func items(v *hujson.Value) (all []item) {
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

func pointer(at []string) string { return strings.Join(append([]string{""}, at...), "/") }

// find returns the innermost value on the way to the entry, how deep that is, what it
// has, and which of it is the entry, or one like it; -1: none.
func (e entry) find(text []byte, root *hujson.Value) (holder *hujson.Value, depth int, all []item, i int, err error) {
	for depth = len(e.at); holder == nil; depth-- {
		holder = root.Find(pointer(e.at[:depth]))
	}
	depth++
	want := map[bool]hujson.Kind{true: '[', false: '{'}[depth == len(e.at) && e.name == ""]
	if all = items(holder); holder.Value.Kind() != want {
		line := 1 + bytes.Count(text[:holder.StartOffset], []byte("\n"))
		what := strings.Join(append([]string{"the file"}, e.at[:depth]...), ".")
		return nil, 0, nil, 0, fmt.Errorf("line %d: %s begins with no %c", line, what, want)
	}
	if i = -1; depth < len(e.at) {
		return holder, depth, all, i, nil
	}
	i = slices.IndexFunc(all, func(i item) bool { return e.name != "" && i.name == e.name || e.isSame(i.value) })
	return holder, depth, all, i, nil
}

func (e entry) isSame(v hujson.Value) bool {
	var own any
	return json.Unmarshal(jsonText(e.value, "", ""), &own) == nil && reflect.DeepEqual(own, decoded(v))
}

func (e entry) add(text []byte) ([]byte, string, error) {
	if text == nil {
		return append(e.made(0, "  "), '\n'), "", nil
	}
	rest := bytes.TrimPrefix(text, []byte(byteOrderMark))
	root, err := parse(rest)
	if err != nil {
		return nil, "", err
	}
	holder, depth, all, i, err := e.find(rest, &root)
	switch {
	case err != nil:
		return nil, "", err
	case i >= 0 && !e.isSame(all[i].value):
		return text, e.String() + " is there in another form", nil
	case i >= 0:
		return text, "", nil
	}
	unit := "  "
	if first := items(&root); len(first) > 0 {
		unit = strings.TrimPrefix(indentOf(first[0].lead, "\n"+unit), "\n")
	}
	var put []byte
	if put = e.inside(depth, strings.Repeat(unit, depth+1), unit); len(all) > 0 {
		put = slices.Concat([]byte(indentOf(all[0].lead, "")), put, []byte(","))
	}
	put = bytes.ReplaceAll(put, []byte("\n"), []byte(lineEnd(text)))
	at := len(text) - len(rest) + holder.StartOffset + 1
	now := slices.Concat(text[:at], put, text[at:])
	if root, err = parse(bytes.TrimPrefix(now, []byte(byteOrderMark))); err != nil || !e.isIn(decoded(root)) {
		return nil, "", fmt.Errorf("%s cannot be put in: is a name there twice?", e)
	}
	return now, "", nil
}

// indentOf returns the line end before an item, with the white space that follows, or
// what is usual if there is none.
func indentOf(lead []byte, usual string) string {
	at := bytes.LastIndexByte(lead, '\n')
	if at < 0 {
		return usual
	}
	return string(lead[at : len(lead)-len(bytes.TrimLeft(lead[at:], "\n \t"))])
}

// isIn reports whether who reads a file finds the entry.
func (e entry) isIn(value any) bool {
	for _, name := range append(slices.Clone(e.at), e.name) {
		if list, is := value.([]any); is && name == "" {
			return len(list) > 0
		}
		table, _ := value.(map[string]any)
		value = table[name]
	}
	return value != nil
}

// jsonText writes a value of ours in lines, without one at the end.
func jsonText(value any, indent, unit string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, unit)
	_ = enc.Encode(value) // it is a text, or JSON
	return bytes.TrimSpace(out.Bytes())
}

// made returns what holds the entry, at a depth, with all that is missing from there on.
func (e entry) made(depth int, unit string) []byte {
	sides, indent := "{}", "\n"+strings.Repeat(unit, depth)
	if depth == len(e.at) && e.name == "" {
		sides = "[]"
	}
	return []byte(sides[:1] + indent + unit + string(e.inside(depth, indent[1:]+unit, unit)) + indent + sides[1:])
}

// inside returns the item to put into what is at a depth.
func (e entry) inside(depth int, indent, unit string) []byte {
	name, value := e.name, []byte(nil)
	if depth < len(e.at) {
		name, value = e.at[depth], e.made(depth+1, unit)
	} else {
		value = jsonText(e.value, indent, unit)
	}
	if name != "" {
		value = slices.Concat(hujson.String(name), []byte(": "), value)
	}
	return value
}

func (e entry) remove(text []byte, force bool) ([]byte, string, error) {
	rest := bytes.TrimPrefix(text, []byte(byteOrderMark))
	root, err := parse(rest)
	if err != nil {
		return nil, "", err
	}
	_, _, all, i, err := e.find(rest, &root)
	if err != nil || i < 0 {
		return text, "", err
	}
	if v := all[i].value; !e.isSame(v) && !force {
		return text, e.String() + " was changed", nil
	}
	now := drop(rest, &root, e.at, i)
	if now == nil && len(rest) == len(text) {
		return nil, "", nil
	} else if now == nil {
		now = []byte("{}")
	}
	return slices.Concat(text[:len(text)-len(rest)], now), "", nil
}

// drop takes an item out, with its comma or the one before it, or what was made for it;
// nil: nothing is left. Comments stay.
func drop(text []byte, root *hujson.Value, at []string, i int) []byte {
	holder := root.Find(pointer(at))
	all := items(holder)
	it := all[i]
	from, end := it.start-len(it.lead), it.value.EndOffset
	isBlank := len(bytes.TrimSpace(it.lead)) == 0
	if len(all) == 1 && isBlank && indentOf(it.lead, "") != "" && len(bytes.TrimSpace(text[end:holder.EndOffset-1])) == 0 {
		if len(at) > 0 {
			above := items(root.Find(pointer(at[:len(at)-1])))
			isHolder := func(i item) bool { return i.name == at[len(at)-1] }
			return drop(text, root, at[:len(at)-1], slices.IndexFunc(above, isHolder))
		}
		if whole := strings.ReplaceAll(string(text), "\r", ""); whole[0] == '{' && strings.HasSuffix(whole, "\n}\n") {
			return nil
		}
	}
	start, comma := it.start, end+len(it.value.AfterExtra)
	if isBlank {
		start = from
	}
	switch {
	case text[comma] == ',':
		return slices.Concat(text[:start], text[end:comma], text[comma+1:])
	case i > 0:
		return slices.Concat(text[:from-1], text[from:start], text[end:])
	}
	return slices.Concat(text[:start], text[end:])
}
