package materialize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// SyncOptions say how disk and store are brought in step.
type SyncOptions struct {
	DryRun      bool          // only say what would be done
	Repair      bool          // write back what was altered or rolled back on disk
	Accept      bool          // take in files that hold an older version again
	Announced   bool          // take files also that were written in the last 2 s
	CaptureOnly bool          // write no files
	Budget      time.Duration // stop looking after about this time; 0: never
	Progress    func(done, total int)
}

// An Action is what sync did, or in a dry run would do, about a file.
type Action string

// The actions of a sync.
const (
	ActionCaptured   Action = "captured"    // the file's changes were stored
	ActionWritten    Action = "written"     // the store's text was written
	ActionDeleted    Action = "deleted"     // the file is gone, as the store retired it
	ActionCleared    Action = "cleared"     // a deleted marker was retired
	ActionMerged     Action = "merged"      // both had changed
	ActionConflict   Action = "conflict"    // both had changed the same; the file's is kept beside
	ActionRolledBack Action = "rolled back" // the file holds an older version: not captured
	ActionAltered    Action = "altered"     // a write-once file was changed: kept as a note
	ActionRestored   Action = "restored"    // the store's text was put back
	ActionWaiting    Action = "waiting"     // the file is still being written
)

// A SyncedFile is a file that something was done about.
type SyncedFile struct {
	Path   string `json:"path"`
	Action Action `json:"action"`
	Detail string `json:"detail,omitempty"`
}

// A SyncReport says what a sync did in one root.
type SyncReport struct {
	Root     string                `json:"root"`
	Files    []SyncedFile          `json:"files"`
	Skipped  []Skipped             `json:"skipped"`
	Problems []*layout.SyntaxError `json:"-"`
	Unlooked int                   `json:"unlooked"` // changed files that the budget left no time for
	Unread   int                   `json:"-"`        // folders, with all below them, that it left no time for
}

// Count returns how many files an action was taken on.
func (r *SyncReport) Count(action Action) int {
	n := 0
	for _, f := range r.Files {
		if f.Action == action {
			n++
		}
	}
	return n
}

// Roots returns the folders whose files mirror the store: the workspace and the
// linked worktrees of its repository.
func (w *Workspace) Roots() []string {
	return append([]string{w.Main}, worktrees(w.Main)...)
}

// Sync brings the files of a root and the store in step, both ways, by comparing
// each with the state in which they last agreed. Files that no layout recognises
// are never looked at.
func (w *Workspace) Sync(ctx context.Context, root string, opts SyncOptions) (*SyncReport, error) {
	report := &SyncReport{Root: root, Files: []SyncedFile{}, Skipped: []Skipped{}}
	err := w.withMirror(ctx, root, func(m *mirror) error {
		s := &syncer{mirror: m, opts: opts, report: report, start: time.Now()}
		return s.run(ctx)
	})
	return report, err
}

type syncer struct {
	*mirror
	opts   SyncOptions
	report *SyncReport
	start  time.Time
	edit   editMade
}

// An editMade is a command's edit of a whole file while its result is written.
// What an agent has made of the same text meanwhile is taken in, and the edit is
// made again, of that.
type editMade struct {
	of, made record.Digest // zero: there is none
	redo     bool          // the agent's text was taken in
}

// meets reports whether what stands on disk was made of the text that was edited,
// while the store has nothing newer than the edit.
func (e editMade) meets(now storeState, known memo) bool {
	return e.made != record.Digest{} && known.digest == e.of && now.exists() && now.digest == e.made
}

func (s *syncer) run(ctx context.Context) error {
	found, deadline, err := s.findFiles(ctx)
	if err != nil {
		return err
	}
	s.report.Skipped = append(s.report.Skipped, found.skipped...)
	touched, position, err := s.touched(ctx)
	if err != nil {
		return err
	}
	paths := s.candidates(found, touched)
	if paths, err = s.takeNew(ctx, found, paths); err != nil {
		return err
	}
	var damage error
	for i, p := range paths {
		if !deadline.IsZero() && time.Now().After(deadline) {
			s.report.Unlooked = len(paths) - i
			return nil
		}
		err := s.one(ctx, p)
		if errors.Is(err, store.ErrDamaged) {
			// One lost body keeps no other file from being settled.
			damage = errors.Join(damage, fmt.Errorf("%s: %w", p, err))
			continue
		}
		if err != nil {
			return err
		}
		if s.opts.Progress != nil {
			s.opts.Progress(i+1, len(paths))
		}
	}
	if damage == nil && !s.opts.DryRun && !s.opts.CaptureOnly {
		s.memory.settle(position)
	}
	return damage
}

// findFiles lists the files on disk, and says until when they may be settled:
// when looking took the whole budget, half as much again is left for that. Only
// files that are there are taken in then, so that a part of them will do.
func (s *syncer) findFiles(ctx context.Context) (found *walk, deadline time.Time, err error) {
	if s.opts.Budget > 0 {
		deadline = s.start.Add(s.opts.Budget)
	}
	if !s.opts.CaptureOnly {
		found, err = s.scan(ctx, time.Time{})
		return found, deadline, err
	}
	if found, err = s.scan(ctx, deadline); err != nil || deadline.IsZero() {
		return found, deadline, err
	}
	s.report.Unread = found.unlooked
	if least := time.Now().Add(s.opts.Budget / 2); least.After(deadline) {
		deadline = least
	}
	return found, deadline, nil
}

// touched returns the paths of the own tree that the log names since the mirror
// was last settled, and the position of the log's end.
func (s *syncer) touched(ctx context.Context) (paths map[string]bool, position uint64, err error) {
	paths = map[string]bool{}
	known := func(r *record.Record, position uint64) bool { // disk and store agreed after this change
		f, remembered := s.memory.get(r.Path)
		return remembered && f.position >= position
	}
	if s.opts.CaptureOnly {
		return paths, 0, nil
	}
	for next := s.memory.settled + 1; ; {
		more := false
		err := s.w.Store.View(ctx, func(tx *store.Tx) error {
			position = tx.Position()
			for e, err := range tx.Log(next) {
				if err != nil {
					return err
				}
				if e.Position > next+2000 {
					more = true
					return nil
				}
				next = e.Position + 1
				if v, err := tx.Get(e.Ref); err == nil && v.Record.Name.Tree == "" && v.Record.Path != "" && !known(v.Record, e.Position) {
					paths[v.Record.Path] = true
				} else if err != nil && !errors.Is(err, store.ErrDropped) {
					return err
				}
			}
			return nil
		})
		if err != nil || !more {
			return paths, position, err
		}
	}
}

// candidates returns the paths that may have something to be done about them,
// markers last: they announce the other files.
func (s *syncer) candidates(found *walk, touched map[string]bool) []string {
	onDisk := make(map[string]bool, len(found.files))
	var paths []string
	remembered := 0
	for _, f := range found.files {
		onDisk[f.path] = true
		known, ok := s.memory.get(f.path)
		if ok {
			remembered++
		}
		if !ok || !known.matches(f) {
			paths = append(paths, f.path)
			delete(touched, f.path)
		}
	}
	if !s.opts.CaptureOnly && remembered < s.memory.count { // some are not on disk
		for p := range s.memory.paths() {
			if !onDisk[p] && !touched[p] {
				paths = append(paths, p)
			}
		}
	}
	for p := range touched {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.rank(a), s.rank(b)), strings.Compare(a, b))
	})
	return paths
}

// takeNew stores the files that are new to both mirror and store, many in one
// transaction, and returns the paths that are left to be settled one by one:
// among them aggregates, and markers, which must come last.
func (s *syncer) takeNew(ctx context.Context, found *walk, paths []string) (left []string, err error) {
	candidate := make(map[string]bool, len(paths))
	for _, p := range paths {
		candidate[p] = true
	}
	var files []fileStat
	for _, f := range found.files {
		if candidate[f.path] && s.isNew(f) {
			files = append(files, f)
		}
	}
	if s.opts.DryRun || s.opts.Budget > 0 || len(files) < 2 {
		return paths, nil
	}
	l := &loader{w: s.w, dir: s.dir, source: record.SourceSync, place: s.w.recognise}
	for _, batch := range cutBatches(files) {
		if err := s.takeBatch(ctx, l, batch, candidate); err != nil {
			return nil, err
		}
	}
	for _, p := range paths {
		if candidate[p] {
			left = append(left, p)
		}
	}
	return left, nil
}

func (s *syncer) isNew(f fileStat) bool {
	if _, remembered := s.memory.get(f.path); remembered || s.rank(f.path) > 0 {
		return false
	}
	return !s.isOutside(f.path) && (s.opts.Announced || isStill(f, s.w.now()))
}

// takeBatch stores those of a batch that nothing stands for yet and takes them
// off the candidates. What cannot be read, and what loses a race, stays one.
func (s *syncer) takeBatch(ctx context.Context, l *loader, files []fileStat, candidate map[string]bool) error {
	b := l.prepare(ctx, files)
	if b.err != nil {
		return b.err
	}
	for i := range b.sources {
		if b.states[i].old != nil {
			b.plans[i] = nil
		}
		defer func() { _ = b.sources[i].body.Discard() }() // a temporary file, swept later if it stays
	}
	_, _, position, err := l.apply(ctx, b)
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	for i, p := range b.plans {
		if p == nil {
			continue
		}
		f := b.sources[i]
		delete(candidate, f.path)
		s.memory.set(f.path, memoOf(f.stat, p.puts[0].Body.Digest, position))
		s.report.Problems = append(s.report.Problems, p.problems...)
		s.report.Files = append(s.report.Files, SyncedFile{Path: f.path, Action: ActionCaptured})
	}
	return nil
}

func (s *syncer) rank(p string) int {
	if s.w.recognise(p).Kind == record.KindMarker {
		return 1
	}
	return 0
}

// one settles one path and reports it. What is wrong with one file is reported
// and keeps no other from being settled.
func (s *syncer) one(ctx context.Context, p string) error {
	done, err := s.settle(ctx, p)
	switch {
	case isBusy(err):
		done = SyncedFile{Path: p, Action: ActionWaiting}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrNoStore):
		return err
	case err != nil:
		s.report.Skipped = append(s.report.Skipped, Skipped{Path: p, Reason: reason(err)})
		return nil
	}
	if done.Action != "" {
		s.report.Files = append(s.report.Files, done)
	}
	return nil
}

// settle decides and acts about one path, again if something came between.
func (s *syncer) settle(ctx context.Context, p string) (SyncedFile, error) {
	for try := 1; ; try++ {
		before, _ := s.memory.get(p)
		done, err := s.trySettle(ctx, p)
		if late := (*lateError)(nil); errors.As(err, &late) {
			err = cmp.Or(s.takeLate(ctx, p, late, before), errRaced)
		}
		busy := isBusy(err)
		raced := busy || IsRace(err) && !isWriteOnce(err)
		if !raced || try == raceTries {
			done.Path = p
			return done, err
		}
		if busy { // give who writes the file time to end
			time.Sleep(time.Duration(try) * time.Millisecond)
		}
	}
}

// isBusy reports whether an error says that a file is being written by another
// program.
func isBusy(err error) bool { return errors.Is(err, errRaced) || errors.Is(err, errChanged) }

// A storeState is what the store has for a path.
type storeState struct {
	seated   *seated // nil if nothing stands there
	digest   record.Digest
	position uint64
}

func (s storeState) exists() bool { return s.seated != nil }

func (m *mirror) stored(ctx context.Context, p string) (state storeState, err error) {
	err = m.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		state.position = tx.Position()
		state.seated, err = seatedAt(tx, "", p)
		return err
	})
	state.digest = state.seated.digest()
	return state, err
}

// trySettle compares disk, store and memory as they are now, and acts. What it
// writes expects that this is still so.
func (s *syncer) trySettle(ctx context.Context, p string) (SyncedFile, error) {
	disk, err := s.look(ctx, p)
	if err != nil {
		return SyncedFile{}, err
	}
	now, err := s.stored(ctx, p)
	if err != nil {
		return SyncedFile{}, err
	}
	known, remembered := s.memory.get(p)
	if disk.exists && now.exists() && disk.digest == now.digest {
		s.memory.set(p, memoOf(disk.stat, disk.digest, now.position))
		return SyncedFile{}, nil
	}
	diskSame := remembered && disk.exists && disk.digest == known.digest || !remembered && !disk.exists
	storeSame := remembered && now.exists() && now.digest == known.digest
	switch {
	case !disk.exists && !now.exists():
		s.memory.forget(p)
		return SyncedFile{}, nil
	case diskSame:
		return s.fromStore(ctx, p, disk, now)
	case !disk.exists:
		return s.deleted(ctx, p, now, storeSame)
	case !s.opts.Announced && !isStill(disk.stat, s.w.now()):
		return SyncedFile{Action: ActionWaiting}, nil
	}
	return s.fromDisk(ctx, p, disk, now, known, storeSame)
}

// fromStore writes or deletes a file that is unchanged on disk.
func (s *syncer) fromStore(ctx context.Context, p string, disk diskFile, now storeState) (SyncedFile, error) {
	switch {
	case s.opts.CaptureOnly:
		return SyncedFile{}, nil
	case !now.exists():
		return s.act(ActionDeleted, "", func() error { return s.remove(ctx, p, disk) })
	}
	return s.act(ActionWritten, "", func() error { return s.writeStored(ctx, p, disk, now) })
}

// act does something unless this is a dry run.
func (s *syncer) act(action Action, detail string, do func() error) (SyncedFile, error) {
	done := SyncedFile{Action: action, Detail: detail}
	if s.opts.DryRun {
		return done, nil
	}
	return done, do()
}

// writeStored writes the store's text over the file that was seen.
func (m *mirror) writeStored(ctx context.Context, p string, disk diskFile, now storeState) error {
	if !now.exists() {
		return fmt.Errorf("writing %s: the store has nothing for it: %w", p, store.ErrNotFound)
	}
	if now.seated.isFrame() {
		return m.write(ctx, p, bytes.NewReader(now.seated.text()), now.position, disk)
	}
	var source io.ReadCloser
	err := m.w.Store.View(ctx, func(tx *store.Tx) error {
		content, err := tx.Content(now.seated.version.Record)
		if err == nil {
			source, err = content.Open()
		}
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(m.write(ctx, p, source, now.position, disk), source.Close())
}

// deleted settles a file that was deleted on disk: it is written again, but a
// marker that someone removed is cleared.
func (s *syncer) deleted(ctx context.Context, p string, now storeState, storeSame bool) (SyncedFile, error) {
	if s.opts.CaptureOnly {
		return SyncedFile{}, nil
	}
	name := now.seated.version.Record.Name
	if name.Kind != record.KindMarker || !storeSame {
		return s.act(ActionWritten, "it had been deleted", func() error { return s.writeStored(ctx, p, diskFile{}, now) })
	}
	return s.act(ActionCleared, "", func() error {
		err := s.w.Store.Update(ctx, func(tx *store.Tx) error {
			return tx.Retire(name, store.Current(now.seated.version.Ref))
		})
		if err == nil {
			s.memory.forget(p)
		}
		return err
	})
}

// fromDisk settles a file that is new or changed on disk: its text is read once,
// and what is decided is decided about that text.
func (s *syncer) fromDisk(ctx context.Context, p string, disk diskFile, now storeState, known memo, storeSame bool) (SyncedFile, error) {
	if now.exists() && !s.opts.Accept && !(storeSame && s.rank(p) > 0) { // markers say the same again and again
		older, err := s.isOlder(ctx, now, disk)
		if err != nil {
			return SyncedFile{}, err
		}
		if older {
			return s.putBack(ctx, ActionRolledBack, "it holds an older version", p, disk, now)
		}
	}
	f, err := s.readFile(ctx, disk)
	if err != nil {
		return SyncedFile{}, err
	}
	defer func() { _ = f.body.Discard() }() // a temporary file, swept later if it stays
	if f.place.Kind == record.KindFrame && mergeMarker(f.text) > 0 {
		return SyncedFile{}, errGitConflict
	}
	switch _, remembered := s.memory.get(p); {
	case !now.exists() && remembered && s.rank(p) == 0: // a marker that is written again is a new one
		return s.act(ActionConflict, "it was changed while the store retired it", func() error { return s.keepBeside(ctx, f) })
	case !now.exists() || storeSame:
		return s.captured(ctx, f, disk, now)
	}
	return s.merge(ctx, f, disk, now, known)
}

// captured stores a file of which the store has nothing newer.
func (s *syncer) captured(ctx context.Context, f sourceFile, disk diskFile, now storeState) (SyncedFile, error) {
	done, err := s.act(ActionCaptured, "", func() error { return s.capture(ctx, f, disk, now) })
	if isWriteOnce(err) {
		if err := s.keepAltered(ctx, f, now); err != nil {
			return SyncedFile{}, err
		}
		return s.putBack(ctx, ActionAltered, "kept as note/"+alteredID(f.path), f.path, disk, now)
	}
	return done, err
}

// capture stores a file over what the store was seen to have, and remembers it
// as settled if the store then had what the disk has. An entry that did not
// change on disk may have changed in the store meanwhile.
func (s *syncer) capture(ctx context.Context, f sourceFile, disk diskFile, now storeState) error {
	result, err := s.w.storeOver(ctx, f, now.seated)
	if err != nil {
		return err
	}
	s.report.Problems = append(s.report.Problems, result.problems...)
	position := max(result.position, now.position)
	var then *seated
	err = s.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		then, err = seatedBefore(tx, result.names[len(result.names)-1], position)
		return err
	})
	if err == nil && then.digest() == disk.digest {
		s.memory.set(f.path, memoOf(disk.stat, disk.digest, position))
	}
	return err
}

// putBack reports a file that is not captured, and with Repair writes the
// store's text back.
func (s *syncer) putBack(ctx context.Context, found Action, detail, p string, disk diskFile, now storeState) (SyncedFile, error) {
	if !s.opts.Repair || s.opts.CaptureOnly {
		return SyncedFile{Action: found, Detail: detail}, nil
	}
	return s.act(ActionRestored, detail, func() error { return s.writeStored(ctx, p, disk, now) })
}

// alteredID is the id of the note that keeps the text of an altered file.
func alteredID(p string) string { return p + "~altered" }

// keepAltered keeps the text of a write-once file that was changed on disk.
func (s *syncer) keepAltered(ctx context.Context, f sourceFile, now storeState) error {
	return s.w.keepNote(ctx, f, alteredID(f.path), []record.Link{{Type: "altered", Target: now.seated.version.Ref.String()}})
}

// keepNote keeps a text that belongs in no file as a note.
func (w *Workspace) keepNote(ctx context.Context, f sourceFile, id string, links []record.Link) error {
	name, err := record.NewName("", record.KindNote, id)
	if err != nil {
		return err
	}
	if err := f.prepare(ctx, w.Store); err != nil {
		return err
	}
	r := envelope(name, "", layout.Facts{}, f.source)
	r.Links = links
	_, err = w.Store.Put(ctx, store.Draft{
		Record: r, Body: f.body, Description: describe(sample{f.text, f.words}, f.body.Size, layout.Facts{}, w.Settings.Preview),
	})
	return err
}

// keepBeside keeps the text of a file as a conflict version: the store retired its
// record, or has another text by now, and nobody can know which is meant.
func (s *syncer) keepBeside(ctx context.Context, f sourceFile) error {
	name := record.Name{Kind: f.place.Kind, ID: f.place.ID}
	if err := f.prepare(ctx, s.w.Store); err != nil {
		return err
	}
	return s.w.Store.Update(ctx, func(tx *store.Tx) error {
		last, _, err := tx.Last(name)
		target := last.Ref.String()
		if errors.Is(err, store.ErrNotFound) {
			target = name.String() // every version was dropped
		} else if err != nil {
			return err
		}
		_, err = tx.Put(s.w.conflictDraft(name, f.path, f.text, f.body, layout.Facts{}, target))
		return err
	})
}

// conflictDraft is the draft of a conflict version.
func (w *Workspace) conflictDraft(name record.Name, p string, text []byte, body store.Body, facts layout.Facts, target string) store.Draft {
	r := envelope(name, p, facts, record.SourceSync)
	r.Links = append(r.Links, record.Link{Type: record.LinkConflict, Target: target})
	record.SortLinks(r.Links)
	return store.Draft{Record: r, Body: body, Description: describe(sampleOf(text), body.Size, facts, w.Settings.Preview)}
}
