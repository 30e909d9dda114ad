package result_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/store"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("out/same", "text")
	d.file("out/other", "other")
	d.file("out/forced", "a longer text")
	tests := []struct {
		file  string
		force bool
		want  string // what is there then
		taken bool
	}{
		{"out/new", false, "text", false},
		{"out/same", false, "text", false},
		{"out/other", false, "other", true},
		{"out/forced", true, "text", false},
	}
	for _, test := range tests {
		file := filepath.Join(d.Root, filepath.FromSlash(test.file))
		err := result.WriteFile(t.Context(), file, []byte("text"), test.force)
		if errors.Is(err, store.ErrConflict) != test.taken || !test.taken && err != nil || d.text(file) != test.want {
			t.Errorf("WriteFile(%s, force %t): %v, and the file holds %q, want %q", test.file, test.force, err, d.text(file), test.want)
		}
	}
	if left, err := os.ReadDir(filepath.Join(d.Root, "out")); err != nil || len(left) != len(tests) {
		t.Errorf("the folder has %v, %v; want no temporary files", left, err)
	}
	missing := filepath.Join(d.Root, "none", "new")
	if err := result.WriteFile(t.Context(), missing, []byte("text"), true); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("WriteFile into a folder that is missing: %v", err)
	}
}

// TestWriteFileAtOnce writes one text to one file several times at once: nobody is
// told that the file has another.
func TestWriteFileAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range 20 {
		file := filepath.Join(d.Root, fmt.Sprintf("new-%d", i))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := result.WriteFile(t.Context(), file, []byte("text"), false); err != nil {
					t.Errorf("WriteFile at once: %v", err)
				}
			})
		}
		wg.Wait()
		if got := d.text(file); got != "text" {
			t.Errorf("the file holds %q, want text", got)
		}
	}
}

func TestCheckPlace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("docs/a.md", "text")
	if err := os.Symlink(d.Location.Store, filepath.Join(d.Root, "link")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	tests := []struct {
		file      string
		protected bool
	}{
		{"new", false},
		{"docs/a.md", false},
		{"none/deep/new", false},
		{".github/new", false},
		{".filebus/new", true},
		{".filebus/none/deep/new", true},
		{"link/none/new", true},
		{".git/hooks/new", true},
		{"docs/.GIT/new", true},
	}
	for _, test := range tests {
		if runtime.GOOS == "windows" && filepath.Dir(filepath.Dir(test.file)) == "link" {
			continue // links need a privilege there
		}
		err := result.CheckPlace(d.Workspace, filepath.Join(d.Root, filepath.FromSlash(test.file)))
		if errors.Is(err, materialize.ErrProtected) != test.protected || !test.protected && err != nil {
			t.Errorf("CheckPlace(%s) = %v, protected? want %t", test.file, err, test.protected)
		}
	}
}
