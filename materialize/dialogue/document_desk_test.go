package dialogue_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/dialogue"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A desk is a workspace in which documents are assembled.
type desk struct {
	*dialogue.Forum
	work *materialize.Workspace
}

// newDesk makes a workspace whose dialogues lie where a profile says.
func newDesk(t testing.TB, profile layout.Profile) *desk {
	t.Helper()
	dir := t.TempDir()
	clock := func() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{Profile: profile, Home: t.TempDir()}, store.Options{Now: clock, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	return &desk{dialogue.Open(w, query.New(w.Store, query.Options{}), clock), w}
}

// write stores files of the dialogue x and returns it.
func (k *desk) write(t testing.TB, files map[string]string) *dialogue.Dialogue {
	t.Helper()
	for path, text := range files {
		name := record.Name{Kind: record.KindDialogue, ID: "x/" + path}
		if stem, isTurn := strings.CutSuffix(path, ".md"); isTurn && strings.Contains(path, "/") {
			name = record.Name{Kind: record.KindTurn, ID: "x/" + stem}
		}
		_, err := k.work.Put(t.Context(), materialize.PutRequest{Kind: name.Kind, ID: name.ID, Text: strings.NewReader(text), Source: record.SourcePut})
		if err != nil {
			t.Fatalf("putting %s: %v", path, err)
		}
	}
	d, err := k.Read(t.Context(), dialogue.Key{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// outsideDesk is a profile whose dialogues lie outside of the workspace.
func outsideDesk(t testing.TB) layout.Profile {
	profile := layout.Seed()
	profile.Dialogues = filepath.ToSlash(filepath.Join(t.TempDir(), "blue-dialogue"))
	return profile
}
