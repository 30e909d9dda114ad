package issue

import (
	"slices"
	"strings"
	"testing"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
)

// TestNewField adds a line to a copy of the table of an issue's fields: the field is
// written, read, set, checked, and lists are filtered by it.
func TestNewField(t *testing.T) {
	t.Parallel()
	fields := layout.IssueFields().With(layout.Field[layout.Issue]{
		Name: "Severity", Values: []string{"minor", "major"}, Fact: "severity", Filter: true,
		Flag: "severity", Default: "minor",
	})
	f := newQueue(t)
	f.Type = typeOf(fields)
	severity := fields.Input("severity")
	draft := layout.Issue{Summary: "Limit uploads", Type: "bug"}
	minor := f.mustAdd(t, draft)
	severity.Put(&draft, "major")
	major := f.mustAdd(t, draft)
	if got := severity.Get(&major.Issue); !slices.Equal(got, []string{"major"}) ||
		!strings.Contains(string(major.Text), "| Severity | major |\n") {
		t.Errorf("severity %q in\n%s", got, major.Text)
	}
	bullet := fields.Read([]byte("### ISSUE-1\n- Status: pending\n- Severity: major\n"))
	if got := severity.Get(&bullet); !slices.Equal(got, []string{"major"}) {
		t.Errorf("severity of a bullet %q, want major", got)
	}
	if got := fields.Facts(bullet).Attributes["severity"]; got != "major" {
		t.Errorf("the attribute is %q, want major", got)
	}
	for value, want := range map[string]string{"minor": minor.ID, "major": major.ID} {
		found, err := f.List(t.Context(), Filter{Filter: noun.Filter{Facts: map[string][]string{"severity": {value}}}})
		if err != nil || len(found) != 1 || found[0].ID != want {
			t.Errorf("%s issues: %v, %v, want %s", value, found, err, want)
		}
	}
	set, err := f.Edit(t.Context(), minor.ID, draft, []string{"severity"})
	if got := severity.Get(&set.Issue); err != nil || !slices.Equal(got, []string{"major"}) {
		t.Errorf("set to %q: %v", got, err)
	}
	set, err = f.Edit(t.Context(), minor.ID, layout.Issue{}, []string{"severity"})
	if err != nil || strings.Contains(string(set.Text), "Severity") {
		t.Errorf("taken away: %v in\n%s", err, set.Text)
	}
	severity.Put(&draft, "huge")
	if _, err := f.Add(t.Context(), draft, false); !tries(err, "run it again with --{1} {2}") {
		t.Errorf("huge: %v, want field", err)
	}
}
