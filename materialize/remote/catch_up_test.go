package remote_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"filebus/materialize/remote"
)

// TestCatchUp lets a new store take in a log of many segments, which the remote stops to give again and again: each pull
// goes on where the last one stopped, and says how far it is.
func TestCatchUp(t *testing.T) {
	m := newMemory()
	a, b := newMachine(t, "a", m.Open(), 0), newMachine(t, "b", m.Open(), 0)
	trusts(a, b)
	for i := range 24 {
		a.put(fmt.Sprintf("n%d.md", i), fmt.Sprint(i)+random(200<<10))
	}
	a.push()
	isSegment := func(path string) bool { return strings.Contains(path, "/log/") }
	segments := slices.DeleteFunc(m.Paths(), func(path string) bool { return !isSegment(path) })
	got, most := map[string]int{}, 0
	m.Before = func(o op, name remote.Name) error {
		if o != opGet || !isSegment(name.String()) {
			return nil
		}
		if len(got) == most && got[name.String()] == 0 {
			return errors.New("the line is cut")
		}
		got[name.String()]++
		return nil
	}
	r, done, total := b.replica(), uint64(0), uint64(0)
	r.Progress = func(now, of uint64) {
		if now < done || now > of {
			t.Errorf("%d of %d entries are taken in, after %d", now, of, done)
		}
		done, total = now, of
	}
	for most < len(segments) {
		most += 2
		out, err := r.Pull(t.Context())
		if done = 0; (err == nil) != (most >= len(segments)) || out.Segments != min(2, len(segments)-most+2) {
			t.Fatalf("with %d of %d segments: %d taken in: %v", most, len(segments), out.Segments, err)
		}
	}
	if len(segments) < 4 || slices.ContainsFunc(segments, func(s string) bool { return got[s] != 1 }) {
		t.Errorf("segments were read so often: %v", got)
	}
	if total == 0 || b.head("n23.md") != a.head("n23.md") {
		t.Error("the store has not caught up")
	}
}
