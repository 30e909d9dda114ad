package materialize

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func memoNumber(n int) memo {
	return memo{position: uint64(n), size: int64(n), modTime: int64(n), digest: record.DigestOf(fmt.Append(nil, n))}
}

// reload returns what is remembered on disk.
func reload(t testing.TB, folder string) *memory {
	t.Helper()
	m, err := loadMemory(folder, "/root")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func save(t testing.TB, m *memory) {
	t.Helper()
	if err := m.save("/root"); err != nil {
		t.Fatal(err)
	}
}

func wantMemory(t testing.TB, got *memory, settled uint64, want map[string]memo) {
	t.Helper()
	if diff := cmp.Diff(want, got.files, cmp.AllowUnexported(memo{})); diff != "" || got.settled != settled {
		t.Errorf("settled at %d, want %d; files (-want +got):\n%s", got.settled, settled, diff)
	}
}

func TestMemoryComesBack(t *testing.T) {
	folder := t.TempDir()
	m := reload(t, folder)
	odd := "a b\n\"c\" \xff/über.md"
	m.set("plain.md", memoNumber(1))
	m.set(odd, memoNumber(2))
	m.set("gone.md", memoNumber(3))
	m.forget("gone.md")
	m.settle(7)
	m.settle(5) // never back
	save(t, m)
	wantMemory(t, reload(t, folder), 7, map[string]memo{"plain.md": memoNumber(1), odd: memoNumber(2)})
}

// A process that was killed while it wrote leaves half a line; the lines after it
// must not be taken for its end.
func TestMemoryCutShort(t *testing.T) {
	folder := t.TempDir()
	m := reload(t, folder)
	m.set("a.md", memoNumber(1))
	m.set("b.md", memoNumber(2))
	save(t, m)
	text, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for cut := len(text) - 1; cut > last; cut-- {
		if err := os.WriteFile(m.file, text[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		again := reload(t, folder)
		again.set("c.md", memoNumber(3))
		save(t, again)
		want := map[string]memo{"a.md": memoNumber(1), "c.md": memoNumber(3)}
		got := reload(t, folder)
		if _, whole := got.files["b.md"]; whole && cut == len(text)-1 {
			want["b.md"] = memoNumber(2) // only the newline was missing
		}
		wantMemory(t, got, 0, want)
	}
}

func TestMemoryIsWrittenAnew(t *testing.T) {
	folder := t.TempDir()
	first := reload(t, folder)
	first.set("a.md", memoNumber(1))
	save(t, first)
	m := reload(t, folder)
	for n := range 2000 {
		m.set("b.md", memoNumber(n+1))
	}
	save(t, m)
	got := reload(t, folder)
	if got.lines > 10 || len(got.files) != 2 || got.files["b.md"] != memoNumber(2000) {
		t.Errorf("after many changes of two files: %d lines, %v", got.lines, got.files)
	}
}
