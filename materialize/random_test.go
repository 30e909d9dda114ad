package materialize_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// A handFormat is an aggregate format as an agent edits it with an editor.
type handFormat struct {
	path  string
	kind  record.Kind
	id    func(n int) string
	entry func(id, token string) string
	// write returns a file of entries with some words around them.
	write func(words string, entries []string) string
}

func handFormats() map[string]handFormat {
	issue := handFormat{
		path: issueFile, kind: record.KindIssue,
		id:    func(n int) string { return fmt.Sprintf("ISSUE-20260302-%03d", n) },
		entry: func(id, token string) string { return "### " + id + "\n\n- **Status**: pending\n\n" + token + "\n" },
		write: func(words string, entries []string) string {
			return strings.Join(append([]string{"# Issue Queue\n\n" + words + "\n"}, entries...), "\n")
		},
	}
	crlf := issue
	crlf.entry = func(id, token string) string { return strings.ReplaceAll(issue.entry(id, token), "\n", "\r\n") }
	crlf.write = func(words string, entries []string) string {
		return strings.ReplaceAll(strings.ReplaceAll(issue.write(words, entries), "\r\n", "\n"), "\n", "\r\n")
	}
	cut := issue
	cut.write = func(words string, entries []string) string {
		return strings.TrimSuffix(issue.write(words, entries), "\n")
	}
	return map[string]handFormat{
		"issues": issue, "issues with CRLF": crlf, "issues without a last newline": cut,
		"rows": {
			path: ".claude/journal/index.md", kind: record.KindComponent,
			id:    func(n int) string { return fmt.Sprintf("src/part%d", n) },
			entry: func(id, token string) string { return "| " + id + " | task-001 | " + token + " |\n" },
			write: func(words string, entries []string) string {
				return "## Context Map\n\n| Component | Last Modified | Notes |\n|---|---|---|\n" + strings.Join(entries, "") + "\n" + words + "\n"
			},
		},
		"nodes": {
			path: ".claude/knowledge_graph.json", kind: record.KindKnowledge,
			id: func(n int) string { return fmt.Sprintf("pattern-%03d", n) },
			entry: func(id, token string) string {
				return fmt.Sprintf(`{"id": %q, "type": "pattern", "tags": [], "summary": %q}`, id, token)
			},
			write: func(words string, entries []string) string {
				return "{\n  \"words\": \"" + words + "\",\n  \"nodes\": [\n    " + strings.Join(entries, ",\n    ") + "\n  ]\n}\n"
			},
		},
	}
}

// A randomRun does random things to two folders that mirror one store.
type randomRun struct {
	*rand.Rand
	format handFormat
	roots  []*materialize.Workspace
	next   int // number of the next entry
	token  int
	did    []string
	added  map[string]bool // ids of entries
	gone   map[string]bool // ids of entries that either side deleted
}

// newToken returns a word that is written once.
func (r *randomRun) newToken() string { r.token++; return fmt.Sprintf("token%03dx", r.token) }

func (r *randomRun) pick() *materialize.Workspace { return r.roots[r.IntN(len(r.roots))] }

func (r *randomRun) read(t testing.TB, w *materialize.Workspace) string {
	text, err := os.ReadFile(filepath.Join(w.Root, r.format.path))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

var tokenPattern = regexp.MustCompile(`token\d+x`)

// byHand changes a file as a whole: one entry is added, edited or deleted, or the
// words are changed.
func (r *randomRun) byHand(t testing.TB, w *materialize.Workspace) {
	text := r.read(t, w)
	file, _ := layout.Recognize(r.format.path).Parse(r.format.path, []byte(text))
	var entries, ids []string
	outside := ""
	for _, p := range file.Parts {
		if p.Entry == nil {
			outside += string(p.Text)
			continue
		}
		end := strings.TrimRight(string(p.Entry.Text), "\r\n")
		if r.format.kind != record.KindKnowledge {
			end += "\n"
		}
		entries, ids = append(entries, end), append(ids, p.Entry.ID)
	}
	words := tokenPattern.FindString(outside)
	what := r.IntN(5)
	at := 0
	if len(entries) > 0 {
		at = r.IntN(len(entries))
	}
	switch {
	case what < 2 || len(entries) == 0:
		r.next++
		r.added[r.format.id(r.next)] = true
		entries = slices.Insert(entries, r.IntN(len(entries)+1), r.format.entry(r.format.id(r.next), r.newToken()))
	case what == 2:
		entries[at] = tokenPattern.ReplaceAllString(entries[at], r.newToken())
	case what == 3:
		r.gone[ids[at]] = true
		entries = slices.Delete(entries, at, at+1)
	default:
		words = r.newToken()
	}
	r.did = append(r.did, fmt.Sprintf("hand %d in %s", what, filepath.Base(w.Root)))
	writeTree(t, w.Root, map[string]string{r.format.path: r.format.write(words, entries)})
}

// byCommand puts an entry, or removes one.
func (r *randomRun) byCommand(t testing.TB, w *materialize.Workspace) {
	name := record.Name{Kind: r.format.kind, ID: r.format.id(1 + r.IntN(max(r.next, 1)))}
	known := false
	view(t, w, func(tx *store.Tx) { _, err := tx.Head(name); known = err == nil })
	if !known && r.format.kind == record.KindKnowledge {
		return // a new one would go to the Markdown graph
	}
	var err error
	if known && r.IntN(3) == 0 {
		r.did = append(r.did, "remove "+name.ID+" in "+filepath.Base(w.Root))
		r.gone[name.ID] = true
		err = w.Remove(t.Context(), name)
	} else {
		if !known {
			r.next++
			name.ID = r.format.id(r.next)
		}
		r.did = append(r.did, "put "+name.ID+" in "+filepath.Base(w.Root))
		_, err = w.Put(t.Context(), materialize.PutRequest{
			Kind: name.Kind, ID: name.ID, Text: strings.NewReader(r.format.entry(name.ID, r.newToken())), Source: record.SourcePut,
		})
	}
	switch {
	case err == nil && !known:
		r.added[name.ID] = true
	case err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound):
		t.Fatalf("%v: %v", r.did, err)
	}
}

// sync brings one folder in step and checks what must hold after it.
func (r *randomRun) sync(t testing.TB, w *materialize.Workspace) {
	before := tokenPattern.FindAllString(r.read(t, w), -1)
	r.did = append(r.did, "sync "+filepath.Base(w.Root))
	report := runSync(t, w, materialize.SyncOptions{})
	for _, s := range report.Skipped {
		t.Fatalf("%v: skipped %s: %s", r.did, s.Path, s.Reason)
	}
	if report.Count("rolled back") > 0 {
		report = runSync(t, w, materialize.SyncOptions{Accept: true})
	}
	if again := actions(runSync(t, w, materialize.SyncOptions{})); len(again) > 0 {
		t.Fatalf("%v: a second sync did %v", r.did, again)
	}
	text := r.read(t, w)
	if got := r.assembled(t, w); got != text {
		t.Fatalf("%v:\nthe store has %q\nthe file is   %q", r.did, got, text)
	}
	if strings.HasSuffix(r.format.path, ".json") && text != "" && !json.Valid([]byte(text)) {
		t.Fatalf("%v: no JSON: %s", r.did, text)
	}
	stored := everStored(t, w)
	for _, token := range before {
		if !strings.Contains(stored, token) {
			t.Fatalf("%v: %s is neither in the file nor in history; the sync did %v\nfile: %s", r.did, token, actions(report), text)
		}
	}
}

func (r *randomRun) assembled(t testing.TB, w *materialize.Workspace) string {
	out := filepath.Join(t.TempDir(), "out")
	if _, err := w.LayOut(t.Context(), out, materialize.Selection{Filter: record.Filter{Trees: trees("")}},
		nil); err != nil {
		t.Fatalf("%v: %v", r.did, err)
	}
	return readTree(t, out)[r.format.path]
}

// everStored returns all texts that the store has, in any version.
func everStored(t testing.TB, w *materialize.Workspace) string {
	var all strings.Builder
	view(t, w, func(tx *store.Tx) {
		for e, err := range tx.Log(1) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := tx.Get(e.Ref)
			if err != nil {
				t.Fatal(err)
			}
			content, err := tx.Content(v.Record)
			if err != nil {
				t.Fatal(err)
			}
			text, err := content.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	})
	return all.String()
}

func newRandomRun(t testing.TB, seed uint64, format handFormat) *randomRun {
	r := &randomRun{Rand: rand.New(rand.NewPCG(seed, 1)), format: format, next: 2, added: map[string]bool{}, gone: map[string]bool{}}
	first := newWorkspace(t)
	at := first.Location
	at.Root = t.TempDir()
	c := &testClock{now: time.Now().Add(time.Hour)}
	second, err := materialize.Open(at, first.Settings, store.Options{Now: c.Now, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r.roots = []*materialize.Workspace{first, second}
	runSync(t, second, materialize.SyncOptions{}) // what follows is new to it
	entries := []string{format.entry(format.id(1), r.newToken()), format.entry(format.id(2), r.newToken())}
	writeTree(t, first.Root, map[string]string{format.path: format.write(r.newToken(), entries)})
	r.sync(t, first)
	r.sync(t, second)
	return r
}

// wantLive makes sure that the store has every entry that nobody deleted.
func (r *randomRun) wantLive(t testing.TB) {
	view(t, r.roots[0], func(tx *store.Tx) {
		for id := range r.added {
			if _, err := tx.Head(record.Name{Kind: r.format.kind, ID: id}); err != nil && !r.gone[id] {
				t.Fatalf("%v: %s was added and never deleted: %v\nfile: %s", r.did, id, err, r.read(t, r.roots[0]))
			}
		}
	})
}

// TestRandomSequences edits one aggregate file by hand in two folders, and its
// entries by command, with a sync now and then, and compares file, store and
// history after each sync.
func TestRandomSequences(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	for label, format := range handFormats() {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(6) {
				r := newRandomRun(t, seed, format)
				for range 12 {
					switch r.IntN(4) {
					case 0, 1:
						r.byHand(t, r.pick())
					case 2:
						r.byCommand(t, r.pick())
					case 3:
						r.sync(t, r.pick())
					}
				}
				for _, w := range append(r.roots, r.roots[0]) {
					r.sync(t, w)
				}
				if a, b := r.read(t, r.roots[0]), r.read(t, r.roots[1]); a != b {
					r.sync(t, r.roots[1])
					if b = r.read(t, r.roots[1]); a != b {
						t.Fatalf("%v: the folders differ:\n%q\n%q", r.did, a, b)
					}
				}
				r.wantLive(t)
				if report, err := r.roots[0].Store.Check(context.Background(), nil); err != nil || report.Err() != nil {
					t.Fatalf("%v: %v, %v", r.did, err, report.Err())
				}
			}
		})
	}
}
