package main

import (
	"bytes"
	"slices"
	"testing"
)

// TestCommandNames holds that each command is made by the name that it has.
func TestCommandNames(t *testing.T) {
	env := docEnviron(t.TempDir(), &bytes.Buffer{})
	for _, c := range slices.Concat(writingCommands(), readingCommands()) {
		if made := c.cobra(env); made.Name() != c.name() || len(made.Aliases) > 0 {
			t.Errorf("%q makes %q, aliases %q", c.name(), made.Name(), made.Aliases)
		}
	}
}
