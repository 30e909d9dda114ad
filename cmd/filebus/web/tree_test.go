package web

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseTree(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": 1, "b": {"c": [true, null, "x"]}, "a": 1.50}`: `object {"a":1.50,"b":{"c":[true,null,"x"]}}`,
		"{\"a\": 1}\n{\"b\": 2}\n":                           `table [{"a":1},{"b":2}]`,
		`[]`:                                                 "list []",
		`{"a": `:                                             "no",
		`{"a" 1}`:                                            "no",
		`{} x`:                                               "no",
		"# a":                                                "no",
		"":                                                   "no",
		`"x"`:                                                "no",
		"12":                                                 "no",
		strings.Repeat("[", 2001) + strings.Repeat("]", 2001): "no",
	} {
		got := "no"
		if root, ok := parseTree(text); ok {
			all, _ := json.Marshal(root)
			got = kindOf(root) + " " + string(all)
		}
		if got != want {
			t.Errorf("%.80q is %s, want %s", text, got, want)
		}
	}
	list, _ := parseTree("{\"a\": 1, \"z\": 1}\n{\"z\": [2]}")
	if names := strings.Join(columnsOf(list.([]any)), " "); names != "z a" {
		t.Errorf("the columns are %q", names)
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	head, rest := frontMatter("---\ntitle: \"A <b>\"\ntags:\n  - x\n  - y\r\n---\n# B\n")
	if len(head) != 2 || head[0] != [2]string{"title", "A <b>"} || head[1] != [2]string{"tags", "- x - y"} || rest != "\n\n\n\n\n\n# B\n" {
		t.Errorf("%q and %q", head, rest)
	}
	for _, text := range []string{"", "---", "---\n", "---\ntitle: x\n", "# a\n---\nb: c\n---\n", "---\n- a\n---\nb", "---\n\ntext without a colon\n---\n"} {
		if head, rest := frontMatter(text); len(head) > 0 || rest != text {
			t.Errorf("%q has %q and %q", text, head, rest)
		}
	}
}
