package main

import (
	"bytes"
	"testing"
)

// TestCommandNames holds that each command is made by the name that it has.
func TestCommandNames(t *testing.T) {
	env := docEnviron(t.TempDir(), &bytes.Buffer{})
	for _, c := range commands() {
		if made := c.Cobra(env); made.Name() != c.Name() {
			t.Errorf("%q makes %q", c.Name(), made.Name())
		}
	}
}
