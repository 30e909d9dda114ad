package materialize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/record"
)

// A reconciler brings files of a root and the store in step, while the mirror lock is
// held.
type reconciler struct {
	*mirror.Mirror
	w         *Workspace
	opts      SyncOptions
	report    *SyncReport
	start     time.Time
	edit      *edited                     // is being written; nil: none
	found     []mirror.Stat               // the files on disk, in a sync
	seen      *mirror.Walk                // the same, if they were looked for before; else nil
	syncs     bool                        // it is a sync, and no command that looks at one file
	filter    *mirror.Filter              // see rules
	takesAll  bool                        // no rule leaves out the file, which a layout knows and a command is about to write
	onlyReads bool                        // for who looks at the entries of one file
	again     bool                        // what was destroyed before may come in
	command   bool                        // what is written is a command's change, made in this root
	changed   func(mirror.Stat) time.Time // see dates
	git       *mirror.Repository
	others    []otherRoot              // once they are asked
	later     []sides                  // notes to be retired together; nil: each at once
	left      map[string]record.Digest // see leftElsewhere
	back      string                   // what of the file just taken in is older, or less, than before
}

// An edited file is what a command has made of one, while the result is written. What an agent
// has made of the same text meanwhile is imported, if it cannot be merged, and the edit is made
// again, of that.
type edited struct {
	before *plan.State
	made   record.Digest // zero: it is not made again
	redo   bool          // the agent's text was imported
}

// meets reports whether what stands on disk was made of the text that was edited,
// while the store has nothing newer than the edit.
func (e *edited) meets(now *plan.State, known mirror.Memo) bool {
	isMade := e != nil && e.made != record.Digest{} && now.Digest() == e.made
	return isMade && known.Digest == e.before.Digest()
}

// raceTries is how often a file is reconciled or stored again that lost a race. Each
// try lost means that another process got its change in.
const raceTries = 20

// IsRace reports whether somebody else was faster, also in destroying what was read, so that the
// same can succeed when it is tried again. A link in the way stays there, as does a text that is written once.
func IsRace(err error) bool {
	isFinal := errors.Is(err, mirror.ErrLink) || errors.As(err, new(plan.Refusal)) || store.IsWriteOnce(err)
	return errors.Is(err, store.ErrConflict) && !isFinal || errors.Is(err, store.ErrDropped)
}

// again does something until nobody else was faster, a number of times at most.
func again(tries int, do func() error) (err error) {
	for try := 1; ; try++ {
		if err = do(); !IsRace(err) || try == tries {
			return err
		}
	}
}

// importFile stores what stands on disk at a path, if it is not stored yet, so that a
// write to the same path builds on it. It is remembered before that write begins:
// a process that dies in it leaves a file that is behind, not one that looks as if
// somebody had put an older version back.
func (r *reconciler) importFile(ctx context.Context, p string) error {
	r.opts, r.takesAll = SyncOptions{Announced: true, CaptureOnly: true}, r.rules().Known(p)
	r.ReadAgain(p)
	done, err := r.reconcile(ctx, p)
	end := time.Now().Add(r.w.mirrors.Wait()) // nothing is stored yet, so it may take as long as waiting for a turn
	for errors.Is(err, mirror.ErrRaced) && time.Now().Before(end) && ctx.Err() == nil {
		done, err = r.reconcile(ctx, p)
	}
	switch {
	case errors.Is(err, mirror.ErrRaced):
		return fmt.Errorf("taking in %s: %w: %w; try again", p, record.Busy, err)
	case errors.Is(err, plan.ErrGitConflict):
		err = fmt.Errorf("%s %w: resolve them first", p, err)
	}
	return errors.Join(conflictOr(p, done, err), r.Memory.Save())
}

// writeFile writes what the store has at a path, also over a file that was rolled
// back: its text is one that the store has.
func (r *reconciler) writeFile(ctx context.Context, p string) error {
	r.opts, r.command = SyncOptions{Announced: true, Repair: true}, r.Dir == r.w.Root
	done, err := r.reconcile(ctx, p)
	r.command = false
	if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrDamaged) {
		return fmt.Errorf("the store has the change, but %s is not written: %w; filebus sync --restore %s writes it", p, err, p)
	}
	return conflictOr(p, done, err)
}

// catchUp makes sure, before an edit, that a file which was imported has what the store
// has: if it could not be written before, nothing is changed that would be stored a
// second time when the command is tried again.
func (r *reconciler) catchUp(ctx context.Context, p string, now *plan.State) error {
	known, remembered := r.Memory.Get(p)
	isBehind := !remembered || known.State == mirror.Agreed && now != nil && now.Changed() > known.Position
	if now == nil || !isBehind || r.repository().Tracks(ctx, p) {
		return nil
	}
	if err := r.writeFile(ctx, p); err != nil {
		return fmt.Errorf("nothing was changed, as an earlier change has not reached its file: %w", err)
	}
	return nil
}

// conflictOr returns err, or the error of a file that is in conflict.
func conflictOr(p string, done SyncedFile, err error) error {
	if err == nil && (done.Action == actionConflict || done.Action == actionApart) {
		err = fmt.Errorf("%s: %w: %s; see filebus conflicts", p, store.ErrConflict, done.Detail)
	}
	return err
}

// reconcile decides and acts about one path, again if something came between.
func (r *reconciler) reconcile(ctx context.Context, p string) (SyncedFile, error) {
	for try := 1; ; try++ {
		before, _ := r.Memory.Get(p)
		done, err := r.tryReconcile(ctx, p)
		err = r.lateOr(ctx, p, before, err)
		busy := errors.Is(err, mirror.ErrRaced)
		if !busy && !IsRace(err) || try == raceTries {
			if done.Path = p; r.back != "" {
				r.report.Back = append(r.report.Back, p+": "+r.back)
				done.Detail, r.back = cmp.Or(done.Detail, r.back), ""
			}
			return done, err
		}
		if busy { // give who writes the file time to end
			time.Sleep(time.Duration(try) * time.Millisecond)
		}
	}
}

// lateOr takes in what an agent wrote to a file while that was replaced, which is then ErrRaced, or returns the error.
func (r *reconciler) lateOr(ctx context.Context, p string, before mirror.Memo, err error) error {
	late := (*mirror.LateError)(nil)
	if !errors.As(err, &late) {
		return err
	}
	return cmp.Or(r.importLate(ctx, p, late, before), error(mirror.ErrRaced))
}

// stored reads what the store has at a path.
func (r *reconciler) stored(ctx context.Context, p string) (*plan.State, error) {
	return view(ctx, r.w.Store, func(tx *store.Tx) (*plan.State, error) { return plan.At(tx, "", p) })
}

// Sides are what disk, store and memory have for a path.
type sides struct {
	path       string
	disk       mirror.File
	now        *plan.State // nil: the store has nothing
	position   uint64      // of the log, when the store was read
	known      mirror.Memo
	remembered bool
	storeSame  bool // nothing changed in the store since the two were compared
	destroyed  bool // what they had then is destroyed
	apart      bool // what the store has there came from another one, and the file is none of it
}

// agreed reports whether disk and store had the same bytes when they were compared.
func (s sides) agreed() bool { return s.remembered && s.known.State == mirror.Agreed }

// diskSame reports whether the file is as it was when they were compared.
func (s sides) diskSame() bool {
	if !s.remembered || s.known.State == mirror.Deleted {
		return !s.disk.Exists
	}
	return s.disk.Exists && s.disk.Digest == s.known.Digest
}

// compare reads what disk, store and memory have for a path.
func (r *reconciler) compare(ctx context.Context, p string) (s sides, err error) {
	s.path = p
	s.known, s.remembered = r.Memory.Get(p)
	s.disk, err = r.Look(ctx, p)
	if errors.Is(err, mirror.ErrFolder) && s.remembered && (r.syncs || !r.opts.CaptureOnly) {
		err = nil // the file is gone
	}
	if err != nil {
		return s, err
	}
	err = r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		s.position = tx.Position()
		if tx.HasGoneBack() || s.known.Position > s.position { // what the store has is not newer
			s.known, s.remembered = mirror.Memo{}, false
		}
		s.destroyed = s.remembered && r.w.isLeft(tx, p, s.known)
		s.now, err = plan.AtPlace(tx, "", p, func(now *plan.State) (bool, error) { return r.isPlace(tx, now, s) })
		if err == nil && s.now == nil && s.disk.Exists && !r.w.isMirrored(p) {
			var there *plan.State
			there, err = plan.At(tx, "", p)
			s.apart = there != nil
		}
		return err
	})
	s.storeSame = s.remembered && s.now != nil && (s.now.Changed() <= s.known.Position ||
		s.agreed() && !s.now.IsFrame() && s.now.Digest() == s.known.Digest) // as for tags
	return s, err
}

// tryReconcile compares disk, store and memory as they are now, and acts. What it
// writes expects that this is still so.
func (r *reconciler) tryReconcile(ctx context.Context, p string) (SyncedFile, error) {
	s, err := r.compare(ctx, p)
	if err != nil {
		return SyncedFile{}, err
	}
	rule := r.ruleOf(s)
	switch {
	case s.apart:
		return SyncedFile{Action: actionApart, Detail: "another store has a record of this name; the file is yours alone"}, nil
	case rule == mirror.RuleBroken, rule != "" && s.now == nil && !s.remembered:
		return SyncedFile{}, nil
	case rule != "" && r.isHidden(s):
		name := record.ShellWord(s.now.Name().String())
		return r.act(actionLeftOut, "hidden; filebus rm "+name+" --drop destroys it, and not the file", func() error {
			err := r.retire(ctx, s)
			if err == nil {
				r.Memory.Forget(p) // the file is its owner's alone from now on
			}
			return err
		})
	case s.disk.Exists && r.isOff(ctx, s):
		if !s.diskSame() {
			r.report.Skipped = append(r.report.Skipped, mirror.Skipped{
				Path: p, Reason: "the layout that took it in does not count any more", Harmless: true})
		}
		return SyncedFile{}, nil
	case s.disk.Exists && s.now != nil && s.disk.Digest == s.now.Digest():
		if r.syncs && !r.opts.CaptureOnly && isMisnamed(s.now.Name().Kind, r.w.recognise(p)) {
			return r.rename(ctx, s)
		}
		if err := r.heal(ctx, s); err != nil {
			return SyncedFile{}, err
		}
		r.Memory.Set(s.disk, s.position)
		return SyncedFile{}, nil
	case !s.disk.Exists:
		return r.missing(ctx, s)
	case s.diskSame() && (r.opts.CaptureOnly || s.storeSame && !s.agreed() && !r.isAsked(p, false)):
		return SyncedFile{}, nil
	case s.diskSame() && s.now == nil:
		return r.toDisk(ctx, s, actionDeleted, "", func() error { return r.Remove(ctx, p, s.disk) })
	case s.diskSame() && r.edit != nil && r.isApart(ctx, s):
		return r.act(actionWritten, "", func() error { return r.writeOnto(ctx, s) })
	case s.diskSame():
		return r.layOut(ctx, s, actionWritten, "")
	case !r.opts.Announced && !isStill(s.disk.Stat, r.w.now()) && !(r.opts.Finished && r.isFinished(ctx, p)):
		return SyncedFile{Action: actionWaiting}, nil
	case r.isBehind(ctx, s):
		return r.layOut(ctx, s, actionRestored, "")
	}
	return r.fromDisk(ctx, s)
}

// isOff reports whether a layout has taken a file in that does not count any more: all of it stays as it is.
func (r *reconciler) isOff(ctx context.Context, s sides) bool {
	if s.now == nil {
		return false
	}
	at, kind := r.w.recognise(s.disk.Path), s.now.Name().Kind
	if at.Kind != record.KindNote || at.Declared != "" || kind == record.KindNote || s.now.IsFrame() {
		return at.Kind == record.KindNote && at.Declared == "" && s.now.IsFrame()
	}
	by, err := view(ctx, r.w.Store, func(tx *store.Tx) (string, error) {
		return tx.Description(s.now.Version.Ref).Attributes[layout.AttributeLayout], nil
	})
	return err == nil && by != ""
}

// rename stores a file again whose folder is of another kind by now.
func (r *reconciler) rename(ctx context.Context, s sides) (SyncedFile, error) {
	return r.act(actionRenamed, "it was "+s.now.Name().String(), func() error {
		return r.withFile(ctx, s.disk, func(f plan.File) error {
			f.From = []record.Ref{s.now.Version.Ref}
			return r.capture(ctx, f, s)
		})
	})
}

// heal makes whole what the store has of a file, from the file, which has the same
// text. Only a sync that looks at the file does so.
func (r *reconciler) heal(ctx context.Context, s sides) error {
	if !r.syncs || r.opts.DryRun || s.now.IsFrame() {
		return nil
	}
	content, err := view(ctx, r.w.Store, func(tx *store.Tx) (store.Content, error) { return tx.Content(s.now.Version.Record) })
	if err == nil {
		err = content.Verify(ctx)
	}
	if !errors.Is(err, store.ErrDamaged) {
		return err
	}
	return r.withFile(ctx, s.disk, func(f plan.File) error {
		p, err := r.w.planner().Again(ctx, f, s.now)
		if err == nil {
			err = p.CarryOut(ctx, r.w.Store)
		}
		return err
	})
}

// act does something unless this is a dry run, or a conflict that is left for a sync, which has an
// exit code for it: whoever imports files only wants to read.
func (r *reconciler) act(action, detail string, do func() error) (SyncedFile, error) {
	done := SyncedFile{Action: action, Detail: detail}
	onlyReads := r.onlyReads || r.opts.Finished && r.opts.CaptureOnly
	if r.opts.DryRun || onlyReads && action == actionConflict {
		return done, nil
	}
	return done, do()
}

// writeStored writes the store's text over the file that was seen.
func (r *reconciler) writeStored(ctx context.Context, p string, disk mirror.File, now *plan.State) error {
	if err := r.w.checkOwn(p); err != nil {
		return err
	}
	if now == nil {
		return fmt.Errorf("writing %s: the store has nothing for it: %w", p, store.ErrNotFound)
	}
	r.Most = now.Version.Record.Mode()
	defer func() { r.Most = 0 }()
	if now.IsFrame() {
		return r.Write(ctx, p, bytes.NewReader(now.Text(now.Frame)), now.Position, disk)
	}
	source, err := view(ctx, r.w.Store, func(tx *store.Tx) (io.ReadCloser, error) {
		content, err := tx.Content(now.Version.Record)
		if err != nil {
			return nil, err
		}
		if !tx.IsOwn(now.Version.Record.Origin) {
			r.Most &^= 0o111
		}
		return content.Open()
	})
	if err != nil {
		return err
	}
	return errors.Join(r.Write(ctx, p, source, now.Position, disk), source.Close())
}

// fromDisk reconciles a file that is new or changed on disk: its text is read once,
// and what is decided is decided about that text.
func (r *reconciler) fromDisk(ctx context.Context, s sides) (done SyncedFile, err error) {
	isMarker := r.rank(s.path) > 0 // markers say the same again and again
	if s.now != nil && !s.now.IsFrame() && !r.opts.Accept && !(s.storeSame && isMarker) {
		older, err := view(ctx, r.w.Store, func(tx *store.Tx) (bool, error) {
			return s.now.Had(tx, s.disk.Digest)
		})
		if err != nil || older && !r.isCurrentAgain(ctx, s) {
			return r.putBack(ctx, s, actionRolledBack, "it holds an older version", err)
		}
	}
	err = r.withFile(ctx, s.disk, func(f plan.File) error {
		done, err = r.textFromDisk(ctx, f, s)
		return err
	})
	return done, err
}

// textFromDisk is fromDisk once the text is read.
func (r *reconciler) textFromDisk(ctx context.Context, f plan.File, s sides) (SyncedFile, error) {
	isMarker := r.rank(s.path) > 0
	isFrame := f.Location.Kind == record.KindFrame
	isForeign := f.Location.IsForeign() // as it stands it counts
	if isFrame && !isForeign && plan.MergeMarker(f.Text) > 0 {
		return SyncedFile{}, plan.ErrGitConflict
	}
	switch {
	case s.now == nil && s.destroyed:
		return SyncedFile{Action: actionDestroyed,
			Detail: "what it was made of was destroyed; rm removes it too, filebus put stores it"}, nil
	case s.now == nil && s.agreed() && !isMarker: // a marker that is written again is a new one
		detail := "it was changed while the store retired it"
		return r.act(actionConflict, detail, func() error { return r.keepBeside(ctx, f) })
	case isFrame && s.now.IsFrame() && !r.opts.Accept && !isForeign:
		return r.entriesFromDisk(ctx, f, s)
	case s.now == nil || s.storeSame || r.opts.Accept || isForeign || s.now.Name().Kind.IsOnce():
	case s.remembered || r.command || r.isRival(ctx, s):
		return r.mergeWhole(ctx, f, s)
	}
	if isCut, err := r.isCut(ctx, f, s.now); isCut && s.now.Name().Kind == record.KindResult && !r.opts.Accept || err != nil {
		return r.putBack(ctx, s, actionRolledBack, "it is only the beginning of what it was", err)
	}
	action, detail := actionCaptured, ""
	if from, moved := r.movedFrom(ctx, f); moved && s.now == nil {
		r.Memory.Forget(from.Record.Path) // it was not deleted: nothing is there to be restored
		action, detail, f.From = actionRenamed, "it was "+from.Record.Path, []record.Ref{from.Ref}
		f.Facts.Tags = from.Record.Tags
		if written := from.Record.Written; !written.IsZero() {
			f.Changed = func() time.Time { return written }
		}
	}
	done, err := r.act(action, detail, func() error { return r.capture(ctx, f, s) })
	if errors.Is(err, store.ErrBarred) && r.syncs {
		r.report.LeftOut = append(r.report.LeftOut, mirror.LeftOut{Path: f.Path, Rule: mirror.RuleDestroyed})
		return SyncedFile{}, nil
	}
	if store.IsWriteOnce(err) {
		return r.putBack(ctx, s, actionAltered, "kept as note/"+alteredID(f.Path), r.keepAltered(ctx, f, s.now))
	}
	return done, err
}

// putBack reports a file that is not captured, and with Repair writes the
// store's text back. What another root has of its own is no news.
func (r *reconciler) putBack(ctx context.Context, s sides, found string, detail string, err error) (SyncedFile, error) {
	switch {
	case err != nil:
		return SyncedFile{}, err
	case r.opts.Repair && !r.opts.CaptureOnly && !r.isStrangers(ctx, s.disk, s.path):
		return r.act(actionRestored, detail, func() error { return r.writeStored(ctx, s.path, s.disk, s.now) })
	case found == actionRolledBack && r.isLinked():
		r.Memory.Keep(s.disk, s.position)
		return SyncedFile{}, nil
	}
	return SyncedFile{Action: found, Detail: detail}, nil
}

// capture stores a file over what the store was seen to have, and remembers it
// as reconciled if the store then had what the disk has. An entry that did not
// change on disk may have changed in the store meanwhile.
func (r *reconciler) capture(ctx context.Context, f plan.File, s sides) error {
	p, err := r.w.planner().Over(ctx, f, s.now)
	if err != nil {
		return err
	}
	r.report.Problems = append(r.report.Problems, p.Problems...)
	if err := r.noteBack(ctx, f, s.now, p.Puts); err != nil {
		return err
	}
	position := p.Position
	if position == 0 {
		position = s.now.Position // nothing was new
	}
	then, err := view(ctx, r.w.Store, func(tx *store.Tx) (*plan.State, error) {
		return plan.Before(tx, p.Names[len(p.Names)-1], position)
	})
	if err == nil && then.Digest() == s.disk.Digest {
		r.Memory.Set(s.disk, position)
	}
	return err
}

// entriesFromDisk reconciles an aggregate file that is new or changed on disk. Who
// wrote it need not have seen what the store has: it is compared with the state that
// it was made from.
func (r *reconciler) entriesFromDisk(ctx context.Context, f plan.File, s sides) (SyncedFile, error) {
	base, err := r.w.planner().BaseOf(ctx, f, s.now, s.known.Position)
	if err != nil {
		return SyncedFile{}, err
	}
	if !r.isLinked() && !s.diskSame() && base.Stale && r.repository().HasBytes(ctx, f.Path) {
		return r.mergeEntries(ctx, f, s, plan.Base{State: s.now}, true) // as git has them they count
	}
	if base.Exact { // an older state: nothing in it is new
		return r.layOut(ctx, s, actionMerged, "it held an older version")
	}
	if r.command && !s.agreed() { // written by hand while the command's change was stored
		base = plan.Base{}
	}
	// Only who had the entries before can have removed them, and git is not meant to.
	keep := base.Gone > 0 && (!s.agreed() || r.repository().HasBytes(ctx, f.Path))
	if base.Gone > 0 && !keep { // the others may be about to follow
		if !r.opts.Announced && !isStill(s.disk.Stat, r.w.now()) {
			return SyncedFile{Action: actionWaiting}, nil
		}
		if err := r.checkWhole(ctx, s); err != nil {
			return SyncedFile{}, err
		}
	}
	if !keep && base.Gone > 0 && (base.TooManyGone() || len(bytes.TrimSpace(f.Text)) == 0) {
		return r.refuseLoss(ctx, f, s, base)
	}
	if s.agreed() && s.storeSame && !base.Stale && !keep {
		return r.act(actionCaptured, "", func() error { return r.capture(ctx, f, s) })
	}
	return r.mergeEntries(ctx, f, s, base, keep)
}

// isFinished reports whether nobody has a file open for writing, if that can be told.
func (r *reconciler) isFinished(ctx context.Context, p string) bool {
	isWritten, known := r.IsBeingWritten(ctx, p)
	return known && !isWritten
}

// checkWhole returns mirror.ErrRaced for a file that somebody is just writing.
func (r *reconciler) checkWhole(ctx context.Context, s sides) error {
	if isWritten, _ := r.IsBeingWritten(ctx, s.path); isWritten {
		return mirror.ErrRaced
	}
	again, err := r.Look(ctx, s.path)
	if err == nil && again.Digest != s.disk.Digest {
		err = mirror.ErrRaced
	}
	return err
}

// refuseLoss retires no entries of a text that has lost more of them than anybody
// removes by hand: it is kept beside the store's, and what is new in it is merged. A
// file that a slip has made unreadable stays.
func (r *reconciler) refuseLoss(ctx context.Context, f plan.File, s sides, base plan.Base) (SyncedFile, error) {
	detail := fmt.Sprintf("%d of its %d entries are gone", base.Gone, base.Gone+base.Common)
	if base.Unreadable != nil {
		detail += ": " + base.Unreadable.Error()
	}
	return r.act(actionConflict, detail, func() error {
		if base.Unreadable != nil {
			return nil
		}
		err := r.keepBeside(ctx, f)
		if err == nil {
			_, err = r.mergeEntries(ctx, f, s, base, true)
		}
		return err
	})
}

// mergeEntries reconciles an aggregate file that both disk and store have changed
// since they had a base, or that may never have been the same.
func (r *reconciler) mergeEntries(
	ctx context.Context, f plan.File, s sides, base plan.Base, keep bool,
) (SyncedFile, error) {
	merged, err := r.w.planner().Merge(ctx, f, s.now, base, keep)
	if (err != nil || len(merged.Conflicts) > 0) && r.edit.meets(s.now, s.known) {
		return r.captureToRedo(ctx, f, s)
	}
	if err != nil {
		return SyncedFile{}, err
	}
	action := actionMerged
	if len(merged.Conflicts) > 0 {
		action = actionConflict
	}
	return r.act(action, strings.Join(merged.Conflicts, ", "), func() error {
		if err := merged.CarryOut(ctx, r.w.Store); err != nil {
			return err
		}
		then, err := r.compare(ctx, f.Path)
		if err == nil && then.now == nil {
			err = mirror.ErrRaced
		}
		if err != nil {
			return err
		}
		then.disk = s.disk // what was merged: what it has become since is another change
		_, err = r.layOut(ctx, then, action, "")
		return err
	})
}

// mergeWhole reconciles a file that is one record: if one text goes on where the
// other ends, the longer one is meant; else the store's stays and the file's is
// kept as a conflict version, unless the store's is an edit that can be redone.
func (r *reconciler) mergeWhole(ctx context.Context, f plan.File, s sides) (SyncedFile, error) {
	var stored []byte
	if s.now.Version.Record.Size <= store.InlineLimit {
		var err error
		if stored, err = r.w.TextOf(ctx, s.now.Version); err != nil {
			return SyncedFile{}, err
		}
	}
	switch {
	case f.Body.Size > 0 || stored == nil:
	case r.edit.meets(s.now, s.known):
		return r.captureToRedo(ctx, f, s)
	case bytes.HasPrefix(f.Text, stored):
		return r.act(actionMerged, "", func() error { return r.capture(ctx, f, s) })
	case bytes.HasPrefix(stored, f.Text):
		return r.layOut(ctx, s, actionMerged, "")
	}
	name, ref := s.now.Name(), s.now.Version.Ref
	return r.act(actionConflict, name.String(), func() error {
		err := r.w.putBeside(ctx, name, f, plan.Conflict(ref.String()))
		if err == nil {
			_, err = r.layOut(ctx, s, actionConflict, "")
		}
		return err
	})
}

// captureToRedo stores a file in place of the edit that it has met.
func (r *reconciler) captureToRedo(ctx context.Context, f plan.File, s sides) (SyncedFile, error) {
	return r.act(actionMerged, "", func() error {
		err := r.capture(ctx, f, s)
		r.edit.redo = err == nil
		return err
	})
}

// importLate stores what an agent wrote to a file that was being replaced: it is
// merged like any other change, known being the state that the file had before.
func (r *reconciler) importLate(ctx context.Context, p string, late *mirror.LateError, known mirror.Memo) error {
	f := plan.File{Path: p, Location: r.w.recognise(p), Source: record.SourceSync}
	if late.Lost {
		f.Location = layout.Note(p)
	}
	if err := readInto(ctx, r.w.Store, &f, late.File(), 0); err != nil {
		return errors.Join(late, err)
	}
	defer func() { _ = f.Body.Discard() }() // a temporary file, swept later if it stays
	var err error
	if !late.Lost {
		if err = again(raceTries, func() error { return r.storeLate(ctx, f, known) }); err == nil {
			return late.Discard()
		}
	}
	id := p + "~" + r.w.NewID()
	if noteErr := r.w.keepNote(ctx, f, id); noteErr != nil {
		return errors.Join(late, err, noteErr)
	}
	if late.Lost {
		err = errors.Join(late.Err, fmt.Errorf("it was written to while it changed; that text is note/%s", id))
	} else {
		err = fmt.Errorf("what was written to it meanwhile is note/%s: %w", id, err)
	}
	return errors.Join(err, late.Discard())
}

// storeLate merges the text of a late file, or keeps it as a conflict version.
func (r *reconciler) storeLate(ctx context.Context, f plan.File, known mirror.Memo) error {
	now, err := r.stored(ctx, f.Path)
	if err != nil {
		return err
	}
	var merged *plan.Plan
	isFrame := now.IsFrame() && f.Location.Kind == record.KindFrame
	if isFrame {
		var base plan.Base
		if base, err = r.w.planner().BaseOf(ctx, f, now, known.Position); err == nil {
			merged, err = r.w.planner().Merge(ctx, f, now, base, true) // who came late had no time to read
		}
	}
	switch collides := !isFrame || err != nil || len(merged.Conflicts) > 0; {
	case collides && r.edit.meets(now, known):
		_, err := r.captureToRedo(ctx, f, sides{now: now, known: known})
		return err
	case !isFrame:
		return r.keepBeside(ctx, f)
	case err != nil:
		return err
	}
	return merged.CarryOut(ctx, r.w.Store)
}

func (w *Workspace) planner() plan.Planner {
	return plan.Planner{Store: w.Store, Preview: w.Settings.Preview, Review: w.Settings.Review, Now: w.now}
}

// storeFile stores one file as the newest version of what stands at its place,
// whatever that is by now.
func (w *Workspace) storeFile(ctx context.Context, f plan.File) (p *plan.Plan, err error) {
	err = again(raceTries, func() error {
		if p, err = w.planner().File(ctx, f, at(f)); err == nil {
			err = p.CarryOut(ctx, w.Store)
		}
		return err
	})
	return p, err
}

// at reads what the store has at a file's path.
func at(f plan.File) func(tx *store.Tx) (*plan.State, error) {
	return func(tx *store.Tx) (*plan.State, error) { return plan.At(tx, f.Tree, f.Path) }
}

// rank returns in which order files are reconciled: markers, which announce others, last.
func (r *reconciler) rank(p string) int {
	if r.w.recognise(p).Kind == record.KindMarker {
		return 1
	}
	return 0
}
