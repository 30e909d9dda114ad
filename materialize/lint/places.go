package lint

import (
	"path"
	"slices"
	"strings"

	"filebus/materialize/layout"
)

// isRoot reports whether a folder is the root of a predefined profile.
func isRoot(folder string) bool {
	return slices.Contains([]string{".claude", ".orchestrator", ".blue"}, folder)
}

// baseOf returns the folder in which the root of a path's layout lies: what is
// below two roots of one folder belongs together.
func baseOf(full string, p layout.Profile) string {
	if at := strings.LastIndex("/"+full, "/"+p.Root+"/"); at >= 0 && p.Root != "" {
		return full[:max(at-1, 0)]
	}
	segments := strings.Split(full, "/")
	for i := len(segments) - 2; i >= 0; i-- {
		if isRoot("." + strings.TrimPrefix(segments[i], ".")) {
			return strings.Join(segments[:i], "/")
		}
	}
	return ""
}

// isInstruction reports whether a file that no layout knows tells agents what to
// do: CLAUDE.md and its like, and the Markdown of agents, commands and skills.
func isInstruction(full string, p layout.Profile) bool {
	name := path.Base(full)
	known := []string{"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "copilot-instructions.md",
		".cursorrules"}
	if slices.Contains(known, name) {
		return true
	}
	if ext := strings.ToLower(path.Ext(name)); ext != ".md" && ext != ".mdc" {
		return false
	}
	folders := strings.Split(path.Dir(full), "/")
	for i, folder := range slices.Backward(folders) {
		if !isAgentFolder(folder) && folder != p.Root {
			continue
		}
		// What lies in the folders for data is none, even if no layout knows it.
		return i+1 == len(folders) || !isDataFolder(folders[i+1])
	}
	// As in the repository of a plugin.
	return slices.Contains([]string{"agents", "commands", "skills", "prompts"}, folders[0])
}

// isAgentFolder reports whether a folder is one in which agents are set up.
func isAgentFolder(name string) bool {
	return isRoot(name) || slices.Contains([]string{".cursor", ".codex", ".agents", ".gemini", ".opencode"}, name)
}

// isDataFolder reports whether a folder below a root holds what agents wrote.
func isDataFolder(name string) bool {
	return slices.Contains([]string{
		"journal", "lessons", "agent_complete", "complete", "agent_tool_results", "loop_snapshots", "dialogues",
		"sessions",
		"reports", "docs", "projects", "todos", "plans", "logs", "cache",
	}, name)
}
