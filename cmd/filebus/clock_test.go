package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestClockAhead puts a text with a clock far ahead and goes on with the right one: that
// is said once, and neither --since nor retention is deceived for ever.
func TestClockAhead(t *testing.T) {
	env, out, stderr := fakeEnviron(t)
	now := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	env.Now = func() time.Time { return now }
	do := func(args ...string) string {
		t.Helper()
		out.Reset()
		stderr.Reset()
		if code := run(t.Context(), env, args); code != 0 {
			t.Fatalf("filebus %q: exit %d: %s", args, code, stderr)
		}
		return out.String()
	}
	put := func(text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(env.Dir, "in"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		do("put", "in", "--conversation", "c", "--call", strings.ReplaceAll(text, " ", "-"))
		return stderr.String()
	}
	put("an ortolan before")
	now = now.AddDate(73, 0, 0)
	put("an ortolan ahead")
	do("search", "ortolan")
	now = now.AddDate(-73, 0, 1)
	if got := put("an ortolan then"); !strings.Contains(got, "the log's last entry has the time 2099-11-01") {
		t.Errorf("the step back is not told: %q", got)
	}
	now = now.AddDate(0, 0, 40)
	if got := put("an ortolan now"); strings.Contains(got, "clock") {
		t.Errorf("told again: %q", got)
	}
	if got := do("list", "--since", "1d"); strings.Count(got, "\n") != 1 || !strings.Contains(got, "an ortolan now") {
		t.Errorf("list --since 1d:\n%s", got)
	}
	if got := do("search", "ortolan", "--since", "1d"); !strings.Contains(got, "now") || strings.Contains(got, "ahead") {
		t.Errorf("search --since 1d:\n%s", got)
	}
	if got := do("log", "--since", "1d"); strings.Count(got, "\n") != 1 {
		t.Errorf("log --since 1d:\n%s", got)
	}
	if got := do("gc", "--kind", "result", "--older-than", "30d"); !strings.Contains(got, "c/an-ortolan-ahead") || strings.Contains(got, "c/an-ortolan-now") {
		t.Errorf("gc --older-than 30d:\n%s", got)
	}
	if got := do("verify"); !strings.Contains(got, "a clock was wrong") {
		t.Errorf("verify:\n%s", got)
	}
}
