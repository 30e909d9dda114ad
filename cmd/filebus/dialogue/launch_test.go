package dialogue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

func TestLaunch(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("blue")} {
		h := newParlour(t, profile)
		made, err := h.New(t.Context(), NewRequest{
			Title: "Retry", Agents: []string{"muffin", "scone"}, Roles: map[string]string{"muffin": "Caller"},
		})
		if err != nil {
			t.Fatal(err)
		}
		first := h.now
		for _, names := range [][]string{{"Muffin"}, {"muffin"}, {"scone", "MUFFIN"}, {}} {
			if _, err := h.launched(t.Context(), made.Key, 0, names...); err != nil {
				t.Fatalf("Launch(%v): %v", names, err)
			}
			h.now = h.now.Add(time.Minute)
		}
		want := &layout.Panel{Launched: first, Experts: []layout.Expert{
			{Name: "muffin", Label: "Muffin", Role: "Caller"}, {Name: "scone", Label: "Scone"},
		}}
		if diff := cmp.Diff(want, h.read(t, made.Key).Round(0).Panel); diff != "" {
			t.Errorf("%s: the panel (-want +got):\n%s", profile.Name, diff)
		}
		if _, err := h.launched(t.Context(), made.Key, 1, "scone"); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(made.Folder, "round-1")); err != nil || !info.IsDir() {
			t.Errorf("%s: the folder of round 1: %v", profile.Name, err)
		}
	}
}

func TestLaunchRefused(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	key := h.make(t, "Retry", "muffin", "scone").Key
	_, err := h.launched(t.Context(), key, 2, "muffin")
	if !failsWith(err, tryPrompt, key.ID, "0") {
		t.Errorf("round 2 before round 0 = %v, want that 0 is the next", err)
	}
	_, err = h.launched(t.Context(), key, -1, "muffin")
	if !errors.Is(err, record.Usage) || !strings.Contains(err.Error(), "counted from 0") {
		t.Errorf("round -1 = %v", err)
	}
	_, err = h.launched(t.Context(), key, 0, "muffn")
	if !failsWith(err, "filebus get {1}", "dialogue/retry/expert-pool.json") ||
		!strings.HasSuffix(err.Error(), "which has muffin, scone") {
		t.Errorf("muffn = %v, want both names", err)
	}
	if _, err = h.launched(t.Context(), key, 0, "../muffin"); !refuses(err, "is no name of an agent") {
		t.Errorf("../muffin = %v", err)
	}
	if _, err = h.launched(t.Context(), Key{Tree: "lib", ID: "retry"}, 0, "muffin"); !errors.Is(err,
		ErrCaptured) {
		t.Errorf("a captured dialogue = %v", err)
	}
	if _, err = h.launched(t.Context(), Key{ID: "other"}, 0, "muffin"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown dialogue = %v", err)
	}
	if d := h.read(t, key); len(d.Rounds) > 0 {
		t.Errorf("what was refused has begun a round: %+v", d.Rounds[0])
	}
	h.put(t, "dialogue/retry/round-0/panel.json", "{")
	if _, err = h.launched(t.Context(), key, 0, "muffin"); err == nil || !strings.Contains(err.Error(), "panel.json") {
		t.Errorf("a broken panel = %v", err)
	}
}

// TestLaunchForeign launches in a dialogue whose pool others wrote: with names in
// capitals, or with roles and no names.
func TestLaunchForeign(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	h.put(t, "dialogue/a/expert-pool.json", `{"experts":[{"name":"Muffin","role":"Caller"}]}`)
	h.put(t, "dialogue/b/expert-pool.json", `{"experts":[{"role":"Caller"}]}`)
	for id, want := range map[string]layout.Expert{
		"a": {Name: "muffin", Label: "Muffin", Role: "Caller"}, "b": {Name: "muffin", Label: "Muffin"},
	} {
		panel, err := h.launched(t.Context(), Key{ID: id}, 0, "MUFFIN")
		if err != nil || len(panel.Experts) != 1 || panel.Experts[0] != want {
			t.Errorf("%s: Launch = %+v, %v, want %+v", id, panel, err, want)
		}
	}
}

// TestLaunchAtOnce launches agents of one round at once, while one writes.
func TestLaunchAtOnce(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	var agents []string
	for c := 'a'; c < 'a'+15; c++ {
		agents = append(agents, "agent-"+string(c))
	}
	made := h.make(t, "Retry", agents...)
	var wg sync.WaitGroup
	for _, agent := range agents {
		wg.Go(func() {
			if _, err := h.launched(t.Context(), made.Key, 0, agent); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := len(h.read(t, made.Key).Round(0).Panel.Experts); got != len(agents) {
		t.Errorf("%d agents are in the panel, want %d", got, len(agents))
	}
}

// TestRoundOfHand launches in a round that agents have begun without being launched:
// they owe a file like the others. The next round can begin.
func TestRoundOfHand(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	key := h.make(t, "Retry", "muffin", "scone").Key
	h.put(t, "turn/retry/round-0/muffin", "[PERSPECTIVE P01: One]\n")
	h.put(t, "turn/retry/round-0/stranger", "[PERSPECTIVE P01: One]\n")
	if _, err := h.launched(t.Context(), key, 1, "muffin"); err != nil {
		t.Errorf("round 1 after a turn of round 0: %v", err)
	}
	panel, err := h.launched(t.Context(), key, 0, "scone")
	want := []layout.Expert{{Name: "muffin", Label: "Muffin"}, {Name: "scone", Label: "Scone"}}
	if err != nil || !cmp.Equal(panel.Experts, want) {
		t.Errorf("Launch = %+v, %v, want %+v", panel, err, want)
	}
}
