package run

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
)

// TestLastChanged asks git for files that it tracks, has changed, ignores or never
// heard of, in a folder below its top, with settings that change what it prints.
func TestLastChanged(t *testing.T) {
	x := newBench(t, layout.Claude())
	x.git("init")
	x.git("config", "log.follow", "true")
	x.git("config", "log.showSignature", "true")
	x.git("config", "core.quotePath", "true")
	first, second := time.Unix(1_700_000_000, 0), time.Unix(1_710_000_000, 0)
	commit := func(at time.Time) {
		t.Setenv("GIT_COMMITTER_DATE", at.Format(time.RFC3339))
		x.git("add", ".")
		x.git("commit", "-m", "words\nof it")
	}
	x.write("sub/old.go", "one")
	x.write("sub/dir/a.go", "one")
	x.write("sub/ü \"q\".go", "one")
	x.write("sub/edited.go", "one")
	x.write("old.go", "another of that name")
	commit(first)
	x.write("sub/dir/b.go", "two")
	x.write("sub/*.go", "a name like a pattern")
	x.write("old.go", "changed, but not the one below")
	commit(second)
	x.write("sub/edited.go", "two")
	x.write("sub/new.go", "not added")
	own := time.Unix(1_720_000_000, 0)
	for _, name := range []string{"edited.go", "new.go"} {
		x.must(os.Chtimes(filepath.Join(x.dir, "sub", name), own, own))
	}
	files := []string{"old.go", "dir/", "dir/a.go", "ü \"q\".go", "edited.go", "new.go", "*.go", "gone.go", "../old.go", "dir"}
	got, err := LastChanged(t.Context(), filepath.Join(x.dir, "sub"), files, os.Environ())
	want := map[string]time.Time{
		"old.go": first, "dir/": second, "dir/a.go": first, "ü \"q\".go": first, "edited.go": own, "new.go": own, "*.go": second, "dir": second,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("LastChanged(%q), %v (-want +got):\n%s", files, err, diff)
	}
	only := []string{"old.go"}
	got, err = LastChanged(t.Context(), filepath.Join(x.dir, "sub"), only, os.Environ())
	if diff := cmp.Diff(map[string]time.Time{"old.go": first}, got); diff != "" || err != nil {
		t.Errorf("LastChanged(%q), %v (-want +got):\n%s", only, err, diff)
	}
}
