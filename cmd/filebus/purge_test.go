package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// holders returns what of a store holds a text in small letters: as it is, in any case, or in
// a zstd frame that begins anywhere in a file, also in pages of no use any more. The index's
// dictionaries have no word in one piece.
func holders(t testing.TB, dir, text string) (files []string) {
	t.Helper()
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	holds := func(data []byte) bool { return bytes.Contains(bytes.ToLower(data), []byte(text)) }
	store := filepath.Join(dir, ".filebus")
	err = filepath.WalkDir(store, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		found := holds(data)
		for _, frame := range bytes.Split(data, []byte("\x28\xb5\x2f\xfd"))[1:] {
			// The beginning of what follows may be garbage: what was read before counts.
			plain, _ := decoder.DecodeAll(append([]byte("\x28\xb5\x2f\xfd"), frame...), nil)
			found = found || holds(plain)
		}
		if name, _ := filepath.Rel(store, path); found {
			top, _, _ := strings.Cut(filepath.ToSlash(name), "/")
			files = append(files, top)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// TestPurgeLeavesNothing stores a word in everything that a store keeps, purges that, and
// reads every byte that is left.
func TestPurgeLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	const secret = "quokkatoken77"
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name, text string) {
		t.Helper()
		write("in.md", text)
		mustRun(t, dir, "put", "--name", name, "in.md")
	}
	mustRun(t, dir, "init")
	put("note/docs/small.md", "# Of "+secret+"\r\n\r\nNot UTF-8: \xff.\r\n")
	put("note/docs/at@7.md", "An id with the sign: "+secret+".\n")
	put("note/docs/large.md", strings.Repeat("A line of a large text.\n", 60_000)+strings.ToUpper(secret)+"\n")
	put("note/docs/version.md", strings.Repeat(secret+" was here once. ", 60))
	put("note/docs/version.md", "A wombat is here now.\n")
	put("note/docs/other.md", "An echidna stays.\n")
	issue := strings.TrimSpace(mustRun(t, dir, "issue", "add", "An issue of "+secret, "--type", "bug"))
	mustRun(t, dir, "issue", "add", "Another one", "--type", "bug")
	mustRun(t, dir, "search", secret)
	mustRun(t, dir, "context", secret)
	write(".filebus/store.db.schema1", "of "+secret)
	write(".filebus/store.db.damaged-20260302T100000", "of "+secret)
	write(".filebus/bodies/ab/abcd.zst.damaged", "of "+secret)
	if err := os.Remove(filepath.Join(dir, "in.md")); err != nil {
		t.Fatal(err)
	}
	want := []string{"bodies", "reads.log", "store.db", "store.db.damaged-20260302T100000", "store.db.schema1"}
	if diff := cmp.Diff(want, holders(t, dir, secret)); diff != "" {
		t.Fatalf("what holds the word before (-want +got):\n%s", diff)
	}

	write(".filebus/index/g000001/old", "goes with its generation")
	mustRun(t, dir, "purge", "note/docs/version.md@4")
	mustRun(t, dir, "purge", "--files", "note/docs/small.md", "note/docs/large.md", "note/docs/at@7.md", "issue/"+issue)
	if files := holders(t, dir, secret); len(files) > 0 {
		t.Errorf("after the purge %q hold the word", files)
	}
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
	mustRun(t, dir, "sync")
	for _, word := range []string{"wombat", "echidna"} {
		if out := mustRun(t, dir, "search", word); !strings.Contains(out, "note/docs/") {
			t.Errorf("search %s: %q", word, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".filebus", "index", "g000001", "old")); err == nil {
		t.Error("the index still has its old generation")
	}
	for _, name := range []string{"small.md", "large.md", "at@7.md"} {
		if _, err := os.Stat(filepath.Join(dir, "docs", name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}
