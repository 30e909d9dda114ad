package dialogue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
)

// old is the age of a file that is still.
const old = time.Minute

// lines shows standings, a line each.
func lines(all []Standing) []string {
	var out []string
	for _, s := range all {
		line := fmt.Sprintf("%s %s %d", s.Agent, s.State, s.Words)
		if s.Reason != "" {
			line += " " + s.Reason
		}
		if s.Late {
			line += " late"
		}
		out = append(out, line)
	}
	return out
}

// TestWait waits for turns that come one after the other, by command and by hand.
func TestWait(t *testing.T) {
	t.Parallel()
	for _, profile := range profiles() {
		t.Run(profile.Name, func(t *testing.T) {
			h := newDebate(t, profile)
			go func() {
				h.put(t, 0, "muffin", "one two three\n")
				h.write(t, "round-0/scone.md", "one two\n", old)
				h.write(t, "round-0/eclair.md", "[ERROR: I have no opinion]\n", old)
				h.put(t, 0, "donut", "one\n")
			}()
			got, err := h.Wait(t.Context(), h.key, WaitRequest{Waiter: mirror.Waiter{Limit: 2 * time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"muffin turn 3", "scone turn 2", "eclair stub 0 I have no opinion", "donut turn 1"}
			if diff := cmp.Diff(want, lines(got)); diff != "" {
				t.Errorf("standings (-want +got):\n%s", diff)
			}
			if text := h.textOf(t, 0, "scone"); text != "one two\n" {
				t.Errorf("stored of scone: %q", text)
			}
		})
	}
}

// TestWaitForWorktree has a turn put in another worktree while a wait goes on: the wait
// ends by it, and its own worktree has the file.
func TestWaitForWorktree(t *testing.T) {
	t.Parallel()
	h := newDebate(t, layout.Claude())
	at := materialize.Location{Store: h.work.Store.Dir(), Main: h.work.Root, Root: t.TempDir()}
	linked, err := materialize.Open(at, materialize.Settings{Home: h.work.Root, Profile: layout.Claude()}, store.Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	agent := &debate{Open(linked, query.New(linked.Store, query.Options{}), time.Now), linked, h.key}
	h.write(t, "round-0/muffin.txt", "what looks like the turn shows that the wait has looked\n", old)
	looked := make(chan struct{})
	go func() {
		<-looked
		agent.put(t, 0, "muffin", "one two\n")
	}()
	got, err := h.Wait(t.Context(), h.key, WaitRequest{
		Agents: []string{"muffin"}, Waiter: mirror.Waiter{Limit: time.Minute}, NoStubs: true, Alike: func(Slot,
			string) {
			close(looked)
		},
	})
	if diff := cmp.Diff([]string{"muffin turn 2"}, lines(got)); diff != "" || err != nil {
		t.Errorf("%v; standings (-want +got):\n%s", err, diff)
	}
	if text, err := os.ReadFile(h.slot(t, 0, "muffin").File); err != nil || string(text) != "one two\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

// TestWaitEnds lets the time of a wait pass.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	for _, profile := range profiles() {
		h := newDebate(t, profile)
		h.put(t, 0, "muffin", "one\n")
		empty := h.write(t, "round-0/scone.md", "", old)
		h.write(t, "round-0/eclair.md", " \n", old)
		r := WaitRequest{Waiter: mirror.Waiter{Limit: time.Millisecond}, NoStubs: true}
		got, err := h.Wait(t.Context(), h.key, r)
		want := []string{"muffin turn 1", "scone empty 0", "eclair empty 0", "donut missing 0"}
		if diff := cmp.Diff(want, lines(got)); diff != "" || !errors.Is(err, mirror.ErrLate) || !failsWith(err, "", "scone", "eclair",
			"donut") {
			t.Errorf("without stubs: %v (-want +got):\n%s", err, diff)
		}
		if text, err := os.ReadFile(empty); err != nil || len(text) > 0 {
			t.Errorf("without stubs, the empty file is now %q, %v", text, err)
		}
		r.NoStubs = false
		got, err = h.Wait(t.Context(), h.key, r)
		want = []string{"muffin turn 1", "scone stub 0 an empty file after 1ms", "eclair stub 0 an empty file after 1ms", "donut stub 0 no file within 1ms"}
		if diff := cmp.Diff(want, lines(got)); diff != "" || err != nil {
			t.Errorf("with stubs: %v (-want +got):\n%s", err, diff)
		}
		// What comes after a stub is a late turn.
		h.write(t, "round-0/donut.md", "too late\n", old)
		h.put(t, 0, "scone", "too late\n")
		got, err = h.Wait(t.Context(), h.key, r)
		want = []string{"muffin turn 1", "scone turn 2 late", "eclair stub 0 an empty file after 1ms", "donut turn 2 late"}
		if diff := cmp.Diff(want, lines(got)); diff != "" || err != nil {
			t.Errorf("after late turns: %v (-want +got):\n%s", err, diff)
		}
	}
}

// TestWaitForWriter has an agent write its turn in pieces, and go on when the time is
// up: what is half written is neither read nor replaced.
func TestWaitForWriter(t *testing.T) {
	t.Parallel()
	var c clock
	h := newDebateAt(t, layout.Claude(), &c)
	slot := h.slot(t, 0, "muffin")
	begun, enough, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	written := 0
	go func() {
		defer close(done)
		for {
			f, err := os.OpenFile(slot.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
			if err == nil {
				_, err = fmt.Fprintf(f, "piece %d\n", written)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Errorf("writing by hand: %v", err)
				return
			}
			if written++; written == 1 {
				close(begun)
			}
			select {
			case <-enough:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	<-begun
	r := WaitRequest{Agents: []string{"muffin"}, Waiter: mirror.Waiter{Limit: time.Millisecond}}
	got, err := h.Wait(t.Context(), h.key, r)
	close(enough)
	if diff := cmp.Diff([]string{"muffin writing 0"}, lines(got)); diff != "" || !errors.Is(err, mirror.ErrLate) {
		t.Errorf("while it is written: %v (-want +got):\n%s", err, diff)
	}
	if d, err := h.Read(t.Context(), h.key); err != nil || d.Round(0).Turn("muffin") != nil {
		t.Errorf("half a turn is stored: %+v, %v", d.Round(0).Turn("muffin"), err)
	}
	<-done
	c.pass(materialize.StillFor)
	r.Limit = time.Minute
	got, err = h.Wait(t.Context(), h.key, r)
	if diff := cmp.Diff([]string{fmt.Sprintf("muffin turn %d", 2*written)}, lines(got)); diff != "" || err != nil {
		t.Errorf("when it is written: %v (-want +got):\n%s", err, diff)
	}
}

// TestWaitAgents waits for some, and refuses whom nobody has launched.
func TestWaitAgents(t *testing.T) {
	t.Parallel()
	h := newDebate(t, layout.Claude())
	h.put(t, 0, "scone", "one\n")
	r := WaitRequest{Agents: []string{"Scone", "scone"}, Waiter: mirror.Waiter{Limit: time.Minute}}
	got, err := h.Wait(t.Context(), h.key, r)
	if diff := cmp.Diff([]string{"scone turn 1"}, lines(got)); diff != "" || err != nil {
		t.Errorf("only scone: %v (-want +got):\n%s", err, diff)
	}
	r.Agents = []string{"cannoli"}
	if _, err := h.Wait(t.Context(), h.key, r); !refuses(err, "filebus dialogue prompt {1} {2} {3}") {
		t.Errorf("for cannoli: %v, want it refused", err)
	}
	if _, err := h.Wait(t.Context(), h.key, WaitRequest{Round: 3, Waiter: mirror.Waiter{Limit: time.Minute}}); !refuses(err, tryPrompt) {
		t.Errorf("in round 3: %v, want it refused", err)
	}
}

// TestWaitNobody waits in a dialogue without a pool, of which only files are known.
func TestWaitNobody(t *testing.T) {
	t.Parallel()
	h := newDebate(t, layout.Claude())
	key := Key{ID: "y"}
	h.write(t, "../y/round-0/muffin.md", "[MOVE:CONVERGE]\n", old)
	if _, err := h.work.Sync(t.Context(), h.work.Root, materialize.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := h.Wait(t.Context(), key, WaitRequest{Waiter: mirror.Waiter{Limit: time.Minute}})
	if diff := cmp.Diff([]string{"muffin turn 1"}, lines(got)); diff != "" || err != nil {
		t.Errorf("those who wrote: %v (-want +got):\n%s", err, diff)
	}
	if _, err := h.Wait(t.Context(), key, WaitRequest{Round: 1, Waiter: mirror.Waiter{Limit: time.Minute}}); !refuses(err, "run it again with --agents NAME,NAME") {
		t.Errorf("in the next round: %v, want it refused", err)
	}
	h.write(t, "../y/round-1/scone.md", "one\n", old)
	got, err = h.Wait(t.Context(), key, WaitRequest{Round: 1, Agents: []string{"scone"}, Waiter: mirror.Waiter{Limit: time.Minute}})
	if diff := cmp.Diff([]string{"scone turn 1"}, lines(got)); diff != "" || err != nil {
		t.Errorf("named: %v (-want +got):\n%s", err, diff)
	}
}

// TestWaitRestores writes a turn again that the store has and somebody has deleted.
func TestWaitRestores(t *testing.T) {
	t.Parallel()
	h := newDebate(t, layout.Claude())
	h.put(t, 0, "muffin", turnText)
	slot := h.slot(t, 0, "muffin")
	if err := os.Remove(slot.File); err != nil {
		t.Fatal(err)
	}
	got, err := h.Wait(t.Context(), h.key, WaitRequest{Agents: []string{"muffin"}, Waiter: mirror.Waiter{Limit: time.Minute}})
	if err != nil || len(got) != 1 || got[0].State != stateTurn {
		t.Errorf("for a deleted turn: %+v, %v", got, err)
	}
	if text, err := os.ReadFile(slot.File); err != nil || string(text) != turnText {
		t.Errorf("the file: %q, %v", text, err)
	}
}

func TestWaitCanceled(t *testing.T) {
	t.Parallel()
	h := newDebate(t, layout.Claude())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Wait(ctx, h.key, WaitRequest{Waiter: mirror.Waiter{Limit: time.Minute}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("waiting: %v, want canceled", err)
	}
	if _, err := os.Stat(h.slot(t, 0, "muffin").File); err == nil {
		t.Error("there is a stub after the wait was canceled")
	}
}

// TestAlike says which files are taken for a turn that is missing.
func TestAlike(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file  string
		alike bool
	}{
		{"round-0/MUFFIN.MD", true},
		{"round-0/muffin.markdown", true},
		{"round-0/muffin.md.txt", true},
		{"round-0/muffin", true},
		{"round-0/muffin-1.md", true},
		{"round-0/muffin_v2.md", true},
		{"round-0/muffin2.md", true},
		{"round-0/round-0-muffin.md", true},
		{"round-0/mufin.md", true},
		{"round-0/mufifn.md", true},
		{"round-0/muffins.md", true},
		{"muffin.md", true},
		{"round0/muffin.md", false},
		{"Round-0/Muffin.md", false},
		{"round-1/muffin.md", true},
		{"round-0/deep/muffin.md", false},
		{"round1/muffin.md", false},
		{"round-0/cannoli.md", false},
		{"round-0/puffin-report.md", false},
		{"round-0/stuffing.md", false},
		{"round-0/muffin.prompt.md", false},
		{"round-0/.muffin.md.swp", false},
		{"round-0.summary.md", false},
	}
	for _, test := range tests {
		h := newDebate(t, layout.Claude())
		file := h.write(t, test.file, turnText, old)
		if _, err := os.Stat(h.slot(t, 0, "muffin").File); err == nil {
			continue // the disk takes both for one
		}
		var found []string
		got, err := h.Wait(t.Context(), h.key, WaitRequest{
			Agents: []string{"muffin"}, Waiter: mirror.Waiter{Limit: time.Millisecond},
			Alike: func(s Slot, file string) { found = append(found, s.Agent, file) },
		})
		var want []string
		if test.alike {
			want = []string{"muffin", file}
		}
		if diff := cmp.Diff(want, found); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", test.file, err, diff)
		}
		if stub := h.textOf(t, 0, "muffin"); len(got) != 1 || got[0].State != stateStub || strings.Contains(stub, test.file) != test.alike {
			t.Errorf("%s: %+v, and the stub is %q", test.file, got, stub)
		}
	}
}

// TestFutureFile waits for a file whose time is not to be trusted: it counts as still
// when it was seen the same for 2 s.
func TestFutureFile(t *testing.T) {
	t.Parallel()
	var c clock
	h := newDebateAt(t, layout.Claude(), &c)
	h.write(t, "round-0/muffin.md", turnText, -time.Hour)
	h.write(t, "round-0/muffin.txt", "what looks like the turn shows that the wait has looked\n", old)
	isSeen := false
	got, err := h.Wait(t.Context(), h.key, WaitRequest{
		Agents: []string{"muffin"}, Waiter: mirror.Waiter{Limit: time.Minute}, Alike: func(Slot,
			string) {
			isSeen = true
			c.pass(materialize.StillFor)
			h.write(t, "round-0/scone.md", "wakes the wait\n", old)
		},
	})
	if err != nil || len(got) != 1 || got[0].State != stateTurn || !isSeen {
		t.Errorf("looked at before: %t; %+v, %v", isSeen, got, err)
	}
}
