package dialogue_test

import (
	"os"
	"path/filepath"
	"testing"

	"filebus/materialize/layout"
)

func TestDefinition(t *testing.T) {
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
		d, found, err := h.Definition("muffin")
		if err != nil || !found || d.CanWrite() != want {
			t.Errorf("%q: CanWrite = %v, %v, %v, want %v", text, d.CanWrite(), found, err, want)
		}
	}
	if _, found, err := h.Definition("scone"); found || err != nil {
		t.Errorf("no definition = %v, %v", found, err)
	}
	if _, found, err := h.Definition("folder"); found || err == nil {
		t.Errorf("a folder = %v, %v, want an error", found, err)
	}
}
