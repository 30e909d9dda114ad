package knowledge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/knowledge"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

const tableJournal = `# Task: Auth

## Handoff

| Field | Value |
|-------|-------|
| Outcome | completed |
| Summary | Implemented JWT auth |
| Files Changed | src/auth/jwt.go, src/auth/deep/x.go, web/login.ts, main.go, /etc/passwd |
| Patterns Discovered | Use middleware composition for auth layers; pass a clock into everything that waits |
| Gotchas | Token refresh; needs an endpoint |
`

const yamlJournal = "# Task: Auth\n\n## Handoff\n\n```yaml\noutcome: completed\nsummary: s\nfiles_modified:\n  - path: src/auth/jwt.go\n    description: Signs with RS256\n" +
	"patterns_discovered:\n  - pattern: Sign with RS256\n    location: src/auth\n    applies_to: tokens\ngotchas:\n  - issue: Clocks drift\n    mitigation: allow 30 s\n    severity: high\n```\n"

// harvest returns the harvest of a task with a line for each proposal.
func (f *fixture) harvest(t *testing.T, task string) (h *knowledge.Harvest, lines []string) {
	t.Helper()
	var v store.Version
	err := f.work.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		v, err = tx.Head(record.Name{Kind: record.KindHandoff, ID: task})
		return err
	})
	if err == nil {
		h, err = f.Harvest(t.Context(), v, nil)
	}
	if err != nil {
		t.Fatalf("harvesting %s: %v", task, err)
	}
	for _, p := range h.Proposals {
		line := fmt.Sprintf("%d %s %v %s", p.Number, p.Draft.Type, p.Draft.Tags, p.Draft.Content)
		if p.IsRow() {
			line = fmt.Sprintf("%d row %s: %s", p.Number, p.Touch.Name, p.Touch.Notes)
		}
		if p.Known != "" {
			line += " = " + p.Known
		}
		for _, l := range p.Like {
			line += " ~ " + l.ID
		}
		lines = append(lines, line)
	}
	return h, lines
}

func TestHarvest(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("orchestrator")} {
		f := newFixture(t, profile, map[string]string{
			profile.Root + "/journal/task-003.md": tableJournal,
			profile.Root + "/journal/index.md":    "# J\n\n## Context Map\n\n| Component | Last Modified | Notes |\n|---|---|---|\n| src/auth/ | task-001 | old |\n",
			profile.Root + "/knowledge_graph.md":  "# K\n\n## Patterns\n\n### pattern-001\n- Type: pattern\n- Tags: [clock, auth]\n- Content: Pass the clock into everything that waits or refills\n",
		})
		h, got := f.harvest(t, "task-003")
		want := []string{
			"1 pattern [auth web] Use middleware composition for auth layers",
			"2 pattern [auth clock web] pass a clock into everything that waits ~ pattern-001",
			"3 gotcha [auth web] Token refresh; needs an endpoint",
			"4 row src/auth/: ",
			"5 row web/: Implemented JWT auth",
			"6 row main.go: Implemented JWT auth",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: proposals (-want +got):\n%s", profile.Name, diff)
		}
		if _, again := f.harvest(t, "task-003"); !cmp.Equal(got, again) {
			t.Errorf("%s: harvesting again proposes %q", profile.Name, again)
		}
		added, err := f.Take(t.Context(), h, []int{1, 3, 4})
		if diff := cmp.Diff([]string{"pattern-002", "gotcha-001", "src/auth/"}, added); diff != "" || err != nil {
			t.Errorf("%s: added, %v (-want +got):\n%s", profile.Name, err, diff)
		}
		if twice, err := f.Take(t.Context(), h, []int{1, 3}); err != nil || len(twice) > 0 {
			t.Errorf("%s: taking the same again adds %q, %v", profile.Name, twice, err)
		}
		if index := f.text(t, profile.Root+"/journal/index.md"); !strings.Contains(index, "| src/auth/ | task-003 | old |\n") {
			t.Errorf("%s: the row is not as it should be in\n%s", profile.Name, index)
		}
	}
}

// TestHarvestAgain holds that what was harvested stays known though it was edited,
// superseded or touched since.
func TestHarvestAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), map[string]string{".claude/journal/task-003.md": yamlJournal})
	h, got := f.harvest(t, "task-003")
	want := []string{
		"1 pattern [auth] Sign with RS256; at src/auth; applies to tokens",
		"2 gotcha [auth] Clocks drift; mitigation: allow 30 s; severity: high",
		"3 row src/auth/: Signs with RS256",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("proposals (-want +got):\n%s", diff)
	}
	if _, err := f.Take(t.Context(), h, []int{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Edit(t.Context(), nameOf("pattern-001"), layout.Knowledge{Content: "Sign"}, []string{"content"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.SupersedeWith(t.Context(), nameOf("gotcha-001"), layout.Knowledge{Content: "Clocks jump"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Touch(t.Context(), knowledge.Touch{Name: "src/auth", Modified: "task-004"}); err != nil {
		t.Fatal(err)
	}
	h, _ = f.harvest(t, "task-003")
	var known []string
	for _, p := range h.Proposals {
		known = append(known, p.Known)
	}
	if diff := cmp.Diff([]string{"pattern-001", "gotcha-001", "src/auth"}, known); diff != "" || len(h.Open()) > 0 {
		t.Errorf("known (-want +got):\n%s", diff)
	}
	if _, err := f.Take(t.Context(), h, []int{4}); err == nil {
		t.Error("a proposal was taken that there is not")
	}
}

func TestHarvestNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), map[string]string{
		".claude/journal/task-001.md": "# Task: x\n\n## Metadata\n- Status: in_progress\n",
		".claude/journal/task-002.md": "# Task: x\n\n## Handoff\n\n| Field | Value |\n|---|---|\n| Outcome | completed |\n| Patterns Discovered | None |\n",
	})
	if h, _ := f.harvest(t, "task-002"); len(h.Proposals) > 0 {
		t.Errorf("a handoff that names nothing proposes %+v", h.Proposals)
	}
	var v store.Version
	err := f.work.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		v, err = tx.Head(record.Name{Kind: record.KindHandoff, ID: "task-001"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Harvest(t.Context(), v, nil)
	if !errors.Is(err, record.NotFound) || !strings.Contains(err.Error(), "has no handoff yet") {
		t.Errorf("a journal without a handoff: %v", err)
	}
}
