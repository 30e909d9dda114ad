package dialogue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

const turnText = "[PERSPECTIVE P01: One]\nThe caller retries.\n"

// TestPut stores turns one after another in the same place.
func TestPut(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	stub := string(layout.StubText("no file", ""))
	long := strings.Repeat(strings.Repeat("x", 63)+"\n", MaxTurn/64+1)
	tests := []struct {
		what  string
		hand  string // stands on disk before
		text  string
		force bool
		want  string // "": it is refused
	}{
		{"first", "", turnText, false, turnText},
		{"same", turnText, turnText, false, turnText},
		{"same bytes but for one", turnText, turnText + " ", false, ""},
		{"other", "by hand\n", turnText, false, ""},
		{"other by force", "by hand\n", turnText, true, turnText},
		{"over a stub", stub, turnText, false, turnText},
		{"over blanks", " \n\n", turnText, false, turnText},
		{"over a byte order mark", "\ufeff \r\n", turnText, false, turnText},
		{"over a stub with a byte order mark", "\ufeff" + stub, turnText, false, turnText},
		{"nothing but a byte order mark", "", "\ufeff\n", false, ""},
		{"stub over a stub", stub, string(layout.StubText("another reason", "")), false, "[ERROR: another reason]\n"},
		{"stub over a turn", turnText, stub, false, ""},
		{"empty", "", " \n\t\n", false, ""},
		{"bytes", "", "\x00\xff", false, "\x00\xff"},
		// The long ones come last, since each round reads those before it.
		{"too long", "", long[:MaxTurn+1], false, ""},
		{"as long as it may be", "", long[:MaxTurn], false, long[:MaxTurn]},
		{"over a long one by force", long[:MaxTurn+1], turnText, true, turnText},
		{"over a long one", long[:MaxTurn+1], turnText, false, ""},
	}
	for _, profile := range profiles() {
		h := newDebate(t, profile)
		for i, test := range tests {
			round := i
			h.launch(t, round, "muffin")
			slot := h.slot(t, round, "Muffin")
			if test.hand != "" {
				h.write(t, fmt.Sprintf("round-%d/muffin.md", round), test.hand, time.Minute)
			}
			c := Contribution{Text: []byte(test.text), Force: test.force, Origin: materialize.Origin{Source: record.SourcePut}}
			put, err := h.Put(t.Context(), slot, c)
			if test.want == "" {
				if !errors.Is(err, ErrOccupied) && !refuses(err, "is empty") && !refuses(err, "bytes") {
					t.Errorf("%s, %s: %v, want it refused", profile.Name, test.what, err)
				}
				h.write(t, fmt.Sprintf("round-%d/muffin.md", round), "so that the next round can begin\n", time.Minute)
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", profile.Name, test.what, err)
				continue
			}
			text, err := os.ReadFile(put.File)
			if err != nil || string(text) != test.want || put.File != slot.File || put.Record.Agent != "muffin" {
				t.Errorf("%s, %s: the file %s has %d bytes, %v; want %d", profile.Name, test.what, put.File, len(text), err, len(test.want))
			}
		}
	}
}

// TestSlots says whose turn may be put, and whose not.
func TestSlots(t *testing.T) {
	t.Parallel()
	h := newDebate(t, layout.Claude())
	h.put(t, 0, "muffin", turnText)
	h.launch(t, 1, "muffin", "scone")
	tests := []struct {
		key   Key
		round int
		agent string
		want  string // "": none
	}{
		{h.key, 0, "muffin", ""},
		{h.key, 1, " Scone ", ""},
		{h.key, 1, "eclair", "filebus dialogue prompt {1} {2} {3}"}, // not launched in this round
		{h.key, 0, "cannoli", "filebus dialogue prompt {1} {2} {3}"},
		{h.key, 0, "croissant", "run it again for one of them"},
		{h.key, 2, "muffin", tryPrompt},
		{h.key, -1, "muffin", tryRounds},
		{h.key, 0, "../muffin", "is no name of an agent"},
		{h.key, 0, "", "is no name of an agent"},
		{Key{Tree: "lib", ID: "x"}, 0, "muffin", "is in a captured tree"},
	}
	for _, test := range tests {
		s, err := h.Slot(t.Context(), test.key, test.round, test.agent)
		switch {
		case test.want == "" && (err != nil || s.Agent != strings.ToLower(strings.TrimSpace(test.agent))):
			t.Errorf("round %d, %q: %+v, %v", test.round, test.agent, s, err)
		case test.want != "" && !refuses(err, test.want):
			t.Errorf("round %d, %q: %v, want %v", test.round, test.agent, err, test.want)
		}
	}
	if _, err := h.Slot(t.Context(), h.key, 0, "cannoli"); !failsWith(err, "filebus dialogue prompt {1} {2} {3}", h.key.ID, "0",
		"cannoli") {
		t.Errorf("cannoli is in the pool: %+v", err)
	}
	if _, err := h.Slot(t.Context(), h.key, 0, "mufin"); !failsWith(err, "run it again for one of them") ||
		!strings.HasSuffix(err.Error(), "by muffin, scone, eclair, donut") {
		t.Errorf("names near mufin: %+v", err)
	}
}

// TestSkippedRound refuses a turn of a round that was left out.
func TestSkippedRound(t *testing.T) {
	t.Parallel()
	h := newDebate(t, layout.Claude())
	h.put(t, 0, "muffin", turnText)
	h.write(t, "round-2/muffin.md", turnText, time.Minute)
	if _, err := h.work.Sync(t.Context(), h.work.Root, materialize.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := h.Slot(t.Context(), h.key, 1, "muffin")
	if !failsWith(err, tryRounds) || !strings.Contains(err.Error(), "skipped") {
		t.Errorf("round 1 between 0 and 2: %v", err)
	}
}

// TestPutThroughLink refuses links that somebody has put in the way, also below an
// outside root, where a folder that leads to another is one too.
func TestPutThroughLink(t *testing.T) {
	t.Parallel()
	for _, profile := range profiles() {
		h := newDebate(t, profile)
		slot := h.slot(t, 0, "muffin")
		elsewhere := filepath.Join(t.TempDir(), "secret.md")
		if err := os.WriteFile(elsewhere, []byte("secret\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Dir(slot.File)
		for _, test := range []struct{ link, to string }{{slot.File, elsewhere}, {folder, filepath.Dir(elsewhere)}} {
			if err := errors.Join(os.RemoveAll(test.link), os.Symlink(test.to, test.link)); err != nil {
				t.Skipf("links: %v", err)
			}
			var link *record.Error
			_, err := h.Put(t.Context(), slot, Contribution{Text: []byte(turnText)})
			if !errors.As(err, &link) || link.Reason != mirror.ErrLink || link.Names[0] != test.link {
				t.Errorf("%s: putting over the link %s: %v", profile.Name, test.link, err)
			}
			_, err = h.Wait(t.Context(), h.key, WaitRequest{Waiter: mirror.Waiter{Limit: time.Millisecond}})
			if !errors.As(err, &link) || link.Reason != mirror.ErrLink || link.Names[0] != test.link {
				t.Errorf("%s: waiting for the link %s: %v", profile.Name, test.link, err)
			}
			if err := os.Remove(test.link); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "secret\n" {
			t.Errorf("%s: what a link leads to is now %q, %v", profile.Name, text, err)
		}
	}
}

// TestPutAtOnce has many put a text of their own as the same turn: one wins.
func TestPutAtOnce(t *testing.T) {
	t.Parallel()
	h := newDebate(t, layout.Claude())
	slot := h.slot(t, 0, "muffin")
	var wg sync.WaitGroup
	var mu sync.Mutex
	var won []string
	for i := range 10 {
		wg.Go(func() {
			text := fmt.Sprintf("turn %d\n", i)
			_, err := h.Put(t.Context(), slot,
				Contribution{Text: []byte(text), Origin: materialize.Origin{Source: record.SourcePut}})
			switch {
			case err == nil:
				mu.Lock()
				defer mu.Unlock()
				won = append(won, text)
			case !errors.Is(err, ErrOccupied):
				t.Errorf("turn %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 || h.textOf(t, 0, "muffin") != won[0] {
		t.Errorf("%q have won; stored is %q", won, h.textOf(t, 0, "muffin"))
	}
}

// TestPutStub writes a stub only where there is no text.
func TestPutStub(t *testing.T) {
	t.Parallel()
	for hand, want := range map[string]string{
		"":                      "[ERROR: it died]\n\nOf hunger.\n",
		" \n":                   "[ERROR: it died]\n\nOf hunger.\n",
		turnText:                turnText,
		"[ERROR: by itself]\n":  "[ERROR: by itself]\n",
		"half a sentence, with": "half a sentence, with",
	} {
		h := newDebate(t, layout.Claude())
		if hand != "" {
			h.write(t, "round-0/muffin.md", hand, 0)
		}
		put, err := h.putStub(t.Context(), h.slot(t, 0, "muffin"), layout.StubText("it died", "Of hunger."))
		if err != nil || put.Unchanged != (hand == want) {
			t.Errorf("over %q: %+v, %v", hand, put, err)
		}
		if got := h.textOf(t, 0, "muffin"); got != want {
			t.Errorf("over %q: got %q, want %q", hand, got, want)
		}
	}
}

// TestUpperCase reads a dialogue in which an agent's file stands in two writings.
func TestUpperCase(t *testing.T) {
	t.Parallel()
	h := newDebate(t, layout.Claude())
	h.write(t, "round-0/Scone.md", "of Scone\n", time.Minute)
	upper := h.write(t, "round-0/Muffin.md", "of Muffin\n", time.Minute)
	if _, err := os.Stat(h.slot(t, 0, "muffin").File); err == nil {
		t.Skip("the disk takes both writings for one")
	}
	h.put(t, 0, "muffin", "of muffin\n")
	if _, err := h.work.Sync(t.Context(), h.work.Root, materialize.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	d, err := h.Read(t.Context(), h.key)
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]string{"muffin": "of muffin\n", "scone": "of Scone\n"} {
		if got := d.Round(0).Turn(agent); got == nil || string(got.Text) != want {
			t.Errorf("the turn of %s beside %s: %+v, want %q", agent, upper, got, want)
		}
	}
}
