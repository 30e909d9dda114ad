package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVerdicts(t *testing.T) {
	t.Parallel()
	found := figures{"x": {9, 10, 20}, "five": {5}, "twenty": {20}, "fsync alone": {2}}
	for _, test := range []struct {
		over, limit string
		want        verdict
	}{
		{"", "", noLimit},
		{"", "in words alone", noLimit},
		{"", "≤ 10 ms", met},
		{"", "≤ 9.9 ms", notMet},
		{"", "≥ 10", met},
		{"", "≥ 11", notMet},
		{"", "all ≤ 20 tokens", met},
		{"", "all ≤ 19 tokens", notMet},
		{"five", "≤ 2 × write+fsync+rename", met},
		{"five", "≤ 1.9 × cp -r", notMet},
		{"twenty", "≥ 0.5 × one process", met},
		{"twenty", "≥ 0.6 × FTS5 (goal: 1.0)", notMet},
		{"nothing", "≤ 2 × git add", skipped},
		{"", "≤ 6 ms + 2 × fsync alone", met},
		{"", "≤ 5 ms + 2 × fsync alone", notMet},
	} {
		if got := (line{figure: "x", over: test.over, limit: test.limit}).row(found); got.Verdict != test.want {
			t.Errorf("over %q, limit %q: %+v: got %q, want %q", test.over, test.limit, got, got.Verdict, test.want)
		}
	}
	want := row{What: "said", Unit: "ms", Runs: 3, Median: 10, Min: 9, Max: 20, Ratio: 2}
	if diff := cmp.Diff(want, line{"x", "ms", "said", "five", ""}.row(found)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := (line{figure: "none"}).row(found); got.Runs != 0 {
		t.Errorf("what was not measured: got %+v, want no runs", got)
	}
}

// TestLimitsCanBeRead makes sure that every limit of a suite is one that judge reads.
func TestLimitsCanBeRead(t *testing.T) {
	t.Parallel()
	for _, m := range growthMeasures() {
		if m.limit != "" && !limitForm.MatchString(m.limit) {
			t.Errorf("growth, %s: %q is no limit", m.what, m.limit)
		}
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	limits := 0
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		for _, limit := range regexp.MustCompile(`"[^"\n]*[≤≥<>] [\d.]+[^"\n]*"`).FindAllString(string(text), -1) {
			if limits++; !limitForm.MatchString(strings.Trim(limit, `"`)) {
				t.Errorf("%s: %s is no limit", source, limit)
			}
		}
	}
	if limits < 15 {
		t.Errorf("got %d limits in the sources, want more", limits)
	}
}

func TestFigure(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{
		0: "0", 7: "7", 0.35892: "0.359", 1.2345: "1.23", 24.56: "24.6", 123.4: "123", 10366.2: "10366", 0.00123: "0.00123",
	} {
		if got := figure(value); got != want {
			t.Errorf("figure(%v): got %s, want %s", value, got, want)
		}
	}
}

func TestWriteTable(t *testing.T) {
	t.Parallel()
	rows := []row{
		{Suite: "put", What: "whole", Unit: "ms", Runs: 3, Median: 15.25, Min: 13, Max: 19.5, Ratio: 1.5, Limit: "≤ 25 ms", Verdict: met},
		{Suite: "large", What: "peak", Unit: "MB", Runs: 1, Median: 122, Min: 122, Max: 122, Limit: "< 100 MB", Verdict: notMet},
		{Suite: "relevance", What: "a collection (-ir) is missing", Verdict: skipped},
	}
	var out bytes.Buffer
	if err := write(&out, rows, false); err != nil {
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
	t.Parallel()
	rows := []row{{Suite: "put", What: "a < b", Unit: "ms", Runs: 1, Median: 1.5, Min: 1.5, Max: 1.5, Verdict: met}}
	var out bytes.Buffer
	if err := write(&out, rows, true); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine string
		Rows    []row
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%s: %v", out.String(), err)
	}
	if diff := cmp.Diff(rows, got.Rows); diff != "" {
		t.Errorf("rows: -want +got\n%s", diff)
	}
	if got.Machine == "" {
		t.Error("got no machine")
	}
}

// Figures of retrieval stand above the table, each in a line of its own.
func TestRetrievalFigures(t *testing.T) {
	t.Parallel()
	rows := []row{
		{Suite: "relevance", What: "MAP", Runs: 1, Median: 0.31234},
		{Suite: "relevance", What: "P@10", Runs: 1, Median: 1},
		{Suite: "put", What: "a put", Runs: 5, Median: 3},
		{Suite: "relevance", What: "missing", Verdict: skipped},
	}
	var out bytes.Buffer
	if err := write(&out, rows, false); err != nil {
		t.Fatal(err)
	}
	if want := "MAP 0.3123\nP@10 1.0000\ngo"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("got %q, want it to begin with %q", out.String(), want)
	}
}

func TestWriteReportsFailures(t *testing.T) {
	t.Parallel()
	err := write(io.Discard, []row{{Verdict: failed}, {Verdict: notMet}}, true)
	if err == nil || err.Error() != "1 measurements failed" {
		t.Errorf("got %v, want one failure", err)
	}
	if err := write(io.Discard, []row{{Verdict: notMet}}, false); err != nil {
		t.Errorf("a limit that is not met: got %v, want no error", err)
	}
}
