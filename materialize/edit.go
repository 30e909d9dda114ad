package materialize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/record"
)

// A TextEdit makes the new text of a file from the old one, which is nil when
// nothing stands there, together with the version that it is the text of. It is
// pure: it may be called again when another process was faster. Returning old
// changes nothing.
type TextEdit func(old []byte, head *store.Version) ([]byte, error)

// EditText replaces the text of a record that is a whole file of the own tree:
// what stands on disk is imported, edited, stored and written, with no change
// of others in between. The name of the result is a new one when the text is a
// new task at the place of a finished journal.
func (w *Workspace) EditText(ctx context.Context, kind record.Kind, id string, source record.Source, edit TextEdit) (*PutResult, error) {
	return w.EditTextAs(ctx, kind, id, Origin{Source: source}, edit)
}

// An Origin says where a text comes from.
type Origin struct {
	Source record.Source
	From   []record.Ref // what it was made from
	Facts  layout.Facts // win over what the text says; a zero field says nothing
}

// EditTextAs is EditText for a text of which more is known than it says itself.
func (w *Workspace) EditTextAs(ctx context.Context, kind record.Kind, id string, origin Origin, edit TextEdit) (*PutResult, error) {
	_, p, err := w.locationOf(kind, id)
	if err != nil {
		return nil, err
	}
	if kind.IsEntry() || kind == record.KindFrame || kind == record.KindResult {
		return nil, fmt.Errorf("a %s is no file that is edited as a whole", kind)
	}
	mode := w.secretMode(origin.Source)
	return w.change(ctx, p, nil, func(now *plan.State) (*plan.File, error) {
		old, err := w.wholeText(ctx, p, now)
		if err != nil {
			return nil, err
		}
		var head *store.Version
		if now != nil {
			head = &now.Version
		}
		text, err := edit(old, head)
		if err == nil {
			text, err = w.guarded(p, mode, text, old)
		}
		if err == nil {
			err = w.guardFacts(p, mode, &origin.Facts)
		}
		if err != nil || now != nil && bytes.Equal(text, old) {
			return nil, err
		}
		return &plan.File{
			Path: p, Location: w.recognise(p), Content: plan.Content{Text: text},
			Source: origin.Source, From: origin.From, Facts: origin.Facts,
		}, nil
	})
}

// change is the way of a text or an edit into the store: what stands on disk at a path is taken in, unless
// may, which may be nil, refuses; propose makes the new file of what the store then has, its plan is committed,
// and the file is laid out, again if another process was faster. A proposal of nil changes nothing. Propose
// is called again for each try, and the error that it returns is final. Only what was stored has a result.
func (w *Workspace) change(
	ctx context.Context, p string, may func(*reconciler) error, propose func(now *plan.State) (*plan.File, error),
) (put *PutResult, err error) {
	err = w.withMirror(ctx, w.Root, func(r *reconciler) error {
		if may != nil {
			err = may(r)
		}
		if err == nil {
			err = r.importFile(ctx, p)
		}
		if err != nil {
			return err
		}
		for try := 1; ; try++ {
			r.edit = nil
			now, err := r.stored(ctx, p)
			if err == nil && try == 1 {
				err = r.catchUp(ctx, p, now)
			}
			var f *plan.File
			if err == nil {
				f, err = propose(now)
			}
			if f != nil && w.Readmits {
				f.Again = true
			}
			if err == nil && f != nil && isOutside(p) {
				err = r.refuseStrangers(ctx, p, f.Digest())
			}
			name, done := now.Name(), &plan.Plan{Put: store.Outcome{Unchanged: true}}
			if now != nil {
				done.Put.Version = now.Version
			}
			if err == nil && f != nil {
				planned, overErr := w.planner().Over(ctx, *f, now)
				if IsRace(overErr) && try < raceTries {
					continue
				}
				if err = overErr; err == nil {
					name, done = planned.Names[len(planned.Names)-1], planned
				}
			}
			if err != nil && try > 1 { // what an agent wrote meanwhile is stored, and not laid out yet
				err = errors.Join(err, r.writeFile(ctx, p))
			}
			if err != nil {
				return err
			}
			r.edit = &edited{before: now}
			if isEdit := f != nil && f.Name.IsZero(); isEdit && try < raceTries && (now == nil || now.Name() == name) {
				r.edit.made = f.Digest()
			}
			put, err = w.resultOf(ctx, p, done)
			if err = errors.Join(err, r.writeFile(ctx, p)); !r.edit.redo {
				return err
			}
		}
	})
	return put, err
}

// ErrTooLarge says that a file is too large to be edited by a command, and names it.
// It can still be read, stored, and replaced as a whole.
const ErrTooLarge record.Reason = "too large to be edited"

// wholeText returns the text of what stands at a path as one record.
func (w *Workspace) wholeText(ctx context.Context, p string, now *plan.State) ([]byte, error) {
	if now == nil {
		return nil, nil
	}
	if now.IsFrame() {
		return nil, fmt.Errorf("%s is a file of entries", p)
	}
	content, err := view(ctx, w.Store, func(tx *store.Tx) (store.Content, error) { return tx.Content(now.Version.Record) })
	if err != nil {
		return nil, err
	}
	if content.IsLarge() {
		err := record.Failed.Errorf("%s has %d bytes, too many to be edited", p, content.Size)
		return nil, err.Because(ErrTooLarge, p)
	}
	return content.Bytes()
}

// Entries is an aggregate file as an edit sees and changes it.
type Entries struct {
	Path  string
	now   *plan.State // nil when there is no such file
	texts map[record.Name][]byte
	gone  map[record.Name]bool
	added []layout.Entry
	whole []byte                // what Replace was given
	check func(*store.Tx) error // what must hold in the store; nil: nothing
	used  func(record.Name) (bool, error)
	lane  func() (string, error)
	guard func(of string, text []byte) ([]byte, error) // see guarded

	secrets secrets.Mode
	again   bool // what was destroyed before may come in
}

// A StoredEntry is an entry of an aggregate file.
type StoredEntry struct {
	Name   record.Name
	Ref    record.Ref
	Record *record.Record
	Text   []byte // not to be changed
}

// List returns the entries in the order of the file, as they were when the edit
// began.
func (e *Entries) List() []StoredEntry {
	if e.now == nil {
		return nil
	}
	var list []StoredEntry
	for _, name := range e.now.Frame.Slots() {
		at := e.now.Entries[name]
		list = append(list, StoredEntry{name, at.Version.Ref, at.Version.Record, at.Text})
	}
	return list
}

// Find returns the entry with an id.
func (e *Entries) Find(id string) (StoredEntry, bool) {
	for _, entry := range e.List() {
		if entry.Name.ID == id {
			return entry, true
		}
	}
	return StoredEntry{}, false
}

// isUsed reports whether an entry has or had an id: also one that is gone, or in
// another file, so that none is given twice.
func (e *Entries) isUsed(kind record.Kind, id string) (bool, error) {
	for _, entry := range e.added {
		if entry.Kind == kind && entry.ID == id {
			return true, nil
		}
	}
	name, err := record.NewName("", kind, id)
	if err != nil {
		return false, err
	}
	return e.used(name)
}

// maxNumber is the highest number of an id that new ones are counted from; a
// higher one is no number that anybody has counted to.
const maxNumber = 100_000

// NextID returns the next id of a kind that begins with prefix, such as
// pattern-012: the number after the highest in the file, of any lane, in three
// digits at least, or the first after it that was never used; see Workspace.Lane.
func (e *Entries) NextID(kind record.Kind, prefix string) (string, error) {
	lane, err := e.lane()
	if err != nil {
		return "", err
	}
	highest := 0
	for _, entry := range e.List() {
		numbered, _ := layout.CutLane(entry.Name.ID)
		digits, found := strings.CutPrefix(numbered, prefix)
		if n, err := strconv.ParseUint(digits, 10, 31); found && err == nil && n <= maxNumber {
			highest = max(highest, int(n))
		}
	}
	for n := highest + 1; ; n++ {
		id := fmt.Sprintf("%s%03d", prefix, n)
		used, err := e.isUsed(kind, id)
		if err == nil && !used && lane != "" {
			id = layout.WithLane(id, lane)
			used, err = e.isUsed(kind, id)
		}
		if err != nil || !used {
			return id, err
		}
	}
}

// Text returns the bytes of the whole file as they were when the edit began.
func (e *Entries) Text() []byte {
	if e.now == nil {
		return nil
	}
	return e.now.Text(e.now.Frame)
}

// Set gives an entry that List returned another text.
func (e *Entries) Set(name record.Name, text []byte) {
	e.texts[name] = endLike(text, e.now.Entries[name].Text)
}

// endLike returns text with a newline at its end if the text that it replaces
// has one: something may follow.
func endLike(text, old []byte) []byte {
	if bytes.HasSuffix(old, []byte("\n")) && !bytes.HasSuffix(text, []byte("\n")) {
		return slices.Concat(text, []byte(markdown.LineEnding(old)))
	}
	return text
}

// Add adds an entry, written by its layout, behind the last of its section.
func (e *Entries) Add(kind record.Kind, id string, text []byte) {
	e.added = append(e.added, layout.Entry{Kind: kind, ID: id, Text: text})
}

// Replace gives the file another text, in place of all else that the edit does:
// for changes of what stands around the entries. The entries keep their names.
func (e *Entries) Replace(text []byte) { e.whole = text }

// remove takes an entry that List returned away.
func (e *Entries) remove(name record.Name) { e.gone[name] = true }

// EditEntries changes an aggregate file of the own tree, the one that holds
// entries of a kind: what stands on disk is imported, the edit is applied, and
// the file is stored and written, with no change of others in between. The id is
// that of an entry whose file is meant; if it is empty, or no entry has it, the
// file is the one that the profile keeps for the kind. The edit is pure: it may
// be called again when another process was faster. An edit that changes nothing
// stores nothing.
func (w *Workspace) EditEntries(ctx context.Context, kind record.Kind, id string, source record.Source, edit func(*Entries) error) error {
	if !kind.IsEntry() {
		return fmt.Errorf("a %s is no entry of a file", kind)
	}
	if id == "" {
		id = "new"
	}
	_, p, err := w.entryLocation(ctx, kind, id)
	if err != nil {
		return err
	}
	return w.EditEntriesIn(ctx, p, source, edit)
}

// EditEntriesIn is EditEntries for the aggregate file at a path, slash-separated
// below the workspace. One that is not there is made.
func (w *Workspace) EditEntriesIn(ctx context.Context, p string, source record.Source, edit func(*Entries) error) error {
	if err := w.checkOwn(p); err != nil {
		return err
	}
	if _, isAggregate := w.recognise(p).Layout.(layout.Aggregate); !isAggregate {
		return fmt.Errorf("the file %s has no entries", p)
	}
	_, err := w.change(ctx, p, nil, func(now *plan.State) (*plan.File, error) {
		e := &Entries{Path: p, now: now.Aggregate(), texts: map[record.Name][]byte{}, gone: map[record.Name]bool{}}
		e.secrets = w.secretMode(source)
		e.guard = func(of string, text []byte) ([]byte, error) { return w.guarded(of, e.secrets, text, e.Text()) }
		e.lane = func() (string, error) { return w.Lane(ctx) }
		e.used = func(name record.Name) (bool, error) { return w.EverStored(ctx, name) }
		if err := edit(e); err != nil || e.isUnchanged() {
			return nil, err
		}
		f := &plan.File{Path: p, Location: w.recognise(p), Source: source, Check: e.check, Again: e.again}
		return f, e.apply(f)
	})
	return err
}

func (e *Entries) isUnchanged() bool {
	return e.whole == nil && len(e.texts)+len(e.gone)+len(e.added) == 0
}

// apply sets the text of the file to what the edit has made of it.
func (e *Entries) apply(f *plan.File) error {
	if err := e.guardTexts(); err != nil {
		return err
	}
	if e.whole != nil {
		f.Text = e.whole
		return nil
	}
	var text []byte
	if e.now != nil {
		edited := *e.now
		edited.Entries = maps.Clone(edited.Entries)
		for name, text := range e.texts {
			edited.Entries[name] = plan.Entry{Version: edited.Entries[name].Version, Text: text}
		}
		f.Edited = &edited
		left := edited.Frame
		if len(e.gone) > 0 {
			left = left.Without(func(slot record.Name) bool { return e.gone[slot] }, plan.IsList(f.Location))
		}
		text = edited.Text(left)
	}
	text, err := plan.Insert(*f, text, e.added)
	f.Text = text
	return err
}

// guardTexts looks for secrets in all that the edit brings.
func (e *Entries) guardTexts() (err error) {
	if e.whole != nil {
		e.whole, err = e.guard(e.Path, e.whole)
	}
	for name, text := range e.texts {
		if err == nil {
			e.texts[name], err = e.guard(name.String(), text)
		}
	}
	for i, a := range e.added {
		if err == nil {
			e.added[i].Text, err = e.guard(string(a.Kind)+"/"+a.ID, a.Text)
		}
	}
	return err
}

// EverStored reports whether a name has or had a version, also one that was destroyed.
func (w *Workspace) EverStored(ctx context.Context, name record.Name) (bool, error) {
	events, err := view(ctx, w.Store, func(tx *store.Tx) ([]store.Event, error) { return tx.History(name) })
	return len(events) > 0, err
}

// FetchFrom imports what stands at paths of another root of the project, such as
// a linked worktree, and brings the files here in step: what an agent has left
// there is then here too.
func (w *Workspace) FetchFrom(ctx context.Context, root string, paths ...string) error {
	if err := w.importFrom(ctx, root, paths); err != nil {
		return fmt.Errorf("fetching from %s: %w", root, err)
	}
	return w.withMirror(ctx, w.Root, func(r *reconciler) error {
		r.command = true // that is what was asked for
		for _, p := range paths {
			if _, err := r.reconcile(ctx, p); err != nil {
				return fmt.Errorf("fetching from %s: %w", root, err)
			}
		}
		return nil
	})
}

// justWritten is the age up to which a change may be too new for a sync, which
// waits until a file is still.
const justWritten = 5 * time.Second

// ImportNew is Import for the file of a name, if it was changed just now: an agent
// that has left its marker may have written to it a moment before. Changes that
// are older are a sync's to find.
func (w *Workspace) ImportNew(ctx context.Context, kind record.Kind, id string) error {
	p, err := w.RecordPath(kind, id)
	if err != nil {
		return err
	}
	info, err := os.Lstat(w.FilePath(p))
	if err != nil || w.now().Sub(info.ModTime()) > justWritten {
		return nil // one that cannot be looked at has nothing new to read
	}
	return w.withMirror(ctx, w.Root, func(r *reconciler) error {
		r.onlyReads = record.Name{Kind: kind, ID: id}.IsEntry()
		err := r.importFile(ctx, p)
		if r.onlyReads && errors.Is(err, store.ErrConflict) {
			err = fmt.Errorf("%w, after filebus sync", err)
		}
		return err
	})
}

func (w *Workspace) importFrom(ctx context.Context, root string, paths []string) error {
	return w.withMirror(ctx, root, func(r *reconciler) (err error) {
		for _, p := range paths {
			err = errors.Join(err, r.importFile(ctx, p))
		}
		return err
	})
}

// Import stores what stands on disk at paths of the workspace, slash-separated,
// if it is not stored yet. Where nothing stands, nothing happens.
func (w *Workspace) Import(ctx context.Context, paths ...string) error {
	return w.importFrom(ctx, w.Root, paths)
}

// ImportStill is Import for the file of a name that somebody may be writing to: one
// that has changed in the last 2 s is left alone, unless the store has its text
// already. It returns what was done about the file: "" if the store has its text or
// nothing stands there, actionWaiting if it was left alone.
func (w *Workspace) ImportStill(ctx context.Context, kind record.Kind, id string) (done SyncedFile, err error) {
	p, err := w.RecordPath(kind, id)
	if err != nil {
		return done, err
	}
	err = w.withMirror(ctx, w.Root, func(r *reconciler) error {
		r.opts = SyncOptions{CaptureOnly: true}
		done, err = r.reconcile(ctx, p)
		if errors.Is(err, mirror.ErrRaced) {
			done, err = SyncedFile{Path: p, Action: actionWaiting}, nil
		}
		return err
	})
	return done, err
}
