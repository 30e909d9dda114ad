package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/release"
	"filebus/store"
	"filebus/store/record"
)

// TestReplay lays a session out as of each step of its history and compares that
// with what stood there then.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, settings := range []materialize.Settings{{}, {Profile: blueProfile()}} {
		b := newScene(t, settings)
		type moment struct {
			position uint64
			files    map[string]string
		}
		var history []moment
		note := func() {
			files := b.layOut(b.gather(GatherRequest{Session: "k7", Closure: true}), nil, 1000)
			delete(files, "INDEX.md")
			history = append(history, moment{b.position(), files})
		}
		for i := range 4 {
			b.put("note/docs/limits.md", fmt.Sprintf("At most %d a second.", i))
			b.put("artifact/build/k7/plan", fmt.Sprintf("Plan %d, see docs/limits.md and issue/ISSUE-1.", i))
			note()
			b.put("issue/ISSUE-1", fmt.Sprintf("### ISSUE-1\n\n- **Status**: pending\n\nTry %d.\n", i))
			note()
		}
		if err := b.Workspace.Remove(t.Context(), record.Name{Kind: record.KindNote, ID: "docs/limits.md"}); err != nil {
			t.Fatal(err)
		}
		note()
		// Another thing takes the place of the note.
		b.put("artifact/build/k7/more", "More.")
		note()
		for _, then := range history {
			bundle, err := b.Replay(t.Context(), "k7", then.position, true)
			if err != nil {
				t.Fatalf("replaying to %d: %v", then.position, err)
			}
			files := b.layOut(bundle, nil, 1000)
			delete(files, "INDEX.md")
			if diff := cmp.Diff(then.files, files); diff != "" {
				t.Errorf("position %d (-then +replayed):\n%s", then.position, diff)
			}
		}
	}
}

func (b *scene) position() (position uint64) {
	b.t.Helper()
	err := b.Store.View(b.t.Context(), func(tx *store.Tx) error {
		position = tx.Position()
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return position
}

// TestMoment makes sure that no transaction is seen in part: an issue and the file
// around it change at once.
func TestMoment(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	b.put("artifact/build/k7/plan", "Plan, see issue/ISSUE-1.")
	before := b.position()
	b.put("issue/ISSUE-1", "### ISSUE-1\n\n- **Status**: pending\n")
	end := b.position()
	if end < before+2 {
		t.Fatalf("an issue and its file took %d log entries, want 2 at least", end-before)
	}
	for position := before; position <= end+5; position++ {
		want := end
		if position == before {
			want = before
		}
		if got, err := b.Moment(t.Context(), position); err != nil || got != want {
			t.Errorf("Moment(%d) = %d, %v, want %d", position, got, err, want)
		}
	}
	if got, err := b.Moment(t.Context(), 0); err != nil || got != 0 {
		t.Errorf("Moment(0) = %d, %v", got, err)
	}
}

func TestReplayTooEarly(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	b.put("note/first.md", "First.")
	b.put("artifact/build/k7/plan", "Plan.")
	for _, position := range []uint64{0, 1} {
		_, err := b.Replay(t.Context(), "k7", position, true)
		var early *record.Error
		if !errors.As(err, &early) || !strings.HasPrefix(early.Hint, "filebus session replay") || early.Names[1] != "2" {
			t.Errorf("replaying to %d: %v, want one with 2", position, err)
		}
	}
	if err := b.Workspace.Remove(t.Context(), record.Name{Kind: record.KindArtifact, ID: "build/k7/plan"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Replay(t.Context(), "k7", b.position(), true); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("replaying to where everything is retired: %v", err)
	}
	steps, err := b.Steps(t.Context(), "k7")
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, s := range steps {
		events = append(events, fmt.Sprintf("%d %s %s", s.Position, s.Event, s.Name))
	}
	if diff := cmp.Diff([]string{"2 put artifact/build/k7/plan", "3 retire artifact/build/k7/plan"}, events); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// TestStepsOfDestroyed destroys a version between others: what put it is a step still, and
// so is the end of it.
func TestStepsOfDestroyed(t *testing.T) {
	t.Parallel()
	b := newScene(t, materialize.Settings{})
	b.put("artifact/build/k7/plan", "# Plan\n")
	b.put("artifact/build/k7/report", "# Report\n")
	name := record.Name{Kind: record.KindArtifact, ID: "build/k7/report"}
	if _, err := b.Workspace.Release(t.Context(), release.Request{Names: []record.Name{name}}); err != nil {
		t.Fatal(err)
	}
	steps, err := b.Steps(t.Context(), "k7")
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, s := range steps {
		events = append(events, fmt.Sprintf("%s %s %t", s.Event, s.Name.ID, s.Destroyed))
	}
	want := []string{"put build/k7/plan false", "put build/k7/report true", "retire build/k7/report true", "drop build/k7/report true"}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
