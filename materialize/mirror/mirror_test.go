package mirror

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/store/folder"
	"filebus/store/record"
)

// open opens the mirror of a new root, whose owner is a store with an id.
func open(t testing.TB, id record.StoreID, outside ...Outside) *Mirror {
	t.Helper()
	root := t.TempDir()
	set := New(Options{
		Store: filepath.Join(root,
			StoreFolder), Wait: time.Second, Now: func() time.Time { return time.Now().Add(2 * time.Hour) },
		Owner: func(context.Context) ([]record.StoreID, error) { return []record.StoreID{id}, nil },
		End:   func(context.Context) (uint64, error) { return 0, nil },
	})
	hold, err := set.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := set.Open(t.Context(), root, outside)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.Close(), hold.Release()); err != nil {
			t.Error(err)
		}
	})
	return m
}

func look(t testing.TB, m *Mirror, p string) File {
	t.Helper()
	f, err := m.Look(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWriteAndRemove(t *testing.T) {
	t.Parallel()
	m := open(t, "a")
	const p = "a/b.md"
	file := filepath.Join(m.Dir, "a", "b.md")
	for _, text := range []string{"one\n", "two\n"} {
		seen := look(t, m, p)
		if err := m.Write(t.Context(), p, strings.NewReader(text), 1, seen); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("the file has %q, %v, want %q", got, err, text)
		}
		if known, found := m.Memory.Get(p); !found || known.Digest != record.DigestOf([]byte(text)) {
			t.Errorf("remembered of %q: %v, %t", text, known, found)
		}
	}
	seen := look(t, m, p)
	if err := os.WriteFile(file, []byte("by an agent\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := m.Write(t.Context(), p, strings.NewReader("three\n"), 2, seen); !errors.Is(err, ErrRaced) {
		t.Errorf("Write over a change = %v, want ErrRaced", err)
	}
	if err := m.Remove(t.Context(), p, seen); !errors.Is(err, ErrRaced) {
		t.Errorf("Remove of a changed file = %v, want ErrRaced", err)
	}
	if err := m.Write(t.Context(), p, strings.NewReader("new\n"), 2, File{}); !errors.Is(err, ErrRaced) {
		t.Errorf("Write of a new file where one stands = %v, want ErrRaced", err)
	}
	if err := m.Remove(t.Context(), p, look(t, m, p)); err != nil {
		t.Fatal(err)
	}
	if look(t, m, p).Exists {
		t.Error("the removed file is there")
	}
	if err := m.RemoveFolder(t.Context(), p, func(remove func()) error { remove(); return nil }); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(file)); err == nil {
		t.Error("the empty folder is there")
	}
}

// TestScan lists what belongs to a mirror, and takes away what a killed process left.
func TestScan(t *testing.T) {
	t.Parallel()
	shared := filepath.Join(t.TempDir(), "shared")
	m := open(t, "a", Outside{Prefix: "file:/shared/", Dir: shared, Shared: true})
	for _, name := range []string{"x/in.md", "x/other.txt", "x/" + folder.TemporaryName(".new"), "y/in.md"} {
		file := filepath.Join(m.Dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Write(t.Context(), "file:/shared/c/out.md", strings.NewReader("text"), 1, File{}); err != nil {
		t.Fatal(err)
	}
	belongs := func(p string) bool { return strings.HasSuffix(p, ".md") }
	outside := map[string][]string{"file:/shared/": {"c"}}
	found, err := m.Scan(t.Context(), []string{"x", "x/z", "none"}, outside, belongs, nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found.Files {
		got = append(got, f.Path)
	}
	if want := []string{"x/in.md", "file:/shared/c/out.md"}; !slices.Equal(got, want) {
		t.Errorf("Scan found %q, want %q", got, want)
	}
	if left, err := filepath.Glob(filepath.Join(m.Dir, "x", ".filebus-*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %q, %v", left, err)
	}
	other := open(t, "b", Outside{Prefix: "file:/shared/", Dir: shared, Shared: true})
	if _, err := other.File(t.Context(), "file:/shared/c/out.md", true); !errors.Is(err, ErrRootTaken) {
		t.Errorf("the folder of another store = %v, want ErrRootTaken", err)
	}
}
