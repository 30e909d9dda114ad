package layout

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestWholeTurns reads turns that stand in one fence, or are in another case, as a whole.
func TestWholeTurns(t *testing.T) {
	t.Parallel()
	const (
		turn   = "[PERSPECTIVE P01: a [see t1]]\nBecause.\n\n[RESOLVED MUFFIN R0-T01]\n[RE:SUPPORT SCONE-P0001: yes]\n"
		code   = "[PERSPECTIVE P01: a [see t1]]\nBecause.\n\n~~~go\n[TENSION T09: b]\n~~~\n\n[RESOLVED MUFFIN R0-T01]\n[RE:SUPPORT SCONE-P0001: yes]\n"
		nested = "[PERSPECTIVE P01: a [see t1]]\nBecause.\n\n```go\n[TENSION T09: b]\n```\n\n[RESOLVED MUFFIN R0-T01]\n[RE:SUPPORT SCONE-P0001: yes]\n"
		small  = "[perspective p01: a [see t1]]\nBecause.\n\n[resolved muffin r0-t01]\n[re:support scone-p0001: yes]\n"
		title  = "[Perspective P01: a [see t1]]\nBecause.\n\n[Resolved Muffin R0-T01]\n[Re:support Scone-P0001: yes]\n"
	)
	type found struct {
		Kind      MarkerKind
		ID, Label string
		Line      int
	}
	tests := []struct {
		name, text string
		line       int // of the first marker
		gap        int // more lines up to the second
	}{
		{"as it should be", turn, 1, 0},
		{"fence", "```markdown\n" + turn + "```\n", 2, 0},
		{"bare fence", "~~~\n" + turn + "~~~", 2, 0},
		{"a sentence before and behind", "# Muffin\n\nHere is `b1.md`:\n\n```md\n" + turn + "```\n\nThat is all.\n", 6, 0},
		{"BOM and CRLF", "\ufeff" + strings.ReplaceAll("```markdown\n"+turn+"```\n", "\n", "\r\n"), 2, 0},
		{"other fences inside", "```markdown\n" + code + "```\n", 2, 4},
		{"the same fences inside", "```markdown\n" + nested + "```\n", 2, 4},
		{"a longer fence", "````\n" + strings.ReplaceAll(nested, "```go", "```") + "````\n", 2, 4},
		{"small", small, 1, 0},
		{"title case", title, 1, 0},
		{"small in a fence", "```\n" + small + "```\n", 2, 0},
	}
	for _, test := range tests {
		second := test.line + 3 + test.gap
		want := []found{
			{MarkerPerspective, "P01", "a [see t1]", test.line},
			{MarkerResolved, "", "MUFFIN R0-T01", second},
			{markerRe, "", "yes", second + 1},
		}
		var got []found
		markers := ParseMarkers([]byte(test.text))
		for _, m := range markers {
			got = append(got, found{m.Kind, m.ID, m.Label, m.Line})
			if m.Kind == markerRe && !m.Exact || m.Kind == MarkerResolved && !m.NamesWhole() || !strings.Contains(test.text, m.Raw) {
				t.Errorf("%s: %+v", test.name, m)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: markers (-want +got):\n%s", test.name, diff)
		}
		if slips := MarkerSlips([]byte(test.text)); len(slips) > 0 {
			t.Errorf("%s: slips %v", test.name, slips)
		}
	}
}

func TestBentInFence(t *testing.T) {
	t.Parallel()
	markers := ParseMarkers([]byte("~~~text\n[CONCESSION to Strudel on T01]\n~~~\n"))
	if len(markers) != 1 || markers[0].Kind != MarkerConcession || markers[0].Line != 2 {
		t.Errorf("ParseMarkers = %+v, want a concession in line 2", markers)
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
		"[Convergence confirmed]": "CONVERGE", "[PERSPECTIVE P01: a]\n[Convergence confirmed]": "", "[PERSPECTIVE P01: a]\n[MINORITY VERDICT: CONVERGENCE CONFIRMED]": "",
	} {
		markers := ParseMarkers([]byte(text))
		if len(markers) == 0 || markers[len(markers)-1].Move() != want {
			t.Errorf("ParseMarkers(%q) = %+v, want the move %q at the end", text, markers, want)
		}
	}
}
