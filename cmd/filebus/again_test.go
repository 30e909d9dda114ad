package main

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus"
	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/store"
)

// logEnd returns the position of the log's end of the store in a folder, 0 without one.
func logEnd(t *testing.T, dir string) (end uint64) {
	t.Helper()
	s, err := store.Open(filepath.Join(dir, materialize.StoreFolder), store.Options{Wait: time.Minute})
	if err != nil {
		return 0
	}
	must(t, s.View(t.Context(), func(tx *store.Tx) error { end = tx.Position(); return nil }))
	return end
}

// sampleIn returns a copy of the sample workspace.
func sampleIn(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "shop")
	sample, err := filebus.Sample()
	must(t, err)
	must(t, os.CopyFS(dir, sample))
	return dir
}

// adding are the commands that make another one each time, or go on to the next one of an id.
var adding = []string{
	"task note", "issue next", "dialogue new", "put", "exec", "run loop", "session start", "rm 003",
}

// runAgain runs a command line twice, a minute apart. What was refused, and what was done before, writes
// nothing, unless the command adds.
func runAgain(t *testing.T, dir string, clock *time.Duration, args []string) {
	t.Helper()
	isAdding := slices.ContainsFunc(adding, func(words string) bool { return strings.HasPrefix(strings.Join(args, " ")+" ", words+" ") })
	for try := range 2 {
		var out bytes.Buffer
		env := docEnviron(dir, &out)
		*clock += time.Minute
		now := env.Now().Add(*clock)
		env.Now = func() time.Time { return now }
		before := logEnd(t, dir)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // for those that wait
		code := run(ctx, env, args)
		cancel()
		isNothing := code == cli.ExitUsage || code == cli.ExitNotFound || code == cli.ExitConflict || try > 0 && !isAdding
		if after := logEnd(t, dir); after != before && isNothing {
			t.Errorf("filebus %q (try %d, exit code %d) moves the log's end from %d to %d:\n%s", args, try, code, before, after, out.String())
		}
	}
}

// TestAgain runs every example of the documents twice, and every command with names that there are
// not: what is refused, and what is done already, leaves the log's end where it was.
func TestAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"README.md", "docs/cli.md", "docs/config.md", "docs/dialogues.md", "docs/sessions.md"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			dir := sampleIn(t)
			var clock time.Duration
			for _, e := range examplesOf(readDocument(t, name)) {
				runAgain(t, dir, &clock, e.args)
			}
		})
	}
	t.Run("every command", func(t *testing.T) {
		t.Parallel()
		dir := sampleIn(t)
		var clock time.Duration
		runAgain(t, dir, &clock, []string{"init", "--yes"})
		tree := commandTree(t)
		for _, path := range slices.Sorted(maps.Keys(tree)) {
			words := strings.Fields(path)[1:]
			isServer := len(words) > 0 && slices.Contains([]string{"serve", "mcp", "watch", "completion", "help", "hook", "demo", "wait"}, words[0])
			if !tree[path].Runnable() || len(words) == 0 || isServer {
				continue
			}
			for n := range 4 {
				runAgain(t, dir, &clock, append(slices.Clone(words), slices.Repeat([]string{"no-such"}, n)...))
			}
			runAgain(t, dir, &clock, append(slices.Clone(words), "003")) // a task that has ended
		}
	})
}
