//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"filebus/cmd/filebus/cli"
)

const pageSize = 4096

// A target is what is damaged: a file below the store's folder, or one page of the
// database.
type target struct {
	file string // below .filebus
	page int64  // or -1
	kind string // of the page; the mode of a file
}

func (g target) String() string {
	if g.page < 0 {
		return g.file
	}
	return fmt.Sprintf("%s page %d (%s)", g.file, g.page, g.kind)
}

// A damage changes a target's file. Older is the same file as it was some commands
// ago, which may not have been there.
type damage func(file, older string, page int64) error

// damages are what happens to a file, or to a page of it.
func damages(random *rand.Rand) map[string]damage {
	all := maps.Clone(pageDamages(random))
	maps.Copy(all, map[string]damage{
		"truncated": func(file, _ string, _ int64) error {
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			return os.Truncate(file, info.Size()/2)
		},
		"emptied": func(file, _ string, _ int64) error { return os.Truncate(file, 0) },
		"foreign": func(file, _ string, _ int64) error {
			return os.WriteFile(file, []byte(strings.Repeat("#!/bin/sh\necho of another program\n", 500)), 0o600)
		},
		"older": func(file, older string, _ int64) error {
			text, err := os.ReadFile(older)
			if err != nil {
				return errUntouched
			}
			return os.WriteFile(file, text, 0o600)
		},
		"folder": func(file, _ string, _ int64) error { return errors.Join(os.RemoveAll(file), os.Mkdir(file, 0o700)) },
	})
	maps.Copy(all, folderDamages())
	return all
}

// folderDamages happen to files and to folders.
func folderDamages() map[string]damage {
	return map[string]damage{
		"missing": func(file, _ string, _ int64) error { return os.RemoveAll(file) },
		"link": func(file, older string, _ int64) error {
			aside := older + "-aside"
			return errors.Join(os.MkdirAll(filepath.Dir(aside), 0o700), os.RemoveAll(aside), os.Rename(file, aside), os.Symlink(aside, file))
		},
		"FIFO": func(file, _ string, _ int64) error {
			return errors.Join(os.RemoveAll(file), syscall.Mkfifo(file, 0o600))
		},
	}
}

var errUntouched = errors.New("this damage changes nothing here")

// pageDamages change some bytes: of a page, or anywhere in a file.
func pageDamages(random *rand.Rand) map[string]damage {
	return map[string]damage{
		"bit": patch(random, func(all []byte, at, end int) { all[at+random.IntN(end-at)] ^= 1 << random.IntN(8) }),
		"header bit": patch(random, func(all []byte, at, end int) {
			all[at+random.IntN(min(end-at, 64))] ^= 1 << random.IntN(8)
		}),
		"bytes": patch(random, func(all []byte, at, end int) {
			from := at + random.IntN(end-at)
			for i := from; i < min(from+16, end); i++ {
				all[i] = byte(random.IntN(256))
			}
		}),
		"zeroed": patch(random, func(all []byte, at, end int) { clear(all[at:end]) }),
		"swapped": patch(random, func(all []byte, at, end int) {
			next := (at + pageSize) % max(len(all)/pageSize*pageSize, 1)
			if next+end-at > len(all) {
				slices.Reverse(all[at:end])
				return
			}
			page := bytes.Clone(all[at:end])
			copy(all[at:end], all[next:next+end-at])
			copy(all[next:next+end-at], page)
		}),
		"leads to itself": patch(random, func(all []byte, at, end int) {
			const flags, branch, header, child = 8, 1, 16, 8 // of a page, and of a branch's first element
			if binary.LittleEndian.Uint16(all[at+flags:]) == branch && end-at == pageSize {
				copy(all[at+header+child:], all[at:at+8])
			}
		}),
	}
}

// patch makes a damage of a change to the bytes of a page.
func patch(random *rand.Rand, change func(all []byte, at, end int)) damage {
	return func(file, _ string, page int64) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		at := max(page, 0) * pageSize
		if page < 0 && len(text) > pageSize {
			at = int64(random.IntN(len(text)/pageSize)) * pageSize
		}
		if len(text) < 64 {
			return errUntouched
		}
		before := bytes.Clone(text)
		change(text, int(at), min(int(at)+pageSize, len(text)))
		if bytes.Equal(before, text) {
			return errUntouched
		}
		return os.WriteFile(file, text, 0o600)
	}
}

// targets lists all files of a store, and the database's pages.
func targets(t testing.TB, folder string) []target {
	t.Helper()
	var all []target
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && name != folder {
			all = append(all, target{strings.TrimPrefix(name, folder+"/"), -1, d.Type().String()})
		}
		return err
	})
	text, readErr := os.ReadFile(filepath.Join(folder, "store.db"))
	if err := errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	kinds := map[uint16]string{1: "branch", 2: "leaf", 4: "meta", 16: "freelist"}
	for page := range len(text) / pageSize {
		flags := binary.LittleEndian.Uint16(text[page*pageSize+8:])
		if kind, known := kinds[flags]; known {
			all = append(all, target{"store.db", int64(page), kind})
		}
	}
	return all
}

// A breakage is one cell of the matrix.
type breakage struct {
	target
	how string
}

// TestDamage damages a store in one place, and holds what every command must do
// then: give the right bytes, end with an exit code, or leave out what verify
// reports; and always end, without a word of Go's. In the usual tests it takes a
// sample of all places; all of them are taken by
//
//	FILEBUS_DAMAGE=1000000 go test ./cmd/filebus -run '^TestDamage$' -timeout 3h -v
func TestDamage(t *testing.T) {
	t.Parallel()
	older := filepath.Join(t.TempDir(), "store", "older")
	m := &matrix{older: older}
	m.stage = newStage(t, func(t testing.TB, dir string, l *ledger) {
		populate(t, dir, l)
		m.notes(t, dir, l)
		copyTree(t, filepath.Join(dir, ".filebus"), older)
		m.before = maps.Clone(l.exact)
		for name, text := range map[string]string{"note/small.md": "# Small\n\nA newer zebra.\n", "note/later": "A later zebra.\n"} {
			mustProcess(t, dir, text, "put", "--name", name, "-")
			l.exact[name] = text
		}
		settings := []byte("# Settings of this project, of which there are none.\n")
		if err := os.WriteFile(filepath.Join(dir, ".filebus", "config.toml"), settings, 0o600); err != nil {
			t.Fatal(err)
		}
		mustProcess(t, dir, "", "search", "zebra")
	})
	m.expect(t)
	var all []breakage
	for _, g := range targets(t, filepath.Join(m.dir, ".filebus")) {
		ways := damages(chance(t))
		switch {
		case g.page >= 0:
			ways = pageDamages(chance(t))
		case g.kind == fs.ModeDir.String():
			ways = folderDamages()
		}
		for _, how := range slices.Sorted(maps.Keys(ways)) {
			all = append(all, breakage{g, how})
		}
	}
	for _, b := range sample(chance(t), all, effort(t, "FILEBUS_DAMAGE", 6)) {
		t.Run(b.String()+" "+b.how, func(t *testing.T) { m.damaged(t, b) })
	}
	t.Logf("of %d cells", len(all))
}

// A matrix knows what commands print of a store that is whole.
type matrix struct {
	*stage
	older  string            // the store's folder some commands ago
	before map[string]string // what was current then
	listed int
	hits   int
	files  map[string]string // of the workspace
	out    map[string]string // what materialize lays out
}

// notes puts enough notes to make the database's trees branch.
func (m *matrix) notes(t testing.TB, dir string, l *ledger) {
	t.Helper()
	args := []string{"put", "--kind", "note"}
	for i := range 90 {
		file, text := fmt.Sprintf("docs/n%02d.md", i), fmt.Sprintf("# Note %d\n\nA zebra, the %d-th. %s\n", i, i, strings.Repeat("Words. ", i))
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "docs"), 0o777), os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
		if i%30 == 0 {
			l.exact["note/"+file] = text
		}
	}
	mustProcess(t, dir, "", args...)
}

func (m *matrix) expect(t testing.TB) {
	t.Helper()
	m.listed = strings.Count(mustProcess(t, m.dir, "", "list", "--limit", "0"), "\n")
	m.hits = strings.Count(mustProcess(t, m.dir, "", "search", "zebra", "--limit", "200", "--json"), `"ref"`)
	mustProcess(t, m.dir, "", "materialize", "--to", "out")
	m.out = tree(t, filepath.Join(m.dir, "out"))
	m.set(t)
	m.files = tree(t, m.dir)
	if m.listed < 90 || m.hits < 90 || len(m.out) < 90 {
		t.Fatalf("the matrix begins with %d listed, %d hits, %d files", m.listed, m.hits, len(m.out))
	}
}

// tree reads all files below a folder, but for the store.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.Name() == ".filebus" {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		all[strings.TrimPrefix(name, dir+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// damaged does one cell.
func (m *matrix) damaged(t *testing.T, b breakage) {
	m.set(t)
	err := damages(chance(t))[b.how](filepath.Join(m.dir, ".filebus", b.file), filepath.Join(m.older, b.file), b.page)
	if errors.Is(err, errUntouched) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	verify := runProcess(t, m.dir, "", "verify")
	told := verify.code != cli.ExitDone
	for name, want := range m.ledger.exact {
		var got finished // within the test: a process for each of many names takes ten times as long
		got.out, got.err, got.code = ranIn(t, m.dir, "get", name)
		got.wantPlain(t, []string{"get", name})
		stale, wasThere := m.before[name]
		if got.code == cli.ExitDone && got.out != want && !(told && wasThere && got.out == stale) {
			t.Errorf("get %s: wrong bytes with exit code 0 (%d bytes, want %d); verify had ended with %d", name, len(got.out), len(want), verify.code)
		}
		if got.code != cli.ExitDone && got.out != "" && !strings.HasPrefix(want, got.out) {
			t.Errorf("get %s: wrong bytes before exit code %d", name, got.code)
		}
	}
	m.reading(t, told)
	m.writing(t)
	runProcess(t, m.dir, "", "verify") // it must end
	if t.Failed() {
		t.Logf("verify: %.2000s%.500s", verify.out, verify.err)
	}
}

func (m *matrix) reading(t *testing.T, told bool) {
	t.Helper()
	list := runProcess(t, m.dir, "", "list", "--limit", "0")
	if n := strings.Count(list.out, "\n"); list.code == cli.ExitDone && n != m.listed && !told {
		t.Errorf("list: %d records of %d, and verify says nothing", n, m.listed)
	}
	search := runProcess(t, m.dir, "", "search", "zebra", "--limit", "200", "--json")
	if n := strings.Count(search.out, `"ref"`); search.code == cli.ExitDone && n != m.hits && !told {
		t.Errorf("search: %d hits of %d, and verify says nothing\n%.500s", n, m.hits, search.err)
	}
	laidOut := runProcess(t, m.dir, "", "materialize", "--to", "out")
	got := tree(t, filepath.Join(m.dir, "out"))
	for name, text := range got {
		if want := m.out[name]; text != want && !told {
			t.Errorf("materialize: %s has %d bytes, want %d", name, len(text), len(want))
		}
	}
	if laidOut.code == cli.ExitDone && len(got) != len(m.out) && !told {
		t.Errorf("materialize: %d files of %d, and verify says nothing", len(got), len(m.out))
	}
	if err := os.RemoveAll(filepath.Join(m.dir, "out")); err != nil {
		t.Fatal(err)
	}
}

// writing puts a text, which must be there if that was acknowledged, and syncs,
// which must leave the files of the workspace as they are.
func (m *matrix) writing(t *testing.T) {
	t.Helper()
	const text = "A new text.\n"
	if put := runProcess(t, m.dir, text, "put", "--name", "note/new", "-"); put.code == cli.ExitDone {
		if got := runProcess(t, m.dir, "", "get", "note/new"); got.code != cli.ExitDone || got.out != text {
			t.Errorf("get of what was put: exit code %d, %q\n%s%s", got.code, got.out, got.err, put.err)
		}
	}
	runProcess(t, m.dir, "", "sync")
	for name, want := range m.files {
		got, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil || string(got) != want {
			t.Errorf("after sync %s has %d bytes, want %d: %v", name, len(got), len(want), err)
		}
	}
}
