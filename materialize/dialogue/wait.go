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
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
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
	Round   int
	Agents  []string      // nil: all who were launched
	Limit   time.Duration // 0: none
	NoStubs bool          // write none when the time is up
	Done    string        // the last line of a file that is whole, beside the sentinel's; "": none
	// Alike is called once for a file that may be meant as the turn of an agent,
	// though it has another name or place; nil: nobody listens.
	Alike func(s Slot, file string)
	// Say is called with a line about what else keeps a wait from ending, each once;
	// nil: nobody listens.
	Say func(line string)
}

// Wait blocks until every agent that was launched in a round has one complete file,
// a turn or a stub, and returns what stands there, in the order of the panel. A file
// is complete if a command of filebus wrote it, if its last line or the marker of the
// agent's task says so, or when it has not changed for 2 s; no other is read. When the
// time is up, stubs are written for those who were launched and have nothing; a file that
// is being written by then gets its 2 s. With NoStubs, and for a file that goes on
// changing or is astray, the standings come with ErrLate. A round that nobody has
// launched is not waited for, unless the agents are named.
//
// The end of ctx ends the wait, and no stubs are written. A symbolic link in the
// place of a turn is mirror.ErrLink.
func (f *Forum) Wait(ctx context.Context, key Key, r WaitRequest) ([]Standing, error) {
	w, err := f.newWaiter(ctx, key, r)
	if err != nil {
		return nil, err
	}
	p, err := f.w.RecordPath(record.KindTurn, w.turns[0].slot.name().ID)
	if err != nil {
		return nil, err
	}
	over, err := f.w.Await(ctx, r.Limit, func(ctx context.Context) (bool, time.Duration, error) {
		again, err := w.look(ctx)
		if err == nil && !w.isOver() {
			w.lookAround(ctx, false)
		}
		return w.isOver(), again, err
	}, path.Dir(p), path.Dir(w.marker(w.turns[0])))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && over:
		w.lookAround(ctx, true)
	case err == nil:
		return w.end(ctx)
	}
	return w.standings(), err
}

// A waiter is a wait that goes on.
type waiter struct {
	*Forum
	WaitRequest
	dialogue *Dialogue
	turns    []*awaited
	said     map[string]bool
	since    time.Time // the round, or else the wait, had begun by then
	around   time.Time // when lookAround looked last
}

// An awaited is a turn that is waited for.
type awaited struct {
	Standing
	slot   Slot
	as     string // the agent, as its file is spelled
	looked bool   // once at least
	early  bool   // the text is from before the launch
	// The state of the file on disk in which it was seen last, since when, and
	// whether its text was judged in that state.
	size   int64
	time   time.Time
	first  time.Time
	judged bool
}

func (f *Forum) newWaiter(ctx context.Context, key Key, r WaitRequest) (*waiter, error) {
	d, slots, err := f.slots(ctx, key, r.Round, r.Agents)
	if err != nil {
		return nil, err
	}
	if len(slots) == 0 {
		err := record.NotFound.Errorf("nobody is known to owe a file in round %d of %s", r.Round, key)
		return nil, err.Try("run it again with --agents NAME,NAME")
	}
	w := f.around(d, slots, r)
	isShown := func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") } // any file begins a round
	hasFile := slices.ContainsFunc(entriesOf(filepath.Dir(slots[0].File)), isShown)
	if len(r.Agents) == 0 && !d.Round(r.Round).hasBegun() && !hasFile {
		return nil, d.noRound(r.Round)
	}
	return w, f.clear(ctx, slots[0])
}

// around returns a waiter for some places of one round.
func (f *Forum) around(d *Dialogue, slots []Slot, r WaitRequest) *waiter {
	w := &waiter{Forum: f, WaitRequest: r, dialogue: d, said: map[string]bool{}, since: f.now()}
	if begun, known := d.Round(r.Round).begunBy(); known {
		w.since = begun
	}
	for _, s := range slots {
		w.turns = append(w.turns, &awaited{Standing: Standing{Agent: s.Agent, State: stateMissing, File: s.File},
			slot: s})
	}
	return w
}

// FindAlike adds to findings of an own dialogue the files that may be meant as the turn, and
// the version that was it.
func (f *Forum) FindAlike(ctx context.Context, d *Dialogue, all []Finding) {
	for i, found := range all {
		if !slices.Contains([]string{stateMissing, stateEmpty, stateStub, stateAstray, "changed"}, found.Rule) {
			continue
		}
		s := Slot{Key: d.Key, Round: *found.Round, Agent: found.Agent}
		if file, err := f.w.PathOf(s.name()); err == nil { // else it has no place
			s.File = file
			w := f.around(d, []Slot{s}, WaitRequest{Round: s.Round})
			before := w.before(ctx, w.turns[0])
			if found.Rule != "changed" {
				all[i].Alike, all[i].Before = w.alikes(ctx, w.turns[0]), before
			} else if before != (record.ShortRef{}) {
				all[i].Message += "; what was judged is " + before.String()
			}
		}
	}
}

// before returns the version that was the turn of an agent: the one that was judged, else the
// newest of the round that stands nowhere now; zero: none is known.
func (w *waiter) before(ctx context.Context, a *awaited) record.ShortRef {
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
func (w *waiter) round() *Round { return cmp.Or(w.dialogue.Round(w.Round), &Round{}) }

// isLaunched reports whether an agent was told to write, by a panel or a prompt.
func (w *waiter) isLaunched(a *awaited) bool {
	_, err := os.Lstat(strings.TrimSuffix(a.slot.File, ".md") + ".prompt.md")
	return err == nil || isAmong(w.round().members(), a.Agent)
}

// say tells the listener a line once.
func (w *waiter) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if w.Say != nil && !w.said[line] {
		w.said[line] = true
		w.Say(line)
	}
}

func (w *waiter) isOver() bool {
	return !slices.ContainsFunc(w.turns, func(a *awaited) bool { return !a.isComplete() })
}

func (w *waiter) standings() []Standing {
	return markdown.Each(w.turns, func(a *awaited) Standing { return a.Standing })
}

// look looks at all turns that are not complete. It returns when to look again if
// nothing happens; 0: never.
func (w *waiter) look(ctx context.Context) (again time.Duration, err error) {
	const busyPause = time.Second // the pause after waiting for a lock in vain
	for _, a := range w.turns {
		if a.isComplete() {
			continue
		}
		pause, err := w.lookAt(ctx, a)
		if errors.Is(err, turnstile.ErrBusy) && ctx.Err() == nil {
			pause, err = busyPause, nil // others are at it: it is looked at again
		}
		if err != nil {
			return 0, err
		}
		if pause > 0 && (again == 0 || pause < again) {
			again = pause
		}
	}
	return again, nil
}

// lookAt looks at the file of a turn.
func (w *waiter) lookAt(ctx context.Context, a *awaited) (again time.Duration, err error) {
	first := !a.looked
	a.looked = true
	w.spell(a)
	info, err := os.Lstat(a.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.State, a.judged = stateMissing, false
		return w.restore(ctx, a, first)
	case err != nil:
		return 0, fmt.Errorf("looking at the turn of %s: %w", a.Agent, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, mirror.LinkInTheWay(a.File)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is no file: the turn of %s has its place there", a.File, a.Agent)
	case info.Size() == 0:
		a.State, a.judged = stateEmpty, false
		return 0, nil
	}
	now := w.now()
	if a.size != info.Size() || !a.time.Equal(info.ModTime()) {
		a.size, a.time, a.first, a.judged = info.Size(), info.ModTime(), now, false
	}
	if a.judged {
		return 0, nil
	}
	return w.take(ctx, a, now)
}

// take reads a file if it is complete, and judges it.
func (w *waiter) take(ctx context.Context, a *awaited, now time.Time) (again time.Duration, err error) {
	h, err := w.read.Head(ctx, a.name())
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return 0, err
	}
	announced := err == nil && h.Version.Record.Size == a.size && isCommand(h.Version.Record.Source) // as a command wrote it
	isDone := !announced && w.isDone(a)
	still := now.Sub(a.time)
	if still < 0 { // by another clock: what counts is how long it was seen so
		still = now.Sub(a.first)
	}
	if !announced && !isDone && still < materialize.StillFor {
		a.State = stateWriting
		return materialize.StillFor - still, nil
	}
	name := a.name()
	done, err := w.w.ImportStill(ctx, name.Kind, name.ID)
	if err == nil && done.Action == "waiting" && (isDone || a.time.After(now)) {
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
		w.say("%s: %s: %s; the store's text counts", a.File, done.Action, done.Detail)
	}
	return 0, w.judge(ctx, a)
}

// isCommand reports whether a version was stored whole by a command, and not taken
// from a file.
func isCommand(source record.Source) bool {
	return source != record.SourceSync && source != record.SourceCapture
}

// judge tells by what is stored of a turn what it is.
func (w *waiter) judge(ctx context.Context, a *awaited) (err error) {
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
		w.say("%s: %s is not counted: %s", a.Agent, a.File, a.Reason)
	}
	return err
}

// restore writes the file of a turn that the store has and the disk lacks: at first any,
// later what a command has stored meanwhile, in another worktree.
func (w *waiter) restore(ctx context.Context, a *awaited, first bool) (again time.Duration, err error) {
	h, err := w.read.Head(ctx, a.slot.name())
	if errors.Is(err, store.ErrNotFound) || err == nil && !first && !isCommand(h.Version.Record.Source) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	name := a.slot.name()
	_, err = w.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		return old, nil
	})
	if err != nil && !errors.Is(err, materialize.ErrTooLarge) { // a sync writes what is too large
		return 0, err
	}
	return 0, w.judge(ctx, a)
}

// name returns the name of the file that is taken for a turn.
func (a *awaited) name() record.Name { return turnName(a.slot.Key, a.slot.Round, a.as) }

// spell finds the file of a turn: that of the agent's name, else B1.md for b1.
func (w *waiter) spell(a *awaited) {
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
func (w *waiter) marker(a *awaited) string {
	id := fmt.Sprintf("%s-%s-%s", a.slot.Key.Slug(), roundFolder(a.slot.Round), a.Agent)
	p, _ := w.w.Settings.Profile.Path(record.KindMarker, id) // "" for one that no task can have: a folder
	return p
}

// isDone reports whether a file's last line says that it is whole, or a marker no older.
func (w *waiter) isDone(a *awaited) bool {
	if a.size <= MaxTurn {
		text, _ := os.ReadFile(a.File) // what cannot be read says nothing
		text = bytes.TrimSpace(text)
		last := text[bytes.LastIndexByte(text, '\n')+1:]
		if bytes.HasPrefix(last, []byte(sentinel)) || len(last) > 0 && string(last) == w.Done {
			return true
		}
	}
	info, err := os.Stat(w.w.FilePath(w.marker(a)))
	return err == nil && info.Mode().IsRegular() && !info.ModTime().Before(a.time)
}

// end ends a wait whose time is up, and no file is being written, or not for long.
func (w *waiter) end(ctx context.Context) ([]Standing, error) {
	const pause = time.Second // how much longer than a file needs to be still it is waited for
	_, err := w.w.Await(ctx, materialize.StillFor+pause, func(ctx context.Context) (bool, time.Duration, error) {
		again, err := w.look(ctx)
		isWriting := func(a *awaited) bool { return a.State == stateWriting }
		return !slices.ContainsFunc(w.turns, isWriting), max(again, pause/100), err
	})
	if err != nil {
		return nil, err
	}
	w.lookAround(ctx, true)
	if !w.NoStubs {
		if err := w.stubs(ctx); err != nil {
			return nil, err
		}
	}
	var late, names []string
	for _, a := range w.turns {
		if !a.isComplete() {
			late, names = append(late, fmt.Sprintf("%s (%s)", a.Agent, a.State)), append(names, a.Agent)
		}
	}
	if len(late) == 0 {
		return w.standings(), nil
	}
	const text = "after %v, round %d of %s still waits for %s"
	timeout := record.Timeout.Errorf(text, w.Limit, w.Round, w.dialogue.Key, strings.Join(late, ", "))
	return w.standings(), timeout.Because(ErrLate, names...)
}

// stubs writes stubs for those who have nothing.
func (w *waiter) stubs(ctx context.Context) error {
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
		if _, err := w.lookAt(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// details says below a stub's reason what may be meant as the turn.
func (w *waiter) details(a *awaited) string {
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
// another name or in another place. At the end of a wait it also names the files of
// the round that are nobody's.
func (w *waiter) lookAround(ctx context.Context, atEnd bool) {
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
		a.Alike, a.Before = w.alikes(ctx, a), w.before(ctx, a)
		for _, file := range a.Alike {
			info, err := os.Lstat(file)
			if err != nil || !atEnd && now.Sub(info.ModTime()) < materialize.StillFor || w.said[file] {
				continue // gone, or perhaps about to be renamed
			}
			w.said[file] = true
			if w.Alike != nil {
				w.Alike(a.slot, file)
			}
		}
	}
	dir := filepath.Dir(w.turns[0].File)
	for _, entry := range entriesOf(dir) {
		stem, isMarkdown := strings.CutSuffix(strings.ToLower(entry.Name()), ".md")
		file := filepath.Join(dir, entry.Name())
		if !atEnd || !isMarkdown || entry.IsDir() || w.isKnown(stem) || isJudges(stem) || w.said[file] {
			continue
		}
		w.say("%s is of nobody who owes a file in round %d", file, w.Round)
	}
}

// isKnown reports whether a name is that of an agent who owes a file in the round
// or takes part in the dialogue.
func (w *waiter) isKnown(name string) bool {
	return slices.ContainsFunc(w.members(), func(e layout.Expert) bool { return foldFile(e.Name) == foldFile(name) })
}

// members returns who owes a file in the round or takes part in the dialogue.
func (w *waiter) members() []layout.Expert {
	awaited := markdown.Each(w.turns, func(a *awaited) layout.Expert { return layout.Expert{Name: a.Agent} })
	return slices.Concat(awaited, w.dialogue.Pool.Experts, w.round().members())
}

// alikes returns the files, absolute, that may be meant as the turn of an agent: in
// the folder of the round or beside it, in that of another round if they are new
// there, and below the roots of other profiles and worktrees.
func (w *waiter) alikes(ctx context.Context, a *awaited) []string {
	round := filepath.Dir(a.File)
	top := filepath.Dir(round)
	found := append(w.alikesIn(round, a), w.alikesIn(top, a)...)
	for _, entry := range entriesOf(top) {
		dir := filepath.Join(top, entry.Name())
		isNoDigit := func(r rune) bool { return r < '0' || r > '9' }
		n, err := strconv.Atoi(strings.TrimFunc(entry.Name(), isNoDigit))
		switch file := filepath.Join(dir, filepath.Base(a.File)); {
		case dir == round || !entry.IsDir() || err != nil:
		case roundFolder(n) != entry.Name() && n == a.slot.Round: // the round in another spelling
			found = append(found, w.alikesIn(dir, a)...)
		case roundFolder(n) == entry.Name() && w.isMisplaced(ctx, a, n, file):
			found = append(found, file)
		}
	}
	return append(found, w.elsewhere(a)...)
}

// isMisplaced reports whether the file of an agent in another round may be meant for
// this one: the round has not begun, or it had a turn already, which was changed by
// hand since this round began.
func (w *waiter) isMisplaced(ctx context.Context, a *awaited, round int, file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	r := cmp.Or(w.dialogue.Round(round), &Round{})
	t := r.Turn(a.Agent)
	switch {
	case round > a.slot.Round:
		return r.Panel == nil || t.state() == stateAstray
	case t == nil || t.IsStub || !info.ModTime().After(w.since): // a copy of the workspace has later times, too
		return false
	}
	h, err := w.read.Head(ctx, turnName(a.slot.Key, round, a.Agent))
	isFirst := h.Version.Record.Prev == record.Ref{}
	if err != nil || (isFirst || isCommand(h.Version.Record.Source)) && h.Version.Record.Size == info.Size() {
		return false
	}
	isLate, err := w.isLate(ctx, h.Version)
	return err == nil && !isLate
}

// alikesIn returns the files of a folder that may be meant as a turn.
func (w *waiter) alikesIn(dir string, a *awaited) []string {
	var found []string
	for _, entry := range entriesOf(dir) {
		file := filepath.Join(dir, entry.Name())
		if file != a.File && entry.Type().IsRegular() && w.isAlike(entry.Name(), a.Agent) {
			found = append(found, file)
		}
	}
	return found
}

// elsewhere returns the files that would be the turn in another profile, or in
// another worktree of the project.
func (w *waiter) elsewhere(a *awaited) []string {
	var found []string
	for _, profile := range layout.Profiles() {
		p, err := profile.Path(record.KindTurn, a.slot.name().ID)
		if err != nil || strings.HasPrefix(p, "~/") {
			continue
		}
		for _, root := range append(w.w.Roots(), w.w.Root) {
			file := filepath.FromSlash(p)
			if !strings.HasPrefix(p, "/") {
				file = filepath.Join(root, file)
			}
			info, err := os.Lstat(file)
			if err == nil && info.Mode().IsRegular() && info.Size() > 0 && file != a.File && !slices.Contains(found, file) {
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

// isAlike reports whether a file's name may be meant as that of an agent's turn: in
// another case, with another ending, with more words or numbers, or with a slip of
// the pen. The files of other agents are their own.
func (w *waiter) isAlike(file, agent string) bool {
	name := strings.ToLower(file)
	stem, endings := name, []string{".md", ".markdown", ".mdx", ".txt", ".text", ".tmp", ".part", ".new", ".bak"}
	for slices.Contains(endings, filepath.Ext(stem)) {
		stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	}
	switch {
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, ".prompt.md"), strings.HasSuffix(name, ".summary.md"):
		return false
	case stem == agent:
		return true
	case name == stem+".md" && w.isKnown(stem):
		return false
	}
	const leastSlip = 5 // the shortest name, in letters, in which one letter more or less is a slip and no other name
	isSlip := utf8.RuneCountInString(agent) >= leastSlip && likeness.Slips(stem, agent) <= 1
	return likeness.Contains(likeness.Words(stem), likeness.Words(agent)) ||
		strings.TrimRight(stem, "0123456789") == agent || isSlip
}
