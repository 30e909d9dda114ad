package layout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPoolPage reads the pool and the panel of the page and writes them again.
func TestPoolPage(t *testing.T) {
	t.Parallel()
	text := docExample(t, "dialogue", "expert-pool.json")
	pool, problem := ParsePool(text)
	want := Pool{
		Title: "Retry policy", Created: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC), Question: "Who retries a request that failed?", Judge: "donut",
		Experts: []Expert{{Name: "muffin", Label: "Muffin", Role: "Site reliability"}, {Name: "scone", Label: "Scone"}},
	}
	if diff := cmp.Diff(want, pool); diff != "" || problem != nil {
		t.Errorf("the pool: %v (-want +got):\n%s", problem, diff)
	}
	if got := AppendJSON(nil, pool); string(got) != string(text) {
		t.Errorf("the pool is written as\n%s", got)
	}
	text = docExample(t, "dialogue", "panel.json")
	panel, problem := ParsePanel(text)
	if problem != nil || panel.Round != 0 || len(panel.Experts) != 1 || panel.Experts[0] != want.Experts[0] {
		t.Errorf("the panel = %+v, %v", panel, problem)
	}
	if got := AppendJSON(nil, panel); string(got) != string(text) {
		t.Errorf("the panel is written as\n%s", got)
	}
}

// TestForeignPool reads a pool with keys and a form that others use.
func TestForeignPool(t *testing.T) {
	t.Parallel()
	pool, problem := ParsePool([]byte(`{"domain":"APIs","moderator":{"x":1},"experts":[{"role":"Architect","tier":"core","relevance":0.95}]}`))
	want := Pool{Domain: "APIs", Experts: []Expert{{Role: "Architect", Tier: "core", Relevance: 0.95}}}
	if diff := cmp.Diff(want, pool); diff != "" || problem != nil {
		t.Errorf("ParsePool: %v (-want +got):\n%s", problem, diff)
	}
	for _, text := range []string{"", "{", `{"experts":[7]}`, `{"experts":[[]]}`, `{"experts":[{"tier":"core"}]}`} {
		if _, problem := ParsePool([]byte(text)); problem == nil {
			t.Errorf("ParsePool(%q) has no problem", text)
		}
	}
}

// TestPanelShapes reads members in the forms of others, and finds what is none.
func TestPanelShapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"round": "round-1", "PANEL": [{"Name": "Anna 🥐", "tier": "Core", "relevance": "95%", "emoji": "🍞"}]}`: "anna/Anna//Core/0.95/🍞;",
		"\ufeff{\"agents\":\r\n[\"Muffin (Site, eu)\", \"scone: Ops\", \"b1 - Vert\"]}":                         "muffin/Muffin/Site, eu//0/;scone//Ops//0/;b1//Vert//0/;",
		`{"members": {"Git/VCS Expert": {"relevance": "high", "role": ["a", 2]}, "x": null, "y": "Z"}}`:         "git-vcs-expert/Git/VCS Expert/a, 2//0/;x////0/;y//Z//0/;",
		`[{"agent": "ÉCLAIR.md", "relevance": 1e400}]`:                                                          "éclair/ÉCLAIR.md///0/;",
		`{"experts": []}`:                             "",
		`{"experts": 3, "agents": {"name": "b"}}`:     "name//b//0/;",
		`{"panel": {"round": 1, "experts": []}}`:      "a member without a name: 1",
		`{"experts": [{"role": "Baker"}]}`:            `a member without a name: {"role": "Baker"}`,
		`{"experts": ["🧁"]}`:                          `a member without a name: "🧁"`,
		`{"experts": [["a"]]}`:                        `a member without a name: ["a"]`,
		`{"expert": ["a"]}`:                           "no members",
		`{"experts": null}`:                           "no members",
		`"a"`:                                         "no members",
		`{"experts": ["a"]`:                           "unexpected end of JSON input",
		`{"launched": "yesterday", "experts": ["a"]}`: `a////0/;"launched" is not understood: "yesterday"`,
		`{"experts": [{"name": "a"}, {"name": "` + "\xff" + `"}, "b"]}`: "a member without a name",
	} {
		p, problem := ParsePanel([]byte(text))
		got := ""
		for _, e := range p.Experts {
			got += fmt.Sprintf("%s/%s/%s/%s/%v/%s;", e.Name, e.Label, e.Role, e.Tier, e.Relevance, e.Emoji)
		}
		if problem != nil {
			got += problem.Err.Error()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s\nis %s, want %s", text, got, want)
		}
	}
}

// TestPanelEdit edits a panel, of which all else stays.
func TestPanelEdit(t *testing.T) {
	t.Parallel()
	edit := PanelEdit{
		Add: []Expert{{Name: "a"}, {Name: "new", Role: `"x" & y`}}, Retire: []string{"b", "nobody"}, Focus: "F",
		Launched: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC),
	}
	for text, want := range map[string]string{
		`["a","b"]`: "[\n  \"a\",\n  {\n    \"name\": \"new\",\n    \"role\": \"\\\"x\\\" \\u0026 y\"\n  }\n]",
		"\ufeff{\"z\":1e3,\r\n\"agents\":{\"b\":{},\"a\":\"R\"},\"launched\":\"then\",\"focus\":\"G\"}\r\n": "\ufeff{\r\n  \"z\": 1e3,\r\n  \"agents\": {\r\n    \"a\": \"R\",\r\n    " +
			"\"new\": {\r\n      \"name\": \"new\",\r\n      \"role\": \"\\\"x\\\" \\u0026 y\"\r\n    }\r\n  },\r\n  \"launched\": \"then\",\r\n  \"focus\": \"F\"\r\n}\r\n",
	} {
		got, problem := edit.Apply([]byte(text))
		if diff := cmp.Diff(want, string(got)); diff != "" || problem != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, problem, diff)
		}
		edit.Retire = nil
		if again, _ := edit.Apply(got); string(again) != string(got) && text[0] != '[' {
			t.Errorf("applied again:\n%s", again)
		}
		edit.Retire = []string{"b", "nobody"}
	}
	same := []byte("{ \"experts\" :[ \"a\" ] }")
	if got, _ := (PanelEdit{Add: []Expert{{Name: "a"}}}).Apply(same); string(got) != string(same) {
		t.Errorf("nothing changes, and the text becomes\n%s", got)
	}
	if _, problem := (PanelEdit{}).Apply([]byte("{")); problem == nil {
		t.Error("a cut panel is edited")
	}
}
