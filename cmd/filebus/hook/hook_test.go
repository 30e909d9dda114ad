package hook_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/hook"
)

func TestFilesIn(t *testing.T) {
	t.Parallel()
	prompt := "Read docs/plan.md and `.claude/issue_queue.md`, then write ./.claude/journal/task-017.md.\r\n" +
		"At the end: touch \"/src/shop/.claude/agent_complete/017.done\"; see https://example.org/a.md (or .claude/sessions/audit/s1/api.md)"
	want := []string{
		".claude/journal/task-017.md", "/src/shop/.claude/agent_complete/017.done", ".claude/sessions/audit/s1/api.md",
	}
	if diff := cmp.Diff(want, hook.FilesIn(prompt)); diff != "" {
		t.Errorf("FilesIn (-want +got):\n%s", diff)
	}
}

// TestNotes reads notes of which some lines are none.
func TestNotes(t *testing.T) {
	t.Parallel()
	text := `{"what":"handed","agent":"a"}` + "\nhalf a li\n\n[]\n{\"what\":\"\"}\n" + `{"what":"launched","agent":"b"}` + "\n" + `{"what":"sto`
	notes := hook.ReadNotes([]byte(text))
	if len(notes) != 2 || notes[0].Agent != "a" || notes[1].What != hook.NoteLaunched {
		t.Errorf("ReadNotes = %v", notes)
	}
}

// FuzzRead gives hooks any payload: none makes them panic, and what they answer is one
// JSON object of the same shape as what came in.
func FuzzRead(f *testing.F) {
	events := append(hook.Names(), "Stop")
	for _, payload := range []string{
		`{"session_id":"s","agent_id":"a","agent_type":"x","tool_name":"SubagentHandback","tool_input":{"message":"Report","more":1}}`,
		`{"session_id":"s","tool_name":"Agent","tool_response":{"status":"completed","agentId":"a","content":[{"type":"text","text":"R"},{"type":"image"},{"type":"text","text":"agentId: a"}]}}`,
		`{"session_id":"s","tool_name":"Task","tool_response":{"status":"completed","agentId":"a","content":"R","handbackReport":{"text":"T"}}}`,
		`{"session_id":"s","agent_id":"a","agent_type":"x","last_assistant_message":"R","stop_hook_active":true,"duration_ms":1e400}`,
		`{"session_id":"s","prompt":"What is known?","source":"user"}`,
	} {
		for i := range events {
			f.Add(uint8(i), payload, `{"what":"launched","agent":"a"}`)
		}
	}
	f.Fuzz(func(t *testing.T, name uint8, payload, notes string) {
		event := events[int(name)%len(events)]
		e := hook.Event{Name: event, Client: hook.Claude}
		if err := e.Read([]byte(payload)); err != nil || !e.Concerns() {
			return
		}
		d := hook.Decide(&e, hook.ReadNotes([]byte(notes)), hook.Settings{Mode: "reference", PromptContext: true})
		answer := e.Refer(d.Replace, `{"agent":"x"}`)
		if text, err := json.Marshal(answer); err != nil {
			t.Errorf("%s of %q answers %q, %v", event, payload, text, err)
		}
		if d.Replace != hook.None && e.Report == "" {
			t.Errorf("%s of %q replaces nothing", event, payload)
		}
	})
}
