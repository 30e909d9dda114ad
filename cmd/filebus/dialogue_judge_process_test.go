package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"filebus/materialize/layout"
)

// TestManyJudges judges 20 agents of a round from 20 processes at once, while 5 others
// compute the scoreboard: no number is lost, and the last scoreboard has them all.
func TestManyJudges(t *testing.T) {
	t.Parallel()
	const agents, scorers = 11, 3
	dir := t.TempDir()
	round := filepath.Join(dir, ".claude", "dialogues", "many", "round-0")
	if err := os.MkdirAll(round, 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range agents {
		file := filepath.Join(round, fmt.Sprintf("agent-%02d.md", i))
		if err := os.WriteFile(file, []byte("[PERSPECTIVE P01: one]\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, dir, "init")
	mustRun(t, dir, "sync")
	inProcesses(t, dir, agents+scorers, func(i int) []string {
		if i >= agents {
			return []string{"dialogue", "score", "many"}
		}
		return []string{
			"dialogue", "judge", "many", "0", fmt.Sprintf("agent-%02d", i),
			"--wisdom", fmt.Sprint(i), "--consistency", "1", "--truth", "2", "--relationships", "3",
		}
	})
	text, err := os.ReadFile(filepath.Join(round, "scores.json"))
	if err != nil {
		t.Fatal(err)
	}
	scores, problem := layout.ParseScores(text)
	if problem != nil || len(scores.Agents) != agents {
		t.Fatalf("%d agents are judged, want %d (%v):\n%s", len(scores.Agents), agents, problem, text)
	}
	for i, j := range scores.Agents {
		given := layout.Marks{Wisdom: i, Consistency: 1, Truth: 2, Relationships: 3}
		want := layout.JudgedTurn{Agent: fmt.Sprintf("agent-%02d", i), Marks: given, Turn: scores.Agents[0].Turn}
		if j != want || j.Turn == "" {
			t.Errorf("agent %d has %+v, want %+v", i, j, want)
		}
	}
	var got struct {
		Total         int
		Kept, Written []string
	}
	printed := inProcesses(t, dir, 1, func(int) []string { return []string{"dialogue", "score", "many", "--json"} })
	if err := json.Unmarshal([]byte(printed[0]), &got); err != nil {
		t.Fatal(err)
	}
	if want := agents*(agents-1)/2 + 6*agents; got.Total != want || len(got.Kept) > 0 || len(got.Written) != 3 {
		t.Errorf("total %d, want %d; written %q, kept %q", got.Total, want, got.Written, got.Kept)
	}
}
