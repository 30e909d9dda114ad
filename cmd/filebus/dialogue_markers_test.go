package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/dialogue"
)

// TestMarkersOfLargeFiles reads the beginning of a file that is too large, up to the
// last line that is whole, and says so.
func TestMarkersOfLargeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line := "[RESOLVED T01]\n"
	file := filepath.Join(dir, "large.md")
	if err := os.WriteFile(file, []byte(strings.Repeat(line, dialogue.MaxMarkersText/len(line)+1000)), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := filebusCommand(t, dir, "dialogue", "markers", "large.md", "--json", "--limit", "1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitPartly {
		t.Errorf("exit code %d (%v), want %d", code, err, cli.ExitPartly)
	}
	want := `"counts":{"resolved":266666},"more":266665,"unread":["large.md"]}` + "\n"
	if got := out.String(); !strings.HasSuffix(got, want) || strings.Count(got, "T01") != 2 {
		t.Errorf("it prints %s, want one marker and %s", got, want)
	}
	if want := `{"notice":{"message":"large.md: only the first 4000 KB were read"}}` + "\n"; errs.String() != want {
		t.Errorf("it says %q, want %q", errs.String(), want)
	}
}
