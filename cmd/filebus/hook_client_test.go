package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/hook"
)

// A standIn does what a client does with hooks: it runs them, puts what they say in place
// of inputs and outputs, and lets an agent that is blocked go on.
type standIn struct {
	t       *testing.T
	dir     string
	client  string
	session string
	twice   bool     // each hook runs twice, as where two settings name it
	parent  []string // what has entered the parent's context
}

type object = map[string]any

// fire runs the hooks of an event and returns what the last one answered.
func (s *standIn) fire(event string, payload object) (answer object) {
	s.t.Helper()
	payload["session_id"], payload["hook_event_name"], payload["cwd"] = s.session, event, s.dir
	payload["transcript_path"], payload["permission_mode"], payload["a_new_field"] = "/gone/parent.jsonl", "auto", []int{1}
	text, err := json.Marshal(payload)
	must(s.t, err)
	runs := 1
	if s.twice {
		runs = 2
	}
	for range runs {
		out := runHook(s.t, s.dir, text, "--client", s.client, event)
		if out == "" {
			continue
		}
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			s.t.Fatalf("%s answers %q: %v", event, out, err)
		}
		s.check(event, answer)
	}
	return answer
}

// check finds what a client would refuse the whole answer for.
func (s *standIn) check(event string, answer object) {
	own, _ := answer["hookSpecificOutput"].(object)
	for key := range answer {
		if key != "decision" && key != "reason" && key != "hookSpecificOutput" {
			s.t.Errorf("%s answers with the unknown field %s", event, key)
		}
	}
	for key := range own {
		if s.client == "codex" && key != "hookEventName" && key != "additionalContext" {
			s.t.Errorf("%s answers %s with the field %s", event, s.client, key)
		}
	}
	if own != nil && own["hookEventName"] != event {
		s.t.Errorf("%s answers for %v", event, own["hookEventName"])
	}
}

// runHook runs a hook inside the test and returns what it prints; it must exit with 0.
func runHook(t *testing.T, dir string, payload []byte, args ...string) string {
	t.Helper()
	var out, errText bytes.Buffer
	env := docEnviron(dir, &out)
	env.In, env.Err, env.Now = bytes.NewReader(payload), &errText, time.Now
	env.Getenv = func(name string) string {
		return map[string]string{"FILEBUS_STORE": filepath.Join(dir, ".filebus"), "FILEBUS_STATE": "off"}[name]
	}
	if code := run(t.Context(), env, append([]string{"hook"}, args...)); code != cli.ExitDone {
		t.Errorf("hook %q: exit code %d, %s", args, code, errText.String())
	}
	return out.String()
}

// specificOf returns what an answer has of its event's own.
func specificOf(answer object, key string) any {
	own, _ := answer["hookSpecificOutput"].(object)
	return own[key]
}

// handBack plays an agent that hands its report back by a tool.
func (s *standIn) handBack(id, report string) {
	s.fire(hook.PostToolUse, object{
		"tool_name": "Agent", "tool_input": object{"prompt": "Look", "subagent_type": "Explore"},
		"tool_response": object{"status": "async_launched", "agentId": id, "outputFile": "/tmp/x.output", "prompt": "Look"},
	})
	agent := func(more object) object { more["agent_id"], more["agent_type"] = id, "Explore"; return more }
	s.fire(hook.SubagentStart, agent(object{}))
	input := object{"message": report, "kind": "final"}
	answer := s.fire(hook.PreToolUse, agent(object{"tool_name": "SubagentHandback", "tool_input": input}))
	if updated, ok := specificOf(answer, "updatedInput").(object); ok {
		if updated["kind"] != "final" {
			s.t.Errorf("the rest of the input was lost: %v", updated)
		}
		input = updated
	}
	s.fire(hook.PostToolUse, agent(object{"tool_name": "SubagentHandback", "tool_input": input, "tool_response": object{"success": true, "message": "Report delivered."}}))
	s.parent = append(s.parent, fmt.Sprint(input["message"]))
	answer = s.fire(hook.SubagentStop, agent(object{"last_assistant_message": "Report sent.", "stop_hook_active": false}))
	if answer != nil {
		s.t.Errorf("an agent that has handed back was answered %v", answer)
	}
}

// foreground plays an agent whose caller waits for it.
func (s *standIn) foreground(id, report string) {
	agent := object{"agent_id": id, "agent_type": "Explore"}
	s.fire(hook.SubagentStart, agent)
	if answer := s.stop(id, report, false); answer != nil {
		s.t.Errorf("the caller waits, and the agent was answered %v", answer)
	}
	response := object{
		"status": "completed", "agentId": id, "prompt": "Look", "totalDurationMs": 1234, "usage": object{"input_tokens": 3},
		"harnessNoteCount": 1, "content": []object{{"type": "text", "text": "<note>Read</note>"}, {"type": "text", "text": report}},
	}
	answer := s.fire(hook.PostToolUse, object{
		"tool_name": "Agent", "tool_input": object{"prompt": "Look", "subagent_type": "Explore"}, "tool_response": response,
	})
	if updated, ok := specificOf(answer, "updatedToolOutput").(object); ok {
		if updated["status"] != "completed" || updated["totalDurationMs"] != 1234.0 || len(updated) != len(response) {
			s.t.Errorf("the result has another shape: %v", updated)
		}
		report = fmt.Sprint(updated["content"].([]any)[1].(object)["text"])
	}
	s.parent = append(s.parent, report)
}

// called plays an agent of which the client's plugin tells the call alone.
func (s *standIn) called(id, report string) {
	answer := s.fire(hook.PostToolUse, object{
		"tool_name": "Task", "tool_use_id": "call_1", "tool_input": object{"prompt": "Look", "subagent_type": "Explore"},
		"tool_response": object{"status": "completed", "agentId": id, "content": report},
	})
	if updated, ok := specificOf(answer, "updatedToolOutput").(object); ok {
		report = fmt.Sprint(updated["content"])
	}
	s.parent = append(s.parent, report)
}

// background plays an agent whose last text its caller gets later.
func (s *standIn) background(id, report string) {
	if s.client == hook.Claude {
		s.fire(hook.PostToolUse, object{
			"tool_name": "Agent", "tool_input": object{"prompt": "Look"},
			"tool_response": object{"status": "async_launched", "agentId": id, "prompt": "Look"},
		})
	}
	s.fire(hook.SubagentStart, object{"agent_id": id, "agent_type": "Explore"})
	last := report
	for isAgain, turns := false, 0; ; isAgain = true {
		answer := s.stop(id, last, isAgain)
		if answer["decision"] != "block" {
			break
		}
		if turns++; turns > 1 {
			s.t.Fatal("the agent is blocked without an end")
		}
		lines := strings.Split(strings.TrimSpace(fmt.Sprint(answer["reason"])), "\n")
		last = lines[len(lines)-1]
	}
	s.parent = append(s.parent, last)
	s.fire(hook.PostToolUse, object{"tool_name": "TaskOutput", "tool_input": object{"task_id": id}, "tool_response": object{
		"retrieval_status": "success", "task": object{"task_id": id, "task_type": "local_agent", "status": "completed", "output": last},
	}})
}

func (s *standIn) stop(id, last string, isAgain bool) object {
	return s.fire(hook.SubagentStop, object{
		"agent_id": id, "agent_type": "Explore", "last_assistant_message": last, "stop_hook_active": isAgain,
		"agent_transcript_path": "/gone/agent.jsonl", "background_tasks": []int{},
	})
}

// TestClient plays a session of eight agents by each way in which a report reaches the
// parent: every report is stored once, and in mode reference the parent's context grows by
// references alone.
func TestClient(t *testing.T) {
	ways := []struct {
		name, client string
		play         func(s *standIn, id, report string)
	}{
		{"handback", hook.Claude, (*standIn).handBack},
		{"foreground", hook.Claude, (*standIn).foreground},
		{"background", hook.Claude, (*standIn).background},
		{"codex", "codex", (*standIn).background},
		{"opencode", "opencode", (*standIn).called},
	}
	for _, way := range ways {
		for _, mode := range []string{"capture", "reference"} {
			for _, twice := range []bool{false, true} {
				t.Run(fmt.Sprint(way.name, "_", mode, "_", twice), func(t *testing.T) {
					t.Parallel()
					s := &standIn{t: t, dir: t.TempDir(), client: way.client, session: "0f9e-Sitzung", twice: twice}
					mustRun(t, s.dir, "init")
					mustRun(t, s.dir, "config", "set", "hooks.mode", mode)
					whole := 0
					for i := range 8 {
						report := fmt.Sprintf("# Befund %d\n\n%s\n", i, strings.Repeat(fmt.Sprintf("Überlegung %d. ", i), 300))
						whole += len(report)
						way.play(s, fmt.Sprintf("a%d-x", i), report)
						if got := mustRun(t, s.dir, "get", fmt.Sprintf("result/0f9e-Sitzung/a%d-x", i)); got != report {
							t.Errorf("stored is %.60q, want %.60q", got, report)
						}
					}
					s.wantStored(8)
					got := len(strings.Join(s.parent, ""))
					t.Logf("%s, %s: reports %d bytes, parent got %d", way.name, mode, whole, got)
					if mode == "capture" && got != whole || mode == "reference" && got > 8*260 {
						t.Errorf("the parent got %d bytes of %d", got, whole)
					}
				})
			}
		}
	}
}

// wantStored makes sure that so many results are stored, each with one version, and that
// nothing went wrong.
func (s *standIn) wantStored(n int) {
	s.t.Helper()
	for _, command := range []string{"list", "log"} {
		if out := mustRun(s.t, s.dir, command); strings.Count(out, "result/") != n {
			s.t.Errorf("filebus %s, want %d results:\n%s", command, n, out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, ".filebus", hooksLog)); err == nil {
		s.t.Errorf("%s: %s", hooksLog, text)
	}
}

// TestSources tells each report twice, by sources of different strength: whichever comes first, the stronger one's words stand,
// as the one report of the agent.
func TestSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	agent := func(text string) object {
		return object{"agent_id": "a", "agent_type": "Explore", "last_assistant_message": text}
	}
	sources := []struct {
		name, event string
		rank        int
		payload     func(text string) object
	}{
		{"hand-back", hook.PreToolUse, 0, func(text string) object {
			return object{"agent_id": "a", "agent_type": "Explore", "tool_name": "SubagentHandback", "tool_input": object{"message": text}}
		}},
		{"last words", hook.SubagentStop, 0, agent},
		{"call", hook.PostToolUse, 1, func(text string) object {
			return object{"tool_name": "Agent", "tool_response": object{"status": "completed", "agentId": "a", "content": text}}
		}},
		{"dump", hook.PostToolUse, 2, func(text string) object {
			task := object{"task_id": "a", "task_type": "local_agent", "status": "completed", "output": text}
			return object{"tool_name": "TaskOutput", "tool_response": object{"task": task}}
		}},
	}
	for _, first := range sources {
		for _, second := range sources {
			if first.rank == second.rank {
				continue
			}
			s := &standIn{t: t, dir: dir, client: hook.Claude, session: strings.ReplaceAll(first.name+"-"+second.name, " ", "_")}
			s.fire(first.event, first.payload("It is the "+first.name))
			s.fire(second.event, second.payload("Here is the "+second.name))
			want := "It is the " + first.name
			if second.rank < first.rank {
				want = "Here is the " + second.name
			}
			if got := mustRun(t, dir, "get", "result/"+s.session+"/a"); got != want {
				t.Errorf("%s: stored is %q, want %q", s.session, got, want)
			}
			if out := mustRun(t, dir, "list", "--conversation", s.session); strings.Count(out, "result/") != 1 {
				t.Errorf("%s: there are\n%s", s.session, out)
			}
		}
	}
}

// TestReferenceFits makes sure that with what a client puts around it, some 690 bytes and its own blocks, a reference has
// 1,000 bytes at most, whatever the names, the text and the place are.
func TestReferenceFits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	mustRun(t, dir, "config", "set", "hooks.mode", "reference")
	s := &standIn{t: t, dir: dir, client: hook.Claude, session: "b7daaf26-1676-4b52-a492-31c2a105c9d2"}
	key, words := "ghp_"+strings.Repeat("a1B2c3D4e5", 4)[:36], strings.Repeat("Two faults were found, and both are certain. ", 40)
	for i, c := range []struct{ agent, note, text string }{
		{"general-purpose", "", words},
		{"general-purpose", "Bash, Edit, Glob, Grep, Read, Task, WebFetch, WebSearch, Write", words},
		{"feature-development:code-reviewer", "Bash", words},
		{"reviewer", "Bash", strings.Repeat("二つの欠陥が見つかった。", 80)},
		{"reviewer", "Bash", strings.Repeat(`"C:\new\" is "odd". `, 80)},
		{"general-purpose", "Bash", words + strings.Repeat("\ntoken: "+key, 9)},
	} {
		blocks := []object{{"type": "text", "text": c.text}}
		if c.note != "" {
			note := "<tools-used-before-summary>" + c.note + "</tools-used-before-summary>\n"
			blocks = append([]object{{"type": "text", "text": note}}, blocks...)
		}
		answer := s.fire(hook.PostToolUse, object{"tool_name": "Agent", "tool_response": object{
			"status": "completed", "agentId": fmt.Sprintf("a2a04811d2c7c846%d", i), "agentType": c.agent,
			"harnessNoteCount": len(blocks) - 1, "content": blocks,
		}})
		output, _ := specificOf(answer, "updatedToolOutput").(object)
		size, content := 0, fmt.Sprint(output["content"])
		for _, block := range output["content"].([]any) {
			size += len(block.(object)["text"].(string))
		}
		if !strings.Contains(content, `"result_file":".claude/`) || !strings.Contains(content, `"ref":`) || size > 310 {
			t.Errorf("%d: the parent gets %d bytes: %s", i, size, content)
		}
	}
}
