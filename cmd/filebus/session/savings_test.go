package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store/record"
)

func blueProfile() layout.Profile { return profileOf("blue") }

// read notes that an agent was given a record.
func (b *scene) read(op, what, agent, id string) {
	query.New(b.Store, query.Options{}).NoteRead(query.Read{Op: op, What: what, Agent: agent, Session: id, Tokens: 7})
}

func (b *scene) savings(id string) *Savings {
	b.t.Helper()
	s, err := b.SavingsOf(b.t.Context(), id)
	if err != nil {
		b.t.Fatalf("SavingsOf(%q): %v", id, err)
	}
	return s
}

func TestSavings(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	b.put("artifact/build/k7/context", strings.Repeat("c", 1000))
	b.put("artifact/build/k7/plan", strings.Repeat("p", 2000))
	b.put("artifact/build/k8/context", strings.Repeat("o", 4000))
	b.put("artifact/build/k7/gone", strings.Repeat("g", 500))
	for _, read := range []struct{ op, what, agent, session string }{
		{"get", "artifact/build/k7/context", "QA Agent", "k7"},
		{"get", "artifact/build/k7/context", "qa-agent", "k7"}, // the same agent, again
		{"show", "artifact/build/k7/plan", "QA Agent", ""},
		{"path", "artifact/build/k7/context", "builder", "a client's own id"},
		{"get --lines", "artifact/build/k7/gone", "builder", "k7"},
		{"get", "artifact/build/k7/context", "", "k7"},                // nobody
		{"search", "artifact/build/k7/context", "builder", "k7"},      // no reading
		{"get", "artifact/build/k8/context", "builder", "k7"},         // of another session
		{"get", "artifact/build/k7/never", "builder", "k7"},           // destroyed, or never there
		{"get", "note/docs/a.md", "builder", "k7"},                    // no artifact
		{"get", strings.Repeat("artifact/build/k7/", 300), "b", "k7"}, // cut
		{"get", "artifact/build/k7/\x00\xff", "builder", "k7"},        // no name
		{"get", "artifact/build/k7/plan", "unknown agent ?", "k7"},    // an odd name
		{"preview", "artifact/build/k7/plan", "reviewer", "k7"},       // no reading
	} {
		b.read(read.op, read.what, read.agent, read.session)
	}
	if err := b.Workspace.Remove(t.Context(), record.Name{Kind: record.KindArtifact, ID: "build/k7/gone"}); err != nil {
		t.Fatal(err)
	}
	s := b.savings("k7")
	var rows []string
	for _, a := range s.Agents {
		rows = append(rows, fmt.Sprintf("%s %d %d", a.Agent, a.Artifacts, a.Content.Bytes))
		if a.References.Bytes <= 0 || a.Saved.Bytes != a.Content.Bytes-a.References.Bytes {
			t.Errorf("%s: references %d, saved %d of %d", a.Agent, a.References, a.Saved, a.Content)
		}
	}
	want := []string{"QA Agent 2 3000", "builder 2 1500", "unknown agent ? 1 2000"}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("agents, artifacts, content (-want +got):\n%s", diff)
	}
	references, number := s.References.Bytes, s.Passed
	if s.Content.Bytes != 6500 || s.Written.Bytes != 3500 || number != 5 || s.Files.Bytes != 3500+references ||
		s.Artifacts != 3 || s.AuditFiles != 2 || s.Anonymous != 1 || s.Unsized == 0 {
		t.Errorf("savings = %+v, want 6500 bytes of content, 3500 written, 5 references, 3 artifacts read, 2 audit files", s)
	}
}
