package setup

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

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

// Options say what is put where.
type Options struct {
	Client  string
	Project bool                // in the project; else for the user
	Parts   []string            // none: the usual ones, and to uninstall, all
	Prompts bool                // a hook for each prompt too
	Version string              // of filebus, for the manifest
	Guide   string              // what an agent is told, in Markdown
	Allowed []string            // the commands that need no question
	Root    string              // the project's folder
	Home    string              // the user's; "": not known
	Getenv  func(string) string // the environment

	leaves bool
}

// A Client is a program that runs agents.
type Client struct {
	Name, Title  string
	Parts, usual []string                        // what it takes
	hooksNext    string                          // what makes it run the hooks
	next         string                          // what makes it notice the rest
	targets      func(Options) ([]target, error) // where the parts go
}

// Clients returns all clients.
func Clients() []Client {
	return []Client{
		{"claude", "Claude Code", []string{Hooks, MCP, Permissions, Instructions}, []string{Hooks, MCP}, "",
			"it is loaded by the next session, or by /reload-plugins; in a project it waits until the folder is trusted, and the " +
				"server until it is approved; claude plugin disable filebus@skills-dir switches it off", claudeTargets},
		{"codex", "Codex", []string{Hooks, MCP, Instructions}, []string{Hooks, MCP},
			"each hook is skipped until you trust it: type /hooks in Codex",
			"start Codex anew; of a project, its settings count once the project is trusted", codexTargets},
		{"cursor", "Cursor", []string{MCP, Instructions}, []string{MCP}, "",
			"start Cursor anew, and switch the server filebus on if its settings show it off", cursorTargets},
		{"opencode", "OpenCode", []string{MCP, Instructions}, []string{MCP, Instructions}, "", "start OpenCode anew", opencodeTargets},
	}
}

// following says what is left to the user.
func (o Options) following() []string {
	c := clientOf(o.Client)
	switch {
	case o.leaves:
		return []string{"a session of " + c.Title + " that runs goes on with what it has loaded"}
	case c.hooksNext != "" && slices.Contains(o.parts(c), Hooks):
		return []string{c.hooksNext, c.next}
	}
	return []string{c.next}
}

func clientOf(name string) (c Client) {
	for _, c := range Clients() {
		if c.Name == name {
			return c
		}
	}
	return c
}

func (o Options) parts(c Client) []string {
	switch {
	case len(o.Parts) > 0:
		return o.Parts
	case o.leaves:
		return c.Parts
	}
	return c.usual
}

// A target is a part and its file.
type target struct {
	part, path string
	top        string // a folder that stays, even if it gets empty
	edit       edit
	or         bool // the target before it does as well
}

// targets returns those of the parts that are asked for.
func (o Options) targets() ([]target, error) {
	c := clientOf(o.Client)
	parts := slices.Clone(o.parts(c))
	for _, part := range parts {
		if !slices.Contains(c.Parts, part) {
			return nil, record.Usage.Errorf("%s takes no %s from filebus, only %s", c.Title, part, strings.Join(c.Parts, ", "))
		}
	}
	if o.Home == "" && !o.Project {
		return nil, record.Usage.Errorf("the home folder is not known").Try("set HOME, or run it again with --project")
	}
	hasHooks, hasMCP := slices.Contains(parts, Hooks), slices.Contains(parts, MCP)
	if hasHooks && hasMCP || !o.leaves && (hasHooks || hasMCP) {
		parts = append(parts, plugin)
	}
	all, err := c.targets(o)
	if err != nil {
		return nil, err
	}
	chosen := all[:0:0]
	for i, t := range all {
		isBest := o.leaves || !t.or && !isElsewhere(t, all[i+1:]) || t.or && isElsewhere(all[i-1], all[i:])
		if isBest && slices.Contains(parts, t.part) {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 {
		return nil, record.Usage.Errorf("%s has no file for the %s of a user", c.Title, strings.Join(o.Parts, " and ")).
			Try("run it again with --project")
	}
	if o.leaves {
		slices.Reverse(chosen)
	}
	return chosen, nil
}

// isElsewhere reports whether the other target of a part is the one to take: the part is
// in its file, or its file is the one that is there.
func isElsewhere(t target, rest []target) bool {
	if len(rest) == 0 || !rest[0].or {
		return false
	}
	isIn := func(t target) (exists, in bool) {
		f, err := readFile(t.path)
		if err != nil || f.was == nil {
			return err != nil, false
		}
		now, kept, err := t.edit.remove(f.was, false)
		return true, err == nil && (len(kept) > 0 || string(now) != string(f.was))
	}
	exists, in := isIn(t)
	otherExists, otherIn := isIn(rest[0])
	return !in && (otherIn || !exists && otherExists)
}

// base returns the folder of a client's settings, and the one around it.
func (o Options) base(variable, name string) (base, top string) {
	if o.Project {
		return filepath.Join(o.Root, name), o.Root
	}
	if dir := o.Getenv(variable); variable != "" && filepath.IsAbs(dir) {
		return dir, dir
	}
	return filepath.Join(o.Home, name), o.Home
}

// instructions returns the block for a file that agents read.
func (o Options) instructions(path, top string) target {
	return target{Instructions, path, top, block{name: Instructions, open: "<!-- ", close: " -->", body: o.Guide}, false}
}

func codexTargets(o Options) ([]target, error) {
	base, top := o.base("CODEX_HOME", ".codex")
	var text strings.Builder
	encoder := toml.NewEncoder(&text)
	encoder.Indent = ""
	err := encoder.Encode(map[string]any{"hooks": o.hooks(true)})
	lists := strings.TrimLeft(strings.Replace(text.String(), "[hooks]\n", "", 1), "\n") // the user may have begun the table
	hooks := block{name: Hooks, open: "# ", body: lists}
	tables := []toml.Key{{"hooks"}}
	for event := range o.hooks(true) {
		tables = append(tables, toml.Key{"hooks", event})
	}
	hooks.check = checkTOML(hooks, tables, nil)
	server := block{name: MCP, open: "# ", body: "[mcp_servers.filebus]\ncommand = \"filebus\"\nargs = [\"mcp\"]\n"}
	server.check = checkTOML(server, []toml.Key{{"mcp_servers"}}, toml.Key{"mcp_servers", "filebus"})
	file := filepath.Join(base, "config.toml")
	instructions := filepath.Join(base, "AGENTS.md")
	if o.Project {
		instructions = filepath.Join(o.Root, "AGENTS.md")
	}
	return []target{
		{Hooks, file, top, hooks, false},
		{Hooks, filepath.Join(base, "hooks.json"), top, o.hookEntries(true), true},
		{MCP, file, top, server, false},
		o.instructions(instructions, top),
	}, err
}

func cursorTargets(o Options) ([]target, error) {
	base, top := o.base("", ".cursor")
	edit := entries{serverEntry("mcpServers", ourServer())}
	all := []target{{MCP, filepath.Join(base, "mcp.json"), top, edit, false}}
	if o.Project {
		all = append(all, o.instructions(filepath.Join(o.Root, "AGENTS.md"), top))
	}
	return all, nil
}

func opencodeTargets(o Options) ([]target, error) {
	base, top := o.Root, o.Root
	if !o.Project {
		top = cmp.Or(o.Getenv("XDG_CONFIG_HOME"), filepath.Join(o.Home, ".config"))
		base = filepath.Join(top, "opencode")
	}
	edit := entries{serverEntry("mcp", struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}{"local", []string{"filebus", "mcp"}, true})}
	return []target{
		{MCP, filepath.Join(base, "opencode.json"), top, edit, false},
		{MCP, filepath.Join(base, "opencode.jsonc"), top, edit, true},
		o.instructions(filepath.Join(base, "AGENTS.md"), top),
	}, nil
}

// A server is how clients start a program for tools.
type server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func ourServer() server { return server{"filebus", []string{"mcp"}} }

func serverEntry(holder string, value any) entry {
	return entry{at: []string{holder}, name: "filebus", value: value}
}
