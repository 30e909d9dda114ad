package result

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// An editor adds members to a JSON text, in its style.
type editor struct {
	text         []byte
	colon, comma string // as they stand on one line: without spaces if there is none after the first colon
	insertions   []insertion
}

type insertion struct {
	at   int
	text string
}

func newEditor(text []byte) *editor {
	e := &editor{text: text, colon: ": ", comma: ", "}
	if at := bytes.Index(text, []byte(`":`)); at >= 0 && at+2 < len(text) && !isSpace(text[at+2]) {
		e.colon, e.comma = ":", ","
	}
	return e
}

func (e *editor) apply() []byte {
	slices.SortStableFunc(e.insertions, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	at := 0
	for _, i := range e.insertions {
		out = append(append(out, e.text[at:i.at]...), i.text...)
		at = i.at
	}
	return append(out, e.text[at:]...)
}

// addProperty adds the summary to a JSON Schema.
func (e *editor) addProperty(schema *node) {
	summary := e.object("type", `"string"`, "description", quoted(summaryDescription))
	if properties := schema.member("properties"); properties.end > 0 {
		e.append(properties, summaryKey, summary)
	} else {
		e.append(schema, "properties", e.object(summaryKey, summary("", "")))
	}
	name := func(string, string) string { return quoted(summaryKey) }
	required := schema.member("required")
	if list, _ := required.value.([]any); required.end == 0 {
		e.append(schema, "required", func(string, string) string { return "[" + quoted(summaryKey) + "]" })
	} else if !slices.Contains(list, any(summaryKey)) {
		e.append(required, "", name)
	}
}

// A writer returns the text of a value. An object has its members on lines of their
// own if it is told what stands before them, and before its closing bracket.
type writer func(inner, closing string) string

// object returns the writer of an object of keys and values in turns.
func (e *editor) object(members ...string) writer {
	return func(inner, closing string) string {
		var all []string
		for i := 0; i < len(members); i += 2 {
			all = append(all, quoted(members[i])+e.colon+members[i+1])
		}
		if inner == "" {
			return "{" + strings.Join(all, e.comma) + "}"
		}
		return "{" + inner + strings.Join(all, ","+inner) + closing + "}"
	}
}

// append adds a value at the end of an object, under a key, or of an array.
func (e *editor) append(to *node, key string, value writer) {
	text := ""
	if key != "" {
		text = quoted(key) + e.colon
	}
	n := len(to.nodes)
	if n == 0 {
		text, at := text+value("", ""), to.start+1
		if i := len(e.insertions); i > 0 && e.insertions[i-1].at == at {
			text = e.comma + text // the second into what was empty
		}
		e.insertions = append(e.insertions, insertion{at, text})
		return
	}
	last := to.nodes[n-1]
	lead, inner, closing := e.spaceBefore(last.first), "", ""
	if n == 1 && lead == "" {
		lead = e.comma[1:]
	}
	if len(last.nodes) > 0 {
		if space := e.spaceBefore(last.nodes[0].first); strings.Contains(space, "\n") {
			inner, closing = space, e.spaceBefore(last.end-1)
		}
	}
	e.insertions = append(e.insertions, insertion{last.end, "," + lead + text + value(inner, closing)})
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// spaceBefore returns the white space that ends before an offset.
func (e *editor) spaceBefore(end int) string {
	return string(e.text[len(bytes.TrimRight(e.text[:end], " \t\r\n")):end])
}

// quoted returns a string of plain letters in JSON.
func quoted(text string) string { return `"` + text + `"` }
