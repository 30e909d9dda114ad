package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTurnExample(t *testing.T) {
	t.Parallel()
	text := docExample(t, "dialogue", "muffin.md")
	got := ParseMarkers(text)
	want := []Marker{
		{Kind: MarkerPerspective, ID: "P01", Label: "Retries belong to the caller",
			Body: "Only the caller knows whether a request may be repeated. A library that retries [by default] doubles writes.",
			Line: 1, Raw: "[PERSPECTIVE P01: Retries belong to the caller]", Exact: true},
		{Kind: MarkerTension, ID: "T01", Label: "Safety against convenience", Body: "Most callers will copy the same loop.",
			Line: 4, Raw: "[TENSION T01: Safety against convenience]", Exact: true},
		{Kind: MarkerRefinement, Label: "a budget instead of a count", Body: "Ten percent of requests may be retries, whatever the count.",
			Line: 7, Raw: "[REFINEMENT: a budget instead of a count]", Exact: true},
		{Kind: MarkerConcession, Label: "idempotent reads may be retried by the library",
			Line: 9, Raw: "[CONCESSION: idempotent reads may be retried by the library]", Exact: true},
		{Kind: MarkerResolved, ID: "T01", Line: 11, Raw: "[RESOLVED T1]", Exact: true, Refs: []MarkerRef{{Round: -1, ID: "T01"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("markers (-want +got):\n%s", diff)
	}
	facts, problems := parseOne(t, turns, "s/round-0/muffin.md", text)
	wantFacts := Facts{
		Title: "Retries belong to the caller",
		Summary: "PERSPECTIVE P01: Retries belong to the caller; TENSION T01: Safety against convenience; REFINEMENT: a budget instead of a count; " +
			"CONCESSION: idempotent reads may be retried by the library; RESOLVED T1",
		Attributes: map[string]string{"markers": "PERSPECTIVE=1 TENSION=1 REFINEMENT=1 CONCESSION=1 RESOLVED=1"},
	}
	if diff := cmp.Diff(wantFacts, facts); diff != "" || len(problems) > 0 {
		t.Errorf("problems %q, facts (-want +got):\n%s", problems, diff)
	}
}

func TestMarkerForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, id, label string
		exact           bool
	}{
		{"[PERSPECTIVE P1: a]", "P01", "a", true},
		{"[REFINEMENT:" + strings.Repeat("\xbf", 100) + "]", "", strings.Repeat("\xbf", 100), true},
		{"[PERSPECTIVE P001: a]", "P01", "a", true},
		{"[PERSPECTIVE P123: a: b]", "P123", "a: b", true},
		{"[PERSPECTIVE P01:a]", "P01", "a", true},
		{"[PERSPECTIVE P01 : a]", "P01", "a", true},
		{"[PERSPECTIVE P01: a [b [c]] d]", "P01", "a [b [c]] d", true},
		{"[TENSION T02: a\nb]", "T02", "a b", true},
		{"[RESOLVED T03]", "T03", "", true},
		{"[RESOLVED T03: why]", "T03", "why", true},
		{"[RESOLVED T03:]", "T03", "", true},
		{"[REFINEMENT: T01 -- x]", "", "T01 -- x", true},
		{"[CONCESSION: [T01](a.md) holds]", "", "[T01](a.md) holds", true},

		{"[PERSPECTIVE P01]", "P01", "", false},
		{"[PERSPECTIVE P01:]", "P01", "", false},
		{"[PERSPECTIVE: a]", "", ": a", false},
		{"[PERSPECTIVE T01: a]", "", "T01: a", false},
		{"[TENSION T01-RESPONSE: a]", "", "T01-RESPONSE: a", false},
		{"[TENSION T01-R1: a]", "", "T01-R1: a", false},
		{"[TENSION T-NEW: a]", "", "T-NEW: a", false},
		{"[TENSION T1.1: a]", "", "T1.1: a", false},
		{"[REFINEMENT]", "", "", false},
		{"[REFINEMENT on T01]", "", "on T01", false},
		{"[REFINEMENT T01: a]", "", "T01: a", false},
		{"[CONCESSION to Strudel on T01]", "", "to Strudel on T01", false},
		{"[CONCESSION on T02: a]", "", "on T02: a", false},
		{"[RESOLVED: a]", "", ": a", false},
		{"[RESOLVED on T02 -- adopting x]", "", "on T02 -- adopting x", false},
		{"[RESOLVED MUFFIN R1-T01]", "", "MUFFIN R1-T01", false},
		{"[RESOLVED R0.T03]", "", "R0.T03", false},
		{"[RESOLVED T1/T4]", "", "T1/T4", false},
		{"[RESOLVED T06, T01]", "", "T06, T01", false},
		{"[RESOLVED Tn]", "", "Tn", false},
		{"[TENSION T01: open", "", "T01: open", false},
	}
	for _, test := range tests {
		got := ParseMarkers([]byte(test.text))
		if len(got) != 1 {
			t.Errorf("ParseMarkers(%q) = %+v, want one marker", test.text, got)
			continue
		}
		m := got[0]
		if m.ID != test.id || m.Label != test.label || m.Exact != test.exact || m.Raw != test.text || m.Body != "" {
			t.Errorf("ParseMarkers(%q) = %+v, want id %q, label %q, exact %t", test.text, m, test.id, test.label, test.exact)
		}
	}
}

func TestNoMarkers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "[perspective P01]", "[PERSPECTIVES P01: a]", "PERSPECTIVE P01: a", "[CONCESSION|REFINEMENT|RESOLVED]", "[RESOLVEDT01]",
		"[PERSPECTIVE", "[", "a\n```go\n[TENSION T01: a]\n```\n", "~~~~\n```\n[TENSION T01: a]\n```\n~~~~\n", "`[TENSION T01: a]`", "see `x [TENSION T01: a]` here",
		"<!-- [TENSION T01: a] -->", "<!--\n[TENSION T01: a]\n-->\n", "a <!-- [TENSION T01: a] --> b",
		"a <!-- b\n[TENSION T01: a] --> c", "[TENSION | RESOLVED]", "[TENSION |RESOLVED]", "- ```\n  [TENSION T01: a]\n  ```\n", "> ~~~\n> [TENSION T01: a]\n> ~~~\n",
		"``[TENSION T01: a ` b]``", "[MUFFIN-X0101: a]", "[Muffin-P0101 a]", "[MUFFIN-P0101|SCONE-P0101]", "[MUFFIN-P01]", "[-P0101: a]", "[RE:SUPPORT|OPPOSE id]",
		"[RE:SUPPORT | OPPOSE id]", "[RE: your mail]", "[RE:YOUR MAIL]", "[RE]", "[MOVE]", "[MOVE: to a room]", "[MOVE:]", "[MOVE:CONVERGE|STAY]", "[VERDICTS]",
		"[DISSENTING]", "text [SEE T01]", "[SEE P01]", "[T01]", "[TO T01]", "[See T01]", "[MOVE:CONVERGE", "[RE:ENDORSE T01[a]]", "[ACK T01[a]]", "[ACK P01]", "[ACK MUFFIN-P0101]",
	} {
		if got := ParseMarkers([]byte(text)); len(got) > 0 {
			t.Errorf("ParseMarkers(%q) = %+v, want none", text, got)
		}
	}
}

func TestMarkerBodies(t *testing.T) {
	t.Parallel()
	type body struct {
		Line int
		Body string
	}
	tests := []struct {
		name, text string
		want       []body
	}{
		{"rule", "[RESOLVED T01]\na\n\n---\nb\n[RESOLVED T02]\n", []body{{1, "a"}, {6, ""}}},
		{"rule in a fence", "[RESOLVED T01]\n```\n---\n```\nb\n***\nc", []body{{1, "```\n---\n```\nb"}}},
		{"same line", "[RESOLVED T01] a [RESOLVED T02] b\n", []body{{1, "a"}, {1, "b"}}},
		{"bold", "**[RESOLVED T01]** a\n\n**[RESOLVED T02]**: **b**\n", []body{{1, "a"}, {3, ": **b**"}}},
		{"list", "- [RESOLVED T01] a\n- [RESOLVED T02] b\n1. [RESOLVED T03] c\n", []body{{1, "a"}, {2, "b"}, {3, "c"}}},
		{"bold text after it", "[RESOLVED T01]\n**Why**: x\n", []body{{1, "**Why**: x"}}},
		{"heading", "### [TENSION T01: a]\nb\n### [TENSION T02: c]\nd", []body{{1, "b"}, {3, "d"}}},
		{"crlf", "\ufeff[RESOLVED T01]\r\na\r\n\r\n[RESOLVED T02]\r\nb\r\n", []body{{1, "a"}, {4, "b"}}},
		{"nested", "[TENSION T01: a [RESOLVED T02] b] c\n", []body{{1, "c"}}},
		{"unclosed", "[TENSION T01: a\n\nb\n[RESOLVED T02]\n", []body{{1, "b"}, {4, ""}}},
		{"after a code span", "`x` [RESOLVED T01] a `[RESOLVED T02]` b\n", []body{{1, "a `[RESOLVED T02]` b"}}},
		{"a table", "| [RESOLVED T01] | a |\n", []body{{1, "| a |"}}},
	}
	for _, test := range tests {
		var got []body
		for _, m := range ParseMarkers([]byte(test.text)) {
			got = append(got, body{m.Line, m.Body})
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: bodies of %q (-want +got):\n%s", test.name, test.text, diff)
		}
	}
}

func TestTurnProblems(t *testing.T) {
	t.Parallel()
	text := "[PERSPECTIVE P01: a]\n\n[RESOLVED on T02 -- adopting the adapter]\n[REFINEMENT]\n[RESOLVED MUFFIN R0-T01]\n"
	facts, problems := parseOne(t, turns, "s/round-1/scone.md", []byte(text))
	want := []string{
		`s/round-1/scone.md:3: marker "[RESOLVED on T02 -- adopting the adapter]" does not follow the grammar`,
		`s/round-1/scone.md:4: marker "[REFINEMENT]" does not follow the grammar`,
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems of %q (-want +got):\n%s", text, diff)
	}
	if facts.Attributes["markers"] != "PERSPECTIVE=1 REFINEMENT=1 RESOLVED=2" {
		t.Errorf("markers %q", facts.Attributes["markers"])
	}
}

// FuzzTurn holds that every marker stands where it says, and reads the same alone.
func FuzzTurn(f *testing.F) {
	f.Add(docExample(f, "dialogue", "muffin.md"))
	for _, file := range []string{"answers", "second", "slips", "noise"} {
		f.Add(readGolden(f, "testdata/turns/"+file+".md"))
	}
	f.Add([]byte("[RESOLVED\n| T"))
	f.Add([]byte("**[TENSION T1: a [b]** c\n```\n[RESOLVED T01]\n```\n[REFINEMENT on T01] `[RESOLVED"))
	f.Fuzz(func(t *testing.T, text []byte) {
		markers := ParseMarkers(text)
		lines := strings.Split(string(text), "\n")
		for i, m := range markers {
			if i > 0 && m.Line < markers[i-1].Line || m.Line < 1 || m.Line > len(lines) {
				t.Fatalf("marker %d of %q has line %d", i, text, m.Line)
			}
			first, _, _ := strings.Cut(m.Raw, "\n")
			if !strings.Contains(lines[m.Line-1], first) {
				t.Fatalf("line %d of %q does not hold %q", m.Line, text, m.Raw)
			}
			checkAlone(t, m)
		}
	})
}

// checkAlone reads a marker without what stands around it.
func checkAlone(t *testing.T, m Marker) {
	t.Helper()
	if !strings.HasSuffix(m.Raw, "]") || strings.Contains(m.Raw, "`") || strings.Contains(m.Raw, "<!--") || strings.Contains(m.Raw, "\n") {
		return // what ends it, or hides a part of it, may stand around it
	}
	again := ParseMarkers([]byte(m.Raw))
	m.Body, m.Line = "", 1
	if diff := cmp.Diff([]Marker{m}, again); diff != "" {
		t.Fatalf("%q reads otherwise alone (-want +got):\n%s", m.Raw, diff)
	}
}
