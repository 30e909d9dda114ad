package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"filebus/cmd/filebus/hook"
)

// A handler is a hook or a server as settings of clients have it.
type handler struct {
	Type    string   `json:"type" toml:"type"`
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args" toml:"args"`
	Timeout int      `json:"timeout" toml:"timeout"`
}

// handlers are all that a client is told to run.
type handlers struct {
	Hooks map[string][]struct {
		Matcher string    `json:"matcher" toml:"matcher"`
		Hooks   []handler `json:"hooks" toml:"hooks"`
	} `json:"hooks" toml:"hooks"`
	Servers map[string]handler `json:"mcpServers" toml:"mcp_servers"`
	Local   map[string]struct {
		Type    string
		Command []string
	} `json:"mcp" toml:"-"`
}

// TestClientCommands installs into the settings of each client and runs what they say, as
// the client would: from its folder, through a shell or without, with an event on
// standard input. All end with 0, and a report is stored.
func TestClientCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs sh and links")
	}
	home, dir, bin := t.TempDir(), t.TempDir(), t.TempDir()
	must(t, os.Symlink(os.Args[0], filepath.Join(bin, "filebus")))
	environment := append(os.Environ(), "HOME="+home, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FILEBUS_STATE="+filepath.Join(home, "state"), "FILEBUS_STORE=", "CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "XDG_CONFIG_HOME=")
	do := func(stdin, name string, args ...string) string {
		t.Helper()
		path := name
		if name == "filebus" {
			path = filepath.Join(bin, name)
		}
		cmd := exec.Command(path, args...)
		cmd.Args[0] = name
		cmd.Dir, cmd.Env, cmd.Stdin = dir, environment, strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	do("", "filebus", "init")
	tests := map[string]struct {
		files  []string
		events []string
	}{
		"claude":   {[]string{".claude/skills/filebus/hooks/hooks.json", ".claude/skills/filebus/.mcp.json"}, hook.Names()},
		"codex":    {[]string{".codex/config.toml"}, []string{"SessionEnd", "SessionStart", "SubagentStart", "SubagentStop", "UserPromptSubmit"}},
		"cursor":   {[]string{".cursor/mcp.json"}, nil},
		"opencode": {[]string{".config/opencode/opencode.json"}, nil},
	}
	for client, test := range tests {
		do("", "filebus", "install", client)
		var all handlers
		for _, file := range test.files {
			text, err := os.ReadFile(filepath.Join(home, file))
			must(t, err)
			if strings.HasSuffix(file, ".toml") {
				must(t, toml.Unmarshal(text, &all))
			} else {
				must(t, json.Unmarshal(text, &all))
			}
		}
		run := func(stdin string, h handler) {
			t.Helper()
			if h.Type != "" && (h.Type != "command" || h.Timeout < 1 || h.Timeout > 10) {
				t.Errorf("%s: the hook %+v", client, h)
			}
			if len(h.Args) == 0 {
				do(stdin, "sh", "-c", h.Command)
				return
			}
			do(stdin, h.Command, h.Args...)
		}
		for event, groups := range all.Hooks {
			for _, group := range groups {
				if _, err := regexp.Compile(group.Matcher); err != nil || len(group.Hooks) != 1 {
					t.Errorf("%s: %s has the group %+v", client, event, group)
				}
				payload := fmt.Sprintf(`{"session_id": "s1", "hook_event_name": %q, "cwd": %q, "agent_id": "of-%s", "agent_type": "Explore",
					"tool_name": "Agent", "last_assistant_message": "What %s has found", "stop_hook_active": false}`, event, dir, client, client)
				run(payload, group.Hooks[0])
				run(payload[:len(payload)/2], group.Hooks[0])
				run("", group.Hooks[0])
			}
		}
		var events []string
		for event := range all.Hooks {
			events = append(events, event)
		}
		slices.Sort(events)
		slices.Sort(test.events)
		if !slices.Equal(events, test.events) {
			t.Errorf("%s has hooks for %q, want %q", client, events, test.events)
		}
		server := all.Servers["filebus"]
		if local := all.Local["filebus"]; local.Type == "local" {
			server.Command, server.Args = local.Command[0], local.Command[1:]
		}
		run("", server)
		if len(test.events) > 0 && !strings.Contains(do("", "filebus", "search", "--json", "found"), "What "+client) {
			t.Errorf("the report to %s is not stored", client)
		}
		do("", "filebus", "uninstall", client)
		for _, file := range test.files {
			if _, err := os.Stat(filepath.Join(home, file)); err == nil {
				t.Errorf("%s is there after uninstall", file)
			}
		}
	}
}
