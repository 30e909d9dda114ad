package markdown

import (
	"bytes"
	"html"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A plainRule says what becomes of a form of Markdown's inlines.
type plainRule struct {
	needs string // what a text has that has the form
	form  *regexp.Regexp
	with  string
}

// plainRules are applied in their order, each until it changes nothing more: to images, links,
// addresses, HTML, and the marks of emphasis. "_" is a mark only around words, so that
// __init__.py and snake_case stay.
var plainRules = sync.OnceValue(func() (rules []plainRule) {
	const target = `\([^()]*(?:\([^()]*\)[^()]*)*\)`
	for _, rule := range [][3]string{
		{"![", `!\[[^\[\]]*\]` + target, ``},
		{"[", `\[((?:[^\[\]]|\[[^\[\]]*\])*)\]` + target, `$1`},
		{"<", `<([a-zA-Z][a-zA-Z0-9+.-]+:[^\s<>]*|[\w.+-]+@[\w.-]+)>`, `$1`},
		{"<", `(?i)<!--.*?-->|<[a-z][a-z0-9-]*` + attributes + `\s*/?>|</[a-z][a-z0-9-]*\s*>`, ``},
		{"~~", `~~([^\s~](?:[^~]*[^\s~])?)~~`, `$1`},
		{"**", `\*\*([^\s*](?:(?:[^*]|\*[^*])*?\*?[^\s*])?)\*\*`, `$1`},
		{"*", `(^|[^\pL\pN*])\*([^\s*](?:[^*]*[^\s*])?)\*($|[^\pL\pN*])`, `$1$2$3`},
		{"*", `([\pL\pN])\*([\pL\pN](?:[^*]*[\pL\pN])?)\*($|[^*])`, `$1$2$3`},
		{"__", `(^|[^\pL\pN_])__([^\s_](?:[^_]*[^\s_])?)__($|[^\pL\pN_.]|\.$|\.\s)`, `$1$2$3`},
		{"_", `(^|[^\pL\pN_])_([^\s_](?:(?:[^_]|[\pL\pN]_[\pL\pN])*[^\s_])?)_($|[^\pL\pN_.]|\.$|\.\s)`, `$1$2$3`},
	} {
		rules = append(rules, plainRule{rule[0], regexp.MustCompile(rule[1]), rule[2]})
	}
	return rules
})

var (
	keptText   = pattern(`\x00\d+\x00`)
	htmlEntity = pattern(`&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w+);`)
)

// PlainInline returns the text of a paragraph of Markdown in one line: marks of
// emphasis and code dropped, links replaced by their text, escapes and entities
// resolved, images and HTML left out. What is code stays as it is written.
func PlainInline(markdown []byte) string {
	if bytes.Contains(markdown, []byte("]:")) {
		markdown = reference().ReplaceAll(markdown, nil)
	}
	text := OneLine(strings.ReplaceAll(string(markdown), "\\\n", "\n"))
	if !strings.ContainsAny(text, "*_`[<&\\~") {
		return text
	}
	text, kept := keepLiteral(text)
	for _, rule := range plainRules() {
		before := ""
		for range 8 { // emphasis in emphasis
			if text == before || !strings.Contains(text, rule.needs) {
				break
			}
			before, text = text, rule.form.ReplaceAllString(text, rule.with)
		}
	}
	text = htmlEntity().ReplaceAllStringFunc(text, html.UnescapeString)
	return OneLine(keptText().ReplaceAllStringFunc(text, func(place string) string {
		i, _ := strconv.Atoi(strings.Trim(place, "\x00")) // it is a number
		return kept[i]
	}))
}

// keepLiteral returns a line with numbers between NULs for its code and what is escaped, which
// are kept.
func keepLiteral(line string) (text string, kept []string) {
	var out strings.Builder
	spans := CodeSpans{Line: []byte(line)}
	for i := 0; i < len(line); {
		size, literal := 1, ""
		switch {
		case line[i] == '`':
			size = spans.Skip(i) - i
			marks := runOf([]byte(line[i:]), '`')
			literal = line[i : i+size]
			if size > marks {
				literal = literal[marks : size-marks]
				if inside, ok := strings.CutPrefix(literal, " "); ok {
					literal = strings.TrimSuffix(inside, " ")
				}
			}
		case line[i] == '\\' && i+1 < len(line) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", line[i+1]) >= 0:
			size, literal = 2, line[i+1:i+2]
		case line[i] != '\\':
			if size = strings.IndexAny(line[i:], "`\\"); size < 0 {
				size = len(line) - i
			}
		}
		if literal != "" {
			out.WriteString("\x00" + strconv.Itoa(len(kept)) + "\x00")
			kept = append(kept, literal)
		} else {
			out.WriteString(line[i : i+size])
		}
		i += size
	}
	return out.String(), kept
}
