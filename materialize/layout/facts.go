package layout

import (
	"slices"
	"strings"
	"unicode"

	"filebus/materialize/markdown"
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
	return markdown.Head(strings.TrimSpace(strings.Trim(markdown.OneLine(value), "`*")), maxFactWord)
}

// factText returns running text, up to its first code block, as plain text in
// one line of at most max runes.
func factText(value string, max int) string {
	value, _, _ = strings.Cut(value, "\n```")
	value, _, _ = strings.Cut(value, "\n~~~")
	value = value[:min(len(value), maxFactSource)] // markdown.PlainInline needs a bound
	value = strings.ToValidUTF8(value, "\ufffd")
	if strings.ContainsAny(value, "*_`~[]<>&\\\x00") { // it costs ten times the rest
		value = markdown.PlainInline([]byte(value))
	}
	return markdown.Clip(markdown.SingleSpaced(value), max)
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
	return slices.DeleteFunc(markdown.Each(items, clean), func(item string) bool { return item == "" })
}

// extraFields returns the fields of an entry that are not known, in its order.
func extraFields(v markdown.Values, known []string) []Property {
	var extra []Property
	for name, value := range v.Extra(known) {
		extra = append(extra, Property{name, value})
	}
	return extra
}

// addExtra takes what a field that a format does not define says about an entry.
func (f *Facts) addExtra(key, value string) {
	switch key {
	case "assignee":
		f.setAttribute(AttributeAssignee, factLine(value))
	case "agent", "reporter", "reported by":
		f.Agent = factLine(value)
	case "tags":
		f.Tags = factList(markdown.ParseTags(value), factLine)
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
