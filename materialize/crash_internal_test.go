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
	t.Parallel()
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
		saved, err := w.mirrors.Open(t.Context(), dir, nil)
		if err == nil && !maps.Equal(remembered(saved), remembered(r.Mirror)) {
			t.Errorf("on disk is remembered %v, want %v", remembered(saved), remembered(r.Mirror))
		}
		if len(remembered(r.Mirror)) != 1 {
			t.Errorf("remembered is %v", remembered(r.Mirror))
		}
		return errors.Join(err, saved.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// remembered returns all that the memory of a mirror knows.
func remembered(m *mirror.Mirror) map[string]mirror.Memo {
	return maps.Collect(m.Memory.All())
}
