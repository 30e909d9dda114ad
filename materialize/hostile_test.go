package materialize_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// hostileNames returns paths that somebody could give the records of a store which he
// hands on, each to a file that would do him a service.
func hostileNames() []string {
	folders := []string{"", "sub/", "a/b/", ".claude/", ".claude/journal/", "docs/", "é/", " /", "~/", "file:/tmp/"}
	files := []string{
		".envrc", ".bashrc", ".vscode/tasks.json", ".claude/settings.json", "CLAUDE.md", "Makefile", "go.mod",
		".github/workflows/x.yml", ".gitattributes", ".gitmodules", "-rf", "a\\b", "con", "nul.txt", "x\u202egpj.exe",
	}
	git := []string{
		".git/config", ".git/hooks/post-checkout", ".GIT/config", ".git /config", ".git./config", ".git. ./config", "git~1/config",
		"GIT~1/config", ".g\u200cit/config", ".git\u200d/config", "\ufeff.git/config", ".git::$INDEX_ALLOCATION/config",
		".filebus/config.toml", ".FileBus/lock", ".filebus /x", "filebu~1/x", ".filebu\u017f/x", ".file\u200bbus/store.db", ".git",
	}
	var all []string
	for _, folder := range folders {
		for _, file := range append(slices.Clone(files), git...) {
			all = append(all, folder+file)
		}
	}
	return all
}

// plant stores a note with a path, and writes no file.
func plant(t *testing.T, w *materialize.Workspace, p string) {
	t.Helper()
	body, err := w.Store.Prepare(t.Context(), []byte("planted "+p))
	if err != nil {
		t.Fatal(err)
	}
	of, err := record.NewName("", record.KindNote, p)
	if err == nil {
		_, err = w.Store.Put(t.Context(), store.Draft{Record: record.Record{Name: of, Path: p, Source: record.SourceCapture}, Body: body})
	}
	if err != nil {
		t.Fatalf("planting %q: %v", p, err)
	}
}

// TestHostileNames syncs a store whose records name files that are none of a layout:
// none comes out, but those of the note folder. Laid out they come out, in the folder
// that was named and but for those of git and filebus.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	root := t.TempDir()
	w := workspaceIn(t, root, materialize.Settings{Home: t.TempDir(), NoteFolders: []string{"notes"}})
	writeTree(t, root, map[string]string{".git/config": "git's own", ".envrc": "mine", "docs/Makefile": "mine"})
	runSync(t, w, materialize.SyncOptions{})
	before := readTree(t, root)
	planted := hostileNames()
	if len(planted) < 200 {
		t.Errorf("%d names are too few", len(planted))
	}
	for _, p := range append(slices.Clone(planted), "notes/a.md", "notes/.git/config") {
		plant(t, w, p)
	}
	for _, opts := range []materialize.SyncOptions{
		{}, {Repair: true}, {Restore: func(string, bool) bool { return true }},
	} {
		_, _ = w.Sync(t.Context(), root, opts) // that some may not be written may be an error
	}
	want := readTree(t, root)
	if want["notes/a.md"] != "planted notes/a.md" {
		t.Errorf("the note of a note folder is %q", want["notes/a.md"])
	}
	delete(want, "notes/a.md")
	if diff := cmp.Diff(before, want); diff != "" {
		t.Errorf("the workspace (-before +after):\n%s", diff)
	}
	around := t.TempDir()
	out := filepath.Join(around, "out")
	report, err := w.LayOut(t.Context(), out, materialize.Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Protected) < 100 || report.Files < 100 {
		t.Errorf("%d files laid out, %d left out", report.Files, len(report.Protected))
	}
	for file := range readTree(t, around) {
		p, below := strings.CutPrefix(file, "out/")
		if !below || slices.ContainsFunc(strings.Split(p, "/"), materialize.IsProtected) {
			t.Errorf("%q came out", file)
		}
	}
	if entries, err := os.ReadDir(w.Settings.Home); err != nil || len(entries) > 0 {
		t.Errorf("in the home folder there are %v, %v", entries, err)
	}
}

func TestIsProtected(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"git", ".gitignore", ".github", "a.git", "git~", "git~x", "first~1", "filebus", ".filebus-notes", "", "."} {
		if materialize.IsProtected(name) {
			t.Errorf("%q is protected", name)
		}
	}
}

// TestSwappedFolders swaps folders of the workspace for links while it is synced:
// nothing is written where they lead.
func TestSwappedFolders(t *testing.T) {
	t.Parallel()
	for _, swapped := range []string{"notes", "notes/a", ".filebus/tmp"} {
		root, elsewhere := t.TempDir(), t.TempDir()
		w := workspaceIn(t, root, materialize.Settings{NoteFolders: []string{"notes"}})
		writeTree(t, root, map[string]string{"notes/a/x.md": "x"})
		runSync(t, w, materialize.SyncOptions{})
		at, aside := filepath.Join(root, filepath.FromSlash(swapped)), filepath.Join(t.TempDir(), "aside")
		over := make(chan struct{})
		var swapping sync.WaitGroup
		swapping.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if os.Rename(at, aside) == nil && os.Symlink(elsewhere, at) == nil {
					_ = os.Remove(at)
				}
				_ = os.Rename(aside, at)
			}
		})
		for n := range 15 {
			p := path.Join("notes/a", string(rune('a'+n%26))+".md")
			_, _ = w.Put(t.Context(), materialize.PutRequest{
				Kind: record.KindNote, ID: p, Text: strings.NewReader("text"), Source: record.SourcePut,
			})
			_, _ = w.Sync(t.Context(), root, materialize.SyncOptions{Announced: true, Repair: true})
		}
		close(over)
		swapping.Wait()
		if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
			t.Errorf("behind the links in place of %s there are %v, %v", swapped, entries, err)
		}
	}
}

// TestModesOfFiles rewrites files whose owner has given them modes: they keep them.
// New ones are as the umask says.
func TestModesOfFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	w := workspaceIn(t, root, materialize.Settings{NoteFolders: []string{"notes"}})
	own := filepath.Join(root, "own")
	writeTree(t, root, map[string]string{"own": "", "notes/a.md": "a", "notes/b.md": "b"})
	usual, err := os.Stat(own)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(root, "notes", "b.md"), 0o640); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		put(t, w, "note/notes/"+name+".md", "new "+name)
	}
	for name, want := range map[string]os.FileMode{"a": usual.Mode(), "b": 0o640, "c": usual.Mode()} {
		info, err := os.Stat(filepath.Join(root, "notes", name+".md"))
		if err != nil || info.Mode() != want {
			t.Errorf("%s.md has the mode %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(root, ".filebus", "store.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("store.db has the mode %v, %v", info.Mode(), err)
	}
}
