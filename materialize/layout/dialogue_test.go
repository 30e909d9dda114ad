package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDialogueExample(t *testing.T) {
	t.Parallel()
	text := docExample(t, "dialogue", "retry-policy.dialogue.md")
	got, found := parseDialogueHead(text)
	want := DialogueHead{
		Title: "Retry policy", Draft: "12", Date: "2026-03-02", Status: "Converged", Participants: []string{"Muffin", "Scone", "Eclair"},
	}
	if diff := cmp.Diff(want, got); diff != "" || !found {
		t.Errorf("found %t, head (-want +got):\n%s", found, diff)
	}
	if again := string(appendDialogueHead(nil, got)) + "\n## Expert Panel\n"; again != string(text) {
		t.Errorf("written again (-want +got):\n%s", cmp.Diff(string(text), again))
	}
	facts, problems := parseOne(t, dialogues, "docs/retry-policy.dialogue.md", text)
	wantFacts := Facts{Title: "Retry policy", Status: "Converged", Attributes: map[string]string{"created": "2026-03-02"}}
	if diff := cmp.Diff(wantFacts, facts); diff != "" || len(problems) > 0 {
		t.Errorf("problems %q, facts (-want +got):\n%s", problems, diff)
	}
}

func TestDialogueHeads(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		want  DialogueHead
		found bool
	}{
		{"", DialogueHead{}, false},
		{"# Scoreboard\n**Status**: x\n", DialogueHead{}, false},
		{"text\n# Alignment Dialogue: A\n", DialogueHead{Title: "A"}, true},
		{"## Alignment Dialogue: A\n", DialogueHead{}, false},
		{"\ufeff# Alignment Dialogue: A\r\n\r\n**Status:** open\r\n**Judge**: 💙\r\n\r\n# B\r\n**Date**: x\r\n",
			DialogueHead{Title: "A", Status: "open", Extra: []Property{{"Judge", "💙"}}}, true},
		{"# Alignment Dialogue: A\n** *Judge** x**: 💙\n", DialogueHead{Title: "A", Extra: []Property{{"Judge** x", "💙"}}}, true},
	}
	for _, test := range tests {
		got, found := parseDialogueHead([]byte(test.text))
		if diff := cmp.Diff(test.want, got); diff != "" || found != test.found {
			t.Errorf("ParseDialogueHead(%q): found %t (-want +got):\n%s", test.text, found, diff)
		}
	}
}

func TestDialogueProblems(t *testing.T) {
	t.Parallel()
	_, problems := parseOne(t, dialogues, "s/expert-pool.json",
		[]byte("{\n  \"experts\": [\n    {\"name\": \"Muffin\"\n  ]\n}\n"))
	want := []string{"s/expert-pool.json:4: invalid character ']' after object key:value pair"}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func FuzzDialogue(f *testing.F) {
	f.Add(docExample(f, "dialogue", "retry-policy.dialogue.md"))
	f.Add([]byte("# Alignment Dialogue: ports of C # #"))
	f.Fuzz(func(t *testing.T, text []byte) {
		first, found := parseDialogueHead(text)
		if !found {
			return
		}
		once, _ := parseDialogueHead(appendDialogueHead(nil, first))
		written := appendDialogueHead(nil, once)
		if twice, found := parseDialogueHead(written); !found || cmp.Diff(once, twice) != "" {
			t.Fatalf("%q is read as (-want +got):\n%s", written, cmp.Diff(once, twice))
		}
	})
}
