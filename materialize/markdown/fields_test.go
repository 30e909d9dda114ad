package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// formName names a form in a message.
func formName(form fieldForm) string { return [...]string{"row", "bullet", "label"}[form] }

func TestReadFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		rules      Rules
		want       []string // "form key=value"
		errs       []string
	}{
		{"rows", "\n| Field | Value |\n|---|---|\n| Status | a |\n| `Loop` | |\n", issueRules(),
			[]string{"row status=a", "row loop="}, nil},
		{"rows without a header", "| Status | a |\n|---|---|\n| Type | b |\n", issueRules(),
			[]string{"row status=a", "row type=b"}, nil},
		{"rows are no fields of knowledge", "| Type | b |\n- Type: c\n", knowledgeRules(), []string{"bullet type=c"}, nil},
		{"bullets", "- **Status**: a\n* **Type:** b\n+ Priority: c\n- Other: d\n- **Own**: e\n- http://x\n", issueRules(),
			[]string{"bullet status=a", "bullet type=b", "bullet priority=c", "bullet own=e"}, nil},
		{"bullets of any name", "- Supersedes: a\n- a b\n- 10:30\n- Type:b\n", knowledgeRules(), []string{"bullet supersedes=a"}, nil},
		{"long bullet", "- Content: a\nb\n\n  c\n    d\n\ne\n- Source: f\n", knowledgeRules(),
			[]string{"bullet content=a\nb\n\nc\n  d", "bullet source=f"}, nil},
		{"bullet and list", "- Content:\n  - a\n  - b\n- c\n", knowledgeRules(), []string{"bullet content=- a\n- b"}, nil},
		{"tab below a bullet", "- Content: a\n\tb\n", knowledgeRules(), []string{"bullet content=a\nb"}, nil},
		{"labels", "**Status:** a\nx\n**Own**: b\n**No colon** c\n", issueRules(), []string{"label status=a", "label own=b\n**No colon** c"}, nil},
		{"text below fields of one line", "**Summary:** s\nt\n\nu\n\n**Status:** a\n\nb\n- **Loop**: 1\n  c\n", issueRules(),
			[]string{"label summary=s\nt", "label status=a"}, nil},
		{"list of one field", "**Files:**\n- a\n\n- b\n\nc\n", issueRules(), []string{"label files=- a\n\n- b"}, nil},
		{"text below a list in one line", "**Files:** a, b\n\n- c\n", issueRules(), []string{"label files=a, b"}, nil},
		{"plain lines of any name", "summary: s\nown: t\nstatus: a\n", issueRules(), []string{"bullet summary=s", "bullet status=a"}, nil},
		{"text below bullets of one line", "- Tags: a,\n  b\n- Source: c\nd\n- Content:\n  e\n", knowledgeRules(),
			[]string{"bullet tags=a,\nb", "bullet source=c", "bullet content=e"}, nil},
		{"label with text", "**Details:**\n\na\n\n**Note:** b\n- **Status**: c\n| Type | d |\n#### e\n**Files:** f\n", issueRules(),
			[]string{"label details=a\n\n**Note:** b\n- **Status**: c\n| Type | d |\n#### e", "label files=f"}, nil},
		{"any label", "**Steps:**\n1. a\n**Note:** b\n", taskRules(), []string{"label steps=1. a", "label note=b"}, nil},
		{"rule", "**Details:** a\n---\nb\n**Files:** c\n", issueRules(), []string{"label details=a", "label files=c"}, nil},
		{"fence", "**Details:** a\n```\n**Files:** b\n---\n```\n", issueRules(), []string{"label details=a\n```\n**Files:** b\n---\n```"}, nil},
		{"escapes", "**Details:**\n\\# a\n\\\\--- b\n\\\\---\n\\c\n```\n\\# d\n```\n", issueRules(),
			[]string{"label details=# a\n\\\\--- b\n\\---\n\\c\n```\n\\# d\n```"}, nil},
		{"again", "| Status | a |\n\n**status:** b\nc\n", issueRules(), []string{"row status=a"},
			[]string{"4: field status is given again (first at line 2)"}},
		{"bad rows", "| a |\n| | b |\n| c | d | e |\n", issueRules(), []string{"row c=d | e"},
			[]string{"2: table row has 1 cell, not a field and a value", "3: table row names no field",
				"4: table row has 3 cells, not a field and a value"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := "### H\n" + test.text
			v, errs := ReadFields(Lines([]byte(text)), test.rules)
			var got, messages []string
			for _, f := range v.fields {
				got = append(got, formName(f.form)+" "+f.key+"="+v.Get(f.key))
			}
			for _, err := range errs {
				messages = append(messages, fmt.Sprintf("%d: %v", err.Line, err.Err))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("fields of %q (-want +got):\n%s", text, diff)
			}
			if diff := cmp.Diff(test.errs, messages); diff != "" {
				t.Errorf("errors of %q (-want +got):\n%s", text, diff)
			}
		})
	}
}

func TestCutName(t *testing.T) {
	t.Parallel()
	rules := Rules{Plain: PlainAny}
	tests := []struct {
		line, name, rest string
		ok               bool
	}{
		{"**Status:** a", "Status", " a", true},
		{"**Status**: a", "Status", " a", true},
		{"**Status:**a", "Status", "a", true},
		{" **Task Ref:**", "Task Ref", "", true},
		{"- **Status:** a", "Status", " a", true},
		{"-  Status: a", "Status", " a", true},
		{"- Größe: a", "Größe", " a", true},
		{"- Files (new): a", "Files (new)", " a", true},
		{"  **Status:** a", "", "", false},
		{"**Status** a", "", "", false},
		{"**Status", "", "", false},
		{"**: a", "", "", false},
		{"**:** a", "", "", false},
		{"**1st:** a", "", "", false},
		{"**a.b:** c", "", "", false},
		{"**" + strings.Repeat("a", 61) + ":** b", "", "", false},
		{"- " + strings.Repeat("a", 61) + ": b", "", "", false},
		{"- http://x", "", "", false},
		{"- a", "", "", false},
		{"-Status: a", "", "", false},
		{"", "", "", false},
	}
	for _, test := range tests {
		name, lead, _, ok := rules.cutName([]byte(test.line), true)
		if ok != test.ok || ok && (name != test.name || test.line[lead:] != test.rest) {
			t.Errorf("cutName(%q) = %q, %d, %t, want %q before %q, %t", test.line, name, lead, ok, test.name, test.rest, test.ok)
		}
	}
}

func TestFieldKey(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Task Ref", "task_ref", "TASK-REF", " Task  Ref "} {
		if got := Key(name); got != "task ref" {
			t.Errorf("Key(%q) = %q, want %q", name, got, "task ref")
		}
	}
}

// TestEscapeLine checks that a line is escaped only where it must be, and that
// it comes back.
func TestEscapeLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"text", "text"},
		{"# a", `\# a`},
		{"   #### a", `   \#### a`},
		{"    # code", "    # code"},
		{"##### a", "##### a"},
		{"#a", "#a"},
		{"---", `\---`},
		{"- - -", `\- - -`},
		{"- a", "- a"},
		{"**Files:** a", `\**Files:** a`},
		{"**Note:** a", "**Note:** a"},
		{"  **Files:** a", "  **Files:** a"},
		{"**bold** a", "**bold** a"},
		{"```", "\\```"},
		{"~~~~ a", `\~~~~ a`},
		{"<!-- a", `\<!-- a`},
		{"<!-- a -->", "<!-- a -->"},
		{`\# a`, `\\# a`},
		{`\\---`, `\\\---`},
		{`\a`, `\a`},
		{"", ""},
	}
	r := issueRules()
	for _, test := range tests {
		lines := Lines([]byte(test.line + "\n"))
		got := string(r.escapeLine(lines[0]))
		if got != test.want {
			t.Errorf("escapeLine(%q) = %q, want %q", test.line, got, test.want)
		}
		if back := string(r.unescapeLine([]byte(got))); back != test.line {
			t.Errorf("unescapeLine(%q) = %q, want %q", got, back, test.line)
		}
	}
}

func TestBulletLike(t *testing.T) {
	t.Parallel()
	tests := []struct{ lead, name, want string }{
		{"- Status:", "Type", "- Type:"}, {"- **Status:**", "Type", "- **Type:**"}, {"- **Status**:", "Type", "- **Type**:"},
		{"- Status:", "Assignee 2", "- **Assignee 2**:"}, // plain, it would be no field
	}
	for _, test := range tests {
		if got := string(issueRules().bulletLike([]byte(test.lead), test.name)); got != test.want {
			t.Errorf("bulletLike(%q, %q) = %q, want %q", test.lead, test.name, got, test.want)
		}
	}
}

// The rules of three kinds of entries: a table of fields, bullets, and labels.

func issueRules() Rules {
	return Rules{
		Known: []string{
			"status", "source", "type", "priority", "created", "loop", "complexity",
			"claimed by", "claimed at", "lease until", "duplicate of", "summary", "details",
			"acceptance criteria", "criteria", "files", "rationale", "task ref", "task",
		},
		Blocks: []string{"summary", "details", "acceptance criteria", "criteria", "files", "rationale", "task ref"},
		Leads:  []string{"summary", "files"},
		Rows:   true,
		Plain:  PlainKnown,
		Form:   RowForm,
	}
}

func knowledgeRules() Rules {
	return Rules{
		Known:  []string{"type", "tags", "content", "source", "confidence", "created", "date"},
		Blocks: []string{"content"},
		Plain:  PlainAny,
		Form:   BulletForm,
	}
}

func taskRules() Rules {
	return Rules{
		Known: []string{"priority", "status", "category", "description", "steps", "expected result", "depends on",
			"dependencies"},
		Blocks: []string{"description", "steps", "expected result"},
		Rows:   true,
		Plain:  PlainKnown,
		Late:   true,
		Form:   LabelForm,
	}
}
