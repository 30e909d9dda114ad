package setup

import (
	"slices"
	"strings"
)

// A group is what runs at an event, in the form that clients share. Its command lines
// are the same in every version: a client may trust exactly these.
type group struct {
	Matcher string    `json:"matcher,omitempty" toml:"matcher,omitempty"`
	Hooks   []handler `json:"hooks" toml:"hooks"`
}

type handler struct {
	Type    string   `json:"type" toml:"type"`
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args,omitempty" toml:"args,omitempty"`
	Timeout int      `json:"timeout" toml:"timeout"` // in seconds
}

// events are those at which filebus is called. An internal agent of a client has no
// type, so a matcher that needs a character leaves it out.
func events() []struct{ name, matcher string } {
	return []struct{ name, matcher string }{
		{"SessionStart", ""}, {"SessionEnd", ""},
		{"PreToolUse", "SubagentHandback"},
		{"PostToolUse", "Agent|Task|SubagentHandback|TaskOutput|AgentOutputTool"},
		{"SubagentStart", ""}, {"SubagentStop", "^.+$"}, {onPrompt, ""},
	}
}

const onPrompt = "UserPromptSubmit"

// hooks returns the groups by their events. Codex takes one line for a shell, and has
// no tool by which a sub-agent reports.
func (o Options) hooks(codex bool) map[string][]group {
	all := map[string][]group{}
	for _, e := range events() {
		if e.name == onPrompt && !o.Prompts && !o.leaves || codex && strings.HasSuffix(e.name, "ToolUse") {
			continue
		}
		h := handler{Type: "command", Command: "filebus", Args: []string{"hook", e.name}, Timeout: 10}
		if e.name == "SessionEnd" {
			h.Timeout = 3 // more is not granted
		}
		if codex {
			h.Command, h.Args, e.matcher = "filebus hook --client codex "+e.name, nil, ""
		}
		all[e.name] = []group{{e.matcher, []handler{h}}}
	}
	return all
}

// hookEntries are the hooks as entries of a file of settings.
func (o Options) hookEntries(codex bool) (all entries) {
	hooks := o.hooks(codex)
	for _, e := range slices.Backward(events()) { // each is put before the others
		if groups := hooks[e.name]; groups != nil {
			all = append(all, entry{at: []string{"hooks", e.name}, value: groups[0], alike: runsHook})
		}
	}
	return all
}

// runsHook reports whether a group of a client's settings calls filebus, and nothing
// else.
func runsHook(value any) bool {
	g, _ := value.(map[string]any)
	handlers, _ := g["hooks"].([]any)
	return len(handlers) > 0 && !slices.ContainsFunc(handlers, func(h any) bool {
		handler, _ := h.(map[string]any)
		command, _ := handler["command"].(string)
		return !strings.HasPrefix(command, "filebus hook ") && command != "filebus"
	})
}
