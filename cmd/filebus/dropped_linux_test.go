//go:build amd64 || arm64

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/store"
	"filebus/store/record"
)

// listings are commands that list and then read, with the exit codes that they may have where
// something of it is destroyed in between. What filters have picked is left out; of what was named
// it is said that it is gone.
func listings() map[string][]int {
	picked, named, both := []int{cli.ExitDone}, []int{cli.ExitDone, cli.ExitNotFound}, []int{cli.ExitDone, cli.ExitPartly}
	return map[string][]int{
		"list": picked, "log": picked, "context text": picked, "scan": picked, "sync": picked, "reindex": picked,
		"gc --kind result --older-than 0d": picked, "search text": picked, "search --regex tex.": picked,
		"search large --sections": picked, "materialize --to out --json": picked, "materialize --to out --search text": both,
		"backup ../to": {cli.ExitDone, cli.ExitConflict}, "bundle create b": {cli.ExitDone, cli.ExitConflict},
		// the copy is one from then on
		"get note/large": named, "show result/waste/k": named,
		"combine result/waste/k note/large": {cli.ExitDone, cli.ExitNotFound, cli.ExitPartly},
	}
}

// TestDroppedMeanwhile destroys a small and a large record before each look that a command takes
// into the store, so between listing and reading, too.
func TestDroppedMeanwhile(t *testing.T) {
	t.Parallel()
	st := newStage(t, populate)
	says := map[string]string{ // at one of its looks at least
		"materialize --to out --json": `"missing":["note/large","result/waste/k"]`, "scan": "2 records destroyed meanwhile",
		"search large --sections": "1 hit without text left out",
	}
	for line, codes := range listings() {
		said := ""
		for k, looks := 0, 0; k <= looks; k++ {
			more, text := dropAt(t, st, line, codes, k)
			looks, said = max(looks, more), said+text
		}
		if !strings.Contains(said, says[line]) {
			t.Errorf("filebus %s never says %q: %s", line, says[line], said)
		}
	}
}

// dropAt runs a command, destroys records at its k-th look, and returns how many there were, and
// what it said.
func dropAt(t *testing.T, st *stage, line string, codes []int, k int) (looks int, said string) {
	t.Helper()
	st.set(t)
	if err := os.RemoveAll(filepath.Join(st.dir, "..", "to")); err != nil {
		t.Fatal(err)
	}
	dropped := error(nil)
	tr := &tracer{locks: true, judge: func(_ int, c fileCall) verdict {
		if strings.HasSuffix(c.file, "/.filebus/gate") {
			if looks++; looks == k {
				dropped = dropBoth(t, st.dir)
			}
		}
		return verdict{}
	}}
	end := tr.start(t, st.dir, "", strings.Fields(line))
	if k == 0 {
		codes = []int{cli.ExitDone}
	}
	if looks == 0 || dropped != nil || !slices.Contains(codes, end.code) {
		t.Errorf("filebus %s, records destroyed before look %d: %v; exit code %d, want one of %v: %s", line, k, dropped, end.code, codes, end.err)
	}
	return looks, end.out + end.err
}

// dropBoth destroys a small and a large record, unless the command has.
func dropBoth(t *testing.T, dir string) error {
	s, err := store.Open(filepath.Join(dir, ".filebus"), store.Options{Wait: time.Second})
	if err != nil {
		return err
	}
	return s.Update(t.Context(), func(tx *store.Tx) error {
		for _, n := range []record.Name{{Kind: record.KindResult, ID: "waste/k"}, {Kind: record.KindNote, ID: "large"}} {
			v, err := tx.Head(n)
			if err == nil {
				err = tx.Drop(v.Ref)
			}
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return nil
	})
}
