package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/store/record"
)

// only returns the one file that a pattern matches below dir.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s matches %q, %v, want one file", pattern, dir, found, err)
	}
	return found[0]
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// editManifest changes the manifest of the only generation in dir.
func editManifest(t *testing.T, dir string, edit func(*manifest)) {
	t.Helper()
	path := only(t, dir, "g*/manifest.json")
	var m manifest
	if err := json.Unmarshal(read(t, path), &m); err != nil {
		t.Fatal(err)
	}
	edit(&m)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}

// Whatever is wrong with an index: Open tells it, and OpenWriter begins anew.
func TestUnusableIndex(t *testing.T) {
	t.Parallel()
	const segment, root = "g*/bleve/*.zap", "g*/bleve/root.bolt"
	change := func(pattern string, edit func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := only(t, dir, pattern)
			write(t, path, edit(read(t, path)))
		}
	}
	remove := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.RemoveAll(only(t, dir, pattern)); err != nil {
				t.Fatal(err)
			}
		}
	}
	empty := func([]byte) []byte { return nil }
	half := func(text []byte) []byte { return text[:len(text)/2] }
	manifestEdit := func(edit func(*manifest)) func(*testing.T, string) {
		return func(t *testing.T, dir string) { editManifest(t, dir, edit) }
	}
	for _, test := range []struct {
		name  string
		spoil func(*testing.T, string)
		want  error
	}{
		{"no CURRENT", remove(currentFile), errNotExist},
		{"no folder", func(t *testing.T, dir string) { os.RemoveAll(dir) }, errNotExist},
		{"empty CURRENT", change(currentFile, empty), ErrDamaged},
		{"CURRENT points outside", change(currentFile, func([]byte) []byte { return []byte("../g000001\n") }), ErrDamaged},
		{"CURRENT names what is not there", change(currentFile, func([]byte) []byte { return []byte("g000009\n") }), ErrDamaged},
		{"no manifest", remove("g*/manifest.json"), ErrDamaged},
		{"torn manifest", change("g*/manifest.json", half), ErrDamaged},
		{"other format", manifestEdit(func(m *manifest) { m.Format++ }), errFormat},
		{"other mapping", manifestEdit(func(m *manifest) { m.Mapping = "0000" }), errFormat},
		{"foreign", manifestEdit(func(m *manifest) { m.Store = "ffff" }), errForeign},
		{"no engine", remove("g*/bleve"), ErrDamaged},
		{"no segment", remove(segment), ErrDamaged},
		{"empty segment", change(segment, empty), ErrDamaged},
		{"truncated segment", change(segment, half), ErrDamaged},
		{"no root", remove(root), ErrDamaged},
		{"empty root", change(root, empty), ErrDamaged},
		{"short root", change(root, func(text []byte) []byte { return text[:100] }), ErrDamaged},
		{"root of zeros", change(root, func(text []byte) []byte { return make([]byte, len(text)) }), ErrDamaged},
		{"root that makes the engine panic", change(root, func(text []byte) []byte {
			return append(text[:8192:8192], bytes.Repeat([]byte{0xff}, len(text)-8192)...)
		}), ErrDamaged},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			apply(t, dir, puts(generate(30, 1)...), 7)
			test.spoil(t, dir)

			x, err := Open(dir, testStore)
			if !errors.Is(err, test.want) {
				t.Fatalf("Open = %+v, %v, want %v", x, err, test.want)
			}
			w := openWriter(t, dir)
			if !errors.Is(w.replaced, test.want) || w.Position() != 0 {
				t.Errorf("OpenWriter begins at %d because %v, want 0 because %v", w.Position(), w.replaced, test.want)
			}
			if err := errors.Join(w.Apply(t.Context(), puts(note("again", "again")), 3), w.Close()); err != nil {
				t.Fatal(err)
			}
			if got := names(find(t, open(t, dir), Request{})); got != "again" {
				t.Errorf("the new index holds %q", got)
			}
			only(t, dir, "g*") // the others are gone
		})
	}
}

func TestReopen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := openWriter(t, dir)
	if !errors.Is(w.replaced, errNotExist) {
		t.Errorf("the first writer began because %v, want %v", w.replaced, errNotExist)
	}
	if err := errors.Join(w.Apply(t.Context(), puts(note("a", "alpha")), 5), w.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".filebus-"+strings.Repeat("a", 26)+".tmp"), nil) // left by a crash
	if err := os.Mkdir(filepath.Join(dir, "g000042"), 0o755); err != nil {
		t.Fatal(err)
	}
	w = openWriter(t, dir)
	if w.replaced != nil || w.Position() != 5 {
		t.Errorf("reopened at %d, replaced %v, want 5 and nil", w.Position(), w.replaced)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v, %v, want CURRENT and one generation", entries, err)
	}
}

// A name is never used twice, so that a reader cannot mix two generations.
func TestGenerationNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, want := range []string{"g000001\n", "g000002\n", "g000003\n"} {
		apply(t, dir, nil, 1)
		if got := string(read(t, filepath.Join(dir, currentFile))); got != want {
			t.Errorf("CURRENT is %q, want %q", got, want)
		}
		editManifest(t, dir, func(m *manifest) { m.Format++ })
	}
	for name, want := range map[string]int{"g000001": 1, "g1234567": 1234567, "g1": 0, "x000001": 0, "g-00001": 0, "g000000": 0, "": 0} {
		if n, ok := generationNumber(name); ok != (want > 0) || ok && n != want {
			t.Errorf("generationNumber(%q) = %d, %v, want %d", name, n, ok, want)
		}
	}
}

// What is not about the index must not cost it.
func TestMachineErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apply(t, dir, puts(note("a", "alpha")), 5)
	current := filepath.Join(dir, currentFile)
	if err := errors.Join(os.Remove(current), os.Mkdir(current, 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"OpenWriter": second(OpenWriter(dir, testStore)),
		"Open":       second(Open(dir, testStore)),
	} {
		for _, reason := range []error{errNotExist, errForeign, errFormat, ErrDamaged, ErrBusy} {
			if err == nil || errors.Is(err, reason) {
				t.Errorf("%s with an unreadable %s: %v, want an error of the machine", name, currentFile, err)
			}
		}
	}
	only(t, dir, "g*/bleve/root.bolt")
}

func second[T any](_ T, err error) error { return err }

func TestBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := openWriter(t, dir)
	if err := w.Apply(t.Context(), puts(note("a", "alpha")), 5); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"OpenWriter": second(OpenWriter(dir, testStore)),
		"Open":       second(Open(dir, testStore)),
	} {
		if !errors.Is(err, ErrBusy) || errors.Is(err, ErrDamaged) {
			t.Errorf("%s while a writer is open: %v, want %v", name, err, ErrBusy)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if x := open(t, dir); x.Position() != 5 {
		t.Errorf("position %d afterwards, want 5", x.Position())
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	if err := Remove(dir); err != nil {
		t.Errorf("Remove of nothing: %v", err)
	}
	apply(t, dir, puts(note("a", "alpha")), 5)
	write(t, filepath.Join(dir, "keep"), nil)
	if err := Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, testStore); !errors.Is(err, errNotExist) {
		t.Errorf("Open after Remove: %v, want %v", err, errNotExist)
	}
	only(t, dir, "*")
	apply(t, dir, puts(note("b", "beta")), 2)
	if x := open(t, dir); x.Position() != 2 || x.totals.Documents != 1 {
		t.Errorf("position %d with %d documents, want 2 with 1", x.Position(), x.totals.Documents)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apply(t, dir, puts(generate(30, 1)...), 7)
	if err := Verify(dir, testStore); err != nil {
		t.Fatalf("Verify of a good index: %v", err)
	}
	if err := Verify(dir, record.StoreID(strings.Repeat("f", 32))); !errors.Is(err, errForeign) {
		t.Errorf("Verify for another store: %v, want %v", err, errForeign)
	}
	if err := Verify(t.TempDir(), testStore); !errors.Is(err, errNotExist) {
		t.Errorf("Verify of nothing: %v, want %v", err, errNotExist)
	}
	segment := only(t, dir, "g*/bleve/*.zap")
	good := read(t, segment)
	for _, offset := range []int{0, len(good) / 2, len(good) - 1} {
		bad := bytes.Clone(good)
		bad[offset] ^= 1
		write(t, segment, bad)
		if err := Verify(dir, testStore); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), segment) {
			t.Errorf("Verify with byte %d of %d flipped: %v, want %v naming %s", offset, len(good), err, ErrDamaged, segment)
		}
		if err := second(Open(dir, testStore)); !errors.Is(err, ErrDamaged) {
			t.Errorf("Open after Verify found damage: %v, want %v", err, ErrDamaged)
		}
		pardon(t, dir)
	}
	write(t, segment, good[:2])
	if err := Verify(dir, testStore); !errors.Is(err, ErrDamaged) {
		t.Errorf("Verify of a segment of two bytes: %v, want %v", err, ErrDamaged)
	}
	pardon(t, dir)
	write(t, segment, good)
	if err := Verify(dir, testStore); err != nil {
		t.Errorf("Verify of the restored index: %v", err)
	}
}
