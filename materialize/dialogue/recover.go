package dialogue

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// LinkTranscript is the type of the link from a turn to the transcript that it was
// recovered from.
const LinkTranscript = "transcript"

// A RecoverRequest says whose turn is recovered from what.
type RecoverRequest struct {
	Round      int
	Agent      string    // in any case
	Transcript io.Reader // see Transcript
	Origin     string    // where the transcript is, as the turn will name it
	Force      bool      // also over a turn that is good
}

// A Recovered is a turn that was recovered.
type Recovered struct {
	*materialize.PutResult `json:"-"`
	// Why the turn was wanting: "missing", "empty", "a stub (reason)", "without markers", "good".
	Was string `json:"was"`
	Transcript
	Markers int `json:"markers"` // of the text
}

// Recover stores the last text of an agent, from its transcript, as its turn, and
// names the transcript in it by a link. The round must have begun, and the agent be in
// its panel or in the expert pool. It returns ErrGood for a turn that is good: one
// with markers, which is neither empty nor a stub. What was written to the turn's
// file meanwhile is a store.ErrConflict. See Transcript for what the text must be.
func (f *Forum) Recover(ctx context.Context, key Key, r RecoverRequest) (*Recovered, error) {
	name, err := f.recoverable(ctx, key, r)
	if err != nil {
		return nil, err
	}
	// What the agent wrote a moment ago counts.
	if err := f.w.TakeInNew(ctx, name.Kind, name.ID); err != nil {
		return nil, err
	}
	d, err := f.Read(ctx, key)
	if err != nil {
		return nil, err
	}
	turn, other := d.turnNamed(name)
	was, _ := turn.fault()
	for _, t := range []*Turn{other, turn} {
		if _, isGood := t.fault(); isGood && !r.Force {
			return nil, t.good()
		}
	}
	seen, err := readTranscript(ctx, r.Transcript, MaxTurn)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", r.Origin, err)
	}
	if err := seen.check(r.Origin, MaxTurn); err != nil {
		return nil, err.Because(ErrNoText, key.String(), strconv.Itoa(r.Round), r.Agent)
	}
	expect := store.Absent()
	if turn != nil {
		expect = store.Current(turn.Version.Ref)
	}
	put, err := f.w.Put(ctx, materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: strings.NewReader(seen.Text), Source: record.SourceTranscript, Expect: expect,
		Links: []record.Link{{Type: LinkTranscript, Target: fmt.Sprintf("%s:%d", r.Origin, seen.Line)}},
	})
	if err != nil {
		return nil, err
	}
	return &Recovered{put, was, *seen, len(layout.ParseMarkers([]byte(seen.Text)))}, nil
}

// recoverable returns the name of the turn that a request means.
func (f *Forum) recoverable(ctx context.Context, key Key, r RecoverRequest) (record.Name, error) {
	d, err := f.readOwn(ctx, key)
	if err != nil {
		return record.Name{}, err
	}
	agent, err := FoldName(r.Agent)
	if err != nil {
		return record.Name{}, err
	}
	round := d.Round(r.Round)
	if !round.hasBegun() {
		return record.Name{}, d.noRound(r.Round)
	}
	if round.Panel == nil || !isAmong(round.Panel.Experts, agent) {
		if _, err := d.expert(agent); err != nil {
			return record.Name{}, err
		}
	}
	return turnName(key, r.Round, agent), nil
}

// turnNamed returns the turn that has a name, and one of the same agent and round whose
// file is called otherwise, as Muffin.md is. Both are nil if they are not there.
func (d *Dialogue) turnNamed(name record.Name) (turn, other *Turn) {
	for _, r := range d.Rounds {
		for _, t := range r.Turns {
			switch id := t.Version.Record.Name.ID; {
			case id == name.ID:
				turn = t
			case strings.EqualFold(id, name.ID):
				other = t
			}
		}
	}
	return turn, other
}

// fault says why a turn, which may be nil, is wanting, or that it is good.
func (t *Turn) fault() (why string, isGood bool) {
	switch {
	case t == nil:
		return "missing", false
	case t.IsEmpty():
		return "empty", false
	case t.IsStub:
		return fmt.Sprintf("a stub (%s)", t.Stub), false
	case len(t.Markers) == 0 && t.Text != nil:
		return "without markers", false
	}
	return "good", true
}

// good returns ErrGood for a turn.
func (t *Turn) good() error {
	name, n := t.Version.Record.Name, len(t.Markers)
	what := fmt.Sprintf("with %d markers", n)
	switch n {
	case 0:
		what = "and too long to be checked"
	case 1:
		what = "with 1 marker"
	}
	return record.Conflict.Errorf("%s is there, %s", name, what).Because(ErrGood, name.String())
}
