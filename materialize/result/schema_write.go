package result

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A span is where a value stands in a JSON text.
type span struct{ start, end int }

// An element is a member of an object or an element of an array.
type element struct {
	key   string // of a member
	start int    // of the key, or of the value
	value span
}

// root returns the place of the whole value.
func (e *editor) root() span {
	trimmed := bytes.TrimLeft(e.text, " \t\r\n")
	start := len(e.text) - len(trimmed)
	return span{start, start + len(bytes.TrimRight(trimmed, " \t\r\n"))}
}

// elements returns the places of what an object or an array holds. The text is
// known to be JSON.
func (s span) elements(text []byte) []element {
	var all []element
	isObject := text[s.start] == '{'
	decoder := json.NewDecoder(bytes.NewReader(text[s.start:s.end]))
	_, _ = decoder.Token() // the bracket
	for decoder.More() {
		var one element
		if isObject {
			key, err := decoder.Token()
			if err != nil {
				return all
			}
			one.key, _ = key.(string)
			one.start = s.start + startOfString(text[s.start:], int(decoder.InputOffset()))
		}
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			return all
		}
		one.value.end = s.start + int(decoder.InputOffset())
		one.value.start = one.value.end - len(raw)
		if !isObject {
			one.start = one.value.start
		}
		all = append(all, one)
	}
	return all
}

// startOfString returns where the string begins that ends before an offset.
func startOfString(text []byte, end int) int {
	for at := end - 2; at > 0; at-- {
		if text[at] != '"' {
			continue
		}
		slashes := 0
		for at-slashes > 0 && text[at-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
	}
	return 0
}

// member returns the value of an object's member; of several of one name the last,
// as readers of JSON do.
func (s span) member(text []byte, key string) (value span, found bool) {
	for _, e := range s.elements(text) {
		if e.key == key {
			value, found = e.value, true
		}
	}
	return value, found
}

// A jsonStyle is how a text separates things on one line.
type jsonStyle struct{ colon, comma string }

// styleOf returns the style of a text: without spaces if it has none after its
// first colon.
func styleOf(text []byte) jsonStyle {
	if at := bytes.Index(text, []byte(`":`)); at >= 0 && at+2 < len(text) && !isSpace(text[at+2]) {
		return jsonStyle{":", ","}
	}
	return jsonStyle{": ", ", "}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// A part is a member to be written: its value is a string, a bool, a list or
// parts of an object.
type part struct {
	key   string
	value any
}

// append adds a value at the end of an object, under a key, or of an array.
func (e *editor) append(to span, key string, value any) {
	lead, inner, closing := e.leads(to)
	text := ""
	if key != "" {
		text = quoted(key) + e.style.colon
	}
	text += e.write(value, inner, closing)
	at := to.start + 1
	all := to.elements(e.text)
	if n := len(all); n > 0 {
		at, text = all[n-1].value.end, ","+lead+text
	} else if n := len(e.insertions); n > 0 && e.insertions[n-1].at == at {
		text = e.style.comma + text // the second into what was empty
	}
	e.insertions = append(e.insertions, insertion{at, text})
}

// leads returns the white space before an element that is added to an object or
// an array, and the white space within the last one of those that are there: before
// its own elements, and before its closing bracket.
func (e *editor) leads(to span) (lead, inner, closing string) {
	all := to.elements(e.text)
	if len(all) == 0 {
		return "", "", ""
	}
	last := all[len(all)-1]
	lead = e.spaceBefore(last.start)
	if len(all) == 1 && lead == "" {
		lead = e.style.comma[1:]
	}
	if c := e.text[last.value.start]; c != '{' && c != '[' {
		return lead, "", ""
	}
	within := last.value.elements(e.text)
	if len(within) == 0 {
		return lead, "", ""
	}
	inner = e.spaceBefore(within[0].start)
	closing = e.spaceBefore(last.value.end - 1)
	if !strings.Contains(inner, "\n") {
		inner, closing = "", ""
	}
	return lead, inner, closing
}

// spaceBefore returns the white space that ends before an offset.
func (e *editor) spaceBefore(end int) string {
	start := end
	for start > 0 && isSpace(e.text[start-1]) {
		start--
	}
	return string(e.text[start:end])
}

// write returns a value: an object on several lines if inner says so.
func (e *editor) write(value any, inner, closing string) string {
	switch value := value.(type) {
	case []part:
		var members []string
		for _, p := range value {
			members = append(members, quoted(p.key)+e.style.colon+e.write(p.value, "", ""))
		}
		if inner == "" {
			return "{" + strings.Join(members, e.style.comma) + "}"
		}
		return "{" + inner + strings.Join(members, ","+inner) + closing + "}"
	case []any:
		var items []string
		for _, item := range value {
			items = append(items, e.write(item, "", ""))
		}
		return "[" + strings.Join(items, e.style.comma) + "]"
	case string:
		return quoted(value)
	}
	return "true"
}

// quoted returns a string of plain letters in JSON.
func quoted(text string) string { return `"` + text + `"` }
