package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/mcp"
)

// A diskRun does random things to a workspace, by hand, by git and by command, and compares now and
// then what commands say with a plain walk over the disk.
type diskRun struct {
	*rand.Rand
	*testing.T
	dir     string
	clock   time.Time // of files that are written: each later than the one before, and all long ago
	token   int
	did     []string
	results map[string]string // that were put, by their names
	tagged  map[string]string // tags of notes that nothing but a move has changed since, by their paths
	left    map[string]string // tags of notes that were moved away, by the paths where they were
}

func newDiskRun(t *testing.T, seed uint64) *diskRun {
	r := &diskRun{
		Rand: rand.New(rand.NewPCG(seed, 41)), T: t, dir: t.TempDir(), clock: time.Now().Add(-1000 * time.Hour),
		results: map[string]string{}, tagged: map[string]string{}, left: map[string]string{},
	}
	r.git("init", "-q", "-b", "main")
	r.filebus("init")
	r.write(".filebus/config.toml", "notes = [\"docs\"]\n\n[kinds]\nlearned = \"knowledge\"\n")
	r.write(".gitignore", ".claude/\n")
	r.write("docs/überblick.md", r.text())
	r.write("learned/first.md", r.text())
	r.git("add", "-A")
	r.git("commit", "-qm", "one")
	r.git("branch", "side")
	return r
}

func (r *diskRun) text() string {
	r.token++
	return fmt.Sprintf("# Title %d\n\nSome words and token%05dx.\n", r.token%7, r.token)
}

func (r *diskRun) write(file, text string) {
	file = filepath.Join(r.dir, file)
	must(r.T, os.MkdirAll(filepath.Dir(file), 0o777))
	must(r.T, os.WriteFile(file, []byte(text), 0o666))
	r.age(file)
}

// age gives a file a time of its own, long ago.
func (r *diskRun) age(file string) {
	r.clock = r.clock.Add(time.Second)
	must(r.T, os.Chtimes(file, r.clock, r.clock))
}

// git runs a command of git, which may fail, as for a stash of nothing.
func (r *diskRun) git(args ...string) {
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Env = append(os.Environ(), append(quickGit(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=:")...)
	_ = cmd.Run()
	for file := range r.files("") {
		if info, err := os.Stat(filepath.Join(r.dir, file)); err == nil && time.Since(info.ModTime()) < 100*time.Hour {
			r.age(filepath.Join(r.dir, file))
		}
	}
}

func (r *diskRun) environ(out *bytes.Buffer) *cli.Environ {
	env := docEnviron(r.dir, out)
	env.Now, env.Err, env.Variables = time.Now, &bytes.Buffer{}, os.Environ()
	return env
}

// filebus runs a command, and returns what it prints and its exit code.
func (r *diskRun) filebus(args ...string) (string, int) {
	var out bytes.Buffer
	code := run(r.Context(), r.environ(&out), args)
	return out.String(), code
}

// files returns the texts of the files below a folder that are nobody's own, by their paths.
func (r *diskRun) files(below string) map[string]string {
	found := map[string]string{}
	_ = filepath.WalkDir(filepath.Join(r.dir, below), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.Name() == ".git" || d.Name() == ".filebus":
			return fs.SkipDir
		case d.Type().IsRegular():
			text, err := os.ReadFile(name)
			rel, _ := filepath.Rel(r.dir, name)
			found[filepath.ToSlash(rel)] = string(text)
			return err
		}
		return nil
	})
	return found
}

// texts returns the notes and whole entries that the disk has.
func (r *diskRun) texts() map[string]string {
	all := r.files("docs")
	maps.Copy(all, r.files("learned"))
	return all
}

// pick returns one of the files that there are, or "".
func (r *diskRun) pick(files map[string]string) string {
	names := slices.Sorted(maps.Keys(files))
	if len(names) == 0 {
		return ""
	}
	return names[r.IntN(len(names))]
}

// place returns a path at which a note may be.
func (r *diskRun) place() string {
	folder := []string{"docs", "docs/tief/unten", "learned", "docs/日本"}[r.IntN(4)]
	return fmt.Sprintf("%s/n%d.md", folder, r.IntN(9))
}

const handQueue = ".claude/issue_queue.md"

// step does one thing, and says what.
func (r *diskRun) step() string {
	some, other := r.pick(r.texts()), r.place()
	path := filepath.Join(r.dir, some)
	switch what := r.IntN(18); {
	case what < 2 || some == "":
		r.takes(other)
		r.write(other, r.text())
		return "write " + other
	case what == 2:
		delete(r.tagged, some)
		r.write(some, r.text())
		return "edit " + some
	case what == 3:
		delete(r.tagged, some)
		must(r.T, os.Remove(path))
		return "delete " + some
	case what < 6:
		return r.move(some, other)
	case what == 6:
		return r.command([][]string{{"search", "words"}, {"list", "--limit", "3"}, {"status"}, {"context", "words"}}[r.IntN(4)]...)
	case what == 7:
		return r.command("sync")
	case what == 8:
		return r.tag(some)
	case what == 9:
		delete(r.tagged, some)
		return r.command("rm", some)
	case what == 10:
		return r.put()
	case what == 11:
		file := r.pick(r.files(".claude/agent_tool_results"))
		_ = os.Remove(filepath.Join(r.dir, file)) // there may be none
		return "delete result " + file
	case what == 12:
		return r.command("issue", "add", fmt.Sprintf("Issue %d of words%d", r.IntN(1000), r.IntN(1000)), "--type", "bug")
	case what == 13:
		return r.queue()
	case what == 14:
		return r.marker()
	}
	return r.onGit()
}

func (r *diskRun) command(args ...string) string {
	_, code := r.filebus(args...)
	return fmt.Sprintf("filebus %q (%d)", args, code)
}

// takes says that another text comes to a path: what was moved away from there may have been copied.
func (r *diskRun) takes(path string) {
	delete(r.tagged, path)
	maps.DeleteFunc(r.tagged, func(_, tag string) bool { return tag == r.left[path] })
}

// move renames a file. Where nothing else can be meant, its tag goes with it.
func (r *diskRun) move(from, to string) string {
	tag := r.tagged[from]
	delete(r.tagged, from)
	if _, err := os.Lstat(filepath.Join(r.dir, to)); err == nil || filepath.Dir(from) == "learned" || filepath.Dir(to) == "learned" {
		return "nothing"
	}
	r.takes(to)
	must(r.T, os.MkdirAll(filepath.Dir(filepath.Join(r.dir, to)), 0o777))
	must(r.T, os.Rename(filepath.Join(r.dir, from), filepath.Join(r.dir, to)))
	if tag != "" {
		r.tagged[to], r.left[from] = tag, tag
	}
	return "move " + from + " to " + to
}

// tag gives a text of its own a tag of its own.
func (r *diskRun) tag(file string) string {
	r.write(file, r.text())
	tag := fmt.Sprintf("tag%d", r.token)
	if _, code := r.filebus("tag", "add", file, tag); code == 0 {
		r.tagged[file] = tag
	}
	return "tag " + file
}

func (r *diskRun) put() string {
	text := r.text()
	var out bytes.Buffer
	env := r.environ(&out)
	env.In = strings.NewReader(text)
	call := fmt.Sprintf("k%d", r.token)
	if code := run(r.Context(), env, []string{"put", "--agent", "a", "--conversation", "c", "--call", call}); code == 0 {
		r.results["result/c/"+call] = text
	}
	return "put " + call
}

// queue adds an issue to the queue by hand, takes one away, or removes the whole file.
func (r *diskRun) queue() string {
	text := r.files(".claude")[handQueue]
	cut := strings.Index(text, "\n### ")
	switch what := r.IntN(5); {
	case what == 0:
		_ = os.Remove(filepath.Join(r.dir, handQueue)) // there may be none
		r.filebus("status")                            // else a new one is a stale save, and a conflict
		return "delete the queue"
	case what < 3 && cut > 0:
		_, rest, more := strings.Cut(text[cut+1:], "\n### ") // the oldest: a text without the newest alone would be a stale save
		if r.token++; more {
			rest = "\n### " + rest
		}
		r.write(handQueue, fmt.Sprintf("# Queue, cut %d times\n", r.token)+rest)
		return "cut the queue"
	}
	r.token++
	if text == "" {
		text = "# Queue\n"
	}
	r.write(handQueue, text+fmt.Sprintf("\n### ISSUE-hand-%d\n\n- **Status**: pending\n- **Summary**: By hand %d\n", r.token, r.token))
	return "append to the queue"
}

func (r *diskRun) marker() string {
	file := fmt.Sprintf(".claude/agent_complete/%d.done", r.IntN(5))
	if os.Remove(filepath.Join(r.dir, file)) == nil {
		return "delete " + file
	}
	r.write(file, "")
	return "write " + file
}

func (r *diskRun) onGit() string {
	args := [][]string{
		{"commit", "-qam", "more"}, {"add", "-A"}, {"checkout", "-q", "main"}, {"checkout", "-q", "side"}, {"checkout", "-qf", "side"},
		{"checkout", "-q", "--detach", "HEAD~1"}, {"stash", "-q"}, {"stash", "pop", "-q"}, {"reset", "-q", "--hard"},
	}[r.IntN(9)]
	clear(r.tagged) // what git brings back may have been elsewhere
	r.git(args...)
	return fmt.Sprintf("git %q", args)
}

// names returns the names that a command lists in JSON, which may be asked before the queue is settled.
func names(t *testing.T, text string) []string {
	t.Helper()
	all, not := listed(t, text)
	if not != nil && *not != (cli.NotLookedAt{Conflicts: 1}) {
		t.Fatalf("%s", text)
	}
	return all
}

// listed returns the names that a command lists in JSON, and what it says that it has not; nil: nothing.
func listed(t *testing.T, text string) (all []string, not *cli.NotLookedAt) {
	t.Helper()
	var listing struct {
		Records     []struct{ Name string }
		NotLookedAt *cli.NotLookedAt `json:"not_looked_at"`
	}
	if err := json.Unmarshal([]byte(text), &listing); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, found := range listing.Records {
		all = append(all, found.Name)
	}
	slices.Sort(all)
	return all, listing.NotLookedAt
}

// want returns the names that there must be of some kinds, by the disk and by what was put.
func (r *diskRun) want() map[string][]string {
	all := map[string][]string{"note": nil, "knowledge": nil, "marker": nil, "issue": nil}
	for file := range r.texts() {
		kind, _, _ := strings.Cut(nameOf(file), "/")
		all[kind] = append(all[kind], nameOf(file))
	}
	for file := range r.files(".claude/agent_complete") {
		all["marker"] = append(all["marker"], "marker/"+strings.TrimSuffix(filepath.Base(file), ".done"))
	}
	for _, m := range regexp.MustCompile(`(?m)^### (\S+)`).FindAllStringSubmatch(r.files(".claude")[handQueue], -1) {
		all["issue"] = append(all["issue"], "issue/"+m[1])
	}
	all["result"] = slices.Collect(maps.Keys(r.results))
	for kind := range all {
		slices.Sort(all[kind])
	}
	return all
}

// settle syncs if the queue has lost more issues than anybody takes out at once, or all that it had: the
// answer says so, and the store's counts.
func (r *diskRun) settle() {
	r.Helper()
	out, _ := r.filebus("list", "--kind", "issue", "--limit", "0", "--json")
	had, not := listed(r.T, out)
	if not == nil {
		return
	}
	lost := slices.DeleteFunc(slices.Clone(had), func(name string) bool { return slices.Contains(r.want()["issue"], name) })
	if *not != (cli.NotLookedAt{Conflicts: 1}) || len(lost) <= 3 && len(lost) < len(had) {
		r.Fatalf("%s\n%s lost of %s: %s", strings.Join(r.did[max(0, len(r.did)-60):], "\n"), lost, had, out)
	}
	r.filebus("sync")
}

// compare holds that all that read say what the disk says, each being asked first at times.
func (r *diskRun) compare() {
	r.Helper()
	fail := func(what string, got, want any) {
		r.Helper()
		if diff := gocmp.Diff(want, got); diff != "" {
			r.Fatalf("%s\n%s (-disk +filebus):\n%s", strings.Join(r.did[max(0, len(r.did)-60):], "\n"), what, diff)
		}
	}
	checks := []func(){
		func() {
			r.settle()
			for kind, want := range r.want() {
				out, _ := r.filebus("list", "--kind", kind, "--limit", "0", "--json")
				fail("list --kind "+kind, names(r.T, out), want)
			}
		},
		func() { r.compareTexts(fail) },
		func() {
			search := mcpTools()[0].served(r.environ(&bytes.Buffer{}))
			texts := r.texts()
			if file := r.pick(texts); file != "" {
				token := tokenOf(texts[file])
				answer := search.Call(r.Context(), mcp.Input{Values: map[string][]string{"query": {token}}, Tokens: 900})
				isThere := false // in a file with this text: those with the same one are one hit
				for other, text := range texts {
					isThere = isThere || text == texts[file] && strings.Contains(answer.Text, other)
				}
				if answer.Failed || !isThere {
					fail("MCP search "+token, answer.Text, file)
				}
			}
		},
		func() {
			for file, tag := range r.tagged {
				out, _ := r.filebus("list", "--tag", tag, "--json")
				fail("list --tag "+tag, names(r.T, out), []string{nameOf(file)})
			}
		},
	}
	for _, i := range r.Perm(len(checks)) {
		checks[i]()
	}
	clear(r.left)
	var page json.RawMessage // it never looks at files itself
	must(r.T, siteOf(r.environ(&bytes.Buffer{}), false).Ask(r.Context(), &page, "list", "--kind", "note", "--limit", "0"))
	fail("the page", names(r.T, string(page)), r.want()["note"])
}

var diskToken = regexp.MustCompile(`token\d+x`)

// nameOf returns the name that the record of a file has.
func nameOf(file string) string {
	if strings.HasPrefix(file, "learned/") {
		return "knowledge/~/" + file
	}
	return "note/" + file
}

func tokenOf(text string) string { return diskToken.FindString(text) }

// compareTexts compares what get and search say of each file, and of results whose files are gone.
func (r *diskRun) compareTexts(fail func(what string, got, want any)) {
	texts := r.texts()
	holders := map[string][]string{}
	for file, text := range texts {
		name := nameOf(file)
		for _, token := range diskToken.FindAllString(text, -1) { // a merge may leave two texts in a file
			holders[token] = append(holders[token], name)
		}
		for _, of := range []string{file, name} {
			got, _ := r.filebus("get", of)
			fail("get "+of, got, text)
		}
	}
	for token, want := range holders {
		out, _ := r.filebus("search", token, "--json")
		want = slices.Compact(slices.Sorted(slices.Values(want))) // it may have left one twice
		var answer struct {
			Hits []struct {
				Name string
				Like []string // with the same words
			}
		}
		must(r.T, json.Unmarshal([]byte(out), &answer))
		var got []string
		for _, hit := range answer.Hits {
			got = append(append(got, hit.Name), hit.Like...)
		}
		slices.Sort(got)
		fail("search "+token, got, want)
	}
	for name, text := range r.results {
		got, _ := r.filebus("get", name)
		fail("get "+name, got, text)
	}
	for n := range 9 {
		if file := fmt.Sprintf("docs/n%d.md", n); texts[file] == "" {
			_, code := r.filebus("get", "note/"+file)
			fail("get of what is not there, "+file, code, cli.ExitNotFound)
		}
	}
}

// TestDisk does random things by hand, by git and by command. After them listing, search, get, the page
// and MCP agree with the disk. FILEBUS_DISK is how many steps to do, a thousand if it is not set.
func TestDisk(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program")
	}
	const apart, longest = 20, 5000
	steps := effort(t, "FILEBUS_DISK", 1000)
	seeds := max(4, steps/longest)
	for seed := range uint64(seeds) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			r := newDiskRun(t, seed)
			for n := range steps / seeds {
				if r.did = append(r.did, r.step()); n%apart == apart-1 {
					r.compare()
				}
			}
			if out, code := r.filebus("verify"); code != 0 {
				t.Error(out)
			}
		})
	}
}
