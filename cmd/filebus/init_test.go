package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// TestInitAsks makes stores in the home folder, where somebody types an answer.
func TestInitAsks(t *testing.T) {
	for answer, isMade := range map[string]bool{"y\n": true, "Yes\r\n": true, "n\n": false, "\n": false, "": false} {
		home := t.TempDir()
		var out, errs bytes.Buffer
		env := &cli.Environ{
			In: strings.NewReader(answer), Out: &out, Err: &errs, Dir: home, Now: time.Now, InTerminal: true,
			Getenv: func(name string) string { return map[string]string{"HOME": home, "FILEBUS_STATE": "off"}[name] },
		}
		exit := run(t.Context(), env, []string{"init"})
		_, err := os.Stat(filepath.Join(home, ".filebus", "store.db"))
		if (exit == 0) != isMade || (err == nil) != isMade || !strings.Contains(errs.String(), "make a store here? [y/N]") {
			t.Errorf("answer %q: exit code %d, %v\n%s", answer, exit, err, errs.String())
		}
	}
}
