package dialogue

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"filebus/materialize/layout"
)

func TestDefinition(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	dir := filepath.Join(h.work.Root, ".claude", "agents")
	if err := os.MkdirAll(filepath.Join(dir, "folder.md"), 0o777); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"No front matter: tools\n":               true,
		"":                                       true,
		"---\nname: a\n---\nText":                true,
		"---\nname: a\ntools: Read, Grep\n---\n": false,
		"---\nname: a\ntools: Read, Write\n---\n":                  true,
		"---\nname: a\ntools: Read,Write,Grep\n---\n":              true,
		"---\nname: a\ntools: Read Write\n---\n":                   true,
		"---\nname: a\ntools: [Read, \"Write\"]\n---\n":            true,
		"---\nname: a\ntools: [Read, Grep]\n---\n":                 false,
		"---\r\nname: a\r\ntools:\r\n  - Read\r\n  - Write\r\n---": true,
		"---\nname: a\ntools:\n  - Read\n  - Edit\n---\n":          false,
		"---\nname: a\ntools: Read, Write(docs/**, x)\n---\n":      true,
		"---\nname: a\ntools: Read, TodoWrite\n---\n":              false,
		"---\nname: a\ntools: '*'\n---\n":                          true,
		"---\nname: a\ndisallowedTools: Bash, Write\n---\n":        false,
		"---\nname: a\ndisallowedTools: Bash\n---\n":               true,
	} {
		if err := os.WriteFile(filepath.Join(dir, "muffin.md"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if can, err := CanWrite(h.Definition("muffin")); err != nil || can != want {
			t.Errorf("%q: CanWrite = %v, %v, want %v", text, can, err, want)
		}
	}
	if _, err := CanWrite(h.Definition("scone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no definition = %v", err)
	}
	if _, err := CanWrite(h.Definition("folder")); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder = %v, want an error", err)
	}
}
