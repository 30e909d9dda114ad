package markdown

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
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
// its first line is a field and it ends within 64 KiB. Right behind it another may stand, whose title counts.
func FrontMatter(text []byte) (fields map[string][]string, bodyStart int) {
	blocks, bodyStart := frontBlocks(text)
	if bodyStart == 0 {
		return nil, 0
	}
	r, f := yamlReader{prose: true}, frontFields{}
	for _, source := range blocks {
		f.add("", r.read(source).Pairs)
	}
	return f, bodyStart
}

// frontBlocks returns the blocks of front matter that a text begins with, as YAML, and where the text goes on.
func frontBlocks(text []byte) (blocks []string, bodyStart int) {
	for range maxFrontBlocks {
		gap := 0
		if len(blocks) > 0 {
			gap = len(text) - len(bytes.TrimLeft(text[bodyStart:], " \t\r\n")) - bodyStart
		}
		head := text[bodyStart+gap:]
		block, end := cutFrontMatter(head)
		if end == 0 || len(blocks) > 0 && !beginsWord(bytes.TrimSpace(block)) {
			break
		}
		source := string(block)
		if bytes.HasPrefix(bytes.TrimPrefix(head, []byte(ByteOrderMark)), []byte("+")) {
			source = yamlOfTOML(source)
		}
		blocks, bodyStart = append(blocks, source), bodyStart+gap+end
	}
	return blocks, bodyStart
}

// beginsWord reports whether a text begins with a letter or a quote, as a field does, and no comment or rule.
func beginsWord(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return unicode.IsLetter(r) || r == '"' || r == '\''
}

// maxFrontBlocks is how many blocks of front matter count, one right after the other: a program may have put its
// own before that of the text.
const maxFrontBlocks = 3

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
			texts = splitFront(key, texts[0])
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

// splitFront cuts a list that is written as one text.
func splitFront(key, text string) []string {
	if key == "related" {
		return strings.Split(text, ",")
	}
	return ParseTags(text)
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

var (
	tomlTable = pattern(`^\[+([^\]]*)\]+$`)
	tomlField = pattern(`^["']?([^=]*?)["']?[ \t]*=[ \t]*(.*)$`)
)

// yamlOfTOML returns the fields of TOML as YAML has them, line by line; those of a
// table have its name before their own.
func yamlOfTOML(block string) string {
	var out strings.Builder
	table := ""
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if m := tomlTable().FindStringSubmatch(line); m != nil {
			table, line = strings.TrimSpace(m[1])+".", ""
		}
		out.WriteString(tomlField().ReplaceAllString(line, table+"$1: $2") + "\n")
	}
	return out.String()
}

// A frontMark is a mark of front matter: how it ends, and what it begins with: a field, or
// none at all. That tells it from prose between two rules.
type frontMark struct{ end, first *regexp.Regexp }

var frontMarks = sync.OnceValue(func() map[string]frontMark {
	const begin, field = `^(?:[ \t\r]*(?:#.*)?\n)*(?:$|[ \t]*`, "[^:=\n\\[\\]{}`*|#<>]{1,100}"
	return map[string]frontMark{
		"---": {regexp.MustCompile(`(?m)^(?:---|\.\.\.)[ \t\r]*$`), regexp.MustCompile(begin + field + `:(?:[ \t\r\n]|$))`)},
		"+++": {regexp.MustCompile(`(?m)^\+\+\+[ \t\r]*$`), regexp.MustCompile(begin + `(?:\[|` + field + `=))`)},
	}
})

// cutFrontMatter returns the lines between the marks of front matter and where
// the text goes on after them, which is 0 when there is none.
func cutFrontMatter(text []byte) (block []byte, bodyStart int) {
	head := text[:min(len(text), maxFrontMatter)]
	first, rest, _ := bytes.Cut(bytes.TrimPrefix(head, []byte(ByteOrderMark)), []byte("\n"))
	mark, found := frontMarks()[string(bytes.TrimRight(first, " \t\r"))]
	if !found {
		return nil, 0
	}
	end := mark.end.FindIndex(rest)
	if end == nil || !mark.first.Match(rest[:end[0]]) {
		return nil, 0
	}
	bodyStart = len(head) - len(rest) + end[1]
	if bodyStart < len(head) {
		return rest[:end[0]], bodyStart + 1 // behind the line's end
	} else if len(head) < len(text) { // the limit may cut that line
		return nil, 0
	}
	return rest[:end[0]], bodyStart
}
