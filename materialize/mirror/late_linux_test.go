package mirror

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLateWriter appends a line to a file that was opened before it was replaced or
// removed, at all times from before that to long after. The line is lost at none: it
// stands in the file, or in the one that a LateError names.
func TestLateWriter(t *testing.T) {
	t.Parallel()
	for label, change := range map[string]func(m *Mirror, seen File) error{
		"replaced": func(m *Mirror, seen File) error {
			return m.Write(t.Context(), "f.md", strings.NewReader("new\n"), 2, seen)
		},
		"removed": func(m *Mirror, seen File) error { return m.Remove(t.Context(), "f.md", seen) },
	} {
		for _, after := range []time.Duration{0, time.Millisecond, 3 * time.Millisecond, 8 * time.Millisecond, 60 * time.Millisecond} {
			m := open(t, "a")
			file := filepath.Join(m.Dir, "f.md")
			if err := os.WriteFile(file, []byte("old\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			seen := look(t, m, "f.md")
			agent, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				time.Sleep(after)
				_, err := agent.WriteString("late\n")
				ended <- errors.Join(err, agent.Close())
			}()
			err = change(m, seen)
			if failed := <-ended; failed != nil {
				t.Fatal(failed)
			}
			late, where := (*LateError)(nil), file
			switch {
			case errors.As(err, &late):
				where = late.File()
			case !errors.Is(err, ErrRaced):
				t.Errorf("%s, a line %v later: %v", label, after, err)
			}
			if got, err := os.ReadFile(where); err != nil || string(got) != "old\nlate\n" {
				t.Errorf("%s, a line %v later: %s has %q, %v", label, after, where, got, err)
			}
			if late != nil && late.Discard() == nil {
				if _, err := os.Stat(where); err == nil {
					t.Errorf("%s is still there", where)
				}
			}
		}
	}
}

// TestWalkTree lists a folder with all that can stand in one.
func TestWalkTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"a/b.md", "a.md", "a/.filebus-abcdefghijklmnopqrstuvwxyz.new", ".filebus-x.md", "node_modules/c.md", "d/node_modules", ".filebus/e.md", ".git", "raw\xff.md",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(name), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("a", filepath.Join(dir, "to-folder")), os.Symlink("none", filepath.Join(dir, "d", "to-none"))); err != nil {
		t.Fatal(err)
	}
	walk, err := WalkTree(t.Context(), dir, NewFilter(dir, Rules{}))
	if err != nil {
		t.Fatal(err)
	}
	var files, skipped []string
	for _, f := range walk.Files {
		files = append(files, f.Path)
	}
	for _, s := range walk.Skipped {
		if !s.Harmless || s.Reason != "a symbolic link" {
			t.Errorf("skipped is %+v, want a harmless link", s)
		}
		skipped = append(skipped, s.Path)
	}
	if diff := cmp.Diff([]string{".filebus-x.md", "a/b.md", "a.md", "d/node_modules", "raw\xff.md"}, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"d/to-none", "to-folder"}, skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if _, err := WalkTree(t.Context(), filepath.Join(dir, "a.md"), nil); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("of a file: %v", err)
	}
}
