package lint

import (
	"path"
	"slices"
	"strings"

	"filebus/materialize/layout"
)

// isRoot reports whether a folder is the root of a predefined profile.
func isRoot(folder string) bool {
	switch folder {
	case ".claude", ".orchestrator", ".blue":
		return true
	}
	return false
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
	switch name {
	case "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "copilot-instructions.md", ".cursorrules":
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
	return isInstructionFolder(folders[0])
}

// isAgentFolder reports whether a folder is one in which agents are set up.
func isAgentFolder(name string) bool {
	switch name {
	case ".cursor", ".codex", ".agents", ".gemini", ".opencode":
		return true
	}
	return isRoot(name)
}

// isInstructionFolder reports whether a folder at the top holds instructions, as
// in the repository of a plugin.
func isInstructionFolder(name string) bool {
	switch name {
	case "agents", "commands", "skills", "prompts":
		return true
	}
	return false
}

// isDataFolder reports whether a folder below a root holds what agents wrote.
func isDataFolder(name string) bool {
	switch name {
	case "journal", "lessons", "agent_complete", "complete", "agent_tool_results", "loop_snapshots", "dialogues", "sessions",
		"reports", "docs", "projects", "todos", "plans", "logs", "cache":
		return true
	}
	return false
}
