package materialize

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"filebus/store"
)

// What a put takes in first must be remembered on disk before the put is stored:
// else the file looks rolled back to a process that comes after a crash.
func TestTakeInIsRememberedAtOnce(t *testing.T) {
	dir := t.TempDir()
	at := Location{Store: filepath.Join(dir, StoreFolder), Main: dir, Root: dir}
	w, err := Create(t.Context(), at, Settings{}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const p = "issue_queue.md"
	name := filepath.Join(".claude", p)
	if err := os.Mkdir(filepath.Join(dir, ".claude"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("### ISSUE-20260302-001\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	err = w.withMirror(t.Context(), dir, func(m *mirror) error {
		if err := m.syncer().takeIn(t.Context(), ".claude/"+p); err != nil {
			return err
		}
		saved, err := loadMemory(filepath.Join(at.Store, mirrorFolder), dir)
		if err == nil && !maps.Equal(remembered(saved), remembered(m.memory)) {
			t.Errorf("on disk is remembered %v, want %v", remembered(saved), remembered(m.memory))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTemporaryNames takes many names in one moment: processes that write at once
// must not meet in one file.
func TestTemporaryNames(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		name := TemporaryName(".new")
		if seen[name] {
			t.Fatalf("%s is given twice", name)
		}
		if !isTemporary("a/" + name) {
			t.Fatalf("%s is not known for a temporary file", name)
		}
		seen[name] = true
	}
}
