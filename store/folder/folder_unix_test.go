//go:build unix

package folder_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"filebus/store/folder"
	"filebus/store/record"
)

const secret = "not for filebus\n"

// A planted thing stands where a file or folder of filebus is expected.
type planted struct {
	kind string
	put  func(t *testing.T, at string)
}

// outside returns a folder with a file, and what must be left of it.
func outside(t *testing.T) (dir string, check func()) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "victim"), secret)
	return dir, func() {
		t.Helper()
		entries, err := os.ReadDir(dir)
		text, readErr := os.ReadFile(filepath.Join(dir, "victim"))
		if err != nil || readErr != nil || string(text) != secret || len(entries) != 1 {
			t.Errorf("outside there are %v, %v and %q, %v; nothing may have changed", entries, err, text, readErr)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// things returns what may be planted in place of a file.
func things(victims string) []planted {
	return []planted{
		{"a link to a file", func(t *testing.T, at string) { must(t, os.Symlink(filepath.Join(victims, "victim"), at)) }},
		{"a link to a folder", func(t *testing.T, at string) { must(t, os.Symlink(victims, at)) }},
		{"a link to nothing", func(t *testing.T, at string) { must(t, os.Symlink(filepath.Join(victims, "new"), at)) }},
		{"a link that stays below", func(t *testing.T, at string) { must(t, os.Symlink("other", at)) }},
		{"a link to itself", func(t *testing.T, at string) { must(t, os.Symlink(filepath.Base(at), at)) }},
		{"a pipe", func(t *testing.T, at string) { must(t, syscall.Mkfifo(at, 0o666)) }},
		{"a folder", func(t *testing.T, at string) { must(t, os.Mkdir(at, 0o777)) }},
		{"a socket", func(t *testing.T, at string) {
			at, err := filepath.Rel(mustDir(t), at) // its path is short
			must(t, err)
			listener, err := net.Listen("unix", at)
			if err != nil {
				t.Skip("no sockets here:", err)
			}
			t.Cleanup(func() { _ = listener.Close() })
		}},
	}
}

func mustDir(t *testing.T) string {
	dir, err := os.Getwd()
	must(t, err)
	return dir
}

// operations returns what touches the file "file".
func operations() map[string]func(f folder.Folder) error {
	return map[string]func(f folder.Folder) error{
		"Stat":      func(f folder.Folder) error { _, err := f.Stat("file"); return err },
		"ReadFile":  func(f folder.Folder) error { _, err := f.ReadFile("file"); return err },
		"WriteFile": func(f folder.Folder) error { return f.WriteFile("file", []byte("x")) },
		"Append":    func(f folder.Folder) error { return f.Append("file", []byte("x")) },
		"Replace":   func(f folder.Folder) error { return f.Replace("file", []byte("x"), true) },
		"Rename":    func(f folder.Folder) error { return f.Rename("other", "file") },
		"OpenFile": func(f folder.Folder) error {
			file, err := f.OpenFile("file", os.O_RDWR|os.O_CREATE)
			if err == nil {
				err = file.Close()
			}
			return err
		},
	}
}

// TestPlantedFiles puts each thing in place of a file, and calls everything that would
// touch it: each is an error that names it, within a moment, and nothing else happens.
func TestPlantedFiles(t *testing.T) {
	victims, check := outside(t)
	for _, thing := range things(victims) {
		for name, do := range operations() {
			t.Run(thing.kind+"/"+name, func(t *testing.T) {
				dir := t.TempDir()
				t.Chdir(dir)
				write(t, filepath.Join(dir, "other"), "other")
				thing.put(t, filepath.Join(dir, "file"))
				err := within(t, func() error { return do(folder.At(dir)) })
				var told *record.Error
				if !errors.Is(err, folder.ErrForeign) || !errors.As(err, &told) ||
					!strings.Contains(err.Error(), filepath.Join(dir, "file")) {
					t.Fatalf("error %v, want ErrForeign that names the file", err)
				}
				if other, err := os.ReadFile(filepath.Join(dir, "other")); err != nil || string(other) != "other" {
					t.Errorf("the other file is %q, %v", other, err)
				}
				must(t, os.Rename(told.Names[0], told.Names[1])) // what the error says helps
				if err := do(folder.At(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("after it was moved: %v", err)
				}
				check()
			})
		}
	}
}

// within fails a test whose call does not return.
func within(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("it does not return")
		return nil
	}
}

// TestPlantedFolders puts a link in place of each folder on the way to a file.
func TestPlantedFolders(t *testing.T) {
	t.Parallel()
	victims, check := outside(t)
	must(t, os.Mkdir(filepath.Join(victims, "b"), 0o777))
	for _, at := range []string{"a", "a/b"} {
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o777))
		must(t, os.Symlink(victims, filepath.Join(dir, at)))
		f := folder.At(dir)
		for name, err := range map[string]error{
			"Append":   f.Append("a/b/new", []byte("x")),
			"Remove":   f.Remove("a/b/victim"),
			"Make":     f.Make("a/b/c"),
			"MakeNew":  f.MakeNew("a/b/c"),
			"Sub":      f.Sub("a").Sub("b").WriteFile("victim", nil),
			"Within":   folder.Within(filepath.Join(dir, at)).WriteFile("victim", nil),
			"Replace":  f.Replace("a/b/victim", nil, false),
			"Sync":     f.Sync("a/b"),
			"Check":    f.Check("a/b"),
			"top":      f.Check("."),
			"all":      f.RemoveAll("a/b/x"),
			"Walk":     f.Walk("a/b", func(string, fs.DirEntry) error { return nil }),
			"Rename":   f.Rename("a/b/victim", "x"),
			"RenameTo": f.Rename("x", "a/b/victim"),
		} {
			if !errors.Is(err, folder.ErrForeign) {
				t.Errorf("%s with a link at %s: %v, want ErrForeign", name, at, err)
			}
		}
		must(t, f.RemoveAll("a")) // the link goes, and not what it leads to
	}
	must(t, os.Remove(filepath.Join(victims, "b")))
	check()
}

// TestSwapped swaps a file for a link, and a folder for one, while files are written.
func TestSwapped(t *testing.T) {
	t.Parallel()
	victims, check := outside(t)
	for _, swapped := range []string{"a", "a/file"} {
		dir := t.TempDir()
		f := folder.At(dir)
		must(t, f.Make("a"))
		at, aside := filepath.Join(dir, swapped), filepath.Join(dir, "aside")
		target := victims
		if swapped == "a/file" {
			must(t, f.WriteFile("a/file", nil))
			target = filepath.Join(victims, "victim")
		}
		over := make(chan struct{})
		var swapping sync.WaitGroup
		swapping.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if os.Rename(at, aside) == nil && os.Symlink(target, at) == nil {
					_ = os.Remove(at)
				}
				_ = os.Rename(aside, at)
			}
		})
		for n := range 500 {
			text := fmt.Append(nil, n)
			_ = f.WriteFile("a/file", text)
			_ = f.Append("a/file", text)
			_ = f.Replace("a/victim", text, false)
			_ = f.Remove("a/victim")
		}
		close(over)
		swapping.Wait()
	}
	check()
}

// TestModes makes files and folders under a wide umask, and tightens what was made
// with wide modes before.
func TestModes(t *testing.T) {
	t.Parallel()
	top := filepath.Join(t.TempDir(), "x", "store")
	f := folder.At(top)
	must(t, f.Make("a/b"))
	must(t, f.WriteFile("a/b/file", []byte("x")))
	must(t, f.Replace("a/b/other", []byte("x"), true))
	wantModes(t, top)
	if tightened, err := f.Tighten(); tightened || err != nil {
		t.Errorf("what is tight already: Tighten = %v, %v", tightened, err)
	}
	for _, wide := range []string{"a/b/file", "a/b", "a", "."} {
		must(t, os.Chmod(filepath.Join(top, wide), 0o777))
	}
	victims, check := outside(t)
	before, err := os.Stat(filepath.Join(victims, "victim"))
	must(t, err)
	must(t, os.Symlink(filepath.Join(victims, "victim"), filepath.Join(top, "a", "link")))
	if tightened, err := f.Tighten(); !tightened || err != nil {
		t.Errorf("Tighten = %v, %v", tightened, err)
	}
	wantModes(t, top)
	after, err := os.Stat(filepath.Join(victims, "victim"))
	if err != nil || after.Mode() != before.Mode() {
		t.Errorf("what a link leads to has the mode %v, %v; it had %v", after.Mode(), err, before.Mode())
	}
	check()
	if tightened, err := folder.At(filepath.Join(top, "none")).Tighten(); tightened || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: Tighten = %v, %v", tightened, err)
	}
}

func wantModes(t *testing.T, top string) {
	t.Helper()
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if d.Type()&fs.ModeSymlink == 0 && info.Mode()&0o077 != 0 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
		return nil
	})
	must(t, err)
}

func TestReplace(t *testing.T) {
	t.Parallel()
	f := folder.At(t.TempDir())
	for _, text := range []string{"first", "", "a longer text than before"} {
		must(t, f.Replace("file", []byte(text), text == ""))
		if got, err := f.ReadFile("file"); err != nil || string(got) != text {
			t.Errorf("%q was written and %q, %v read", text, got, err)
		}
	}
	if err := f.Replace("none/file", nil, true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v, want %v", err, fs.ErrNotExist)
	}
	if entries, err := f.ReadDir("."); err != nil || len(entries) != 1 {
		t.Errorf("left are %v, %v, want one file", entries, err)
	}
}

// TestReplacedMeanwhile reads and appends to a file that others replace.
func TestReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	f := folder.At(t.TempDir())
	must(t, f.Replace("file", []byte("whole"), false))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				if err := f.Replace("file", []byte("whole"), false); err != nil {
					t.Error(err)
				}
				if text, err := f.ReadFile("file"); err != nil || string(text) != "whole" {
					t.Errorf("read %q, %v", text, err)
				}
			}
		})
	}
	all.Wait()
}

// TestTemporaryNames takes many names in one moment: processes that write at once
// must not meet in one file. What is like such a name is not one.
func TestTemporaryNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10_000 {
		name := folder.TemporaryName(".new")
		if seen[name] || !folder.IsTemporary(name) {
			t.Fatalf("%s is given twice, or is not known for a temporary file", name)
		}
		seen[name] = true
	}
	name := folder.TemporaryName(".new")
	for _, other := range []string{
		"", ".filebus-", ".filebus-.new", ".filebus-notes.new", name[1:], name + "x", "x" + name,
		strings.ToUpper(name), strings.TrimSuffix(name, ".new"), strings.Replace(name, ".new", ".md", 1),
	} {
		if folder.IsTemporary(other) {
			t.Errorf("%q is taken for a temporary file", other)
		}
	}
}

// TestTooLong reads files that have grown far beyond what filebus writes.
func TestTooLong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := folder.At(dir)
	if err := own.WriteFile("a", []byte("12345")); err != nil {
		t.Fatal(err)
	}
	if text, err := own.ReadUpTo("a", 5); string(text) != "12345" || err != nil {
		t.Errorf("ReadUpTo = %q, %v", text, err)
	}
	if text, err := own.ReadUpTo("a", 4); !errors.Is(err, folder.ErrForeign) {
		t.Errorf("ReadUpTo of too long a file = %q, %v", text, err)
	}
	if err := os.Truncate(filepath.Join(dir, "a"), 40<<30); err != nil {
		t.Skip("no files with holes: ", err)
	}
	if text, err := own.ReadFile("a"); !errors.Is(err, folder.ErrForeign) {
		t.Errorf("ReadFile of 40 GiB = %d bytes, %v", len(text), err)
	}
}
