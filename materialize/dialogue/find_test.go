package dialogue_test

import (
	"testing"

	"filebus/materialize"
	"filebus/materialize/dialogue"
	"filebus/materialize/layout"
)

// TestFind looks for dialogues of the workspace and of a captured tree whose names are
// alike.
func TestFind(t *testing.T) {
	other := newParlour(t, layout.Claude())
	for _, slug := range []string{"2026-03-02T0930Z-retry", "cache", "2026-03-02-queue", "2026-03-03-queue"} {
		other.put(t, "turn/"+slug+"/round-0/muffin", "[PERSPECTIVE P01: One]\n")
	}
	h := newParlour(t, layout.Claude())
	for _, slug := range []string{"2026-03-02T0930Z-retry", "2026-03-04-cache", "lone"} {
		h.put(t, "turn/"+slug+"/round-0/muffin", "[PERSPECTIVE P01: Two]\n")
	}
	if _, err := h.work.Capture(t.Context(), other.work.Root, materialize.CaptureOptions{Tree: "lib"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{"lone", "lone"},
		{"retry", "2026-03-02T0930Z-retry"},
		{"2026-03-02T0930Z-retry", "2026-03-02T0930Z-retry"},
		{"lib:2026-03-02T0930Z-retry", "lib:2026-03-02T0930Z-retry"},
		{"cache", "2026-03-04-cache"},
		{"2026-03-02-queue", "lib:2026-03-02-queue"},
	} {
		if key, err := h.Find(t.Context(), test.text); err != nil || key.String() != test.want {
			t.Errorf("Find(%q) = %s, %v; want %s", test.text, key, err, test.want)
		}
	}
	if _, err := h.Find(t.Context(), "queue"); !failsWith(err, dialogue.ErrSeveral, "lib:2026-03-03-queue",
		"lib:2026-03-02-queue") {
		t.Errorf("Find(queue): %v, want ErrSeveral of two", err)
	}
	if _, err := h.Find(t.Context(), "etry"); !failsWith(err, dialogue.ErrNoDialogue, "lib:2026-03-02T0930Z-retry",
		"2026-03-02T0930Z-retry") {
		t.Errorf("Find(etry): %v, want ErrNoDialogue with two names", err)
	}
	if _, err := h.Find(t.Context(), ""); !failsWith(err, dialogue.ErrNoDialogue) {
		t.Errorf("Find of nothing: %v, want ErrNoDialogue", err)
	}
}
