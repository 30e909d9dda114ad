package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// ignoreLines leaves out where things were read.
func ignoreLines() cmp.Option {
	return cmp.Options{
		cmpopts.IgnoreFields(Scoreboard{}, "TotalLine"), cmpopts.IgnoreFields(RoundScore{}, "Line"),
		cmpopts.IgnoreFields(AgentScore{}, "Line"), cmpopts.IgnoreFields(TensionRow{}, "Line"),
	}
}

func TestScoreboardExample(t *testing.T) {
	t.Parallel()
	text := docExample(t, "dialogue", "scoreboard.md")
	got, found := ParseScoreboard(text)
	want := Scoreboard{
		Rounds: []RoundScore{
			{Round: 0, Judged: true, Marks: Marks{9, 8, 10, 5}, Score: 32, Cumulative: 32, OpenTensions: 2, NewPerspectives: 3, Velocity: 5, Line: 6},
			{Round: 1, Cumulative: 32, OpenTensions: 0, Converge: 50, Line: 7},
		},
		Agents: []AgentScore{
			{Agent: "Muffin", Rounds: []AgentRound{{Round: 0, Score: 20}}, Total: 20, Line: 13},
			{Agent: "Scone", Rounds: []AgentRound{{Round: 0, Score: 12}}, Total: 12, Line: 14},
		},
		Total: 32, HasTotal: true, TotalLine: 16,
	}
	if diff := cmp.Diff(want, got); diff != "" || !found {
		t.Errorf("found %t, scoreboard (-want +got):\n%s", found, diff)
	}
	again := string(AppendScoreboard(nil, got))
	if !strings.HasSuffix(string(text), again) {
		t.Errorf("written again (-want +got):\n%s", cmp.Diff(string(text), again))
	}
}

func TestScoreboardForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want Scoreboard
	}{
		{"", Scoreboard{}},
		{"| Agent | Vote |\n|---|---|\n| Muffin | yes |\n", Scoreboard{}},
		// The section of a document.
		{"| Agent | Wisdom | Consistency | Truth | Relationships | **Total** |\r\n|-------|---|---|---|---|---|\r\n" +
			"| 🧁 Muffin | 3 | 2 | 4 | 1 | **10** |\r\n| **Total** | 3 | 2 | 4 | 1 | 10 |\r\n\r\n**Total ALIGNMENT**: 10 / 480 (2%)\r\n",
			Scoreboard{
				Agents: []AgentScore{{Agent: "🧁 Muffin", Marks: Marks{3, 2, 4, 1}, Total: 10}}, Total: 10, HasTotal: true,
			}},
		// Other names and an order of their own; a score in bold; what is behind the total.
		{"| Expert | ALIGNMENT | W | C | T | R |\n|:--|:-:|--|--|--|--|\n| A \\| B | **9** | 1 | 2 | 3 | 3 |\n\nTotal ALIGNMENT: **9** points\n",
			Scoreboard{Agents: []AgentScore{{Agent: "A | B", Marks: Marks{1, 2, 3, 3}, Total: 9}}, Total: 9, HasTotal: true}},
		{"| Agent | R1 | R0 | Total |\n|---|---|---|---|\n| Donut | 12 | — | **12** |\n**Total ALIGNMENT: 101** | **3 rounds**\n",
			Scoreboard{Agents: []AgentScore{{Agent: "Donut", Rounds: []AgentRound{{Round: 1, Score: 12}}, Total: 12}}, Total: 101, HasTotal: true}},
		// Tight cells, as judges write them; a row that is too short.
		{"| Round | W | C | T | R | Score | S | Open T | New P | Velocity | Converge % |\n|---|---|---|---|---|---|---|---|---|---|---|\n" +
			"| 0     | 21| 16| 20| 8 | 65    |65 | 8      | 16    | 24       | 0%         |\n| R1 | 2 |\n| Sum | 9 |\n",
			Scoreboard{Rounds: []RoundScore{
				{Judged: true, Marks: Marks{21, 16, 20, 8}, Score: 65, Cumulative: 65, OpenTensions: 8, NewPerspectives: 16, Velocity: 24},
				{Round: 1, Judged: true, Marks: Marks{Wisdom: 2}},
			}}},
		// No table in a code fence.
		{"```\n| Agent | Total |\n|---|---|\n| A | 1 |\n```\n", Scoreboard{}},
		// A number that is none.
		{"| Agent | Total |\n|---|---|\n| A | 99999999999999999999 |\n", Scoreboard{Agents: []AgentScore{{Agent: "A"}}}},
	}
	for _, test := range tests {
		got, found := ParseScoreboard([]byte(test.text))
		if diff := cmp.Diff(test.want, got, ignoreLines()); diff != "" || found != (len(got.Rounds)+len(got.Agents) > 0) {
			t.Errorf("ParseScoreboard(%q): found %t (-want +got):\n%s", test.text, found, diff)
		}
	}
}

func TestAgentMarks(t *testing.T) {
	t.Parallel()
	b := Scoreboard{Agents: []AgentScore{{Agent: "🧁 A | B", Marks: Marks{1, 2, 3, 4}, Total: 10}}, Total: 10, HasTotal: true}
	text := appendTotal(appendAgentMarks(nil, b.Agents), b.Total)
	want := "| Agent | Wisdom | Consistency | Truth | Relationships | **Total** |\n|---|---|---|---|---|---|\n" +
		"| 🧁 A \\| B | 1 | 2 | 3 | 4 | **10** |\n\n**Total ALIGNMENT**: 10\n"
	if string(text) != want {
		t.Errorf("written (-want +got):\n%s", cmp.Diff(want, string(text)))
	}
	if got, _ := ParseScoreboard(text); cmp.Diff(b, got, ignoreLines()) != "" {
		t.Errorf("read again (-want +got):\n%s", cmp.Diff(b, got, ignoreLines()))
	}
}

func TestTensionsExample(t *testing.T) {
	t.Parallel()
	text := docExample(t, "dialogue", "tensions.md")
	got := ParseTensions(text)
	want := []TensionRow{
		{ID: "MUFFIN R0-T01", Tension: "Safety against convenience", Status: "Resolved", Raised: "Muffin R0", Resolved: "Muffin R1", Line: 6},
		{ID: "SCONE R0-T01", Tension: "Who pays for retries", Status: "Open", Raised: "Scone R0", Line: 7},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tensions (-want +got):\n%s", diff)
	}
	if again := string(AppendTensions(nil, got)); !strings.Contains(string(text), again) {
		t.Errorf("written again (-want +got):\n%s", cmp.Diff(string(text), again))
	}
}

func TestTensionForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []TensionRow
		open []bool
	}{
		{"", nil, nil},
		{"| ID | Agent | Perspective | Round |\n|---|---|---|---|\n| P01 | Muffin | x | 0 |\n", nil, nil},
		{"| ID | Tension | Status | Raised | Resolved |\n|----|---|---|---|---|\n" +
			"| T01 | Where | **Resolved** | R0 | R1 |\n| T09 | Later | **Deferred** | R1 | — |\n| — | [Awaiting Round 0] | — | — | — |\n| T2 | Open one | Open | R1 (10/12) | - |\n",
			[]TensionRow{
				{ID: "T01", Tension: "Where", Status: "Resolved", Raised: "R0", Resolved: "R1"},
				{ID: "T09", Tension: "Later", Status: "Deferred", Raised: "R1"},
				{ID: "T2", Tension: "Open one", Status: "Open", Raised: "R1 (10/12)"},
			}, []bool{false, false, true}},
		{"| ID | Tension | Status | Resolution |\n|---|---|---|---|\n| T01 | Sync | **Resolved R1** | Three tiers. |\n| T08 | Drift | **Deferred to RFC** | Later |\n",
			[]TensionRow{
				{ID: "T01", Tension: "Sync", Status: "Resolved R1", Resolved: "Three tiers."},
				{ID: "T08", Tension: "Drift", Status: "Deferred to RFC", Resolved: "Later"},
			}, []bool{false, false}},
		{"| ID | Tension | Raised By | Consensus | Status |\n|---|---|---|---|---|\n| T1 | a \\| b | 🧁 Muffin | ✅ | Resolved: **yes** |\n",
			[]TensionRow{{ID: "T1", Tension: "a | b", Status: "Resolved: **yes**", Raised: "🧁 Muffin"}}, []bool{false}},
	}
	for _, test := range tests {
		got := ParseTensions([]byte(test.text))
		if diff := cmp.Diff(test.want, got, ignoreLines()); diff != "" {
			t.Errorf("ParseTensions(%q) (-want +got):\n%s", test.text, diff)
		}
		for i, r := range got {
			if r.IsOpen() != test.open[i] {
				t.Errorf("%+v: open %t, want %t", r, r.IsOpen(), test.open[i])
			}
		}
	}
}

func TestScores(t *testing.T) {
	t.Parallel()
	text := docExample(t, "dialogue", "scores.json")
	got, problem := ParseScores(text)
	want := Scores{Round: 0, Agents: []JudgedTurn{
		{Agent: "muffin", Marks: Marks{6, 5, 6, 3}, Judge: "judge", Turn: "5f70bf18a086"},
		{Agent: "scone", Marks: Marks{3, 3, 4, 2}, Converge: true, Note: "brief, and right"},
	}}
	if diff := cmp.Diff(want, got); diff != "" || problem != nil {
		t.Errorf("problem %v, scores (-want +got):\n%s", problem, diff)
	}
	if again := AppendScores(nil, got); string(again) != string(text) {
		t.Errorf("written again (-want +got):\n%s", cmp.Diff(string(text), string(again)))
	}
	for _, broken := range []string{
		"", "{", "[]", `{"agents": 1}`, `{"agents": [{"wisdom": 1}]}`, `{"agents": [{"agent": "a", "truth": -1}]}`,
		`{"agents": [{"agent": "a", "truth": 1000001}]}`, `{"agents": [{"agent": "a", "truth": 1.5}]}`,
	} {
		if got, problem := ParseScores([]byte(broken)); problem == nil {
			t.Errorf("ParseScores(%q) = %+v, want a problem", broken, got)
		}
	}
}

func FuzzScoreboard(f *testing.F) {
	f.Add(docExample(f, "dialogue", "scoreboard.md"))
	f.Add([]byte("| Agent | Wisdom | **Total** |\n|---|---|---|\n| x | 3 | **4**5 |\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		first, _ := ParseScoreboard(text)
		once, _ := ParseScoreboard(AppendScoreboard(nil, first))
		written := AppendScoreboard(nil, once)
		twice, found := ParseScoreboard(written)
		if diff := cmp.Diff(once, twice, ignoreLines()); !found || diff != "" {
			t.Fatalf("%q is read as (-want +got):\n%s", written, diff)
		}
	})
}

func FuzzTensions(f *testing.F) {
	f.Add(docExample(f, "dialogue", "tensions.md"))
	f.Add([]byte("| ID | Tension | Status |\n|---|---|---|\n| T1 | **a** **b** | **Resolved** x |\n"))
	f.Add([]byte("|ID|Tension|StAtus\n|-\n|0||Resolved****0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		once := ParseTensions(AppendTensions(nil, ParseTensions(text)))
		written := AppendTensions(nil, once)
		if diff := cmp.Diff(once, ParseTensions(written), ignoreLines()); diff != "" {
			t.Fatalf("%q is read as (-want +got):\n%s", written, diff)
		}
	})
}

func FuzzScores(f *testing.F) {
	f.Add(docExample(f, "dialogue", "scores.json"))
	f.Fuzz(func(t *testing.T, text []byte) {
		once, problem := ParseScores(text)
		if problem != nil {
			return
		}
		written := AppendScores(nil, once)
		twice, problem := ParseScores(written)
		if problem != nil || cmp.Diff(once, twice) != "" {
			t.Fatalf("%q: problem %v (-want +got):\n%s", written, problem, cmp.Diff(once, twice))
		}
	})
}

func TestMarks(t *testing.T) {
	t.Parallel()
	j := JudgedTurn{Agent: "muffin", Marks: Marks{1, 2, 3, 4}}
	if got := j.Plus(Marks{Wisdom: 10, Consistency: 20, Truth: 30, Relationships: 40}); got != (Marks{11, 22,
		33, 44}) || got.Sum() != 110 {
		t.Errorf("the sums are %v, together %d", got, got.Sum())
	}
	s := Scores{Round: 1}.Set(JudgedTurn{Agent: "scone", Marks: Marks{Truth: 9}}).Set(j)
	if got, found := s.Find("muffin"); got != j || !found {
		t.Errorf("Find(muffin) = %v, %t", got, found)
	}
	if got, found := s.Find("bun"); got != (JudgedTurn{}) || found {
		t.Errorf("Find(bun) = %v, %t of those who were given nothing", got, found)
	}
}

func TestTensionState(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"Open": "open", "": "open", "—": "open", "OPEN": "open", "**CONDITIONAL**": "open", "🔴 Open": "open", "Reopened in R2": "open",
		"Unresolved": "open", "ADDRESSED in R2": "addressed", "Refined": "addressed", "partially resolved": "addressed",
		"Resolved": "resolved", "**Resolved R1**": "resolved", "closed": "resolved", "✅": "resolved", "✅ both": "resolved",
		"Open → Resolved (R2)": "resolved", "Deferred to RFC": "deferred", "**ACCEPTED** as a tradeoff": "deferred", "⏸ parked": "deferred",
		"Not resolved": "", "Gelöst": "", "42": "", "see R2": "",
	} {
		r := TensionRow{Status: status}
		if got := r.State(); got != want || r.IsOpen() != (want == "open" || want == "addressed") {
			t.Errorf("a tension with the status %q is %q, open %t, want %q", status, got, r.IsOpen(), want)
		}
	}
}

func TestTensionID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"T1": "T01", "T01": "T01", "T001": "T01", "T123": "T123", "P01": "",
		"T": "", "tension": ""} {
		if got, ok := TensionID(text); got != want && ok || ok != (want != "") {
			t.Errorf("TensionID(%q) = %q, %t, want %q", text, got, ok, want)
		}
	}
}

// TestScoreboardAbsence writes an agent that had no turn in a round.
func TestScoreboardAbsence(t *testing.T) {
	t.Parallel()
	b := Scoreboard{
		Rounds: []RoundScore{{Round: 0}, {Round: 1}},
		Agents: []AgentScore{
			{Agent: "Scone", Rounds: []AgentRound{{Round: 0, Score: 2}, {Round: 1, Score: 1}}, Total: 3},
			{Agent: "Muffin", Rounds: []AgentRound{{Round: 1, Score: 5}}, Total: 5},
		},
	}
	text := AppendScoreboard(nil, b)
	if !strings.Contains(string(text), "| Muffin | — | 5 | **5** |") {
		t.Errorf("the round without a turn is no dash:\n%s", text)
	}
}
