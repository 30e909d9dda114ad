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
	"filebus/materialize/mirror"
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
	Skipped  []mirror.Skipped      `json:"skipped"`
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
	report := &SyncReport{Root: root, Files: []SyncedFile{}, Skipped: []mirror.Skipped{}}
	err := w.withMirror(ctx, root, func(r *reconciler) error {
		r.opts, r.report = opts, report
		return r.run(ctx)
	})
	return report, err
}

// withMirror runs fn while the mirror lock is held, for a root.
func (w *Workspace) withMirror(ctx context.Context, root string, fn func(r *reconciler) error) error {
	return w.mirrors.Hold(ctx, func() error {
		m, err := w.mirrors.Open(root, w.outside())
		if err != nil {
			return err
		}
		err = fn(w.reconciler(m))
		return errors.Join(err, m.Close())
	})
}

// reconciler returns what settles single files of a mirror for a command.
func (w *Workspace) reconciler(m *mirror.Mirror) *reconciler {
	return &reconciler{Mirror: m, w: w, opts: SyncOptions{Announced: true}, report: &SyncReport{}, start: time.Now()}
}

// A reconciler brings files of a root and the store in step, while the mirror lock is
// held.
type reconciler struct {
	*mirror.Mirror
	w      *Workspace
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
func (e editMade) meets(now storeState, known mirror.Memo) bool {
	return e.made != record.Digest{} && known.Digest == e.of && now.exists() && now.digest == e.made
}

func (r *reconciler) run(ctx context.Context) error {
	found, deadline, err := r.findFiles(ctx)
	if err != nil {
		return err
	}
	r.report.Skipped = append(r.report.Skipped, found.Skipped...)
	touched, position, err := r.touched(ctx)
	if err != nil {
		return err
	}
	paths := r.candidates(found, touched)
	if paths, err = r.takeNew(ctx, found, paths); err != nil {
		return err
	}
	var damage error
	for i, p := range paths {
		if !deadline.IsZero() && time.Now().After(deadline) {
			r.report.Unlooked = len(paths) - i
			return nil
		}
		err := r.one(ctx, p)
		if errors.Is(err, store.ErrDamaged) {
			// One lost body keeps no other file from being settled.
			damage = errors.Join(damage, fmt.Errorf("%s: %w", p, err))
			continue
		}
		if err != nil {
			return err
		}
		if r.opts.Progress != nil {
			r.opts.Progress(i+1, len(paths))
		}
	}
	if damage == nil && !r.opts.DryRun && !r.opts.CaptureOnly {
		r.Memory.Settle(position)
	}
	return damage
}

// findFiles lists the files on disk, and says until when they may be settled:
// when looking took the whole budget, half as much again is left for that. Only
// files that are there are taken in then, so that a part of them will do.
func (r *reconciler) findFiles(ctx context.Context) (found *mirror.Walk, deadline time.Time, err error) {
	if r.opts.Budget > 0 {
		deadline = r.start.Add(r.opts.Budget)
	}
	if !r.opts.CaptureOnly {
		found, err = r.scan(ctx, time.Time{})
		return found, deadline, err
	}
	if found, err = r.scan(ctx, deadline); err != nil || deadline.IsZero() {
		return found, deadline, err
	}
	r.report.Unread = found.Unlooked
	if least := time.Now().Add(r.opts.Budget / 2); least.After(deadline) {
		deadline = least
	}
	return found, deadline, nil
}

// touched returns the paths of the own tree that the log names since the mirror
// was last settled, and the position of the log's end.
func (r *reconciler) touched(ctx context.Context) (paths map[string]bool, position uint64, err error) {
	paths = map[string]bool{}
	known := func(of *record.Record, position uint64) bool { // disk and store agreed after this change
		f, remembered := r.Memory.Get(of.Path)
		return remembered && f.Position >= position
	}
	if r.opts.CaptureOnly {
		return paths, 0, nil
	}
	for next := r.Memory.Settled + 1; ; {
		more := false
		err := r.w.Store.View(ctx, func(tx *store.Tx) error {
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
func (r *reconciler) candidates(found *mirror.Walk, touched map[string]bool) []string {
	onDisk := make(map[string]bool, len(found.Files))
	var paths []string
	remembered := 0
	for _, f := range found.Files {
		onDisk[f.Path] = true
		known, ok := r.Memory.Get(f.Path)
		if ok {
			remembered++
		}
		if !ok || !known.Matches(f) {
			paths = append(paths, f.Path)
			delete(touched, f.Path)
		}
	}
	if !r.opts.CaptureOnly && remembered < r.Memory.Count { // some are not on disk
		for p := range r.Memory.Paths() {
			if !onDisk[p] && !touched[p] {
				paths = append(paths, p)
			}
		}
	}
	for p := range touched {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(r.rank(a), r.rank(b)), strings.Compare(a, b))
	})
	return paths
}

// takeNew stores the files that are new to both mirror and store, many in one
// transaction, and returns the paths that are left to be settled one by one:
// among them aggregates, and markers, which must come last.
func (r *reconciler) takeNew(ctx context.Context, found *mirror.Walk, paths []string) (left []string, err error) {
	candidate := make(map[string]bool, len(paths))
	for _, p := range paths {
		candidate[p] = true
	}
	var files []mirror.Stat
	for _, f := range found.Files {
		if candidate[f.Path] && r.isNew(f) {
			files = append(files, f)
		}
	}
	if r.opts.DryRun || r.opts.Budget > 0 || len(files) < 2 {
		return paths, nil
	}
	l := &loader{w: r.w, dir: r.Dir, source: record.SourceSync, place: r.w.recognise}
	for _, batch := range cutBatches(files) {
		if err := r.takeBatch(ctx, l, batch, candidate); err != nil {
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

// StillFor is how long a file must not have changed before a command that only
// reads takes it in.
const StillFor = 2 * time.Second

// isStill reports whether a file was left alone for long enough to be whole.
func isStill(stat mirror.Stat, now time.Time) bool { return now.Sub(stat.ModTime) >= StillFor }

func (r *reconciler) isNew(f mirror.Stat) bool {
	if _, remembered := r.Memory.Get(f.Path); remembered || r.rank(f.Path) > 0 {
		return false
	}
	return !isOutside(f.Path) && (r.opts.Announced || isStill(f, r.w.now()))
}

// takeBatch stores those of a batch that nothing stands for yet and takes them
// off the candidates. What cannot be read, and what loses a race, stays one.
func (r *reconciler) takeBatch(ctx context.Context, l *loader, files []mirror.Stat, candidate map[string]bool) error {
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
		r.Memory.Set(mirror.File{Stat: f.stat, Exists: true, Digest: p.puts[0].Body.Digest}, position)
		r.report.Problems = append(r.report.Problems, p.problems...)
		r.report.Files = append(r.report.Files, SyncedFile{Path: f.path, Action: ActionCaptured})
	}
	return nil
}

func (r *reconciler) rank(p string) int {
	if r.w.recognise(p).Kind == record.KindMarker {
		return 1
	}
	return 0
}

// one settles one path and reports it. What is wrong with one file is reported
// and keeps no other from being settled.
func (r *reconciler) one(ctx context.Context, p string) error {
	done, err := r.settle(ctx, p)
	switch {
	case errors.Is(err, mirror.ErrRaced):
		done = SyncedFile{Path: p, Action: ActionWaiting}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrNoStore):
		return err
	case err != nil:
		r.report.Skipped = append(r.report.Skipped, mirror.Skipped{Path: p, Reason: mirror.Cause(err)})
		return nil
	}
	if done.Action != "" {
		r.report.Files = append(r.report.Files, done)
	}
	return nil
}

// settle decides and acts about one path, again if something came between.
func (r *reconciler) settle(ctx context.Context, p string) (SyncedFile, error) {
	for try := 1; ; try++ {
		before, _ := r.Memory.Get(p)
		done, err := r.trySettle(ctx, p)
		if late := (*mirror.LateError)(nil); errors.As(err, &late) {
			if err = r.takeLate(ctx, p, late, before); err == nil {
				err = mirror.ErrRaced
			}
		}
		busy := errors.Is(err, mirror.ErrRaced)
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

// A storeState is what the store has for a path.
type storeState struct {
	seated   *seated // nil if nothing stands there
	digest   record.Digest
	position uint64
}

func (s storeState) exists() bool { return s.seated != nil }

func (r *reconciler) stored(ctx context.Context, p string) (state storeState, err error) {
	err = r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		state.position = tx.Position()
		state.seated, err = seatedAt(tx, "", p)
		return err
	})
	state.digest = state.seated.digest()
	return state, err
}

// trySettle compares disk, store and memory as they are now, and acts. What it
// writes expects that this is still so.
func (r *reconciler) trySettle(ctx context.Context, p string) (SyncedFile, error) {
	disk, err := r.Look(ctx, p)
	if err != nil {
		return SyncedFile{}, err
	}
	now, err := r.stored(ctx, p)
	if err != nil {
		return SyncedFile{}, err
	}
	known, remembered := r.Memory.Get(p)
	if disk.Exists && now.exists() && disk.Digest == now.digest {
		r.Memory.Set(disk, now.position)
		return SyncedFile{}, nil
	}
	diskSame := remembered && disk.Exists && disk.Digest == known.Digest || !remembered && !disk.Exists
	storeSame := remembered && now.exists() && now.digest == known.Digest
	switch {
	case !disk.Exists && !now.exists():
		r.Memory.Forget(p)
		return SyncedFile{}, nil
	case diskSame:
		return r.fromStore(ctx, p, disk, now)
	case !disk.Exists:
		return r.deleted(ctx, p, now, storeSame)
	case !r.opts.Announced && !isStill(disk.Stat, r.w.now()):
		return SyncedFile{Action: ActionWaiting}, nil
	}
	return r.fromDisk(ctx, p, disk, now, known, storeSame)
}

// fromStore writes or deletes a file that is unchanged on disk.
func (r *reconciler) fromStore(ctx context.Context, p string, disk mirror.File, now storeState) (SyncedFile, error) {
	switch {
	case r.opts.CaptureOnly:
		return SyncedFile{}, nil
	case !now.exists():
		return r.act(ActionDeleted, "", func() error { return r.Remove(ctx, p, disk) })
	}
	return r.act(ActionWritten, "", func() error { return r.writeStored(ctx, p, disk, now) })
}

// act does something unless this is a dry run.
func (r *reconciler) act(action Action, detail string, do func() error) (SyncedFile, error) {
	done := SyncedFile{Action: action, Detail: detail}
	if r.opts.DryRun {
		return done, nil
	}
	return done, do()
}

// writeStored writes the store's text over the file that was seen.
func (r *reconciler) writeStored(ctx context.Context, p string, disk mirror.File, now storeState) error {
	if err := checkWritable(p); err != nil {
		return err
	}
	if !now.exists() {
		return fmt.Errorf("writing %s: the store has nothing for it: %w", p, store.ErrNotFound)
	}
	if now.seated.isFrame() {
		return r.Write(ctx, p, bytes.NewReader(now.seated.text()), now.position, disk)
	}
	source, err := view(ctx, r.w.Store, func(tx *store.Tx) (io.ReadCloser, error) {
		content, err := tx.Content(now.seated.version.Record)
		if err != nil {
			return nil, err
		}
		return content.Open()
	})
	if err != nil {
		return err
	}
	return errors.Join(r.Write(ctx, p, source, now.position, disk), source.Close())
}

// deleted settles a file that was deleted on disk: it is written again, but a
// marker that someone removed is cleared.
func (r *reconciler) deleted(ctx context.Context, p string, now storeState, storeSame bool) (SyncedFile, error) {
	if r.opts.CaptureOnly {
		return SyncedFile{}, nil
	}
	name := now.seated.version.Record.Name
	if name.Kind != record.KindMarker || !storeSame {
		return r.act(ActionWritten, "it had been deleted", func() error { return r.writeStored(ctx, p, mirror.File{}, now) })
	}
	return r.act(ActionCleared, "", func() error {
		err := r.w.Store.Update(ctx, func(tx *store.Tx) error {
			return tx.Retire(name, store.Current(now.seated.version.Ref))
		})
		if err == nil {
			r.Memory.Forget(p)
		}
		return err
	})
}

// fromDisk settles a file that is new or changed on disk: its text is read once,
// and what is decided is decided about that text.
func (r *reconciler) fromDisk(ctx context.Context, p string, disk mirror.File, now storeState, known mirror.Memo, storeSame bool) (SyncedFile, error) {
	if now.exists() && !r.opts.Accept && !(storeSame && r.rank(p) > 0) { // markers say the same again and again
		older, err := r.isOlder(ctx, now, disk)
		if err != nil {
			return SyncedFile{}, err
		}
		if older {
			return r.putBack(ctx, ActionRolledBack, "it holds an older version", p, disk, now)
		}
	}
	f, err := r.readFile(ctx, disk)
	if err != nil {
		return SyncedFile{}, err
	}
	defer func() { _ = f.body.Discard() }() // a temporary file, swept later if it stays
	if f.place.Kind == record.KindFrame && mergeMarker(f.text) > 0 {
		return SyncedFile{}, errGitConflict
	}
	switch _, remembered := r.Memory.Get(p); {
	case !now.exists() && remembered && r.rank(p) == 0: // a marker that is written again is a new one
		return r.act(ActionConflict, "it was changed while the store retired it", func() error { return r.keepBeside(ctx, f) })
	case !now.exists() || storeSame:
		return r.captured(ctx, f, disk, now)
	}
	return r.merge(ctx, f, disk, now, known)
}

// captured stores a file of which the store has nothing newer.
func (r *reconciler) captured(ctx context.Context, f sourceFile, disk mirror.File, now storeState) (SyncedFile, error) {
	done, err := r.act(ActionCaptured, "", func() error { return r.capture(ctx, f, disk, now) })
	if isWriteOnce(err) {
		if err := r.keepAltered(ctx, f, now); err != nil {
			return SyncedFile{}, err
		}
		return r.putBack(ctx, ActionAltered, "kept as note/"+alteredID(f.path), f.path, disk, now)
	}
	return done, err
}

// capture stores a file over what the store was seen to have, and remembers it
// as settled if the store then had what the disk has. An entry that did not
// change on disk may have changed in the store meanwhile.
func (r *reconciler) capture(ctx context.Context, f sourceFile, disk mirror.File, now storeState) error {
	result, err := r.w.storeOver(ctx, f, now.seated)
	if err != nil {
		return err
	}
	r.report.Problems = append(r.report.Problems, result.problems...)
	position := max(result.position, now.position)
	var then *seated
	err = r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		then, err = seatedBefore(tx, result.names[len(result.names)-1], position)
		return err
	})
	if err == nil && then.digest() == disk.Digest {
		r.Memory.Set(disk, position)
	}
	return err
}

// putBack reports a file that is not captured, and with Repair writes the
// store's text back.
func (r *reconciler) putBack(ctx context.Context, found Action, detail, p string, disk mirror.File, now storeState) (SyncedFile, error) {
	if !r.opts.Repair || r.opts.CaptureOnly {
		return SyncedFile{Action: found, Detail: detail}, nil
	}
	return r.act(ActionRestored, detail, func() error { return r.writeStored(ctx, p, disk, now) })
}

// alteredID is the id of the note that keeps the text of an altered file.
func alteredID(p string) string { return p + "~altered" }

// keepAltered keeps the text of a write-once file that was changed on disk.
func (r *reconciler) keepAltered(ctx context.Context, f sourceFile, now storeState) error {
	return r.w.keepNote(ctx, f, alteredID(f.path), []record.Link{{Type: "altered", Target: now.seated.version.Ref.String()}})
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
func (r *reconciler) keepBeside(ctx context.Context, f sourceFile) error {
	name := record.Name{Kind: f.place.Kind, ID: f.place.ID}
	if err := f.prepare(ctx, r.w.Store); err != nil {
		return err
	}
	return r.w.Store.Update(ctx, func(tx *store.Tx) error {
		last, _, err := tx.Last(name)
		target := last.Ref.String()
		if errors.Is(err, store.ErrNotFound) {
			target = name.String() // every version was dropped
		} else if err != nil {
			return err
		}
		_, err = tx.Put(r.w.conflictDraft(name, f.path, f.text, f.body, layout.Facts{}, target))
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
