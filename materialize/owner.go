package materialize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/record"
)

// The disk belongs to its owner and to git. This file says what sync may do to it:
// which files it may write, and what a file means that is not there.

// isPlace reports whether a path is the place of a record that stands there, so that the file belongs to it. A name that
// came from another store gets no file of its user's, but for one with the same bytes: the user's word are
// layouts, note folders without what a rule leaves out, and what this store has written or taken in.
func (r *reconciler) isPlace(tx *store.Tx, now *plan.State, s sides) (bool, error) {
	at, name := r.w.recognise(s.path), now.Name()
	usual, _ := r.w.RecordPath(name.Kind, name.ID) // else it has none
	isKnown := s.remembered && (!s.disk.Exists || s.known.State != mirror.Deleted) || s.disk.Exists && s.disk.Digest == now.Digest()
	switch {
	case r.w.checkOwn(s.path) != nil && !at.IsForeign():
		return false, nil
	case name != r.w.nameAt(s.path) && usual != s.path:
	case r.w.isMirrored(s.path) && (isKnown || r.ruleOf(s) == ""), isKnown && !layout.IsObeyed(s.path):
		return true, nil
	}
	events, err := tx.History(name)
	return err == nil && slices.ContainsFunc(events, func(e store.Event) bool {
		v, err := tx.Get(e.Ref)
		if err != nil || e.Change != store.ChangePut || v.Record.Path != s.path || v.Record.IsMerged() || !tx.IsOwn(v.Record.Origin) {
			return false
		}
		before, err := tx.Get(v.Record.Prev) // with the same text only tags are its own
		return err != nil || before.Record.Body != v.Record.Body
	}), err
}

// ruleOf returns the rule that leaves out a file that is there, or "".
func (r *reconciler) ruleOf(s sides) string {
	if s.disk.Exists && !r.takesAll && !isOutside(s.path) {
		return r.rules().Find(s.path)
	}
	return ""
}

// repository returns what git knows of the files of the root.
func (r *reconciler) repository() *mirror.Repository {
	if r.git == nil {
		r.git = mirror.NewRepository(r.Dir, r.w.Settings.Variables)
	}
	return r.git
}

// isLinked reports whether the root is a linked worktree.
func (r *reconciler) isLinked() bool { return r.Dir != r.w.Main }

// isAsked reports whether the user has asked for a file to be written, which may be gone.
func (r *reconciler) isAsked(p string, isGone bool) bool {
	return r.command || r.opts.Repair || r.isRestored(p, isGone)
}

// isRestored reports whether the user has asked for a file back.
func (r *reconciler) isRestored(p string, isGone bool) bool {
	_, remembered := r.Memory.Get(p)
	return r.opts.Restore != nil && r.opts.Restore(p, isGone && remembered)
}

// isHidden reports whether the store hides a file of one record, or of another program, that a rule leaves out: one that
// only a sync has taken in, and that no other root still takes in.
func (r *reconciler) isHidden(s sides) bool {
	takesIn := func(root string) bool {
		rule := r.w.rootFilter(root).Find(s.path)
		return root != r.Dir && (rule == "" || rule == mirror.RuleBroken)
	}
	isOwn := s.now.IsFrame() && !r.w.recognise(s.path).IsForeign() // its entries are filebus's
	return r.syncs && !r.opts.CaptureOnly && s.now != nil && !isOwn && s.now.Version.Record.Source == record.SourceSync &&
		!(r.isElsewhere(s.path) && slices.ContainsFunc(r.w.Roots(), takesIn))
}

// mayWrite reports whether sync may write or delete a file, or make it where there is
// none: only a file of a layout or of a note folder, not one that git tracks or a rule
// leaves out, and a new one only where git ignores it. A command may in the root that it runs in.
func (r *reconciler) mayWrite(ctx context.Context, s sides) bool {
	if r.w.recognise(s.path).IsForeign() || !r.command && !r.w.isMirrored(s.path) { // the store may be one that came with a repository
		return false
	}
	if !r.command && (layout.IsObeyed(s.path) && !r.isRestored(s.path, !s.disk.Exists) ||
		s.disk.Exists && !isOutside(s.path) && r.rules().Find(s.path) != "") {
		return false
	}
	if r.isStrangers(ctx, s.disk, s.path) {
		return false
	}
	if r.isAsked(s.path, !s.disk.Exists) || isOutside(s.path) {
		return true
	}
	g := r.repository()
	if s.disk.Exists || g.Tracks(ctx, s.path) {
		return !g.Tracks(ctx, s.path)
	}
	return g.Err() == nil && (!g.Has() || g.Ignores(ctx, s.path))
}

// isStrangers reports whether another program wrote what stands at a path, in a folder of its own outside of the
// workspace: filebus replaces and removes there only what it has written itself.
func (r *reconciler) isStrangers(ctx context.Context, disk mirror.File, p string) bool {
	if !disk.Exists || !isOutside(p) || !r.IsFound(ctx, p) {
		return false
	}
	wrote, err := view(ctx, r.w.Store, func(tx *store.Tx) (bool, error) {
		events, err := tx.History(r.w.nameAt(p))
		for _, e := range events { // who had the text first wrote it
			if v, err := tx.Get(e.Ref); err == nil && v.Record.Body == disk.Digest {
				return v.Record.Source != record.SourceSync, nil
			}
		}
		return false, err
	})
	return err != nil || !wrote
}

// refuseStrangers refuses to store another text in place of what another program wrote.
func (r *reconciler) refuseStrangers(ctx context.Context, p string, text record.Digest) error {
	disk, err := r.Look(ctx, p)
	if err != nil || disk.Digest == text || !r.isStrangers(ctx, disk, p) {
		return err
	}
	refused := record.Conflict.Errorf("%s was written by another program, and stays as it is; nothing was stored", r.w.FilePath(p))
	return refused.Because(ErrForeignFile).Try("run it again under another name")
}

// toDisk does something to a file unless it may not: then the file stays as it is, and
// that is remembered.
func (r *reconciler) toDisk(ctx context.Context, s sides, action string, detail string, do func() error) (SyncedFile, error) {
	if r.mayWrite(ctx, s) {
		return r.act(action, detail, do)
	}
	if s.disk.Exists && !r.opts.DryRun {
		r.Memory.Keep(s.disk, s.position)
	}
	g := r.repository()
	switch isTracked := g.Tracks(ctx, s.path); {
	case s.disk.Exists && isOutside(s.path): // of another program
	case s.disk.Exists && isTracked:
		r.report.Kept++
	case s.disk.Exists, r.w.isMirrored(s.path) && !isTracked && !g.Has():
		r.report.Unwritten++
	case r.w.isMirrored(s.path) && !isTracked:
		r.report.Unmade++
	}
	if s.disk.Exists && s.now == nil {
		r.report.Left = append(r.report.Left, filepath.Join(r.Dir, filepath.FromSlash(s.path)))
	}
	return SyncedFile{}, nil
}

// layOut writes what the store has over a file, if it may.
func (r *reconciler) layOut(ctx context.Context, s sides, action, detail string) (SyncedFile, error) {
	return r.toDisk(ctx, s, action, detail, func() error { return r.writeStored(ctx, s.path, s.disk, s.now) })
}

// isCurrentAgain reports whether a file that holds an older text has been put back, so
// that this text counts again: a note or a text of knowledge of the main root, a file of another program, or one
// that git has put there.
func (r *reconciler) isCurrentAgain(ctx context.Context, s sides) bool {
	kind := s.now.Name().Kind
	isFree := kind == record.KindNote || kind == record.KindKnowledge || r.w.recognise(s.path).IsForeign()
	return !r.isLinked() && !r.opts.Repair && (isFree || r.repository().HasBytes(ctx, s.path))
}

// holders returns the other roots that had the store's text of a file when they were looked at.
func (r *reconciler) holders(s sides) []otherRoot {
	return slices.DeleteFunc(slices.Clone(r.otherRoots()), func(o otherRoot) bool {
		f, remembered := o.memory.Get(s.path)
		return s.now == nil || !remembered || f.State != mirror.Agreed || f.Digest != s.now.Digest()
	})
}

// isBehind reports whether a file has the text that it had when its work tree parted from the one that the store's text
// is from: that is newer, whether this one is stored or not. What git puts into the main root later counts.
func (r *reconciler) isBehind(ctx context.Context, s sides) bool {
	isOf := func(o otherRoot) bool { return r.repository().IsBehind(ctx, s.path, o.dir) }
	return !r.opts.Accept && (r.isLinked() || !s.remembered) && slices.ContainsFunc(r.holders(s), isOf)
}

// isRival reports whether nobody can tell which is newer: the text that another root has, or this one, which was never
// looked at and is not git's.
func (r *reconciler) isRival(ctx context.Context, s sides) bool {
	return !s.remembered && isText(s.now.Name().Kind) && len(r.holders(s)) > 0 && !r.repository().Tracks(ctx, s.path)
}

// missing decides about a path at which no file is: one that was never here, or was
// deleted. What was deleted stays deleted, unless a command has changed it since.
func (r *reconciler) missing(ctx context.Context, s sides) (SyncedFile, error) {
	wasHere := s.remembered && s.known.State != mirror.Deleted
	switch {
	case r.opts.CaptureOnly && !r.syncs:
		return SyncedFile{}, nil
	case s.now == nil && s.remembered && r.isRestored(s.path, true) && r.rank(s.path) == 0: // markers say the same anew
		return r.act(actionWritten, "it had been deleted", func() error { return r.revive(ctx, s) })
	case s.now == nil && wasHere:
		return r.act("", "", func() error { return r.forgetDeleted(s) })
	case s.now == nil:
		return SyncedFile{}, nil
	case r.command, r.isRestored(s.path, true), !s.remembered && r.left[s.path] != s.now.Digest(), s.now.ChangedByCommand(s.known.Position) && s.now.Digest() != s.known.Digest,
		r.opts.Repair && !r.isRetiredWith(ctx, s):
		if r.opts.CaptureOnly {
			return SyncedFile{}, nil
		}
		detail := ""
		if s.remembered {
			detail = "it had been deleted"
		}
		return r.layOut(ctx, s, actionWritten, detail)
	case !wasHere && r.left[s.path] != s.now.Digest():
		return SyncedFile{}, nil
	case s.now.Name().Kind == record.KindMarker:
		return r.act(actionCleared, "", func() error { return r.retire(ctx, s) })
	}
	if to := r.movedTo(ctx, s); to != "" { // its entries keep their names
		return r.act(actionRenamed, "it is "+to, func() error { return r.retire(ctx, s) })
	}
	if r.isRetiredWith(ctx, s) {
		return r.act(actionRetired, "its file was deleted", func() error {
			if r.later != nil && isText(s.now.Name().Kind) {
				r.later = append(r.later, s)
				return nil
			}
			return r.retire(ctx, s)
		})
	}
	return r.act("", "", func() error { return r.forgetDeleted(s) })
}

// revive writes a file again that was deleted and retired, and stores it anew.
func (r *reconciler) revive(ctx context.Context, s sides) error {
	last, err := view(ctx, r.w.Store, func(tx *store.Tx) (*plan.State, error) { return lastState(tx, r.w.nameAt(s.path)) })
	if err != nil || last == nil {
		return err
	}
	if err := r.writeStored(ctx, s.path, s.disk, last); err != nil {
		return err
	}
	r.Memory.Forget(s.path) // what stands there now is new to the store
	_, err = r.tryReconcile(ctx, s.path)
	return err
}

// lastState returns what stood under a name before it was retired, or nil. The entries
// of a file are retired together with it, just before.
func lastState(tx *store.Tx, name record.Name) (*plan.State, error) {
	events, err := tx.History(name)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	for position := events[len(events)-1].Position - 1; position >= events[0].Position; position-- {
		if s, err := plan.Before(tx, name, position); s != nil || err != nil {
			return s, err
		}
	}
	return nil, nil
}

// forgetDeleted remembers that the file is not here any more.
func (r *reconciler) forgetDeleted(s sides) error {
	had := record.Digest{}
	if s.now == nil {
		had = s.known.Digest // it was retired, and may have been moved
	}
	r.Memory.Delete(s.path, s.position, had)
	return nil
}

// isRetiredWith reports whether a record goes when its file is deleted: a note or an entry that is
// a whole file, whoever has changed it last, and the entries of an aggregate that git did not take
// away, if no other root has it, and whatever another program keeps. Results, handoffs and all else stay findable.
func (r *reconciler) isRetiredWith(ctx context.Context, s sides) bool {
	switch {
	case r.w.recognise(s.path).IsForeign(): // it is what its file is
	case s.now.IsFrame() && r.repository().Had(ctx, s.path):
		return false
	case !s.now.IsFrame() && !isText(s.now.Name().Kind):
		return false
	}
	return !r.isElsewhere(s.path)
}

// isText reports whether a record of a kind, with a file of its own, is what its file is: it goes, and moves, with that.
func isText(kind record.Kind) bool { return kind == record.KindNote || kind == record.KindKnowledge }

// movedTo returns the path of the one new file that has the bytes of an aggregate file
// which is gone from all roots, or "".
func (r *reconciler) movedTo(ctx context.Context, s sides) (to string) {
	if !s.now.IsFrame() || r.isElsewhere(s.path) {
		return ""
	}
	for _, f := range r.found {
		known, remembered := r.Memory.Get(f.Path)
		isNew := !remembered || known.State == mirror.Deleted
		if !isNew || f.Size != s.known.Size || r.w.recognise(f.Path).Kind != record.KindFrame {
			continue
		}
		if disk, err := r.Look(ctx, f.Path); err == nil && disk.Digest == s.known.Digest {
			if to != "" {
				return "" // nobody knows which
			}
			to = f.Path
		}
	}
	return to
}

// isElsewhere reports whether another root has a file at a path.
func (r *reconciler) isElsewhere(p string) bool {
	return slices.ContainsFunc(r.otherRoots(), func(o otherRoot) bool {
		f, remembered := o.memory.Get(p)
		return remembered && f.State != mirror.Deleted && (isOutside(p) || o.has(p))
	})
}

// An otherRoot is one that this look is not about, as it is remembered.
type otherRoot struct {
	dir    string
	memory *mirror.Memory
}

func (o otherRoot) has(p string) bool {
	_, err := os.Lstat(filepath.Join(o.dir, filepath.FromSlash(p)))
	return err == nil
}

func (r *reconciler) otherRoots() []otherRoot {
	if r.others == nil {
		r.others = []otherRoot{}
		for _, root := range r.w.Roots() {
			if root == r.Dir {
				continue
			}
			if known, err := r.w.mirrors.Remembered(root); err == nil {
				r.others = append(r.others, otherRoot{root, known})
			}
		}
	}
	return r.others
}

// leftElsewhere returns the notes that other roots had when they were looked at, and have no
// more, by the bytes that they had.
func (r *reconciler) leftElsewhere() map[string]record.Digest {
	if r.left == nil {
		r.left = map[string]record.Digest{}
		for _, o := range r.otherRoots() {
			for p, f := range o.memory.All() {
				if f.State != mirror.Deleted && !isOutside(p) && isText(r.w.recognise(p).Kind) && !o.has(p) {
					r.left[p] = f.Digest
				}
			}
		}
	}
	return r.left
}

// retire retires what the store has for files that somebody has removed.
func (r *reconciler) retire(ctx context.Context, all ...sides) error {
	position := uint64(0)
	err := r.w.Store.Update(ctx, func(tx *store.Tx) (err error) {
		for _, s := range all {
			if err == nil {
				err = retireFile(tx, s.now.Version, nil)
			}
		}
		position = tx.Position()
		return err
	})
	for _, s := range all {
		had := record.Digest{}
		if isText(s.now.Name().Kind) {
			had = s.now.Version.Record.Body
		}
		if err == nil {
			r.Memory.Delete(s.path, position, had)
		}
	}
	return err
}

// retireGone reconciles paths at which no file is: notes are retired many in one transaction.
func (r *reconciler) retireGone(ctx context.Context, gone []string) (damage, err error) {
	for some := range slices.Chunk(gone, batchFiles) {
		r.later = []sides{}
		more, err := r.each(ctx, some, time.Time{})
		notes := r.later
		r.later = nil
		if damage = errors.Join(damage, more); err != nil || len(notes) == 0 {
			return damage, err
		}
		err = r.retire(ctx, notes...)
		for i := 0; i < len(notes) && IsRace(err); i++ { // each as it is by now
			if _, again := r.reconcile(ctx, notes[i].path); again != nil {
				err = again
			}
		}
		if err != nil && !IsRace(err) {
			return damage, err
		}
	}
	return damage, nil
}

// movedFrom returns the version of the note that a new file has the bytes of, if it is the one
// that has gone since the last sync, or goes by this look: it was moved, and its history goes on.
func (r *reconciler) movedFrom(ctx context.Context, f plan.File) (from store.Version, moved bool) {
	if !isText(f.Location.Kind) {
		return from, false
	}
	isLook := r.syncs
	r.syncs = true // of the command whose file this is, the old place may not have been looked at
	defer func() { r.syncs = isLook }()
	found := 0
	for _, p := range r.Memory.Holders(f.Digest()) {
		if known, _ := r.Memory.Get(p); p != f.Path && known.State != mirror.Deleted {
			_, _ = r.reconcile(ctx, p) // what it cannot say is no move
		}
		known, _ := r.Memory.Get(p)
		if p == f.Path || known.State != mirror.Deleted || known.Digest != f.Digest() || known.Position <= r.Memory.Settled {
			continue
		}
		last, err := view(ctx, r.w.Store, func(tx *store.Tx) (*plan.State, error) { return lastState(tx, r.w.nameAt(p)) })
		if err == nil && last != nil {
			from, found = last.Version, found+1
		}
	}
	return from, found == 1
}

// mayBeMoved reports whether movedFrom may find something.
func (r *reconciler) mayBeMoved(ctx context.Context, f plan.File) bool {
	isGone := func(p string) bool { return p != f.Path && r.isGone(ctx, p) }
	return isText(f.Location.Kind) && slices.ContainsFunc(r.Memory.Holders(f.Digest()), isGone)
}

// isGone reports whether no file is at a path. What cannot be looked at is not gone.
func (r *reconciler) isGone(ctx context.Context, p string) bool {
	disk, err := r.Look(ctx, p)
	return err == nil && !disk.Exists || errors.Is(err, mirror.ErrFolder)
}

// isApart reports whether an aggregate file, before it was edited, was not what the store
// had: it is git's for this branch, and others have changed the store.
func (r *reconciler) isApart(ctx context.Context, s sides) bool {
	if !s.now.IsFrame() || !s.disk.Exists || !r.edit.before.IsFrame() {
		return false
	}
	isBehind := r.edit.before.Changed() > s.known.Position
	return s.known.State == mirror.Kept || isBehind && r.repository().Tracks(ctx, s.path)
}

// writeOnto makes an edit in a file that is git's own for this branch: none of the
// entries of others come into it.
func (r *reconciler) writeOnto(ctx context.Context, s sides) error {
	err := r.withFile(ctx, s.disk, func(f plan.File) error {
		text, err := r.w.planner().Onto(ctx, f, r.edit.before, s.now)
		if err == nil {
			err = r.Write(ctx, s.path, bytes.NewReader(text), s.position, s.disk)
		}
		return err
	})
	if err != nil {
		return err
	}
	written, err := r.Look(ctx, s.path)
	if err == nil && written.Digest != s.now.Digest() {
		r.Memory.Keep(written, s.position)
	}
	return err
}

// NotHere returns the entries of a kind that the store has, but not the files of the
// root as git or their owner left them: those of another branch, say.
func (w *Workspace) NotHere(ctx context.Context, kind record.Kind) (names []record.Name, err error) {
	apart := w.Apart()
	var files []plan.File
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		for n, err := range tx.Names(record.Name{Kind: record.KindFrame}) {
			if err != nil || n.Name.Tree != "" || n.Name.Kind != record.KindFrame {
				return err
			}
			v, err := tx.Get(n.Ref)
			if err != nil {
				return err
			}
			f := plan.File{Path: v.Record.Path, Location: w.recognise(v.Record.Path)}
			if f.Location.Entries != kind {
				continue
			}
			if text, differs := apart(f.Path, v.Position); differs && plan.MergeMarker(text) == 0 {
				f.Content = plan.Content{Text: text}
				files = append(files, f)
			}
		}
		return nil
	})
	for _, f := range files {
		now, err := view(ctx, w.Store, at(f))
		if err == nil && now.IsFrame() {
			var missing []record.Name
			missing, err = w.planner().Missing(ctx, f, now)
			names = append(names, missing...)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(names, func(a, b record.Name) int { return cmp.Compare(a.String(), b.String()) })
	return names, err
}

// Apart returns how to read the files of the root that are not what the store has had
// since a position of the log, by their paths: as git or their owner left them. Of one
// that is gone there is no text.
func (w *Workspace) Apart() func(path string, since uint64) (text []byte, apart bool) {
	var known *mirror.Memory
	return func(p string, since uint64) (text []byte, apart bool) {
		if known == nil {
			known, _ = w.mirrors.Remembered(w.Root) // what cannot be read knows nothing
		}
		if f, remembered := known.Get(p); remembered && f.State == mirror.Agreed && f.Position >= since {
			return nil, false
		}
		if f, _ := w.openHere(p); f != nil {
			text, _ = io.ReadAll(f) // what cannot be read is not here
			_ = f.Close()
		}
		return text, true
	}
}

// openHere opens the regular file at a path of the root, and returns nil where there is
// none: nothing is read through a link that leads out of the root, and no pipe.
func (w *Workspace) openHere(p string) (*os.File, int64) {
	file := w.FilePath(p)
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0
	}
	var f *os.File
	if below, relErr := filepath.Rel(w.Root, file); relErr == nil && filepath.IsLocal(below) {
		f, err = os.OpenInRoot(w.Root, below)
	} else {
		f, err = os.Open(file)
	}
	if err != nil {
		return nil, 0
	}
	return f, info.Size()
}

// AlteredFile returns the path of a result or snapshot whose file is not as it was written,
// else "".
func (w *Workspace) AlteredFile(ctx context.Context, name record.Name) string {
	if name.Kind.IsOnce() {
		head, err := view(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
		if err == nil {
			if _, _, altered, _ := w.TextHere(head); altered { // what cannot be read, sync names
				return head.Record.Path
			}
		}
	}
	return ""
}

// TextHere opens the file that a version of the own tree has in the root, if its text is
// another one than the version's: what git has put there, or nobody has stored yet. It
// is nil if it is the same or there is no file, and also for a result or snapshot,
// which does not change; altered says that its file did.
func (w *Workspace) TextHere(v store.Version) (here *os.File, size int64, altered bool, err error) {
	if v.Record.Name.Tree != "" || v.Record.Path == "" {
		return nil, 0, false, nil
	}
	f, size := w.openHere(v.Record.Path)
	if f == nil {
		return nil, 0, false, nil // what is stored answers
	}
	digest := record.NewDigester()
	_, err = io.Copy(digest, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	kind := v.Record.Name.Kind
	differs := kind == record.KindFrame || digest.Digest() != v.Record.Body
	if err != nil || !differs || kind.IsOnce() {
		return nil, 0, differs && kind.IsOnce(), errors.Join(err, f.Close())
	}
	return f, size, false, nil
}

// isCut reports whether a text is only the beginning of what the store has for its file.
func (r *reconciler) isCut(ctx context.Context, f plan.File, now *plan.State) (bool, error) {
	if now == nil || now.IsFrame() || f.Size() >= now.Version.Record.Size || now.Version.Record.Size > store.InlineLimit {
		return false, nil
	}
	stored, err := r.w.TextOf(ctx, now.Version)
	return bytes.HasPrefix(stored, f.Text), err
}

// noteBack notes what a file that is taken in takes back: entries whose own dates are older than the stored ones', and a
// text that is only the beginning of the stored one. The file is its owner's, so it counts; the log has both.
func (r *reconciler) noteBack(ctx context.Context, f plan.File, was *plan.State, puts []store.Draft) error {
	isCut, err := r.isCut(ctx, f, was)
	if isCut {
		r.back = "it is only the beginning of what it was: filebus get " + was.Version.Ref.Short()
	}
	if err != nil || was == nil {
		return err
	}
	return r.w.Store.View(ctx, func(tx *store.Tx) error {
		for _, d := range puts {
			old := was.Version
			if e, found := was.Entry(d.Record.Name); found {
				old = e.Version
			}
			a, b := tx.Description(old.Ref).Attributes["updated"], d.Description.Attributes["updated"]
			if n := min(len(a), len(b)); n >= len(time.DateOnly) && b[:n] < a[:n] && old.Record.Name == d.Record.Name {
				r.back = fmt.Sprintf("%s went back from %s to %s: filebus get %s", d.Record.Name, a, b, old.Ref.Short())
			}
		}
		return nil
	})
}
