package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVerdicts(t *testing.T) {
	ten := sample{9, 10, 20}
	for _, test := range []struct {
		what string
		row  row
		want verdict
	}{
		{"no limit", measured("x", "ms", ten), noLimit},
		{"median at the limit", measured("x", "ms", ten).atMost(10, "≤ 10"), met},
		{"median above", measured("x", "ms", ten).atMost(9.9, "≤ 9.9"), notMet},
		{"median reaches", measured("x", "ms", ten).atLeast(10, "≥ 10"), met},
		{"median too small", measured("x", "ms", ten).atLeast(11, "≥ 11"), notMet},
		{"no value above", measured("x", "ms", ten).noneAbove(20, "≤ 20"), met},
		{"one value above", measured("x", "ms", ten).noneAbove(19, "≤ 19"), notMet},
		{"ratio met", measured("x", "ms", ten).over(sample{5}).ratioAtMost(2, "≤ 2 ×"), met},
		{"ratio not met", measured("x", "ms", ten).over(sample{5}).ratioAtMost(1.9, "≤ 1.9 ×"), notMet},
		{"ratio reached", measured("x", "ms", ten).over(sample{20}).ratioAtLeast(0.5, "≥ 0.5 ×"), met},
		{"ratio missed", measured("x", "ms", ten).over(sample{20}).ratioAtLeast(0.6, "≥ 0.6 ×"), notMet},
		{"nothing to compare with", measured("x", "ms", ten).over(nil).ratioAtMost(2, "≤ 2 ×"), skipped},
		{"nothing measured", measured("x", "ms", nil).atMost(2, "≤ 2"), skipped},
		{"nothing measured, no limit", measured("x", "ms", nil), skipped},
	} {
		if test.row.Verdict != test.want {
			t.Errorf("%s: %+v: got %q, want %q", test.what, test.row, test.row.Verdict, test.want)
		}
	}
}

func TestFigure(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 7: "7", 0.35892: "0.359", 1.2345: "1.23", 24.56: "24.6", 123.4: "123", 10366.2: "10366", 0.00123: "0.00123",
	} {
		if got := figure(value); got != want {
			t.Errorf("figure(%v): got %s, want %s", value, got, want)
		}
	}
}

func TestWriteTable(t *testing.T) {
	rows := []row{
		{Suite: "put", What: "whole", Unit: "ms", Runs: 3, Median: 15.25, Min: 13, Max: 19.5, Ratio: 1.5, Limit: "≤ 25 ms", Verdict: met},
		{Suite: "large", What: "peak", Unit: "MB", Runs: 1, Median: 122, Min: 122, Max: 122, Limit: "< 100 MB", Verdict: notMet},
		{Suite: "relevance", What: "a collection (-ir) is missing", Verdict: skipped},
	}
	var out bytes.Buffer
	if err := writeTable(&out, rows); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"", "suite what limit median min–max ratio",
		"put whole ≤ 25 ms 15.2 ms 13–19.5 1.50 × met",
		"large peak < 100 MB 122 MB not met",
		"relevance a collection (-ir) is missing skipped",
		"", "1 met, 1 not met, 1 skipped, 0 failed",
	}
	if diff := cmp.Diff(want, got[1:]); diff != "" {
		t.Errorf("table: -want +got\n%s", diff)
	}
	if !strings.Contains(got[0], "cores") {
		t.Errorf("first line: got %q, want the machine", got[0])
	}
	columns := strings.Index(out.String(), "median")
	if columns < 0 || !strings.Contains(out.String(), "put        whole") {
		t.Errorf("columns do not line up:\n%s", out.String())
	}
}

func TestWriteJSON(t *testing.T) {
	rows := []row{{Suite: "put", What: "a < b", Unit: "ms", Runs: 1, Median: 1.5, Min: 1.5, Max: 1.5, Verdict: met}}
	var out bytes.Buffer
	if err := writeJSON(&out, rows); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Go    string
		Cores int
		Rows  []row
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%s: %v", out.String(), err)
	}
	if diff := cmp.Diff(rows, got.Rows); diff != "" {
		t.Errorf("rows: -want +got\n%s", diff)
	}
	if got.Go == "" || got.Cores < 1 {
		t.Errorf("machine: got %q and %d cores", got.Go, got.Cores)
	}
}
