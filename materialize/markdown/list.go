package markdown

import "strings"

// FormatList writes a list that ParseList and SplitList read back, with quotes
// around items that hold a comma.
func FormatList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = SingleSpaced(item)
		if strings.Contains(item, ",") {
			quoted[i] = `"` + quoted[i] + `"`
		}
	}
	return strings.Join(quoted, ", ")
}

// ParseList reads "[a, b]" and "a, b". Commas inside braces, parentheses and
// quotes stand for themselves, as in src/{a,b}.ts.
func ParseList(value string) []string {
	value = strings.TrimSpace(value)
	if inner, ok := strings.CutPrefix(value, "["); ok && strings.HasSuffix(inner, "]") && !strings.Contains(inner[:len(inner)-1], "]") {
		value = inner[:len(inner)-1]
	}
	return SplitList(value)
}

// SplitList cuts a list at its commas and line ends.
func SplitList(value string) []string {
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

// ParseItems returns the items of a Markdown list, the lines below an item
// joined to it; in a text without a list each line is an item.
func ParseItems(value string) (items []string, isList bool) {
	var lines []string
	for line := range strings.SplitSeq(value, "\n") {
		item, ok := cutItem(line)
		text := SingleSpaced(line)
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
		return SingleSpaced(line[2:]), true
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits == 0 || digits > 9 || len(line) < digits+2 || strings.IndexByte(".)", line[digits]) < 0 || line[digits+1] != ' ' {
		return "", false
	}
	return SingleSpaced(line[digits+2:]), true
}
