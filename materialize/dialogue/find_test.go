package dialogue_test

import (
	"errors"
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
	var ambiguous *dialogue.AmbiguousError
	if _, err := h.Find(t.Context(), "queue"); !errors.As(err, &ambiguous) || len(ambiguous.Keys) != 2 {
		t.Errorf("Find(queue): %v, want a %T of two", err, ambiguous)
	}
	var missing *dialogue.NotFoundError
	if _, err := h.Find(t.Context(), "etry"); !errors.As(err, &missing) || len(missing.Near) != 2 {
		t.Errorf("Find(etry): %v, want a %T with two names", err, missing)
	}
	if _, err := h.Find(t.Context(), ""); !errors.As(err, &missing) || len(missing.Near) != 0 {
		t.Errorf("Find of nothing: %v, want a %T", err, missing)
	}
}
