package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNodeLoose takes values as agents write them: one instead of a list, a word for
// nothing, a text where a map is meant.
func TestNodeLoose(t *testing.T) {
	t.Parallel()
	const text = "files:\n  - a.go\n  - Path: b.go\n    why: new\n  - path: none\nsteps: only one\nblockers: None\n" +
		"task-id: 7\nnested:\n  k: [x, y]\n"
	node, problems := ParseYAML(text, 1)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	var paths []string
	for _, item := range node.Get("files").Items() {
		paths = append(paths, item.First("path", "file"))
	}
	for _, test := range []struct {
		what      string
		got, want []string
	}{
		{"files", paths, []string{"a.go", "b.go", "path: none"}},
		{"one step", node.Get("actions", "steps").Texts(), []string{"only one"}},
		{"no blockers", node.Get("blockers").Texts(), nil},
		{"a field that is not there", node.Get("gotchas").Texts(), nil},
		{"a key in another spelling", []string{node.Get("task_id").Text()}, []string{"7"}},
		{"a map in one text", []string{node.Get("nested").Text()}, []string{"k: x, y"}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}

// TestParseYAMLOdd reads what no library takes for YAML, or takes for something else.
func TestParseYAMLOdd(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("- ", maxYAMLDepth+1) + "x\n"
	for _, test := range []struct{ label, text, want, problem string }{
		{"names of values are none of them", "a: &x 1\nb: *x\n", `{a: "1", b: "*x"}`, ""},
		{"nor are their tags", "a: !!int 1\n", `{a: "1"}`, ""},
		{"tabs", "a:\n\tb: 1\n\tc: 2\n", `{a: {b: "1", c: "2"}}`, ""},
		{"a comment behind a dash", "a:\n- # why\n  b: 1\n- *x\n", `{a: [{b: "1"}, "*x"]}`, ""},
		{"a list at the depth of its key", "a: *x\nb:\n- 1\n- 2\nc: 3\n", `{a: "*x", b: ["1", "2"], c: "3"}`, ""},
		{"a list over several lines", "a: [x,\n  y]\nb: *x\n", `{a: ["x", "y"], b: "*x"}`, ""},
		{"brackets that nothing closes", "a: [x,\n  y\nb: 1\n", `{a: "[x, y", b: "1"}`, ""},
		{"quotes that do not fit", "a: 'it's'\nb: \"x\\q\"\n", `{a: "'it's'", b: "x\\q"}`, ""},
		{"a quote in a key", "\"a: b\": c\nd: *x\n", `{a: b: "c", d: "*x"}`, ""},
		{"a header without a block", "a: |\nb: *x\n", `{a: "", b: "*x"}`, ""},
		{"no key", "a: *x\nsome words\nb: 1\n", `{a: "*x", b: "1"}`, `2: unexpected "some words"`},
		{"too deep", deep, "", "more than 32 levels"},
		{"other languages, LF missing", "größe: groß\r\n名前: *名", `{größe: "groß", 名前: "*名"}`, ""},
		{"other line breaks", "a: x\u2028b: y\n", `{a: "x\u2028b: y"}`, ""},
	} {
		node, problems := ParseYAML(test.text, 1)
		var all strings.Builder
		for _, p := range problems {
			all.WriteString(p.Error())
		}
		if test.want != "" && node.show() != test.want {
			t.Errorf("%s: ParseYAML(%q) = %s, want %s", test.label, test.text, node.show(), test.want)
		}
		if !strings.Contains(all.String(), test.problem) || (test.problem == "") != (all.Len() == 0) {
			t.Errorf("%s: the problems of %q are %q, want %q", test.label, test.text, all.String(), test.problem)
		}
	}
}

func TestYAMLFence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		label, text, info, inside string
		before                    int
		found                     bool
	}{
		{"marked", "x\n```go\na\n```\n```\nb\n```\n~~~ YAML\nc: 1\n~~~\n```yml\nd\n```\n", "yaml", "c: 1\n", 8, true},
		{"not marked", "```\r\na: 1\r\n```\r\n```\r\nb\r\n```\r\n", "", "a: 1\r\n", 1, true},
		{"never closed", "text\n````yml\na: 1\n```\n", "yml", "a: 1\n```\n", 2, true},
		{"of another language", "```json\n{}\n```\n", "", "", 0, false},
		{"none", "a: 1\n", "", "", 0, false},
		{"empty", "```yaml", "yaml", "", 1, true},
	} {
		got, found := YAMLFence(test.text)
		want := yamlFence{Info: test.info, Inside: test.inside, Before: test.before}
		if got != want || found != test.found {
			t.Errorf("%s: YAMLFence(%q) = %+v, %t, want %+v, %t", test.label, test.text, got, found, want, test.found)
		}
	}
}

func TestParseJSONNode(t *testing.T) {
	t.Parallel()
	node, err := ParseJSONNode([]byte(`{"b": [1.50, true, null, {"c": "d"}], "a": "x", "b": {}, "e": []}`))
	want := `{b: ["1.50", "true", "", {c: "d"}], a: "x", b: "", e: ""}`
	if got := node.show(); got != want || err != nil {
		t.Errorf("read %s, %v, want %s", got, err, want)
	}
	for _, text := range []string{"", "[1", "[1,", `{"a"`, `{"a": [}`, `{1: 2}`, `[{"a": }]`, "{", "[]", "7"} {
		if got, err := ParseJSONNode([]byte(text)); err == nil {
			t.Errorf("%q is read as %s", text, got.show())
		}
	}
}
