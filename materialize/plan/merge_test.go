package plan_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filebus/materialize/layout"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/record"
)

const (
	graphFile = ".claude/knowledge_graph.md"
	listFile  = ".claude/knowledge_graph.json"
)

// A bench is a store with a planner, and a file in it.
type bench struct {
	testing.TB
	plan.Planner
	path string
}

// newBench returns a new store, whose Check must find nothing when the test ends.
func newBench(t testing.TB, path string) *bench {
	t.Helper()
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{
		Now: func() time.Time { return now }, Random: rand.NewChaCha8([32]byte{1}), Wait: time.Minute, Command: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := s.Check(context.Background(), nil)
		if err != nil || len(report.Faults) > 0 {
			t.Errorf("Check: %v, %v", report, err)
		}
	})
	return &bench{t, plan.Planner{Store: s, Preview: 200, Now: time.Now}, path}
}

func (b *bench) file(text string) plan.File {
	return plan.File{
		Path: b.path, Location: layout.Recognize(b.path), Content: plan.Content{Text: []byte(text)}, Source: record.SourceSync,
	}
}

// save stores a text of the file in place of what is there, and returns the position
// after it.
func (b *bench) save(text string) uint64 {
	b.Helper()
	p, err := b.File(b.Context(), b.file(text),
		func(tx *store.Tx) (*plan.State, error) { return plan.At(tx, "", b.path) })
	if err == nil {
		err = p.CarryOut(b.Context(), b.Store)
	}
	if err != nil {
		b.Fatalf("storing %q: %v", text, err)
	}
	if got := b.text(); got != text {
		b.Fatalf("%q was stored as %q", text, got)
	}
	return b.now().Position
}

// now returns what the store has of the file.
func (b *bench) now() (now *plan.State) {
	b.Helper()
	err := b.Store.View(b.Context(), func(tx *store.Tx) (err error) {
		now, err = plan.At(tx, "", b.path)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return now
}

// at returns the state that the file had at a position.
func (b *bench) at(position uint64) (then *plan.State) {
	b.Helper()
	err := b.Store.View(b.Context(), func(tx *store.Tx) (err error) {
		then, err = plan.Before(tx, b.now().Name(), position)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return then
}

func (b *bench) text() string {
	b.Helper()
	now := b.now()
	return string(now.Text(now.Frame))
}

// beside returns the texts that are kept as conflict versions, with their targets'
// names.
func (b *bench) beside() map[string]string {
	b.Helper()
	found := map[string]string{}
	err := b.Store.View(b.Context(), func(tx *store.Tx) error {
		for e, err := range tx.Log(1) {
			if err != nil {
				return err
			}
			v, err := tx.Get(e.Ref)
			if err != nil || len(v.Record.Links) == 0 || v.Record.Links[0].Type != record.LinkConflict {
				continue
			}
			content, err := tx.Content(v.Record)
			if err != nil {
				return err
			}
			text, err := content.Bytes()
			if err != nil {
				return err
			}
			found[v.Record.Name.String()] = string(text)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return found
}

// graph returns a graph of entries: "a=x" is pattern-a with the content x.
func graph(head string, entries ...string) string {
	text := "# " + head + "\n"
	for _, e := range entries {
		id, content, _ := strings.Cut(e, "=")
		text += "\n### pattern-" + id + "\n- Type: pattern\n- Content: " + content + "\n"
	}
	return text
}

func list(nodes ...string) string {
	return "{\n  \"nodes\": [\n    " + strings.Join(nodes, ",\n    ") + "\n  ]\n}\n"
}

// TestMerge merges files that both sides have changed since base: the text that then
// stands in the store, and what of the file is kept beside it.
func TestMerge(t *testing.T) {
	entry := func(content string) string { return "### pattern-1\n- Type: pattern\n- Content: " + content + "\n" }
	base := graph("G", "1=a", "2=b", "3=c")
	for label, test := range map[string]struct {
		path               string
		base, stored, disk string
		want               string
		conflicts          []string
		beside             map[string]string
	}{
		"different entries changed": {
			graphFile, base, graph("G", "1=stored", "2=b", "3=c"), graph("G", "1=a", "2=b", "3=disk"),
			graph("G", "1=stored", "2=b", "3=disk"), nil, nil,
		},
		"one entry changed on both sides": {
			graphFile, base, graph("G", "1=stored", "2=b", "3=c"), graph("G", "1=disk", "2=b", "3=d"),
			graph("G", "1=stored", "2=b",
				"3=d"), []string{"knowledge/pattern-1"}, map[string]string{"knowledge/pattern-1": entry("disk")},
		},
		"the same change twice": {
			graphFile, base, graph("G", "1=new", "2=b", "3=c"), graph("G", "1=new", "2=b", "3=c"),
			graph("G", "1=new", "2=b", "3=c"), nil, nil,
		},
		"the same new entry twice": {
			graphFile, base, graph("G", "1=a", "2=b", "3=c", "4=d"), graph("G", "1=a", "2=b", "3=c", "4=d"),
			graph("G", "1=a", "2=b", "3=c", "4=d"), nil, nil,
		},
		"removed on disk, changed elsewhere": {
			graphFile, base, graph("G", "1=stored", "2=b", "3=c"), graph("G", "1=a", "3=c"),
			graph("G", "1=stored", "3=c"), nil, nil,
		},
		"removed in the store, changed elsewhere": {
			graphFile, base, graph("G", "1=a", "3=c"), graph("G", "1=disk", "2=b", "3=c"),
			graph("G", "1=disk", "3=c"), nil, nil,
		},
		"removed on disk, and changed in the store": {
			graphFile, base, graph("G", "1=stored", "2=b", "3=c"), graph("G", "2=b", "3=c"),
			graph("G", "1=stored", "2=b", "3=c"), nil, nil,
		},
		"removed in the store, and changed on disk": {
			graphFile, base, graph("G", "2=b", "3=c"), graph("G", "1=disk", "2=b", "3=c"),
			graph("G", "2=b",
				"3=c"), []string{"knowledge/pattern-1"}, map[string]string{"knowledge/pattern-1": entry("disk")},
		},
		"removed on both sides": {
			graphFile, base, graph("G", "1=a", "2=b"), graph("G", "1=a", "2=disk"), graph("G", "1=a",
				"2=disk"), nil, nil,
		},
		"new entries on both sides": {
			graphFile, base, graph("G", "1=a", "2=b", "3=c", "4=d"), graph("G", "0=e", "1=a", "2=b", "3=c"),
			graph("G", "0=e", "1=a", "2=b", "3=c", "4=d"), nil, nil,
		},
		"the text around them on disk, an entry in the store": {
			graphFile, base, graph("G", "1=stored", "2=b", "3=c"), graph("Graph", "1=a", "2=b", "3=c"),
			graph("Graph", "1=stored", "2=b", "3=c"), nil, nil,
		},
		"another order on disk": {
			graphFile, base, graph("G", "1=a", "2=b", "3=stored"), graph("G", "3=c", "1=a", "2=b"),
			graph("G", "3=stored", "1=a", "2=b"), nil, nil,
		},
		"line ends at the end of the file": {
			graphFile, base, graph("G", "1=a", "2=b", "3=c", "4=d"), strings.TrimSuffix(base, "\n"),
			graph("G", "1=a", "2=b", "3=c", "4=d"), nil, nil,
		},
		"nodes of a list": {
			listFile, list(`{"id": "a"}`, `{"id": "b"}`, `{"id": "c"}`), list(`{"id": "a", "x": 1}`, `{"id": "b"}`,
				`{"id": "c"}`),
			list(`{"id": "a"}`, `{"id": "c"}`, `{"id": "d"}`), list(`{"id": "a", "x": 1}`, `{"id": "c"}`,
				`{"id": "d"}`), nil, nil,
		},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, test.path)
			since := b.save(test.base)
			b.save(test.stored)
			merged, err := b.Merge(t.Context(), b.file(test.disk), b.now(), plan.Base{State: b.at(since)}, false)
			if err == nil {
				err = merged.CarryOut(t.Context(), b.Store)
			}
			if err != nil {
				t.Fatalf("merging %q into %q: %v", test.disk, test.stored, err)
			}
			if diff := cmp.Diff(test.want, b.text()); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.conflicts, merged.Conflicts, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.beside, b.beside(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("kept beside it (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMergeFrames changes the text around the entries on both sides: the store's stays,
// and the file's is kept beside it.
func TestMergeFrames(t *testing.T) {
	t.Parallel()
	b := newBench(t, graphFile)
	since := b.save(graph("G", "1=a"))
	b.save(graph("Stored", "1=a"))
	merged, err := b.Merge(t.Context(), b.file(graph("Disk", "1=b")), b.now(), plan.Base{State: b.at(since)}, false)
	if err == nil {
		err = merged.CarryOut(t.Context(), b.Store)
	}
	if want := "text around the entries of " + graphFile; err != nil || len(merged.Conflicts) != 1 ||
		merged.Conflicts[0] != want {
		t.Fatalf("conflicts %q, %v, want %q", merged.Conflicts, err, want)
	}
	if got, want := b.text(), graph("Stored", "1=b"); got != want {
		t.Errorf("merged: %q, want %q", got, want)
	}
	if kept := b.beside()["frame/"+graphFile]; !strings.Contains(kept, "# Disk") {
		t.Errorf("kept beside it is %q, want the text of the file", kept)
	}
}

// TestMergeUnreadable merges nothing from a file in which no entry can be told from
// another: what the store has stays.
func TestMergeUnreadable(t *testing.T) {
	t.Parallel()
	b := newBench(t, graphFile)
	since := b.save(graph("G", "1=a", "2=b"))
	stored := graph("G", "1=stored", "2=b")
	b.save(stored)
	marked := "# G\n\n<<<<<<< HEAD\n### pattern-1\n- Content: x\n=======\n### pattern-1\n- Content: y\n>>>>>>> other\n"
	merged, err := b.Merge(t.Context(), b.file(marked), b.now(), plan.Base{State: b.at(since)}, false)
	if !errors.Is(err, plan.ErrGitConflict) || !strings.Contains(err.Error(), graphFile+":3:") {
		t.Errorf("a file with markers of git gives %+v, %v", merged, err)
	}
	if got := b.text(); got != stored {
		t.Errorf("the store has %q, want %q", got, stored)
	}
}

// TestMergeRaced refuses a plan when an entry has changed since it was made.
func TestMergeRaced(t *testing.T) {
	t.Parallel()
	b := newBench(t, graphFile)
	since := b.save(graph("G", "1=a", "2=b"))
	b.save(graph("G", "1=a", "2=stored"))
	merged, err := b.Merge(t.Context(), b.file(graph("G", "1=disk", "2=b")), b.now(), plan.Base{State: b.at(since)}, false)
	if err != nil {
		t.Fatal(err)
	}
	later := graph("G", "1=later", "2=stored")
	b.save(later)
	if err := merged.CarryOut(t.Context(), b.Store); !errors.Is(err, store.ErrConflict) {
		t.Errorf("carried out too late: %v, want a conflict", err)
	}
	if got := b.text(); got != later {
		t.Errorf("the store has %q, want %q", got, later)
	}
}

func TestMergeMarker(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "<<<<<<< a\n=======\n>>>>>>> b\n": 1, "a\r\nb\r\n<<<<<<< a\r\n>>>>>>> b": 3, "a\n<<<<<<< b\n": 0, ">>>>>>> a\n<<<<<<< b\n": 0,
		"a <<<<<<< b\n>>>>>>> c\n": 0, "<<<<<<<\n>>>>>>>\n": 0,
	} {
		if got := plan.MergeMarker([]byte(text)); got != want {
			t.Errorf("MergeMarker(%q) = %d, want %d", text, got, want)
		}
	}
}
