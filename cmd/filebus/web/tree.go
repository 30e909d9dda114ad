package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// A value is one of a JSON text: a text, a word as it stands, or the values that it holds, each with its name or number.
type value struct {
	Name   string
	Text   string
	Block  bool // a text of several lines, which is rendered
	Within []value
	Kind   byte // '{', '[', '"', or 0
}

// The bounds of a text that is shown as values.
const (
	maxValues = 5_000
	maxDepth  = 40
	maxFields = 8 // columns of a table
)

var errNoTree = errors.New("not to be shown as values")

// parseTree reads JSON, or lines of it as a list. It reports whether a text is that and not too much.
func parseTree(text string) (root value, ok bool) {
	if text = strings.TrimSpace(text); text == "" || !strings.ContainsAny(text[:1], "{[") {
		return root, false
	}
	from, left := json.NewDecoder(bytes.NewReader([]byte(text))), maxValues
	from.UseNumber()
	for {
		v, err := readValue(from, &left, 0)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return root, false
		}
		root.Within = append(root.Within, v)
	}
	if len(root.Within) == 1 {
		return root.Within[0], true
	}
	root.Kind = '['
	return root, true
}

// readValue reads the next value, of what is left.
func readValue(from *json.Decoder, left *int, depth int) (v value, err error) {
	token, err := from.Token()
	if err != nil {
		return v, err
	}
	if *left--; *left < 0 || depth > maxDepth {
		return v, errNoTree
	}
	switch t := token.(type) {
	case json.Delim:
		v.Kind = byte(t)
		for err == nil && from.More() {
			var one value
			name := json.Token("")
			if v.Kind == '{' {
				name, err = from.Token()
			}
			if err == nil {
				one, err = readValue(from, left, depth+1)
			}
			one.Name, _ = name.(string)
			v.Within = append(v.Within, one)
		}
		if err == nil {
			_, err = from.Token()
		}
	case string:
		v.Text, v.Kind, v.Block = t, '"', strings.Contains(t, "\n")
	default:
		word, wrong := json.Marshal(t)
		v.Text, err = string(word), wrong
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return v, err
}

// Columns returns the names that the objects of a list have, the first ones; nil where it is no list of objects.
func (v value) Columns() (names []string) {
	seen := map[string]bool{}
	for _, one := range v.Within {
		if v.Kind != '[' || one.Kind != '{' {
			return nil
		}
		for _, f := range one.Within {
			if !seen[f.Name] && len(names) < maxFields {
				names = append(names, f.Name)
			}
			seen[f.Name] = true
		}
	}
	return names
}

// Field returns the value of an object with a name, for a table: what it holds is not shown there.
func (v value) Field(name string) (text string) {
	for _, f := range v.Within {
		if f.Name == name {
			return map[bool]string{true: "…"}[len(f.Within) > 0] + f.Text
		}
	}
	return ""
}
