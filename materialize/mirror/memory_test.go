package mirror

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	fold "filebus/store/folder"
	"filebus/store/record"
)

func memoNumber(n int) Memo {
	return Memo{Position: uint64(n), Size: int64(n), modTime: int64(n), Digest: record.DigestOf(fmt.Append(nil, n))}
}

// reload returns what is remembered on disk.
func reload(t testing.TB, folder string) *memory {
	t.Helper()
	m, err := loadMemory(fold.At(folder), "/root")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func save(t testing.TB, m *memory) {
	t.Helper()
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
}

// remembered returns all that a memory knows.
func remembered(m *memory) map[string]Memo {
	return maps.Collect(m.All())
}

func wantMemory(t testing.TB, got *memory, settled uint64, want map[string]Memo) {
	t.Helper()
	if diff := cmp.Diff(want, remembered(got), cmp.AllowUnexported(Memo{})); diff != "" || got.Settled != settled {
		t.Errorf("settled at %d, want %d; files (-want +got):\n%s", got.Settled, settled, diff)
	}
	for path, f := range want {
		if known, found := got.Get(path); !found || known != f {
			t.Errorf("get(%q) = %v, %t; want %v", path, known, found, f)
		}
	}
}

func TestMemoryComesBack(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	m := reload(t, folder)
	odd := "a b\n\"c\" \xff/über.md"
	m.set("plain.md", memoNumber(1))
	m.set(odd, memoNumber(2))
	m.set("gone.md", memoNumber(3))
	m.Forget("gone.md")
	if !m.IsNew {
		t.Error("a memory without a file is not new")
	}
	m.Begin(6)
	m.Settle(7)
	m.Settle(5) // never back
	save(t, m)
	if m = reload(t, folder); m.IsNew {
		t.Error("a memory that has begun is new again")
	}
	wantMemory(t, reload(t, folder), 7, map[string]Memo{"plain.md": memoNumber(1), odd: memoNumber(2)})
}

// A process that was killed while it wrote leaves half a line; the lines after it
// must not be taken for its end.
func TestMemoryCutShort(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	m := reload(t, folder)
	m.set("a.md", memoNumber(1))
	m.set("b.md", memoNumber(2))
	save(t, m)
	text, err := os.ReadFile(m.own.Path(m.file))
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for cut := len(text) - 1; cut > last; cut-- {
		if err := os.WriteFile(m.own.Path(m.file), text[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		again := reload(t, folder)
		again.set("c.md", memoNumber(3))
		save(t, again)
		want := map[string]Memo{"a.md": memoNumber(1), "c.md": memoNumber(3)}
		got := reload(t, folder)
		if _, whole := got.Get("b.md"); whole && cut == len(text)-1 {
			want["b.md"] = memoNumber(2) // only the newline was missing
		}
		wantMemory(t, got, 0, want)
	}
}

func TestMemoryIsWrittenAnew(t *testing.T) {
	t.Parallel()
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
	wantMemory(t, got, 0, map[string]Memo{"a.md": memoNumber(1), "b.md": memoNumber(2000)})
	if got.lines > 10 {
		t.Errorf("after many changes of two files there are %d lines", got.lines)
	}
}

// A line that is not one that set wrote says nothing, whatever of it is wrong.
func TestMemoryIgnoresOtherLines(t *testing.T) {
	t.Parallel()
	digest := memoNumber(1).Digest.String()
	for _, line := range []string{
		"", "file", "file ", "other 1 1 1 " + digest + ` "a.md"`,
		"file x 1 1 " + digest + ` "a.md"`,
		"file -1 1 1 " + digest + ` "a.md"`,
		"file 1 x 1 " + digest + ` "a.md"`,
		"file 1 1 x " + digest + ` "a.md"`,
		"file 1 1 1 " + digest[1:] + ` "a.md"`,
		"file 1 1 1 " + digest + " a.md",
		"file 1 1 1 " + digest,
		"file 1 1 1",
		"gone a.md", "settled x",
	} {
		folder := t.TempDir()
		m := reload(t, folder)
		m.set("b.md", memoNumber(2))
		save(t, m)
		f, err := os.OpenFile(m.own.Path(m.file), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(f, "%s\r\nfile 1 1 1 %s \"good.md\"\r\n", line, digest)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		t.Log(line)
		wantMemory(t, reload(t, folder), 0, map[string]Memo{"b.md": memoNumber(2), "good.md": memoNumber(1)})
	}
}

// A line about a path that is not whole leaves what the line before it said.
func TestMemoryKeepsWhatABrokenLineIsAbout(t *testing.T) {
	t.Parallel()
	digest := memoNumber(9).Digest.String()
	for _, line := range []string{
		`file "b.md"`, `file x 1 1 ` + digest + ` "b.md"`, `file 1 1 1 ` + digest[1:] + ` "b.md"`, `gone x "b.md"`,
		`gone 9 9 9 ` + digest + ` "b.md"`, `file 9 9 9 ` + digest + ` x "b.md"`,
	} {
		folder := t.TempDir()
		m := reload(t, folder)
		m.set("a.md", memoNumber(1))
		m.set("b.md", memoNumber(2))
		fmt.Fprintf(&m.pending, "%s\n%s\n", line, line)
		save(t, m)
		again := reload(t, folder)
		if got, found := again.Get("b.md"); !found || got != memoNumber(2) {
			t.Errorf("after %q: get = %v, %t; want what was set before", line, got, found)
		}
		want := map[string]Memo{"a.md": memoNumber(1), "b.md": memoNumber(2)}
		if got := remembered(again); !strings.HasPrefix(line, lineGone) && !maps.Equal(got, want) {
			t.Errorf("after %q: %v, want %v", line, got, want)
		}
	}
}

// TestMemoryAgainstMap changes a memory at random, with other processes' lines
// and saves between, beside a map.
func TestMemoryAgainstMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	folder := t.TempDir()
	m, want := reload(t, folder), map[string]Memo{}
	for n := range 20_000 {
		path := fmt.Sprintf("folder %d/ü %d.md", random.IntN(50), random.IntN(60))
		switch random.IntN(4) {
		case 0:
			m.Forget(path)
			delete(want, path)
		default:
			f := memoNumber(n)
			f.State = MemoState(random.IntN(3))
			m.set(path, f)
			want[path] = f
		}
		if random.IntN(2000) == 0 {
			save(t, m)
			m = reload(t, folder)
			wantMemory(t, m, 0, want)
		}
		if got := m.OnDisk() + m.counts[Deleted]; got != len(want) {
			t.Fatalf("%d files are counted after %d changes, want %d", got, n+1, len(want))
		}
	}
	wantMemory(t, m, 0, want)
	if got, found := m.Get("never"); found {
		t.Errorf("get of what was never set = %v", got)
	}
}

func BenchmarkLoadMemory(b *testing.B) {
	folder := b.TempDir()
	m := reload(b, folder)
	for i := range 100_000 {
		m.set(fmt.Sprintf(".claude/agent_tool_results/conversation-%03d/call-%06d.md", i/100, i), memoNumber(i))
	}
	save(b, m)
	b.ReportAllocs()
	for b.Loop() {
		reload(b, folder)
	}
}

func BenchmarkGetMemory(b *testing.B) {
	folder := b.TempDir()
	m := reload(b, folder)
	path := func(i int) string {
		return fmt.Sprintf(".claude/agent_tool_results/conversation-%03d/call-%06d.md", i/100, i)
	}
	for i := range 100_000 {
		m.set(path(i), memoNumber(i))
	}
	save(b, m)
	m = reload(b, folder)
	var paths []string
	for i := range 100_000 {
		paths = append(paths, path(i))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if f, found := m.Get(paths[i%len(paths)]); !found || f.Position != uint64(i%len(paths)) {
			b.Fatalf("get(%q) = %v, %t", paths[i%len(paths)], f, found)
		}
	}
}
