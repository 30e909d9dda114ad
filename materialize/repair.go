package materialize

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A RepairReport says what Repair did.
type RepairReport struct {
	store.Repaired
	Frames   []string `json:"frames,omitempty"`   // files of entries whose order was made again
	Memory   int      `json:"memory,omitempty"`   // lines of mirror memories that nobody could read
	Captured []string `json:"captured,omitempty"` // files whose texts were stored again
}

// Repair makes the store sound again. What is lost it looks for in the files of the workspace,
// of its worktrees, and of every other root that has a memory. Then no
// sync takes a file for old, or for retired, because of what the store has lost.
func (w *Workspace) Repair(ctx context.Context) (*RepairReport, error) {
	hold, err := w.mirrors.Lock(ctx)
	if err != nil {
		return nil, err
	}
	report, err := w.repair(ctx)
	if err = errors.Join(err, hold.Release()); err != nil || !report.Anew {
		return report, err
	}
	sync, err := w.Sync(ctx, w.Root, SyncOptions{CaptureOnly: true, Announced: true})
	if err == nil {
		report.addCaptured(sync.Files)
	}
	return report, err
}

func (r *RepairReport) addCaptured(files []SyncedFile) {
	for _, f := range files {
		if f.Action == actionCaptured {
			r.Captured = append(r.Captured, f.Path)
		}
	}
}

func (w *Workspace) repair(ctx context.Context) (*RepairReport, error) {
	files := w.lostAndFound()
	done, err := w.Store.Repair(ctx, store.RepairOptions{Source: files.offer, Describe: w.describe})
	if err != nil {
		return nil, err
	}
	report := &RepairReport{Repaired: *done}
	if w.Store.IsNew() {
		report.Anew, report.Faults = true, []store.Fault{{Rule: store.FaultOfStore, Text: filepath.Join(w.Location.Store, "store.db") + " is missing"}}
	}
	if len(done.Gone)+done.Unknown > 0 {
		if report.Frames, err = w.planner().MendFrames(ctx); err != nil {
			return report, err
		}
	}
	end, err := w.logEnd(ctx)
	known := mirror.Settled(folder.At(w.Location.Store).Sub("mirror"))
	if err == nil && known > end && !report.GoneBack && !report.Anew {
		report.Faults = append(report.Faults, store.Fault{Rule: store.FaultOfStore, Text: w.Store.GoneBack(known, end).Error()})
	}
	for _, root := range files.roots {
		if !w.mirrors.Knows(root) {
			continue
		}
		if err := w.mendMemory(ctx, root, report); err != nil {
			return report, err
		}
	}
	return report, nil
}

// mendMemory takes out of a root's memory what cannot be read, and what the store never had or,
// if it was damaged, does not have any more. What the files have of that is stored again.
func (w *Workspace) mendMemory(ctx context.Context, root string, report *RepairReport) error {
	var forgotten []string
	err := w.Store.View(ctx, func(tx *store.Tx) error {
		isKept := func(path string, m mirror.Memo) bool {
			if m.Position > tx.Position() || m.State != mirror.Agreed {
				return m.Position <= tx.Position()
			}
			now, err := plan.At(tx, "", path)
			isSame := err == nil && now.Digest() == m.Digest
			return isSame || len(report.Faults) == 0 && w.hadOnce(tx, now, path, m)
		}
		broken, paths, err := w.mirrors.Mend(root, tx.Position(), isKept)
		report.Memory += broken
		forgotten = paths
		return err
	})
	if err != nil || len(forgotten) == 0 {
		return err
	}
	m, err := w.mirrors.Open(ctx, root, w.outside())
	if err != nil {
		return err
	}
	r := w.reconciler(m)
	r.opts.CaptureOnly = true
	slices.Sort(forgotten)
	for _, p := range forgotten {
		err = errors.Join(err, r.one(ctx, p))
	}
	report.addCaptured(r.report.Files)
	return errors.Join(err, r.Close())
}

// hadOnce reports whether a store that is sound can have had the text that a memory knows of a
// path, where now has another one.
func (w *Workspace) hadOnce(tx *store.Tx, now *plan.State, path string, m mirror.Memo) bool {
	name := w.nameAt(path)
	if now != nil {
		name = now.Name()
	}
	events, err := tx.History(name)
	switch {
	case err != nil || len(events) == 0 || events[0].Position > m.Position:
		return false
	case now == nil:
		return true // it was retired, or took another place
	case now.IsFrame():
		then, err := plan.Before(tx, name, m.Position)
		return err == nil && (then == nil || then.Digest() == m.Digest)
	}
	had, err := now.Had(tx, m.Digest)
	return err == nil && had
}

// HasLost reports whether a folder without a database was a store.
func HasLost(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, "signoff"))
	bodies, _ := os.ReadDir(filepath.Join(folder, "bodies"))
	memories, _ := filepath.Glob(filepath.Join(folder, "mirror", "*.txt"))
	return err == nil || len(bodies)+len(memories) > 0
}

// describe derives what is shown of a record from its text, or the beginning of it.
func (w *Workspace) describe(r *record.Record, head []byte) record.Description {
	return w.draftOf(r, head).Description
}

// draftOf returns the draft that a record was made of, for what was derived from its text.
func (w *Workspace) draftOf(r *record.Record, head []byte) store.Draft {
	body := store.Body{Digest: r.Body, Size: r.Size}
	f := plan.File{Tree: r.Name.Tree, Path: r.Path, Location: layout.Recognize(r.Path)}
	if r.Name.Tree == "" {
		f.Location = w.recognise(r.Path)
	}
	f.Content = plan.Content{Text: head, Words: markdown.Words(head), Body: body}
	draft := w.planner().Describe(r.Name, f)
	if draft.Record.Exit, draft.Record.Status = r.Exit, r.Status; r.Name.Kind == record.KindResult {
		draft.Description.Preview = resultPreview(draft, f, w.Settings.Preview, "")
	}
	return draft
}

// A lostAndFound looks for bodies in files, without the store.
type lostAndFound struct {
	w     *Workspace
	roots []string
	known map[record.Digest][]string          // files, by what the memories say of them
	parts map[string]map[record.Digest][]byte // of files of entries that were read
}

func (w *Workspace) lostAndFound() *lostAndFound {
	f := &lostAndFound{w: w, known: map[record.Digest][]string{}, parts: map[string]map[record.Digest][]byte{}}
	f.roots = slices.Concat([]string{w.Root}, w.Roots(), w.mirrors.Roots())
	slices.Sort(f.roots)
	f.roots = slices.Compact(f.roots)
	for _, root := range f.roots {
		for p, m := range w.mirrors.Memos(root) {
			if m.State != mirror.Deleted {
				f.known[m.Digest] = append(f.known[m.Digest], f.file(root, p))
			}
		}
	}
	return f
}

// file returns the file of a root that has a path.
func (f *lostAndFound) file(root, p string) string {
	there := *f.w
	there.Root = root
	return there.FilePath(p)
}

// offer lets try take the text of a record from where it may stand.
func (f *lostAndFound) offer(r *record.Record, try func(from string, text io.Reader) bool) {
	var files []string
	if r.Name.Tree == "" && r.Path != "" {
		for _, root := range f.roots {
			files = append(files, f.file(root, r.Path))
		}
	}
	for _, file := range append(files, f.known[r.Body]...) {
		switch text, found := f.part(file, r); {
		case found && try(file, bytes.NewReader(text)):
			return
		case !found && f.offerFile(file, r, try):
			return
		}
	}
}

func (f *lostAndFound) offerFile(
	file string, r *record.Record, try func(from string, text io.Reader) bool,
) (taken bool) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() != r.Size {
		return false
	}
	_ = mirror.ReadStable(file, func(text *os.File, size int64) (int64, error) {
		taken = try(file, text)
		return size, nil
	}) // one that cannot be read has nothing to offer
	return taken
}

// part returns the text of an entry or a frame that a file has.
func (f *lostAndFound) part(file string, r *record.Record) ([]byte, bool) {
	if !r.Name.IsEntry() && r.Name.Kind != record.KindFrame {
		return nil, false
	}
	parts, known := f.parts[file]
	const maxEntries = 64 << 20 // the longest file of entries that is looked into, in bytes
	if info, err := os.Lstat(file); !known && err == nil && info.Mode().IsRegular() && info.Size() < maxEntries {
		if text, err := os.ReadFile(filepath.Clean(file)); err == nil {
			parts = plan.Parts(plan.File{Path: r.Path, Location: f.w.recognise(r.Path), Content: plan.Content{Text: text}})
		}
	}
	f.parts[file] = parts
	text, found := parts[r.Body]
	return text, found
}
