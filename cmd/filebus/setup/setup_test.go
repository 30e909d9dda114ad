package setup_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/setup"
)

// A target is a client with what is put into it.
type target struct {
	client string
	setup.Options
}

func (o target) plan() (*setup.Plan, error) { return setup.New(o.client, o.Options) }

// usual returns options for a client in folders of their own.
func usual(root, client string, parts ...string) target {
	has := func(part string) bool { return slices.Contains(parts, part) }
	return target{client, setup.Options{
		Hooks: has("hooks"), MCP: has("mcp"), Permissions: has("permissions"), Instructions: has("instructions"), Version: "v1.2.3", Guide: "## filebus\n\n- `filebus search WORDS`: Find\n",
		Root: filepath.Join(root, "project"), Home: filepath.Join(root, "home"), Getenv: func(string) string { return "" },
	}}
}

// apply plans and does it.
func apply(p *setup.Plan, err error) (*setup.Plan, error) {
	if err == nil {
		err = p.Apply()
	}
	return p, err
}

// isChanged reports whether a plan does anything.
func isChanged(p *setup.Plan) bool {
	return slices.ContainsFunc(p.Files, func(f *setup.File) bool { return f.Action != setup.Unchanged })
}

// leave plans to take out.
func leave(o target) (*setup.Plan, error) {
	o.Leave = true
	return o.plan()
}

// partsOf are the parts of a client.
func partsOf(client string) []string {
	return map[string][]string{
		"claude": {"hooks", "mcp", "permissions", "instructions"}, "codex": {"hooks", "mcp", "instructions"},
		"opencode": {"hooks", "mcp", "instructions"}, "cursor": {"mcp"},
	}[client]
}

// put writes files below a folder.
func put(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tree returns the files below a folder, with their modes.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all[filepath.ToSlash(name)] = fmt.Sprintf("%v\n%s", info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// shapes are settings and instructions as users have them, each odd in another way.
func shapes() map[string]struct {
	client, path, text string
	want               string // is in it after
} {
	const json, codex = "home/.claude/settings.json", "home/.codex/config.toml"
	return map[string]struct{ client, path, text, want string }{
		"comments and trailing commas": {"claude", json, "// mine\n{\n  // which model\n  \"model\": \"opus\", /* the big one */\n" +
			"  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls:*)\", // harmless\n    ],\n  },\n}\n// end", "search\",\n      \"Bash(ls:*)\", // harmless"},
		"tabs":                           {"claude", json, "{\n\t\"permissions\": {\n\t\t\"deny\": [\"Read(.env)\"]\n\t},\n\t\"env\": {\"A\": \"1\"}\n}\n", "\n\t\t\"allow\": [\n\t\t\t\"Bash"},
		"CRLF":                           {"claude", json, "{\r\n    \"permissions\": {\r\n        \"allow\": []\r\n    }\r\n}\r\n", "\r\n"},
		"one line":                       {"claude", json, `{"permissions":{"allow":["Bash(git status)"],"defaultMode":"acceptEdits"},"z":[1,2.50,1e3,"\u00e9"]}`, `"Bash(git status)"`},
		"mark":                           {"claude", json, "\ufeff{ }", "\ufeff{\"permissions\""},
		"empty in two lines":             {"claude", json, "{\n}\n", "{\"permissions\""},
		"same names elsewhere":           {"claude", json, "{\n \"mcp\": {\"permissions\": null},\n \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}\n}", "say done"},
		"other servers":                  {"cursor", "home/.cursor/mcp.json", "{\"mcpServers\": {\n    \"github\": {\"url\": \"https://x/?a=1&b=<2>\"}\n}}", "&b=<2>"},
		"comment in an empty object":     {"opencode", "home/.config/opencode/opencode.jsonc", "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": { /* none yet */ },\n}", "none yet"},
		"tables without an end":          {"codex", codex, "model = \"o5\" # fast\n\n[[hooks.SubagentStop]]\n[[hooks.SubagentStop.hooks]]\ntype = \"command\"\ncommand = '''x\ny'''", "client codex"},
		"tables of Windows":              {"codex", codex, "\ufeff[projects.'C:\\src']\r\ntrust_level = \"trusted\"\r\n\r\n\r\n", "[mcp_servers.filebus]\r\n"},
		"instructions without an end":    {"codex", "home/.codex/AGENTS.md", "# Правила\n\nДумай.   \n```sh\nmake\n", "filebus search"},
		"instructions with other blocks": {"claude", "home/.claude/CLAUDE.md", "<!-- other:begin -->\nx\n<!-- other:end -->\n@AGENTS.md\n\n\n\n", "filebus search"},
		"bytes that are no text":         {"opencode", "home/.config/opencode/AGENTS.md", "caf\xe9\r\n\x00\xff\r", "filebus search"},
		"empty settings":                 {"claude", json, "", "\"allow\": [\n      \"Bash("},
		"settings of a mark alone":       {"opencode", "home/.config/opencode/opencode.json", "\ufeff", "\ufeff{\n  \"mcp\": {"},
		"settings of white space":        {"cursor", "home/.cursor/mcp.json", " \r\n\t\n", "\t\n{\n  \"mcpServers\""},
		"an empty file":                  {"claude", "home/.claude/CLAUDE.md", "", "filebus search"},
		"only a line end":                {"codex", codex, "\n", "mcp_servers"},
	}
}

// TestUndone holds that uninstalling leaves what install found, byte for byte, and that
// a second time changes nothing.
func TestUndone(t *testing.T) {
	t.Parallel()
	for name, shape := range shapes() {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, map[string]string{shape.path: shape.text})
			before := tree(t, root)
			o := usual(root, shape.client, partsOf(shape.client)...)
			if _, err := apply(o.plan()); err != nil {
				t.Fatal(err)
			}
			installed := tree(t, root)
			if got := installed[shape.path]; !strings.Contains(got, shape.want) || got == before[shape.path] {
				t.Errorf("install wrote\n%s\nwant in it\n%s", got, shape.want)
			}
			again, err := apply(o.plan())
			if err != nil || isChanged(again) {
				t.Errorf("installing again: %v\n%v", err, again)
			}
			if _, err := apply(leave(usual(root, shape.client))); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, tree(t, root)); diff != "" {
				t.Errorf("after uninstall (-before +after):\n%s\nwith:\n%s", diff, installed[shape.path])
			}
		})
	}
}

// TestPartByPart installs in another order than it uninstalls.
func TestPartByPart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, part := range []string{"mcp", "hooks", "instructions"} {
		if _, err := apply(usual(root, "codex", part).plan()); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"mcp", "instructions", "hooks"} {
		if _, err := apply(leave(usual(root, "codex", part))); err != nil {
			t.Fatal(err)
		}
	}
	if left := tree(t, root); len(left) > 0 {
		t.Errorf("there is left: %v", left)
	}
}

// TestRefused holds that what is not understood is named, and not touched.
func TestRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ client, path, text, want string }{
		"half":             {"cursor", "home/.cursor/mcp.json", "{\n \"mcpServers\": {\n", "mcp.json: line 3"},
		"only a comment":   {"cursor", "home/.cursor/mcp.json", "\ufeff// mine\r\n", "unexpected EOF"},
		"a list":           {"cursor", "home/.cursor/mcp.json", "\n[]", "line 2: the file begins with no {"},
		"null":             {"cursor", "home/.cursor/mcp.json", "{\n\"mcpServers\": null}", "line 2: the file.mcpServers begins with no {"},
		"twice":            {"cursor", "home/.cursor/mcp.json", "{\"mcpServers\":{},\n\"mcpServers\":{}}", "there twice"},
		"single quotes":    {"claude", "home/.claude/settings.json", "{'a': 1}", "line 1"},
		"a text for rules": {"claude", "home/.claude/settings.json", `{"permissions":{"allow":"all"}}`, "allow begins with no ["},
		"UTF-16":           {"claude", "home/.claude/settings.json", "\xff\xfe{\x00}\x00", "line 1"},
		"deep":             {"claude", "home/.claude/settings.json", strings.Repeat("[", 256<<10), "settings.json: line 2"},
		"huge":             {"claude", "home/.claude/settings.json", strings.Repeat(" ", 1<<20) + "{}", "more than 256 KiB"},
		"deep value":       {"cursor", "home/.cursor/mcp.json", `{"mcpServers": {"filebus": ` + strings.Repeat("[", 127<<10) + strings.Repeat("]", 127<<10) + "}, }x", "mcp.json: line 1"},
		"deep TOML":        {"codex", "home/.codex/config.toml", "a = " + strings.Repeat("[", 255<<10), "config.toml: line 1"},
		"TOML":             {"codex", "home/.codex/config.toml", "a = 1\nb = [\n", "line"},
		"table in a line":  {"codex", "home/.codex/config.toml", "hooks = {}\n", "hooks is a value"},
		"hooks in a line":  {"codex", "home/.codex/config.toml", "[hooks]\nSubagentStop = []\n", "hooks is there in a form"},
		"half a block":     {"codex", "home/.codex/AGENTS.md", "x\n<!-- filebus:begin instructions 1 -->\n", "AGENTS.md: line 2"},
		"two blocks": {"codex", "home/.codex/AGENTS.md", strings.Repeat("<!-- filebus:begin instructions 1 -->\n"+
			"<!-- filebus:end instructions -->\n", 2), "several"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, map[string]string{test.path: test.text})
			before := tree(t, root)
			_, err := apply(usual(root, test.client, partsOf(test.client)...).plan())
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), filepath.Base(test.path)) {
				t.Errorf("Install: %v, want %q", err, test.want)
			}
			if diff := cmp.Diff(before, tree(t, root)); diff != "" {
				t.Errorf("the refused install changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestKept holds that what the user has changed of ours stays.
func TestKept(t *testing.T) {
	t.Parallel()
	const config, skill, instructions = "home/.codex/config.toml", "home/.claude/skills/filebus/skills/filebus/SKILL.md", "home/.codex/AGENTS.md"
	edit := func(t *testing.T, root, name, from, to string) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(from)) {
			t.Fatalf("%s has no %q: %v", name, from, err)
		}
		put(t, root, map[string]string{name: strings.Replace(string(text), from, to, 1)})
	}
	tests := map[string]struct {
		client, path, from, to string
	}{
		"timeout":      {"codex", config, `timeout = 10`, `timeout = 20`},
		"skill":        {"claude", skill, "name: filebus", "name: filebus\nmodel: x"},
		"instructions": {"codex", instructions, "Find", "Find soon"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			parts := []string{"mcp", "instructions", "hooks"}
			if _, err := apply(usual(root, test.client, parts...).plan()); err != nil {
				t.Fatal(err)
			}
			edit(t, root, test.path, test.from, test.to)
			changed := tree(t, root)[test.path]
			p, err := apply(leave(usual(root, test.client)))
			if err != nil {
				t.Fatal(err)
			}
			kept := ""
			for _, f := range p.Files {
				kept += strings.Join(f.Kept, ";")
			}
			left, isThere := tree(t, root)[test.path]
			if !isThere || !strings.Contains(left, test.to) || kept == "" {
				t.Errorf("the changed text is gone, or not named (%q):\n%s\nof\n%s", kept, left, changed)
			}
		})
	}
}

// TestBetween holds that what others write after install stays.
func TestBetween(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const config = "home/.codex/config.toml"
	put(t, root, map[string]string{config: "a = 1"})
	if _, err := apply(usual(root, "codex").plan()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, config)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// As a program does that knows tables, and takes our last line for the file's.
	now := strings.Replace(string(text), "# filebus:end mcp\n", "\n[projects.x]\ntrust_level = \"trusted\"\n# filebus:end mcp\n", 1)
	put(t, root, map[string]string{config: now + "[tui]\n"})
	if _, err := apply(leave(usual(root, "codex"))); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(path)
	if want := "a = 1\n[projects.x]\ntrust_level = \"trusted\"\n[tui]\n"; err != nil || string(text) != want {
		t.Errorf("there is left %q, want %q", text, want)
	}
}

// TestInserted holds that what a client writes beside our entry does not keep what was made for it.
func TestInserted(t *testing.T) {
	t.Parallel()
	const schema = "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n"
	for name, test := range map[string]struct{ before, from, to, want string }{
		"first":         {"{\n  \"model\": \"a/b\"\n}\n", "{\n", schema, schema + "  \"model\": \"a/b\"\n}\n"},
		"first of ours": {"", "{\n", schema, "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}"},
		"of one line":   {"{}", "{", "{\"a\": 1, ", "{\"a\": 1}"},
		"empty one":     {"{\n  \"mcp\": {}\n}", "{\n", schema, schema + "  \"mcp\": {}\n}"},
		"other server": {"{}", "\"filebus\": {", "\"other\": {\"url\": \"x\"},\n    \"filebus\": {",
			"{\"mcp\": {\n    \"other\": {\"url\": \"x\"}\n  }}"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			const path = "home/.config/opencode/opencode.json"
			put(t, root, map[string]string{path: test.before})
			if _, err := apply(usual(root, "opencode", "mcp").plan()); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				t.Fatal(err)
			}
			put(t, root, map[string]string{path: strings.Replace(string(text), test.from, test.to, 1)})
			if _, err := apply(leave(usual(root, "opencode"))); err != nil {
				t.Fatal(err)
			}
			if text, err = os.ReadFile(filepath.Join(root, path)); err != nil || string(text) != test.want {
				t.Errorf("there is left %q, want %q: %v", text, test.want, err)
			}
		})
	}
}

// TestLinks follows links to where settings are kept, and leaves those that lead nowhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, root, map[string]string{"dotfiles/mcp.json": "{}", "home/.cursor/x": ""})
	link := filepath.Join(root, "home", ".cursor", "mcp.json")
	if err := os.Symlink(filepath.Join("..", "..", "dotfiles", "mcp.json"), link); err != nil {
		t.Skip(err)
	}
	before := tree(t, root)
	p, err := apply(usual(root, "cursor").plan())
	if err != nil || !strings.HasSuffix(p.Files[0].Target, "mcp.json") {
		t.Fatalf("Install: %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if _, err := apply(leave(usual(root, "cursor"))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("after uninstall (-before +after):\n%s", diff)
	}
	if err := os.Remove(filepath.Join(root, "dotfiles", "mcp.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := usual(root, "cursor").plan(); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("of a link that leads nowhere, Install says %v", err)
	}
}

// TestOutside leaves what links of a project lead to outside of it: whoever has sent the project may have
// chosen them, and the digests beside them.
func TestOutside(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]string{
		"file": ".claude/skills/filebus/hooks/hooks.json", "settings": ".claude/settings.json", "folder": ".claude/skills",
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, map[string]string{
				"outside/of/settings.json": "{}", "project/.claude/skills/filebus/filebus.sha256":
				// of the file outside
				"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a  hooks/hooks.json\n",
			})
			link, to := filepath.Join(root, "project", filepath.FromSlash(from)), filepath.Join(root, "outside", "of")
			if name != "folder" {
				to = filepath.Join(to, "settings.json")
			} else if err := os.RemoveAll(link); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, link); err != nil {
				t.Skip(err)
			}
			before := tree(t, filepath.Dir(to))
			o := usual(root, "claude", partsOf("claude")...)
			o.Project = true
			if _, err := apply(o.plan()); err == nil || !strings.Contains(err.Error(), "leads out of") {
				t.Errorf("Install says %v", err)
			}
			if _, err := apply(leave(o)); err == nil || !strings.Contains(err.Error(), "leads out of") {
				t.Errorf("Uninstall says %v", err)
			}
			if diff := cmp.Diff(before, tree(t, filepath.Dir(to))); diff != "" {
				t.Errorf("after both (-before +after):\n%s", diff)
			}
		})
	}
}

// TestReadOnly leaves files that nobody is to write.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, root, map[string]string{"home/.cursor/mcp.json": "{}"})
	if err := os.Chmod(filepath.Join(root, "home", ".cursor", "mcp.json"), 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := usual(root, "cursor").plan(); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("Install says %v", err)
	}
}

// TestUnread takes a plugin out beside settings that cannot be read and have nothing of ours.
func TestUnread(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "// none", "{", "[]", `{"permissions": null}`, "\xff\xfe{\x00"} {
		root := t.TempDir()
		want := map[string]string{"home/.claude/settings.json": text}
		if _, err := apply(usual(root, "claude").plan()); err != nil {
			t.Fatal(err)
		}
		put(t, root, want)
		if _, err := apply(leave(usual(root, "claude"))); err != nil {
			t.Errorf("with %q in the settings, uninstall says %v", text, err)
		}
		want["home/.claude/settings.json"] = "-rw-------\n" + text
		if diff := cmp.Diff(want, tree(t, root)); diff != "" {
			t.Errorf("with %q in the settings, uninstall has left (-want +got):\n%s", text, diff)
		}
	}
}

// TestRaced applies a plan to a file that was changed since.
func TestRaced(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p, err := usual(root, "cursor").plan()
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, map[string]string{"home/.cursor/mcp.json": "{}"})
	if err := p.Apply(); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("Apply says %v", err)
	}
	if got := tree(t, root)["home/.cursor/mcp.json"]; !strings.HasSuffix(got, "\n{}") {
		t.Errorf("the file is now %q", got)
	}
}

// TestUpgrade replaces what an earlier version has written, and nothing else.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	old := usual(root, "claude", "hooks", "mcp", "instructions")
	if _, err := apply(old.plan()); err != nil {
		t.Fatal(err)
	}
	put(t, root, map[string]string{"home/.claude/skills/filebus/commands/mine.md": "mine"})
	next := usual(root, "claude", "hooks", "mcp", "instructions")
	next.Version, next.Guide = "v2.0.0", "other words\n"
	p, err := apply(next.plan())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Files {
		if len(f.Kept) > 0 {
			t.Errorf("%s: %s", f.Path, f.Kept)
		}
	}
	all := tree(t, root)
	if manifest := all["home/.claude/skills/filebus/.claude-plugin/plugin.json"]; !strings.Contains(manifest, "v2.0.0") {
		t.Errorf("the manifest is\n%s", manifest)
	}
	if text := all["home/.claude/CLAUDE.md"]; !strings.Contains(text, "other words") || strings.Contains(text, "filebus search") {
		t.Errorf("the instructions are\n%s", text)
	}
	put(t, root, map[string]string{"home/.claude/skills/filebus/my notes/a/b": "", "home/.claude/skills/filebus/hooks/my.sh": "x"})
	p, err = apply(leave(old)) // an older one removes it as well
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{filepath.Join("commands", "mine.md"), filepath.Join("my notes", "a", "b"), filepath.Join("hooks", "my.sh")} {
		says := filepath.Join(root, "home", ".claude", "skills", "filebus", other) + " is not from filebus, and stays"
		if !slices.Contains(p.Next, says) {
			t.Errorf("%q does not name %s", p.Next, other)
		}
	}
	want := map[string]string{
		"home/.claude/skills/filebus/commands/mine.md": "-rw-------\nmine",
		"home/.claude/skills/filebus/my notes/a/b":     "-rw-------\n",
		"home/.claude/skills/filebus/hooks/my.sh":      "-rw-------\nx",
	}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("after uninstall (-want +got):\n%s", diff)
	}
}

// FuzzJSON holds that what is put into a file of JSON is taken out to the byte, or that
// the file is refused.
func FuzzJSON(f *testing.F) { fuzz(f, "opencode", "project/opencode.json", "mcp") }

// FuzzTOML is FuzzJSON for two blocks in a file of TOML.
func FuzzTOML(f *testing.F) { fuzz(f, "codex", "project/.codex/config.toml", "hooks", "mcp") }

// FuzzMarkdown is FuzzJSON for instructions.
func FuzzMarkdown(f *testing.F) { fuzz(f, "codex", "project/AGENTS.md", "instructions") }

func fuzz(f *testing.F, client, path string, parts ...string) {
	f.Helper()
	for _, shape := range shapes() {
		f.Add([]byte(shape.text))
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		put(t, root, map[string]string{path: string(text)})
		o := usual(root, client, parts...)
		o.Project = true
		p, err := apply(o.plan())
		isIn := bytes.Contains(text, []byte("filebus")) || bytes.Contains(text, []byte(`\`)) // it may be there already
		if err != nil || !isChanged(p) || isIn {
			return
		}
		if _, err := apply(leave(o)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path))); err != nil || !bytes.Equal(got, text) {
			t.Errorf("of %q there is left %q: %v", text, got, err)
		}
	})
}
