package materialize

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"filebus/materialize/mirror"
	"filebus/store"
)

// What a put imports first must be remembered on disk before the put is stored:
// else the file looks rolled back to a process that comes after a crash.
func TestImportIsRememberedAtOnce(t *testing.T) {
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
	err = w.withMirror(t.Context(), dir, func(r *reconciler) error {
		if err := r.importFile(t.Context(), ".claude/"+p); err != nil {
			return err
		}
		saved, err := w.mirrors.Open(dir, nil)
		if err == nil && !maps.Equal(remembered(saved.Memory), remembered(r.Memory)) {
			t.Errorf("on disk is remembered %v, want %v", remembered(saved.Memory), remembered(r.Memory))
		}
		if len(remembered(r.Memory)) != 1 {
			t.Errorf("remembered is %v", remembered(r.Memory))
		}
		return errors.Join(err, saved.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// remembered returns all that a memory knows.
func remembered(m *mirror.Memory) map[string]mirror.Memo {
	files := map[string]mirror.Memo{}
	for path := range m.Paths() {
		files[path], _ = m.Get(path)
	}
	return files
}
