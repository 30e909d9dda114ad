package markdown

import "strings"

// FormatList writes a list that ParseList and SplitList read back, with quotes
// around items that hold a comma, or another sign that may divide them, or begin with the mark of one.
func FormatList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = SingleSpaced(item)
		if strings.ContainsAny(item, ",;，、；") || strings.Contains(item, " / ") || markedItem().MatchString(quoted[i]) {
			quoted[i] = `"` + quoted[i] + `"`
		}
	}
	return strings.Join(quoted, ", ")
}

var inBrackets = pattern(`^\s*\[([^\]]*)\]\s*$`)

// ParseList reads "[a, b]" and "a, b". Commas inside braces, parentheses and
// quotes stand for themselves, as in src/{a,b}.ts.
func ParseList(value string) []string {
	return SplitList(inBrackets().ReplaceAllString(value, "$1"))
}

// tagGap is what stands between tags where no comma does: "a; b", "a / b", "`a` `b`", and hashGap where
// each has a # before it: "#a #b".
var (
	tagGap  = pattern("\\s*[;，、；،؛·•|]\\s*|\\s+/\\s+|`\\s+`")
	hashGap = pattern(`\s+#`)
)

// ParseTags reads a list of tags, however they are divided. "#" before one is dropped.
func ParseTags(value string) []string {
	if value = strings.TrimSpace(inBrackets().ReplaceAllString(value, "$1")); !strings.Contains(value, `"`) {
		if strings.HasPrefix(value, "#") {
			value = hashGap().ReplaceAllString(value, ",")
		}
		value = strings.Trim(tagGap().ReplaceAllString(value, ","), " `")
	}
	return Each(SplitList(value), func(tag string) string { return strings.TrimLeft(strings.Trim(tag, "`"), "#") })
}

// listPart is what separates the items of a list, or what stands for itself.
var listPart = pattern("[,\n]|`[^`]*`" + `|"[^"]*"|\{` + listInside + `\}|\(` + listInside + `\)`)

const listInside = `(?:[^{}()]|[({][^{}()]*[)}])*`

// SplitList cuts a list at its commas and line ends, and drops the marks of items. Where something is not
// closed, commas always separate.
func SplitList(value string) (items []string) {
	isBalanced := strings.Count(value, `"`)%2 == 0 && strings.Count(value, "`")%2 == 0 &&
		strings.Count(value, "{") == strings.Count(value, "}") && strings.Count(value, "(") == strings.Count(value, ")")
	value = listPart().ReplaceAllStringFunc(value, func(part string) string {
		if len(part) == 1 {
			return "\x00"
		}
		return part
	})
	if !isBalanced {
		value = strings.ReplaceAll(strings.ReplaceAll(value, ",", "\x00"), "\n", "\x00")
	}
	for item := range strings.SplitSeq(value, "\x00") {
		item = markedItem().ReplaceAllString(strings.TrimSpace(item), "$1")
		if len(item) > 1 && strings.ContainsAny(item[:1], "`\"'") && item[len(item)-1] == item[0] {
			item = strings.TrimSpace(item[1 : len(item)-1])
		}
		if item != "" {
			items = append(items, item)
		}
	}
	return items
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

// markedItem is an item of an outermost list.
var markedItem = pattern(`^ ?(?:[-*+][ \t]|\d{1,9}[.)] )(.*)$`)

// cutItem cuts the mark off a list item: "- ", "* ", "+ ", "1. " or "1) ".
func cutItem(line string) (item string, ok bool) {
	if m := markedItem().FindStringSubmatch(line); m != nil {
		return SingleSpaced(m[1]), true
	}
	return "", false
}
