package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	rowIssue    = "### I\n\n| Field | Value |\n|---|---|\n| Status | open |\n| Loop ||\n\n**Details:**\nd\n\n---\n"
	boldBullets = "### p\r\n- **Type:** a\r\n- **Content:**\r\n  one\r\n  two\r\n"
)

// TestSet sets fields that are written in all forms. The bytes around the value stay,
// the value is read back, and setting it again changes nothing.
func TestSet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		label, text       string
		rules             Rules
		name, value, want string
	}{
		{"row", rowIssue, issueRules(), "status", "a | b\nc", strings.Replace(rowIssue, "| open |", `| a \| b c |`, 1)},
		{"empty row", rowIssue, issueRules(), "Loop", "2", strings.Replace(rowIssue, "Loop ||", "Loop | 2 |", 1)},
		{"row without its last bar", "### I\n| Type | b |\n| Status | a\n", issueRules(), "Status", "c",
			"### I\n| Type | b |\n| Status | c\n"},
		{"new row", rowIssue, issueRules(), "Priority", "low",
			strings.Replace(rowIssue, "| Loop ||\n", "| Loop ||\n| Priority | low |\n", 1)},
		{"first row", "### I\n", issueRules(), "Status", "a",
			"### I\n\n| Field | Value |\n|-------|-------|\n| Status | a |\n"},
		{"first row of a heading alone", "### I", issueRules(), "Status", "a",
			"### I\n\n| Field | Value |\n|-------|-------|\n| Status | a |"},
		{"first row above a block", "### I\n**Details:** d\n", issueRules(), "Status", "a",
			"### I\n\n| Field | Value |\n|-------|-------|\n| Status | a |\n\n**Details:** d\n"},
		{"bullet", boldBullets, knowledgeRules(), "TYPE", "b", strings.Replace(boldBullets, "Type:** a", "Type:** b",
			1)},
		{"longer bullet", boldBullets, knowledgeRules(), "Type", "x\ny",
			strings.Replace(boldBullets, "Type:** a", "Type:**\r\n  x\r\n  y", 1)},
		{"shorter bullet", boldBullets, knowledgeRules(), "Content", "c",
			strings.Replace(boldBullets, "\r\n  one\r\n  two", " c", 1)},
		{"no value", boldBullets, knowledgeRules(), "Content", "", strings.Replace(boldBullets, "\r\n  one\r\n  two",
			"", 1)},
		{"new bullet", boldBullets, knowledgeRules(), "Source", "s", boldBullets + "- **Source:** s\r\n"},
		{"new bullet at the end of a file", "### p\n- Type: a", knowledgeRules(), "Source", "s",
			"### p\n- Type: a\n- Source: s"},
		{"first bullet", "### p\r\ntext\r\n", knowledgeRules(), "Type", "a", "### p\r\n- Type: a\r\n\r\ntext\r\n"},
		{"new bullet behind code", "### p\n- Type: a\n- Content:\n  x\n```\ny\n```\n", knowledgeRules(), "Source", "s",
			"### p\n- Type: a\n- Content:\n  x\n```\ny\n```\n- Source: s\n"},
		{"wide space", "### T\n**Status:**   a\n", taskRules(), "Status", "b", "### T\n**Status:**   b\n"},
		{"new label", "### T\n**Status:** a\n", taskRules(), "Category", "c",
			"### T\n**Status:** a\n**Category:** c\n"},
		{"first label", "### T\n", taskRules(), "Status", "a", "### T\n**Status:** a\n"},
		{"first label above a block", "### T\n**Steps:**\n1. a\n", taskRules(), "Status", "a",
			"### T\n**Status:** a\n**Steps:**\n1. a\n"},
		{"what reads as structure", "### T\n**Steps:** a\n", taskRules(), "Steps", "x\n## y\n**Status:** z",
			"### T\n**Steps:**\nx\n\\## y\n\\**Status:** z\n"},
		{"byte order mark", "\ufeff### Größe\n- Type: ä\n", knowledgeRules(), "Type", "ö",
			"\ufeff### Größe\n- Type: ö\n"},
	} {
		got := string(test.rules.Set([]byte(test.text), test.name, test.value))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: Set(%q, %s, %q) (-want +got):\n%s", test.label, test.text, test.name, test.value, diff)
			continue
		}
		if again := string(test.rules.Set([]byte(got), test.name, test.value)); again != got {
			t.Errorf("%s: set again, %q becomes %q", test.label, got, again)
		}
		v, _ := ReadFields(Lines([]byte(got)), test.rules)
		want := test.value
		if strings.HasPrefix(test.label, "row") {
			want = SingleSpaced(want)
		}
		if read := strings.ReplaceAll(v.Get(Key(test.name)), "\r", ""); read != want {
			t.Errorf("%s: %q has the value %q, want %q", test.label, got, read, want)
		}
	}
	if got := issueRules().Set(nil, "Status", "a"); len(got) > 0 {
		t.Errorf("a field of nothing: %q", got)
	}
}

func TestSetItems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		label, text, name string
		rules             Rules
		items             []string
		want              string
	}{
		{"label", "### I\r\n**Criteria:** a\r\nb\r\n\r\n**Files:** f\r\n", "Criteria", issueRules(),
			[]string{" c\nd ", "", "e"},
			"### I\r\n**Criteria:**\r\n- c d\r\n- e\r\n\r\n**Files:** f\r\n"},
		{"row", "### I\n| Status | a |\n| Criteria | b |\n", "Criteria", issueRules(), []string{"c", "d"},
			"### I\n| Status | a |\n| Criteria | c; d |\n"},
		{"bullet", "### p\n- Type: a\n- Content: b\n", "Content", knowledgeRules(), []string{"c", "d"},
			"### p\n- Type: a\n- Content:\n  - c\n  - d\n"},
		{"none yet", rowIssue, "Criteria", issueRules(), []string{"c"},
			strings.Replace(rowIssue, "d\n\n---", "d\n\n**Criteria:**\n- c\n\n---", 1)},
		{"no items", "### p\n- Type: a\n- Content: b\n", "Content", knowledgeRules(), nil,
			"### p\n- Type: a\n- Content:\n"},
	} {
		got := string(test.rules.SetItems([]byte(test.text), test.name, test.items))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: SetItems(%q, %q) (-want +got):\n%s", test.label, test.text, test.items, diff)
		}
	}
}

func TestDrop(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		label, text, name string
		rules             Rules
		want              string
	}{
		{"row", rowIssue, "loop", issueRules(), strings.Replace(rowIssue, "| Loop ||\n", "", 1)},
		{"block", rowIssue, "Details", issueRules(), strings.Replace(rowIssue, "\n**Details:**\nd\n", "", 1)},
		{"bullet", boldBullets, "Content", knowledgeRules(), "### p\r\n- **Type:** a\r\n"},
		{"no field", rowIssue, "Priority", issueRules(), rowIssue},
	} {
		got := string(test.rules.Drop([]byte(test.text), test.name))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: Drop(%q, %s) (-want +got):\n%s", test.label, test.text, test.name, diff)
		}
		if test.rules.Has([]byte(got), test.name) {
			t.Errorf("%s: %q has still a field %s", test.label, got, test.name)
		}
	}
}

func TestAddBlock(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "",
		"### I":                 "### I\n\n**Note:** n",
		"### I\nx\n\n":          "### I\nx\n\n**Note:** n\n\n",
		"### I\nx\n\n---\n":     "### I\nx\n\n**Note:** n\n\n---\n",
		"### I\n```\n---\n```":  "### I\n```\n---\n```\n\n**Note:** n",
		"### I\r\nx\r\n\r\n***": "### I\r\nx\r\n\r\n**Note:** n\r\n\r\n***",
	} {
		if got := string(issueRules().AddBlock([]byte(text), "Note", "n")); got != want {
			t.Errorf("AddBlock(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAppendHeading(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		level           int
		id, title, want string
	}{
		{2, "p-1", "A  title\n", "## p-1: A title\n"}, {3, "p-1", " ", "### p-1\n"}, {1, "", "Titel", "# Titel\n"},
	} {
		if got := string(AppendHeading(nil, test.level, test.id, test.title)); got != test.want {
			t.Errorf("AppendHeading(%d, %q, %q) = %q, want %q", test.level, test.id, test.title, got, test.want)
		}
	}
}

// TestExtraFields tells the fields that a format does not define, and stops when asked.
func TestExtraFields(t *testing.T) {
	t.Parallel()
	v, _ := ReadFields(Lines([]byte("### p\n- Type: a\n- Owner: b\n- See: c\n")), knowledgeRules())
	var got []string
	for name, value := range v.Extra(knowledgeRules().Known) {
		got = append(got, name+"="+value)
	}
	if diff := cmp.Diff([]string{"Owner=b", "See=c"}, got); diff != "" {
		t.Errorf("further fields (-want +got):\n%s", diff)
	}
	for name := range v.Extra(nil) {
		if name != "Type" {
			t.Errorf("the first further field is %s, want Type", name)
		}
		break
	}
	if got := v.Get("colour", "owner"); got != "b" {
		t.Errorf("the first of the keys that is there has %q, want b", got)
	}
	if got := v.Get("colour"); got != "" {
		t.Errorf("a field that is not there has %q", got)
	}
}

func TestKnownFields(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"### H\n\n- Content: a\n": true, "### H\n**content**: a\n": true, "### H\n- Other: a\n": false, "### H\n": false,
		"### H\n```\n- Content: a\n```\n": false, "### H\n#### I\n- Content: a\n": false,
	} {
		if known, _ := KnownFields(Lines([]byte(text)), 0, knowledgeRules()); len(known) > 0 != want {
			t.Errorf("KnownFields(%q) = %q, want %t", text, known, want)
		}
	}
}
