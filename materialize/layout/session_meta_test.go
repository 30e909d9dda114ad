package layout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSessionMeta(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 6, 9, 0, 0, 0, time.UTC)
	tests := []struct {
		text   string
		want   SessionMeta
		again  string // as it is written
		broken bool
	}{
		{
			text:  `{"type":"build","id":"k7","name":"One <two>","started":"2026-03-06T09:00:00Z","status":"completed","ended":"2026-03-06T09:00:00Z","archive":"a.tgz"}`,
			want:  SessionMeta{Type: "build", ID: "k7", Name: "One <two>", Started: at, Status: "completed", Ended: at, Archive: "a.tgz"},
			again: "{\n  \"type\": \"build\",\n  \"id\": \"k7\",\n  \"name\": \"One \\u003ctwo\\u003e\",\n  \"started\": \"2026-03-06T09:00:00Z\",\n  \"status\": \"completed\",\n  \"ended\": \"2026-03-06T09:00:00Z\",\n  \"archive\": \"a.tgz\"\n}\n",
		},
		{
			text:  "\ufeff{\"z\": 1, \"status\": 7, \"id\": \"k7\", \"a\": {\"b\": []}}",
			want:  SessionMeta{ID: "k7"},
			again: "{\n  \"type\": \"\",\n  \"id\": \"k7\",\n  \"status\": \"\",\n  \"a\": {\n    \"b\": []\n  },\n  \"z\": 1\n}\n",
		},
		{text: "null", again: "{\n  \"type\": \"\",\n  \"id\": \"\",\n  \"status\": \"\"\n}\n"},
		{text: "", broken: true},
		{text: "[1]", broken: true},
		{text: `{"id": "k7"`, broken: true},
	}
	for _, test := range tests {
		got, problem := ParseSessionMeta([]byte(test.text))
		if (problem != nil) != test.broken {
			t.Errorf("%q: problem %v, want one: %t", test.text, problem, test.broken)
		}
		if test.broken {
			continue
		}
		again, err := AppendSessionMeta(nil, got)
		if diff := cmp.Diff(test.again, string(again)); diff != "" || err != nil {
			t.Errorf("%q is written (-want +got):\n%s%v", test.text, diff, err)
		}
		got.others = nil
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(SessionMeta{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

func FuzzSessionMeta(f *testing.F) {
	f.Add([]byte(`{"id":"k7","mode":[1],"started":"yesterday"}`))
	f.Add([]byte(`{"id":"k7","ID":"k8","started":"2026-03-06T09:00:00+01:00"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, problem := ParseSessionMeta(text)
		if problem != nil {
			return
		}
		once, err := AppendSessionMeta(nil, m)
		if err != nil {
			return // a time that JSON cannot hold
		}
		back, problem := ParseSessionMeta(once)
		if problem != nil {
			t.Fatalf("%q is written as %q: %v", text, once, problem)
		}
		if again, err := AppendSessionMeta(nil, back); err != nil || string(again) != string(once) {
			t.Errorf("%q is written as %q, then as %q, %v", text, once, again, err)
		}
	})
}

func TestArtifactNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		workflow, session, file string
		id, path, name          string
	}{
		{"build", "k7", "plan", "build/k7/plan", ".claude/sessions/build/k7/plan.md", "plan"},
		{"build", "k7", "plan.md", "build/k7/plan", ".claude/sessions/build/k7/plan.md", "plan"},
		{"build", "k7", "plan.json", "build/k7/plan.json", ".claude/sessions/build/k7/plan.json", "plan.json"},
		{"build", "k7", "v1.2", "build/k7/v1.2", ".claude/sessions/build/k7/v1.2", "v1.2"},
		{"build", "k7", "LICENSE~", "build/k7/LICENSE~", ".claude/sessions/build/k7/LICENSE", "LICENSE~"},
		{"build", "k7", ".agent_log", "build/k7/.agent_log", ".claude/sessions/build/k7/.agent_log", ".agent_log"},
		{"pr_reviews", "pr_42", "context", "pr_reviews/pr_42/context", ".claude/sessions/pr_reviews/pr_42_context.md", "context"},
		{"pr_reviews", "pr_42", "diff.patch", "pr_reviews/pr_42/diff.patch", ".claude/sessions/pr_reviews/pr_42/diff.patch", "diff.patch"},
		{"pr_reviews", "k7", "context", "pr_reviews/k7/context", ".claude/sessions/pr_reviews/k7/context.md", "context"},
	}
	for _, test := range tests {
		id := ArtifactID(test.workflow, test.session, test.file)
		p, err := Claude().Path("artifact", id)
		if id != test.id || p != test.path || err != nil {
			t.Errorf("%s of %s/%s: %s at %s, %v; want %s at %s", test.file, test.workflow, test.session, id, p, err, test.id, test.path)
		}
		if place := Recognize(p); place.ID != id || place.Facts.Session != test.session {
			t.Errorf("%s is %s of session %q, want %s of %q", p, place.ID, place.Facts.Session, id, test.session)
		}
		if got := ArtifactName(p, test.workflow, test.session); got != test.name {
			t.Errorf("%s is called %q, want %q", p, got, test.name)
		}
		summary := Recognize(SummaryPath(p))
		if of, is := IsSummary(ArtifactName(SummaryPath(p), test.workflow, test.session)); !is || of != test.name && of != trimTilde(test.name) || summary.Facts.Session != test.session {
			t.Errorf("%s says in short what is in %q, %t, of session %q; want %q", SummaryPath(p), of, is, summary.Facts.Session, test.name)
		}
	}
}

// trimTilde takes the mark of a name without a dot away: its summary has dots.
func trimTilde(name string) string {
	if name[len(name)-1] == '~' {
		return name[:len(name)-1]
	}
	return name
}
