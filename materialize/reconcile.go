package materialize

import (
	"bytes"
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
	w      *Workspace
	opts   SyncOptions
	report *SyncReport
	start  time.Time
	edit   editMade
}

// An editMade is a command's edit of a file while its result is written. What an
// agent has made of the same text meanwhile is imported, if it cannot be merged, and
// the edit is made again, of that.
type editMade struct {
	of, made record.Digest // zero: there is none
	redo     bool          // the agent's text was imported
}

// meets reports whether what stands on disk was made of the text that was edited,
// while the store has nothing newer than the edit.
func (e editMade) meets(now *plan.State, known mirror.Memo) bool {
	return e.made != record.Digest{} && known.Digest == e.of && now != nil && now.Digest() == e.made
}

// raceTries is how often a file is reconciled or stored again that lost a race. Each
// try lost means that another process got its change in.
const raceTries = 20

// IsRace reports whether somebody else was faster, so that the same can succeed when
// it is tried again. A link in the way stays there.
func IsRace(err error) bool {
	return errors.Is(err, store.ErrConflict) && !errors.Is(err, mirror.ErrLink)
}

func isWriteOnce(err error) bool {
	var conflict *store.ConflictError
	return errors.As(err, &conflict) && conflict.WriteOnce
}

// importFile stores what stands on disk at a path, if it is not stored yet, so that a
// write to the same path builds on it. It is remembered before that write begins:
// a process that dies in it leaves a file that is behind, not one that looks as if
// somebody had put an older version back.
func (r *reconciler) importFile(ctx context.Context, p string) error {
	r.opts = SyncOptions{Announced: true, CaptureOnly: true}
	done, err := r.insist(ctx, p)
	if errors.Is(err, mirror.ErrRaced) {
		return fmt.Errorf("taking in %s: %w: %w; try again", p, record.Busy, err)
	}
	return errors.Join(conflictOr(p, done, err), r.Memory.Save())
}

// writeFile writes what the store has at a path, also over a file that was rolled
// back: its text is one that the store has.
func (r *reconciler) writeFile(ctx context.Context, p string) error {
	r.opts = SyncOptions{Announced: true, Repair: true}
	done, err := r.reconcile(ctx, p)
	if errors.Is(err, mirror.ErrRaced) {
		return fmt.Errorf("writing %s: %w; the store has the change, and filebus sync writes it", p, err)
	}
	return conflictOr(p, done, err)
}

// insist is reconcile for a command that has stored nothing yet: a file that changes
// all the time is tried for as long as the command waits for its turn.
func (r *reconciler) insist(ctx context.Context, p string) (SyncedFile, error) {
	for start := time.Now(); ; {
		done, err := r.reconcile(ctx, p)
		if !errors.Is(err, mirror.ErrRaced) || time.Since(start) >= r.w.mirrors.Wait() || ctx.Err() != nil {
			return done, err
		}
	}
}

// conflictOr returns err, or the error of a file that is in conflict.
func conflictOr(p string, done SyncedFile, err error) error {
	if err == nil && done.Action == ActionConflict {
		err = fmt.Errorf("%s: %w: %s; see filebus conflicts", p, store.ErrConflict, done.Detail)
	}
	return err
}

// reconcile decides and acts about one path, again if something came between.
func (r *reconciler) reconcile(ctx context.Context, p string) (SyncedFile, error) {
	for try := 1; ; try++ {
		before, _ := r.Memory.Get(p)
		done, err := r.tryReconcile(ctx, p)
		if late := (*mirror.LateError)(nil); errors.As(err, &late) {
			if err = r.importLate(ctx, p, late, before); err == nil {
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

// stored reads what the store has at a path.
func (r *reconciler) stored(ctx context.Context, p string) (*plan.State, error) {
	return view(ctx, r.w.Store, func(tx *store.Tx) (*plan.State, error) { return plan.At(tx, "", p) })
}

// Sides are what disk, store and memory have for a path.
type sides struct {
	disk      mirror.File
	now       *plan.State
	known     mirror.Memo
	storeSame bool // as is remembered
}

// tryReconcile compares disk, store and memory as they are now, and acts. What it
// writes expects that this is still so.
func (r *reconciler) tryReconcile(ctx context.Context, p string) (SyncedFile, error) {
	disk, err := r.Look(ctx, p)
	if err != nil {
		return SyncedFile{}, err
	}
	now, err := r.stored(ctx, p)
	if err != nil {
		return SyncedFile{}, err
	}
	known, remembered := r.Memory.Get(p)
	stored := now.Digest()
	if disk.Exists && now != nil && disk.Digest == stored {
		r.Memory.Set(disk, now.Position)
		return SyncedFile{}, nil
	}
	diskSame := remembered && disk.Exists && disk.Digest == known.Digest || !remembered && !disk.Exists
	storeSame := remembered && now != nil && stored == known.Digest
	switch {
	case !disk.Exists && now == nil:
		r.Memory.Forget(p)
		return SyncedFile{}, nil
	case (diskSame || !disk.Exists) && r.opts.CaptureOnly:
		return SyncedFile{}, nil
	case diskSame && now == nil:
		return r.act(ActionDeleted, "", func() error { return r.Remove(ctx, p, disk) })
	case diskSame:
		return r.act(actionWritten, "", func() error { return r.writeStored(ctx, p, disk, now) })
	case !disk.Exists && now.Name().Kind == record.KindMarker && storeSame:
		return r.act(actionCleared, "", func() error { return r.clear(ctx, p, now) })
	case !disk.Exists:
		return r.act(actionWritten, "it had been deleted", func() error { return r.writeStored(ctx, p, disk, now) })
	case !r.opts.Announced && !isStill(disk.Stat, r.w.now()):
		return SyncedFile{Action: ActionWaiting}, nil
	}
	return r.fromDisk(ctx, sides{disk, now, known, storeSame})
}

// act does something unless this is a dry run.
func (r *reconciler) act(action Action, detail string, do func() error) (SyncedFile, error) {
	done := SyncedFile{Action: action, Detail: detail}
	if r.opts.DryRun {
		return done, nil
	}
	return done, do()
}

// clear retires a marker whose file somebody has removed.
func (r *reconciler) clear(ctx context.Context, p string, now *plan.State) error {
	err := r.w.Store.Update(ctx, func(tx *store.Tx) error {
		return tx.Retire(now.Name(), store.Current(now.Version.Ref))
	})
	if err == nil {
		r.Memory.Forget(p)
	}
	return err
}

// writeStored writes the store's text over the file that was seen.
func (r *reconciler) writeStored(ctx context.Context, p string, disk mirror.File, now *plan.State) error {
	if err := checkWritable(p); err != nil {
		return err
	}
	if now == nil {
		return fmt.Errorf("writing %s: the store has nothing for it: %w", p, store.ErrNotFound)
	}
	if now.IsFrame() {
		return r.Write(ctx, p, bytes.NewReader(now.Text(now.Frame)), now.Position, disk)
	}
	source, err := view(ctx, r.w.Store, func(tx *store.Tx) (io.ReadCloser, error) {
		content, err := tx.Content(now.Version.Record)
		if err != nil {
			return nil, err
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
func (r *reconciler) fromDisk(ctx context.Context, s sides) (SyncedFile, error) {
	isMarker := r.rank(s.disk.Path) > 0 // markers say the same again and again
	if s.now != nil && !r.opts.Accept && !(s.storeSame && isMarker) {
		older, err := view(ctx, r.w.Store, func(tx *store.Tx) (bool, error) {
			return s.now.Had(tx, s.disk.Size, s.disk.Digest)
		})
		if err != nil {
			return SyncedFile{}, err
		}
		if older {
			return r.putBack(ctx, s, ActionRolledBack, "it holds an older version")
		}
	}
	f, err := r.readFile(ctx, s.disk)
	if err != nil {
		return SyncedFile{}, err
	}
	defer func() { _ = f.Body.Discard() }() // a temporary file, swept later if it stays
	if f.Location.Kind == record.KindFrame && plan.MergeMarker(f.Text) > 0 {
		return SyncedFile{}, plan.ErrGitConflict
	}
	switch _, remembered := r.Memory.Get(f.Path); {
	case s.now == nil && remembered && !isMarker: // a marker that is written again is a new one
		detail := "it was changed while the store retired it"
		return r.act(ActionConflict, detail, func() error { return r.keepBeside(ctx, f) })
	case s.now != nil && !s.storeSame && s.now.IsFrame() && f.Location.Kind == record.KindFrame:
		return r.mergeEntries(ctx, f, s)
	case s.now != nil && !s.storeSame:
		return r.mergeWhole(ctx, f, s)
	}
	done, err := r.act(ActionCaptured, "", func() error { return r.capture(ctx, f, s) })
	if isWriteOnce(err) {
		if err := r.keepAltered(ctx, f, s.now); err != nil {
			return SyncedFile{}, err
		}
		return r.putBack(ctx, s, ActionAltered, "kept as note/"+alteredID(f.Path))
	}
	return done, err
}

// putBack reports a file that is not captured, and with Repair writes the
// store's text back.
func (r *reconciler) putBack(ctx context.Context, s sides, found Action, detail string) (SyncedFile, error) {
	if !r.opts.Repair || r.opts.CaptureOnly {
		return SyncedFile{Action: found, Detail: detail}, nil
	}
	return r.act(actionRestored, detail, func() error { return r.writeStored(ctx, s.disk.Path, s.disk, s.now) })
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

// mergeEntries reconciles an aggregate file that both disk and store have changed
// since they agreed, or that may never have been the same.
func (r *reconciler) mergeEntries(ctx context.Context, f plan.File, s sides) (SyncedFile, error) {
	merged, err := r.w.planner().Merge(ctx, f, s.now, s.known.Position)
	if (err != nil || len(merged.Conflicts) > 0) && r.edit.meets(s.now, s.known) {
		return r.captureToRedo(ctx, f, s)
	}
	if err != nil {
		return SyncedFile{}, err
	}
	action := actionMerged
	if len(merged.Conflicts) > 0 {
		action = ActionConflict
	}
	return r.act(action, strings.Join(merged.Conflicts, ", "), func() error {
		if err := merged.CarryOut(ctx, r.w.Store); err != nil {
			return err
		}
		now, err := r.stored(ctx, f.Path)
		if err == nil && now == nil {
			err = mirror.ErrRaced
		}
		if err != nil {
			return err
		}
		return r.writeStored(ctx, f.Path, s.disk, now)
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
		return r.act(actionMerged, "", func() error { return r.writeStored(ctx, f.Path, s.disk, s.now) })
	}
	name, ref := s.now.Name(), s.now.Version.Ref
	return r.act(ActionConflict, name.String(), func() error {
		d, err := r.w.planner().Conflict(ctx, name, f, f.Content, layout.Facts{}, ref.String())
		if err == nil {
			_, err = r.w.Store.Put(ctx, d)
		}
		if err != nil {
			return err
		}
		return r.writeStored(ctx, f.Path, s.disk, s.now)
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
		f.Location = layout.Location{Kind: record.KindNote, ID: p, Layout: layout.Notes{}}
	}
	if err := readInto(ctx, r.w.Store, &f, late.File(), 0); err != nil {
		return errors.Join(late, err)
	}
	defer func() { _ = f.Body.Discard() }() // a temporary file, swept later if it stays
	var err error
	for try := 1; !late.Lost; try++ {
		if err = r.storeLate(ctx, f, known); err == nil {
			return late.Discard()
		}
		if !IsRace(err) || try == raceTries {
			break
		}
	}
	id := p + "~" + r.w.NewID()
	if noteErr := r.w.keepNote(ctx, f, id, nil); noteErr != nil {
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
		merged, err = r.w.planner().Merge(ctx, f, now, known.Position)
	}
	switch collides := !isFrame || err != nil || len(merged.Conflicts) > 0; {
	case collides && r.edit.meets(now, known):
		_, err := r.w.planner().Over(ctx, f, now)
		r.edit.redo = err == nil
		return err
	case !isFrame:
		return r.keepBeside(ctx, f)
	case err != nil:
		return err
	}
	return merged.CarryOut(ctx, r.w.Store)
}

// alteredID is the id of the note that keeps the text of an altered file.
func alteredID(p string) string { return p + "~altered" }

// keepAltered keeps the text of a write-once file that was changed on disk.
func (r *reconciler) keepAltered(ctx context.Context, f plan.File, now *plan.State) error {
	return r.w.keepNote(ctx, f, alteredID(f.Path), []record.Link{{Type: "altered", Target: now.Version.Ref.String()}})
}

// keepNote keeps a text that belongs in no file as a note.
func (w *Workspace) keepNote(ctx context.Context, f plan.File, id string, links []record.Link) error {
	name, err := record.NewName("", record.KindNote, id)
	if err != nil {
		return err
	}
	if err := f.Prepare(ctx, w.Store); err != nil {
		return err
	}
	r := plan.Envelope(name, "", layout.Facts{}, f.Source)
	r.Links = links
	d := store.Draft{Record: r, Body: f.Body, Description: plan.Describe(f.Content, layout.Facts{}, w.Settings.Preview)}
	_, err = w.Store.Put(ctx, d)
	return err
}

// keepBeside keeps the text of a file as a conflict version: the store retired its
// record, or has another text by now, and nobody can know which is meant.
func (r *reconciler) keepBeside(ctx context.Context, f plan.File) error {
	name := record.Name{Kind: f.Location.Kind, ID: f.Location.ID}
	if err := f.Prepare(ctx, r.w.Store); err != nil {
		return err
	}
	return r.w.Store.Update(ctx, func(tx *store.Tx) error {
		last, _, err := tx.Last(name)
		target := last.Ref.String()
		if errors.Is(err, store.ErrNotFound) {
			target, err = name.String(), nil // every version was dropped
		}
		if err != nil {
			return err
		}
		d, err := r.w.planner().Conflict(ctx, name, f, f.Content, layout.Facts{}, target)
		if err == nil {
			_, err = tx.Put(d)
		}
		return err
	})
}

func (w *Workspace) planner() plan.Planner {
	return plan.Planner{Store: w.Store, Preview: w.Settings.Preview}
}

// storeFile stores one file as the newest version of what stands at its place,
// whatever that is by now.
func (w *Workspace) storeFile(ctx context.Context, f plan.File) (*plan.Plan, error) {
	for try := 1; ; try++ {
		p, err := w.planner().File(ctx, f, at(f))
		if err != nil {
			return nil, err
		}
		if err = p.CarryOut(ctx, w.Store); !IsRace(err) || isWriteOnce(err) || try == raceTries {
			return p, err
		}
	}
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
