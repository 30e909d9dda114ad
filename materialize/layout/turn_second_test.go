package layout

import (
	"strings"
	"testing"

	"filebus/materialize/markdown"

	"github.com/google/go-cmp/cmp"
)

func TestSecondGeneration(t *testing.T) {
	t.Parallel()
	ref := func(verb, agent string, round int, id string) MarkerRef { return MarkerRef{agent, round, id, verb} }
	mark := func(kind MarkerKind, id, agent string, round int, label string) Marker {
		return Marker{Kind: kind, ID: id, Agent: agent, Round: round, Label: label, Exact: true}
	}
	bent := func(kind MarkerKind, label string, refs ...MarkerRef) Marker {
		return Marker{Kind: kind, Label: label, Refs: refs}
	}
	exact := func(kind MarkerKind, label string, refs ...MarkerRef) Marker {
		return Marker{Kind: kind, Label: label, Refs: refs, Exact: true}
	}
	tests := []struct {
		text string
		want Marker
	}{
		{"[MUFFIN-P0101: a [b]]", mark(MarkerPerspective, "MUFFIN-P0101", "muffin", 1, "a [b]")},
		{"[MUFFIN-T0002:a]", mark(MarkerTension, "MUFFIN-T0002", "muffin", 0, "a")},
		{"[MUFFIN-R1203: a]", mark(markerRecommendation, "MUFFIN-R1203", "muffin", 12, "a")},
		{"[MUFFIN-E0101: a]", mark(markerEvidence, "MUFFIN-E0101", "muffin", 1, "a")},
		{"[MUFFIN-C0101: a]", mark(markerClaim, "MUFFIN-C0101", "muffin", 1, "a")},
		{"[MUFFIN-S0101: a]", mark(markerStance, "MUFFIN-S0101", "muffin", 1, "a")},
		{"[CREME-BRULEE_2-P0101: a\nb]", mark(MarkerPerspective, "CREME-BRULEE_2-P0101", "creme-brulee_2", 1, "a b")},
		{"[ÉCLAIR-P0101: a]", mark(MarkerPerspective, "ÉCLAIR-P0101", "éclair", 1, "a")},
		{"[MUFFIN-P0101]", Marker{Kind: MarkerPerspective, ID: "MUFFIN-P0101", Agent: "muffin", Round: 1}},
		{"[MUFFIN-P0101 a]", Marker{Kind: MarkerPerspective, ID: "MUFFIN-P0101", Agent: "muffin", Round: 1, Label: "a"}},
		{"[MUFFIN-P101: a]", bent(MarkerPerspective, "MUFFIN-P101: a")},
		{"[MUFFIN-T01: a]", bent(MarkerTension, "MUFFIN-T01: a", ref("", "muffin", -1, "T01"))},

		{"[RE:SUPPORT MUFFIN-P0101]", exact(markerRe, "", ref("SUPPORT", "muffin", 1, "MUFFIN-P0101"))},
		{"[RE:OPPOSE MUFFIN-P0101: why: so]", exact(markerRe, "why: so", ref("OPPOSE", "muffin", 1, "MUFFIN-P0101"))},
		{"[RE:RESOLVE T1, SCONE-T0203]", exact(markerRe, "", ref("RESOLVE", "", -1, "T01"), ref("RESOLVE", "scone", 2, "SCONE-T0203"))},
		{"[RE:DEPEND TO-C0001]", exact(markerRe, "", ref("DEPEND", "to", 0, "TO-C0001"))},
		{"[RE: REFINE P02]", bent(markerRe, "REFINE P02", ref("REFINE", "", -1, "P02"))},
		{"[RE:ADDRESS Muffin's T02: how]", bent(markerRe, "ADDRESS Muffin's T02: how", ref("ADDRESS", "muffin", -1, "T02"))},
		{"[RE:REOPEN MUFFIN R1-T01]", bent(markerRe, "REOPEN MUFFIN R1-T01", ref("REOPEN", "muffin", 1, "T01"))},
		{"[RE:QUESTION]", bent(markerRe, "QUESTION")},
		{"[RE:QUESTION T01:]", bent(markerRe, "QUESTION T01:", ref("QUESTION", "", -1, "T01"))},
		{"[RE:ENDORSE T01]", bent(markerRe, "ENDORSE T01", ref("ENDORSE", "", -1, "T01"))},

		{"[MOVE:CONVERGE]", exact(markerMove, "CONVERGE")},
		{"[MOVE:CHALLENGE SCONE-C0001: why]", exact(markerMove, "CHALLENGE SCONE-C0001: why",
			ref("", "scone", 0, "SCONE-C0001"))},
		{"[MOVE: CONVERGE]", bent(markerMove, "CONVERGE")},
		{"[MOVE:Converge]", bent(markerMove, "Converge")},
		{"[VERDICT:Adopt it]", exact(markerVerdict, "Adopt it")},
		{"[VERDICT: Adopt it]", exact(markerVerdict, "Adopt it")},
		{"[VERDICT]", bent(markerVerdict, "")},
		{"[VERDICT pending]", bent(markerVerdict, "pending")},
		{"[DISSENT]", exact(MarkerDissent, "")},
		{"[DISSENT: T02 stays open]", exact(MarkerDissent, "T02 stays open", ref("", "", -1, "T02"))},
		{"[DISSENT on T02: it stays open]", bent(MarkerDissent, "on T02: it stays open", ref("", "", -1, "T02"))},

		{"- **[ACKNOWLEDGED T09: later]**", bent(MarkerOther, "ACKNOWLEDGED T09: later", ref("", "", -1, "T09"))},
		{"[PARTLY-RESOLVED T01, T02]", bent(MarkerOther, "PARTLY-RESOLVED T01, T02", ref("", "", -1, "T01"), ref("", "", -1, "T02"))},
		{"[ACKNOWLEDGED MUFFIN-T0101]", bent(MarkerOther, "ACKNOWLEDGED MUFFIN-T0101", ref("", "muffin", 1, "MUFFIN-T0101"))},
		{"[TENSION-T01: a]", Marker{Kind: MarkerTension, ID: "T01", Label: "a"}},
		{"[CONVERGENCE CONFIRMED]", exact(markerMove, "CONVERGENCE CONFIRMED")},
		{"**[CONVERGENCE CONFIRMED: as T02 says]**", exact(markerMove, "CONVERGENCE CONFIRMED: as T02 says")},
		{"[CONVERGENCE PROPOSAL] Add it.", exact(markerMove, "CONVERGENCE PROPOSAL")},
		{"[CONVERGENCE PROPOSAL: T01 first]", exact(markerMove, "CONVERGENCE PROPOSAL: T01 first")},
		{"[CONVERGENCE CONFIRMED but for T02]", bent(markerMove, "CONVERGENCE CONFIRMED but for T02")},
		{"[MINORITY VERDICT: T02 stays open]", exact(MarkerDissent, "T02 stays open", ref("", "", -1, "T02"))},
		{"[MINORITY VERDICT]", exact(MarkerDissent, "")},

		{"[P0101: a]", Marker{Kind: MarkerPerspective, ID: "P0101", Label: "a", Exact: true}},
		{"[PERSPECTIVE P0101: a]", Marker{Kind: MarkerPerspective, ID: "P0101", Label: "a", Exact: true}},
		{"[TENSION T0001: a]", Marker{Kind: MarkerTension, ID: "T0001", Label: "a", Exact: true}},
		{"[TENSION T001: a]", Marker{Kind: MarkerTension, ID: "T01", Label: "a", Exact: true}},
		{"[TENSION T100: a]", Marker{Kind: MarkerTension, ID: "T100", Label: "a", Exact: true}},
		{"[TENSION T0001.2: a]", bent(MarkerTension, "T0001.2: a", ref("", "", -1, "T0001.2"))},
		{"[RESOLVED T0001]", Marker{Kind: MarkerResolved, ID: "T0001", Exact: true, Refs: []MarkerRef{ref("", "", -1, "T0001")}}},
		{"[RESOLVED MUFFIN R0-T0001]", bent(MarkerResolved, "MUFFIN R0-T0001", ref("", "muffin", 0, "T0001"))},
		{"[RESOLVED T0009-T0011]", bent(MarkerResolved, "T0009-T0011",
			ref("", "", -1, "T0009"), ref("", "", -1, "T0010"), ref("", "", -1, "T0011"))},
		{"[RE:ADDRESS T0001, R0102: so]", exact(markerRe, "so", ref("ADDRESS", "", -1, "T0001"), ref("ADDRESS", "", -1, "R0102"))},
		{"[RE:RESOLVE R0001-T03]", bent(markerRe, "RESOLVE R0001-T03", ref("RESOLVE", "", 1, "T03"))},
		{"[RE:RESOLVE R0001.T03]", bent(markerRe, "RESOLVE R0001.T03", ref("RESOLVE", "", 1, "T03"))},
		{`\[RESOLVED T01: a\]`, Marker{Kind: MarkerResolved, ID: "T01", Label: "a", Exact: true, Refs: []MarkerRef{ref("", "", -1, "T01")}}},
	}
	for _, test := range tests {
		got := ParseMarkers([]byte(test.text))
		if len(got) != 1 {
			t.Errorf("ParseMarkers(%q) = %+v, want one marker", test.text, got)
			continue
		}
		m := got[0]
		if m.Line != 1 || !strings.Contains(test.text, m.Raw) || m.Raw[0] != '[' {
			t.Errorf("ParseMarkers(%q): line %d, raw %q", test.text, m.Line, m.Raw)
		}
		m.Line, m.Raw, m.Body = 0, "", ""
		if diff := cmp.Diff(test.want, m); diff != "" {
			t.Errorf("ParseMarkers(%q) (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[MOVE:CONVERGE]": "CONVERGE", "[MOVE: CONVERGE]": "CONVERGE", "[MOVE:CHALLENGE SCONE-C0001]": "CHALLENGE",
		"[MOVE:FOLLOW-UP: why]": "FOLLOW-UP", "[VERDICT:CONVERGE]": "",
	} {
		markers := ParseMarkers([]byte(text))
		if len(markers) != 1 || markers[0].Move() != want {
			t.Errorf("ParseMarkers(%q) = %+v, want one marker with the move %q", text, markers, want)
		}
	}
}

func TestStubTurns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		title string
	}{
		{"[ERROR: the agent ended with exit code 1]\n\n[TENSION T01: of its log]\n", "No turn: the agent ended with exit code 1"},
		{"\n[ERROR:]\n", "No turn"},
		{string(StubText("no\nfile [after 600 s]", "")), "No turn: no file [after 600 s]"},
		{"[ERROR: " + strings.Repeat("a", 300) + "]", "No turn: " + strings.Repeat("a", 110) + "…"},
	}
	for _, test := range tests {
		facts, problems := parseOne(t, turns, "s/round-1/scone.md", []byte(test.text))
		want := Facts{Status: statusError, Title: test.title}
		if diff := cmp.Diff(want, facts); diff != "" || len(problems) > 0 {
			t.Errorf("%q: problems %q, facts (-want +got):\n%s", test.text, problems, diff)
		}
	}
}

// FuzzStub holds that what was written as a stub is read as one, with its reason.
func FuzzStub(f *testing.F) {
	f.Add("no file after 600 s", "[TENSION T01: a]")
	f.Add("a ] b [ c\nd", "")
	f.Fuzz(func(t *testing.T, reason, details string) {
		text := StubText(reason, details)
		got, found := ParseStub(text)
		if !found || got != markdown.SingleSpaced(reason) {
			t.Fatalf("ParseStub(%q) = %q, %t; the reason is %q", text, got, found, reason)
		}
		if again := StubText(got, details); string(again) != string(text) {
			t.Fatalf("StubText(%q) = %q, first %q", got, again, text)
		}
	})
}
