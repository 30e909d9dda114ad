package dialogue

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
)

// TestGiveWay puts turns that agents have written under other spellings of their names,
// and under names that are nobody's.
func TestGiveWay(t *testing.T) {
	for name, profile := range map[string]layout.Profile{"claude": layout.Claude(), "outside": profileOf("seed")} {
		t.Run(name, func(t *testing.T) {
			h := newDebate(t, profile)
			probe := h.write(t, "round-0/Probe", "", time.Minute)
			if _, err := os.Lstat(filepath.Join(filepath.Dir(probe), "probe")); err == nil {
				t.Skip("the disk takes Muffin.md and muffin.md for one")
			}
			h.put(t, 0, "muffin", turnText)
			slot := h.slot(t, 0, "muffin")
			h.write(t, "round-0/muffin_2.md", turnText, time.Minute)
			h.write(t, "round-1/Muffin.md", turnText, time.Minute)
			h.write(t, "round-0/MUFFIN.MD", turnText, time.Minute)
			h.write(t, "round-0/Muffin.md", turnText, time.Minute)
			got := map[string]bool{}
			for _, file := range []string{"round-0/muffin.md", "round-0/muffin_2.md", "round-1/Muffin.md", "round-0/MUFFIN.MD", "round-0/Muffin.md", "round-0/mUffin.md"} {
				path := filepath.Join(filepath.Dir(filepath.Dir(slot.File)), filepath.FromSlash(file))
				gone, err := h.GiveWay(t.Context(), slot, path)
				if err != nil {
					t.Fatalf("GiveWay to %s: %v", file, err)
				}
				if _, err := os.Lstat(path); file != "round-0/mUffin.md" && gone == (err == nil) {
					t.Errorf("%s is gone: %t; %v", file, gone, err)
				}
				got[file] = gone
			}
			want := map[string]bool{
				"round-0/muffin.md": false, "round-0/muffin_2.md": false, "round-1/Muffin.md": false, "round-0/MUFFIN.MD": false,
				"round-0/Muffin.md": true, "round-0/mUffin.md": false,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what has given way (-want +got):\n%s", diff)
			}
			d, err := h.Read(t.Context(), h.key)
			if err != nil {
				t.Fatal(err)
			}
			if turns := d.Round(0).Turns; len(turns) != 1 || turns[0].Agent != "muffin" {
				t.Errorf("round 0 has %d turns", len(turns))
			}
		})
	}
}
