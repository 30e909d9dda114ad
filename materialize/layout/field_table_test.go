package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filebus/materialize/markdown"
)

// parseEntry reads an entry with what is wrong with it.
func parseEntry[T any](t *FieldTable[T], text []byte) (T, []*SyntaxError) {
	return t.parse(markdown.Lines(text))
}

// setOf returns a setter of one value.
func setOf[T any](t *FieldTable[T]) func(text []byte, field, value string) []byte {
	return func(text []byte, field, value string) []byte { return t.Set(text, field, value) }
}

// namesOfFields returns the names of fields, of those without one what they are for.
func namesOfFields[T any](fields []Field[T]) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

func TestFieldSelections(t *testing.T) {
	t.Parallel()
	issues := IssueFields()
	for _, test := range []struct{ what, got, want string }{
		{"inputs of an issue", namesOfFields(issues.Inputs()),
			"Source, Type, Priority, Loop, Complexity, Summary, Details, Acceptance Criteria, Files, Rationale, Task Ref"},
		{"inputs of knowledge", namesOfFields(KnowledgeFields().Inputs()),
			"Type, Tags, Content, Source, Confidence, Valid, File, Status, Title"},
		{"filters of an issue", namesOfFields(issues.Filters()), "Type, Priority"},
		{"field of --criteria", issues.Input("criteria").Name, "Acceptance Criteria"},
		{"values of a priority", strings.Join(issues.field("Priority").Values, " "), "critical high medium low"},
		{"values of a free field", strings.Join(issues.field("Type").Values, " "), ""},
		{"values of no field", strings.Join(issues.field("Colour").Values, " "), ""},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.what, test.got, test.want)
		}
	}
}

func TestFieldIsList(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		isList, commas bool
	}{{"Tags", true, true}, {"Content", false, false}} {
		f := KnowledgeFields().field(test.name)
		if isList, commas := f.IsList(); isList != test.isList || commas != test.commas {
			t.Errorf("IsList of %s = %t, %t, want %t, %t", test.name, isList, commas, test.isList, test.commas)
		}
	}
	criteria := IssueFields().field("Acceptance Criteria")
	if isList, commas := criteria.IsList(); !isList || commas {
		t.Errorf("IsList of criteria = %t, %t, want true, false", isList, commas)
	}
}

// TestFieldPut puts values into all kinds of fields and gets them back.
func TestFieldPut(t *testing.T) {
	t.Parallel()
	var k Knowledge
	put := func(name string, values ...string) {
		f := KnowledgeFields().field(name)
		f.Put(&k, values...)
		if diff := cmp.Diff(values, f.Get(&k), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s after Put(%q) (-want +got):\n%s", name, values, diff)
		}
	}
	k.Extra = []Property{{"Owner", "agent-1"}, {"file", "old.go"}}
	put("Tags", "a", "b")
	put("Content", "text")
	put("File", "new.go") // one of the further fields, by whatever name it stood
	want := Knowledge{Tags: []string{"a", "b"}, Content: "text",
		Extra: []Property{{"Owner", "agent-1"}, {"File", "new.go"}}}
	if diff := cmp.Diff(want, k); diff != "" {
		t.Errorf("after Put (-want +got):\n%s", diff)
	}
	put("File")
	put("Content")
	put("Tags")
	if diff := cmp.Diff(Knowledge{Extra: []Property{{"Owner", "agent-1"}}}, k, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("after Put of nothing (-want +got):\n%s", diff)
	}
}

// TestFieldWith gives issues one more field, which must be read, written, and be
// unknown to the table that it was made from.
func TestFieldWith(t *testing.T) {
	t.Parallel()
	var noun string
	with := IssueFields().With(Field[Issue]{Name: "Noun", text: func(*Issue) *string { return &noun },
		Flag: "noun"})
	text := []byte("### ISSUE-1\n\n| Field | Value |\n|-------|-------|\n| Status | pending |\n| Noun | lamp |\n")
	if i := with.Read(text); noun != "lamp" || len(i.Extra) > 0 {
		t.Errorf("with the field, %q has the noun %q and the further fields %v", text, noun, i.Extra)
	}
	if i := IssueFields().Read(text); len(i.Extra) != 1 {
		t.Errorf("without the field, %q has the further fields %v, want one", text, i.Extra)
	}
	if got := with.Input("noun").Name; got != "Noun" {
		t.Errorf("--noun gives the field %q, want Noun", got)
	}
}

func TestFieldComplete(t *testing.T) {
	t.Parallel()
	i := Issue{Priority: "low"}
	IssueFields().Complete(&i)
	if diff := cmp.Diff(Issue{Priority: "low", Source: "generated", Complexity: "normal"}, i); diff != "" {
		t.Errorf("a completed issue (-want +got):\n%s", diff)
	}
}

func TestFieldClean(t *testing.T) {
	t.Parallel()
	i := Issue{
		Type: " Dark Mode\n", Priority: "HIGH", Summary: "two\n lines", Details: "one\r\n\r\ntwo  \n\n",
		Criteria: []string{" a\nb ", " "}, TaskRef: " 003 ", Status: " as it is ",
	}
	IssueFields().Clean(&i)
	want := Issue{
		Type: "dark_mode", Priority: "high", Summary: "two lines", Details: "one\n\ntwo", Criteria: []string{"a b"},
		TaskRef: "task-003", Status: " as it is ", // no user gives it
	}
	if diff := cmp.Diff(want, i); diff != "" {
		t.Errorf("a cleaned issue (-want +got):\n%s", diff)
	}
	for _, test := range []struct{ source, want string }{
		{"003", "task-003"}, {"task-004 ", "task-004"}, {"talk with\nAnna", "talk with Anna"}, {"", ""},
	} {
		k := Knowledge{Source: test.source, Type: "Gotcha"}
		KnowledgeFields().Clean(&k)
		if k.Source != test.want || k.Type != "gotcha" {
			t.Errorf("the source %q of a %s becomes %q, want %q", test.source, k.Type, k.Source, test.want)
		}
	}
}

func TestFieldWrong(t *testing.T) {
	t.Parallel()
	right := Issue{Type: "dark-mode_2", Priority: "low", Loop: "12", Source: "user"}
	for _, test := range []struct {
		label             string
		change            func(*Issue)
		name, value, want string
	}{
		{"nothing", func(*Issue) {}, "", "", ""},
		{"not one of the values", func(i *Issue) { i.Priority = "urgent" }, "Priority", "urgent",
			"one of critical, high, medium, low"},
		{"no word", func(i *Issue) { i.Type = "dark mode" }, "Type", "dark mode", "a word, such as " + issueTypes},
		{"a long word", func(i *Issue) { i.Type = strings.Repeat("x", 41) }, "Type", strings.Repeat("x", 41),
			"a word, such as " + issueTypes},
		{"no number", func(i *Issue) { i.Loop = "2nd" }, "Loop", "2nd", "a number"},
		{"the first of two", func(i *Issue) { i.Source, i.Loop = "x", "y" }, "Source", "x", "one of user, generated"},
		{"one that no user gives", func(i *Issue) { i.Status = "odd" }, "", "", ""},
	} {
		i := right
		test.change(&i)
		f, value, want := IssueFields().Wrong(&i)
		if value != test.value || want != test.want || value != "" && f.Name != test.name {
			t.Errorf("%s: Wrong(%+v) = %q, %q, %q, want %q, %q, %q", test.label, i, f.Name, value, want, test.name,
				test.value, test.want)
		}
	}
}

func TestFieldMissing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		issue Issue
		want  string
	}{
		{Issue{}, "Summary"}, {Issue{Summary: "s"}, "Type"}, {Issue{Type: "bug"},
			"Summary"}, {Issue{Summary: "s", Type: "bug"}, ""},
	} {
		f, is := IssueFields().Missing(&test.issue)
		if is != (test.want != "") || is && f.Name != test.want {
			t.Errorf("Missing(%+v) = %q, %t, want %q", test.issue, f.Name, is, test.want)
		}
	}
}

func TestFieldSet(t *testing.T) {
	t.Parallel()
	issue := "### ISSUE-1\n\n| Field | Value |\n|-------|-------|\n| Status | pending |\n\n**Criteria**:\n- a\n- b\n\n**Details**:\nd\n"
	for _, test := range []struct {
		label string
		got   []byte
		want  string
	}{
		{"another title", KnowledgeFields().Set([]byte("#### pattern-001: Old\r\n- Type: pattern\r\n"), "Title", "New"),
			"#### pattern-001: New\r\n- Type: pattern\r\n"},
		{"no title", KnowledgeFields().Set([]byte("### pattern-001: Old"), "Title"), "### pattern-001"},
		{"a list under its other name", IssueFields().Set([]byte(issue), "Acceptance Criteria", "c"),
			strings.Replace(issue, "- a\n- b\n", "- c\n", 1)},
		{"no list, by whatever name", IssueFields().Set([]byte(issue), "Acceptance Criteria"),
			strings.Replace(issue, "\n**Criteria**:\n- a\n- b\n", "", 1)},
		{"no field", IssueFields().Set([]byte(issue), "Details"), strings.Replace(issue, "**Details**:\nd\n", "", 1)},
		{"tags in brackets", KnowledgeFields().Set([]byte("### p-1\n- Tags: [a]\n"), "Tags", "b", "c"),
			"### p-1\n- Tags: [b, c]\n"},
	} {
		if diff := cmp.Diff(test.want, string(test.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.label, diff)
		}
	}
}

// A field that is set twice takes no text away that stands below the heading.
func TestSetKeepsIntroduction(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"## L\n\nIntro text.\n\n**Lesson:** x\n", "## L\nIntro text.\n**Lesson:** x\n", "## L\n\nIntro text.\n",
		"## L\r\n\r\nIntro text.\r\n\r\n**Context:** y\r\n**Lesson:** x\r\n",
	} {
		got := []byte(text)
		for _, value := range []string{"pattern", "gotcha"} {
			got = knowledgeTable{lessonFields}.Set(got, "Type", value)
		}
		lesson, before := lessonFields.Read(got), lessonFields.Read([]byte(text))
		if !strings.Contains(string(got), "Intro text.") || lesson.Type != "gotcha" ||
			lesson.Content != before.Content {
			t.Errorf("%q became %q: %+v", text, got, lesson)
		}
	}
}

func TestExtraValue(t *testing.T) {
	t.Parallel()
	extra := []Property{{"Assignee", "muffin"}, {"assignee", "scone"}}
	for name, want := range map[string]string{"ASSIGNEE": "muffin", "Reporter": ""} {
		if got := ExtraValue(extra, name); got != want {
			t.Errorf("ExtraValue(%s) = %q, want %q", name, got, want)
		}
	}
}
