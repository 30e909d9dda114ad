package materialize_test

import (
	"fmt"
	"testing"

	"filebus/materialize"
)

const lessonFile = ".claude/lessons/testing/notes.md"

func lesson(date, text string) string {
	return fmt.Sprintf("### Run all tests\n**Date:** %s\n**Context:** c\n**Lesson:** %s\n**Tags:** ci\n", date, text)
}

func lessons(list ...string) string {
	text := "# Testing\n"
	for _, l := range list {
		text += "\n" + l
	}
	return text
}

// Entries with equal titles have ids that depend on the order of the file; their
// names must not.
func TestEntriesWithEqualTitles(t *testing.T) {
	t.Parallel()
	a, b, c := lesson("2026-03-01", "first"), lesson("2026-03-02", "second"), lesson("2026-03-03", "third")
	first, second := "knowledge/"+lessonFile+"#run-all-tests", "knowledge/"+lessonFile+"#run-all-tests-2"
	for _, test := range []struct {
		label, file string
		want        map[string]string
	}{
		{"swapped", lessons(b, a), map[string]string{first: a, second: b}},
		{"the first deleted", lessons(b), map[string]string{second: b}},
		{"one put before", lessons(c, a, b), map[string]string{first: a, second: b, first + "~2": c}},
		{"one put between", lessons(a, c, b), map[string]string{first: a, second: b}},
	} {
		t.Run(test.label, func(t *testing.T) {
			w := syncedWorkspace(t, map[string]string{lessonFile: lessons(a, b)})
			writeTree(t, w.Root, map[string]string{lessonFile: test.file})
			wantActions(t, runSync(t, w, materialize.SyncOptions{}), "captured "+lessonFile)
			for name, want := range test.want {
				if got := textOf(t, w, name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			wantFile(t, w, lessonFile, test.file)
			wantTree(t, w, "", map[string]string{lessonFile: test.file})
			wantActions(t, runSync(t, w, materialize.SyncOptions{}))
		})
	}
}

// The store changed the first of two equal titles while a third was put before
// them on disk.
func TestMergeEntriesWithEqualTitles(t *testing.T) {
	t.Parallel()
	a, b, c := lesson("2026-03-01", "first"), lesson("2026-03-02", "second"), lesson("2026-03-03", "third")
	changed := lesson("2026-03-01", "changed")
	w := syncedWorkspace(t, map[string]string{lessonFile: lessons(a, b)})
	storeOnly(t, w, "knowledge/"+lessonFile+"#run-all-tests", changed)
	writeTree(t, w.Root, map[string]string{lessonFile: lessons(c, a, b)})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "merged "+lessonFile)
	wantFile(t, w, lessonFile, lessons(c, changed, b))
	put(t, w, "knowledge/"+lessonFile+"#run-all-tests-2", lesson("2026-03-02", "put"))
	wantFile(t, w, lessonFile, lessons(c, changed, lesson("2026-03-02", "put")))
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
}
