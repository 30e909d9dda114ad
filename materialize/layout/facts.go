package layout

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"filebus/store/record"
)

// Facts become fields of look-ups and lines of lists, so they are short and of one
// line whatever the file holds.
const (
	maxFactTitle   = 120     // runes of a title that is made from running text
	maxFactSummary = 500     // runes
	maxFactSource  = 2 << 10 // bytes of running text that a summary is made from
	maxFactWord    = 100     // bytes
)

// factWord returns the first line of value as one word in lower case, its parts
// joined by "_": "✅ In Progress (since Monday)" is "in_progress".
func factWord(value string) string {
	value, _, _ = strings.Cut(value, "\n")
	value, _, _ = strings.Cut(value, " (")
	return strings.Join(strings.FieldsFunc(strings.ToLower(factLine(value)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "_")
}

// factLine returns the first line of value without code and bold marks, at most
// maxFactWord bytes of it; it holds no control characters.
func factLine(value string) string {
	value, _, _ = strings.Cut(value, "\n")
	value = strings.TrimSpace(strings.Trim(OneLine(value), "`*"))
	for len(value) > maxFactWord {
		_, size := utf8.DecodeLastRuneInString(value)
		value = value[:len(value)-size]
	}
	return value
}

// factText returns running text, up to its first code block, as plain text in
// one line of at most max runes.
func factText(value string, max int) string {
	value, _, _ = strings.Cut(value, "\n```")
	value, _, _ = strings.Cut(value, "\n~~~")
	value = value[:min(len(value), maxFactSource)] // plainInline needs a bound
	value = strings.ToValidUTF8(value, "\ufffd")
	if strings.ContainsAny(value, "*_`~[]<>&\\\x00") { // it costs ten times the rest
		value = plainInline([]byte(value))
	}
	return Clip(singleSpaced(value), max)
}

// factSummary returns running text as the summary of an entry.
func factSummary(value string) string { return factText(value, maxFactSummary) }

// factTask returns value when it is the id of a task, such as task-003: one
// word that begins with a letter and holds a digit.
func factTask(value string) string {
	value = factLine(value)
	if value == "" || !unicode.IsLetter([]rune(value)[0]) || strings.ContainsAny(value, " \t,;") ||
		!strings.ContainsAny(value, "0123456789") {
		return ""
	}
	return value
}

// factList returns the items of a list, each as clean makes it, that say something.
func factList(items []string, clean func(string) string) []string {
	var out []string
	for _, item := range items {
		if item = clean(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// factAttributes returns the attributes that are not empty, from names and values
// in turn.
func factAttributes(pairs ...string) map[string]string {
	var f Facts
	for pair := range slices.Chunk(pairs, 2) {
		f.setAttribute(pair[0], pair[1])
	}
	return f.Attributes
}

// addExtra takes what a field that a format does not define says about an entry.
func (f *Facts) addExtra(key, value string) {
	switch key {
	case "assignee":
		f.setAttribute(record.AttributeAssignee, factLine(value))
	case "agent", "reporter", "reported by":
		f.Agent = factLine(value)
	case "tags":
		f.Tags = factList(parseList(value), factLine)
	case "created":
		f.setAttribute(record.AttributeCreated, factLine(value))
	}
}

// setAttribute sets an attribute unless its value is empty.
func (f *Facts) setAttribute(key, value string) {
	if value == "" {
		return
	}
	if f.Attributes == nil {
		f.Attributes = make(map[string]string)
	}
	f.Attributes[key] = value
}

// formatList writes a list that parseList and splitList read back, with quotes
// around items that hold a comma.
func formatList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = singleSpaced(item)
		if strings.Contains(item, ",") {
			quoted[i] = `"` + quoted[i] + `"`
		}
	}
	return strings.Join(quoted, ", ")
}

// parseList reads "[a, b]" and "a, b". Commas inside braces, parentheses and
// quotes stand for themselves, as in src/{a,b}.ts.
func parseList(value string) []string {
	value = strings.TrimSpace(value)
	if inner, ok := strings.CutPrefix(value, "["); ok && strings.HasSuffix(inner, "]") && !strings.Contains(inner[:len(inner)-1], "]") {
		value = inner[:len(inner)-1]
	}
	return splitList(value)
}

// splitList cuts a list at its commas and line ends.
func splitList(value string) []string {
	var items []string
	nests := isBalanced(value)
	start, depth, quote := 0, 0, byte(0)
	for i := range len(value) {
		switch c := value[i]; {
		case nests && quote != 0:
			if c == quote {
				quote = 0
			}
		case nests && (c == '"' || c == '`'):
			quote = c
		case c == '{' || c == '(':
			depth++
		case c == '}' || c == ')':
			depth--
		case (c == ',' || c == '\n') && (depth <= 0 || !nests):
			items = appendItem(items, value[start:i])
			start = i + 1
		}
	}
	return appendItem(items, value[start:])
}

// isBalanced reports whether what opens in a list is closed in it: in another
// one, commas always separate.
func isBalanced(value string) bool {
	return strings.Count(value, "{") == strings.Count(value, "}") &&
		strings.Count(value, "(") == strings.Count(value, ")") &&
		strings.Count(value, `"`)%2 == 0 && strings.Count(value, "`")%2 == 0
}

// appendItem appends an item of a list without the quotes around it.
func appendItem(items []string, item string) []string {
	item = strings.TrimSpace(item)
	if len(item) > 1 && strings.IndexByte("`\"'", item[0]) >= 0 && item[len(item)-1] == item[0] {
		item = strings.TrimSpace(item[1 : len(item)-1])
	}
	if item == "" {
		return items
	}
	return append(items, item)
}

// parseItems returns the items of a Markdown list, the lines below an item
// joined to it; in a text without a list each line is an item.
func parseItems(value string) (items []string, isList bool) {
	var lines []string
	for line := range strings.SplitSeq(value, "\n") {
		item, ok := cutItem(line)
		text := singleSpaced(line)
		switch {
		case ok:
			isList = true
			items = append(items, item)
		case text != "" && len(items) > 0:
			items[len(items)-1] += " " + text
		case text != "":
			lines = append(lines, text)
		}
	}
	if !isList {
		return lines, false
	}
	return items, true
}

// cutItem cuts the mark off a list item: "- ", "* ", "+ ", "1. " or "1) ".
func cutItem(line string) (item string, ok bool) {
	if strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") {
		return "", false // of an inner list, or the rest of an item
	}
	line = strings.TrimSpace(line)
	if isBulletLine([]byte(line)) {
		return singleSpaced(line[2:]), true
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits == 0 || digits > 9 || len(line) < digits+2 || strings.IndexByte(".)", line[digits]) < 0 || line[digits+1] != ' ' {
		return "", false
	}
	return singleSpaced(line[digits+2:]), true
}
