package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"filebus/cmd/filebus/cli"
)

// TestPager prints a long help on a terminal of ten rows: through the program that the
// environment names, if there is one.
func TestPager(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("head"); err != nil {
		t.Skip("there is no head")
	}
	for _, c := range []struct {
		variables, args string
		rows            int
		paged           bool
	}{
		{"PAGER=head -n 1", "help search", 10, true},
		{"PAGER=head -n 1", "search --help", 10, true},
		{"PAGER=cat FILEBUS_PAGER=head -n 1", "help list", 10, true},
		{"PAGER=head -n 1 FILEBUS_PAGER=cat", "help list", 10, false},
		{"PAGER=head -n 1 FILEBUS_PAGER=", "help list", 10, false},
		{"PAGER=head -n 1 TERM=dumb", "help list", 10, false},
		{"PAGER=no-such-program", "help list", 10, false},
		{"PAGER=head -n 1", "help list", 1000, false},
		{"PAGER=head -n 1", "help list", 0, false},
		{"PAGER=head -n 1", "version", 1, false},
	} {
		var out bytes.Buffer
		env := docEnviron(t.TempDir(), &out)
		env.OutTerminal, env.Rows, env.Variables = true, c.rows, nil
		env.Variables = append(env.Variables, strings.Split(strings.NewReplacer(" FILEBUS", "\nFILEBUS", " TERM", "\nTERM").Replace(c.variables), "\n")...)
		env.Getenv = func(name string) (value string) {
			for _, v := range env.Variables {
				if text, isIt := strings.CutPrefix(v, name+"="); isIt {
					value = text
				}
			}
			return value
		}
		code := run(t.Context(), env, strings.Fields(c.args))
		lines := strings.Count(out.String(), "\n")
		if code != cli.ExitDone || (lines == 1) != (c.paged || c.args == "version") {
			t.Errorf("%s, %d rows, %s: code %d, %d lines:\n%.300s", c.variables, c.rows, c.args, code, lines, out.String())
		}
	}
}
