package dialogue_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/dialogue"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// A parlour is a forum in a workspace of its own, at a time that stands still.
type parlour struct {
	*dialogue.Forum
	work *materialize.Workspace
	now  time.Time
}

func newParlour(t testing.TB, profile layout.Profile) *parlour {
	t.Helper()
	h := &parlour{now: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)}
	h.Forum, h.work = newForum(t, profile, nil, func() time.Time { return h.now })
	return h
}

// outsideParlour is a parlour whose dialogues are in a folder outside of the workspace,
// which it returns. The folder is not there yet.
func outsideParlour(t testing.TB) (*parlour, string) {
	t.Helper()
	profile := outside(t)
	return newParlour(t, profile), filepath.FromSlash(profile.Dialogues)
}

func (h *parlour) make(t testing.TB, title string, agents ...string) *dialogue.Made {
	t.Helper()
	made, err := h.New(t.Context(), dialogue.NewRequest{Title: title, Agents: agents})
	if err != nil {
		t.Fatalf("New(%q): %v", title, err)
	}
	return made
}

// put stores the text of a turn or another file of a dialogue.
func (h *parlour) put(t testing.TB, name, text string) *materialize.PutResult {
	t.Helper()
	n, err := record.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	put, err := h.work.Put(t.Context(), materialize.PutRequest{
		Kind: n.Kind, ID: n.ID, Text: strings.NewReader(text), Source: record.SourcePut,
	})
	if err != nil {
		t.Fatalf("put %s: %v", name, err)
	}
	return put
}

func (h *parlour) read(t testing.TB, key dialogue.Key) *dialogue.Dialogue {
	t.Helper()
	d, err := h.Read(t.Context(), key)
	if err != nil {
		t.Fatalf("Read(%s): %v", key, err)
	}
	return d
}

func textOf(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func link(t testing.TB, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Skip("no symbolic links:", err)
	}
}

// failsWith reports whether an error has a reason, and names these.
func failsWith(err error, reason record.Reason, names ...string) bool {
	e := (*record.Error)(nil)
	return errors.As(err, &e) && e.Reason == reason && slices.Equal(e.Names, names)
}
