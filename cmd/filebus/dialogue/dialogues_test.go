package dialogue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	m.Run()
}

// newDialogues makes a workspace whose dialogues lie where a profile says, and checks its
// store when the test ends. The clocks are those of the store and of the dialogues.
func newDialogues(t testing.TB, profile layout.Profile, stored, now func() time.Time) (*Dialogues, *materialize.Workspace) {
	t.Helper()
	dir := t.TempDir()
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{Home: dir, Profile: profile}, store.Options{Now: stored, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	return Open(w, query.New(w.Store, query.Options{}), now), w
}

// outside is a profile whose dialogues lie outside of the workspace, in a folder that
// is not there yet.
func outside(t testing.TB) layout.Profile {
	profile := profileOf("seed")
	profile.Dialogues = filepath.ToSlash(filepath.Join(t.TempDir(), "blue-dialogue"))
	return profile
}

// putFiles stores files of the dialogue x, by their paths below its folder.
func putFiles(t testing.TB, w *materialize.Workspace, files map[string]string) {
	t.Helper()
	for path, text := range files {
		name := record.Name{Kind: record.KindDialogue, ID: "x/" + path}
		if stem, isTurn := strings.CutSuffix(path, ".md"); isTurn && strings.HasPrefix(path, "round-") && strings.Contains(path, "/") && !strings.HasSuffix(stem, ".prompt") {
			name = record.Name{Kind: record.KindTurn, ID: "x/" + stem}
		}
		_, err := w.Put(t.Context(), materialize.PutRequest{Kind: name.Kind, ID: name.ID, Text: strings.NewReader(text), Source: record.SourcePut})
		if err != nil {
			t.Fatalf("putting %s: %v", path, err)
		}
	}
}

// TestStranger has a dialogue of another program named, with what takes it in.
func TestStranger(t *testing.T) {
	t.Parallel()
	profile := outside(t)
	h := newParlour(t, profile)
	at := filepath.Join(filepath.FromSlash(profile.Dialogues), "x", "round-0")
	err := errors.Join(os.MkdirAll(at, 0o777), os.WriteFile(filepath.Join(at, "muffin.md"), []byte("[PERSPECTIVE P01: One]\n"), 0o666))
	if err != nil {
		t.Fatal(err)
	}
	for text, hint := range map[string]string{"x": "filebus init --take-over {1}", "y": "filebus dialogue list"} {
		_, err := h.Find(t.Context(), text)
		if e := (*record.Error)(nil); !errors.As(err, &e) || e.Hint != hint {
			t.Errorf("Find(%s): %v", text, err)
		}
	}
}
