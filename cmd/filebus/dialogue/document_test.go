package dialogue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/layout"
)

// shape is a dialogue, and what its document says of itself.
type shape struct {
	files    map[string]string
	findings string // what the head names; "" if it names nothing
	want     []string
}

// shapes are dialogues as judges and agents leave them behind.
func shapes() map[string]shape {
	roster := `"name": "Öl-Prüfer", "role": "Chemist | oils", "tier": "Core"}, {"name": "KIRSCH", "label": "Kirsch", "emoji": "🍒"`
	long := map[string]string{}
	for r := range 12 {
		for _, agent := range []string{"ada", "bo"} {
			long[fmt.Sprintf("round-%d/%s.md", r, agent)] = fmt.Sprintf("[PERSPECTIVE P%02d: %s in %d]\r\n", r+1, agent, r) + strings.Repeat("words that fill\r\n", 250)
		}
	}
	table := func(head, row string) string {
		rule := strings.Repeat("|--", strings.Count(head, "|")-1) + "|\n"
		return "# Scores\n\n> kept by Ada\n\n" + head + "\n" + rule + row + "\n\nA note of the judge, by hand.\n"
	}
	one := func(files map[string]string) map[string]string {
		all := map[string]string{"round-0/ada.md": "[PERSPECTIVE P01: a]\n", "round-0/bo.md": "[TENSION T01: b]\n"}
		maps.Copy(all, files)
		return all
	}
	return map[string]shape{
		"no panel": {files: one(nil)},
		"a panel that changes": {files: map[string]string{
			"expert-pool.json":            `{"question": "Which oil?", "experts": [{` + roster + `}, {"name": "late", "role": "Guest"}]}`,
			"round-0/panel.json":          `{"experts": [{` + roster + `}]}`,
			"round-1/panel.json":          `{"experts": [{"name": "KIRSCH"}, {"name": "late"}]}`,
			"round-0/öl-prüfer.md":        "[PERSPECTIVE P01: a]\n",
			"round-0/kirsch.md":           "[TENSION T01: b]\n",
			"round-1/kirsch.md":           "[MOVE:CONVERGE]\n",
			"round-1/late.md":             "[ERROR: killed]\n",
			"round-0/öl-prüfer.prompt.md": "You are Öl-Prüfer, the Baker in this dialogue.\n",
		}, want: []string{"| 🍒 Kirsch | — | — | — | 🍒 | 0, 1 |", "| 🧁 Late | Guest | — | — | 🧁 | 1 |", "Chemist"}},
		"roles in prompts": {files: one(map[string]string{
			"round-0/ada.prompt.md": "\ufeff# Round 0\r\n\r\nYou are **Ada** 🧪, an Expert on Oils, Fats & Waxes in an ALIGNMENT-seeking dialogue.\r\n\r\nYour role:\r\n",
			"round-0/bo.prompt.md":  "You are Ada, the Thief.\n",
			"expert-pool.json":      `{"experts": [{"role": "Expert on Oils, Fats & Waxes", "tier": "wildcard", "relevance": 0.7}]}`,
		}), want: []string{"| 🧁 Ada | Expert on Oils, Fats & Waxes (by the prompt) | wildcard | 0.70 | 🧁 |", "| 🧁 Bo | — |"}},
		"a scoreboard with velocity": {files: one(map[string]string{"scoreboard.md": table(
			"| Round | W | C | T | R | Score | S | Open T | New P | Velocity | Converge % |", "| 0 | 1 | 2 | 3 | 4 | 10 | 10 | 1 | 1 | 2 | 0% |")}),
			want: []string{"| 0 | 1 | 2 | 3 | 4 | 10 | 10 |", "> kept by Ada", "A note of the judge, by hand."}},
		"a scoreboard that does not add up": {files: one(map[string]string{"scoreboard.md": table(
			"| Round | W | C | T | R | Score | S | Open T | New P | Velocity | Converge % |", "| 0 | 1 | 2 | 3 | 4 | 11 | 11 | 1 | 1 | 2 | 0% |")}),
			findings: "W, C, T and R of round 0 add up to 10, not 11"},
		"a scoreboard of agents": {files: one(map[string]string{"scoreboard.md": table(
			"| Expert | Role | W | C | T | R | Score | Key Contribution |", "| Ada | Baker | 1 | 2 | 3 | 4 | **10** | yeast |")}),
			findings: "no row in the scoreboard for Bo", want: []string{"| Ada | Baker | 1 | 2 | 3 | 4 | **10** | yeast |"}},
		"files of the judge": {files: one(map[string]string{
			"round-0/scoreboard.md": table("| Agent | W | C | T | R | Total |", "| Ada | 1 | 2 | 3 | 4 | 10 |"),
			"tensions.md":           "# Tensions\n\n| ID | Tension | Raised By | Owner | Status |\n|-|-|-|-|-|\n| T01 | b | Bo | Ada | DEFERRED |\n\nSee the RFC.\n",
			"CONVERGENCE.md":        "# 100%\n\n## Round 9: not a round\n", "perspectives.md": "| ID | Label | Contributors |\n|-|-|-|\n| P0001 | a | Ada |\n",
			"round-0.summary.md": "- T01 put off\n",
		}), findings: "no row in the scoreboard for Bo", want: []string{"## 💙 Judge: CONVERGENCE\n", "## 💙 Judge: Perspectives\n", "See the RFC.\n", "- T01 put off\n"}},
		"marks and a verdict": {files: one(map[string]string{
			"round-1/bo.md":       "[PERSPECTIVE P02: a again]\n",
			"round-1/scores.json": `{"round": 1, "agents": [], "marks": [{"id": "BO R1-P02", "mark": "merged with", "other": "ADA R0-P01"}]}`,
			"CONVERGENCE.md":      "# 100% CONVERGENCE ACHIEVED\n",
		}), findings: "BO R1-P02 merged with ADA R0-P01", want: []string{"| P02 | Bo | a again (merged with ADA R0-P01) | 1 |", "**Status**: In Progress\n", "**Judge**: 100% CONVERGENCE ACHIEVED"}},
		"markers out of the grammar": {files: one(map[string]string{
			"round-0/ada.md": "[TENSION T-NEW: x]\n[RESOLVED -- no]\n[PERSPECTVE P01: y]\n[PERSPECTIVE P01: y]\n[PERSPECTIVE P01: z]\n[TENSION ADA-T0001: w]\n"}),
			want: []string{"[TENSION T-NEW: x]\n"}},
		"late and wanting": {files: map[string]string{
			"expert-pool.json": `{"experts": [{"name": "ada"}, {"name": "bo"}, {"name": "cy"}]}`,
			"round-0/ada.md":   "[awaiting response]\n", "round-0/bo.md": "[ERROR: timed out]\n\nafter 9 s\n", "round-1/dot.md": "I came late.\n", "round-3/ada.md": "", "round-0/cy.md": "[PERSPECTIVE P01: c]",
		}, findings: "round 3 follows round 1"},
		"twice the same name": {files: map[string]string{"round-0/data-architect.md": "[TENSION T01: a]\n", "round-0/data_architect.md": "[TENSION T01: b]\n"},
			findings: "Data_architect is in the panel twice; Data_architect has two blocks in round 0"},
		"judged in part": {files: one(map[string]string{
			"round-0/scores.json": `{"round": 0, "agents": [{"agent": "ada", "wisdom": 1, "consistency": 1, "truth": 1, "relationships": 1}]}`}),
			findings: "no row in the scoreboard for Bo"},
		"twelve rounds": {files: long},
	}
}

// TestDocumentPassesLint makes sure that whatever is assembled passes the lint, has the
// bytes of each turn and of what the judge wrote by hand, and names what is wrong with it.
func TestDocumentPassesLint(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	for name, s := range shapes() {
		t.Run(name, func(t *testing.T) {
			h := newScoreHall(t, layout.Claude())
			doc, err := h.Document(t.Context(), h.write(t, s.files))
			if err != nil {
				t.Fatal(err)
			}
			files := renderDocument(doc, "d.md", name == "judged in part")
			read, found, err := ReadDocument(files[0].Text, func(name string) ([]byte, error) { return textIn(files, name), nil })
			if err != nil {
				t.Fatal(err)
			}
			r := LintDocument("d.md", &read, found)
			if r.Incomplete || rule.Count(r.Findings, rule.Must)+rule.Count(r.Findings, rule.Should) > 0 {
				t.Errorf("incomplete: %t, findings %q", r.Incomplete, findingLines(r))
			}
			text := string(slices.Concat(files[0].Text, bytesOf(files[1:])))
			if got := layout.ExtraValue(read.Head.Extra, layout.PropertyFindings); !strings.Contains(got, s.findings) || (got == "") != (s.findings == "") {
				t.Errorf("the head names %q, want %q", got, s.findings)
			}
			for _, want := range s.want {
				if !strings.Contains(text, want) {
					t.Errorf("the document lacks %q:\n%s", want, text)
				}
			}
			for path, body := range s.files {
				isStub := strings.HasPrefix(body, "[ERROR: killed]")
				if strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".prompt.md") && !isStub && !strings.Contains(text, body) {
					t.Errorf("the document lacks the text of %s", path)
				}
			}
		})
	}
}

func bytesOf(files []documentFile) (all []byte) {
	for _, f := range files {
		all = append(all, f.Text...)
	}
	return all
}
