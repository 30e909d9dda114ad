package index

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocumentFrequencies(t *testing.T) {
	dir := t.TempDir()
	apply(t, dir, puts(note("a", "heron egret"), note("b", "heron heron"), note("c", "stork")), 3)
	apply(t, dir, puts(note("c", "egret")), 4) // the stork is gone
	terms := []string{"heron", "egret", "stork", "ibi", "", "\x00"}
	got, documents, err := open(t, dir).Frequencies(t.Context(), terms)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint64{2, 2, 0, 0, 0, 0}, got); diff != "" || documents != 3 {
		t.Errorf("%q in %d documents, want 3: -want +got\n%s", terms, documents, diff)
	}
}
