package markdown

import (
	"bytes"
	"strings"
)

// maxFrontMatter is how far into a text front matter may reach, in bytes.
const maxFrontMatter = 64 << 10

// FrontMatter reads the block of fields that a text may begin with: YAML between
// "---" lines (closed by "..." too) or TOML between "+++" lines. A byte order
// mark before it and CRLF are fine. It returns each field's values and where the
// text goes on after the block; without front matter, nil and 0.
//
// Keys are in lower case, a nested one is "parent.child". A scalar is one value,
// a list one for each item, a field without a value has none; tags and related texts may
// stand between commas. Block scalars keep their line breaks when they begin with "|" and lose them with ">". It is a
// lenient reader of what people and agents write there, not of all of YAML: a line
// that it does not understand is passed over. A block counts as front matter when
// its first line is a field and it ends within 64 KiB.
func FrontMatter(text []byte) (fields map[string][]string, bodyStart int) {
	block, bodyStart := cutFrontMatter(text)
	if bodyStart == 0 {
		return nil, 0
	}
	source := string(block)
	if bytes.HasPrefix(bytes.TrimPrefix(text, []byte(ByteOrderMark)), []byte("+")) {
		source = yamlOfTOML(source)
	}
	r, f := yamlReader{prose: true}, frontFields{}
	f.add("", r.read(source).Pairs)
	return f, bodyStart
}

// frontFields are values by the keys in lower case, those of nested fields behind
// their parents'.
type frontFields map[string][]string

// add reads the pairs below a parent.
func (f frontFields) add(parent string, pairs []Pair) {
	for _, p := range pairs {
		key := parent + strings.ToLower(p.Key)
		if key == "title" {
			delete(f, key) // the last one counts, as YAML's readers have it
		}
		texts := values(p.Value)
		if isList := key == "tags" || key == "tag" || key == "related"; isList && len(texts) == 1 && p.Value.scalar != "" {
			texts = strings.Split(texts[0], ",")
		}
		f[key] = append(f[key], texts...)
		f.add(key+".", p.Value.Pairs)
		for _, item := range p.Value.List {
			if len(item.Pairs) > 0 {
				f.add(key+".", item.Pairs[1:])
			}
		}
	}
}

// values returns the texts of a field that has no nested ones.
func values(n Node) (texts []string) {
	if inside, isOpen := strings.CutPrefix(n.scalar, "["); isOpen { // a list that nothing closes
		return SplitList(inside)
	}
	for _, item := range append(n.List, Node{scalar: n.scalar}) {
		if len(item.Pairs) > 0 {
			item = Node{Pairs: item.Pairs[:1]}
		}
		if text := item.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// yamlOfTOML returns the fields of TOML as YAML has them, line by line; those of a
// table have its name before their own.
func yamlOfTOML(block string) string {
	var out strings.Builder
	table := ""
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		key, value, isField := cutFrontField(line, '=')
		switch {
		case isField:
			line = table + key + ": " + value
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			table, line = strings.Trim(line, "[] \t")+".", ""
		}
		out.WriteString(line + "\n")
	}
	return out.String()
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
