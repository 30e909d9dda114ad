package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAgentLogExample(t *testing.T) {
	t.Parallel()
	text := docExample(t, "sessions", ".agent_log")
	got, problems := ParseAgentLog(text)
	want := []AgentEvent{
		{"2026-03-02T09:00:00Z", "START", "context-gatherer", "Reading pull request 42"},
		{"2026-03-02T09:01:12Z", "SUCCESS", "context-gatherer", "context written"},
		{"2026-03-02T09:01:13Z", "START", "security-scanner", "src/http | src/auth"},
		{"2026-03-02T09:03:40Z", "ERROR", "security-scanner", "timed out after 120 s"},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("problems %v, events (-want +got):\n%s", problems, diff)
	}
	var again []byte
	for _, e := range got {
		again = AppendAgentEvent(again, e)
	}
	if diff := cmp.Diff(string(text), string(again)); diff != "" {
		t.Errorf("written again (-want +got):\n%s", diff)
	}
	facts, _ := parseOne(t, agentLogs, ".agent_log", text)
	if diff := cmp.Diff(Facts{Status: "failed", Title: "Agent log", Summary: "2 started, 1 succeeded, 1 failed"}, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestAgentLogProblems(t *testing.T) {
	t.Parallel()
	text := "\ufeffnow|START|a\r\n\r\nnow | DONE | a | x\r\njust text\nnow | SUCCESS | a |\n| | |\n"
	events, _ := ParseAgentLog([]byte(text))
	if diff := cmp.Diff([]AgentEvent{{"now", "START", "a", ""}, {"now", "SUCCESS", "a", ""}}, events); diff != "" {
		t.Errorf("events of %q (-want +got):\n%s", text, diff)
	}
	facts, problems := parseOne(t, agentLogs, "b/.agent_log", []byte(text))
	want := []string{
		`b/.agent_log:3: "now | DONE | a | x" is no event: time | START, SUCCESS or ERROR | agent | message`,
		`b/.agent_log:4: "just text" is no event: time | START, SUCCESS or ERROR | agent | message`,
		`b/.agent_log:6: "| | |" is no event: time | START, SUCCESS or ERROR | agent | message`,
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if facts.Status != StatusComplete {
		t.Errorf("status %q, want %q", facts.Status, StatusComplete)
	}
}

func FuzzAgentLog(f *testing.F) {
	f.Add(docExample(f, "sessions", ".agent_log"))
	f.Fuzz(func(t *testing.T, text []byte) {
		events, _ := ParseAgentLog(text)
		for _, e := range events {
			line := AppendAgentEvent(nil, e)
			again, problems := ParseAgentLog(line)
			if len(again) != 1 || len(problems) > 0 || strings.Count(string(line), "\n") != 1 {
				t.Fatalf("%+v is written as %q and read as %+v, %v", e, line, again, problems)
			}
			if next := AppendAgentEvent(nil, again[0]); string(next) != string(line) {
				t.Fatalf("%q is written again as %q", line, next)
			}
		}
	})
}
