package cli

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"filebus/store/folder"
)

// TestConfigError tells a disk that cannot be read from a text that is wrong.
func TestConfigError(t *testing.T) {
	own := folder.At(t.TempDir())
	for _, test := range []struct {
		err  error
		hint string
	}{
		{&fs.PathError{Op: "open", Path: ConfigFile, Err: syscall.EIO}, "look at the disk of "},
		{errors.New("expected a key"), "edit "},
	} {
		got := Explain(configError(own, test.err))
		if !strings.HasPrefix(got.Hint, test.hint) || !strings.Contains(got.Hint, own.Path(ConfigFile)) {
			t.Errorf("the hint for %v is %q, want one that begins with %q", test.err, got.Hint, test.hint)
		}
	}
}
