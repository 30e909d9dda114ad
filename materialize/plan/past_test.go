package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/record"
)

// put stores a text in place of what is there, of whatever kind that was.
func (b *bench) put(text string) *plan.Plan {
	b.Helper()
	p, err := b.Over(b.Context(), b.file(text), b.now())
	if err != nil {
		b.Fatalf("storing %q: %v", text, err)
	}
	return p
}

// had reports whether a text is that of an earlier state of the file.
func (b *bench) had(text string) (had bool) {
	b.Helper()
	now := b.now()
	if now.IsFrame() {
		base, err := b.BaseOf(b.Context(), b.file(text), now, 0)
		if err != nil {
			b.Fatalf("BaseOf(%q): %v", text, err)
		}
		return base.Exact
	}
	err := b.Store.View(b.Context(), func(tx *store.Tx) (err error) {
		had, err = now.Had(tx, record.DigestOf([]byte(text)))
		return err
	})
	if err != nil {
		b.Fatalf("Had(%q): %v", text, err)
	}
	return had
}

// TestPastRandom takes entries of one length through random states. Each text that the
// file was is known again; one of the same size and of entries that were all there, but
// never together, is not.
func TestPastRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 0))
		b := newBench(t, graphFile)
		entry := func(id int) string {
			return fmt.Sprintf("%03d=%04d", id, random.IntN(10_000))
		}
		entries := []string{entry(1), entry(2), entry(3)}
		var was []string
		seen := make([][]string, len(entries)) // the texts that each entry had
		for range 12 {
			at := random.IntN(len(entries))
			entries[at] = entry(at + 1)
			for i, e := range entries {
				seen[i] = append(seen[i], e)
			}
			text := graph("G", entries...)
			b.put(text)
			was = append(was, text)
		}
		for i, text := range was {
			if !b.had(text) {
				t.Errorf("seed %d: state %d of %d is not known again", seed, i+1, len(was))
			}
		}
		for range 20 {
			mixed := make([]string, len(entries))
			for i := range mixed {
				mixed[i] = seen[i][random.IntN(len(seen[i]))]
			}
			text := graph("G", mixed...)
			if got, want := b.had(text), slices.Contains(was, text); got != want {
				t.Errorf("seed %d: Had = %v, want %v, for\n%s", seed, got, want, text)
			}
		}
	}
}

// TestPastOfPlace knows what stood at the place of a journal before a new task took it,
// and what came back to an older text.
func TestPastOfPlace(t *testing.T) {
	t.Parallel()
	b := newBench(t, ".claude/journal/task-001.md")
	journal := func(status, started, more string) string {
		return "# Task: Login\n\n## Metadata\n- Status: " + status + "\n- Started: " + started + "\n" + more
	}
	const first, second = "2026-03-02T10:00:00Z", "2026-03-03T10:00:00Z"
	var names []string
	texts := []string{
		journal("in_progress", first, ""), journal("completed", first, ""), journal("completed", first, "\nMore.\n"),
		journal("in_progress", second, ""), journal("completed", second, ""),
	}
	for _, text := range texts {
		p := b.put(text)
		names = append(names, p.Names[0].String())
		if p.Changed != 1 || b.now().Digest() != record.DigestOf([]byte(text)) {
			t.Errorf("%q: %d changes, and the store has another text", text, p.Changed)
		}
	}
	want := []string{"handoff/task-001", "handoff/task-001", "handoff/task-001", "handoff/task-001~2", "handoff/task-001~2"}
	if !slices.Equal(names, want) {
		t.Errorf("names = %v, want %v", names, want)
	}
	if !b.had(texts[3]) || !b.had(texts[4]) || b.had(texts[4]+" ") {
		t.Error("the past of the new task is not told from what never was")
	}
	if base := plan.BaseID(strings.TrimPrefix(names[4], "handoff/")); base != "task-001" {
		t.Errorf("BaseID = %q", base)
	}
}
