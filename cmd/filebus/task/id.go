package task

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// An ID names a task, spelled as it was given: "003" and "task-003" are one task, printed as
// task-003. A nested root's has the folders before that root, as in sub/proj/003.
type ID string

// String returns the id as it is printed.
func (id ID) String() string { return layout.TaskID(string(id)) }

// MarshalText is String, for JSON.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// maxID is the longest id, in bytes: it becomes the name of a file.
const maxID = 200

// ParseID reads the id of a task that may be made, also as the name of its marker.
func ParseID(text string) (ID, error) {
	id := strings.TrimSuffix(strings.TrimSuffix(text, ".done"), failedSuffix)
	why := misfit(id)
	if why == "" {
		return ID(id), nil
	}
	fit, hint := fitting(text), "run it again with {1}"
	if misfit(fit) != "" {
		hint = "filebus task list"
	}
	return "", record.Usage.Errorf("%q is no id of a task: %s", text, why).Try(hint, fit)
}

// misfit says why a text is no id, if it is none.
func misfit(id string) string {
	switch {
	case id == "" || id == "task-":
		return "it is empty"
	case len(id) > maxID:
		return fmt.Sprintf("it has more than %d bytes", maxID)
	case !utf8.ValidString(id):
		return "it is not UTF-8"
	case id[0] == '.' || id[0] == '-':
		return "it begins with " + id[:1]
	case strings.ContainsFunc(id, isForeign):
		return "it is one word, of letters, digits, - _ . and the like"
	case layout.Recognize(".claude/journal/"+layout.JournalID(id)+".md").ID != layout.JournalID(id):
		return "the report of a loop has such a name"
	}
	return ""
}

// fitting returns the id that is nearest to a text.
func fitting(text string) string {
	if task := layout.Recognize(strings.ReplaceAll(text, `\`, "/")).Facts.Task; task != "" {
		return task
	}
	word := strings.TrimLeft(strings.Join(strings.FieldsFunc(text, isForeign), "-"), "-.")
	return strings.ReplaceAll(word, "-loop-", "-loop")
}

// Find reads the id of a task to look it up: also as the name or path of its journal or
// marker, and behind the folders of a nested root.
func (b *Tasks) Find(text string, at query.ResolveOptions) (ID, error) {
	if !strings.ContainsAny(text, `/\`) {
		return ParseID(text)
	}
	name, file := strings.ReplaceAll(text, `\`, "/"), ""
	name = strings.TrimPrefix(strings.TrimPrefix(name, "handoff/"), "marker/")
	for _, p := range slices.Backward(at.Paths(name)) { // the working directory's first
		place, there := b.work.Settings.Profile.Recognize(p), b.work.FilePath(p)
		if place.Facts.Task != "" && (file == "" || !isThere(file) && isThere(there)) {
			name, file = path.Join(path.Dir(place.ID), place.Facts.Task), there
		}
	}
	dir, word := path.Split(name)
	id, err := ParseID(word)
	if err != nil {
		return "", err
	}
	id = ID(dir) + id
	if b.journalPath(id) == "" || b.markerPath(string(id)) == "" || !isThere(b.work.FilePath(dir)) {
		return "", record.NotFound.Errorf("%q is no task: before a slash stands the folder of a nested root, and %s is none",
			text, dir).Try("filebus task list")
	}
	return id, nil
}

// isForeign reports whether a character has no place in an id: it separates ids,
// tells versions apart, or is refused in file names somewhere.
func isForeign(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("/\\,~*?\"<>|:", r)
}

// journal returns the id of the task's journal: task-{id}.
func (id ID) journal() string { return layout.JournalID(string(id)) }

// key returns what all forms of an id have in common.
func (id ID) key() string { return layout.TaskKey(string(id)) }

// lookAlikes returns the files, absolute, that may be meant as the marker of a task: they lie
// where it is waited for, and have other cases or endings, words around the id, or a slip of the
// pen in it. Markers of tasks that have a journal are those tasks' own.
func (b *Tasks) lookAlikes(id ID) (found []string) {
	own := markdown.Each(b.markerIDs(id), b.markerPath)
	want := strings.ToLower(path.Base(id.key()))
	entries, _ := os.ReadDir(b.work.FilePath(path.Dir(own[0]))) // there is none, or the watch makes it again
	for _, entry := range entries {
		p := path.Join(path.Dir(own[0]), entry.Name())
		name := strings.TrimSuffix(entry.Name(), path.Ext(p))
		other := ID(path.Join(path.Dir(string(id)), name))
		_, lane := layout.CutLane(name) // another machine's, where it is not the task's
		isOthers := other.key() != id.key() && isThere(b.journalFile(other)) || !strings.HasSuffix(want, lane)
		if !isOthers && !slices.Contains(own, p) && likeness.IsMeant(strings.ToLower(name), want) {
			found = append(found, b.work.FilePath(p))
		}
	}
	return found
}
