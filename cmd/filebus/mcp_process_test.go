package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"filebus/cmd/filebus/cli"
)

// mcpClient connects the SDK's client by a transport.
func mcpClient(t *testing.T, transport mcp.Transport, revision string, roots ...string) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	for _, dir := range roots {
		//lint:ignore SA1019 clients of today have roots
		client.AddRoots(&mcp.Root{URI: "file://" + strings.ReplaceAll(filepath.ToSlash(dir), " ", "%20")})
	}
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	must(t, err)
	return session
}

// mcpServer starts a server for a folder, and connects the SDK's client over stdio.
func mcpServer(t *testing.T, dir string, variables ...string) *mcp.ClientSession {
	t.Helper()
	cmd := filebusCommand(t, dir, "mcp")
	cmd.Env = append(cmd.Env, variables...)
	session := mcpClient(t, &mcp.CommandTransport{Command: cmd}, "2025-11-25")
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	return session
}

type arguments = map[string]any

// ask calls a tool and returns its answer, which has one text.
func ask(t testing.TB, session *mcp.ClientSession, tool string, args arguments) (text string, isError bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || len(r.Content) != 1 {
		t.Errorf("%s %.200v: %v", tool, args, err)
		return "", true
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

// mustAsk is ask for an answer that is none of an error and has a text.
func mustAsk(t testing.TB, session *mcp.ClientSession, tool string, args arguments, want ...string) string {
	t.Helper()
	text, isError := ask(t, session, tool, args)
	if isError {
		t.Errorf("%s %.200v fails: %s", tool, args, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s %.200v: no %q in %s", tool, args, w, text)
		}
	}
	return text
}

// refuses asks for what is refused, in words that are wanted.
func refuses(t testing.TB, session *mcp.ClientSession, tool string, args arguments, want ...string) {
	t.Helper()
	text, isError := ask(t, session, tool, args)
	if !isError {
		t.Errorf("%s %v does not fail: %s", tool, args, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s %v: no %q in %s", tool, args, w, text)
		}
	}
}

// TestMCPTransports speaks the protocol's current revision and the two before it, with a
// process on its standard input and over HTTP.
func TestMCPTransports(t *testing.T) {
	t.Parallel()
	dir := noteDir(t)
	web := filebusCommand(t, dir, "mcp", "--http", "127.0.0.1:0")
	web.Env = append(web.Env, "FILEBUS_MCP_TOKEN=geheim")
	said, err := web.StderrPipe()
	must(t, err)
	must(t, web.Start())
	defer func() { _ = web.Process.Kill(); _ = web.Wait() }() // it was killed
	lines := bufio.NewScanner(said)
	lines.Scan()
	_, at, _ := strings.Cut(lines.Text(), "serving ")
	for i, revision := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		for j, transport := range []mcp.Transport{
			&mcp.CommandTransport{Command: filebusCommand(t, dir, "mcp")},
			&mcp.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: tokenSender("geheim")}},
		} {
			session := mcpClient(t, transport, revision)
			if got := session.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("%T speaks %s, want %s", transport, got, revision)
			}
			name := fmt.Sprintf("note/docs/%d %d.md", i, j)
			mustAsk(t, session, "put", arguments{"name": name, "text": "# Ünï\r\n\r\n--lead " + revision}, name)
			if got := mustAsk(t, session, "get", arguments{"name": name}); got != "# Ünï\r\n\r\n--lead "+revision {
				t.Errorf("%s: get = %q", revision, got)
			}
			if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "filebus://status"}); err != nil {
				t.Errorf("%s: %v", revision, err)
			}
			if err := session.Close(); err != nil {
				t.Errorf("%s: %v", revision, err)
			}
		}
	}
}

type tokenSender string

func (s tokenSender) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(s))
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPTools holds the table of tools true: each command is there, and calls of a tool
// agree on their arguments.
func TestMCPTools(t *testing.T) {
	e := docEnviron(t.TempDir(), nil)
	for _, tool := range mcpTools() {
		types := map[string]string{"max_tokens": "integer"}
		for _, line := range tool.calls {
			c := newMCPCall(e, tool.Name+" "+line)
			if got, want := c.command.CommandPath(), "filebus "+strings.Join(c.path, " "); got != want {
				t.Errorf("%s: the command is %s, want %s", line, got, want)
				continue
			}
			for i, a := range c.arguments() {
				if strings.HasPrefix(c.words[i], "--") && c.flag(c.words[i]) == nil {
					t.Errorf("%s has no flag %s", strings.Join(c.path, " "), c.words[i])
				}
				if was := types[a.Name]; was != "" && was != a.Type && was != "array" {
					t.Errorf("%s: %s is %s, and was %s", line, a.Name, a.Type, was)
				}
				types[a.Name] = cmp.Or(types[a.Name], a.Type)
			}
		}
		for name := range tool.abouts {
			if types[name] == "" {
				t.Errorf("%s says what %s is, and does not have it", tool.Name, name)
			}
		}
	}
}

// TestMCPBounds holds what tools cost a model: the list of them, and ten hits. What was
// truncated is got as the answer says.
func TestMCPBounds(t *testing.T) {
	t.Parallel()
	dir := noteDir(t)
	session := mcpServer(t, dir)
	var texts []string
	for i := range 30 {
		text := fmt.Sprintf("# Über den Puffer %d\n\n", i)
		for j := range 60 {
			text += fmt.Sprintf("Zeile %d der Notiz %d: der Puffer läuft über, 缓冲区 溢出 %d\n", j, i, (i+7)*(j+1))
		}
		texts = append(texts, text)
		mustAsk(t, session, "put", arguments{"name": fmt.Sprintf("note/docs/a long/folder %d/puffer.md", i), "text": text})
	}
	tools, err := session.ListTools(t.Context(), nil)
	must(t, err)
	if size := len(jsonText(tools)); float64(size) > 4*promised(t, "tokens/tools") || len(tools.Tools) != 7 {
		t.Errorf("%d tools have %d bytes, about %d tokens", len(tools.Tools), size, size/4)
	}
	again := regexp.MustCompile(`\[truncated: .*call again with (\w+) ([0-9-]+)\]`)
	seen, offset := map[string]bool{}, any(0)
	for offset != nil {
		hits := mustAsk(t, session, "search", arguments{"query": "Puffer", "limit": 10, "offset": offset})
		if float64(len(hits)) > 4*promised(t, "tokens/hits") || strings.Count(hits, "note/docs/") > 10 {
			t.Errorf("hits have %d bytes: %s", len(hits), hits)
		}
		for _, m := range regexp.MustCompile(`note/docs/a long/folder \d+/`).FindAllString(hits, -1) {
			seen[m] = true
		}
		if offset = nil; again.MatchString(hits) {
			offset = again.FindStringSubmatch(hits)[2]
		}
	}
	if len(seen) != 30 {
		t.Errorf("following the offsets, %d of 30 notes were found", len(seen))
	}
	for _, tokens := range []int{100, 400, 2000} {
		got, rest := "", "1-"
		for rest != "" {
			part := mustAsk(t, session, "get", arguments{"name": "note/docs/a long/folder 7/puffer.md", "lines": rest, "max_tokens": tokens})
			if len(part) > 4*tokens {
				t.Errorf("a part of %d tokens has %d bytes", tokens, len(part))
			}
			m := again.FindStringSubmatchIndex(part)
			if rest = ""; m != nil {
				part, rest = part[:m[0]], part[m[4]:m[5]]
			}
			got += part
		}
		if got != texts[7] {
			t.Errorf("following the lines by %d tokens gives %d bytes, want %d", tokens, len(got), len(texts[7]))
		}
	}
	one := "x" + strings.Repeat("ÿ", 20_000)
	mustAsk(t, session, "put", arguments{"name": "note/docs/one.md", "text": one})
	mustAsk(t, session, "get", arguments{"name": "note/docs/one.md"}, "[truncated: line 1 is cut; about ", "call again with lines 1+")
	if got := mustAsk(t, session, "get", arguments{"name": "note/docs/one.md", "lines": "1-", "max_tokens": 20000}); got != one {
		t.Errorf("a long line comes back as %d bytes, want %d", len(got), len(one))
	}
	big := strings.Repeat("fünf Megabyte\r\n", 5<<20/16)
	mustAsk(t, session, "put", arguments{"name": "note/docs/big.txt", "text": big})
	if got := mustRun(t, dir, "get", "note/docs/big.txt"); got != big {
		t.Errorf("5 MB come back as %d bytes, want %d", len(got), len(big))
	}
	if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "filebus://record/note/docs/big.txt"}); err == nil ||
		!strings.Contains(err.Error(), "the tool get reads it by its lines") {
		t.Errorf("a resource of 5 MB: %v", err)
	}
}

// TestMCPWork does an agent's work by tools, with texts that look like flags.
func TestMCPWork(t *testing.T) {
	t.Parallel()
	dir := noteDir(t)
	session := mcpServer(t, dir, "CLAUDE_SESSION_ID=stale-0001")
	refuses(t, session, "search", arguments{"query": "x"}, "no store", "no_store", "filebus init")
	mustAsk(t, session, "knowledge", arguments{
		"action": "add", "type": "gotcha", "content": "--tag says, \"nothing\"", "tag": []string{"größe", "zwei worte"}, "file": "src/größe.rs",
	}, "gotcha-001", "made a store")
	mustAsk(t, session, "knowledge", arguments{"action": "show", "id": "gotcha-001"}, `--tag says, "nothing"`)
	mustAsk(t, session, "knowledge", arguments{"action": "list", "tag": "zwei worte"}, "gotcha-001")
	refuses(t, session, "knowledge", arguments{"action": "list", "content": "x"}, `has no use for "content"`, "tag, type, limit, offset")
	refuses(t, session, "knowledge", arguments{"action": "ad"}, "did you mean add?")
	refuses(t, session, "serach", arguments{"query": "x"}, "did you mean search?")
	refuses(t, session, "search", arguments{"qury": "x"}, "did you mean query?")
	refuses(t, session, "search", arguments{"query": "x", "limit": "many"}, "limit takes a whole number")

	mustAsk(t, session, "task", arguments{"action": "start", "id": "041", "title": "--help"}, "task-041")
	mustAsk(t, session, "task", arguments{"action": "note", "id": "041", "text": "--done\r\nzwei"})
	refuses(t, session, "task", arguments{"action": "note", "id": "041"}, "task note needs text")
	refuses(t, session, "task", arguments{"action": "block", "id": "041", "summary": "s"}, `run it again with blocker "`)
	mustAsk(t, session, "task", arguments{"action": "block", "id": "041", "summary": "-s", "blocker": "kein Zugang"}, "blocked")
	mustAsk(t, session, "task", arguments{"action": "done", "id": "041", "summary": "now", "files": []string{"a.go", "b,c.go"}}, "complete")
	mustAsk(t, session, "task", arguments{"action": "show", "id": "041"}, "b,c.go")
	mustAsk(t, session, "get", arguments{"name": "handoff/task-041"}, "--done zwei")

	refuses(t, session, "issue", arguments{"action": "add", "summary": "s", "type": []string{"bug", "ux"}}, "takes one type")
	refuses(t, session, "issue", arguments{"action": "add", "summary": "s"}, "run it again with type bug")
	mustAsk(t, session, "issue", arguments{"action": "add", "summary": "--priority of nothing", "type": "bug", "criteria": "one"})
	refuses(t, session, "issue", arguments{"action": "next", "claim": true}, "run it again with agent NAME")
	claimed := mustAsk(t, session, "issue", arguments{"action": "next", "claim": "true", "agent": "me"}, "--priority of nothing")
	id := regexp.MustCompile(`ISSUE-[0-9-]+`).FindString(claimed)
	mustAsk(t, session, "issue", arguments{"action": "next", "claim": true, "agent": "you"}, "no issue is waiting")
	refuses(t, session, "issue", arguments{"action": "claim", "id": id, "agent": "you"}, "me")
	mustAsk(t, session, "issue", arguments{"action": "done", "id": id, "agent": "me"})

	mustAsk(t, session, "put", arguments{"text": "a\x00b", "agent": "r1", "tag": "t, u"}, "result_file")
	if out := mustRun(t, dir, "list", "--kind", "result", "--json"); strings.Contains(out, "stale-0001") || !strings.Contains(out, `"r1"`) {
		t.Errorf("the result is %s", out)
	}
	refuses(t, session, "put", arguments{"text": "x", "name": "nokind"}, "it has no kind, as in note/nokind")
	mustAsk(t, session, "context", arguments{"about": "größe", "file": "src/größe.rs"}, "--tag says")
	prompts, err := session.ListPrompts(t.Context(), nil)
	must(t, err)
	for _, p := range prompts.Prompts {
		if got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name}); err != nil || got.Messages[0].Content == nil {
			t.Errorf("prompt %s: %v", p.Name, err)
		}
	}
}

// TestMCPClients works with eight clients while commands write, and holds nothing while
// they are idle: what needs the store alone gets it at once.
func TestMCPClients(t *testing.T) {
	t.Parallel()
	dir := noteDir(t)
	mustRun(t, dir, "init")
	const each = 4
	sessions := make([]*mcp.ClientSession, 8)
	var wg sync.WaitGroup
	for c := range sessions {
		sessions[c] = mcpServer(t, dir)
		wg.Go(func() {
			for i := range each {
				mustAsk(t, sessions[c], "put", arguments{"text": fmt.Sprintf("# Bericht %d\n\nvon Klient %d", i, c), "conversation": "c1"}, "result_file")
				mustAsk(t, sessions[c], "search", arguments{"query": fmt.Sprintf("Klient %d", c)}, fmt.Sprintf("Klient %d", c))
				mustAsk(t, sessions[c], "issue", arguments{"action": "list"})
			}
		})
	}
	for p := range 2 {
		wg.Go(func() {
			for i := range each {
				cmd := filebusCommand(t, dir, "put", "-", "--name", fmt.Sprintf("note/docs/%d-%d.md", p, i))
				cmd.Stdin = strings.NewReader("von außen")
				if _, err := cmd.Output(); err != nil {
					t.Errorf("put beside servers: %v: %s", err, exitText(err))
				}
			}
		})
	}
	wg.Wait()
	for _, args := range [][]string{{"compact"}, {"reindex"}, {"verify"}, {"put", "-", "--name", "note/docs/last.md"}} {
		cmd := filebusCommand(t, dir, append(args, "--lock-wait", "1ms")...)
		cmd.Stdin = strings.NewReader("allein")
		if _, err := cmd.Output(); err != nil {
			t.Errorf("%s beside idle servers: %v: %s", args, err, exitText(err))
		}
	}
	if out := mustRun(t, dir, "list", "--kind", "result", "--limit", "0"); strings.Count(out, "\n") != len(sessions)*each {
		t.Errorf("%d results were stored, want %d", strings.Count(out, "\n"), len(sessions)*each)
	}
	mustAsk(t, sessions[3], "get", arguments{"name": "note/docs/last.md"}, "allein")
}

// noteDir returns a new folder in which agents may write notes below docs.
func noteDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, ".filebus"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, ".filebus", cli.ConfigFile), []byte("notes = [\"docs\"]\n"), 0o600))
	return dir
}

// TestMCPStores asks for stores that cannot be used: each answer says why.
func TestMCPStores(t *testing.T) {
	t.Parallel()
	dir := noteDir(t)
	session := mcpServer(t, dir)
	mustAsk(t, session, "put", arguments{"text": "x", "name": "note/docs/x.md"})
	must(t, os.WriteFile(filepath.Join(dir, ".filebus", cli.ConfigFile), []byte("rot = 1\n"), 0o600))
	refuses(t, session, "get", arguments{"name": "note/docs/x.md"}, "rot")
	must(t, os.Remove(filepath.Join(dir, ".filebus", cli.ConfigFile)))
	mustAsk(t, session, "get", arguments{"name": "note/docs/x.md"}, "x")
	whole, err := os.ReadFile(filepath.Join(dir, ".filebus", cli.StoreFile))
	must(t, err)
	newer := regexp.MustCompile("schema[0-9]").ReplaceAll(whole, []byte("schema9")) // as the key stands before its value
	must(t, os.WriteFile(filepath.Join(dir, ".filebus", cli.StoreFile), newer, 0o600))
	refuses(t, session, "get", arguments{"name": "note/docs/x.md"}, "(newer_store)", "install a newer filebus")
	refuses(t, session, "put", arguments{"text": "y"}, "(newer_store)")
	must(t, os.Truncate(filepath.Join(dir, ".filebus", cli.StoreFile), 5000))
	refuses(t, session, "get", arguments{"name": "note/docs/x.md"}, "(damaged)")
	must(t, os.RemoveAll(filepath.Join(dir, ".filebus")))
	refuses(t, session, "task", arguments{"action": "list"}, "no store")
}

// TestMCPPlaces names places by put in which nothing is to be written for a tool: there is no file
// more, and no record.
func TestMCPPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bare := t.TempDir()
	mustRun(t, bare, "init")
	none := mcpServer(t, bare)
	for _, name := range []string{"note/a.md", "note/Makefile", "note/gradlew", "note/a-b.txt", "note/src/a-b", "note/A-B.md", "note/.a-b"} {
		if answer, isError := ask(t, none, "put", arguments{"text": "x", "name": name}); !isError {
			t.Errorf("put %q without a folder for notes is answered by %s", name, answer)
		}
	}
	mustAsk(t, none, "put", arguments{"text": "x", "name": "note/from-a-model"}, "note/from-a-model")
	mustRun(t, dir, "config", "set", "notes", "docs", ".claude", "sub")
	for _, folder := range []string{"docs", ".claude/agents"} {
		must(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(dir, "docs", "kept.md"), []byte("kept"), 0o600))
	must(t, os.Symlink("../.claude/agents", filepath.Join(dir, "docs", "link")))
	mustRun(t, dir, "sync")
	session := mcpServer(t, dir)
	places := func() (all []string) {
		for _, at := range []string{".", "docs", ".claude", "sub", "~"} {
			must(t, filepath.WalkDir(filepath.Join(dir, at), func(p string, d fs.DirEntry, err error) error {
				if err != nil && !os.IsNotExist(err) || err == nil && d.Name() == ".filebus" {
					return cmp.Or(err, fs.SkipDir)
				}
				all = append(all, p)
				return nil
			}))
		}
		return append(all, mustRun(t, dir, "list"))
	}
	before := places()
	var names []string
	for _, file := range []string{
		"CLAUDE.md", "claude.MD", "CLAUDE.local.md", "AGENTS.md", "AGENTS.md.", "AGENT\u017f.md", "AGEN\u200bTS.md", "AGEN\ufe0fTS.md",
		"GEMINI.md", "opencode.json", ".mcp.json", "package.json", "Makefile", "conftest.py", "sitecustomize.py", ".github/workflows/a.yml",
		".github/copilot-instructions.md", ".cursor/rules/a.mdc", ".claude/CLAUDE.md", ".claude/agents/a.md", ".claude/Agents/b/a.md",
		".\u212alaude/../.claude/agents/a.md", ".CLAUDE/commands/a.md", ".claude/rules/a.md", ".claude/skills/a/SKILL.md", ".claude/output-styles/a.md",
		".claude/plugins/x/plugin.json", ".claude/workflows/x.js", ".claude/hooks/a.sh", ".claude/settings.json", ".claude/settings.local.json",
		".claude\\agents\\a.md", "CLAUDE~1/agents/a.md", ".git/hooks/pre-commit", ".GIT/config", ".filebus/config.toml", "AGENTS.md:$DATA",
		"~/a.md", "../AGENTS.md",
	} {
		names = append(names, "note/"+file, "note/docs/"+file, "note/.claude/"+file, "note/sub/docs/"+file, "knowledge/~/docs/"+file)
		if call, is := strings.CutSuffix(file, ".md"); is && !strings.Contains(call, "/") {
			names = append(names, "result/c/"+call)
		}
	}
	names = append(names, "note/main.go", "note/src/a.md", "note/docs/link/a.md", "note/docs/link/b/a.md", "note/docs.md", "note/docs", "note/Docs/a.md", "note/kept/../src/a.md", "note//etc/x", "note/~/a.md",
		"result/c/CLAUDE", "result/.claude/agents/x/a", "handoff/.claude/agents/task-1", "handoff/~/task-1", "handoff/sub/~/task-1", "turn/d/0/claude",
		"knowledge/~/src/a.md", "frame/docs/a.md", "issue/docs/AGENTS.md", "marker/.claude/commands/a", "artifact/.claude/rules/a", "session/.claude/rules/a")
	for _, name := range names {
		for _, args := range []arguments{{"text": "x", "name": name}, {"text": "x", "name": name, "expect": "absent"}} {
			if answer, isError := ask(t, session, "put", args); !isError {
				t.Errorf("put %q is answered by %s", name, answer)
			}
		}
	}
	if after := places(); !slices.Equal(after, before) {
		t.Errorf("there is %q, and was %q", after, before)
	}
	mustAsk(t, session, "put", arguments{"text": "x", "name": "note/docs/new/a.md"}, "note/docs/new/a.md")
	mustAsk(t, session, "put", arguments{"text": "x", "name": "result/c/a"}, "result_file")
	mustAsk(t, session, "put", arguments{"text": "# Task: T\n\n## Status: running\n", "name": "handoff/task-7"}, "task-7")
}

// TestMCPUntrusted asks for a store that has come with a clone.
func TestMCPUntrusted(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	dir, home := noteDir(t), t.TempDir()
	mustRun(t, dir, "put", "-", "--allow-empty", "--name", "note/docs/x.md")
	must(t, os.Remove(filepath.Join(dir, ".filebus", ".gitignore")))
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", "."}} {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		must(t, cmd.Run())
	}
	session := mcpServer(t, dir, "FILEBUS_STORE=", "HOME="+home, "FILEBUS_STATE="+filepath.Join(home, "state"))
	for tool, args := range map[string]arguments{
		"search": {"query": "x"}, "put": {"text": "x"}, "task": {"action": "list"}, "issue": {"action": "next"},
	} {
		refuses(t, session, tool, args, "is not trusted", "git tracks files in it", "filebus trust ")
	}
	if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "filebus://status"}); err == nil ||
		!strings.Contains(err.Error(), "is not trusted") {
		t.Errorf("the resource is read: %v", err)
	}
}

// TestMCPDisconnect ends a client in mid-call: the server ends, and the store is sound.
func TestMCPDisconnect(t *testing.T) {
	t.Parallel()
	dir := noteDir(t)
	mustRun(t, dir, "init")
	for i := range 4 {
		cmd := filebusCommand(t, dir, "mcp")
		in, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		for j := range 20 {
			_, err = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"put","arguments":{"text":"%d %d",`+
				`"conversation":"c"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`+"\n", j, i, j)
			must(t, err)
		}
		must(t, in.Close())
		if err := waitForEnd(cmd); err != nil {
			t.Errorf("after a disconnection: %v", err)
		}
	}
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify = %s", out)
	}
}

// waitForEnd waits for the end of a process, for a bounded time.
func waitForEnd(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		return fmt.Errorf("it goes on")
	}
}

// TestMCPParent ends the process that has started a server, while somebody else holds its
// input open: the server ends.
func TestMCPParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process there does not know that its parent has ended")
	}
	dir := noteDir(t)
	in, held, err := os.Pipe()
	must(t, err)
	defer held.Close()
	self, err := os.Executable()
	must(t, err)
	program := filepath.Join(t.TempDir(), "filebus")
	must(t, os.Symlink(self, program))
	parent := exec.Command("sh", "-c", `"$0" mcp <&3 & read line`, program)
	parent.Dir, parent.ExtraFiles = dir, []*os.File{in}
	end, err := parent.StdinPipe()
	must(t, err)
	out, err := parent.StdoutPipe() // that the server holds open too, until it ends
	must(t, err)
	must(t, parent.Start())
	defer func() { _ = parent.Wait() }()
	_, err = fmt.Fprintln(held, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	must(t, err)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Errorf("the server does not answer: %v", lines.Err())
	}
	must(t, end.Close())
	ended := make(chan bool)
	go func() {
		for lines.Scan() {
		}
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the server goes on without its parent")
	}
}

// TestServedProject holds that the server finds the project that its client names, wherever it was started, as hooks do:
// by variables, and by the folders that it tells when it is asked.
func TestServedProject(t *testing.T) {
	t.Parallel()
	dir, other := filepath.Join(t.TempDir(), "a project"), t.TempDir()
	must(t, os.MkdirAll(dir, 0o755))
	mustRun(t, dir, "init")
	mustRun(t, dir, "knowledge", "add", "--type", "gotcha", "--content", "The limiter drifts")
	for name, test := range map[string]struct {
		variable, revision string
		roots              []string
	}{
		"Claude Code":          {"CLAUDE_PROJECT_DIR=" + dir, "", nil},
		"Cursor":               {"WORKSPACE_FOLDER_PATHS=" + other + "," + dir, "", nil},
		"Cursor, unexpanded":   {"CLAUDE_PROJECT_DIR=${workspaceFolder}", "2025-11-25", []string{dir}},
		"roots":                {"", "2025-11-25", []string{other, dir}},
		"roots, an old client": {"", "2024-11-05", []string{dir}},
		"both":                 {"CLAUDE_PROJECT_DIR=" + dir, "2025-06-18", []string{other}},
	} {
		cmd := filebusCommand(t, other, "mcp")
		cmd.Env = append(os.Environ(), "FILEBUS_STORE=", "HOME="+other, test.variable)
		session := mcpClient(t, &mcp.CommandTransport{Command: cmd}, test.revision, test.roots...)
		answer, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "filebus://knowledge"})
		if err != nil || len(answer.Contents) == 0 || !strings.Contains(answer.Contents[0].Text, "The limiter drifts") {
			t.Errorf("%s: the server has %v, %v", name, answer, err)
		}
		_ = session.Close() // it was only read
	}
}
