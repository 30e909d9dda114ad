package result_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
)

// TestOutsideRootTaken gives nothing to a store in a conversation whose folder is another
// store's, and runs nothing for it.
func TestOutsideRootTaken(t *testing.T) {
	t.Parallel()
	settings := materialize.Settings{Profile: profileOf("seed"), Home: t.TempDir()}
	first, second := deskIn(t, settings, time.Now), deskIn(t, settings, time.Now)
	first.put("c1/a", "scout", "first")

	tests := []struct {
		what string
		act  func() error
	}{
		{"Put", func() error {
			_, err := result.Put(t.Context(), second.Workspace, result.Call{Conversation: "c1"}, store.Expect{}, strings.NewReader("second"))
			return err
		}},
		{"PutDocument", func() error {
			d := result.Document{Markdown: []byte("one"), PDF: []byte("%PDF one")}
			_, err := result.PutDocument(t.Context(), second.Workspace, second.read, result.Call{Conversation: "c1"}, d)
			return err
		}},
		{"Exec", func() error {
			_, err := result.Exec(t.Context(), second.Workspace, result.Call{Conversation: "c1"}, command("print", "out", "0"))
			return err
		}},
	}
	for _, test := range tests {
		if err := test.act(); !errors.Is(err, mirror.ErrRootTaken) {
			t.Errorf("%s in a root of another store: %v, want ErrRootTaken", test.what, err)
		}
	}
	if spool, err := os.ReadDir(filepath.Join(second.Location.Store, "spool")); err == nil {
		t.Errorf("the command was run, though its output cannot be stored: %v", spool)
	}
	if found, err := second.read.List(t.Context(), query.ListRequest{}); err != nil || len(found.Entries) > 0 {
		t.Errorf("the second store has %d records, %v", len(found.Entries), err)
	}
}

// TestLongIDs refuses ids that no file can have before anything is stored.
func TestLongIDs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	long := strings.Repeat("x", 253)
	for _, c := range []result.Call{
		{Conversation: "c1", ID: long}, {Conversation: long + long, ID: "a"}, {Name: "c1/" + long},
	} {
		if stored, err := result.Put(t.Context(), d.Workspace, c, store.Expect{}, strings.NewReader("one")); err == nil {
			t.Errorf("Put(%.20q, %.20q, %.20q) = %.20s, want an error", c.Conversation, c.ID, c.Name, stored.Name)
		}
	}
	if n := d.results(); n != 0 {
		t.Errorf("%d results are stored, want none", n)
	}
	if _, err := result.Put(t.Context(), d.Workspace, result.Call{Conversation: "c1", ID: long[:252]}, store.Expect{}, strings.NewReader("one")); err != nil {
		t.Errorf("Put with an id of 252 bytes: %v", err)
	}
}

// profileOf returns the predefined profile of a name.
func profileOf(name string) layout.Profile {
	p, err := layout.ParseProfile(name)
	if err != nil {
		panic(err)
	}
	return p
}
