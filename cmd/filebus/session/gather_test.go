package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/release"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A clock goes on by a second each time that it is asked.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// A scene is a workspace with its sessions.
type scene struct {
	*materialize.Workspace
	*Sessions
	t testing.TB
}

// newScene returns a workspace whose store must be sound when the test ends.
func newScene(t testing.TB, settings materialize.Settings) *scene {
	t.Helper()
	c := &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	w := newWorkspace(t, settings, c.Now)
	return &scene{w, Open(w, query.New(w.Store, query.Options{Now: c.Now}), c.Now), t}
}

// put stores a text under a name.
func (b *scene) put(name, text string, from ...record.Ref) record.Ref {
	b.t.Helper()
	parsed, err := record.ParseName(name)
	if err != nil {
		b.t.Fatal(err)
	}
	put, err := b.Workspace.Put(b.t.Context(), materialize.PutRequest{
		Kind: parsed.Kind, ID: parsed.ID, Text: strings.NewReader(text), Source: record.SourcePut, From: from,
	})
	if err != nil {
		b.t.Fatalf("putting %s: %v", name, err)
	}
	return put.Ref
}

func (b *scene) gather(request GatherRequest) *Bundle {
	b.t.Helper()
	bundle, err := b.Gather(b.t.Context(), request)
	if err != nil {
		b.t.Fatalf("Gather(%+v): %v", request, err)
	}
	return bundle
}

// members lists the names of a bundle's members.
func members(b *Bundle) []string {
	var names []string
	for _, m := range b.Members {
		names = append(names, m.Version.Record.Name.String())
	}
	return names
}

// layOut lays a bundle out and returns the texts by path.
func (b *scene) layOut(bundle *Bundle, trees []record.Tree, maxTokens int) map[string]string {
	b.t.Helper()
	dir := b.t.TempDir()
	if _, err := b.Sessions.LayOut(b.t.Context(), bundle, dir, trees, maxTokens, nil); err != nil {
		b.t.Fatalf("LayOut: %v", err)
	}
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		rel, relErr := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = string(text)
		return errors.Join(err, relErr)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return files
}

// TestClosure puts one text that cites something in some way, and looks what is
// gathered.
func TestClosure(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{Home: t.TempDir()})
	result := b.put("result/c1/call 1", "A result.")
	b.put("note/docs/a.md", "A note.")
	b.put("note/docs/with space (1).md", "A note.")
	b.put("note/docs/größe.md", "A note.")
	b.put("handoff/task-001", "# Task 001\n")
	old := b.put("note/docs/b.md", "One.")
	b.put("note/docs/b.md", "Two.")
	b.put("artifact/build/s/other", "# Other\n")
	tests := []struct {
		text string
		want string // the member that is found; "" for none
		gone string // what is left out, with the reason
	}{
		{"docs/a.md", "note/docs/a.md", ""},
		{"at docs/a.md:12.", "note/docs/a.md", ""},
		{"note/docs/a.md", "note/docs/a.md", ""},
		{"./docs/a.md", "note/docs/a.md", ""},
		{"[a](../../../../docs/a.md#top)", "note/docs/a.md", ""},
		{"[a](../../../../docs/with%20space%20%281%29.md)", "note/docs/with space (1).md", ""},
		{"`docs/with space (1).md`", "note/docs/with space (1).md", ""},
		{"docs/größe.md", "note/docs/größe.md", ""},
		{"请看docs/a.md。", "note/docs/a.md", ""},
		{b.Root + "/docs/a.md", "note/docs/a.md", ""},
		{"file://" + b.Root + "/docs/a.md", "note/docs/a.md", ""},
		{`{"result_file":"` + filepath.ToSlash(b.FilePath(".claude/agent_tool_results/c1/call 1.md")) + `"}`, "result/c1/call 1", ""},
		{result.Short(), "result/c1/call 1", ""},
		{result.String(), "result/c1/call 1", ""},
		{"journal/task-001.md", "handoff/task-001", ""},
		{"claude/journal/task-001.md", "handoff/task-001", ""},
		{"@.claude/journal/task-001.md", "handoff/task-001", ""},
		{"other.md", "artifact/build/s/other", "other.md: it is not stored"},
		{"../s/other.md", "artifact/build/s/other", ""},
		{old.Short(), "note/docs/b.md", old.Short() + ": an older version of note/docs/b.md, whose current one is here"},
		{"docs/ and docs/*.md and docs and a.go", "", ""},
		{"see a.md", "", "a.md: it is not stored"},
		{"https://example.org/docs/a.md 0123456789ab issue/feature", "", ""},
		{"src/none.go", "", ""},
		{"note/docs/none.md", "", "note/docs/none.md: it is not stored"},
		{".claude/journal/task-009.md", "", ".claude/journal/task-009.md: it is not stored"},
		{"[x](none.md)", "", "none.md: it is not stored"},
		{".claude/journal/task-{id}.md `.claude/journal/task-*.md`", "", ""},
		{"../../../../../../../../etc/passwd [x](/etc/passwd.md)", "", "/etc/passwd.md: it is outside of the workspace"},
	}
	for i, test := range tests {
		id := fmt.Sprintf("k%d", i)
		b.put("artifact/build/"+id+"/plan", test.text)
		bundle := b.gather(GatherRequest{Session: id, Closure: true})
		want := []string{"artifact/build/" + id + "/plan"}
		if test.want != "" {
			want = append(want, test.want)
		}
		gone := ""
		for _, g := range bundle.LeftOut {
			gone += g.What + ": " + g.Reason
		}
		// What stands beside the plan of another session is not beside this one.
		if strings.HasPrefix(test.text, "other.md") {
			want = want[:1]
		}
		if diff := cmp.Diff(want, members(bundle)); diff != "" || gone != test.gone {
			t.Errorf("%q: left out %q, want %q; members (-want +got):\n%s", test.text, gone, test.gone, diff)
		}
	}
}

func TestClosureOfEnvelopes(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	source := b.put("note/source.md", "The source, which cites artifact/build/k7/plan again.")
	b.put("artifact/build/k7/plan", "# Plan\n", source)
	got := members(b.gather(GatherRequest{Session: "k7", Closure: true}))
	if diff := cmp.Diff([]string{"artifact/build/k7/plan", "note/source.md"}, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	if err := b.Workspace.Remove(t.Context(), record.Name{Kind: record.KindNote, ID: "source.md"}); err != nil {
		t.Fatal(err)
	}
	bundle := b.gather(GatherRequest{Session: "k7", Closure: true})
	if len(bundle.LeftOut) != 1 || bundle.LeftOut[0].Reason != "retired: note/source.md" {
		t.Errorf("left out = %+v, want the retired source", bundle.LeftOut)
	}
}

// TestCircles lets three records cite each other, and one itself.
func TestCircles(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	b.put("artifact/build/k7/a", "b.md and a.md")
	b.put("artifact/build/k7/b", "docs/c.md")
	b.put("note/docs/c.md", ".claude/sessions/build/k7/a.md and docs/d.md")
	b.put("note/docs/d.md", "docs/c.md")
	bundle := b.gather(GatherRequest{Session: "k7", Closure: true})
	want := []string{"artifact/build/k7/a", "artifact/build/k7/b", "note/docs/c.md", "note/docs/d.md"}
	if diff := cmp.Diff(want, members(bundle)); diff != "" || bundle.Own != 2 || len(bundle.Notes)+len(bundle.LeftOut) > 0 {
		t.Errorf("own %d, notes %q, left out %v, members (-want +got):\n%s", bundle.Own, bundle.Notes, bundle.LeftOut, diff)
	}
}

func TestClosureIsBounded(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	b.put("artifact/build/k7/a", "docs/0.md")
	for i := range 10 {
		b.put(fmt.Sprintf("note/docs/%d.md", i), fmt.Sprintf("docs/%d.md", i+1))
	}
	bundle := b.gather(GatherRequest{Session: "k7", Closure: true, Depth: 3})
	if len(bundle.Members) != 4 || len(bundle.Notes) != 1 || !strings.Contains(bundle.Notes[0], "more than 3 steps away") {
		t.Errorf("3 steps: %d members, notes %q", len(bundle.Members), bundle.Notes)
	}
	bundle = b.gather(GatherRequest{Session: "k7", Closure: true, Records: 5})
	if len(bundle.Members) != 6 || len(bundle.Notes) != 1 || !strings.Contains(bundle.Notes[0], "more than 5 records are referred to") {
		t.Errorf("5 records: %d members, notes %q", len(bundle.Members), bundle.Notes)
	}
	files := b.layOut(bundle, nil, 500)
	if !strings.Contains(files["INDEX.md"], "\nBounded: more than 5 records are referred to") {
		t.Errorf("the index does not say the bound:\n%s", files["INDEX.md"])
	}
}

// TestClosureOfManyThings gathers a session of 1,000 artifacts, each of which cites
// the next and something else.
func TestClosureOfManyThings(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	dir := t.TempDir()
	const artifacts = 400
	for i := range artifacts {
		file := filepath.Join(dir, ".claude", "sessions", "build", "k7", fmt.Sprintf("part-%04d.md", i))
		text := fmt.Sprintf("# Part %d\n\nThen part-%04d.md, and docs/%d.md.\n", i, (i+1)%artifacts, i%50)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		file := filepath.Join(dir, "docs", fmt.Sprintf("%d.md", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte("A note.\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Workspace.Capture(t.Context(), dir, materialize.CaptureOptions{Tree: "lib"}); err != nil {
		t.Fatal(err)
	}
	bundle := b.gather(GatherRequest{Session: "k7", Closure: true})
	if bundle.Own != artifacts || len(bundle.Members) != artifacts+50 || len(bundle.LeftOut) > 0 {
		t.Fatalf("%d of %d members are the session's, %d left out; want 400 of 450, none", bundle.Own, len(bundle.Members), len(bundle.LeftOut))
	}
	for _, maxTokens := range []int{100, DefaultIndexTokens, 20_000} {
		files := b.layOut(bundle, nil, maxTokens)
		index := files["INDEX.md"]
		if len(files) != artifacts+51 || len(index) > 4*maxTokens || !strings.Contains(index, "400 files, 50 that they refer to") {
			t.Errorf("with %d tokens: %d files, an index of %d bytes:\n%.500s", maxTokens, len(files), len(index), index)
		}
		if listed := strings.Contains(index, "part-0399.md"); listed != (maxTokens >= 20_000) {
			t.Errorf("with %d tokens the last file is listed: %t", maxTokens, listed)
		}
		if grouped := strings.Contains(index, "build/k7/: 400 files (400 artifact)"); grouped != (maxTokens < 20_000) {
			t.Errorf("with %d tokens the files are counted by folder: %t\n%.500s", maxTokens, grouped, index)
		}
	}
	// The tree alone stands at the top.
	files := b.layOut(bundle, []record.Tree{"lib"}, DefaultIndexTokens)
	if files["docs/7.md"] != "A note.\n" {
		t.Errorf("the captured tree alone has no docs/7.md at the top: %d files", len(files))
	}
}

func TestUnknownSession(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	b.put("artifact/build/k7m2p9/plan", "# Plan\n")
	for id, near := range map[string][]string{"k7m2p8": {"k7m2p9"}, "K7M2P9": {"k7m2p9"}, "7m2": {"k7m2p9"}, "xyz": nil, "": nil, "7km2p9": {"k7m2p9"}, "k7m2p99": {"k7m2p9"}} {
		_, err := b.Gather(t.Context(), GatherRequest{Session: id})
		var nothing *record.Error
		hint := "filebus session list"
		if near != nil {
			hint = "filebus list --session {each}"
		}
		if !errors.As(err, &nothing) || nothing.Hint != hint || !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: error %v, want one that says: %s", id, err, hint)
			continue
		}
		if diff := cmp.Diff(near, nothing.Names); diff != "" {
			t.Errorf("near %q (-want +got):\n%s", id, diff)
		}
	}
}

// TestOutsideRoot gathers what lies outside the workspace, by its absolute path.
func TestOutsideRoot(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, test := range []struct {
		profile layout.Profile
		want    string
	}{
		{profileOf("seed"), "~/.qark/agent_tool_results/c1/a.md"},
		{profileOf("blue"), ".blue/agent_tool_results/c1/a.md"},
	} {
		b := newScene(t, materialize.Settings{Profile: test.profile, Home: home})
		put, err := b.Workspace.Put(t.Context(), materialize.PutRequest{Kind: record.KindResult, ID: "c1/a", Text: strings.NewReader("A result."), Source: record.SourcePut})
		if err != nil {
			t.Fatal(err)
		}
		b.put("artifact/build/k7/plan", "Read "+filepath.ToSlash(put.File)+" first.")
		files := b.layOut(b.gather(GatherRequest{Session: "k7", Closure: true}), nil, 500)
		if files[test.want] != "A result." {
			t.Errorf("%s: %s is not laid out: %v", test.profile.Name, test.want, files)
		}
	}
}

// TestDestroyedMeanwhile destroys a record between gathering and laying out: it is
// named as left out, and no line of the index promises it.
func TestDestroyedMeanwhile(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	b.put("artifact/build/k7/plan", "# Plan\n")
	b.put("artifact/build/k7/report", "# Report\n")
	bundle := b.gather(GatherRequest{Session: "k7"})
	if _, err := b.Workspace.Release(t.Context(),
		release.Request{Names: []record.Name{{Kind: record.KindArtifact, ID: "build/k7/report"}}}); err != nil {
		t.Fatal(err)
	}
	index := b.layOut(bundle, nil, 500)["INDEX.md"]
	if !strings.Contains(index, "1 file, ~") || strings.Contains(index, "report.md") || !strings.Contains(index, "- artifact/build/k7/report: its content was destroyed\n") {
		t.Errorf("the index after a file was destroyed:\n%s", index)
	}
}

// TestWholeFile cites a queue as a file and one of its entries by name: the file is
// laid out whole, with one line of the index, and its entries are not followed.
func TestWholeFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{".claude/issue_queue.md", "issue/ISSUE-1 and .claude/issue_queue.md", ".claude/issue_queue.md and issue/ISSUE-1"} {
		b := newScene(t, materialize.Settings{})
		b.put("note/docs/a.md", "A note.")
		b.put("issue/ISSUE-1", "### ISSUE-1\n\n- **Status**: pending\n\nOne.\n")
		b.put("issue/ISSUE-2", "### ISSUE-2\n\n- **Status**: pending\n\nTwo, see docs/a.md.\n")
		b.put("artifact/build/k7/plan", text)
		queue, err := os.ReadFile(b.FilePath(".claude/issue_queue.md"))
		if err != nil {
			t.Fatal(err)
		}
		files := b.layOut(b.gather(GatherRequest{Session: "k7", Closure: true}), nil, 500)
		index := files["INDEX.md"]
		want := fmt.Sprintf("\n- .claude/issue_queue.md | frame | ~%d | the whole file\n", record.EstimateTokens(int64(len(queue))))
		if len(files) != 3 || files[".claude/issue_queue.md"] != string(queue) || strings.Count(index, want) != 1 || strings.Count(index, "- .claude/issue_queue.md") != 1 {
			t.Errorf("%q: files %q, want the queue %q and a line %q", text, files, queue, want)
		}
	}
}
