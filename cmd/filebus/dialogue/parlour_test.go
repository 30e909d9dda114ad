package dialogue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// A parlour is the dialogues of a workspace of its own, at a time that stands still.
type parlour struct {
	*Dialogues
	work *materialize.Workspace
	now  time.Time
}

func newParlour(t testing.TB, profile layout.Profile) *parlour {
	t.Helper()
	h := &parlour{now: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)}
	h.Dialogues, h.work = newDialogues(t, profile, nil, func() time.Time { return h.now })
	return h
}

// outsideParlour is a parlour whose dialogues are in a folder outside of the workspace,
// which it returns. The folder is not there yet.
func outsideParlour(t testing.TB) (*parlour, string) {
	t.Helper()
	profile := outside(t)
	return newParlour(t, profile), filepath.FromSlash(profile.Dialogues)
}

func (h *parlour) make(t testing.TB, title string, agents ...string) *Made {
	t.Helper()
	made, err := h.New(t.Context(), NewRequest{Title: title, Agents: agents})
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

func (h *parlour) read(t testing.TB, key Key) *Dialogue {
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

// failsWith reports whether an error says what helps, and names these.
func failsWith(err error, hint string, names ...string) bool {
	e := (*record.Error)(nil)
	return errors.As(err, &e) && e.Hint == hint && slices.Equal(e.Names, names)
}

// refuses reports whether an error says a text, or says that it helps.
func refuses(err error, text string) bool {
	e := (*record.Error)(nil)
	return errors.As(err, &e) && (e.Hint == text || strings.Contains(err.Error(), text))
}

// launched has agents owe a file in a round, and returns the round's panel.
func (f *Dialogues) launched(ctx context.Context, key Key, round int, agents ...string) (*layout.Panel, error) {
	d, err := f.readOwn(ctx, key)
	if err == nil {
		err = f.launch(ctx, d, round, agents...)
	}
	if err == nil {
		d, err = f.Read(ctx, key)
	}
	if err != nil {
		return nil, err
	}
	return d.Round(round).Panel, nil
}

// profileOf returns the predefined profile of a name.
func profileOf(name string) layout.Profile {
	p, err := layout.ParseProfile(name)
	if err != nil {
		panic(err)
	}
	return p
}
