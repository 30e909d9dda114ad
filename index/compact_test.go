package index

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// segmentFiles counts the segment files of an index.
func segmentFiles(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.zap"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestCompact(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	documents := generate(120, 7)
	for i := range 6 {
		apply(t, dir, puts(documents[20*i:20*i+20]...), uint64(i+1))
	}
	position := uint64(7)
	apply(t, dir, []Change{remove(documents[3].Name.ID), put(documents[5])}, position)
	for segmentFiles(t, dir) < 2 && position < 100 { // each writer may have merged what was there
		position++
		apply(t, dir, []Change{put(documents[5])}, position)
	}
	request := Request{Query: "token handoff cache", Limit: 50}
	x, err := Open(dir, testStore)
	if err != nil {
		t.Fatal(err)
	}
	before := find(t, x, request)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if n := segmentFiles(t, dir); n < 2 {
		t.Fatalf("%d segment files before: there is nothing to merge", n)
	}

	w := openWriter(t, dir)
	if err := w.Compact(context.Background()); err != nil {
		t.Fatalf("Compact: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := segmentFiles(t, dir); n != 1 {
		t.Errorf("%d segment files after Compact, want 1", n)
	}
	x = open(t, dir)
	if got := x.Position(); got != position {
		t.Errorf("position after Compact = %d, want %d", got, position)
	}
	if diff := cmp.Diff(before, find(t, x, request)); diff != "" {
		t.Errorf("answer after Compact (-before +after):\n%s", diff)
	}
	if err := w.Compact(context.Background()); !errors.Is(err, errClosed) {
		t.Errorf("Compact of a closed writer: %v", err)
	}
}

func TestCompactEmpty(t *testing.T) {
	t.Parallel()
	w := openWriter(t, t.TempDir())
	if err := w.Compact(context.Background()); err != nil {
		t.Errorf("Compact of an empty index: %v", err)
	}
}

func TestCompactCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, d := range generate(4, 3) {
		apply(t, dir, puts(d), uint64(i+1))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := openWriter(t, dir)
	if err := w.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Compact = %v, want canceled", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if hits := find(t, open(t, dir), Request{Limit: 10}); hits.Total != 4 {
		t.Errorf("%d documents after a cancelled Compact, want 4", hits.Total)
	}
}

// What a killed writer leaves beside the segments in use is no damage.
func TestVerifyLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apply(t, dir, puts(generate(20, 5)...), 1)
	left := filepath.Join(filepath.Dir(only(t, dir, filepath.Join("*", engineFolder, "*"+segmentSuffix))), "0000000000ff"+segmentSuffix)
	write(t, left, nil)
	if err := Verify(dir, testStore); err != nil {
		t.Errorf("Verify with an unused segment file: %v", err)
	}
	flipLast(t, only(t, dir, filepath.Join("*", engineFolder, "0000000000[0-9a-e]?"+segmentSuffix)))
	if err := Verify(dir, testStore); !errors.Is(err, ErrDamaged) {
		t.Errorf("Verify with a damaged segment: %v", err)
	}
}

func flipLast(t *testing.T, path string) {
	t.Helper()
	text := read(t, path)
	text[len(text)/2] ^= 1
	write(t, path, text)
}
