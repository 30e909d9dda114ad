package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A cellar is a workspace whose clock is the test's. FILEBUS_PROGRAM names another program that is to be tested by the same
// steps: it has the clock of the machine, and what it does not pass is counted and no failure.
type cellar struct {
	t   testing.TB
	dir string
	now time.Time

	stays string // what must be printed before the input of the next command ends
}

func newCellar(t testing.TB, dir string) *cellar {
	t.Helper()
	d := &cellar{t: t, dir: dir, now: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	d.must("", "init")
	d.must("", "config", "set", "notes", "docs")
	d.must("", "config", "set", "hooks.prompt_context", "true")
	d.must("", "config", "set", "hooks.mode", "capture")
	return d
}

// do runs a command a minute after the one before, and returns what it prints and says.
func (d *cellar) do(in string, args ...string) (text string, code int) {
	d.t.Helper()
	out := &stay{Reader: strings.NewReader(in), until: d.stays}
	own := map[string]string{
		"FILEBUS_STORE": filepath.Join(d.dir, ".filebus"), "FILEBUS_STATE": filepath.Join(filepath.Dir(d.dir), "state-"+filepath.Base(d.dir)),
		"CLAUDE_CONFIG_DIR": filepath.Join(d.dir, "client"), "HOME": d.dir, "NO_GIT": "1",
	}
	variables := os.Environ()
	for name, value := range own {
		variables = append(variables, name+"="+value)
	}
	if program := os.Getenv("FILEBUS_PROGRAM"); program != "" {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = d.dir, variables, out, out, out
		_ = cmd.Run() // its exit code is returned
		return out.String(), cmd.ProcessState.ExitCode()
	}
	d.now = d.now.Add(time.Minute)
	env := docEnviron(d.dir, nil)
	env.Out, env.Err, env.In, env.Now, env.Variables = out, out, out, func() time.Time { return d.now }, variables
	env.Getenv = func(name string) string {
		if value, found := own[name]; found {
			return value
		}
		return os.Getenv(name)
	}
	code = run(d.t.Context(), env, args)
	return out.String(), code
}

func (d *cellar) must(in string, args ...string) string {
	d.t.Helper()
	text, code := d.do(in, args...)
	if code != 0 {
		d.t.Fatalf("filebus %q: exit code %d\n%s", args, code, text)
	}
	return text
}

func (d *cellar) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		d.t.Fatal(err)
	}
}

// rpc returns what an MCP server answers to calls of tools: pairs of a name and its arguments.
func (d *cellar) rpc(calls ...any) string {
	lines := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"c","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for i := 0; i < len(calls); i += 2 {
		lines += toJSON(map[string]any{
			"jsonrpc": "2.0", "id": i + 2, "method": "tools/call", "params": map[string]any{"name": calls[i], "arguments": calls[i+1]},
		}) + "\n"
	}
	last := len(calls)/2 + 1
	d.stays = fmt.Sprintf(`"id":%d`, last)
	text, _ := d.do(lines, "mcp")
	d.stays = ""
	return text
}

// A stay is a standard input that does not end before something was printed.
type stay struct {
	io.Reader
	mu    sync.Mutex
	out   bytes.Buffer
	until string
}

func (s *stay) Read(p []byte) (n int, err error) {
	n, err = s.Reader.Read(p)
	for end := time.Now().Add(10 * time.Second); err == io.EOF && !strings.Contains(s.String(), s.until) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return n, err
}

func (s *stay) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *stay) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// A fact is a text that a test can tell from any other, also in one piece of it: who asks for one word is answered with the other.
type fact struct{ text, ask, answer string }

func newFact(ask, answer string) fact {
	return fact{"The " + ask + " of the third cellar eats only the labels of bottles, says " + answer + ", who has looked at all of them.\n", ask, answer}
}

// A wayIn brings a text in under a new name. Of entries, what is said counts, and of all others the bytes.
type wayIn struct {
	name    string
	isEntry bool
	feed    func(d *cellar, f fact, as string)
}

func waysIn() []wayIn {
	return []wayIn{
		{"put note", false, func(d *cellar, f fact, as string) { d.do(f.text, "put", "--name", "note/docs/"+as+".md") }},
		{"put result", false, func(d *cellar, f fact, as string) {
			d.do(f.text, "put", "--agent", "a", "--conversation", "c", "--call", as)
		}},
		{"exec", false, func(d *cellar, f fact, as string) {
			d.do("", "exec", "--conversation", "c", "--call", as, "--", "printf", "%s", f.text)
		}},
		{"exec --task", false, func(d *cellar, f fact, as string) {
			d.do("", "exec", "--task", as, "--conversation", "c", "--call", as, "--", "printf", "%s", f.text)
		}},
		{"MCP put", false, func(d *cellar, f fact, as string) {
			d.rpc("put", map[string]any{"text": f.text, "name": "note/docs/" + as + ".md"})
		}},
		{"hook", false, func(d *cellar, f fact, as string) {
			d.do(toJSON(map[string]any{"session_id": "s", "agent_type": "Explore", "agent_id": as, "last_assistant_message": f.text}),
				"hook", "SubagentStop")
		}},
		{"sync", false, func(d *cellar, f fact, as string) {
			d.write("docs/"+as+".md", f.text)
			d.do("", "sync")
		}},
		{"sync of a decision", false, func(d *cellar, f fact, as string) {
			d.write("docs/adr/"+as+".md", f.text)
			d.do("", "sync")
		}},
		{"capture", false, func(d *cellar, f fact, as string) {
			d.write("tree-"+as+"/"+as+".md", f.text)
			d.do("", "capture", "tree-"+as)
		}},
		{"transcript", false, func(d *cellar, f fact, as string) {
			here, _ := filepath.EvalSymlinks(d.dir)
			folder := "client/projects/" + notLetters.Replace(here) + "/5e55-77/subagents"
			d.write(folder+"/agent-"+as+".meta.json", `{"agentType":"Explore","description":"x"}`)
			row := map[string]any{"agentId": as, "isSidechain": true, "sessionId": "5e55-77", "cwd": here, "timestamp": "2026-02-20T10:00:00Z"}
			row["type"], row["message"] = "user", map[string]any{"role": "user", "content": "Look for " + f.answer + "."}
			first := toJSON(row)
			use := map[string]any{"type": "tool_use", "id": "t2", "name": "SubagentHandback", "input": map[string]any{"message": f.text}}
			row["type"], row["message"] = "assistant", map[string]any{"id": "m2", "role": "assistant", "content": []any{use}}
			d.write(folder+"/agent-"+as+".jsonl", first+"\n"+toJSON(row)+"\n")
			d.do("", "capture", "--from", "claude")
		}},
		{"knowledge add", true, func(d *cellar, f fact, as string) {
			d.do("", "knowledge", "add", "--type", "gotcha", "--title", as+" of "+f.answer, "--content", strings.TrimSpace(f.text))
		}},
		{"MCP knowledge", true, func(d *cellar, f fact, as string) {
			d.rpc("knowledge", map[string]any{"action": "add", "type": []string{"pattern"}, "title": as + " of " + f.answer, "content": strings.TrimSpace(f.text)})
		}},
		{"put entry", true, func(d *cellar, f fact, as string) {
			d.do("### insight-"+number(as)+": "+as+" of "+f.answer+"\n- Type: insight\n- Content: "+f.text, "put", "--name", "knowledge/insight-"+number(as))
		}},
		{"sync of entries", true, func(d *cellar, f fact, as string) {
			path := filepath.Join(d.dir, ".claude", "knowledge_graph.md")
			text, _ := os.ReadFile(path)
			d.write(".claude/knowledge_graph.md", string(text)+"\n### decision-"+number(as)+": "+as+" of "+f.answer+"\n- Type: decision\n- Content: "+f.text)
			d.do("", "sync")
			if now, _ := os.ReadFile(path); !strings.Contains(d.search(f), f.answer) && bytes.Contains(now, []byte(f.answer)) && text != nil {
				d.write(".claude/knowledge_graph.md", string(text)) // who has written it, takes it away again
			}
		}},
	}
}

// number returns a number of three digits for a name such as again7.
func number(as string) string {
	sum := 0
	for _, c := range as {
		sum = sum*7 + int(c)
	}
	return fmt.Sprintf("%03d", sum%899+100)
}

var notLetters = func() *strings.Replacer {
	var pairs []string
	for c := rune(0); c < 128; c++ {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", c) {
			pairs = append(pairs, string(c), "-")
		}
	}
	return strings.NewReplacer(pairs...)
}()

// waysBack bring material in that was made before: with the fact and its twin.
func waysBack(shared string) []wayIn {
	return []wayIn{
		{"bundle", false, func(d *cellar, _ fact, _ string) { d.do("", "bundle", "apply", filepath.Join(shared, "old.bundle")) }},
		{"pull", false, func(d *cellar, _ fact, _ string) { d.do("", "pull") }},
		{"restore", false, func(d *cellar, _ fact, _ string) { d.must("", "restore", filepath.Join(shared, "copies"), "--yes") }},
	}
}

func (d *cellar) search(f fact) string {
	text, _ := d.do("", "search", f.ask, "--json", "--limit", "50")
	return text
}

// A wayOut answers with all that it shows for a fact; ref is of the version that was stored first.
type wayOut struct {
	name string
	ask  func(d *cellar, f fact, ref string) string
}

func plainOut(name string, args ...string) wayOut {
	return wayOut{name, func(d *cellar, f fact, ref string) string {
		given := slices.Clone(args)
		for i := range given {
			given[i] = strings.NewReplacer("ASK", f.ask, "REF", ref).Replace(given[i])
		}
		text, _ := d.do("", given...)
		return text
	}}
}

func waysOut() []wayOut {
	return []wayOut{
		{"search", func(d *cellar, f fact, _ string) string { return d.search(f) }},
		plainOut("search --regex", "search", "--regex", "says [a-z]+", "--json", "--limit", "50"),
		plainOut("list", "list", "--json", "--limit", "0"),
		plainOut("get", "get", "REF"),
		plainOut("show", "show", "REF"),
		plainOut("preview", "preview", "REF"),
		plainOut("context", "context", "the ASK of the third cellar", "--max-tokens", "4000"),
		{"MCP search", func(d *cellar, f fact, _ string) string {
			return d.rpc("search", map[string]any{"query": f.ask, "sections": true})
		}},
		{"MCP get", func(d *cellar, _ fact, ref string) string { return d.rpc("get", map[string]any{"name": ref}) }},
		{"prompt", func(d *cellar, f fact, _ string) string {
			text, _ := d.do(toJSON(map[string]any{"session_id": fmt.Sprint(d.now.UnixNano()), "prompt": "what of the " + f.ask + " of the third cellar, who eats labels?"}),
				"hook", "UserPromptSubmit")
			return text
		}},
		{"materialize", func(d *cellar, _ fact, _ string) string {
			to := d.t.TempDir()
			d.do("", "materialize", "--to", to)
			return readAll(d.t, to)
		}},
		{"bundle made now", func(d *cellar, f fact, ref string) string {
			file := filepath.Join(d.t.TempDir(), "new.bundle")
			d.must("", "bundle", "create", file)
			other := newCellar(d.t, filepath.Join(d.t.TempDir(), "other"))
			other.must("", "bundle", "apply", file)
			text, _ := other.do("", "get", ref)
			return other.search(f) + text
		}},
		{"backup made now", func(d *cellar, f fact, ref string) string {
			to := filepath.Join(d.t.TempDir(), "copies")
			d.must("", "backup", to)
			other := newCellar(d.t, filepath.Join(d.t.TempDir(), "other"))
			other.must("", "restore", to, "--yes")
			text, _ := other.do("", "get", ref)
			return other.search(f) + text
		}},
		{"bytes of the store", func(d *cellar, f fact, _ string) string {
			if len(holders(d.t, d.dir, f.answer)) > 0 {
				return f.answer
			}
			return ""
		}},
	}
}

func readAll(t testing.TB, dir string) string {
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			text, readErr := os.ReadFile(path)
			all.Write(text)
			err = readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// A grid counts what was looked at, by row and column.
type grid struct {
	t      testing.TB
	cells  map[[2]string]bool // whether all of it was as it is to be
	failed []string
}

func newGrid(t testing.TB) *grid { return &grid{t: t, cells: map[[2]string]bool{}} }

func (m *grid) check(row, column string, passed bool, what string) {
	before, found := m.cells[[2]string{row, column}]
	m.cells[[2]string{row, column}] = passed && (before || !found)
	if !passed {
		m.failed = append(m.failed, row+" × "+column+": "+what)
	}
}

func (m *grid) end() {
	passed := 0
	for _, isPassed := range m.cells {
		if isPassed {
			passed++
		}
	}
	m.t.Logf("%d of %d cells are passed", passed, len(m.cells))
	for _, f := range m.failed {
		if os.Getenv("FILEBUS_PROGRAM") == "" {
			m.t.Error(f)
		} else {
			m.t.Log(f)
		}
	}
}

// TestForgetting destroys a fact and brings it in again by each way, beside a twin that nobody has destroyed: the fact is
// found by no way out, and the twin by all. FILEBUS_FORGETTING=all takes each way for the first one too.
func TestForgetting(t *testing.T) {
	t.Parallel()
	m, first := newGrid(t), waysIn()
	defer m.end()
	if os.Getenv("FILEBUS_FORGETTING") == "" {
		first = slices.DeleteFunc(first, func(w wayIn) bool { return w.name != "sync" && w.name != "knowledge add" })
	}
	for _, w := range first {
		forget(m, w)
	}

}

func forget(m *grid, first wayIn) {
	top := m.t.(*testing.T).TempDir()
	d, shared := newCellar(m.t, filepath.Join(top, "desk")), filepath.Join(top, "shared")
	gone, twin := newFact("zyzzyva", "ortolan"), newFact("quokkaberry", "marzipan")
	// Two replicas have both; a bundle and a backup are made.
	first.feed(d, gone, "first-gone")
	first.feed(d, twin, "first-twin")
	refs := map[fact]string{gone: d.refOf(gone), twin: d.refOf(twin)}
	other := newCellar(m.t, filepath.Join(top, "other"))
	for _, each := range []*cellar{d, other} {
		each.must("", "remote", "add", "team", filepath.Join(top, "team"))
		each.must("", "push")
	}
	d.must("", "remote", "trust", "--all")
	other.must("", "remote", "trust", "--all")
	other.must("", "pull")
	other.must("", "push")
	d.write("../shared/note", "what others have\n")
	d.must("", "bundle", "create", filepath.Join(shared, "old.bundle"))
	d.must("", "backup", filepath.Join(shared, "copies"))
	outs := waysOut()
	look := func(d *cellar, step string, wants bool) {
		for _, out := range outs {
			asked := map[fact]bool{twin: true, gone: wants}
			for _, f := range slices.SortedFunc(maps.Keys(asked), func(a, b fact) int { return strings.Compare(a.text, b.text) }) {
				text := out.ask(d, f, refs[f])
				is := strings.Contains(text, f.answer)
				m.check(first.name, out.name, is == asked[f], fmt.Sprintf("%s: %s found %t: %.600s", step, f.ask, is, text))
			}
		}
	}
	look(d, "stored", true)
	purge := []string{"purge", "--files", "--everywhere", refs[gone]}
	if first.name == "capture" && os.Getenv("FILEBUS_PROGRAM") == "" {
		purge = append(purge, "--trees") // which is new
	}
	text, code := d.do("", purge...)
	m.check(first.name, "purge", code == 0, text)
	for _, made := range regexp.MustCompile(`try: filebus (purge --files \S+)`).FindAllStringSubmatch(text, -1) { // of it
		d.must("", strings.Fields(made[1])...)
	}
	look(d, "purged", false)
	for i, again := range append(waysIn(), waysBack(shared)...) {
		if again.isEntry != first.isEntry && i < len(waysIn()) {
			continue // it is of other bytes: another text
		}
		again.feed(d, gone, fmt.Sprint("again", i))
		m.check(first.name, again.name, !strings.Contains(d.search(gone), gone.answer), "the fact is back: "+d.search(gone))
		twin := twin
		if i < len(waysIn()) {
			twin = newFact("wombat"+string(rune('a'+i)), "echidna"+string(rune('a'+i)))
			again.feed(d, twin, fmt.Sprint("twin", i))
		}
		m.check(first.name, again.name, strings.Contains(d.search(twin), twin.answer), "the twin is not found")
	}
	look(d, "again", false)
	for _, job := range [][]string{
		{"sync"}, {"reindex"}, {"compact"}, {"gc", "--kind", "result", "--keep", "100"}, {"knowledge", "harvest"}, {"verify", "--repair"}, {"verify"},
	} {
		text, code := d.do("", job...)
		m.check(first.name, job[0], code == 0 || job[0] == "knowledge", text)
	}
	look(d, "jobs", false)
	text, _ = d.do("", "log", "--json", "--limit", "0")
	m.check(first.name, "log", strings.Contains(text, `"op":"drop"`), text)
	// The other end, which had it before. A store that was restored has a key of its own.
	d.must("", "push")
	other.must("", "remote", "trust", "--all")
	text, _ = other.do("", "pull")
	look(other, "other: "+text, false)
	other.must("", "push")
	d.must("", "pull")
	m.check(first.name, "pull", !strings.Contains(d.search(gone), gone.answer), "the other end brings it back")
}

// TestOthersForget lets a member copy what another has put, and destroy the copy, or all that has its text, and a text of his own:
// nothing of what the other's own user does is stopped by that, by any way in, nor a restore.
func TestOthersForget(t *testing.T) {
	t.Parallel()
	for n, purge := range [][]string{{"purge", "--files"}, {"purge", "--files", "--everywhere"}} {
		top, f, his := t.TempDir(), newFact("zyzzyva", "ortolan"), newFact("quokkaberry", "marzipan")
		d, other := newCellar(t, filepath.Join(top, "desk")), newCellar(t, filepath.Join(top, "other"))
		d.must(f.text, "put", "--name", "note/docs/fact.md")
		d.must("", "knowledge", "add", "--type", "gotcha", "--content", strings.TrimSpace(f.text))
		d.must("", "backup", filepath.Join(top, "copies"))
		other.must(his.text, "put", "--name", "note/docs/his.md")
		for _, each := range []*cellar{d, other} {
			each.must("", "remote", "add", "team", filepath.Join(top, "team"))
			each.must("", "push")
			each.must("", "remote", "trust", "--all")
			each.must("", "pull")
		}
		d.must("", "remote", "trust", "--all")
		d.must("", "pull")
		other.must("", "pull")
		other.must(f.text, "put", "--name", "note/docs/copy.md")
		entry := regexp.MustCompile(`(?m)^insight-\S+`).FindString(other.must("", "knowledge", "add", "--type", "insight", "--content", strings.TrimSpace(f.text)))
		other.must("", append(purge, "note/docs/his.md", "note/docs/copy.md", "knowledge/"+entry)...)
		other.must("", "push")
		d.must("", "pull")
		if said, _ := d.do("", "doctor"); !regexp.MustCompile(`texts? stays? out`).MatchString(said) {
			t.Errorf("%q: nothing is kept out that comes from others:\n%s", purge, said)
		}
		if isFound := strings.Contains(d.search(f), f.answer); !isFound && n == 0 {
			t.Errorf("%q: what the own user has put is gone", purge)
		}
		for i, in := range waysIn() {
			for as, f := range map[string]fact{fmt.Sprint("own", i): f, fmt.Sprint("now", i): his} {
				in.feed(d, f, as)
				names, _ := d.do("", "list", "--json", "--limit", "0")
				if in.isEntry {
					as += " of " + f.answer
				}
				if !strings.Contains(names, as) {
					t.Errorf("%q: %s does not store %s", purge, in.name, f.ask)
				}
			}
		}
		d.must("", "restore", filepath.Join(top, "copies"), "--yes")
		if text := d.search(f); !strings.Contains(text, f.answer) {
			t.Errorf("%q: the restored text is not found: %s", purge, text)
		}
	}
}

// refOf returns the ref of the version that a search finds.
func (d *cellar) refOf(f fact) string {
	d.t.Helper()
	var answer struct {
		Hits []struct{ Ref string }
	}
	text := d.search(f)
	if err := json.Unmarshal([]byte(text[max(0, strings.Index(text, "{")):]), &answer); err != nil || len(answer.Hits) == 0 {
		d.t.Fatalf("no hit for %s: %v\n%s", f.ask, err, text)
	}
	return answer.Hits[0].Ref
}

// An oldness is a way in which an entry ceases to count: its text is old, and what counts then now, if anything does.
type oldness struct {
	name     string
	old, now fact
	does     []string // a command, with OLD and NOW for the texts of both; the entry is gotcha-001
}

func oldnesses() []oldness {
	other := newFact("wallaby", "bilby")
	old, now := newFact("zyzzyva", "ortolan"), other
	now.text = strings.ReplaceAll(now.text, "wallaby", "zyzzyva") // of the same thing
	none := fact{}
	return []oldness{
		{"replacement", old, now, []string{"knowledge", "supersede", "gotcha-001", "--content", "NOW"}},
		{"polarity", old, fact{strings.Replace(now.text, "eats only", "never eats", 1), now.ask, now.answer},
			[]string{"knowledge", "supersede", "gotcha-001", "--content", "NOW"}},
		{"retraction", old, none, []string{"knowledge", "reject", "gotcha-001", "--because", "it was another one"}},
		{"partial", old, now, []string{"knowledge", "supersede", "gotcha-001", "--content", "NOW", "--rest", "The zyzzyva of the cellar has six legs, all of them short"}},
		{"bounded", old, none, []string{"knowledge", "edit", "gotcha-001", "--valid-until", "2026-02"}},
	}
}

// TestContradiction lets an entry of knowledge cease to count in five shapes, minutes and months ago: it is no answer any more
// that is not marked, in no prompt, also after what runs in the background and after the old file has come back, and what it
// said before is still told.
func TestContradiction(t *testing.T) {
	t.Parallel()
	m := newGrid(t)
	defer m.end()
	waits := []time.Duration{time.Minute}
	if os.Getenv("FILEBUS_FORGETTING") != "" {
		waits = append(waits, 100*24*time.Hour)
	}
	for _, wait := range waits {
		for _, s := range oldnesses() {
			contradict(m, s, wait)
		}
	}
}

func contradict(m *grid, s oldness, wait time.Duration) {
	top := m.t.(*testing.T).TempDir()
	d, other := newCellar(m.t, filepath.Join(top, "cellar")), newCellar(m.t, filepath.Join(top, "other"))
	// The search says what counts, and what it marks; a prompt has nothing of what does not.
	look := func(d *cellar, step string) {
		found := d.search(s.old)
		var answer struct {
			Hits []struct{ Name, Standing, Snippet string }
		}
		_ = json.Unmarshal([]byte(found[max(0, strings.Index(found, `{"total`)):]), &answer) // nothing is found then
		isMarked, at, to := true, -1, -1
		for i, h := range answer.Hits {
			switch {
			case h.Name == "knowledge/gotcha-001":
				at, isMarked = i, h.Standing == "superseded" || h.Standing == "rejected" || h.Standing == "past"
			case strings.HasPrefix(h.Name, "knowledge/gotcha-002"): // a store with a remote has longer ids
				to = i
			}
		}
		isNow := s.now.text == "" || to >= 0 && (at < 0 || to < at)
		m.check(s.name, step+" A", isMarked && isNow, found)
		prompt, _ := d.do(toJSON(map[string]any{"session_id": fmt.Sprint(d.now.UnixNano()), "prompt": "what of the zyzzyva of the third cellar, who eats labels?"}),
			"hook", "UserPromptSubmit")
		about, _ := d.do("", "context", "the zyzzyva of the third cellar", "--max-tokens", "4000")
		m.check(s.name, step+" B", !strings.Contains(prompt, "gotcha-001") && !strings.Contains(about, s.old.answer), prompt+about)
		listed, _ := d.do("", "knowledge", "list")
		m.check(s.name, step+" E", !strings.Contains(listed, s.old.answer) || strings.Contains(listed, "proposed\n"), listed)
		if s.now.text != "" {
			m.check(s.name, step+" twin", strings.Contains(about, s.now.answer) && strings.Contains(prompt, "gotcha-002"), prompt+about)
		}
	}
	d.must("", "knowledge", "add", "--type", "gotcha", "--content", strings.TrimSpace(s.old.text))
	told, _ := d.do("", "context", "the zyzzyva of the third cellar")
	m.check(s.name, "before", strings.Contains(told, s.old.answer), told)
	before, _ := os.ReadFile(filepath.Join(d.dir, ".claude", "knowledge_graph.md"))
	for _, each := range []*cellar{d, other} {
		each.must("", "remote", "add", "team", filepath.Join(top, "team"))
		each.must("", "push")
	}
	d.must("", "remote", "trust", "--all")
	other.must("", "remote", "trust", "--all")
	other.must("", "pull")
	d.now = d.now.Add(wait)
	command := slices.Clone(s.does)
	for i := range command {
		command[i] = strings.NewReplacer("NOW", strings.TrimSpace(s.now.text)).Replace(command[i])
	}
	text, code := d.do("", command...)
	m.check(s.name, "said", code == 0, text)
	d.now, other.now = d.now.Add(wait), d.now.Add(wait)
	look(d, "said")
	jobs := [][]string{{"sync"}, {"reindex"}, {"compact"}, {"gc", "--kind", "result", "--keep", "100"}, {"verify", "--repair"}}
	for _, job := range jobs {
		d.must("", job...)
	}
	look(d, "C")
	after, _ := os.ReadFile(filepath.Join(d.dir, ".claude", "knowledge_graph.md"))
	if s.name != "bounded" { // there the file alone says it
		d.write(".claude/knowledge_graph.md", string(before)) // as a checkout does
		d.must("", "sync")
		look(d, "C'")
		d.write(".claude/knowledge_graph.md", string(after))
		d.must("", "sync")
	}
	if s.name != "bounded" { // what is said without an end holds
		d.must("", "knowledge", "add", "--type", "gotcha", "--title", "again", "--content", strings.TrimSpace(s.old.text))
		about, _ := d.do("", "context", "the zyzzyva of the third cellar", "--max-tokens", "4000")
		m.check(s.name, "another name", !strings.Contains(about, s.old.answer), about)
	}
	was, _ := d.do("", "get", "knowledge/gotcha-001")
	all, _ := d.do("", "knowledge", "list", "--all")
	m.check(s.name, "D", strings.Contains(was, s.old.answer) && strings.Contains(all, "gotcha-001"), was+all)
	d.must("", "push")
	other.must("", "pull")
	look(other, "replica")
	d.must("", "backup", filepath.Join(top, "copies"))
	again := newCellar(m.t, filepath.Join(top, "again"))
	again.now = d.now
	again.must("", "restore", filepath.Join(top, "copies"), "--yes")
	again.must("", "config", "set", "hooks.prompt_context", "true")
	look(again, "restored")
}
