package dialogue

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
)

// boardAfter returns a scoreboard after a round 0 in which all agents agree.
func boardAfter(velocity int) string {
	return string(layout.AppendScoreboard(nil, layout.Scoreboard{Rounds: []layout.RoundScore{{Velocity: velocity, Converge: 100}}}))
}

func TestList(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	h.make(t, "First", "muffin", "scone")
	second := h.make(t, "Second", "muffin")
	h.put(t, "turn/second/round-0/muffin", "[PERSPECTIVE P01: One]\n")
	if _, err := h.Prompts(t.Context(), second.Key, PromptRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	h.put(t, "turn/third/round-0/eclair", "[ERROR: died]\n")
	h.put(t, "turn/third/round-0/Eclair", "[PERSPECTIVE P01: a second file of one agent]\n")
	h.put(t, "dialogue/third/scoreboard.md", boardAfter(0))
	h.put(t, "dialogue/first/scoreboard.md", boardAfter(3))
	items, left, err := h.List(t.Context(), cli.Page{})
	if err != nil || left != 0 {
		t.Fatalf("List leaves %d, %v", left, err)
	}
	for i := range items {
		if items[i].Time.IsZero() {
			t.Errorf("%s has no time", items[i].Key)
		}
		items[i].Time = h.now
	}
	want := []Item{
		{Key: Key{ID: "first"}, Title: "First", Agents: []string{"muffin", "scone"},
			Status: "open"},
		{Key: Key{ID: "third"}, Title: "third", Rounds: 1, Last: new(0), Turns: 1, Agents: []string{"eclair"},
			Status: "converged"},
		{Key: Key{ID: "second"}, Title: "Second", Rounds: 2, Last: new(1), Owed: 1,
			Agents: []string{"muffin"}},
	}
	for i := range want {
		want[i].Time = h.now
	}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	if items, left, err = h.List(t.Context(), cli.Page{Limit: 2}); err != nil || left != 1 || len(items) != 2 {
		t.Errorf("List(2) = %d and leaves %d, %v", len(items), left, err)
	}
}
