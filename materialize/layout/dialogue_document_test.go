package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/materialize/markdown"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameDocument compares documents without the lines of the text.
func sameDocument() cmp.Options {
	var options cmp.Options
	for _, value := range []any{
		DocumentExpert{}, RoundScore{}, AgentScore{}, PerspectiveRow{}, TensionRow{}, DocumentSection{}, DocumentRound{}, DocumentTurn{},
	} {
		options = append(options, cmpopts.IgnoreFields(value, "Line"))
	}
	return append(options,
		cmpopts.IgnoreFields(DocumentTurn{}, "TextLine", "Exact"), cmpopts.IgnoreFields(Scoreboard{}, "TotalLine"),
		cmpopts.IgnoreFields(DialogueDocument{}, "HeadLine", "Found"), cmpopts.EquateEmpty())
}

// retryPolicy is the document of testdata/document/retry-policy.dialogue.draft.md.
func retryPolicy() DialogueDocument {
	expert := func(label, role, tier string, relevance float64, emoji string) DocumentExpert {
		return DocumentExpert{Expert: Expert{Label: label, Role: role, Tier: tier, Relevance: relevance, Emoji: emoji}}
	}
	return DialogueDocument{
		Head: DialogueHead{
			Title: "Retry policy", Draft: "Dialogue retry-policy", Date: "2026-03-02 09:30Z", Status: "In Progress",
			Participants: []string{"💙 Judge", "🧁 Muffin", "🥐 Croissant"},
		},
		Panel: []DocumentExpert{
			expert("Judge", "Orchestrator", "", 0, "💙"),
			expert("Muffin", "API Designer", "core", 0.9, "🧁"),
			expert("Croissant", "Operator | on call", "wildcard", 0.355, "🥐"),
		},
		Scores: Scoreboard{
			Agents: []AgentScore{{Agent: "🧁 Muffin", Marks: Marks{3, 2, 3, 1}, Total: 9}, {Agent: "🥐 Croissant", Marks: Marks{1, 1, 1, 1}, Total: 4}},
			Rounds: []RoundScore{
				{Round: 0, Judged: true, Marks: Marks{4, 3, 4, 2}, Score: 13, Cumulative: 13, OpenTensions: 1, NewPerspectives: 1, Velocity: 2, Converge: 50},
			},
			Total: 13, HasTotal: true,
		},
		Perspectives: []PerspectiveRow{{ID: "P01", Agent: "Muffin", Perspective: "Retries belong to the caller", Round: "0"}},
		Tensions:     []TensionRow{{ID: "T01", Tension: "Safety against convenience", Status: "Open", Raised: "Muffin R0"}},
		Rounds: []DocumentRound{
			{Number: 0, Label: "Opening Arguments", Turns: []DocumentTurn{
				{Name: "muffin", Label: "Muffin", Emoji: "🧁", Text: "[PERSPECTIVE P01: Retries belong to the caller]\n\n# Round 2\n\n### Croissant 🥐\n\n" +
					"<!-- end of turn croissant round 0 -->\n\n[TENSION T01: Safety against convenience]\n\n---\n\n```go\nfor {\n"},
				{Name: "croissant", Label: "Croissant", Emoji: "🥐", Text: "one line, no break"},
			}},
			{Number: 1, Turns: []DocumentTurn{
				{Name: "muffin", Label: "Muffin", Emoji: "🧁", Absent: "there is no file"},
				{Name: "croissant", Label: "Croissant", Emoji: "🥐", Absent: "timed out", Text: "[ERROR: timed out]\n\nafter 600 s\n"},
			}, After: []DocumentSection{{Title: "Verdict", Text: "# Yes\n\n## Round 7\n\nThe caller retries.\n"}}},
		},
	}
}

func TestDialogueDocumentGolden(t *testing.T) {
	t.Parallel()
	name := filepath.Join("testdata", "document", "retry-policy.dialogue.draft.md")
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := AppendDialogueDocument([]byte("before\n"), retryPolicy()); string(got) != "before\n"+string(want) {
		t.Errorf("written (-want +got):\n%s", cmp.Diff("before\n"+string(want), string(got)))
	}
	got, found := ParseDialogueDocument(want)
	if diff := cmp.Diff(retryPolicy(), got, sameDocument()); diff != "" || !found {
		t.Errorf("%s: found %t, read (-want +got):\n%s", name, found, diff)
	}
	lines := strings.Split(string(want), "\n")
	for _, r := range got.Rounds {
		for _, turn := range r.Turns {
			if turn.Text == "" {
				continue
			}
			first, _, _ := strings.Cut(turn.Text, "\n")
			if !turn.Exact || lines[turn.TextLine-1] != first || !strings.HasPrefix(lines[turn.Line-1], "### "+turn.Label) {
				t.Errorf("%s in round %d: exact %t, heading in line %d, text in line %d", turn.Name, r.Number, turn.Exact, turn.Line, turn.TextLine)
			}
		}
	}
	if sealed, intact := CheckSeal(want); !sealed || !intact {
		t.Errorf("%s: sealed %t, intact %t", name, sealed, intact)
	}
}

func TestDialogueDocumentExample(t *testing.T) {
	t.Parallel()
	text := docExample(t, "dialogue", "turns.dialogue.md")
	got, found := ParseDialogueDocument(text)
	want := DialogueDocument{Head: DialogueHead{Title: "Retry policy", Status: "In Progress"}, Rounds: []DocumentRound{{Label: "Opening Arguments", Turns: []DocumentTurn{
		{Name: "muffin", Label: "Muffin", Emoji: "🧁", Text: "Ten percent"}, {Name: "scone", Label: "Scone", Emoji: "🧁", Absent: "timed out"},
	}}}}
	if diff := cmp.Diff(want, got, sameDocument()); diff != "" || !found || !got.Rounds[0].Turns[0].Exact {
		t.Errorf("found %t, read (-want +got):\n%s", found, diff)
	}
	if written := appendRound(appendDialogueHead(nil, got.Head), got.Rounds[0]); string(written) != string(text) {
		t.Errorf("written (-want +got):\n%s", cmp.Diff(string(text), string(written)))
	}
}

// TestDialogueDocumentEdited reads documents that were changed by hand.
func TestDialogueDocumentEdited(t *testing.T) {
	t.Parallel()
	text := string(AppendDialogueDocument(nil, retryPolicy()))
	tests := []struct {
		old, new string
		round    int
		turn     int
		want     DocumentTurn
	}{
		{"one line, no break", "one line,\n\nmore", 0, 1, DocumentTurn{Name: "croissant", Label: "Croissant", Emoji: "🥐", Text: "one line,\n\nmore", Edited: true}},
		{"one line, no break\n<!-- end of turn croissant round 0 -->\n", "cut off\n", 0, 1,
			DocumentTurn{Name: "croissant", Label: "Croissant", Emoji: "🥐", Text: "cut off"}},
		{"*No turn: there is no file*", "But there is.", 1, 0, DocumentTurn{Name: "muffin", Label: "Muffin", Emoji: "🧁", Text: "But there is."}},
	}
	for _, test := range tests {
		edited := strings.Replace(text, test.old, test.new, 1)
		d, _ := ParseDialogueDocument([]byte(edited))
		if len(d.Rounds) != 2 || len(d.Rounds[test.round].Turns) != 2 {
			t.Errorf("with %q: rounds %+v, want two with two turns each", test.new, d.Rounds)
			continue
		}
		got := d.Rounds[test.round].Turns[test.turn]
		if strings.HasPrefix(got.Text, "<!--") { // what is left of the comments is text
			_, got.Text, _ = strings.Cut(got.Text, "\n")
		}
		if diff := cmp.Diff(test.want, got, sameDocument()); diff != "" {
			t.Errorf("with %q in place of %q (-want +got):\n%s", test.new, test.old, diff)
		}
		if sealed, intact := CheckSeal([]byte(edited)); !sealed || intact {
			t.Errorf("with %q: sealed %t, intact %t", test.new, sealed, intact)
		}
	}
}

func TestDialogueDocumentForms(t *testing.T) {
	t.Parallel()
	turn := func(label, emoji, note, text string) DocumentTurn {
		return DocumentTurn{Name: strings.ToLower(label), Label: label, Emoji: emoji, Note: note, Text: text}
	}
	tests := []struct {
		text string
		want DialogueDocument
	}{
		{"# Dialogue 2039: Storage\n\n| | |\n|---|---|\n| **Date** | 2026-01-26 |\n\nText.\n\n---\n\n## Notes\n\n> quoted\n",
			DialogueDocument{Head: DialogueHead{Title: "Storage", Draft: "Dialogue 2039", Date: "2026-01-26"}, Intro: "Text.",
				Front: []DocumentSection{{Title: "Notes", Text: "> quoted"}}}},
		{"# RFC Dialogue: A\n**Participants**: 🧁 Muffin (Chef) | 💙 Judge\n## Opening Arguments (Round 0)\n> All at once.\n### Muffin\nHello\n### Key points\n1\n---\n### 🧁 Muffin → changed\nBye\n",
			DialogueDocument{Head: DialogueHead{Title: "A", Participants: []string{"🧁 Muffin (Chef) | 💙 Judge"}}, Rounds: []DocumentRound{{
				Label: "Opening Arguments", Intro: "> All at once.",
				Turns: []DocumentTurn{turn("Muffin", "", "", "Hello\n### Key points\n1"), turn("Muffin", "🧁", "→ changed", "Bye")},
			}}}},
		{"# Alignment Dialogue: B\n## Round 2 (Final)\n### Resolved ✓\nx\n### 🧁 Data Architect: one\ny\n## 💙 Judge\nz\n# Round 3\n",
			DialogueDocument{Head: DialogueHead{Title: "B"}, Rounds: []DocumentRound{{
				Number: 2, Label: "Final", Intro: "### Resolved ✓\nx", Turns: []DocumentTurn{turn("Data Architect", "🧁", ": one", "y")},
				After: []DocumentSection{{Title: "💙 Judge", Text: "z"}, {Title: "Round 3"}},
			}}}},
		{"# Alignment Dialogue: C\n## Round 1 Scoreboard\n## Panel\n| Expert | Domain |\n|--|--|\n| **Ada** | API |\n## Round 1\n### Ada\nHi\n",
			DialogueDocument{Head: DialogueHead{Title: "C"}, Panel: []DocumentExpert{{Expert: Expert{Label: "Ada", Role: "API"}}},
				Front:  []DocumentSection{{Title: "Round 1 Scoreboard"}},
				Rounds: []DocumentRound{{Number: 1, Turns: []DocumentTurn{turn("Ada", "", "", "Hi")}}}}},
	}
	for _, test := range tests {
		got, found := ParseDialogueDocument([]byte(test.text))
		if diff := cmp.Diff(test.want, got, sameDocument()); diff != "" || !found {
			t.Errorf("ParseDialogueDocument(%q): found %t (-want +got):\n%s", test.text, found, diff)
		}
	}
	if _, found := ParseDialogueDocument([]byte("## No title\n")); found {
		t.Error("a text without a title is a document")
	}
}

func TestDialogueRoundFile(t *testing.T) {
	t.Parallel()
	d := retryPolicy()
	file := "a b--c.round-0.md"
	text := AppendDialogueRound(nil, d.Head.Title, "index.md", d.Rounds[0])
	part, found := ParseDialogueDocument(text)
	if diff := cmp.Diff(d.Rounds[:1], part.Rounds, sameDocument()); diff != "" || !found {
		t.Errorf("round's file: found %t (-want +got):\n%s\n%s", found, diff, text)
	}
	d.Rounds[0].File = file
	index, _ := ParseDialogueDocument(AppendDialogueDocument(nil, d))
	d.Rounds[0].Turns = nil
	if diff := cmp.Diff(d, index, sameDocument()); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
}

// TestRealDocuments reads documents that agents have written, writes what was read,
// and reads it again.
func TestRealDocuments(t *testing.T) {
	t.Parallel()
	corpus := os.Getenv("FILEBUS_REAL")
	if corpus == "" {
		t.Skip("FILEBUS_REAL names no folder with real documents")
	}
	files, err := filepath.Glob(filepath.Join(corpus, ".blue", "docs", "dialogues", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents below %s: %v", corpus, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, found := ParseDialogueDocument(text)
		again, _ := ParseDialogueDocument(AppendDialogueDocument(nil, first))
		if diff := cmp.Diff(first, again, sameDocument()); diff != "" || !found {
			t.Errorf("%s: found %t, read again (-first +again):\n%s", file, found, diff)
		}
	}
}

// FuzzDialogueTurns writes a document with any texts as turns, and reads it.
func FuzzDialogueTurns(f *testing.F) {
	f.Add("[PERSPECTIVE P01: a]\n", "# Round 2\n\n### Muffin 🧁\n", "timed out")
	f.Add("```\nopen\n", "<!-- open\n", "")
	f.Add("<!-- turn muffin round 0 bytes:1 sha256:2cf24dba5fb0a30e -->\nx\n<!-- end of turn muffin round 0 -->", "\r\n---\r\n", "*")
	f.Add("<!-- filebus dialogue sha256:2cf24dba5fb0a30e -->\n", "## Verdict\n", "<!-- x -->")
	f.Fuzz(func(t *testing.T, one, two, reason string) {
		d := retryPolicy()
		d.Rounds[0].Turns[0].Text, d.Rounds[1].Turns[1].Text, d.Rounds[1].After[0].Text = one, two, two
		d.Rounds[1].Turns[0].Absent = "for " + markdown.SingleSpaced(reason)
		d.Rounds[1].Turns[0].Absent = strings.TrimSpace(d.Rounds[1].Turns[0].Absent)
		text := AppendDialogueDocument(nil, d)
		got, found := ParseDialogueDocument(text)
		if diff := cmp.Diff(d, got, sameDocument()); diff != "" || !found {
			t.Fatalf("%q is read as (-want +got):\n%s", text, diff)
		}
		if sealed, intact := CheckSeal(text); !sealed || !intact {
			t.Fatalf("%q: sealed %t, intact %t", text, sealed, intact)
		}
	})
}

// FuzzDialogueDocument reads any text; what is written of it is read as the same.
func FuzzDialogueDocument(f *testing.F) {
	f.Add(AppendDialogueDocument(nil, retryPolicy()))
	f.Add([]byte("# Dialogue 2: A\n| a | b |\n## Panel\n| Agent |\n|--|\n| 🧁 A |\n## Round 1: x\n### A\ny\n"))
	f.Add([]byte("# A\n## Scoreboard\n| Agent | R0 | Total |\n|-|-|-|\n| A | 1 | 2 |\n| Round | W |\n|-|-|\n| 1 | 2 |\n**Total ALIGNMENT**: 3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		first, found := ParseDialogueDocument(text)
		if !found {
			return
		}
		once, _ := ParseDialogueDocument(AppendDialogueDocument(nil, first))
		written := AppendDialogueDocument(nil, once)
		if twice, found := ParseDialogueDocument(written); !found || cmp.Diff(once, twice, sameDocument()) != "" {
			t.Fatalf("%q is read as (-want +got):\n%s", written, cmp.Diff(once, twice, sameDocument()))
		}
	})
}
