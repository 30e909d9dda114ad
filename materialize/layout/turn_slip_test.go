package layout

import (
	"slices"
	"strings"
	"testing"
)

func TestMarkerSlips(t *testing.T) {
	t.Parallel()
	const sure = "[PERSPECTIVE P01: so be it]\n\n"
	tests := []struct{ text, meant string }{
		{"[PERSPECTVE P02: a]", "PERSPECTIVE"},
		{"[PERSPECITVE P02: a]", "PERSPECTIVE"},
		{"[TENSON T1: a]", "TENSION"},
		{"- **[TENSIONS T01: a]**", "TENSION"},
		{"as in [TENSION#T01: a]", "TENSION"},
		{"[REFINMENT: a]", "REFINEMENT"},
		{"[CONCESION on T01]", ""}, // prose
		{"[CONCESION: a]", "CONCESSION"},
		{"[RESOVLED T01]", "RESOLVED"},
		{"[RESOLVE T01, T02]", "RESOLVED"},
		{"[DISENT: not me]", "DISSENT"},
		{"[NEW TENSION T13: a]", "TENSION"},
		{"[DESIGN CONVERGENCE CONFIRMED] Sound.", "CONVERGENCE"},
		{"[Tension T01: a]", "TENSION"},
		{"[perspective p02: a]", "PERSPECTIVE"},
		{"[Muffin-T0102: a]", "TENSION"},
		{"[concession: a]", "CONCESSION"},
		{"[Convergence confirmed]", "MOVE"},
		{"[move:converge]", "MOVE"},
		{"[Move: to a room] [Re:sults] [convergence confirmed at N=7: fine]", ""},
		{"as [tension T01] has it", ""},
		{"[resolved] [Tensions] [tension: a] [see TENSION T01: a] [TENSION|T01] [A TENSION] [NO DISSENT]", ""},
		{"[PARTLY RESOLVED T01]", "RESOLVED"},
		{"`[TENSON T01: a]` <!-- [TENSON T01: a] -->\n```\n[TENSON T01: a]\n```", ""},
	}
	for _, test := range tests {
		text := []byte(sure + test.text + "\n")
		if got := ParseMarkers(text); len(got) != 1 {
			t.Errorf("ParseMarkers(%q) = %+v, want the first alone", text, got)
		}
		slips := MarkerSlips(text)
		if test.meant == "" {
			if len(slips) > 0 {
				t.Errorf("MarkerSlips(%q) = %v, want none", text, slips)
			}
			continue
		}
		if len(slips) != 1 || slips[0].Line != 3 || !strings.HasSuffix(slips[0].Err.Error(), "is it meant for "+test.meant+"?") {
			t.Errorf("MarkerSlips(%q) = %v, want %s in line 3", text, slips, test.meant)
		}
	}
}

// TestFencesAmongText holds that a fence stays one where there is more than it.
func TestFencesAmongText(t *testing.T) {
	t.Parallel()
	const fence = "```markdown\n[TENSION T01: an example]\n```\n"
	for _, text := range []string{
		fence + "\n[MOVE:CONVERGE]\n",
		"[PERSPECTIVE P01: a]\n\n" + fence,
		"One.\n\nTwo.\n\nThree.\n\n" + fence,
		fence + "\nThe truth:\n\n```\n[TENSION T02: b]\n```\n",
		"```go\n// [TENSION T01: a]\n```\n",
		"```\nx\n```\n[RESOLVED T03]\n```\n[TENSION T01: a]\n```\n",
	} {
		markers := ParseMarkers([]byte(text))
		if slices.ContainsFunc(markers, func(m Marker) bool { return m.Kind == MarkerTension }) {
			t.Errorf("ParseMarkers(%q) = %+v, want no tension", text, markers)
		}
	}
}

func TestConvergence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[CONVERGENCE CONFIRMED] Sound.": "CONVERGE", "[CONVERGENCE CONFIRMED: all of it]": "CONVERGE", "[MOVE:CONVERGENCE CONFIRMED]": "CONVERGE",
		"[CONVERGENCE PROPOSAL] Both.": "CONVERGENCE", "[CONVERGENCE CONFIRMED but for T02]": "CONVERGENCE",
		"[PERSPECTIVE P01: a]\n[Convergence confirmed]": "", "[PERSPECTIVE P01: a]\n[MINORITY VERDICT: CONVERGENCE CONFIRMED]": "",
	} {
		markers := ParseMarkers([]byte(text))
		if len(markers) == 0 || markers[len(markers)-1].Move() != want {
			t.Errorf("ParseMarkers(%q) = %+v, want the move %q at the end", text, markers, want)
		}
	}
}
