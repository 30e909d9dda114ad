//go:build unix

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"filebus/store"
)

// TestNoFile puts what is no file in the place of each file of a store: nobody waits for
// the other end of a FIFO.
func TestNoFile(t *testing.T) {
	t.Parallel()
	for label, replace := range map[string]func(path string) error{
		"FIFO":            func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":          func(path string) error { return os.Mkdir(path, 0o700) },
		"link to nothing": func(path string) error { return os.Symlink("nothing", path) },
		"link to itself":  func(path string) error { return os.Symlink(filepath.Base(path), path) },
	} {
		for _, which := range []string{"store.db", "signoff", "body"} {
			t.Run(which+" "+label, func(t *testing.T) {
				s := unchecked(t)
				large := randomText(store.InlineLimit + 1)
				put(t, s, "note/large", large)
				path := filepath.Join(s.Dir(), which)
				if which == "body" {
					files, err := filepath.Glob(filepath.Join(s.Dir(), "bodies", "*", "*.zst"))
					if err != nil || len(files) != 1 {
						t.Fatal(files, err)
					}
					path = files[0]
				}
				if err := errors.Join(os.Remove(path), replace(path)); err != nil {
					t.Fatal(err)
				}
				report, checkErr := s.Check(t.Context(), nil)
				got, err := read(t, s, "note/large")
				if err == nil && got != large || which != "signoff" && (err == nil || checkErr == nil && report.Err() == nil) {
					t.Errorf("reading: %d bytes, %v; Check = %q, %v; want both to fail", len(got), err, report.Faults, checkErr)
				}
			})
		}
	}
}
