package setup

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"filebus/store/record"
)

// claudeTargets are a folder that the client takes for a plugin, for all but two parts.
func claudeTargets(o Options) ([]target, error) {
	base, top := o.base("CLAUDE_CONFIG_DIR", ".claude")
	folder := pluginFolder(base)
	if info, err := os.Lstat(folder); err == nil && !info.IsDir() {
		return nil, record.Failed.Errorf("%s is no folder, and left as it is", folder).Because(errSettings)
	}
	known := knownSums(folder)
	sumsFile := filepath.Join(folder, sums)
	all, list := []target{{plugin, sumsFile, top, nil, false}}, ""
	for _, f := range o.pluginFiles() {
		all = append(all, target{f.part, filepath.Join(folder, filepath.FromSlash(f.path)), top, whole{f.body, known}, false})
		list += sumOf(f.body) + "  " + f.path + "\n"
	}
	all[0].edit = whole{[]byte(list), []string{sumOf(readAll(sumsFile))}} // nobody else writes it
	instructions := filepath.Join(base, "CLAUDE.md")
	if o.Project {
		instructions = filepath.Join(o.Root, "CLAUDE.md")
	}
	var allowed entries
	for _, rule := range o.Allowed {
		allowed = append(allowed, entry{at: []string{"permissions", "allow"}, value: rule})
	}
	return append(all,
		target{Permissions, filepath.Join(base, "settings.json"), top, allowed, false},
		o.instructions(instructions, top),
	), nil
}

func pluginFolder(base string) string { return filepath.Join(base, "skills", "filebus") }

// sums is a file with the digests of what we have written beside it, as sha256sum has
// them.
const sums = "filebus.sha256"

// knownSums are the digests of what this and earlier versions have written into the
// folder of the plugin.
func knownSums(folder string) (known []string) {
	for line := range strings.Lines(string(readAll(filepath.Join(folder, sums)))) {
		known = append(known, strings.Fields(line + " -")[0])
	}
	return known
}

func readAll(path string) []byte {
	f, err := readFile(path)
	if err != nil {
		return nil
	}
	return f.was
}

// A pluginFile is a file of the plugin.
type pluginFile struct {
	part, path string
	body       []byte
}

var (
	// skill is what a skill of the client begins with: its name, and when it is used.
	//go:embed skill.txt
	skill string
)

// pluginFiles returns the files of the folder. The manifest is the last, as nothing
// counts without it.
func (o Options) pluginFiles() []pluginFile {
	type object = map[string]any
	about := "Stores what sub-agents report, and finds what earlier work found"
	return []pluginFile{
		{Hooks, "hooks/hooks.json", jsonText(object{"description": about, "hooks": o.hooks(false)})},
		{MCP, ".mcp.json", jsonText(object{"mcpServers": object{"filebus": ourServer()}})},
		{plugin, "skills/filebus/SKILL.md", []byte(skill + "\n" + o.Guide)},
		{plugin, ".claude-plugin/plugin.json", jsonText(object{"name": "filebus", "version": o.Version, "description": about})},
	}
}

// jsonText writes a value of ours in lines.
func jsonText(value any) []byte {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("setup: %v", err)) // it is made of texts and numbers
	}
	return append(text, '\n')
}
