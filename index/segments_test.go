package index

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"filebus/store/folder"
)

func TestSerial(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, noted string
		serial      uint64
		want        error
	}{
		{"never noted", "", 0, nil},
		{"equal", "7", 7, nil},
		{"a crash before it was noted", "6", 7, nil},
		{"an older state", "8", 7, ErrDamaged},
		{"torn", "9999999999999999999999", 7, nil},
		{"zeros", "\x00\x00", 7, nil},
	} {
		e := &engine{generation: folder.At(t.TempDir())}
		if test.noted != "" {
			write(t, e.generation.Path(notedFile), []byte(test.noted))
		}
		if got := e.checkSerial(test.serial); !errors.Is(got, test.want) || got != nil && test.want == nil {
			t.Errorf("%s: checkSerial(%d) with %q noted = %v, want %v", test.name, test.serial, test.noted, got, test.want)
		}
	}
}

// A damaged segment must be noticed before the engine opens it, which would ask
// for any amount of memory.
func TestDamagedSegments(t *testing.T) {
	t.Parallel()
	generator := rand.New(rand.NewPCG(7, 7))
	dir := t.TempDir()
	apply(t, dir, puts(generate(60, 1)...), 7)
	segment := only(t, dir, "g*/bleve/*.zap")
	good := read(t, segment)
	for i := range 40 {
		bad := append([]byte(nil), good...)
		start := generator.IntN(len(bad))
		for n := range 1 + generator.IntN(200) {
			bad[(start+n)%len(bad)] ^= byte(1 + generator.IntN(255))
		}
		write(t, segment, bad)
		if err := second(Open(dir, testStore)); !errors.Is(err, ErrDamaged) {
			t.Errorf("Open with damage %d at %d: %v, want %v", i, start, err, ErrDamaged)
		}
		pardon(t, dir)
	}
	write(t, segment, good)
	open(t, dir)
}

// pardon removes the mark that damage was met.
func pardon(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(only(t, dir, "g*/"+damagedFile)); err != nil {
		t.Fatal(err)
	}
}

// A segment that was found right is not read again until it changes.
func TestCheckedSegments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apply(t, dir, puts(note("a", "alpha")), 1)
	generation := only(t, dir, "g*")
	if err := checkSegments(folder.At(generation)); err != nil {
		t.Fatal(err)
	}
	segment := only(t, dir, "g*/bleve/*.zap")
	text := read(t, segment)
	info, err := os.Stat(segment)
	if err != nil {
		t.Fatal(err)
	}
	text[0] ^= 1
	write(t, segment, text)
	if err := os.Chtimes(segment, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := checkSegments(folder.At(generation)); err != nil {
		t.Errorf("a segment with the same size and time was read again: %v", err)
	}
	later := info.ModTime().Add(1e9)
	if err := os.Chtimes(segment, later, later); err != nil {
		t.Fatal(err)
	}
	if err := checkSegments(folder.At(generation)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a segment with another time: %v, want %v", err, ErrDamaged)
	}
	pardon(t, dir)
	// What a crash left and nobody noted is not the engine's.
	text[0] ^= 1
	write(t, segment, text)
	write(t, filepath.Join(generation, engineFolder, "0000000000ff.zap"), []byte("torn"))
	if x, err := Open(dir, testStore); err != nil {
		t.Errorf("Open with a torn segment that is not in use: %v", err)
	} else if err := x.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadNoted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text     string
		serial   uint64
		segments []string
	}{
		{"", 0, nil},
		{"5", 5, nil},
		{"5\na.zap\nb.zap", 5, []string{"a.zap", "b.zap"}},
		{"5\na.zap\nb.z", 5, []string{"a.zap"}},
		{"5\n../a.zap\nroot.bolt\n", 5, nil},
		{"x\na.zap", 0, nil},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, notedFile), []byte(test.text))
		serial, segments, err := readNoted(folder.At(dir))
		if serial != test.serial || !slices.Equal(segments, test.segments) || err != nil {
			t.Errorf("readNoted of %q = %d, %q, %v, want %d, %q", test.text, serial, segments, err, test.serial, test.segments)
		}
	}
}
