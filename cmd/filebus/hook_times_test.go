package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/hook"
)

// TestHookTimes runs the program that FILEBUS_HOOK_TIMES names 100 times for each event, a store of 200 results beside it, and
// tells how long that took. It means something on an idle machine alone; .ci/long runs it.
func TestHookTimes(t *testing.T) {
	program := os.Getenv("FILEBUS_HOOK_TIMES")
	if program == "" {
		t.Skip("FILEBUS_HOOK_TIMES names no program")
	}
	const runs, median, late = 100, 25 * time.Millisecond, 60 * time.Millisecond
	dir, more := t.TempDir(), strings.Repeat("It goes on, and says more. ", 500)
	mustRun(t, dir, "init")
	mustRun(t, dir, "config", "set", "hooks.mode", "reference")
	mustRun(t, dir, "config", "set", "hooks.prompt_context", "true")
	fire := func(event, session, agent string) (wall, cpu time.Duration) {
		text := fmt.Sprintf("# The audit %s\n\nThe valve %s leaks, and nobody has seen it.\n\n%s", agent, agent, more)
		payload, err := json.Marshal(object{
			"session_id": session, "cwd": dir, "agent_id": agent, "agent_type": "Explore", "last_assistant_message": text, "error": text,
			"prompt": "Why does the valve a7 leak?", "tool_name": "Agent", "tool_use_id": agent,
			"tool_response": object{"status": "completed", "agentId": agent, "content": text},
		})
		must(t, err)
		if event == hook.PreToolUse {
			payload = bytes.Replace(payload, []byte(`"Agent"`), []byte(`"SubagentHandback","tool_input":{"message":"Report of `+agent+`"}`), 1)
		}
		cmd := exec.Command(program, "hook", event)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(payload)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "FILEBUS_STORE=")
		start := time.Now()
		must(t, cmd.Run())
		return time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	for i := range 200 {
		fire(hook.SubagentStop, "before", fmt.Sprint("a", i))
	}
	for _, event := range hook.Names() {
		var wall, cpu []time.Duration
		for i := range runs {
			w, c := fire(event, "s-"+event, fmt.Sprint("a", i))
			wall, cpu = append(wall, w), append(cpu, c)
		}
		slices.Sort(wall)
		slices.Sort(cpu)
		t.Logf("%-18s p50 %v, p95 %v; of processor time %v and %v", event, wall[runs/2], wall[runs*95/100], cpu[runs/2], cpu[runs*95/100])
		if wall[runs/2] > median || wall[runs*95/100] > late {
			t.Errorf("%s takes longer than %v, or one in twenty than %v", event, median, late)
		}
	}
}
