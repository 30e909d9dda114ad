package layout

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTurnVoice(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path  string
		want  speaker
		found bool
	}{
		{".claude/dialogues/retry-policy/round-1/Muffin.md", speaker{"muffin", 1}, true},
		{"/tmp/blue-dialogue/x/round-012/scone.md", speaker{"scone", 12}, true},
		{"x/round-0/muffin.prompt.md", speaker{"", -1}, false},
		{"x/round-0/notes/muffin.md", speaker{"", -1}, false},
		{"x/round-0/panel.json", speaker{"", -1}, false},
		{"x/round-0.summary.md", speaker{"", -1}, false},
		{"x/rounds/muffin.md", speaker{"", -1}, false},
		{"muffin.md", speaker{"", -1}, false},
		{"", speaker{"", -1}, false},
	}
	for _, test := range tests {
		if got, found := turnSpeaker(test.path); got != test.want || found != test.found {
			t.Errorf("turnSpeaker(%q) = %+v, %t, want %+v, %t", test.path, got, found, test.want, test.found)
		}
	}
}

// spokenLines returns what was said, one line a marker.
func spokenLines(path string, text []byte) []string {
	var lines []string
	for _, s := range Spoken(path, text) {
		id := s.ID
		if id == "" {
			id = s.Label
		}
		lines = append(lines, fmt.Sprintf("%d %s %s: %s %d", s.Line, s.Kind, id, s.Voice.Agent, s.Voice.Round))
	}
	return lines
}

func TestSpokenDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/turns/exports.dialogue.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"24 PERSPECTIVE P01: muffin 0", "25 TENSION T01: muffin 0", "29 TENSION T02: muffin 0",
		"33 PERSPECTIVE P01: scone 0", "34 CONCESSION I know of no second auditor: scone 0",
		"38 PERSPECTIVE P01: strudel 0", "42 TENSION T02: judge 0",
		"48 RESOLVED T02: scone 1", "48 RESOLVED T01: scone 1", "48 MOVE CONVERGE: scone 1",
		"52 RESOLVED T01, T02: muffin 1", "52 MOVE CONVERGE: muffin 1", "56 VERDICT Adopted:  -1",
	}
	if diff := cmp.Diff(want, spokenLines("exports.dialogue.md", text)); diff != "" {
		t.Errorf("exports.dialogue.md (-want +got):\n%s", diff)
	}
}

func TestSpoken(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, text string
		want       []string
	}{
		{"x/round-2/scone.md", "### Muffin 🧁\n[RESOLVED T01]\n[MUFFIN-P0101: a]\n", []string{"2 RESOLVED T01: scone 2", "3 PERSPECTIVE MUFFIN-P0101: muffin 1"}},
		{"-", "[RESOLVED T01]\n", []string{"1 RESOLVED T01:  -1"}},
		{"a.md", "# Round-3\n## 🧁 Crème Brûlée: storage\n[RESOLVED T01]\n## Else\n[RESOLVED T02]\n# End\n[RESOLVED T03]\n",
			[]string{"3 RESOLVED T01: crème brûlée 3", "5 RESOLVED T02:  3", "7 RESOLVED T03:  -1"}},
		{"a.md", "```\n## Round 1\n```\n[RESOLVED T01]\n", []string{"4 RESOLVED T01:  -1"}},
		{"a.md", "## Opening Arguments (Round 0)\n### **Muffin** 🧁 → `yes`\n### [RESOLVED T01]\n", []string{"3 RESOLVED T01:  0"}},
		{"a.md", "## Groundround 7, rounds 8\n[RESOLVED T01]\n", []string{"2 RESOLVED T01:  -1"}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, spokenLines(test.path, []byte(test.text))); diff != "" {
			t.Errorf("Spoken(%q, %q) (-want +got):\n%s", test.path, test.text, diff)
		}
	}
}
