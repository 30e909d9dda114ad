package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/hook"
	"filebus/store/folder"
	"filebus/store/turnstile"
)

// stopOf returns what a client says of an agent that stops.
func stopOf(session, agent, report string) []byte {
	text, err := json.Marshal(object{
		"session_id": session, "hook_event_name": "SubagentStop", "agent_id": agent, "agent_type": "plan:Prüfer", "last_assistant_message": report,
	})
	if err != nil {
		panic(err)
	}
	return text
}

// hookProcess runs a hook as a process of its own, which must end with 0 and say nothing.
func hookProcess(t *testing.T, dir string, payload []byte) {
	t.Helper()
	cmd := filebusCommand(t, dir, "hook", "SubagentStop")
	cmd.Env = append(cmd.Env, "HOME=", "USERPROFILE=")
	cmd.Stdin = bytes.NewReader(payload)
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("hook: %v, %q", err, out)
	}
}

// TestHooksAtOnce runs 20 hooks at once, two for each agent, without a home folder. What
// found no turn waits in the spool, and no report is lost or stored twice.
func TestHooksAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() { hookProcess(t, dir, stopOf("s", fmt.Sprint("a", i/2), fmt.Sprintf("Report %d.", i/2))) })
	}
	group.Wait()
	mustRun(t, dir, "list") // stores what waits
	if out := mustRun(t, dir, "log"); strings.Count(out, "result/s/a") != 10 {
		t.Errorf("the log has, of 10 reports:\n%s", out)
	}
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
}

// TestHookUnheard runs a hook for a client that no longer listens: the report is stored all the same.
func TestHookUnheard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	mustRun(t, dir, "config", "set", "hooks.mode", "reference")
	r, w, err := os.Pipe()
	must(t, err)
	must(t, r.Close())
	for _, odd := range []string{``, `,"cwd":[]`} { // of which it is told on stderr
		cmd := filebusCommand(t, dir, "hook", "--client", "codex", "SubagentStop")
		cmd.Stdin = strings.NewReader(`{"session_id":"s","agent_id":"a` + fmt.Sprint(len(odd)) + `","agent_type":"x","last_assistant_message":"R"` + odd + `}`)
		cmd.Stdout, cmd.Stderr = w, w
		if err := cmd.Run(); err != nil {
			t.Errorf("hook: %v", err)
		}
	}
	if out := mustRun(t, dir, "list"); strings.Count(out, "result/s/a") != 2 {
		t.Errorf("of two reports there are\n%s", out)
	}
}

// TestHookBusy runs hooks while somebody has the store: they do not wait, and the next
// command stores what they brought, also after the last words of an agent that handed back.
func TestHookBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	hold, err := turnstile.New(folder.At(filepath.Join(dir, ".filebus")), "a test").Acquire(t.Context(), turnstile.Exclusive, time.Second)
	must(t, err)
	handback := `{"session_id":"s","agent_id":"a","agent_type":"x","tool_name":"SubagentHandback","tool_input":{"message":"The report."}}`
	for _, event := range []string{"PreToolUse", "PostToolUse"} {
		if out := runHook(t, dir, []byte(handback), event); out != "" {
			t.Errorf("%s answers %s", event, out)
		}
	}
	runHook(t, dir, stopOf("s", "a", "Report sent."), "SubagentStop")
	runHook(t, dir, stopOf("s", "b", "Another."), "SubagentStop")
	runHook(t, dir, stopOf("s", "b", "Another."), "SubagentStop")
	must(t, hold.Release()) // all have ended while it was held
	if out := mustRun(t, dir, "get", "result/s/a"); out != "The report." {
		t.Errorf("stored is %q", out)
	}
	if out := mustRun(t, dir, "log"); strings.Count(out, "result/") != 2 {
		t.Errorf("the log has:\n%s", out)
	}
	if log, err := os.ReadFile(filepath.Join(dir, ".filebus", hooksLog)); err != nil || strings.Count(string(log), "waits in the spool") != 2 {
		t.Errorf("%s: %s, %v", hooksLog, log, err)
	}
}

// TestHookFailedAtOnce runs both events of a failing agent at the same time, as clients do, while somebody has the store:
// it is one failure.
func TestHookFailedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	hold, err := turnstile.New(folder.At(filepath.Join(dir, ".filebus")), "a test").Acquire(t.Context(), turnstile.Exclusive, time.Second)
	must(t, err)
	var group sync.WaitGroup
	for i := range 8 {
		said := fmt.Sprintf("API Error: 529 of %d", i)
		for event, payload := range map[string]object{
			"StopFailure":        {"session_id": "s", "agent_id": fmt.Sprint("a", i), "last_assistant_message": said},
			"PostToolUseFailure": {"session_id": "s", "tool_name": "Agent", "tool_use_id": fmt.Sprint("u", i), "error": "It ended early: " + said + " (unknown)"},
		} {
			text, err := json.Marshal(payload)
			must(t, err)
			group.Go(func() { runHook(t, dir, text, event) })
		}
	}
	group.Wait()
	must(t, hold.Release())
	if out := mustRun(t, dir, "list", "--status", "failed"); strings.Count(out, "result/s/") != 8 {
		t.Errorf("of 8 failures there are\n%s", out)
	}
}

// TestHookCrowd has 100 agents in one session come back by every route at once, some of them failing, some resumed, while
// others put into the store: there are 100 results and 10 second reports, with the right text, agent and state, once each.
func TestHookCrowd(t *testing.T) {
	t.Parallel()
	dir, report := t.TempDir(), func(i int) string { return fmt.Sprintf("Report of %d. %s", i, strings.Repeat("It goes on. ", 30)) }
	mustRun(t, dir, "init")
	mustRun(t, dir, "config", "set", "hooks.mode", "reference")
	must(t, os.WriteFile(filepath.Join(dir, "x.txt"), []byte("Something else.\n"), 0o600))
	var group sync.WaitGroup
	work, over := make(chan func(*standIn)), make(chan bool)
	for range 8 {
		group.Go(func() {
			s := &standIn{t: t, dir: dir, client: hook.Claude, session: "s"}
			for do := range work {
				do(s)
			}
		})
	}
	busy := sync.WaitGroup{}
	busy.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			default:
				mustRun(t, dir, "put", "--conversation", "other", "--call", fmt.Sprint("c", i), filepath.Join(dir, "x.txt"))
			}
		}
	})
	want := map[string]string{} // by result: status and text
	for i := range 100 {
		id := fmt.Sprintf("a%02d", i)
		name := "result/s/" + id
		want[name] = "done " + report(i)
		switch i % 5 {
		case 0:
			work <- func(s *standIn) { s.handBack(id, report(i)) }
		case 1:
			work <- func(s *standIn) { s.foreground(id, report(i)) }
		case 2:
			work <- func(s *standIn) { s.background(id, report(i)) }
		case 3:
			if i < 50 {
				want[name+"-2"] = "done " + report(i+1000)
			}
			work <- func(s *standIn) {
				s.background(id, report(i))
				if i < 50 { // somebody sends it a message
					s.fire(hook.SubagentStart, object{"agent_id": id, "agent_type": "Explore"})
					s.stop(id, report(i+1000), false)
				}
			}
		case 4:
			said := fmt.Sprintf("API Error: 529 of agent %d.", i)
			want[name] = "failed " + said
			work <- func(s *standIn) {
				s.fire(hook.SubagentStart, object{"agent_id": id, "agent_type": "Explore"})
				s.fire(hook.StopFailure, object{"agent_id": id, "agent_type": "Explore", "last_assistant_message": said})
				s.fire(hook.ToolFailure, object{"tool_name": "Agent", "tool_use_id": "u" + id, "tool_input": object{"subagent_type": "Explore"}, "error": "It ended early: " + said})
			}
		}
	}
	close(work)
	group.Wait()
	close(over)
	busy.Wait()
	mustRun(t, dir, "list") // stores what waits
	var all struct {
		Records []struct{ Name, Agent, Status string }
	}
	must(t, json.Unmarshal([]byte(mustRun(t, dir, "list", "--conversation", "s", "--limit", "500", "--json")), &all))
	got := map[string]string{}
	for _, e := range all.Records {
		if e.Agent != "explore" {
			t.Errorf("%s is of %q", e.Name, e.Agent)
		}
		got[e.Name] = e.Status + " " + mustRun(t, dir, "get", e.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

// TestHookDamaged meets stores that cannot be used: the report waits until they can.
func TestHookDamaged(t *testing.T) {
	t.Parallel()
	for name, breakStore := range map[string]func(file string) error{
		"empty": func(file string) error { return os.Truncate(file, 0) },
		"newer": func(file string) error { // as an older program sees a newer schema
			text, err := os.ReadFile(file)
			text = regexp.MustCompile(`schema[0-9]`).ReplaceAllFunc(text, func([]byte) []byte { return []byte("schema9") })
			return errors.Join(err, os.WriteFile(file, text, 0o600))
		},
		"lost": func(file string) error {
			return errors.Join(os.WriteFile(filepath.Join(filepath.Dir(file), "signoff"), nil, 0o600), os.Remove(file))
		},
		"noise": func(file string) error { return os.WriteFile(file, bytes.Repeat([]byte("noise "), 9999), 0o600) },
		"setting": func(file string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(file), "config.toml"), []byte("mode ="), 0o600)
		},
		"folder": func(file string) error { return os.MkdirAll(filepath.Join(filepath.Dir(file), hooksLog), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			mustRun(t, dir, "init")
			file := filepath.Join(dir, ".filebus", "store.db")
			sound, err := os.ReadFile(file)
			must(t, err)
			must(t, breakStore(file))
			for _, agent := range []string{"a", "b"} {
				if out := runHook(t, dir, stopOf("s", agent, "Report of "+agent), "SubagentStop"); out != "" {
					t.Errorf("answer %q", out)
				}
			}
			runHook(t, dir, []byte(`{"session_id":"s"}`), "SessionStart")
			log, _ := os.ReadFile(filepath.Join(dir, ".filebus", hooksLog))
			if got := strings.Count(string(log), "\n"); name != "folder" && got != 3 {
				t.Errorf("%s has %d lines, want one for each hook:\n%s", hooksLog, got, log)
			}
			if name == "newer" && !strings.Contains(string(log), "newer") {
				t.Errorf("%s does not say that the store is newer:\n%s", hooksLog, log)
			}
			if name != "folder" {
				must(t, os.WriteFile(file, sound, 0o600))
			}
			_ = os.Remove(filepath.Join(dir, ".filebus", "config.toml"))
			for _, agent := range []string{"a", "b"} {
				if out := mustRun(t, dir, "get", "result/s/"+agent); out != "Report of "+agent {
					t.Errorf("stored is %q", out)
				}
			}
		})
	}
}

// TestHookKilled kills hooks at random moments. Run again, each report is there once.
func TestHookKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	report := strings.Repeat("Ein langer Bericht. ", 50_000)
	for range 8 {
		cmd := filebusCommand(t, dir, "hook", "SubagentStop")
		cmd.Stdin = bytes.NewReader(stopOf("s", "a", report))
		must(t, cmd.Start())
		time.Sleep(time.Duration(chance(t).IntN(40)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may be done already
		_ = cmd.Wait()         // it was killed
	}
	hookProcess(t, dir, stopOf("s", "a", report))
	if out := mustRun(t, dir, "get", "result/s/a"); out != report {
		t.Errorf("stored are %d bytes, want %d", len(out), len(report))
	}
	if out := mustRun(t, dir, "log"); strings.Count(out, "result/s/a") != 1 {
		t.Errorf("the log has:\n%s", out)
	}
}

// TestHookInput gives hooks what is not, or hardly, what they expect. None does anything
// but note it.
func TestHookInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	for _, payload := range []string{
		"", "null", "[]", `"text"`, "{", "{}", "\xff\xfe{}", `{"session_id":7}`, `{"session_id":"s","hook_event_name":"Stop"}`,
		`{"session_id":"s","agent_id":["a"],"agent_type":{},"last_assistant_message":1}`,
		`{"session_id":"s","agent_id":"a","agent_type":"","last_assistant_message":"a guess"}`,
		`{"session_id":"s","agent_type":"main","last_assistant_message":"no agent"}`,
		`{"session_id":"s","agent_id":"a","agent_type":"x","last_assistant_message":null}`,
		`{"session_id":"s","agent_id":"a","agent_type":"x","agent_transcript_path":"/dev/zero"}`,
		`{"session_id":"s","agent_id":"a","agent_type":"x","tool_name":"SubagentHandback","tool_input":{"message":["x"]}}`,
		`{"session_id":"s","agent_id":"a","agent_type":"x","tool_name":"SubagentHandback","tool_input":"x"}`,
		`{"session_id":"s","tool_name":"Agent","tool_response":"Error: interrupted"}`,
		`{"session_id":"s","tool_name":"Agent","tool_response":{"status":"paused","agentId":"a","content":"x"}}`,
		`{"session_id":"s","tool_name":"Task","tool_response":{"status":"completed","agentId":"a","content":7}}`,
		`{"session_id":"s","tool_name":"Agent","tool_response":{"status":"remote_launched","taskId":"r"}}`,
		`{"session_id":"s","tool_name":"TaskOutput","tool_response":{"task":{"task_id":"b1","task_type":"local_bash","status":"completed","output":"x"}}}`,
		`{"session_id":"s","tool_name":"TaskOutput","tool_response":{"task":{"task_id":"b2","task_type":"local_agent","status":"running","output":"x"}}}`,
		`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"x"}}`,
	} {
		for _, event := range []string{"PreToolUse", "PostToolUse", "SubagentStop", "SubagentStart", "SessionEnd", "Unheard"} {
			if event != "SubagentStop" || !strings.Contains(payload, "tool_name") {
				if out := runHook(t, dir, []byte(payload), event); out != "" {
					t.Errorf("%s of %s answers %s", event, payload, out)
				}
			}
		}
	}
	if out := mustRun(t, dir, "list"); out != "" {
		t.Errorf("stored is\n%s", out)
	}
}

// TestHookForgets begins a session long after another, whose notes are removed then.
func TestHookForgets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	notes := func(session string) string { return filepath.Join(dir, ".filebus", "hooks", session+notesSuffix) }
	for session, age := range map[string]time.Duration{"old": 31 * 24 * time.Hour, "young": 29 * 24 * time.Hour} {
		runHook(t, dir, stopOf(session, "a", "Report."), "SubagentStop")
		then := time.Now().Add(-age)
		must(t, os.Chtimes(notes(session), then, then))
	}
	for _, event := range []string{"SessionEnd", "SessionStart"} {
		if _, err := os.Stat(notes("old")); err != nil {
			t.Errorf("before %s: %v", event, err)
		}
		runHook(t, dir, []byte(`{"session_id":"new"}`), event)
	}
	for session, want := range map[string]bool{"old": false, "young": true, "new": true} {
		if _, err := os.Stat(notes(session)); (err == nil) != want {
			t.Errorf("notes of the %s session: %v", session, err)
		}
	}
	runHook(t, dir, stopOf("old", "a", "Report."), "SubagentStop")
	if out := mustRun(t, dir, "log"); strings.Count(out, "result/") != 2 {
		t.Errorf("a report was stored again:\n%s", out)
	}
}

// TestHookLong takes a large payload, and one that never ends.
func TestHookLong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	report := strings.Repeat("Zeile mit Ümlaut und \"Zitat\".\n", 350_000)
	runHook(t, dir, stopOf("s", "long", report), "SubagentStop")
	if out := mustRun(t, dir, "get", "result/s/long"); out != report {
		t.Errorf("stored are %d bytes, want %d", len(out), len(report))
	}
	cmd := filebusCommand(t, dir, "hook", "SessionEnd")
	in, err := cmd.StdinPipe()
	must(t, err)
	defer func() { _ = in.Close() }()
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("an input without an end: %v, %q", err, out)
	}
}

// TestHookLate takes longer over a report than a hook may: the report is kept.
func TestHookLate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	var calls atomic.Int32
	hook := &hookCommand{}
	env := docEnviron(dir, &bytes.Buffer{})
	env.In = bytes.NewReader(stopOf("s", "late", "Report."))
	env.Now = func() time.Time {
		if calls.Add(1) == 1 {
			time.Sleep(hookLimit + hookSpare)
		}
		return time.Now()
	}
	must(t, hook.Do(t.Context(), &cli.Work{Environ: env}, []string{"SubagentStop"}))
	if out := mustRun(t, dir, "get", "result/s/late"); out != "Report." {
		t.Errorf("kept is %q", out)
	}
}
