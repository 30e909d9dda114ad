package materialize_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

func TestMakeFolder(t *testing.T) {
	t.Parallel()
	w := workspaceIn(t, t.TempDir(), materialize.Settings{})
	name := record.Name{Kind: record.KindDialogue, ID: "x/round-0/panel.json"}
	want := filepath.Join(w.Root, ".claude", "dialogues", "x", "round-0")
	for range 2 {
		if got, err := w.MakeFolder(t.Context(), name); err != nil || got != want {
			t.Fatalf("MakeFolder(%s) = %s, %v, want %s", name, got, err, want)
		}
		if info, err := os.Stat(want); err != nil || !info.IsDir() {
			t.Fatalf("the folder of %s: %v", name, err)
		}
	}
	if _, err := w.MakeFolder(t.Context(), record.Name{Kind: record.KindNote, ID: ".git/a/b.md"}); !errors.Is(err, materialize.ErrProtected) {
		t.Errorf("a folder of git = %v", err)
	}
	if err := os.WriteFile(filepath.Join(want, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := w.MakeFolder(t.Context(), record.Name{Kind: record.KindNote, ID: ".claude/dialogues/x/round-0/file/b.md"}); err == nil {
		t.Error("a folder was made in a file")
	}
}

// TestMakeFolderLinks follows a link that stays in the workspace, and no other.
func TestMakeFolderLinks(t *testing.T) {
	t.Parallel()
	w := workspaceIn(t, t.TempDir(), materialize.Settings{})
	elsewhere := t.TempDir()
	for from, to := range map[string]string{"in": "real", "out": elsewhere, "nowhere": "gone"} {
		if err := os.Symlink(to, filepath.Join(w.Root, from)); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	writeTree(t, w.Root, map[string]string{"real/a.md": "text"})
	for id, isRefused := range map[string]bool{"in/sub/a.md": false, "out/sub/a.md": true, "nowhere/sub/a.md": true, "out/a.md": true} {
		_, err := w.MakeFolder(t.Context(), record.Name{Kind: record.KindNote, ID: id})
		if errors.Is(err, mirror.ErrLink) != isRefused || !isRefused && err != nil {
			t.Errorf("MakeFolder(%s) = %v, refused: %t", id, err, isRefused)
		}
		link := filepath.Join(w.Root, id[:strings.IndexByte(id, '/')])
		if e := (*record.Error)(nil); errors.As(err, &e) && e.Names[0] != link {
			t.Errorf("MakeFolder(%s) names %s", id, e.Names)
		}
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Errorf("the folder behind the link has %v, %v", entries, err)
	}
}

// TestOutsideRootLink puts a link where an outside root would be, as anybody can do in
// a folder that is everybody's. One in the home folder is the user's own.
func TestOutsideRootLink(t *testing.T) {
	t.Parallel()
	home, elsewhere := t.TempDir(), t.TempDir()
	profile := profileOf("seed")
	dialogues := filepath.Join(t.TempDir(), "blue-dialogue")
	profile.Dialogues = filepath.ToSlash(dialogues)
	for _, from := range []string{dialogues, filepath.Join(home, ".qark")} {
		if err := os.Symlink(elsewhere, from); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	w := workspaceIn(t, t.TempDir(), materialize.Settings{Profile: profile, Home: home})
	_, err := w.Put(t.Context(), materialize.PutRequest{
		Kind: record.KindTurn, ID: "x/round-0/muffin", Text: strings.NewReader("text"), Source: record.SourcePut,
	})
	if e := (*record.Error)(nil); !errors.As(err, &e) || e.Reason != mirror.ErrLink || e.Names[0] != dialogues {
		t.Errorf("a turn in %s = %v, want ErrLink", dialogues, err)
	}
	put(t, w, "result/c1/call1", "# Finding\n")
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 1 || entries[0].Name() != "agent_tool_results" {
		t.Errorf("the folder behind the links has %v, %v", entries, err)
	}
}

// profileOf returns the predefined profile of a name.
func profileOf(name string) layout.Profile {
	p, err := layout.ParseProfile(name)
	if err != nil {
		panic(err)
	}
	return p
}
