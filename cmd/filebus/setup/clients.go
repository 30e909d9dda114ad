package setup

import (
	"bytes"
	"embed"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"filebus/store/record"
)

// Options say what is put where, or taken out. Without a part, it is the usual ones, and
// to leave, all.
type Options struct {
	Hooks        bool `flag:"hooks"`
	MCP          bool `flag:"mcp"`
	Permissions  bool `flag:"permissions"`
	Instructions bool `flag:"instructions"`
	Project      bool `flag:"project"` // in the project; else for the user
	DryRun       bool `flag:"dry-run"` // say what would be done

	Leave      bool                // take the parts out
	Version    string              // of filebus, for the manifest
	Guide      string              // what an agent is told, in Markdown
	Root, Home string              // the folders of the project and of the user; "": not known
	Getenv     func(string) string // the environment
}

// A client is a program that runs agents. The file clients.toml says what its fields are.
type client struct {
	Name, Title, Variable, Folder, Below string
	Parts, Usual, Next                   []string
	Files                                []part
	Trust                                *trust
}

// A trust says where the client keeps what the user has trusted: a value at names of one of some files, which may hold
// {root}, {file}, that of the hooks, and {index}, that of our group of hooks in it.
type trust struct {
	User, Names []string
	Projects    bool // it is asked of projects alone
	How         string
}

type part struct {
	Part, Form, Text     string
	File                 string // in a folder of ours
	Names, User, Project []string
}

var (
	// templates are the files that are made, with what differs left open, and the clients.
	//go:embed templates
	templates embed.FS
)

// A target is a part, its file, and how it gets in.
type target struct {
	part, path string
	edit       edit
	top        string // a folder that stays, even if it gets empty
}

func clients() []client {
	var all struct{ Client []client }
	_, _ = toml.DecodeFS(templates, "templates/clients.toml", &all) // it is in the program
	return all.Client
}

// otherUser returns another client that reads the same instructions and has something of ours in its own settings, or "".
func (o Options) otherUser(name, path string) string {
	for _, c := range clients() {
		all := o.places(c)
		reads := func(t target) bool { return t.part == "instructions" && t.path == path }
		uses := func(t target) bool { return t.part != "instructions" && t.isIn() }
		if c.Name != name && slices.ContainsFunc(all, reads) && slices.ContainsFunc(all, uses) {
			return c.Title
		}
	}
	return ""
}

// isIn reports whether the file has something of ours.
func (t target) isIn() bool {
	f, err := readFile(t.path, t.top)
	if err != nil {
		return false
	}
	now, err := t.edit.remove(bytes.TrimPrefix(f.is, []byte(byteOrderMark)))
	return err != nil || !isSame(now, bytes.TrimPrefix(f.is, []byte(byteOrderMark)))
}

// clientOf returns a client by its name, and those of its parts that are asked for.
func (o Options) clientOf(name string) (c client, parts []string, err error) {
	all := clients()
	i := slices.IndexFunc(all, func(c client) bool { return c.Name == name })
	if i < 0 {
		return c, nil, record.Usage.Errorf("%q is none of claude, codex, cursor, opencode", name)
	}
	c = all[i]
	asked := map[string]bool{"hooks": o.Hooks, "mcp": o.MCP, "permissions": o.Permissions, "instructions": o.Instructions}
	maps.DeleteFunc(asked, func(_ string, is bool) bool { return !is })
	parts = slices.Sorted(maps.Keys(asked))
	for _, part := range parts {
		if !slices.Contains(c.Parts, part) {
			return c, nil, record.Usage.Errorf("%s takes no %s from filebus, only %s", c.Title, part, strings.Join(c.Parts, ", "))
		}
	}
	switch {
	case len(parts) == 0 && o.Leave:
		parts = c.Parts
	case len(parts) == 0:
		parts = c.Usual
	}
	return c, parts, nil
}

// targets returns what the parts that are asked for are put into, and what to do then.
func (o Options) targets(name string) (chosen []target, next []string, err error) {
	c, parts, err := o.clientOf(name)
	if err != nil {
		return nil, nil, err
	}
	if o.Home == "" && !o.Project {
		return nil, nil, record.Usage.Errorf("the home folder is not known").Try("set HOME, or run it again with --project")
	}
	has := func(part string) bool { return slices.Contains(parts, part) }
	if has("hooks") && has("mcp") || !o.Leave && (has("hooks") || has("mcp")) {
		parts = append(slices.Clone(parts), "plugin") // what a folder of ours needs besides
	}
	chosen = slices.DeleteFunc(o.places(c), func(t target) bool { return !has(t.part) })
	if next = c.Next; !has("hooks") {
		next = next[:1]
	}
	if o.Leave {
		slices.Reverse(chosen)
		if next = nil; c.Folder != "" {
			next = []string{"a session of " + c.Title + " that runs goes on with what it has loaded"}
		}
	}
	if len(chosen) == 0 {
		err = record.Usage.Errorf("%s has no file for the %s of a user", c.Title, strings.Join(parts, " and ")).
			Try("run it again with --project")
	}
	return chosen, next, err
}

// places returns where all parts of a client go.
func (o Options) places(c client) (all []target) {
	top, base := o.Home, filepath.Join(o.Home, filepath.FromSlash(c.Folder), c.Below)
	if dir := o.Getenv(c.Variable); c.Variable != "" && filepath.IsAbs(dir) {
		top, base = dir, filepath.Join(dir, c.Below)
	}
	if o.Project {
		top, base = o.Root, o.Root
	}
	for _, p := range c.Files {
		paths := p.User
		if o.Project {
			paths = p.Project
		}
		for i, path := range paths {
			path = filepath.Join(base, filepath.FromSlash(path))
			if _, err := os.Lstat(path); err != nil && i < len(paths)-1 {
				continue
			}
			for _, e := range o.edits(c, p, path) {
				all = append(all, target{p.Part, filepath.Join(path, filepath.FromSlash(p.File)), e, top})
			}
			if !o.Leave {
				break
			}
		}
	}
	return all
}

// sums is a file with the digests of what we have written beside it, as sha256sum has
// them: by it an earlier version's files are known for ours.
const sums = "filebus.sha256"

// edits returns what puts a part into a file, or into a folder.
func (o Options) edits(c client, p part, path string) (all []edit) {
	text := o.render(p.Text)
	switch p.Form {
	case "json":
		for line := range strings.Lines(text) {
			all = append(all, entry{p.Names, json.RawMessage(strings.TrimSpace(line))})
		}
		return all
	case "toml":
		return []edit{block{name: p.Part, open: "# ", body: text, key: strings.Join(p.Names, ".")}}
	case "script":
		return []edit{block{name: p.Part, open: "// ", body: text}}
	case "markdown":
		return []edit{block{name: p.Part, open: "<!-- ", close: " -->", body: text}}
	}
	old, _ := readFile(filepath.Join(path, sums), "") // without it there is nothing to know
	known := strings.Fields(string(old.was))
	if p.File == sums {
		known = []string{digestOf(string(old.was))} // nobody else writes it
		for _, f := range c.Files {
			if f.Form == p.Form && f.File != sums {
				text += digestOf(o.render(f.Text)) + "  " + f.File + "\n"
			}
		}
	}
	return []edit{whole{text, known}}
}

// render returns a file that is made: two values need no language of templates.
func (o Options) render(name string) string {
	text, _ := templates.ReadFile("templates/" + name) // a test renders each
	return strings.NewReplacer("{{.Guide}}\n", o.Guide, "{{.Version}}", strconv.Quote(o.Version)).Replace(string(text))
}
