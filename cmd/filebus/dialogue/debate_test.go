package dialogue

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// A debate is the dialogues of a workspace of its own, with a dialogue of five agents.
type debate struct {
	*Dialogues
	work *materialize.Workspace
	key  Key
}

// newDebate makes the dialogue and launches all agents in round 0. Files are as old as
// they say, by the clock of the system.
func newDebate(t testing.TB, profile layout.Profile) *debate {
	t.Helper()
	return newDebateAt(t, profile, nil)
}

// A clock goes as the real one does, and may be ahead of it.
type clock struct{ ahead atomic.Int64 }

func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// newDebateAt makes a debate by a clock, nil: the real one.
func newDebateAt(t testing.TB, profile layout.Profile, c *clock) *debate {
	t.Helper()
	c = cmp.Or(c, &clock{})
	if strings.HasPrefix(profile.Dialogues, "/") {
		profile = outside(t)
		profile.Results = "results"
	}
	dialogues, w := newDialogues(t, profile, c.now, c.now)
	h := &debate{dialogues, w, Key{ID: "x"}}
	pool := layout.Pool{Title: "X", Question: "Who retries?"}
	for _, name := range []string{"muffin", "scone", "eclair", "donut", "cannoli"} {
		pool.Experts = append(pool.Experts, layout.Expert{Name: name})
	}
	text := layout.AppendJSON(nil, pool)
	put := materialize.PutRequest{Kind: record.KindDialogue, ID: "x/" + poolFile, Text: strings.NewReader(string(text)), Source: record.SourcePut}
	if _, err := w.Put(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	h.launch(t, 0, "muffin", "scone", "eclair", "donut")
	return h
}

func (h *debate) launch(t testing.TB, round int, agents ...string) {
	t.Helper()
	if _, err := h.launched(t.Context(), h.key, round, agents...); err != nil {
		t.Fatal(err)
	}
}

// slot returns the place of a turn, which must be there.
func (h *debate) slot(t testing.TB, round int, agent string) Slot {
	t.Helper()
	s, err := h.Slot(t.Context(), h.key, round, agent)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put stores a turn by command.
func (h *debate) put(t testing.TB, round int, agent, text string) {
	t.Helper()
	_, err := h.Put(t.Context(), h.slot(t, round, agent),
		Contribution{Text: []byte(text), Origin: materialize.Origin{Source: record.SourcePut}})
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a file by hand, below the dialogue's folder, as one that was left alone
// for some time.
func (h *debate) write(t testing.TB, name, text string, age time.Duration) string {
	t.Helper()
	slot := h.slot(t, 0, "muffin")
	file := filepath.Join(filepath.Dir(filepath.Dir(slot.File)), filepath.FromSlash(name))
	at := time.Now().Add(-age)
	tmp := file + ".writing"
	err := errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(tmp, []byte(text), 0o666), os.Chtimes(tmp, at, at), os.Rename(tmp, file),
	)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// textOf returns what is stored of a turn.
func (h *debate) textOf(t testing.TB, round int, agent string) string {
	t.Helper()
	d, err := h.Read(t.Context(), h.key)
	if err != nil {
		t.Fatal(err)
	}
	r := d.Round(round)
	if r == nil || r.Turn(agent) == nil {
		t.Fatalf("nothing is stored of %s in round %d", agent, round)
	}
	return string(r.Turn(agent).Text)
}

// profiles are those that dialogues are tested with: within the workspace and
// outside of it.
func profiles() []layout.Profile {
	return []layout.Profile{layout.Claude(), profileOf("blue"), profileOf("seed")}
}
