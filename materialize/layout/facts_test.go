package layout

import (
	"strings"
	"testing"

	"filebus/materialize/markdown"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func TestFactWord(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, want string }{
		{"high", "high"}, {"**High**", "high"}, {"must_have", "must_have"}, {"In Progress", "in_progress"},
		{"medium (was high)", "medium"}, {"low\nmore", "low"}, {"🔴 critical!", "critical"}, {"größer", "größer"},
		{"", ""}, {"---", ""}, {"\x00a\x00", "a"}, {"\xff", ""},
	}
	for _, test := range tests {
		if got := factWord(test.value); got != test.want {
			t.Errorf("factWord(%q) = %q, want %q", test.value, got, test.want)
		}
	}
}

func TestFactLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, want string }{
		{" a  b ", "a b"}, {"`agent-1`", "agent-1"}, {"a\nb", "a"}, {"a\tb\x00c", "a bc"}, {"a\xffb", "a\ufffdb"}, {"", ""},
		{strings.Repeat("é", 60), strings.Repeat("é", 50)},
	}
	for _, test := range tests {
		if got := factLine(test.value); got != test.want {
			t.Errorf("factLine(%q) = %q, want %q", test.value, got, test.want)
		}
	}
}

func TestFactTask(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, want string }{
		{"task-003", "task-003"}, {"`TASK-V01`", "TASK-V01"}, {"BUILD-001", "BUILD-001"}, {"", ""}, {"none", ""},
		{"2026-01-01", ""}, {"review of task-3", ""}, {"task-1, task-2", ""}, {"003", ""},
	}
	for _, test := range tests {
		if got := factTask(test.value); got != test.want {
			t.Errorf("factTask(%q) = %q, want %q", test.value, got, test.want)
		}
	}
}

func TestFactText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value string
		max   int
		want  string
	}{
		{"Plain `code` and **bold**\ntext", 100, "Plain code and bold text"},
		{"See [the page](a.md)", 100, "See the page"},
		{"Before\n```\ncode\n```\nafter", 100, "Before"},
		{"Before\n~~~\ncode", 100, "Before"},
		{"", 100, ""},
		{"one two three", 9, "one two…"},
	}
	for _, test := range tests {
		if got := factText(test.value, test.max); got != test.want {
			t.Errorf("factText(%q, %d) = %q, want %q", test.value, test.max, got, test.want)
		}
	}
}

func TestParseList(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value string
		want  []string
	}{
		{"[a, b c]", []string{"a", "b c"}},
		{"a, b", []string{"a", "b"}},
		{"a", []string{"a"}},
		{"a\nb,\nc", []string{"a", "b", "c"}},
		{"`a`, 'b', \"c, d\"", []string{"a", "b", "c, d"}},
		{"src/{a,b}.go, f(x, y)", []string{"src/{a,b}.go", "f(x, y)"}},
		{"{a, b", []string{"{a", "b"}},
		{"it's, so", []string{"it's", "so"}},
		{`"a, b`, []string{`"a`, "b"}},
		{"[a](b), [c](d)", []string{"[a](b)", "[c](d)"}},
		{"[]", nil},
		{"", nil},
		{", ,", nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, markdown.ParseList(test.value)); diff != "" {
			t.Errorf("markdown.ParseList(%q) (-want +got):\n%s", test.value, diff)
		}
	}
}

func TestFormatList(t *testing.T) {
	t.Parallel()
	tests := [][]string{nil, {"a"}, {"a", "b c"}, {"a, b", "c"}, {"{a,b}", "c"}}
	for _, items := range tests {
		text := "[" + markdown.FormatList(items) + "]"
		if diff := cmp.Diff(items, markdown.ParseList(text)); diff != "" {
			t.Errorf("markdown.ParseList(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseItems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value  string
		want   []string
		isList bool
	}{
		{"- a\n* b\n+ c", []string{"a", "b", "c"}, true},
		{"1. a\n2) b\n10. c", []string{"a", "b", "c"}, true},
		{"- a\n  more\n  - inner\n- b", []string{"a more - inner", "b"}, true},
		{"intro\n- a\n\n- b", []string{"a", "b"}, true},
		{"- [ ] a\n- [x] b", []string{"[ ] a", "[x] b"}, true},
		{"a\n\nb", []string{"a", "b"}, false},
		{"1.a\n-b", []string{"1.a", "-b"}, false},
		{"", nil, false},
	}
	for _, test := range tests {
		got, isList := markdown.ParseItems(test.value)
		if diff := cmp.Diff(test.want, got); diff != "" || isList != test.isList {
			t.Errorf("markdown.ParseItems(%q), %t (-want +got):\n%s", test.value, isList, diff)
		}
	}
}

func TestFactsOfTypedViews(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		got, want Facts
	}{
		{"issue", issueFields.Facts(Issue{
			ID: "ISSUE-1", Status: "Completed", Type: "Bug", Summary: "A `b`", Loop: "2", TaskRef: "task-3",
			Extra: []Property{{"Assignee", "agent-1"}, {"Agent", "qa"}, {"Tags", "x, y"}},
		}), Facts{
			Agent: "qa", Status: "complete", Loop: "2", Task: "task-3", Tags: []string{"x", "y"}, Title: "A b", Summary: "A b",
			Attributes: map[string]string{record.AttributeType: "bug", AttributeAssignee: "agent-1"},
		}},
		{"bare issue", issueFields.Facts(Issue{Extra: []Property{{"Assignee", ""}, {"Created", "now"}}}),
			Facts{Attributes: nil}},
		{"task",
			taskFields.Facts(queuedTask{ID: "T1", Title: "t", Status: "Done!",
				Extra: []Property{{"Assignee", "a"}, {"Created", "2026"}}}),
			Facts{Task: "T1", Status: "complete", Title: "t",
				Attributes: map[string]string{AttributeAssignee: "a", record.AttributeCreated: "2026"}}},
		{"knowledge",
			knowledgeFields.Facts(Knowledge{ID: "gotcha-1", Content: "c", Source: "review", Tags: []string{" a ", ""}}),
			Facts{Title: "c", Summary: "c", Tags: []string{"a"},
				Attributes: map[string]string{record.AttributeType: "gotcha", attributeSource: "review"}}},
		{"node", (&knowledgeNode{ID: "pattern-1", Summary: "s"}).facts(),
			Facts{Title: "s", Summary: "s", Attributes: map[string]string{record.AttributeType: "pattern"}}},
		{"component", Component{Name: "`a`", Modified: "task-1", Location: "l", Notes: "n"}.facts(),
			Facts{Title: "a", Task: "task-1", Summary: "l n"}},
	}
	tests[1].want.Attributes = map[string]string{record.AttributeCreated: "now"}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("facts of %s (-want +got):\n%s", test.name, diff)
		}
	}
}
