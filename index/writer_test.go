package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func TestApply(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := openWriter(t, dir)
	for i, step := range []struct {
		name     string
		changes  []Change
		position uint64
	}{
		{"first", puts(note("a", "alpha"), note("b", "beta")), 2},
		{"replace", puts(note("a", "gamma")), 3},
		{"nothing", nil, 7},
		{"the last change of a name counts", append(puts(note("c", "delta"), note("c", "epsilon")), remove("b"), put(note("b", "zeta"))), 8},
		{"delete, also what is not there", []Change{remove("a"), remove("x")}, 8},
	} {
		if err := w.Apply(t.Context(), step.changes, step.position); err != nil || w.Position() != step.position {
			t.Fatalf("step %d, %s: error %v, position %d, want %d", i, step.name, err, w.Position(), step.position)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	x := open(t, dir)
	for query, want := range map[string]string{"": "b c", "alpha": "", "beta": "", "gamma": "", "delta": "", "epsilon": "c", "zeta": "b"} {
		if got := names(find(t, x, Request{Query: query})); got != want {
			t.Errorf("hits for %q are %q, want %q", query, got, want)
		}
	}
	if x.Position() != 8 || x.totals.Documents != 2 {
		t.Errorf("position %d with %d documents, want 8 with 2", x.Position(), x.totals.Documents)
	}
}

// Names of different trees and kinds are different documents.
func TestApplyNames(t *testing.T) {
	t.Parallel()
	var documents []*Document
	for _, name := range []record.Name{
		{Kind: "note", ID: "a"}, {Kind: "result", ID: "a"}, {Tree: "t", Kind: "note", ID: "a"}, {Kind: "note", ID: "a/a"}, {Kind: "note", ID: "\xff\xfe"},
	} {
		d := note("", "alpha")
		d.Name = name
		documents = append(documents, d)
	}
	x := build(t, documents...)
	if got := find(t, x, Request{Query: "alpha"}); got.Total != 5 {
		t.Errorf("%d documents, want 5: %v", got.Total, got.Hits)
	}
}

func TestApplyMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := openWriter(t, dir)
	if err := w.Apply(t.Context(), puts(note("a", "alpha")), 5); err != nil {
		t.Fatal(err)
	}
	if err := w.Apply(t.Context(), nil, 4); err == nil {
		t.Error("Apply went back from position 5 to 4")
	}
	wrong := Change{Name: record.Name{Kind: "note", ID: "b"}, Document: note("a", "alpha")}
	if err := w.Apply(t.Context(), []Change{wrong}, 6); err == nil {
		t.Error("Apply took the document of another name")
	}
	if err := w.Apply(t.Context(), puts(note("b", "beta")), 6); err != nil {
		t.Errorf("Apply after mistakes of the caller's: %v", err)
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := w.Apply(t.Context(), nil, 7); !errors.Is(err, errClosed) {
		t.Errorf("Apply after Close: %v, want %v", err, errClosed)
	}
}

// A failing batch must end the writer, and leave the index at the last position.
func TestApplyFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := openWriter(t, dir)
	if err := w.Apply(t.Context(), puts(note("a", "alpha")), 5); err != nil {
		t.Fatal(err)
	}
	// The engine cannot write its next segment to a folder that is gone.
	folder := only(t, dir, "g*/bleve")
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	if err := w.Apply(t.Context(), puts(note("b", "beta")), 6); err == nil {
		t.Fatal("Apply without a folder to write to succeeded")
	}
	if err := w.Apply(t.Context(), puts(note("c", "gamma")), 7); !errors.Is(err, errClosed) {
		t.Errorf("Apply after an error: %v, want %v", err, errClosed)
	}
	if err := errors.Join(os.RemoveAll(folder), os.Rename(folder+".away", folder)); err != nil {
		t.Fatal(err)
	}
	w = openWriter(t, dir)
	if w.Position() != 5 && w.replaced == nil {
		t.Errorf("reopened at %d, want 5", w.Position())
	}
}

// A call of several batches that ends in between leaves the old position and
// statistics that are counted anew; the same call again completes it.
func TestCrashBetweenBatches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := generate(80, 3)
	apply(t, dir, puts(old...), 5)
	changes := puts(generate(200, 1)...)
	for i := range changes[80:] {
		changes[80+i].Since = 6
	}

	w := openWriter(t, dir)
	unfinished := w.totals
	unfinished.Unfinished, unfinished.Reached = true, 6
	if err := w.runWith(w.newBatch(nil, nil), unfinished); err != nil {
		t.Fatal(err)
	}
	entries, err := w.analyzers[0].entries(t.Context(), changes[50:120])
	if err != nil {
		t.Fatal(err)
	}
	if err := w.run(w.newBatch(changes[50:120], entries)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil { // a crash: the last batch never comes
		t.Fatal(err)
	}

	x, err := Open(dir, testStore)
	if err != nil {
		t.Fatal(err)
	}
	if x.Position() != 5 || x.totals.Documents != 120 {
		t.Errorf("after the crash position %d with %d documents, want 5 with 120", x.Position(), x.totals.Documents)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	apply(t, dir, changes, 6)

	whole := t.TempDir()
	apply(t, whole, changes, 6)
	repaired, want := open(t, dir), open(t, whole)
	for _, query := range exactQueries {
		request := Request{Query: query, Limit: 1000}
		if diff := cmp.Diff(find(t, want, request), find(t, repaired, request)); diff != "" {
			t.Errorf("hits for %q after the crash: -want +got\n%.1000s", query, diff)
		}
	}
}

// A name that came up behind what the index has seen is not looked for; any other is.
func TestNewNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	step := func(position, since uint64, first int, texts ...string) {
		t.Helper()
		var changes []Change
		for i, text := range texts {
			n := note(fmt.Sprint(first+i), text)
			n.Name.Tree = "\xff\xff" // its name is behind the key of a new one
			changes = append(changes, Change{Name: n.Name, Document: n, Since: since})
		}
		apply(t, dir, changes, position)
	}
	step(3, 1, 0, "alpha", "alpha")
	step(6, 1, 0, "beta", "beta", "beta")
	step(7, 7, 3, "gamma")
	step(8, 1, 2, "delta")
	step(9, 7, 3, "epsilon")
	if err := Verify(dir, testStore); err != nil {
		t.Error(err)
	}
	x := open(t, dir)
	for text, want := range map[string]uint64{"alpha": 0, "beta": 2, "gamma": 0, "delta": 1, "epsilon": 1} {
		if got := find(t, x, Request{Query: text}).Total; got != want {
			t.Errorf("%d documents have %s, want %d", got, text, want)
		}
	}
}

// A document that is damaged in the index must not be counted out wrongly.
func TestMalformedFactsInIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := openWriter(t, dir)
	bad := w.analyzers[0].entry(note("a", "alpha"))
	bad.encoded = "nonsense"
	if err := w.run(w.newBatch(puts(note("a", "")), []*entry{bad})); err != nil {
		t.Fatal(err)
	}
	if err := w.Apply(t.Context(), puts(note("a", "beta")), 1); !errors.Is(err, ErrDamaged) {
		t.Errorf("Apply over a document with malformed facts: %v, want %v", err, ErrDamaged)
	}
	if err := second(Open(dir, testStore)); !errors.Is(err, ErrDamaged) {
		t.Errorf("Open afterwards: %v, want %v", err, ErrDamaged)
	}
	if w := openWriter(t, dir); !errors.Is(w.replaced, ErrDamaged) {
		t.Errorf("OpenWriter kept the index: %v, want %v", w.replaced, ErrDamaged)
	}
}

// Many small calls must not leave many segments behind.
func TestSingleDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	dir := t.TempDir()
	for i := range 60 {
		apply(t, dir, puts(note(fmt.Sprint(i), "alpha beta")), uint64(i+1))
	}
	x := open(t, dir)
	if got := find(t, x, Request{Query: "alpha"}); got.Total != 60 {
		t.Errorf("%d documents, want 60", got.Total)
	}
	segments, err := filepath.Glob(filepath.Join(dir, "g*/bleve/*.zap"))
	if err != nil || len(segments) > 30 {
		t.Errorf("%d segment files after 60 calls, %v, want at most 30", len(segments), err)
	}
}

func TestChunk(t *testing.T) {
	t.Parallel()
	text := make([]byte, maxText+1)
	big := func(n int) (changes []Change) {
		for i := range n {
			name := record.Name{ID: fmt.Sprint(i)}
			changes = append(changes, Change{Document: &Document{Record: record.Record{Name: name}, Text: text}})
		}
		return changes
	}
	for _, test := range []struct {
		changes []Change
		want    int
	}{
		{nil, 0}, {make([]Change, 3), 3}, {make([]Change, chunkDocuments), chunkDocuments}, {make([]Change, chunkDocuments+5), chunkDocuments},
		{big(1), 1}, {big(16), 16}, {big(20), 16},
	} {
		if got := chunk(test.changes, 16<<20); got != test.want {
			t.Errorf("chunk of %d changes = %d, want %d", len(test.changes), got, test.want)
		}
	}
}
