package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReportExample(t *testing.T) {
	t.Parallel()
	text := docExample(t, "reports", "BUILD-007-loop-002.json")
	got, problems := reportFacts("", text)
	want := Facts{
		Task: "BUILD-007", Loop: "2", Run: "run-20260302-091400", Agent: "backend", Status: "complete",
		Title: "Limit requests per API key", Summary: "Requests are limited to 600 a minute per key",
		Attributes: map[string]string{"model": "sonnet"},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("facts of the example (-want +got):\n%s\nproblems %v", diff, problems)
	}
}

func TestReportShapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want Facts
	}{
		{`{}`, Facts{}},
		{"\ufeff{\"task_id\": \"a\"}", Facts{Task: "a", Title: "Report on a"}},
		{`{"task": 7, "loop": "003", "result": "ok"}`, Facts{Task: "task-7", Loop: "003", Status: "complete", Title: "Report on task-7"}},
		{`{"model_used": "m", "model": null}`, Facts{Attributes: map[string]string{"model": "m"}}},
		{`{"model": {"version": "4"}, "agent": true, "status": ["ok"], "summary": {"done": true}}`, Facts{Status: "complete"}},
		{`{"notes": [], "description": "d"}`, Facts{Summary: "d"}},
		{`{"notes": [{"a": 1}], "objective": "o"}`, Facts{Title: "o", Summary: "o"}},
		{`{"status": "failed", "status": "ok"}`, Facts{Status: "complete"}},
		{`{"title": "\ud800 \u00e9"}`, Facts{Title: "\ufffd é"}},
	}
	for _, test := range tests {
		got, problems := reportFacts("", []byte(test.text))
		if diff := cmp.Diff(test.want, got); diff != "" || len(problems) > 0 {
			t.Errorf("facts of %s (-want +got):\n%s\nproblems %v", test.text, diff, problems)
		}
	}
}

func TestReportProblems(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"", "r.json:1: unexpected end of JSON input"},
		{"{\n  \"a\": 1,\n  \"b\": oops\n}\n", "r.json:3: invalid character 'o' looking for beginning of value"},
		{"{\n\"a\": 1\n", "r.json:2: unexpected end of JSON input"},
		{"[1,\n2]", "r.json:1: JSON array instead of an object"},
		{"{}\n{}\n", "r.json:2: invalid character '{' after top-level value"},
	}
	for _, test := range tests {
		facts, problems := parseOne(t, reports, "r.json", []byte(test.text))
		if len(problems) != 1 || problems[0] != test.want {
			t.Errorf("problems of %q: %q, want %q", test.text, problems, test.want)
		}
		if diff := cmp.Diff(Facts{}, facts); diff != "" {
			t.Errorf("facts of %q (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestReportFacts(t *testing.T) {
	t.Parallel()
	path := ".orchestrator/reports/BUILD-007-loop-002.json"
	file, problems := Recognize(path).Parse(path, []byte(`{"task_id": "other", "loop_number": 9, "status": "Success", "run_id": "r1", "model": "m", "summary": "Did\nit"}`))
	want := Facts{Title: "Report on other", Task: "BUILD-007", Loop: "2", Run: "r1", Status: "complete", Summary: "Did it", Attributes: map[string]string{"model": "m"}}
	if diff := cmp.Diff(want, file.Entries()[0].Facts); diff != "" || len(problems) > 0 {
		t.Errorf("problems %v, facts (-want +got):\n%s", problems, diff)
	}
}

func FuzzReport(f *testing.F) {
	f.Add(docExample(f, "reports", "BUILD-007-loop-002.json"))
	f.Add([]byte(`{"model": {"name": ["x"]}, "notes": [[["y"]]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, _ := reports.Parse("r.json", text)
		checkFacts(t, file)
	})
}
