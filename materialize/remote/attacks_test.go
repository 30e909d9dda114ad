package remote_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/materialize"
)

// writes writes a file of the workspace and syncs.
func (m *machine) writes(file, text string) {
	m.t.Helper()
	name := filepath.Join(m.Root, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		m.t.Fatal(err)
	}
	if err := m.sync(context.Background()); err != nil {
		m.t.Fatal(err)
	}
}

// keepsSecret fails if another store, or the remote, has a text with the mark.
func (m *machine) keepsSecret(all *memory) {
	m.t.Helper()
	for _, text := range m.texts() {
		if strings.Contains(text, "VICTIM") {
			m.t.Errorf("the other one has %.200q", text)
		}
	}
	for _, p := range all.Paths() {
		if bytes.Contains(all.Blob(p), []byte("VICTIM")) {
			m.t.Errorf("%s has a text of the victim", p)
		}
	}
}

// What a rule leaves out of a note folder is no note of it, whoever names it.
func TestNamesOfWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	all := newMemory()
	a, b := newMachine(t, "a", all.Open(), 0), newMachine(t, "b", all.Open(), 0)
	trusts(a, b)
	b.Settings.NoteFolders = []string{"docs"}
	b.writes(".gitignore", "docs/own.md\n.claude/journal/own.md\n")
	b.writes(".filebusignore", "docs/own.md\n")
	files := []string{"docs/own.md", "docs/secrets.json", "docs/id_rsa", "docs/node_modules/x.md"}
	for _, file := range files {
		b.writes(file, "VICTIM")
	}
	for _, file := range files {
		if got := b.head(file); got != "" {
			t.Errorf("%s is the user's own word: %q", file, got)
		}
		a.plant(note(file), file, "planted")
	}
	a.push()
	b.pull()
	b.writes("docs/open.md", "an open note")
	b.push()
	for _, file := range files {
		b.writes(file, "VICTIM again")
	}
	b.push()
	a.pull()
	a.keepsSecret(all)
	for _, file := range files {
		if text, err := os.ReadFile(filepath.Join(b.Root, file)); string(text) != "VICTIM again" {
			t.Errorf("%s is %q, %v", file, text, err)
		}
	}
}

// A file that had the bytes of another store's record, and was deleted, is no more the place of that name.
func TestNamesOfWhatWasDeleted(t *testing.T) {
	t.Parallel()
	all := newMemory()
	a, b := newMachine(t, "a", all.Open(), 0), newMachine(t, "b", all.Open(), 0)
	trusts(a, b)
	b.writes("src/list.csv", "guessed")
	a.plant(note("src/list.csv"), "src/list.csv", "guessed")
	a.push()
	b.pull()
	b.writes("other.txt", "")
	if err := os.Remove(filepath.Join(b.Root, "src", "list.csv")); err != nil {
		t.Fatal(err)
	}
	b.writes("other.txt", "")
	b.push()
	a.pull()
	a.plant(note("src/list.csv"), "src/list.csv", "planted again")
	a.push()
	b.pull()
	b.writes("src/list.csv", "VICTIM")
	b.push()
	a.pull()
	a.keepsSecret(all)
}

// What a text of another store says of itself lets no secret leave, when its file is edited, moved or written again.
func TestTagsInTextsOfOthers(t *testing.T) {
	t.Parallel()
	all := newMemory()
	a, b := newMachine(t, "a", all.Open(), 0), newMachine(t, "b", all.Open(), 0)
	trusts(a, b)
	b.Settings.NoteFolders = []string{"docs"}
	const theirs = "---\ntags: [public]\n---\n\n# A note of another\n"
	for _, id := range []string{"docs/edit.md", "docs/move.md"} {
		a.plant(note(id), id, theirs)
	}
	a.push()
	b.pull()
	b.writes("docs/open.md", "an open note")
	if err := os.Remove(filepath.Join(b.Root, "docs", "move.md")); err != nil {
		t.Fatal(err)
	}
	b.writes("docs/moved.md", theirs)
	for _, file := range []string{"docs/edit.md", "docs/moved.md"} {
		b.writes(file, theirs+"\nand "+secretMark+"\n")
	}
	b.push()
	a.pull()
	a.keepsSecret(all)
	b.writes("docs/mine.md", theirs+"of b "+secretMark+"\n")
	b.push()
	a.pull()
	if got := a.head("docs/mine.md"); !strings.Contains(got, "VICTIM") {
		t.Errorf("what its user calls public has not left: %q", got)
	}
	if _, err := b.Tag(context.Background(), note("docs/edit.md"), []string{materialize.TagPublic}, nil); err != nil {
		t.Fatal(err)
	}
	b.push()
	a.pull()
	if got := a.head("docs/edit.md"); !strings.Contains(got, "VICTIM") {
		t.Errorf("what its user calls public later has not left: %q", got)
	}
}
