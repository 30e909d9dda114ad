package layout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPoolPage reads the pool and the panel of the page and writes them again.
func TestPoolPage(t *testing.T) {
	text := docExample(t, "dialogue", "expert-pool.json")
	pool, problem := ParsePool(text)
	want := Pool{
		Title: "Retry policy", Created: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC), Question: "Who retries a request that failed?", Judge: "donut",
		Experts: []Expert{{Name: "muffin", Label: "Muffin", Role: "Site reliability"}, {Name: "scone", Label: "Scone"}},
	}
	if diff := cmp.Diff(want, pool); diff != "" || problem != nil {
		t.Errorf("the pool: %v (-want +got):\n%s", problem, diff)
	}
	if got, err := AppendJSON(nil, pool); err != nil || string(got) != string(text) {
		t.Errorf("the pool is written as\n%s, %v", got, err)
	}
	text = docExample(t, "dialogue", "panel.json")
	panel, problem := ParsePanel(text)
	if problem != nil || panel.Round != 0 || len(panel.Experts) != 1 || panel.Experts[0] != want.Experts[0] {
		t.Errorf("the panel = %+v, %v", panel, problem)
	}
	if got, err := AppendJSON(nil, panel); err != nil || string(got) != string(text) {
		t.Errorf("the panel is written as\n%s, %v", got, err)
	}
}

// TestForeignPool reads a pool with keys and a form that others use.
func TestForeignPool(t *testing.T) {
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
