package dialogue

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

const goodTurn = "[PERSPECTIVE P01: One]\nIts body.\n"

// recover recovers the turn of muffin in round 0.
func (h *parlour) recover(t testing.TB, key Key, transcript io.Reader, force bool) (*Recovered, error) {
	t.Helper()
	return h.Recover(t.Context(), key, RecoverRequest{
		Agent: "Muffin", Transcript: transcript, Origin: "/tmp/agent.jsonl", Force: force,
	})
}

func TestRecover(t *testing.T) {
	t.Parallel()
	text := says(t, "1", "[TENSION T01: Two]", "no line end")
	for _, test := range []struct {
		was, stored string
		isGood      bool
	}{
		{"missing", "", false},
		{"empty", " \n", false},
		{"a stub (died)", "[ERROR: died]\n", false},
		{"without markers", "Some text.\n", false},
		{"good", goodTurn, true},
		{"good", strings.Repeat("x", MaxTurn+1), true},
	} {
		h := newParlour(t, layout.Claude())
		key := h.make(t, "Retry", "muffin").Key
		if _, err := h.launched(t.Context(), key, 0, "muffin"); err != nil {
			t.Fatal(err)
		}
		if test.stored != "" {
			h.put(t, "turn/retry/round-0/muffin", test.stored)
		}
		out, err := h.recover(t, key, strings.NewReader(text), false)
		if test.isGood {
			if !failsWith(err, "filebus get {1}, or run it again with --force", "turn/retry/round-0/muffin") {
				t.Errorf("over %.40q = %v, want it refused", test.stored, err)
			}
			out, err = h.recover(t, key, strings.NewReader(text), true)
		}
		if err != nil {
			t.Errorf("over %.40q: %v", test.stored, err)
			continue
		}
		want := "[TENSION T01: Two]\n\nno line end"
		if got := textOf(t, out.File); got != want || out.Was != test.was || out.Markers != 1 || out.Line != 1 {
			t.Errorf("over %.40q: the file has %q, was %q, %d markers; want %q, was %q", test.stored, got, out.Was, out.Markers, want, test.was)
		}
		turn := h.read(t, key).Round(0).Turn("muffin")
		r := turn.Version.Record
		links := []record.Link{{Type: "transcript", Target: "/tmp/agent.jsonl:1"}}
		if diff := cmp.Diff(links, r.Links); diff != "" || r.Source != record.SourceTranscript || string(turn.Text) != want {
			t.Errorf("over %.40q: the turn is from %s (-want +got):\n%s", test.stored, r.Source, diff)
		}
	}
}

func TestRecoverRefused(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	key := h.make(t, "Retry", "muffin").Key
	_, err := h.recover(t, key, strings.NewReader(says(t, "", "[TENSION T01: A]")), false)
	if !refuses(err, tryPrompt) {
		t.Errorf("before the launch = %v", err)
	}
	if _, err := h.launched(t.Context(), key, 0, "muffin"); err != nil {
		t.Fatal(err)
	}
	for why, text := range map[string]string{
		"/tmp/agent.jsonl is empty": "",
		"has no text of the agent: of 2 lines 0 are messages of agents, 0 are errors in their names, 1 are not JSON": asked + "no",
		"of 1 lines 1 are messages of agents":                              says(t, "", " "),
		"of 1 lines 0 are messages of agents, 1 are errors in their names": `{"type":"assistant","isApiErrorMessage":true,"message":{"content":"no"}}`,
	} {
		_, err := h.recover(t, key, strings.NewReader(text), false)
		if !errors.Is(err, store.ErrNotFound) || !failsWith(err, "filebus dialogue put {1} {2} {3} --stub REASON", "retry", "0", "Muffin") ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("Recover(%q) = %v, want %q", text, err, why)
		}
	}
	_, err = h.recover(t, key, strings.NewReader(says(t, "", strings.Repeat("x", MaxTurn+1))), false)
	if !failsWith(err, "filebus dialogue put {1} {2} {3} --stub REASON", "retry", "0", "Muffin") || !strings.Contains(err.Error(), "has more than") {
		t.Errorf("a text that is too long = %v", err)
	}
	for _, test := range []struct {
		request RecoverRequest
		want    string
	}{
		{RecoverRequest{Agent: "scone"}, "scone owes no file in round 0"},
		{RecoverRequest{Agent: ".."}, "is no name of an agent"},
		{RecoverRequest{Agent: "muffin", Round: 1}, tryPrompt},
		{RecoverRequest{Agent: "muffin", Round: 2}, tryPrompt},
		{RecoverRequest{Agent: "muffin", Round: -1}, tryRounds},
	} {
		if _, err := h.Recover(t.Context(), key, test.request); !refuses(err, test.want) {
			t.Errorf("Recover(%+v) = %v, want %v", test.request, err, test.want)
		}
	}
	if _, err = h.Recover(t.Context(), Key{Tree: "lib", ID: "retry"},
		RecoverRequest{Agent: "muffin"}); !errors.Is(err, ErrCaptured) {
		t.Errorf("a captured dialogue = %v", err)
	}
	if r := h.read(t, key).Round(0); len(r.Turns) > 0 {
		t.Errorf("what was refused has left a turn: %s", r.Turns[0].Text)
	}
	// An agent has written Muffin.md, which is no file of muffin.
	h.put(t, "turn/retry/round-0/Muffin", goodTurn)
	_, err = h.recover(t, key, strings.NewReader(says(t, "", "[TENSION T01: A]")), false)
	if !failsWith(err, "filebus get {1}, or run it again with --force", "turn/retry/round-0/Muffin") {
		t.Errorf("beside Muffin.md = %v, want one that names it", err)
	}
}

// TestRecoverLink has somebody put a link where the turn would be.
func TestRecoverLink(t *testing.T) {
	t.Parallel()
	h, root := outsideParlour(t)
	key := h.make(t, "Retry", "muffin").Key
	if _, err := h.launched(t.Context(), key, 0, "muffin"); err != nil {
		t.Fatal(err)
	}
	file, elsewhere := filepath.Join(root, "retry", "round-0", "muffin.md"), filepath.Join(t.TempDir(), "a.md")
	link(t, elsewhere, file)
	_, err := h.recover(t, key, strings.NewReader(says(t, "", "[TENSION T01: A]")), true)
	if e := (*record.Error)(nil); !errors.As(err, &e) || e.Reason != mirror.ErrLink || e.Names[0] != file {
		t.Errorf("Recover = %v, want ErrLink for %s", err, file)
	}
	if _, err := os.Lstat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file behind the link: %v", err)
	}
}

// A writer stores a turn when it is first read from.
type writer struct {
	io.Reader
	write func()
}

func (w *writer) Read(p []byte) (int, error) {
	if w.write != nil {
		w.write()
		w.write = nil
	}
	return w.Reader.Read(p)
}

// TestRecoverMeanwhile has the agent write its turn while its transcript is read: the
// turn stays.
func TestRecoverMeanwhile(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	key := h.make(t, "Retry", "muffin").Key
	if _, err := h.launched(t.Context(), key, 0, "muffin"); err != nil {
		t.Fatal(err)
	}
	_, err := h.recover(t, key, &writer{strings.NewReader(says(t, "", "[TENSION T01: A]")), func() { h.put(t, "turn/retry/round-0/muffin", goodTurn) }}, true)
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("Recover = %v, want a conflict", err)
	}
	if got := string(h.read(t, key).Round(0).Turn("muffin").Text); got != goodTurn {
		t.Errorf("the turn is %q, want %q", got, goodTurn)
	}
}
