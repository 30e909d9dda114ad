package dialogue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Slot is the place of an agent's turn in a round of an own dialogue.
type Slot struct {
	Key   Key
	Round int
	Agent string // as its file is called
	File  string // absolute
	stem  string // of the file; "" for Agent
}

// name returns the name of the turn.
func (s Slot) name() record.Name { return turnName(s.Key, s.Round, cmp.Or(s.stem, s.Agent)) }

// Slot returns the place of an agent's turn, for an agent that owes a file in the
// round of a dialogue of the workspace.
func (f *Dialogues) Slot(ctx context.Context, key Key, round int, agent string) (Slot, error) {
	_, slots, err := f.slots(ctx, key, round, []string{agent})
	if err != nil {
		return Slot{}, err
	}
	return slots[0], nil
}

// slots returns the places of agents in a dialogue, if they are among those who owe a file;
// if none is named, of all of these.
func (f *Dialogues) slots(ctx context.Context, key Key, round int, agents []string) (d *Dialogue, slots []Slot, err error) {
	if d, err = f.readOwn(ctx, key); err != nil {
		return nil, nil, err
	}
	owing, err := d.owing(round)
	if err != nil {
		return nil, nil, err
	}
	if len(agents) == 0 {
		agents = names(owing)
	}
	if r := d.Round(round); len(agents) == 0 && r != nil { // nothing says who owes a file
		agents = names(writers(r.Turns))
	}
	for _, text := range agents {
		s := Slot{Key: d.Key, Round: round}
		if s.Agent, err = FoldName(text); err != nil {
			return nil, nil, err
		}
		if t := cmp.Or(d.Round(round), &Round{}).Turn(s.Agent); t != nil && !strings.EqualFold(t.fileName(), s.Agent+".md") {
			s.stem = strings.TrimSuffix(t.fileName(), ".md")
		}
		if err = d.checkOwing(round, s.Agent, owing); err == nil {
			s.File, err = f.w.PathOf(s.name())
		}
		if err != nil {
			return nil, nil, err
		}
		if !slices.Contains(slots, s) {
			slots = append(slots, s)
		}
	}
	return d, slots, nil
}

// owing returns the agents that owe a file in a round that has begun; nil if nothing
// says who does. In a dialogue without panels a round begins with its first file.
func (d *Dialogue) owing(number int) ([]layout.Expert, error) {
	r := d.Round(number)
	if r.hasBegun() && r.Panel != nil {
		return r.Panel.Experts, nil
	}
	if err := d.unknown(r); err != nil {
		return nil, err
	}
	begins := number == 0 || number > 0 && d.Round(number-1).hasBegun()
	for _, other := range d.Rounds {
		begins = begins && other.Panel == nil
	}
	if !r.hasBegun() && (!begins || number < d.lastBegun()) {
		return nil, d.noRound(number)
	}
	return d.pooled(number), nil
}

// checkOwing returns an error for an agent that is not among those who
// owe a file. Where none is known, anybody may write one.
func (d *Dialogue) checkOwing(round int, agent string, owing []layout.Expert) error {
	if len(owing) == 0 && d.Round(round).panel() == nil || isAmong(owing, agent) {
		return nil
	}
	near := listed("; one is owed by ", nearNames(named(owing)))
	err := record.NotFound.Errorf("%s owes no file in round %d of %s%s", agent, round, d.Key, near)
	if !isAmong(d.Pool.Experts, agent) {
		return err.Try("run it again for one of them")
	}
	return err.Try("filebus dialogue prompt {1} {2} {3}", d.Key.String(), strconv.Itoa(round), agent)
}

// panel returns the panel of a round, which may be nil.
func (r *Round) panel() *layout.Panel {
	if r == nil {
		return nil
	}
	return r.Panel
}

// A Contribution is the text of a turn, and where it comes from.
type Contribution struct {
	Text   []byte             // at most MaxTurn bytes; one that layout.ParseStub knows is a stub
	Force  bool               // also in place of another turn
	Origin materialize.Origin // without a source: put
}

// Put stores the text of a turn and writes its file, which is complete at once. A
// stub and an empty file are replaced; the same text changes nothing; another turn
// is ErrOccupied unless c.Force is set. An empty text and one longer than MaxTurn are
// refused, a symbolic link in the place of the file is mirror.ErrLink.
func (f *Dialogues) Put(ctx context.Context, s Slot, c Contribution) (*materialize.PutResult, error) {
	switch {
	case len(c.Text) > MaxTurn:
		return nil, refuse("filebus put FILE, then put a turn that refers to it",
			"the turn of %s in round %d has more than %d bytes", s.Agent, s.Round, MaxTurn)
	case isBlank(c.Text):
		err := record.Wanting.Errorf("the turn of %s in round %d is empty", s.Agent, s.Round)
		return nil, err.Try("filebus dialogue put {1} {2} {3} --stub 'WHY THERE IS NONE'",
			s.Key.String(), strconv.Itoa(s.Round), s.Agent)
	}
	c.Origin.Source = cmp.Or(c.Origin.Source, record.SourcePut)
	put, err := f.edit(ctx, s, c.Origin, func(old []byte, _ *store.Version) ([]byte, error) {
		if s.isVacant(old) || c.Force || bytes.Equal(old, c.Text) {
			return c.Text, nil
		}
		return nil, ErrOccupied
	})
	// One that is too long to be edited; and one that a file had brought: now somebody says whose it is.
	if c.Force && errors.Is(err, ErrOccupied) || err == nil && put.Unchanged && !isCommand(put.Record.Source) {
		name := s.name()
		return f.w.Put(ctx, materialize.PutRequest{
			Kind: name.Kind, ID: name.ID, Text: bytes.NewReader(c.Text), Facts: c.Origin.Facts, From: c.Origin.From, Source: c.Origin.Source,
			Links: []record.Link{{Type: "given", Target: s.Key.String() + "/" + roundFolder(s.Round)}},
		})
	}
	return put, err
}

// Current returns what stands as the turn of an agent in the store, however long.
func (f *Dialogues) Current(ctx context.Context, s Slot) (*materialize.PutResult, error) {
	h, err := f.read.Head(ctx, s.name())
	if err != nil {
		return nil, fmt.Errorf("the turn of %s in round %d: %w", s.Agent, s.Round, err)
	}
	return &materialize.PutResult{
		Name: s.name(), Ref: h.Version.Ref, File: s.File, Unchanged: true, Record: h.Version.Record,
		Description: h.Description,
	}, nil
}

// edit changes the file of a turn. One that is too long to be edited is ErrOccupied.
func (f *Dialogues) edit(
	ctx context.Context, s Slot, origin materialize.Origin, edit materialize.TextEdit,
) (*materialize.PutResult, error) {
	if err := f.clear(ctx, s); err != nil {
		return nil, err
	}
	name := s.name()
	put, err := f.w.EditTextAs(ctx, name.Kind, name.ID, origin, edit)
	if errors.Is(err, materialize.ErrTooLarge) || errors.Is(err, ErrOccupied) {
		head, headErr := f.read.Head(ctx, s.name())
		return nil, errors.Join(s.occupied(head.Version.Ref), headErr)
	}
	return put, err
}

// clear makes the folder of a turn, and returns mirror.ErrLink if the way
// to its file leads over a symbolic link.
func (f *Dialogues) clear(ctx context.Context, s Slot) error {
	if _, err := f.w.MakeFolder(ctx, s.name()); err != nil {
		return err
	}
	info, err := os.Lstat(s.File)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return mirror.LinkInTheWay(s.File)
	}
	return nil // what is missing is made; of the rest the mirror tells
}

// CheckFree returns ErrOccupied if the turn of an agent has a text that is no
// stub, on disk or in the store.
func (f *Dialogues) CheckFree(ctx context.Context, s Slot) error {
	name := s.name()
	if err := f.clear(ctx, s); err != nil {
		return err
	}
	if _, err := f.w.ImportStill(ctx, name.Kind, name.ID); err != nil {
		return err
	}
	head, err := f.read.Head(ctx, s.name())
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := f.text(ctx, head.Version)
	if err != nil || text != nil && s.isVacant(text) {
		return err
	}
	return s.occupied(head.Version.Ref)
}

// isVacant reports whether a text holds nobody's turn.
func (s Slot) isVacant(text []byte) bool {
	_, isStub := layout.ParseStub(text)
	return isStub || isBlank(text) || isConfirmation(text, s.Agent)
}

// putStub writes a stub in the place of a turn that never came, never over a text: if one
// stands there by now, that is what the result is of, and Unchanged is set.
func (f *Dialogues) putStub(ctx context.Context, s Slot, text []byte) (*materialize.PutResult, error) {
	origin := materialize.Origin{Source: record.SourcePut}
	return f.edit(ctx, s, origin, func(old []byte, _ *store.Version) ([]byte, error) {
		if !isBlank(old) {
			return old, nil
		}
		return text, nil
	})
}

// earlier returns the newest version before a turn, which may be nil, that is as asked for;
// the zero Ref: there is none, or nobody knows any more.
func (f *Dialogues) earlier(ctx context.Context, t *Turn, is func(old *Turn) bool) (ref record.Ref, err error) {
	const most = 32 // bounds how many versions of a turn are looked at
	for n := 0; n < most && t != nil && !t.Version.Record.Prev.IsZero(); n++ {
		ref = t.Version.Record.Prev
		t = &Turn{}
		t.Version, err = query.View(ctx, f.w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Get(ref) })
		if err == nil {
			t.Text, err = f.text(ctx, t.Version)
		}
		switch {
		case errors.Is(err, store.ErrDropped):
			return record.Ref{}, nil
		case err != nil:
			return record.Ref{}, err
		case is(t):
			return ref, nil
		}
	}
	return record.Ref{}, nil
}

// isLate reports whether the version of a turn came after a stub had taken its place.
func (f *Dialogues) isLate(ctx context.Context, v store.Version) (bool, error) {
	stub, err := f.earlier(ctx, &Turn{Version: v}, func(old *Turn) bool {
		_, isStub := layout.ParseStub(old.Text)
		return isStub
	})
	return err == nil && !stub.IsZero(), err
}

// launch records in the panel of a round that agents owe a file, and makes the
// round's folder, so that they can write at once. Names are folded; those of the
// panel already stay as they are, and the time is that of the first launch. It
// returns mirror.ErrLink if the folder would be
// behind a link.
func (f *Dialogues) launch(ctx context.Context, d *Dialogue, round int, agents ...string) error {
	var experts []layout.Expert
	for _, agent := range agents {
		e, err := d.expert(round, agent)
		if err != nil {
			return err
		}
		experts = append(experts, e)
		// What stands there by now is none of what they are told to write.
		name := turnName(d.Key, round, e.Name)
		_ = f.w.ImportNew(ctx, name.Kind, name.ID) // what cannot be stored is a sync's to tell
	}
	now := f.now().UTC()
	fresh := layout.Panel{Round: round, Launched: now, Experts: d.wrote(round)}
	_, err := f.editPanel(ctx, d, fresh, layout.PanelEdit{Add: experts, Launched: now})
	return err
}

// wrote returns the experts who have written in a round already: a panel that begins
// after them has them too.
func (d *Dialogue) wrote(round int) []layout.Expert {
	experts := []layout.Expert{} // a list in JSON also when it is empty
	if r := d.Round(round); r != nil {
		for _, t := range r.Turns {
			if e, err := d.expert(round, t.Agent); err == nil && !isAmong(experts, e.Name) {
				experts = append(experts, e)
			}
		}
	}
	return experts
}

// checkRound returns an error if a round cannot begin yet.
func (d *Dialogue) checkRound(round int) error {
	if round < 0 {
		return record.Usage.Errorf("round %d: rounds are counted from 0", round)
	}
	if round == 0 || d.Round(round-1).hasBegun() {
		return nil
	}
	next := 0
	for d.Round(next).hasBegun() {
		next++
	}
	err := record.Conflict.Errorf("round %d of %s cannot begin: there is no round %d", round, d.Key, round-1)
	return err.Try(tryPrompt, d.Key.String(), strconv.Itoa(next))
}

// hasBegun reports whether a round has a panel, or what may be a turn. One that is nil
// has not.
func (r *Round) hasBegun() bool {
	mayBe := func(f extraFile) bool { return f.MayBe != nil }
	return r != nil && (r.Panel != nil || r.Unread != nil || len(r.Turns) > 0 || slices.ContainsFunc(r.Files, mayBe))
}

// lastBegun returns the last round that has begun, -1 if none has.
func (d *Dialogue) lastBegun() int {
	for _, r := range slices.Backward(d.Rounds) {
		if r.hasBegun() {
			return r.Number
		}
	}
	return -1
}

// begunBy returns a time by which a round, which may be nil, had begun: the end of the
// second that its panel gives. Known is false if there is no telling.
func (r *Round) begunBy() (begun time.Time, known bool) {
	panel := r.panel()
	if panel == nil || panel.Launched.IsZero() {
		return time.Time{}, false
	}
	return panel.Launched.Add(time.Second), true
}

// expert returns the expert of the pool, or of a panel, best that of a round, whom a name
// means; where none has a name, anybody.
func (d *Dialogue) expert(round int, text string) (layout.Expert, error) {
	name, err := FoldName(text)
	if err != nil {
		return layout.Expert{}, err
	}
	experts := named(d.Pool.Experts)
	for _, r := range d.Rounds {
		if experts = append(experts, r.members()...); r.Number == round {
			experts = slices.Concat(r.members(), experts)
		}
	}
	for _, e := range experts {
		if foldExpert(e.Name) == name {
			e.Name, e.Source = name, ""
			return e, nil
		}
	}
	if len(named(d.Pool.Experts)) == 0 {
		return layout.Expert{Name: name, Label: labelOf(name)}, nil
	}
	near := listed(", which has ", nearNames(folded(experts)))
	unknown := record.NotFound.Errorf("%s is not in the expert pool of %s%s", name, d.Key, near)
	return layout.Expert{}, unknown.Try("filebus get {1}", fileName(d.Key, poolFile).String())
}

// isAmong reports whether one of the experts has a name, which is folded.
func isAmong(experts []layout.Expert, name string) bool {
	return slices.ContainsFunc(experts, func(e layout.Expert) bool { return foldExpert(e.Name) == name })
}

// nearNames returns the names of the first experts, as many as an error names.
func nearNames(experts []layout.Expert) []string { return names(experts[:min(len(experts), maxNear)]) }

// makeRound makes the folder of a round and returns it, absolute.
func (f *Dialogues) makeRound(ctx context.Context, key Key, round int) (string, error) {
	return f.w.MakeFolder(ctx, fileName(key, roundFolder(round)+"/"+panelFile))
}
