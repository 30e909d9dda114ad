package setup

import (
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"

	"filebus/store/record"
)

// The parts of which a client has some.
const (
	Hooks        = "hooks"
	MCP          = "mcp"
	Permissions  = "permissions"
	Instructions = "instructions"

	plugin = "plugin" // what a folder of ours needs besides hooks or the server
)

// Options say what is put where, or taken out.
type Options struct {
	Client  string
	Project bool                // in the project; else for the user
	Parts   []string            // none: the usual ones, and to leave, all
	Leave   bool                // take the parts out
	Force   bool                // even what the user has changed
	Prompts bool                // a hook for each prompt too
	Version string              // of filebus, for the manifest
	Guide   string              // what an agent is told, in Markdown
	Root    string              // the project's folder
	Home    string              // the user's; "": not known
	Getenv  func(string) string // the environment
}

// A client is a program that runs agents.
type client struct {
	name, title string
	usual       int      // how many of its parts are put in if none is asked for
	parts       []string // what it takes
	next        []string // what makes it notice them
	home        [3]string
}

// clients returns all clients. Their homes are the variable that names the folder of
// settings, where that is without it, and where it is in a project.
func clients() []client {
	return []client{
		{"claude", "Claude Code", 2, []string{Hooks, MCP, Permissions, Instructions}, []string{
			"it is loaded by the next session of Claude Code, or by /reload-plugins; in a project once its folder is trusted and " +
				"the server approved; claude plugin disable filebus@skills-dir switches it off"},
			[3]string{"CLAUDE_CONFIG_DIR", ".claude", ".claude"}},
		{"codex", "Codex", 2, []string{Hooks, MCP, Instructions}, []string{
			"start Codex anew; of a project, the settings count once it is trusted",
			"each hook is skipped until you trust it: type /hooks in Codex"}, [3]string{"CODEX_HOME", ".codex", ".codex"}},
		{"cursor", "Cursor", 1, []string{MCP, Instructions}, []string{
			"start Cursor anew, and switch the server filebus on if its settings show it off"}, [3]string{"", ".cursor", ".cursor"}},
		{"opencode", "OpenCode", 2, []string{MCP, Instructions}, []string{"start OpenCode anew"},
			[3]string{"", ".config/opencode", ""}},
	}
}

// Clients returns the names of the clients.
func Clients() (names []string) {
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
}

// A target is a part, its file, and how it gets in.
type target struct {
	part, path string
	edit       edit
	top        string // a folder that stays, even if it gets empty
}

// targets returns those of the parts that are asked for, and what to do then.
func (o Options) targets() (chosen []target, next []string, err error) {
	all := clients()
	c := all[slices.IndexFunc(all, func(c client) bool { return c.name == o.Client })]
	parts := slices.Clone(o.Parts)
	if len(parts) == 0 {
		parts = c.parts[:map[bool]int{true: len(c.parts), false: c.usual}[o.Leave]]
	}
	for _, part := range parts {
		if !slices.Contains(c.parts, part) {
			return nil, nil, record.Usage.Errorf("%s takes no %s from filebus, only %s", c.title, part, strings.Join(c.parts, ", "))
		}
	}
	if o.Home == "" && !o.Project {
		return nil, nil, record.Usage.Errorf("the home folder is not known").Try("set HOME, or run it again with --project")
	}
	has := func(part string) bool { return slices.Contains(parts, part) }
	for _, t := range o.places(c) {
		if has(t.part) || t.part == plugin && (has(Hooks) && has(MCP) || !o.Leave && (has(Hooks) || has(MCP))) {
			chosen = append(chosen, t)
		}
	}
	if next = c.next; o.Leave {
		slices.Reverse(chosen)
		next = []string{"a session of " + c.title + " that runs goes on with what it has loaded"}
	} else if !has(Hooks) {
		next = next[:1]
	}
	if len(chosen) == 0 {
		err = record.Usage.Errorf("%s has no file for the %s of a user", c.title, strings.Join(parts, " and ")).
			Try("run it again with --project")
	}
	return chosen, next, err
}

// places returns where all parts of a client go.
func (o Options) places(c client) (all []target) {
	base, top := filepath.Join(o.Home, c.home[1]), o.Home
	if dir := o.Getenv(c.home[0]); c.home[0] != "" && filepath.IsAbs(dir) {
		base, top = dir, dir
	} else if dir := o.Getenv("XDG_CONFIG_HOME"); c.name == "opencode" && filepath.IsAbs(dir) {
		base, top = filepath.Join(dir, "opencode"), dir
	}
	words := base
	if o.Project {
		base, top, words = filepath.Join(o.Root, c.home[2]), o.Root, o.Root
	}
	add := func(part, file string, e edit) { all = append(all, target{part, filepath.Join(base, file), e, top}) }
	switch c.name {
	case "claude":
		o.plugin(base, add)
		for rule := range strings.SplitSeq(strings.TrimSpace(o.render("allow.txt")), "\n") {
			add(Permissions, "settings.json", entry{at: []string{"permissions", "allow"}, value: rule})
		}
	case "codex":
		hooks := block{name: Hooks, open: "# ", body: o.render("hooks.toml"), tables: []string{"hooks"}}
		for _, m := range regexp.MustCompile(`\[\[(hooks\.\w+)\]\]`).FindAllStringSubmatch(hooks.body, -1) {
			hooks.tables = append(hooks.tables, m[1])
		}
		add(Hooks, "config.toml", hooks)
		add(MCP, "config.toml", block{name: MCP, open: "# ", body: o.render("mcp.toml"),
			key: toml.Key{"mcp_servers", "filebus"}, tables: []string{"mcp_servers"}})
	case "cursor":
		server := json.RawMessage(`{"command": "filebus", "args": ["mcp"]}`)
		add(MCP, "mcp.json", entry{[]string{"mcpServers"}, "filebus", server})
	case "opencode":
		server := json.RawMessage(`{"type": "local", "command": ["filebus", "mcp"], "enabled": true}`)
		for _, file := range []string{"opencode.jsonc", "opencode.json"} { // the one that is there
			if _, err := os.Lstat(filepath.Join(base, file)); err == nil || o.Leave || file == "opencode.json" {
				add(MCP, file, entry{[]string{"mcp"}, "filebus", server})
			}
			if len(all) > 0 && !o.Leave {
				break
			}
		}
	}
	if o.Project || c.name != "cursor" {
		file := map[bool]string{true: "CLAUDE.md", false: "AGENTS.md"}[c.name == "claude"]
		all = append(all, target{Instructions, filepath.Join(words, file),
			block{name: Instructions, open: "<!-- ", close: " -->", body: o.Guide}, top})
	}
	return all
}

// sums is a file with the digests of what we have written beside it, as sha256sum has
// them: by it an earlier version's files are known for ours.
const sums = "filebus.sha256"

var (
	// templates are the files that are made, with what differs left open.
	//go:embed templates
	templates embed.FS
)

// render returns a file that is made.
func (o Options) render(name string) string {
	var out strings.Builder
	all := template.Must(template.ParseFS(templates, "templates/*")) // a test renders each
	if err := all.ExecuteTemplate(&out, name, o); err != nil {
		panic(fmt.Sprintf("setup: %v", err))
	}
	return out.String()
}

// plugin adds a folder that the client takes for a plugin. The manifest is the last, as
// nothing counts without it.
func (o Options) plugin(base string, add func(part, file string, e edit)) {
	folder := filepath.Join("skills", "filebus")
	was, _ := os.ReadFile(filepath.Join(base, folder, sums)) // without it there is nothing to know
	files, list := [][3]string{
		{Hooks, "hooks/hooks.json", "hooks.json"}, {MCP, ".mcp.json", "mcp.json"},
		{plugin, "skills/filebus/SKILL.md", "skill.txt"}, {plugin, ".claude-plugin/plugin.json", "plugin.json"},
	}, ""
	for _, f := range files {
		list += digestOf(o.render(f[2])) + "  " + f[1] + "\n"
	}
	add(plugin, filepath.Join(folder, sums), whole{list, []string{digestOf(string(was))}}) // nobody else writes it
	for _, f := range files {
		add(f[0], filepath.Join(folder, f[1]), whole{o.render(f[2]), strings.Fields(string(was))})
	}
}
