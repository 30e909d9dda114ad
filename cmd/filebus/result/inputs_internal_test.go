package result

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"filebus/materialize"
	"filebus/materialize/release"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// TestInputDestroyed destroys an input after it was found and before it is read:
// the store is sound, so nobody may call it damaged.
func TestInputDestroyed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []record.Name
	for _, id := range []string{"a", "b"} {
		stored, err := Put(t.Context(), w, Call{Conversation: "c1", ID: id}, store.Expect{}, strings.NewReader(id))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, stored.Name)
	}
	g := gatherer{w, query.New(w.Store, query.Options{}), dir}
	in, err := g.gather(t.Context(), []string{"result/c1/a", "result/c1/b"})
	if err != nil || len(in.list) != 2 {
		t.Fatalf("gather: %+v, %v", in, err)
	}
	if _, err := w.Release(t.Context(), release.Request{Names: names[1:]}); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(g.text(t.Context(), in, "-"))
	if !errors.Is(err, store.ErrDropped) || errors.Is(err, store.ErrDamaged) || string(text) != "a-" {
		t.Errorf("read %q, %v; want \"a-\" and ErrDropped", text, err)
	}
}
