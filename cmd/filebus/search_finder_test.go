package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"filebus/cmd/filebus/cli"
	"filebus/query"
	"filebus/store"
)

// newFinderSource returns the source of a finder in a store with one indexed note.
func newFinderSource(t *testing.T, text, tag string) *finderSource {
	t.Helper()
	d := newDesk(t)
	d.write("n.md", text)
	d.run("put", "--name", "note/n.md", "--tag", tag, "n.md")
	d.run("search", "waits") // makes the index
	env := docEnviron(d.dir, new(bytes.Buffer))
	env.Hooks = usualHooks()
	s, err := env.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &finderSource{env: env, opts: searchCommand{Page: cli.Page{Limit: 10}},
		set: &storeSet{own: s, readers: []*query.Reader{s.Reader}}}
}

// TestFinderSourceKeepsOptions reads a text for what was typed: searches, which run
// at the same time, have the options that were given.
func TestFinderSourceKeepsOptions(t *testing.T) {
	source := newFinderSource(t, "# Heron\n\nThe heron waits.\n", "birds")
	const typed = "tag:birds heron"
	answer, err := source.Search(t.Context(), typed, 10)
	if err != nil || len(answer.Hits) != 1 {
		t.Fatalf("Search(%q) = %+v, %v; want one hit", typed, answer.Hits, err)
	}
	text, err := source.Text(t.Context(), typed, answer.Hits[0], false)
	if err != nil || !strings.Contains(string(text.Body), "heron waits") {
		t.Errorf("Text(%q) = %q, %v", typed, text.Body, err)
	}
	if got := source.opts.operators; got != nil {
		t.Errorf("after %q the options have operators %q; want none", typed, got)
	}
}

// TestFinderSourceCompletes types a word: what begins so is found and marked before it
// is whole, until a space ends it. The command without a finder does not complete.
func TestFinderSourceCompletes(t *testing.T) {
	source := newFinderSource(t, "# Report\n\nThe vulnerability waits.\n", "safety")
	for _, test := range []struct {
		typed string
		hits  int
	}{{"vu", 1}, {"vulnerab", 1}, {"tag:safety vulner", 1}, {"vulnerability", 1}, {"vulne ", 0}, {"-vulnerab report", 1}, {"vux", 0}} {
		answer, err := source.Search(t.Context(), test.typed, 10)
		if err != nil || len(answer.Hits) != test.hits {
			t.Errorf("Search(%q): %d hits, %v; want %d", test.typed, len(answer.Hits), err, test.hits)
			continue
		}
		if test.hits == 0 || strings.HasPrefix(test.typed, "-") {
			continue
		}
		text, err := source.Text(t.Context(), test.typed, answer.Hits[0], false)
		var marks []string
		for _, m := range text.Marks {
			marks = append(marks, string(text.Body[m.Start:m.End]))
		}
		if err != nil || strings.Join(marks, " ") != "vulnerability" {
			t.Errorf("Text(%q): marks %q, %v; want vulnerability", test.typed, marks, err)
		}
	}
	opts := source.opts
	if request, err := opts.request(source.env, "vulnerab"); err != nil || request.Prefix {
		t.Errorf("a request without a finder: Prefix %v, %v", request.Prefix, err)
	}
}

// TestFinderSourceAtOnce searches, reads and refreshes at the same time, as a finder
// does, while records are put.
func TestFinderSourceAtOnce(t *testing.T) {
	d := newDesk(t)
	d.write("n.md", "# Heron\n\nThe heron waits.\n")
	d.run("put", "--name", "note/0", "n.md")
	env := docEnviron(d.dir, new(bytes.Buffer))
	env.Hooks = usualHooks()
	s, err := env.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	source := &finderSource{
		env: env, opts: searchCommand{Page: cli.Page{Limit: 10}}, set: &storeSet{own: s,
			readers: []*query.Reader{s.Reader}}, positions: make([]uint64, 1),
	}
	var work sync.WaitGroup
	work.Go(func() {
		for range 20 {
			if _, err := source.Refresh(t.Context()); err != nil {
				t.Errorf("Refresh: %v", err)
			}
		}
	})
	work.Go(func() {
		for range 20 {
			answer, err := source.Search(t.Context(), "kind:note heron", 10)
			if err != nil {
				t.Errorf("Search: %v", err)
			}
			for _, hit := range answer.Hits {
				if _, err := source.Text(t.Context(), "kind:note heron", hit, true); err != nil {
					t.Errorf("Text of %s: %v", hit.Name, err)
				}
			}
		}
	})
	for i := range 5 {
		d.run("put", "--name", fmt.Sprintf("note/%d", i+1), "n.md")
	}
	work.Wait()
	if _, err := source.Refresh(t.Context()); err != nil {
		t.Errorf("Refresh: %v", err)
	}
	answer, err := source.Search(t.Context(), "heron", 10)
	if err != nil || answer.Total != 6 {
		t.Errorf("in the end %d hits, %v; want 6", answer.Total, err)
	}
}

// TestNoteFailed names stores that could not be opened; if none could, that is an
// error.
func TestNoteFailed(t *testing.T) {
	env, _, stderr := fakeEnviron(t)
	set := &storeSet{failed: []query.StoreAnswer{{Folder: "/elsewhere/.filebus", Err: store.ErrDamaged}}}
	if err := set.noteFailed(env, 0); !errors.Is(err, store.ErrDamaged) || stderr.Len() > 0 {
		t.Errorf("no store opened: %v, stderr %q; want %v", err, stderr, store.ErrDamaged)
	}
	err := set.noteFailed(env, 1)
	if got, want := stderr.String(), "/elsewhere/.filebus was left out: "+store.ErrDamaged.Error(); err != nil || !strings.Contains(got, want) {
		t.Errorf("one store opened: %v, stderr %q; want %q", err, got, want)
	}
}
