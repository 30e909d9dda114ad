package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarkerRefs(t *testing.T) {
	t.Parallel()
	ref := func(agent string, round int, id string) MarkerRef {
		return MarkerRef{Agent: agent, Round: round, ID: id}
	}
	tests := []struct {
		text string
		want []MarkerRef
	}{
		{"[RESOLVED T01]", []MarkerRef{ref("", -1, "T01")}},
		{"[RESOLVED T1: as T02 says]", []MarkerRef{ref("", -1, "T01")}},
		{"[RESOLVED on T02 -- adopting the adapter of T03]", []MarkerRef{ref("", -1, "T02")}},
		{"[RESOLVED MUFFIN R1-T01]", []MarkerRef{ref("muffin", 1, "T01")}},
		{"[RESOLVED R0.T03]", []MarkerRef{ref("", 0, "T03")}},
		{"[RESOLVED T1/T4]", []MarkerRef{ref("", -1, "T01"), ref("", -1, "T04")}},
		{"[RESOLVED T3/T6/T8: one writer]", []MarkerRef{ref("", -1, "T03"), ref("", -1, "T06"), ref("", -1, "T08")}},
		{"[RESOLVED T06, T01]", []MarkerRef{ref("", -1, "T06"), ref("", -1, "T01")}},
		{"[RESOLVED T06 and T01, T06]", []MarkerRef{ref("", -1, "T06"), ref("", -1, "T01")}},
		{"[RESOLVED: T01 is done]", []MarkerRef{ref("", -1, "T01")}},
		{"[RESOLVED T1-S: who may say so]", []MarkerRef{ref("", -1, "T01")}},
		{"[RESOLVED T1.1]", []MarkerRef{ref("", -1, "T01.1")}},
		{"[RESOLVED MUFFIN-T0102]", []MarkerRef{ref("muffin", 1, "MUFFIN-T0102")}},
		{"[RESOLVED muffin/T01]", []MarkerRef{ref("muffin", -1, "T01")}},
		{"[RESOLVED Muffin's T02]", []MarkerRef{ref("muffin", -1, "T02")}},
		{"[RESOLVED Round 2 T02]", []MarkerRef{ref("", 2, "T02")}},
		{"[RESOLVED T01-T03]", []MarkerRef{ref("", -1, "T01"), ref("", -1, "T02"), ref("", -1, "T03")}},
		{"[RESOLVED Muffin's T08 – T09, T12]", []MarkerRef{ref("muffin", -1, "T08"), ref("muffin", -1, "T09"), ref("", -1, "T12")}},
		{"[RESOLVED T03-T01]", []MarkerRef{ref("", -1, "T03")}},
		{"[RESOLVED Tn]", nil},
		{"[REFINEMENT: pre-T01 state]", nil},
		{"[RESOLVED: it is done, T01]", nil},
		{"[RESOLVED -- with Muffin's proposal]", nil},
		{"[REFINEMENT on T01 — scope of tokens]", []MarkerRef{ref("", -1, "T01")}},
		{"[REFINEMENT on T01 / former Macaron T04]", []MarkerRef{ref("", -1, "T01"), ref("macaron", -1, "T04")}},
		{"[REFINEMENT: T06 resolution path]", []MarkerRef{ref("", -1, "T06")}},
		{"[REFINEMENT: T01 -- a middle way]", []MarkerRef{ref("", -1, "T01")}},
		{"[REFINEMENT: Keep T01 open]", nil},
		{"[REFINEMENT: Muffin's T01 in two steps]", []MarkerRef{ref("muffin", -1, "T01")}},
		{"[REFINEMENT: a budget for T01]", nil},
		{"[CONCESSION: T01]", []MarkerRef{ref("", -1, "T01")}},
		{"[CONCESSION to Strudel on T01]", []MarkerRef{ref("strudel", -1, "T01")}},
		{"[CONCESSION on Strudel's R1-T01: so be it]", []MarkerRef{ref("strudel", 1, "T01")}},
		{"[CONCESSION T03]", []MarkerRef{ref("", -1, "T03")}},
		{"[CONCESSION to Strudel]", nil},
		{"[TENSION T01: T02 again]", nil},
		{"[TENSION T01-RESPONSE: drift]", []MarkerRef{ref("", -1, "T01")}},
		{"[TENSION T01-R1: staleness]", []MarkerRef{ref("", 1, "T01")}},
		{"[TENSION T1.1: which of them]", []MarkerRef{ref("", -1, "T01.1")}},
		{"[TENSION T-NEW: accounts]", nil},
		{"[PERSPECTIVE P01: T02 resolution]", nil},
	}
	for _, test := range tests {
		markers := ParseMarkers([]byte(test.text))
		if len(markers) != 1 {
			t.Errorf("ParseMarkers(%q) = %+v, want one marker", test.text, markers)
		} else if diff := cmp.Diff(test.want, markers[0].Refs); diff != "" {
			t.Errorf("references of %q (-want +got):\n%s", test.text, diff)
		}
	}
}
