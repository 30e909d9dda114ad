package layout_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
)

func TestParseHandoffJSON(t *testing.T) {
	t.Parallel()
	full := layout.Handoff{
		Outcome: "partial", Summary: "Half",
		Files: []layout.HandoffFile{
			{Path: "a.go", Change: "created", Lines: "38"}, {Path: "b.go", Change: "modified", Type: "feature"}, {Path: "c.go"}, {Path: "d.go"},
		},
		Blockers: []string{"No window", "No key"}, Patterns: []layout.HandoffPattern{{Pattern: "p", AppliesTo: "all"}},
		Gotchas: []layout.HandoffGotcha{{Issue: "g", Severity: "high"}}, Questions: []layout.HandoffQuestion{{Question: "q", Blocking: true}},
		NextSteps: []string{"n"}, Dependencies: []string{"d"}, Extra: []layout.Property{{Key: "cost", Value: "1.50"}},
	}
	tests := []struct {
		name, text string
		want       layout.Handoff
		err        string
	}{
		{"all", `{"outcome":"partial","summary":"Half","files_created":[{"path":"a.go","lines":38}],
			"files_modified":[{"path":"b.go","change_type":"feature"}],"files_changed":["c.go","d.go"],"blockers":["No window","No key",null,""],
			"patterns_discovered":[{"pattern":"p","applies_to":"all"}],"gotchas":{"issue":"g","severity":"high"},
			"open_questions":[{"question":"q","blocking":true}],"suggested_next_steps":"n","dependencies_for_next":["d"],"cost":1.50}`, full, ""},
		{"inner", "\ufeff{\"handoff\":{\"Outcome\":\"done\",\"summary\":null}}", layout.Handoff{Outcome: "done"}, ""},
		{"empty", ``, layout.Handoff{}, "unexpected end"},
		{"cut", `{"outcome":`, layout.Handoff{}, "unexpected end"},
		{"list", `["a"]`, layout.Handoff{}, "not a JSON object"},
		{"word", `done`, layout.Handoff{}, "invalid character"},
		{"two", `{"outcome":"done"} {}`, layout.Handoff{}, "after top-level value"},
		{"nothing", `{}`, layout.Handoff{}, "no keys"},
	}
	for _, test := range tests {
		got, err := layout.ParseHandoffJSON([]byte(test.text))
		if test.err != "" {
			if len(err) == 0 || !strings.Contains(err[0].Error(), test.err) {
				t.Errorf("%s: ParseHandoffJSON(%.60q) = %+v, %v; want an error with %q", test.name, test.text, got, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" || len(err) > 0 {
			t.Errorf("%s: ParseHandoffJSON(%q): %v (-want +got):\n%s", test.name, test.text, err, diff)
		}
	}
}

func TestFailedMarkers(t *testing.T) {
	t.Parallel()
	for _, p := range append(layout.Profiles(), layout.ProfileBelow("work")) {
		if got, want := p.FailedMarkers(), p.Name == "orchestrator"; got != want {
			t.Errorf("%s: FailedMarkers() = %t, want %t", p.Name, got, want)
		}
	}
}
