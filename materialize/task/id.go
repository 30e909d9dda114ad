package task

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// An ID names a task: "003" and "task-003" are task-003, TASK-V01 is itself. Two
// ids that differ by "task-" alone name one task, as they share a journal.
type ID string

// maxID is the longest id, in bytes: it becomes the name of a file.
const maxID = 200

// ParseID reads the id of a task as users write it: also as the name or path of
// its journal or marker.
func ParseID(text string) (ID, error) {
	id := strings.ReplaceAll(text, `\`, "/")
	if at := strings.LastIndexByte(id, '/'); at >= 0 {
		id = strings.TrimSuffix(id[at+1:], ".md")
	}
	id = strings.TrimSuffix(strings.TrimSuffix(id, ".done"), ".failed")
	why := ""
	switch {
	case id == "" || id == "task-":
		why = "it is empty"
	case len(id) > maxID:
		why = fmt.Sprintf("it has more than %d bytes", maxID)
	case !utf8.ValidString(id):
		why = "it is not UTF-8"
	case id[0] == '.' || id[0] == '-':
		why = "it begins with " + id[:1]
	case strings.ContainsFunc(id, isForeign):
		why = "it is one word, of letters, digits, - _ . and the like"
	}
	if why != "" {
		return "", record.Usage.Errorf("%q is no id of a task: %s", text, why).Because(ErrNotID)
	}
	return ID(layout.TaskID(id)), nil
}

// isForeign reports whether a character has no place in an id: it separates ids,
// tells versions apart, or is refused in file names somewhere.
func isForeign(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`,~*?"<>|:`, r)
}

// Journal returns the id of the task's journal: task-{id}.
func (id ID) Journal() string { return layout.JournalID(string(id)) }

// key returns what all forms of an id have in common.
func (id ID) key() string { return strings.TrimPrefix(string(id), "task-") }

// forms returns the forms of an id that a marker may have, its own first.
func (id ID) forms() []string {
	forms := []string{string(id)}
	for _, form := range []string{id.key(), "task-" + id.key()} {
		if form != string(id) {
			forms = append(forms, form)
		}
	}
	return forms
}
