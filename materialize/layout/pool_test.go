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
		`{"round": 1, "panel": [{"name": "Anna 🥐", "tier": "Core", "relevance": 0.95, "emoji": "🍞"}], "goal": {}}`: "anna/Anna//Core/0.95/🍞;",
		"\ufeff{\"experts\":\r\n[{\"name\": \"ÉCLAIR.md\"}]}":                                                      "éclair/ÉCLAIR.md///0/;",
		`{"experts": []}`:                  "",
		`{"experts": [{"role": "Baker"}]}`: `a member without a name: {"role": "Baker"}`,
		`{"experts": [{"name": "🧁"}]}`:     `a member without a name: {"name": "🧁"}`,
		`{"experts": ["a"]}`:               `a member without a name: "a"`,
		`{"expert": ["a"]}`:                "no members",
		`{"experts": null}`:                "no members",
		`{"experts": {"a": {}}}`:           "no members",
		`["a"]`:                            "the file is not a JSON object",
		`{"experts": ["a"]`:                "broken JSON: unexpected end of JSON input",
		`{"launched": "yesterday", "experts": [{"name": "a"}]}`:    `a////0/;"launched" is not understood: "yesterday"`,
		`{"experts": [{"name": "a"}, {"name": "` + "\xff" + `"}]}`: "a member without a name",
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
		"\ufeff{\"z\":1e3,\r\n\"panel\":[{\"name\":\"b\"},{\"x\":1,\"name\":\"a\"}],\"launched\":\"2026-03-02T09:30:00Z\",\"focus\":\"G\"}\r\n": "\ufeff{\r\n  \"z\": 1e3,\r\n  \"panel\": [\r\n    {\r\n      \"x\": 1,\r\n      \"name\": \"a\"\r\n    },\r\n    " +
			"{\r\n      \"name\": \"new\",\r\n      \"role\": \"\\\"x\\\" & y\"\r\n    }\r\n  ],\r\n  \"launched\": \"2026-03-02T09:30:00Z\",\r\n  \"focus\": \"F\"\r\n}\r\n",
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
	same := []byte("{ \"experts\" :[ {\"name\": \"a\"} ] }")
	if got, _ := (PanelEdit{Add: []Expert{{Name: "a"}}}).Apply(same); string(got) != string(same) {
		t.Errorf("nothing changes, and the text becomes\n%s", got)
	}
	if _, problem := (PanelEdit{}).Apply([]byte("{")); problem == nil {
		t.Error("a cut panel is edited")
	}
}
