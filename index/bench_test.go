package index

import (
	"fmt"
	"testing"

	"filebus/store/record"
)

// benchDocuments are n documents of about 1 KB each.
func benchDocuments(n int) (documents []*Document, size int64) {
	documents = generate(n, 1)
	for _, d := range documents {
		size += int64(len(d.Text))
	}
	return documents, size
}

func BenchmarkAnalyze(b *testing.B) {
	documents, size := benchDocuments(500)
	b.SetBytes(size)
	b.ReportAllocs()
	a := NewAnalyzer()
	for b.Loop() {
		for _, d := range documents {
			for range a.tokens(d.Text, nil) {
			}
		}
	}
}

func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1, 100, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			documents, size := benchDocuments(n)
			w, err := OpenWriter(b.TempDir(), testStore)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			b.SetBytes(size)
			for position := uint64(1); b.Loop(); position++ {
				if err := w.Apply(b.Context(), puts(documents...), position); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	w, err := OpenWriter(dir, testStore)
	if err != nil {
		b.Fatal(err)
	}
	documents, _ := benchDocuments(5000)
	if err := w.Apply(b.Context(), puts(documents...), 1); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	x, err := Open(dir, testStore)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	for name, request := range map[string]Request{
		"rare":     {Query: "budget"},
		"frequent": {Query: "token session index"},
		"filtered": {Query: "token session index", Filter: record.Filter{Agents: []string{"agent_3"}}},
		"newest":   {},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Search(b.Context(), request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSegment(b *testing.B) {
	documents, size := benchDocuments(2000)
	a := NewAnalyzer()
	var entries []*entry
	for _, d := range documents {
		entries = append(entries, a.entry(d))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	w := newSegmentWriter()
	for b.Loop() {
		if _, err := w.write(entries); err != nil {
			b.Fatal(err)
		}
	}
}
