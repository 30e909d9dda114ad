package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKnowledgeForms(t *testing.T) {
	t.Parallel()
	k := Knowledge{ID: "gotcha-001", Type: "gotcha", Tags: []string{"a"}, Content: "Keep it short", Created: "2026-03-02"}
	for path, isLesson := range map[string]bool{
		".claude/knowledge_graph.md": false, ".claude/knowledge_graph.json": false, ".claude/lessons/x.md": true,
	} {
		form := Recognize(path).KnowledgeForm()
		if form == nil || form.IsLesson() != isLesson {
			t.Fatalf("the form of %s is %v, want one of lessons: %t", path, form, isLesson)
		}
		text := form.Append(nil, k)
		got := form.Read(text)
		if got.Content != k.Content || got.Created != k.Created || !isLesson && got.ID != k.ID {
			t.Errorf("%s: %s is read as %+v", path, text, got)
		}
		if got := form.Read(form.Set(text, form.Input("content").Name, "Other")); got.Content != "Other" {
			t.Errorf("%s: the content that was set is read as %q", path, got.Content)
		}
	}
	if form := Recognize(".claude/issue_queue.md").KnowledgeForm(); form != nil {
		t.Errorf("the form of an issue queue is %v", form)
	}
}

func TestNodeSet(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("many words ", 12))
	short := strings.TrimSpace(strings.Repeat("many words ", 9)) + "…"
	for _, test := range []struct{ label, text, field, value, want string }{
		{"title", `{"id":"a","summary":"s"}`, "Title", "t", `{"id":"a","summary":"t"}`},
		{"file", `{"id":"a"}`, "File", "x.go", `{"id":"a", "file": "x.go"}`},
		{"short content is the summary", `{"id":"a","summary":"s"}`, "Content", "c", `{"id":"a","summary":"c"}`},
		{"short content in place of long", `{"id":"a","summary":"` + short + `","content":"` + long + `"}`, "Content", "c",
			`{"id":"a","summary":"c","content":""}`},
		{"long content", `{"id":"a","summary":"s"}`, "Content", long,
			`{"id":"a","summary":"` + short + `", "content": "` + long + `"}`},
		{"content without a summary, as others write it", `{"id":"a","content":"c"}`, "Content", "d", `{"id":"a","content":"d"}`},
		{"a title of its own stays", `{"id":"a","summary":"s","content":"c"}`, "Content", "d",
			`{"id":"a","summary":"s","content":"d"}`},
	} {
		if diff := cmp.Diff(test.want, string(nodeFields.Set([]byte(test.text), test.field, test.value))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.label, diff)
		}
	}
	if got := nodeFields.Read([]byte(`{"type": "task"}`)); !cmp.Equal(got, Knowledge{}) {
		t.Errorf("a node without an id is read as %+v", got)
	}
	want := Knowledge{ID: "a", Title: "s", Content: "c", Extra: []Property{{"File", "x.go"}, {"relates-to", "knowledge/b"}}}
	got := nodeFields.Read([]byte(`{"id": "a", "summary": "s", "content": "c", "file": "x.go", "connections": ["b"]}`))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a node (-want +got):\n%s", diff)
	}
}

func TestSetComponent(t *testing.T) {
	t.Parallel()
	const table = "## Context Map\n\n| Component | Notes |\n|---|---|\n| src/a/ | n |\n"
	for _, test := range []struct {
		label, text string
		c           Component
		want, id    string
		isNew       bool
	}{
		{"a row", table, Component{Name: "src/a", Notes: "m"},
			"## Context Map\n\n| Component | Notes |\n|---|---|\n| src/a/ | m |\n", "src/a", false},
		{"a new row", table, Component{Name: "src/b", Notes: "m"}, table + "| src/b | m |\n", "src/b", true},
		{"a new column", table, Component{Name: "src/a", Location: "x.go"},
			"## Context Map\n\n| Component | Notes | Location |\n|---|---|----------|\n| src/a/ | n | x.go |\n", "src/a", false},
		{"a fence that hides the table", "## Context Map\n\n```\n" + table + "```", Component{Name: "src/a"},
			"## Context Map\n\n```\n" + table + "```\n\n| Component | Last Modified | Notes |\n" +
				"|-----------|---------------|-------|\n| src/a | | |\n", "src/a", true},
	} {
		got, row, id, isNew := SetComponent("index.md", []byte(test.text), test.c)
		if diff := cmp.Diff(test.want, string(got)); diff != "" || id != test.id || isNew != test.isNew {
			t.Errorf("%s: id %q, new %t, row %+v (-want +got):\n%s", test.label, id, isNew, row, diff)
		}
	}
}
