package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"filebus/store/record"
)

// testStore is the store that the indexes of the tests belong to.
const testStore = record.StoreID("0123456789abcdef0123456789abcdef")

// note returns a document of the own tree.
func note(id, text string) *Document {
	return &Document{
		Record: record.Record{
			Name: record.Name{Kind: record.KindNote, ID: id}, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		},
		Text: []byte(text),
	}
}

func put(document *Document) Change { return Change{Name: document.Name, Document: document} }

func puts(documents ...*Document) []Change {
	var changes []Change
	for _, d := range documents {
		changes = append(changes, put(d))
	}
	return changes
}

func remove(id string) Change { return Change{Name: record.Name{Kind: record.KindNote, ID: id}} }

func openWriter(t testing.TB, dir string) *Writer {
	t.Helper()
	w, err := OpenWriter(dir, testStore)
	if err != nil {
		t.Fatalf("OpenWriter(%s): %v", dir, err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("closing the writer of %s: %v", dir, err)
		}
	})
	return w
}

// apply makes changes in a writer of its own.
func apply(t testing.TB, dir string, changes []Change, position uint64) {
	t.Helper()
	w := openWriter(t, dir)
	if err := w.Apply(t.Context(), changes, position); err != nil {
		t.Fatalf("Apply of %d changes up to %d: %v", len(changes), position, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// open opens an index, which is verified at the end of the test.
func open(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := Open(dir, testStore)
	if err != nil {
		t.Fatalf("Open(%s): %v", dir, err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Errorf("closing %s: %v", dir, err)
		}
		if err := Verify(dir, testStore); err != nil {
			t.Errorf("Verify(%s): %v", dir, err)
		}
	})
	return x
}

// build returns an index of documents.
func build(t *testing.T, documents ...*Document) *Index {
	t.Helper()
	dir := t.TempDir()
	apply(t, dir, puts(documents...), 1)
	return open(t, dir)
}

func find(t *testing.T, x *Index, request Request) Result {
	t.Helper()
	result, err := x.Search(context.Background(), request)
	if err != nil {
		t.Fatalf("Search(%+v): %v", request, err)
	}
	return result
}

// names returns the ids of the hits in their order.
func names(result Result) string {
	var ids []string
	for _, hit := range result.Hits {
		ids = append(ids, hit.Name.ID)
	}
	return strings.Join(ids, " ")
}

// generate returns n documents of random words, always the same.
func generate(n int, seed uint64) []*Document {
	generator := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("token session index handoff queue marker review patch error retry snapshot parser " +
		"parseHeader read_file src/auth/jwt.go cache agent report 検索 budget")
	sentence := func(length int) string {
		var b strings.Builder
		for range length {
			// The square makes the first words frequent and the last ones rare.
			i := generator.IntN(len(words))
			b.WriteString(words[i*generator.IntN(len(words))/len(words)] + " ")
		}
		return b.String()
	}
	var documents []*Document
	for i := range n {
		d := note(fmt.Sprintf("notes/%03d.md", i), "# "+sentence(3)+"\n\n"+sentence(5+generator.IntN(200)))
		d.Position = uint64(i + 1)
		d.Time = d.Time.Add(time.Duration(generator.IntN(20)) * time.Hour)
		d.Title = sentence(3)
		d.Tags = record.NormalizeTags(strings.Fields(sentence(2)))
		d.Agent = fmt.Sprintf("agent_%d", i%7)
		documents = append(documents, d)
	}
	return documents
}
