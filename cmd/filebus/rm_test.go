package main

import (
	"strings"
	"testing"

	"filebus/cmd/filebus/cli"
)

// TestRmOlderVersion gives rm the ref of an older version, which may be meant for
// itself alone: the name stays.
func TestRmOlderVersion(t *testing.T) {
	env, out, stderr := fakeEnviron(t)
	for _, text := range []string{"one", "two"} {
		env.In = strings.NewReader(text)
		if code := run(t.Context(), env, []string{"put", "--name", "note/a.md"}); code != cli.ExitDone {
			t.Fatalf("put ended with %d: %s", code, stderr)
		}
	}
	refs := strings.Fields(out.String()) // ref and name, twice
	for _, args := range [][]string{{"rm", refs[0]}, {"rm", "--drop", refs[0]}} {
		stderr.Reset()
		if code := run(t.Context(), env, args); code != cli.ExitUsage || !strings.Contains(stderr.String(), "is an older version of note/a.md") {
			t.Errorf("%v ended with %d: %s", args, code, stderr)
		}
	}
	if code := run(t.Context(), env, []string{"get", "note/a.md"}); code != cli.ExitDone {
		t.Errorf("note/a.md is gone: %d: %s", code, stderr)
	}
	if code := run(t.Context(), env, []string{"rm", refs[2]}); code != cli.ExitDone {
		t.Errorf("rm of the newest version ended with %d: %s", code, stderr)
	}
}
