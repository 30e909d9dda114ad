package main

import (
	"strings"
	"testing"
	"time"
)

// TestReviewAsks decides about entries where somebody types.
func TestReviewAsks(t *testing.T) {
	env, out, stderr := fakeEnviron(t, "FILEBUS_STATE", "off", "NO_GIT", "1")
	env.Now = time.Now
	call := func(typed string, args ...string) string {
		t.Helper()
		out.Reset()
		stderr.Reset()
		env.In, env.InTerminal = strings.NewReader(typed), typed != ""
		if exit := run(t.Context(), env, args); exit != 0 {
			t.Fatalf("%q: exit code %d\n%s", args, exit, stderr)
		}
		return out.String() + stderr.String()
	}
	list := func() string { return call("", "knowledge", "list", "--all") }
	call("", "init")
	call("", "config", "set", "knowledge.review", "true")
	for _, text := range []string{"Wombats dig at night", "Numbats eat termites at noon", "Quokkas swim to the island in winter"} {
		call("", "knowledge", "add", "--type", "insight", "--content", text)
	}
	said := call("a\nr\nnobody has seen it\n\n", "knowledge", "review")
	for _, want := range []string{"insight-001  proposed", "a accept, r reject", "why?", "insight-003  proposed"} {
		if !strings.Contains(said, want) {
			t.Errorf("review says %q, without %q", said, want)
		}
	}
	now := list()
	for _, want := range []string{"proposed", "rejected since", "nobody has seen it"} {
		if strings.Count(now, want) != 1 {
			t.Errorf("after a, r and Enter: %s, want %q once", now, want)
		}
	}
	call("q\na\n", "knowledge", "review")
	if again := list(); again != now {
		t.Errorf("after q: %s, want %s", again, now)
	}
}
