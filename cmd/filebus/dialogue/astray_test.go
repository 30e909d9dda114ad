package dialogue

import (
	"strings"
	"testing"

	"filebus/materialize/layout"
)

// TestConfirmation tells a text that says only that a file was written from a turn.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	prose := "The cache is the wrong place for this: a request that fails twice has failed, and whoever sent it must hear of that."
	tests := []struct {
		text string
		want bool
	}{
		{"FILE_WRITTEN", true},
		{"\ufeffFILE_WRITTEN: /tmp/x/round-0/ana.md\r\nPerspectives: P01\r\n", true},
		{"**FILE_WRITTEN**\n", true},
		{"I wrote my analysis to `/tmp/x/round-0/ana.md`.", true},
		{"Готово: /tmp/x/round-0/Ana.md", true},
		{"Done. Saved as ana.md.", true},
		{"", false},
		{"[ERROR: no opinion, see ana.md]", false},
		{"[PERSPECTIVE P01: One]\nIt is in ana.md.\nFILE_WRITTEN", false},
		{prose + "\nFILE_WRITTEN: /tmp/x/round-0/ana.md", false},
		{"Montana.md is a state.", false},
		{"I agree with bo.md in all points.", false},
		{strings.Repeat(prose+"\n", 4) + "This is in ana.md.", false},
	}
	for _, test := range tests {
		if got := isConfirmation([]byte(test.text), "ana"); got != test.want {
			t.Errorf("%q is a confirmation: %t, want %t", test.text, got, test.want)
		}
	}
}

// TestAstray finds copies between rounds, and none where agents say the same again or in
// one round, or a command was told whose a text is.
func TestAstray(t *testing.T) {
	t.Parallel()
	const raises = "[PERSPECTIVE P01: One]\n"
	tests := []struct {
		name  string
		files []string // in the order in which they come: a path, and a text
		want  string
	}{
		{"a copy", []string{"round-0/muffin.md", raises, "round-1/muffin.md", raises}, "1 muffin"},
		{"of another agent", []string{"round-0/muffin.md", raises, "round-1/scone.md", raises}, "1 scone"},
		{"the later is the copy", []string{"round-1/muffin.md", raises, "round-0/muffin.md", raises}, "0 muffin"},
		{"to converge again", []string{"round-0/muffin.md", "[MOVE:CONVERGE]", "round-1/muffin.md", "[MOVE:CONVERGE]"}, ""},
		{"in one round", []string{"round-1/muffin.md", raises, "round-1/scone.md", raises}, ""},
		{"other line endings", []string{"round-0/muffin.md", raises, "round-1/muffin.md", "[PERSPECTIVE P01: One]\r\n"}, ""},
		{"stubs", []string{"round-0/muffin.md", "[ERROR: late]", "round-1/muffin.md", "[ERROR: late]"}, ""},
	}
	for _, test := range tests {
		h := newDebate(t, layout.Claude())
		for i := 0; i < len(test.files); i += 2 {
			h.write(t, test.files[i], test.files[i+1], old)
			if err := h.work.Import(t.Context(), ".claude/dialogues/x/"+test.files[i]); err != nil {
				t.Fatal(err)
			}
		}
		d, err := h.Read(t.Context(), h.key)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range d.Rounds {
			for _, turn := range r.Turns {
				if turn.state() == stateAstray {
					got += strings.TrimPrefix(roundFolder(r.Number), "round-") + " " + turn.Agent
				}
			}
		}
		if got != test.want {
			t.Errorf("%s: astray %q, want %q", test.name, got, test.want)
		}
	}
}
