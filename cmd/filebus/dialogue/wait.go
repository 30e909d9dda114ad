package dialogue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/rule"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// A Standing is what stands in the place of an agent's turn.
type Standing struct {
	Agent  string   `json:"agent"`
	State  string   `json:"state"`            // turn, stub, empty, astray, writing or missing
	Words  int      `json:"words"`            // of a turn
	File   string   `json:"file"`             // absolute
	Reason string   `json:"reason,omitempty"` // of a stub, or why a text is not counted
	Late   bool     `json:"late,omitempty"`   // a turn that came after a stub
	Alike  []string `json:"alike,omitempty"`  // files, absolute, that may be meant as the turn that is missing
	// The version that was the turn, where what stands there now is none.
	Before record.ShortRef `json:"before,omitzero"`
}

// isComplete reports whether nothing more comes: a text from before the launch is no end.
func (a *awaited) isComplete() bool {
	return a.State == stateTurn || a.State == stateStub || a.State == stateAstray && !a.early
}

// A WaitRequest says for whose turns to wait, and who hears of it.
type WaitRequest struct {
	mirror.Waiter
	Round   int
	Agents  []string // nil: all who were launched
	NoStubs bool     // write none when the time is up
	Done    string   // the last line of a file that is whole, beside the sentinel's; "": none
	// Alike is called once for a file that may be meant as the turn of an agent,
	// though it has another name or place; nil: nobody listens.
	Alike func(s Slot, file string)
}

// Wait blocks until every agent that was launched in a round has one complete file,
// a turn or a stub, and returns what stands there, in the order of the panel. A file
// is complete if a command of filebus wrote it, if its last line or the marker of the
// agent's task says so, or when it has not changed for 2 s; no other is read. When the
// time is up, stubs are written for those who were launched and have nothing; a file that
// is being written by then gets its 2 s. With NoStubs, and for a file that goes on
// changing or is astray, the standings come with mirror.ErrLate. A round that nobody has
// launched is not waited for, unless the agents are named.
//
// The end of ctx ends the wait, and no stubs are written. A symbolic link in the
// place of a turn is mirror.ErrLink.
func (f *Dialogues) Wait(ctx context.Context, key Key, r WaitRequest) ([]Standing, error) {
	w, err := f.await(ctx, key, r)
	if err != nil {
		return nil, err
	}
	p, err := f.w.RecordPath(record.KindTurn, w.turns[0].slot.name().ID)
	if err != nil {
		return nil, err
	}
	looks := markdown.Each(w.turns, func(a *awaited) mirror.Look {
		return func(ctx context.Context) (string, time.Duration, error) { return w.lookAt(ctx, a) }
	})
	w.Around = func(ctx context.Context) { w.lookAround(ctx, false) }
	late, err := f.w.Await(ctx, &w.Waiter, []string{path.Dir(p), path.Dir(w.marker(w.turns[0]))}, looks...)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		w.lookAround(ctx, true)
	}
	if late {
		err = w.end(ctx)
	}
	return w.standings(), err
}

// An awaiting is a wait for the turns of a round that goes on.
type awaiting struct {
	*Dialogues
	WaitRequest
	dialogue *Dialogue
	turns    []*awaited
	around   time.Time // when lookAround looked last
}

// An awaited is a turn that is waited for.
type awaited struct {
	Standing
	slot   Slot
	as     string // the agent, as its file is spelled
	size   int64  // of its file, as it was seen last
	looked bool   // once at least
	judged bool   // the text, as the file is
	early  bool   // the text is from before the launch
}

func (f *Dialogues) await(ctx context.Context, key Key, r WaitRequest) (*awaiting, error) {
	d, slots, err := f.slots(ctx, key, r.Round, r.Agents)
	if err != nil {
		return nil, err
	}
	if len(slots) == 0 {
		err := record.NotFound.Errorf("nobody is known to owe a file in round %d of %s", r.Round, key)
		return nil, err.Try("run it again with --agents NAME,NAME")
	}
	isShown := func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") } // any file begins a round
	hasFile := slices.ContainsFunc(entriesOf(filepath.Dir(slots[0].File)), isShown)
	if len(r.Agents) == 0 && !d.Round(r.Round).hasBegun() && !hasFile {
		return nil, d.noRound(r.Round)
	}
	return f.awaitingOf(d, slots, r), f.clear(ctx, slots[0])
}

// awaitingOf returns a wait for some places of one round.
func (f *Dialogues) awaitingOf(d *Dialogue, slots []Slot, r WaitRequest) *awaiting {
	w := &awaiting{Dialogues: f, WaitRequest: r, dialogue: d}
	w.Now = f.now
	for _, s := range slots {
		w.turns = append(w.turns, &awaited{Standing: Standing{Agent: s.Agent, State: stateMissing, File: s.File}, slot: s})
	}
	return w
}

// FindAlike adds to findings of an own dialogue the files that may be meant as the turn, and
// the version that was it.
func (f *Dialogues) FindAlike(ctx context.Context, d *Dialogue, all []rule.Finding) {
	for i, found := range all {
		if !slices.Contains([]string{stateMissing, stateEmpty, stateStub, stateAstray, "changed"}, found.Rule) {
			continue
		}
		s := Slot{Key: d.Key, Round: *found.Round, Agent: found.Agent}
		if file, err := f.w.PathOf(s.name()); err == nil { // else it has no place
			s.File = file
			w := f.awaitingOf(d, []Slot{s}, WaitRequest{Round: s.Round})
			before := w.before(ctx, w.turns[0])
			if found.Rule != "changed" {
				all[i].Alike, all[i].Before = w.alikes(w.turns[0]), before
			} else if before != (record.ShortRef{}) {
				all[i].Message += "; what was judged is " + before.String()
			}
		}
	}
}

// before returns the version that was the turn of an agent: the one that was judged, else the
// newest of the round that stands nowhere now; zero: none is known.
func (w *awaiting) before(ctx context.Context, a *awaited) record.ShortRef {
	r, stands := w.round(), map[record.Digest]bool{}
	for _, other := range w.dialogue.Rounds {
		for _, t := range other.Turns {
			stands[t.Version.Record.Body] = true
		}
	}
	judged, _ := r.Scores.Find(a.Agent)
	was, _ := w.earlier(ctx, r.Turn(a.Agent), func(old *Turn) bool {
		return !r.isEarly(old) && !stands[old.Version.Record.Body] && !a.slot.isVacant(old.Text) && !old.isChanged(judged)
	})
	return record.ShortRef(was) // what cannot be read is not known
}

// round returns the round, empty if there is none yet.
func (w *awaiting) round() *Round { return cmp.Or(w.dialogue.Round(w.Round), &Round{}) }

// isLaunched reports whether an agent was told to write, by a panel or a prompt.
func (w *awaiting) isLaunched(a *awaited) bool {
	_, err := os.Lstat(strings.TrimSuffix(a.slot.File, ".md") + ".prompt.md")
	return err == nil || isAmong(w.round().members(), a.Agent)
}

func (w *awaiting) standings() []Standing {
	return markdown.Each(w.turns, func(a *awaited) Standing { return a.Standing })
}

// lookAt looks at the file of a turn, and says of one that is not complete how it is.
func (w *awaiting) lookAt(ctx context.Context, a *awaited) (missing string, again time.Duration, err error) {
	again, err = w.stand(ctx, a)
	if a.isComplete() {
		return "", 0, err
	}
	return a.State, again, err
}

// stand finds what stands in the place of a turn.
func (w *awaiting) stand(ctx context.Context, a *awaited) (again time.Duration, err error) {
	first := !a.looked
	a.looked = true
	w.spell(a)
	info, err := os.Lstat(a.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.State, a.judged = stateMissing, false
		return 0, w.restore(ctx, a, first)
	case err != nil:
		return 0, fmt.Errorf("looking at the turn of %s: %w", a.Agent, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, mirror.LinkInTheWay(a.File)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is not a file, and the turn of %s belongs there", a.File, a.Agent)
	case info.Size() == 0:
		a.State, a.judged = stateEmpty, false
		return 0, nil
	}
	isNew, age := w.Seen(a.File, info)
	if a.judged = a.judged && !isNew; a.judged {
		return 0, nil
	}
	a.size = info.Size()
	return w.take(ctx, a, info.ModTime(), age)
}

// take reads a file if it is complete, and judges it.
func (w *awaiting) take(
	ctx context.Context, a *awaited, changed time.Time, age time.Duration,
) (again time.Duration, err error) {
	h, err := w.read.Head(ctx, a.name())
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return 0, err
	}
	announced := err == nil && h.Version.Record.Size == a.size && isCommand(h.Version.Record.Source) // as a command wrote it
	isDone := !announced && w.isDone(a, changed)
	if !announced && !isDone && age < materialize.StillFor {
		a.State = stateWriting
		return materialize.StillFor - age, nil
	}
	name := a.name()
	done, err := w.w.ImportStill(ctx, name.Kind, name.ID)
	if err == nil && done.Action == "waiting" && (isDone || changed.After(w.now())) {
		p, pathErr := w.w.RecordPath(name.Kind, name.ID)
		done, err = materialize.SyncedFile{}, errors.Join(pathErr, w.w.Import(ctx, p))
	}
	switch {
	case err != nil:
		return 0, err
	case done.Action == "waiting":
		a.State = stateWriting
		return materialize.StillFor / 10, nil
	case done.Action == "conflict", done.Action == "rolled back":
		w.Tell(a.File+done.Action, "%s: %s: %s; the store's text counts", a.File, done.Action, done.Detail)
	}
	return 0, w.judge(ctx, a)
}

// isCommand reports whether a version was stored whole by a command, and not taken
// from a file.
func isCommand(source record.Source) bool {
	return source != record.SourceSync && source != record.SourceCapture
}

// judge tells by what is stored of a turn what it is.
func (w *awaiting) judge(ctx context.Context, a *awaited) (err error) {
	a.judged = true
	h, err := w.read.Head(ctx, a.name())
	if err != nil {
		return fmt.Errorf("reading the turn of %s: %w", a.Agent, err)
	}
	if w.dialogue, err = w.Read(ctx, a.slot.Key); err != nil {
		return err
	}
	t := w.dialogue.Round(w.Round).Turn(a.Agent)
	a.State, a.Reason = t.state(), ""
	if t == nil || a.State == stateTurn { // without a panel, prose is the turn of one who is named
		a.State, a.Words = stateTurn, h.Description.Words
		a.Late, err = w.isLate(ctx, h.Version)
	} else {
		a.Reason = t.Stub + t.Astray
	}
	if a.State == stateAstray {
		a.early = w.dialogue.Round(w.Round).isEarly(t)
		w.Tell(a.File+a.Reason, "%s: %s is not counted: %s", a.Agent, a.File, a.Reason)
	}
	return err
}

// restore writes the file of a turn that the store has and the disk lacks: at first any,
// later what a command has stored meanwhile, in another worktree.
func (w *awaiting) restore(ctx context.Context, a *awaited, first bool) error {
	h, err := w.read.Head(ctx, a.slot.name())
	if errors.Is(err, store.ErrNotFound) || err == nil && !first && !isCommand(h.Version.Record.Source) {
		return nil
	}
	if err != nil {
		return err
	}
	name := a.slot.name()
	_, err = w.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		return old, nil
	})
	if err != nil && !errors.Is(err, materialize.ErrTooLarge) { // a sync writes what is too large
		return err
	}
	return w.judge(ctx, a)
}

// name returns the name of the file that is taken for a turn.
func (a *awaited) name() record.Name { return turnName(a.slot.Key, a.slot.Round, a.as) }

// spell finds the file of a turn: that of the agent's name, else B1.md for b1.
func (w *awaiting) spell(a *awaited) {
	a.File, a.as = a.slot.File, cmp.Or(a.slot.stem, a.Agent)
	dir := filepath.Dir(a.File)
	for _, entry := range entriesOf(dir) {
		as, isTurn := strings.CutSuffix(entry.Name(), ".md")
		file, name := filepath.Join(dir, entry.Name()), foldExpert(as)
		isTurn = isTurn && (name == a.Agent || foldFile(as) == foldFile(a.Agent) && !isAmong(w.members(), name))
		if isTurn && entry.Type().IsRegular() && !a.slot.isVoiced(a.File) && a.slot.isVoiced(file) {
			a.File, a.as = file, as
		}
	}
}

// isVoiced reports whether a file holds a text that somebody may have given as the turn.
func (s Slot) isVoiced(file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxTurn {
		return err == nil // what is no file, or too long, is looked at later
	}
	text, err := os.ReadFile(file)
	return err == nil && !s.isVacant(text)
}

// marker returns where the marker of an agent's task would be, as records have it.
func (w *awaiting) marker(a *awaited) string {
	id := fmt.Sprintf("%s-%s-%s", a.slot.Key.Slug(), roundFolder(a.slot.Round), a.Agent)
	p, _ := w.w.Settings.Profile.Path(record.KindMarker, id) // "" for one that no task can have: a folder
	return p
}

// isDone reports whether a file's last line says that it is whole, or a marker no older.
func (w *awaiting) isDone(a *awaited, changed time.Time) bool {
	if a.size <= MaxTurn {
		text, _ := os.ReadFile(a.File) // what cannot be read says nothing
		text = bytes.TrimSpace(text)
		last := text[bytes.LastIndexByte(text, '\n')+1:]
		if bytes.HasPrefix(last, []byte(sentinel)) || len(last) > 0 && string(last) == w.Done {
			return true
		}
	}
	info, err := os.Stat(w.w.FilePath(w.marker(a)))
	return err == nil && info.Mode().IsRegular() && !info.ModTime().Before(changed)
}

// end ends a wait whose time is up, and no file is being written, or not for long.
func (w *awaiting) end(ctx context.Context) error {
	if !w.NoStubs {
		if err := w.stubs(ctx); err != nil {
			return err
		}
	}
	var late []mirror.Missing
	for _, a := range w.turns {
		if !a.isComplete() {
			late = append(late, mirror.Missing{Name: a.Agent, Say: a.State})
		}
	}
	if len(late) == 0 {
		return nil
	}
	return w.Late(fmt.Sprintf("no turn in round %d of %s", w.Round, w.dialogue.Key), late...)
}

// stubs writes stubs for those who have nothing.
func (w *awaiting) stubs(ctx context.Context) error {
	for _, a := range w.turns {
		if a.State != stateMissing && a.State != stateEmpty || !w.isLaunched(a) {
			continue
		}
		reason := fmt.Sprintf("no file within %v", w.Limit)
		if a.State == stateEmpty {
			reason = fmt.Sprintf("an empty file after %v", w.Limit)
		}
		if _, err := w.putStub(ctx, a.slot, layout.StubText(reason, w.details(a))); err != nil {
			return fmt.Errorf("writing a stub for %s: %w", a.Agent, err)
		}
		if _, err := w.stand(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// details says below a stub's reason what may be meant as the turn.
func (w *awaiting) details(a *awaited) string {
	var lines []string
	top := filepath.Dir(filepath.Dir(a.File))
	for _, file := range a.Alike {
		if rel, err := filepath.Rel(top, file); err == nil && filepath.IsLocal(rel) {
			file = filepath.ToSlash(rel)
		}
		lines = append(lines, "It may stand in "+file+".")
	}
	return strings.Join(lines, "\n")
}

// lookAround looks for what agents whose turns are missing may have left under
// another name or in another place.
func (w *awaiting) lookAround(ctx context.Context, atEnd bool) {
	now := w.now()
	const aroundPause = 2 * time.Second // how long a wait goes on before it looks around again
	if !atEnd && now.Sub(w.around) < aroundPause {
		return
	}
	w.around = now
	for _, a := range w.turns {
		if a.State == stateTurn {
			continue
		}
		a.Alike, a.Before = w.alikes(a), w.before(ctx, a)
		for _, file := range a.Alike {
			info, err := os.Lstat(file)
			isStill := err == nil && (atEnd || now.Sub(info.ModTime()) >= materialize.StillFor) // else it may be renamed
			if isStill && w.IsNew(file) && w.Alike != nil {
				w.Alike(a.slot, file)
			}
		}
	}
}

// members returns who owes a file in the round or takes part in the dialogue.
func (w *awaiting) members() []layout.Expert {
	awaited := markdown.Each(w.turns, func(a *awaited) layout.Expert { return layout.Expert{Name: a.Agent} })
	return slices.Concat(awaited, w.dialogue.Pool.Experts, w.round().members())
}

// alikes returns the files, absolute, that may be meant as the turn of an agent: in the folder
// of the round, beside it, or in the next round if that has not begun for the agent.
func (w *awaiting) alikes(a *awaited) (found []string) {
	round, top := filepath.Dir(a.File), filepath.Dir(filepath.Dir(a.File))
	dirs := []string{round, top}
	next := cmp.Or(w.dialogue.Round(a.slot.Round+1), &Round{})
	if next.Panel == nil || next.Turn(a.Agent).state() == stateAstray {
		dirs = append(dirs, filepath.Join(top, roundFolder(a.slot.Round+1)))
	}
	for _, dir := range dirs {
		for _, entry := range entriesOf(dir) {
			file := filepath.Join(dir, entry.Name())
			if file != a.File && entry.Type().IsRegular() && w.isAlike(entry.Name(), a.Agent) {
				found = append(found, file)
			}
		}
	}
	return found
}

// entriesOf lists a folder by name; none if it cannot be read.
func entriesOf(dir string) []fs.DirEntry {
	const most = 2000             // bounds how many entries of a folder are looked at
	entries, _ := os.ReadDir(dir) // what was read before an error is all there is to see
	return entries[:min(most, len(entries))]
}

// isAlike reports whether a file's name may be meant as that of an agent's turn. The files of
// other agents are their own.
func (w *awaiting) isAlike(file, agent string) bool {
	name := strings.ToLower(file)
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	isStem := func(e layout.Expert) bool { return foldFile(e.Name) == foldFile(stem) }
	isOthers := name == stem+".md" && stem != agent && slices.ContainsFunc(w.members(), isStem)
	isPrompt := strings.HasSuffix(stem, ".prompt") || strings.HasSuffix(stem, ".summary")
	return !isOthers && !isPrompt && !strings.HasPrefix(name, ".") && likeness.IsMeant(stem, agent)
}
