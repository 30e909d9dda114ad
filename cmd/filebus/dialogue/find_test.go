package dialogue

import (
	"testing"

	"filebus/materialize"
	"filebus/materialize/layout"
)

// TestFind looks for dialogues of the workspace and of a captured tree whose names are
// alike.
func TestFind(t *testing.T) {
	t.Parallel()
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
	if _, err := h.Find(t.Context(), "queue"); !failsWith(err, "run it again with one of {all}", "lib:2026-03-03-queue",
		"lib:2026-03-02-queue") {
		t.Errorf("Find(queue): %v, want one of two", err)
	}
	if _, err := h.Find(t.Context(), "etry"); !failsWith(err, "run it again with {all}", "lib:2026-03-02T0930Z-retry",
		"2026-03-02T0930Z-retry") {
		t.Errorf("Find(etry): %v, want none with two names", err)
	}
	if _, err := h.Find(t.Context(), ""); !failsWith(err, "filebus dialogue list") {
		t.Errorf("Find of nothing: %v, want none", err)
	}
}
