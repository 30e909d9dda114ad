package markdown

import (
	"bytes"
	"strings"
)

// maxFrontMatter is how far into a text front matter may reach, in bytes.
const maxFrontMatter = 64 << 10

// maxScalar bounds the values that are put together from several lines, in
// bytes, so that joining them stays cheap.
const maxScalar = 4 << 10

// FrontMatter reads the block of fields that a text may begin with: YAML between
// "---" lines (closed by "..." too) or TOML between "+++" lines. A byte order
// mark before it and CRLF are fine. It returns each field's values and where the
// text goes on after the block; without front matter, nil and 0.
//
// Keys are in lower case, a nested one is "parent.child". A scalar is one value,
// a list one for each item, a field without a value has none; block scalars keep
// their line breaks when they begin with "|" and lose them with ">". It is a
// lenient reader of what people and agents write there, not of all of YAML: a line
// that it does not understand is passed over. A block counts as front matter when
// its first line is a field and it ends within 64 KiB.
func FrontMatter(text []byte) (fields map[string][]string, bodyStart int) {
	block, bodyStart := cutFrontMatter(text)
	if bodyStart == 0 {
		return nil, 0
	}
	r := fieldReader{fields: make(map[string][]string), separator: ':'}
	if bytes.HasPrefix(bytes.TrimPrefix(text, []byte(ByteOrderMark)), []byte("+")) {
		r.separator = '='
	}
	for line := range strings.Lines(string(block)) {
		r.line(strings.TrimRight(line, " \t\r\n"))
	}
	r.endBlock()
	return r.fields, bodyStart
}

// cutFrontMatter returns the lines between the marks of front matter and where
// the text goes on after them, which is 0 when there is none.
func cutFrontMatter(text []byte) (block []byte, bodyStart int) {
	head := text[:min(len(text), maxFrontMatter)]
	rest := bytes.TrimPrefix(head, []byte(ByteOrderMark))
	first, rest, found := bytes.Cut(rest, []byte("\n"))
	mark := string(bytes.TrimRight(first, " \t\r"))
	if !found || mark != "---" && mark != "+++" {
		return nil, 0
	}
	start := len(head) - len(rest)
	// The last line counts only if it is whole: within the limit, or at the end of
	// the text.
	for at := start; at < len(head); {
		line, after := head[at:], len(head)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, after = line[:i], at+i+1
		} else if len(head) < len(text) {
			break
		}
		if end := string(bytes.TrimRight(line, " \t\r")); end == mark || mark == "---" && end == "..." {
			block = head[start:at]
			if !beginsWithField(block, mark) {
				return nil, 0
			}
			return block, after
		}
		at = after
	}
	return nil, 0
}

// beginsWithField reports whether the first line of a block that says anything
// is a field, or whether none does. It tells front matter from prose between two
// rules.
func beginsWithField(block []byte, mark string) bool {
	separator := byte(':')
	if mark == "+++" {
		separator = '='
	}
	for line := range bytes.Lines(block) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		_, _, ok := cutFrontField(string(line), separator)
		return ok || separator == '=' && line[0] == '['
	}
	return true
}

// cutFrontField cuts "key: value". A key is a word, or a few in quotes.
func cutFrontField(line string, separator byte) (key, value string, ok bool) {
	i := strings.IndexByte(line, separator)
	if i <= 0 || i > 100 {
		return "", "", false
	}
	key, value = strings.Trim(line[:i], " \t\"'"), line[i+1:]
	// "a:b" is a scalar in YAML, as in times and addresses.
	if separator == ':' && value != "" && value[0] != ' ' && value[0] != '\t' {
		return "", "", false
	}
	if key == "" || strings.ContainsAny(key, "[]{}`*|#<>") || len(strings.Fields(key)) > 3 {
		return "", "", false
	}
	return strings.ToLower(key), strings.TrimSpace(value), true
}

// A fieldReader collects fields line by line.
type fieldReader struct {
	fields    map[string][]string
	separator byte

	key    string // the field that indented lines and items belong to
	parent string // of nested keys: a field without a value, or a TOML table

	block byte // '|' or '>' inside a block scalar
	lines []string
	flow  string // the beginning of a list in brackets that is not closed yet
}

// line takes one line of the block, without its line ending.
func (r *fieldReader) line(line string) {
	text := strings.TrimLeft(line, " \t")
	indented := len(text) < len(line)
	switch _, _, isField := cutFrontField(text, r.separator); {
	case r.flow != "" && (indented || !isField):
		r.value(r.key, r.flow+" "+text)
		return
	case r.block != 0 && (indented || text == ""):
		r.lines = append(r.lines, text)
		return
	}
	r.endBlock()
	switch {
	case text == "" || text[0] == '#':
	case r.separator == '=' && text[0] == '[':
		r.parent = strings.ToLower(strings.Trim(text, "[] \t"))
	case strings.HasPrefix(text, "- ") || text == "-":
		r.item(strings.TrimSpace(text[1:]))
	default:
		r.field(text, indented)
	}
}

// item adds one item of a list to the field above it.
func (r *fieldReader) item(text string) {
	if r.key == "" {
		return
	}
	if text = unquoteScalar(text); text != "" {
		r.fields[r.key] = append(r.fields[r.key], text)
	}
}

// field takes a line "key: value".
func (r *fieldReader) field(text string, indented bool) {
	key, value, ok := cutFrontField(text, r.separator)
	switch values := r.fields[r.key]; {
	case indented && r.separator == ':' && r.parent == "" && len(values) > 0: // a scalar that goes on
		if last := &values[len(values)-1]; len(*last) < maxScalar {
			*last += " " + text
		}
		return
	case !ok:
		return
	case r.separator == '=' && r.parent != "", indented && r.parent != "":
		key = r.parent + "." + key
	case value == "": // a list or nested fields may follow
		r.parent = key
	default:
		r.parent = ""
	}
	r.key = key
	if _, seen := r.fields[key]; !seen {
		r.fields[key] = nil
	}
	r.value(key, value)
}

// value takes what stands after a key.
func (r *fieldReader) value(key, text string) {
	r.flow = ""
	switch {
	case text == "":
	case text[0] == '|' || text[0] == '>':
		r.block = text[0]
	case text[0] == '[':
		inside, closed := cutFlow(text)
		// The closing bracket may stand on one of the next lines.
		if !closed && len(text) < maxScalar {
			r.flow = text
			return
		}
		for _, item := range splitFlow(inside) {
			r.item(item)
		}
	default:
		r.item(text)
	}
}

// endBlock ends a block scalar, or a list in brackets that nothing closed.
func (r *fieldReader) endBlock() {
	if r.flow != "" {
		for _, item := range splitFlow(r.flow[1:]) {
			r.item(item)
		}
		r.flow = ""
	}
	if r.block != 0 {
		separator := "\n"
		if r.block == '>' {
			separator = " "
		}
		r.item(strings.TrimSpace(strings.Join(r.lines, separator)))
	}
	r.block, r.lines = 0, nil
}

// cutFlow returns what stands between the brackets of a list, and whether the
// closing one is there.
func cutFlow(text string) (inside string, closed bool) {
	var quote byte
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.IndexByte("[, ", text[i-1]) >= 0:
			quote = c
		case c == ']':
			return text[1:i], true
		}
	}
	return text[1:], false
}

// splitFlow splits the inside of a list at the commas outside quotes.
func splitFlow(text string) []string {
	var items []string
	var quote byte
	start := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.TrimSpace(text[start:i]) == "":
			quote = c
		case c == ',':
			items = append(items, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(items, strings.TrimSpace(text[start:]))
}

// unquoteScalar resolves the quotes of a scalar, or drops the comment after a bare one.
func unquoteScalar(text string) string {
	if text == "" {
		return ""
	}
	switch quote := text[0]; quote {
	case '\'':
		if end := strings.LastIndexByte(text, quote); end > 0 {
			return strings.ReplaceAll(text[1:end], "''", "'")
		}
	case '"':
		if end := strings.LastIndexByte(text, quote); end > 0 {
			return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(text[1:end])
		}
	case '#':
		return ""
	}
	if i := strings.Index(text, " #"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}
