package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

const liveAnswer = "PARENT DONE"

// liveReport is what the sub-agent says.
func liveReport() string {
	return "# Audit\n\nThe lock is taken twice, and the timer starts too early.\n\n" + strings.Repeat("Nobody holds it for long. ", 100) + "Ende: äöü 漢字"
}

// A liveModel answers a client in place of a model: the parent calls one agent, and the agent reports. It keeps the last
// request of the parent, and whether any says what the store has. In mode failing there is no answer for the agent; in mode
// compacted the parent's context is full.
type liveModel struct {
	sync.Mutex
	mode   string
	parent string
	told   bool
}

func (m *liveModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // the client sees what comes of it
	body := string(raw)
	isParent := strings.Contains(body, "PARENT-AUDIT") && strings.Contains(body, `"tools"`)
	m.Lock()
	if m.told = m.told || strings.Contains(body, "filebus keeps what agents"); isParent {
		m.parent = body
	}
	m.Unlock()
	if m.mode == "failing" && !isParent && strings.Contains(body, "SUB-AUDIT") {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"SCRIPT-FAILURE"}}`, http.StatusBadRequest)
		return
	}
	text, call, called := liveReport(), object(nil), false
	_, line, isAsked := strings.Cut(body, "the line below stands for it.")
	if _, line, _ = strings.Cut(line, `\n`); isAsked && !isParent {
		text, _, _ = strings.Cut(line, `\n`)
		text, _, _ = strings.Cut(text, `</`)
		text, _, _ = strings.Cut(text, `"`)
	}
	task := object{"description": "Audit", "prompt": "SUB-AUDIT: report", "subagent_type": "general-purpose", "run_in_background": false}
	var events []object
	switch {
	case strings.HasSuffix(r.URL.Path, "/messages"):
		called, call = strings.Contains(body, `"tool_result"`), task
		events = []object{{"name": "Agent", "input": call}}
	case strings.HasSuffix(r.URL.Path, "/responses"):
		called, call = strings.Contains(body, "Message Type: FINAL_ANSWER"), object{"message": "SUB-AUDIT: report", "task_name": "audit", "fork_turns": "none"}
		events = []object{{"name": "spawn_agent", "input": call}}
		if strings.Contains(body, `"spawn_agent"`) && strings.Contains(body, "function_call_output") {
			events = []object{{"name": "wait_agent", "input": object{"timeout_ms": 20000}}}
		}
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		called, call = strings.Contains(body, `"role":"tool"`), task
		call["subagent_type"] = "general"
		events = []object{{"name": "task", "input": call}}
	default:
		http.NotFound(w, r)
		return
	}
	switch {
	case isParent && called:
		text, events = liveAnswer, nil
	case !isParent:
		events = nil
	}
	w.Header().Set("Content-Type", "text/event-stream")
	used := 100
	if m.mode == "compacted" && isParent && !called {
		used = 199_000
	}
	for _, e := range liveEvents(r.URL.Path, text, events, used) {
		data, _ := json.Marshal(e) // of texts and numbers
		if e["type"] != nil {
			_, _ = fmt.Fprintf(w, "event: %s\n", e["type"])
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// liveEvents returns a text, or a call of a tool, as each service streams it.
func liveEvents(path, text string, calls []object, used int) []object {
	id := fmt.Sprint("x", time.Now().UnixNano())
	switch isCall := len(calls) > 0; {
	case strings.HasSuffix(path, "/messages"):
		block, delta, stop := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text}, "end_turn"
		if isCall {
			input, _ := json.Marshal(calls[0]["input"])
			block, stop = object{"type": "tool_use", "id": "toolu_" + id, "name": calls[0]["name"], "input": object{}}, "tool_use"
			delta = object{"type": "input_json_delta", "partial_json": string(input)}
		}
		usage := object{"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
		return []object{
			{"type": "message_start", "message": object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "script", "content": []int{}, "usage": usage}},
			{"type": "content_block_start", "index": 0, "content_block": block},
			{"type": "content_block_delta", "index": 0, "delta": delta},
			{"type": "content_block_stop", "index": 0},
			{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 50}},
			{"type": "message_stop"},
		}
	case strings.HasSuffix(path, "/responses"):
		item := object{"type": "message", "role": "assistant", "id": "msg_" + id, "status": "completed", "content": []object{{"type": "output_text", "text": text, "annotations": []int{}}}}
		if isCall {
			input, _ := json.Marshal(calls[0]["input"])
			item = object{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": calls[0]["name"], "namespace": "collaboration", "arguments": string(input), "status": "completed"}
		}
		response := func(status string, output ...object) object {
			return object{"id": "resp_" + id, "object": "response", "status": status, "output": output, "usage": object{"input_tokens": 100, "output_tokens": 50, "total_tokens": 150}}
		}
		return []object{
			{"type": "response.created", "response": response("in_progress")},
			{"type": "response.output_item.done", "output_index": 0, "item": item},
			{"type": "response.completed", "response": response("completed", item)},
		}
	default:
		delta, stop := object{"role": "assistant", "content": text}, "stop"
		if isCall {
			input, _ := json.Marshal(calls[0]["input"])
			delta, stop = object{"role": "assistant", "tool_calls": []object{{"index": 0, "id": "call_" + id, "type": "function", "function": object{"name": calls[0]["name"], "arguments": string(input)}}}}, "tool_calls"
		}
		chunk := func(delta object, stop any) object {
			return object{"id": id, "object": "chat.completion.chunk", "model": "script", "choices": []object{{"index": 0, "delta": delta, "finish_reason": stop}}}
		}
		last := chunk(object{}, stop)
		last["usage"] = object{"prompt_tokens": used, "completion_tokens": 50, "total_tokens": used + 50}
		return []object{chunk(delta, nil), last}
	}
}

// TestLiveClients runs each client that FILEBUS_CLIENTS has (a folder of programs by their names), with filebus in its
// settings and a scripted model: a report is stored once, byte for byte; the parent gets it whole in mode capture, and a
// reference in mode reference; uninstall leaves the settings of before. A failure is stored as failed, but of Codex, which tells
// no hook of it; OpenCode tells the session that it compacts what the store has.
func TestLiveClients(t *testing.T) {
	for name, args := range map[string][]string{
		"claude":   {"-p", "PARENT-AUDIT", "--permission-mode", "default", "--allowedTools", "Agent,Task"},
		"codex":    {"exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", "PARENT-AUDIT"},
		"opencode": {"run", "PARENT-AUDIT"},
	} {
		for _, mode := range []string{"capture", "reference", "failing", "compacted"} {
			if mode == "compacted" && name != "opencode" {
				continue
			}
			t.Run(name+"_"+mode, func(t *testing.T) {
				program := filepath.Join(os.Getenv("FILEBUS_CLIENTS"), name)
				if !filepath.IsAbs(program) || !cli.IsThere(program) {
					t.Skipf("FILEBUS_CLIENTS names no folder with %s", name)
				}
				runLive(t, program, mode, args)
			})
		}
	}
}

func runLive(t *testing.T, program, mode string, args []string) {
	model, name := &liveModel{mode: mode}, filepath.Base(program)
	server := httptest.NewServer(model)
	defer server.Close()
	root := t.TempDir()
	home, project, bin := filepath.Join(root, "home"), filepath.Join(root, "project"), filepath.Join(root, "bin")
	must(t, os.CopyFS(home, os.DirFS(filepath.Join("..", "..", "testdata", "clients", "home"))))
	before := map[string]string{}
	for _, file := range []string{".codex/config.toml", ".config/opencode/opencode.json"} {
		path := filepath.Join(home, file)
		text, err := os.ReadFile(path)
		must(t, err)
		before[path] = strings.ReplaceAll(string(text), "SERVER", server.URL)
		must(t, os.WriteFile(path, []byte(before[path]), 0o600))
	}
	for _, dir := range []string{project, bin} {
		must(t, os.Mkdir(dir, 0o700))
	}
	must(t, os.Symlink(os.Args[0], filepath.Join(bin, "filebus")))
	do := func(limit time.Duration, program string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = project
		cmd.Env = []string{
			"PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LANG=C.UTF-8", "TMPDIR=" + t.TempDir(), "TERM=dumb", "FILEBUS_STATE=off",
			"ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=dummy", "SCRIPT_KEY=dummy", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1",
			"DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		}
		var errText bytes.Buffer
		cmd.Stderr = &errText
		defer time.AfterFunc(limit, func() { _ = cmd.Process.Kill() }).Stop()
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s %q: %v\n%s\n%s", program, args, err, out, errText.String())
		}
		return string(out)
	}
	filebus := func(args ...string) string { return do(time.Minute, filepath.Join(bin, "filebus"), args...) }
	filebus("init")
	if mode == "reference" {
		filebus("config", "set", "hooks.mode", mode)
	}
	filebus("install", name)
	if out := do(3*time.Minute, program, args...); !strings.Contains(out, liveAnswer) && mode != "compacted" { // its task is forgotten then
		t.Errorf("%s says %q", name, out)
	}
	var list struct {
		Records []struct{ Name, Status string }
	}
	must(t, json.Unmarshal([]byte(filebus("list", "result", "--json")), &list))
	stored, want := "", "done "+liveReport()
	for _, r := range list.Records {
		stored += r.Status + " " + strings.TrimSpace(filebus("get", r.Name))
	}
	isFailure := mode == "failing" && strings.HasPrefix(stored, "failed ") && strings.Contains(stored, "SCRIPT-FAILURE") || name == "codex" && stored == ""
	if mode != "failing" && stored != want || mode == "failing" && !isFailure {
		t.Errorf("stored is %q", stored)
	}
	if log := filebus("log"); strings.Count(log, "result/") != len(list.Records) {
		t.Errorf("the log has %s", log)
	}
	whole := strings.Contains(model.parent, "Nobody holds it for long. Ende") // of the end of the report
	if refers := strings.Contains(model.parent, "The lock is taken twice"); mode == "capture" && !whole || mode == "reference" && (whole || !refers) {
		t.Errorf("the parent has the report: %v, and what it says first: %v", whole, refers)
	}
	if mode == "compacted" && !model.told {
		t.Error("the session that was compacted is not told what the store has")
	}
	if page := filebus("doctor"); !strings.Contains(page, "last heard") {
		t.Errorf("doctor says %s", page)
	}
	filebus("uninstall", name)
	for path, text := range before {
		now, err := os.ReadFile(path)
		must(t, err)
		if strings.Contains(string(now), "filebus:begin") || strings.Contains(string(now), `"filebus"`) || !strings.Contains(string(now), strings.Split(text, "\n")[2]) {
			t.Errorf("%s is left as\n%s", path, now)
		}
	}
}
