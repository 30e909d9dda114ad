package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLessonRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []Knowledge{
		{Title: "Rename after sync", Type: "lesson", Created: "2026-03-01", Context: "A crash test", Content: "Sync first.",
			Tags: []string{"files", "fsync"}},
		{Title: "Long", Type: "gotcha", Source: "task-9", Confidence: "low", Context: "a\n\nb",
			Content: "x\n### y\n**Tags:** no\n**Note:** yes\n---\n```\n### z\n```", Extra: []Property{{"Author", "agent-1"}}},
		{Title: "Short", Type: "lesson", Content: "c"},
	}
	for _, want := range tests {
		text := lessonFields.Append(nil, want)
		got, errs := parseEntry(lessonFields, text)
		if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
			t.Errorf("parseEntry(lessonFields, %s) (-want +got):\n%s\nerrors %v", text, diff, errs)
		}
		f, errs := checkAggregate(t, lessons, "l.md", text)
		if entries := f.Entries(); len(entries) != 1 || string(entries[0].Text) != string(text) || len(errs) > 0 {
			t.Errorf("%s\nhas %d entries, errors %v", text, len(entries), errs)
		}
	}
}

func TestAppendLesson(t *testing.T) {
	t.Parallel()
	want := `### Rename after sync
**Date:** 2026-03-01
**Context:** A crash test
**Lesson:** Sync first.
**Tags:** files, fsync
`
	k, errs := parseEntry(lessonFields, []byte(want))
	got := string(lessonFields.Append(nil, k))
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 || k.Type != "lesson" {
		t.Errorf("lessonFields.Append(ParseLesson) (-want +got):\n%s\nerrors %v", diff, errs)
	}
	if _, errs := parseEntry(lessonFields, nil); len(errs) != 1 {
		t.Errorf("parseEntry(lessonFields, nil) has errors %v, want one", errs)
	}
}

func TestSetLessonField(t *testing.T) {
	t.Parallel()
	text := "### A\n**Date:** 2026-03-01\n**Lesson:** a\nb\n**Tags:** x, y\n\n"
	runSets(t, setOf(lessonFields), []setCase{
		{"tags", text, "Tags", "z", "### A\n**Date:** 2026-03-01\n**Lesson:** a\nb\n**Tags:** z\n\n"},
		{"text", text, "Lesson", "c", "### A\n**Date:** 2026-03-01\n**Lesson:** c\n**Tags:** x, y\n\n"},
		{"new", text, "Confidence", "low", "### A\n**Date:** 2026-03-01\n**Confidence:** low\n**Lesson:** a\nb\n**Tags:** x, y\n\n"},
	})
}

func TestLessonsInsert(t *testing.T) {
	t.Parallel()
	entry := "### B\n**Lesson:** b\n"
	runInserts(t, lessons, []insertCase{
		{"empty file", "", "", entry, "# Lessons\n\n" + entry, []string{"file.md#b"}},
		{"after the last", "# L\n\n### A\n**Lesson:** a\n", "", entry, "# L\n\n### A\n**Lesson:** a\n\n" + entry, []string{"file.md#a", "file.md#b"}},
		{"before literal headings", "### A\n**Lesson:** a\n\n### More\n\ntext\n", "", entry,
			"### A\n**Lesson:** a\n\n" + entry + "\n### More\n\ntext\n", []string{"file.md#a", "file.md#b"}},
		{"same title", "### B\n**Lesson:** a\n", "", entry, "### B\n**Lesson:** a\n\n" + entry, []string{"file.md#b", "file.md#b-2"}},
	})
}

func TestLessonsDocument(t *testing.T) {
	t.Parallel()
	const path = "lessons/storage/entries.md"
	f, errs := checkAggregate(t, lessons, path, docExample(t, "lessons", path))
	var got []string
	for _, e := range f.Entries() {
		got = append(got, e.ID+" "+e.Facts.Attributes["created"])
	}
	want := []string{
		path + "#rename-after-sync-never-before 2026-03-01",
		path + "#rename-after-sync-never-before-2 2026-03-09",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("lessons of the document (-want +got):\n%s\nerrors %v", diff, errs)
	}
}

func TestLessonsBadPath(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/abs.md", "a//b.md", "a\x00.md"} {
		f, errs := lessons.Parse(path, []byte("### A\n**Lesson:** a\n"))
		if len(f.Entries()) != 0 || len(errs) != 1 {
			t.Errorf("lessons in %q: %d entries, errors %v, want none and one", path, len(f.Entries()), errs)
		}
	}
}

func FuzzLessons(f *testing.F) { fuzzAggregate(f, lessons, "*-lessons.md") }
