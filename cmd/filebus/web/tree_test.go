package web

import (
	"strings"
	"testing"
)

func TestParseTree(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // the shape: names with their kinds
		`{"a": 1, "b": {"c": [true, null, "x"]}, "a": 1.50}`: "{a=1 b{c[=true =null \"=x]} a=1.50}",
		"{\"a\": 1}\n{\"a\": 2}\n":                           "[{a=1} {a=2}]",
		`[]`:                                                 "[]",
		`{"a": "two\nlines"}`:                                "{\"a=two|lines}",
		`{"a": `:                                             "no",
		`{"a" 1}`:                                            "no",
		`{} x`:                                               "no",
		"# a":                                                "no",
		"":                                                   "no",
		`"x"`:                                                "no",
		strings.Repeat("[", 100) + strings.Repeat("]", 100): "no",
		"[" + strings.Repeat("1,", maxValues) + "1]":        "no",
	} {
		got := "no"
		if root, ok := parseTree(text); ok {
			got = shape(root)
		}
		if got != want {
			t.Errorf("%.80q has the shape %s, want %s", text, got, want)
		}
	}
	list, _ := parseTree("{\"a\": 1}\n{\"b\": [2]}")
	if names := strings.Join(list.Columns(), " "); names != "a b" || list.Within[0].Field("a") != "1" || list.Within[1].Field("b") != "…" || list.Within[1].Field("a") != "" {
		t.Errorf("the columns are %q: %+v", names, list)
	}
}

func shape(v value) string {
	if v.Kind != '{' && v.Kind != '[' {
		return map[bool]string{true: `"`}[v.Kind == '"'] + v.Name + "=" + strings.ReplaceAll(v.Text, "\n", "|")
	}
	var within []string
	for _, one := range v.Within {
		within = append(within, shape(one))
	}
	return v.Name + string(v.Kind) + strings.Join(within, " ") + map[byte]string{'{': "}", '[': "]"}[v.Kind]
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
