package result_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A desk is a workspace with its reader, whose store must be sound when the test
// ends.
type desk struct {
	testing.TB
	*materialize.Workspace
	read *query.Reader
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	return deskIn(t, materialize.Settings{Home: t.TempDir()}, time.Now)
}

func deskIn(t testing.TB, settings materialize.Settings, now func() time.Time) *desk {
	t.Helper()
	dir := t.TempDir()
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, settings, store.Options{Now: now, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	return &desk{t, w, query.New(w.Store, query.Options{Now: now})}
}

// put stores the result of a call, as conversation/call.
func (d *desk) put(id, agent, text string) *result.Stored {
	d.Helper()
	conversation, call, _ := strings.Cut(id, "/")
	c := result.Call{Agent: agent, Conversation: conversation, ID: call}
	stored, err := result.Put(d.Context(), d.Workspace, c, store.Expect{}, strings.NewReader(text))
	if err != nil {
		d.Fatalf("putting %s: %v", id, err)
	}
	return stored
}

// file writes a file of the workspace and returns its absolute path.
func (d *desk) file(name, text string) string {
	d.Helper()
	file := filepath.Join(d.Root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		d.Fatal(err)
	}
	return file
}

func (d *desk) combine(r result.CombineRequest) (*result.Combined, error) {
	d.Helper()
	r.Dir = d.Root
	return result.Combine(d.Context(), d.Workspace, d.read, r)
}

func (d *desk) mustCombine(r result.CombineRequest) *result.Combined {
	d.Helper()
	combined, err := d.combine(r)
	if err != nil {
		d.Fatalf("Combine(%q): %v", r.Inputs, err)
	}
	return combined
}

func (d *desk) text(file string) string {
	d.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		d.Fatal(err)
	}
	return string(text)
}

// results returns how many results there are.
func (d *desk) results() int {
	d.Helper()
	listing, err := d.read.List(d.Context(),
		query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindResult}}})
	if err != nil {
		d.Fatal(err)
	}
	return len(listing.Entries)
}

// filledDesk has three results and some files.
func filledDesk(t testing.TB) (d *desk, refs map[string]record.Ref) {
	d = newDesk(t)
	refs = map[string]record.Ref{}
	for _, id := range []string{"c1/a", "c1/b", "c1/b2", "c2/a"} {
		refs[id] = d.put(id, "scout", id+".").Ref
	}
	for name, text := range map[string]string{
		"in/2.txt": "two", "in/10.txt": "ten", "in/.hidden.txt": "hidden", "in/[x].txt": "brackets", "in/sub/3.txt": "three",
		"empty": "", "bom1": "\ufeffone", "bom2": "\ufefftwo\ufeff", "crlf": "a\r\nb\r\n", "raw": "\xff\x00\xfe", "c1": "a file called c1",
	} {
		d.file(name, text)
	}
	return d, refs
}

func TestCombine(t *testing.T) {
	t.Parallel()
	d, refs := filledDesk(t)
	mirrored := ".claude/agent_tool_results/c1/a.md"
	tests := []struct {
		inputs    []string
		separator string
		want      string
		from      []string
	}{
		{[]string{"result/c1/a"}, "\n\n", "c1/a.", []string{"c1/a"}},
		{[]string{"result/c1/b", "result/c1/a"}, "\n\n", "c1/b.\n\nc1/a.", []string{"c1/b", "c1/a"}},
		{[]string{mirrored, filepath.Join(d.Root, mirrored), refs["c1/a"].Short()}, "|", "c1/a.|c1/a.|c1/a.", []string{"c1/a", "c1/a", "c1/a"}},
		{[]string{"in/2.txt", "result/c2/a"}, "\n---\n", "two\n---\nc2/a.", []string{"c2/a"}},
		{[]string{"in/*.txt"}, " ", "ten two brackets", nil},
		{[]string{"in/.*.txt", "in/*/*.txt"}, " ", "hidden three", nil},
		{[]string{"in/[x].txt"}, "", "brackets", nil},
		{[]string{"result/c1/b*"}, ",", "c1/b.,c1/b2.", []string{"c1/b", "c1/b2"}},
		{[]string{"result/c?/a"}, ",", "c1/a.,c2/a.", []string{"c1/a", "c2/a"}},
		{[]string{"c1", "empty", "empty"}, ".", "a file called c1..", nil},
		{[]string{"bom1", "bom2"}, "", "\ufeffonetwo\ufeff", nil},
		{[]string{"in/2.txt", "bom1"}, "", "twoone", nil},
		{[]string{"crlf", "raw", "crlf"}, "", "a\r\nb\r\n\xff\x00\xfea\r\nb\r\n", nil},
		{[]string{"empty"}, "\n\n", "", nil},
	}
	for _, test := range tests {
		combined, err := d.combine(result.CombineRequest{Inputs: test.inputs, Separator: test.separator})
		if err != nil {
			t.Errorf("Combine(%q): %v", test.inputs, err)
			continue
		}
		if got := d.text(combined.File); got != test.want {
			t.Errorf("Combine(%q) = %q, want %q", test.inputs, got, test.want)
		}
		var want []record.Ref
		for _, id := range test.from {
			want = append(want, refs[id])
		}
		if diff := cmp.Diff(want, combined.Record.From); diff != "" {
			t.Errorf("Combine(%q), from (-want +got):\n%s", test.inputs, diff)
		}
		if combined.Record.Source != record.SourceCombine || len(combined.Unread)+len(combined.Differs) > 0 {
			t.Errorf("Combine(%q): source %s, unread %v, differing %v", test.inputs, combined.Record.Source, combined.Unread, combined.Differs)
		}
	}
}

// TestCombineConversation checks whose result a combined text is.
func TestCombineConversation(t *testing.T) {
	t.Parallel()
	d, _ := filledDesk(t)
	tests := []struct {
		call   result.Call
		inputs []string
		want   string // "": a new one
	}{
		{result.Call{}, []string{"result/c1/a", "result/c1/b"}, "c1"},
		{result.Call{}, []string{"result/c1/a", "in/2.txt"}, "c1"},
		{result.Call{}, []string{"result/c1/a", "result/c2/a"}, ""},
		{result.Call{}, []string{"in/2.txt"}, ""},
		{result.Call{Conversation: "c9"}, []string{"result/c1/a"}, "c9"},
		{result.Call{ID: "all"}, []string{"result/c1/a"}, "c1"},
	}
	for _, test := range tests {
		r := d.mustCombine(result.CombineRequest{Call: test.call, Inputs: test.inputs}).Record
		isNew := r.Conversation != "c1" && r.Conversation != "c2" && len(r.Conversation) == 10
		if test.want != r.Conversation && (test.want != "" || !isNew) {
			t.Errorf("Combine(%+v, %q) is in conversation %q, want %q", test.call, test.inputs, r.Conversation, test.want)
		}
	}
}

// TestCombineAgain checks that the same texts give the same result, and others
// another.
func TestCombineAgain(t *testing.T) {
	t.Parallel()
	d, _ := filledDesk(t)
	base := result.CombineRequest{Inputs: []string{"result/c1/a", "in/2.txt"}, Separator: "\n"}
	first := d.mustCombine(base)
	tests := []struct {
		what   string
		change func(r *result.CombineRequest)
		same   bool
	}{
		{"nothing", func(*result.CombineRequest) {}, true},
		{"the preview", func(r *result.CombineRequest) { r.Preview = 3 }, true},
		{"an output", func(r *result.CombineRequest) { r.Output = filepath.Join(d.Root, "out.txt") }, true},
		{"a tag and the preview", func(r *result.CombineRequest) { r.Tags, r.Preview = []string{"draft"}, 3 }, true},
		{"nothing, now that there is a tag", func(*result.CombineRequest) {}, true},
		{"the path of an input", func(r *result.CombineRequest) { r.Inputs[0] = ".claude/agent_tool_results/c1/a.md" }, true},
		{"the order", func(r *result.CombineRequest) { r.Inputs[0], r.Inputs[1] = r.Inputs[1], r.Inputs[0] }, false},
		{"the separator", func(r *result.CombineRequest) { r.Separator = " " }, false},
		{"the agent", func(r *result.CombineRequest) { r.Agent = "editor" }, false},
		{"the conversation", func(r *result.CombineRequest) { r.Conversation = "c5" }, false},
		{"the call", func(r *result.CombineRequest) { r.ID = "mine" }, false},
	}
	for _, test := range tests {
		r := base
		r.Inputs = append([]string{}, base.Inputs...)
		test.change(&r)
		again := d.mustCombine(r)
		if same := again.Name == first.Name && again.Description.Preview == first.Description.Preview; same != test.same {
			t.Errorf("after a change of %s: %s %q, before: %s %q; the same? want %t", test.what, again.Name,
				again.Description.Preview, first.Name, first.Description.Preview, test.same)
		}
	}
	across := result.CombineRequest{Inputs: []string{"result/c1/a", "result/c2/a"}}
	if a, b := d.mustCombine(across), d.mustCombine(across); a.Name != b.Name {
		t.Errorf("texts of two conversations, combined twice: %s and %s", a.Name, b.Name)
	}
}

func TestCombineUnreadable(t *testing.T) {
	t.Parallel()
	d, _ := filledDesk(t)
	before := d.results()
	unreadable := []string{"missing.txt", "in", "in/*.gz", "result/c1/zzz", "in/2.txt/below", "note/[", "thing/x", ""}
	combined := d.mustCombine(result.CombineRequest{Inputs: append([]string{"in/2.txt"}, unreadable...), Separator: "\n"})
	var got []string
	for _, unread := range combined.Unread {
		input, why, _ := strings.Cut(unread.Error(), ": ")
		if got = append(got, strings.Trim(input, `"`)); why == "" {
			t.Errorf("%q could not be read, without a reason", input)
		}
	}
	if diff := cmp.Diff(unreadable, got); diff != "" || d.text(combined.File) != "two" || combined.Texts != 1 {
		t.Errorf("unread (-want +got):\n%s\n%d texts: %q", diff, combined.Texts, d.text(combined.File))
	}
	tests := []struct {
		inputs   []string
		expected int
		message  string
		missing  bool // the error is that something was not found
	}{
		{[]string{"in/2.txt", "missing.txt"}, 2, "1 of the 2 expected texts could be read; nothing was combined: missing.txt: not found", false},
		{[]string{"in/2.txt", "in", "x.txt"}, 3, "1 of the 3 expected texts could be read; nothing was combined: in: it is a folder; x.txt: not found", false},
		{[]string{"in/*.txt"}, 2, "3 of the 2 expected texts could be read; nothing was combined", false},
		{[]string{"missing.txt"}, 0, "nothing to combine: missing.txt: not found", true},
		{[]string{"in", "missing.txt"}, 0, "nothing to combine: in: it is a folder; missing.txt: not found", true},
		{[]string{"in"}, 0, "nothing to combine: in: it is a folder", false},
		{[]string{"*.gz"}, 0, "nothing to combine: *.gz: no file and no name matches", true},
	}
	for _, test := range tests {
		output := filepath.Join(d.Root, "out.txt")
		_, err := d.combine(result.CombineRequest{Inputs: test.inputs, Expected: test.expected, Output: output})
		if err == nil || err.Error() != test.message {
			t.Errorf("Combine(%q), %d expected: %v, want %s", test.inputs, test.expected, err, test.message)
		}
		if missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrNotFound); missing != test.missing {
			t.Errorf("Combine(%q): %v means that something is missing: %t, want %t", test.inputs, err, missing, test.missing)
		}
		if _, err := os.Lstat(output); err == nil {
			t.Errorf("Combine(%q) failed and wrote its output", test.inputs)
		}
	}
	if got := d.results(); got != before+1 {
		t.Errorf("%d results, want %d", got, before+1)
	}
}

// TestCombineDiffering combines a result whose file was changed: the stored text counts.
func TestCombineDiffering(t *testing.T) {
	t.Parallel()
	d, _ := filledDesk(t)
	d.file(".claude/agent_tool_results/c1/a.md", "altered")
	combined := d.mustCombine(result.CombineRequest{Inputs: []string{".claude/agent_tool_results/c1/a.md", "result/c1/a"}, Separator: "|"})
	if got := d.text(combined.File); got != "c1/a.|c1/a." || len(combined.Differs) != 0 || len(combined.Record.From) != 2 {
		t.Errorf("combined %q from %d refs, differing %q; want %q, two refs, no file", got, len(combined.Record.From), combined.Differs, "c1/a.|c1/a.")
	}
}

func TestCombineOutsideRoot(t *testing.T) {
	t.Parallel()
	d := deskIn(t, materialize.Settings{Home: t.TempDir(), Profile: profileOf("seed")}, time.Now)
	stored := d.put("c1/a", "scout", "outside")
	combined := d.mustCombine(result.CombineRequest{Inputs: []string{stored.File}})
	if diff := cmp.Diff([]record.Ref{stored.Ref}, combined.Record.From); diff != "" || combined.Record.Conversation != "c1" {
		t.Errorf("%s of conversation %q, from (-want +got):\n%s", combined.Name, combined.Record.Conversation, diff)
	}
}

func TestCombineAggregate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	queue := "# Issues\n\n### ISSUE-20260302-001\n\n- **Status**: pending\n\n**Summary:** Something\n\n---\n"
	d.file(".claude/issue_queue.md", queue)
	if _, err := d.Sync(t.Context(), d.Root, materialize.SyncOptions{Announced: true}); err != nil {
		t.Fatal(err)
	}
	for _, inputs := range [][]string{{".claude/issue_queue.md"}, {"frame/.claude/issue_queue.md"}} {
		combined := d.mustCombine(result.CombineRequest{Inputs: inputs})
		if got := d.text(combined.File); got != queue || len(combined.Record.From) != 1 || len(combined.Differs) > 0 {
			t.Errorf("Combine(%q) = %q from %d refs, differing %q", inputs, got, len(combined.Record.From), combined.Differs)
		}
	}
}

func TestCombineOutput(t *testing.T) {
	t.Parallel()
	d, _ := filledDesk(t)
	d.file("out/same.txt", "c1/a.")
	d.file("out/other.txt", "other")
	d.file("out/forced.txt", "other")
	d.file(".git/config", "[core]\n")
	if err := os.Symlink(d.Location.Store, filepath.Join(d.Root, "link")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	tests := []struct {
		output string
		force  bool
		want   string // of the error
		is     error
	}{
		{"out/new.txt", false, "", nil},
		{"out/same.txt", false, "", nil},
		{"out/forced.txt", true, "", nil},
		{"out/other.txt", false, "holds another text", store.ErrConflict},
		{"in/2.txt", true, "is one of the inputs", nil},
		{".claude/agent_tool_results/c1/a.md", true, "is one of the inputs", nil},
		{".claude/agent_tool_results/c1/b.md", true, "is the file of result/c1/b, which is written once", nil},
		{"out", true, "is a folder", nil},
		{"none/new.txt", true, "its folder does not exist", nil},
		{".filebus/store.db", true, "a folder that filebus does not write to", materialize.ErrProtected},
		{"link/store.db", true, "a folder that filebus does not write to", materialize.ErrProtected},
		{".git/config", true, "a folder that filebus does not write to", materialize.ErrProtected},
	}
	for _, test := range tests {
		if runtime.GOOS == "windows" && strings.HasPrefix(test.output, "link") {
			continue // links need a privilege there
		}
		output := filepath.Join(d.Root, filepath.FromSlash(test.output))
		inputs := []string{"result/c1/a"}
		if test.output == "in/2.txt" {
			inputs = append(inputs, test.output)
		}
		before, old := d.results(), ""
		if text, err := os.ReadFile(output); err == nil {
			old = string(text)
		}
		combined, err := d.combine(result.CombineRequest{Call: result.Call{ID: strings.NewReplacer("/", "_").Replace(test.output)}, Inputs: inputs, Output: output, Force: test.force})
		if test.want == "" {
			if err != nil || combined.Reference().ResultFile != output || d.text(output) != "c1/a." || d.text(combined.File) != "c1/a." {
				t.Errorf("output %s: %+v, %v", test.output, combined, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("output %s: %v, want %q", test.output, err, test.want)
		}
		if d.results() != before {
			t.Errorf("output %s was refused, and something was stored", test.output)
		}
		if text, err := os.ReadFile(output); err == nil && string(text) != old {
			t.Errorf("output %s was refused and changed", test.output)
		}
	}
	for _, dir := range []string{"", "out", "in", ".git", ".filebus"} {
		if left, err := filepath.Glob(filepath.Join(d.Root, dir, ".filebus-*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	}
}

// TestCombineDamaged makes sure that nothing is stored if an input is not what it
// was when it is its turn.
func TestCombineDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t, w, query.New(w.Store, query.Options{})} // its store is damaged on purpose
	d.put("c1/large", "scout", large())
	d.put("c1/small", "scout", "small")
	bodies, err := filepath.Glob(filepath.Join(at.Store, "bodies", "*", "*"))
	if err != nil || len(bodies) != 1 {
		t.Fatalf("bodies %q, %v", bodies, err)
	}
	if err := os.Truncate(bodies[0], 100); err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{"", filepath.Join(dir, "out.txt")} {
		_, err = d.combine(result.CombineRequest{Inputs: []string{"result/c1/small", "result/c1/large"}, Output: output})
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "result/c1/large") || d.results() != 2 {
			t.Errorf("Combine of a damaged text into %q: %v; %d results", output, err, d.results())
		}
		if _, err := os.Lstat(output); err == nil {
			t.Error("the output was written")
		}
	}
}

// large returns a text that is kept in a file of its own.
func large() string {
	var text strings.Builder
	for i := range store.InlineLimit / 4 {
		fmt.Fprintf(&text, "%d\n", i*i)
	}
	return text.String()
}

func TestCombineCancelled(t *testing.T) {
	t.Parallel()
	d, _ := filledDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := result.Combine(ctx, d.Workspace, d.read, result.CombineRequest{Inputs: []string{"in/2.txt"}, Dir: d.Root})
	if !errors.Is(err, context.Canceled) || d.results() != 4 {
		t.Errorf("Combine: %v, %d results; want %v, 4", err, d.results(), context.Canceled)
	}
}

// TestCombineMany combines more texts than a process may have files open.
func TestCombineMany(t *testing.T) {
	t.Parallel()
	const n = 3000
	d := newDesk(t)
	var want strings.Builder
	inputs := make([]string, n)
	for i := range n {
		inputs[i] = fmt.Sprintf("many/%d.txt", i)
		d.file(inputs[i], fmt.Sprint(i))
		fmt.Fprintf(&want, "%d,", i)
	}
	for i := range n { // and more than are taken from the store at once
		id := fmt.Sprintf("c1/%d", i%7)
		if i < 7 {
			d.put(id, "scout", id+strings.Repeat(".", i<<10))
		}
		inputs = append(inputs, "result/"+id)
		fmt.Fprintf(&want, "%s,", id+strings.Repeat(".", i%7<<10))
	}
	combined := d.mustCombine(result.CombineRequest{Inputs: inputs, Separator: ",", Expected: 2 * n})
	if got := d.text(combined.File) + ","; got != want.String() {
		t.Errorf("%d texts gave %d bytes, want %d", 2*n, len(got), want.Len())
	}
}

func TestParseSeparator(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		``: "", `\n\n`: "\n\n", `\n---\n`: "\n---\n", `\t`: "\t", `\r\n`: "\r\n", `\\n`: `\n`, `\\\n`: "\\\n", `\d`: `\d`, `\`: `\`, "\n": "\n",
	} {
		if got := result.ParseSeparator(typed); got != want {
			t.Errorf("ParseSeparator(%q) = %q, want %q", typed, got, want)
		}
	}
}

// A watchedContext calls a function whenever somebody asks it for its error.
type watchedContext struct {
	context.Context
	asked func()
}

func (c watchedContext) Err() error {
	c.asked()
	return c.Context.Err()
}

// TestCombineChanging changes a file after it was looked at: once there is a
// temporary file to write to.
func TestCombineChanging(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"longer text", "t", "", "txet"} {
		d := newDesk(t)
		file := d.file("a.txt", "text")
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(file, past, past); err != nil {
			t.Fatal(err)
		}
		changed := false
		ctx := watchedContext{t.Context(), func() {
			begun, err := filepath.Glob(filepath.Join(d.Root, ".filebus-*"))
			if err == nil && len(begun) > 0 && !changed {
				changed = true
				d.file("a.txt", change)
			}
		}}
		_, err := result.Combine(ctx, d.Workspace, d.read, result.CombineRequest{
			Inputs: []string{"a.txt"}, Output: filepath.Join(d.Root, "out.txt"), Dir: d.Root,
		})
		if !changed || err == nil || !strings.Contains(err.Error(), "reading a.txt: it changed while it was read") || d.results() != 0 {
			t.Errorf("Combine of a file that becomes %q: %v, %d results", change, err, d.results())
		}
	}
}
