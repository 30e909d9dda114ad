package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
)

// A WaitRequest says for which tasks to wait.
type WaitRequest struct {
	mirror.Waiter
	IDs    []ID
	MaxAge time.Duration // of a marker where nothing is known of the start; 0: any
	// Ended is called when a task has ended, before Wait returns; nil: nobody
	// listens.
	Ended func(Ending)
}

// Wait blocks until tasks have left their markers, written by a command or by
// hand, and returns how they have ended, in the order in which they did. What it
// reads of them is taken into the store. A marker from before the start of its
// task never counts. When the time is up, the endings so far come with
// mirror.ErrLate.
func (b *Tasks) Wait(ctx context.Context, r WaitRequest) ([]Ending, error) {
	a := &awaiting{Tasks: b, WaitRequest: r, begun: b.now()}
	a.Now, a.Around = b.now, a.lookAround
	a.others = slices.DeleteFunc(b.work.Roots(), func(root string) bool { return root == b.work.Root })
	var folders []string
	var looks []mirror.Look
	for _, id := range r.IDs {
		if slices.ContainsFunc(a.tasks, func(t *awaited) bool { return t.id.key() == id.key() }) {
			continue
		}
		t := &awaited{id: id}
		a.tasks = append(a.tasks, t)
		folders = append(folders, path.Dir(b.markerPath(string(id))), path.Dir(b.journalPath(id)))
		looks = append(looks, func(ctx context.Context) (string, time.Duration, error) { return a.lookAt(ctx, t) })
	}
	late, err := b.work.Await(ctx, &a.Waiter, folders, looks...)
	if err != nil || !late {
		return a.endings, err
	}
	var missing []mirror.Missing
	for _, t := range a.tasks {
		if !t.ended {
			missing = append(missing, mirror.Missing{Name: t.id.String(), Say: a.progress(t.id)})
		}
	}
	return a.endings, a.Late("no marker", missing...)
}

// An awaiting is a wait for tasks that goes on.
type awaiting struct {
	*Tasks
	WaitRequest
	tasks   []*awaited
	endings []Ending
	begun   time.Time
	others  []string // the other worktrees of the project
}

// An awaited is a task that is waited for.
type awaited struct {
	id            ID
	ended         bool
	empty, judged bool // an empty marker was seen, which somebody may be writing to; the journal was looked at as it is
	writing       bool // it was so just now
	// before has the markers that were there when the wait began. Any other one
	// is new, whatever the clocks say.
	before map[string]bool
}

// emptyPause is what an empty marker is given to get its text.
const emptyPause = 20 * time.Millisecond

// lookAt looks for the marker of a task.
func (w *awaiting) lookAt(ctx context.Context, t *awaited) (missing string, again time.Duration, err error) {
	const missingMarker = "its marker"
	found := w.found(t.id)
	t.writing = false
	if t.before == nil {
		if len(found) == 0 {
			w.sayUnknown(ctx, t.id)
		}
		t.before = map[string]bool{}
		for _, m := range found {
			t.before[m.path] = true
		}
	}
	if len(found) == 0 && len(w.others) > 0 {
		fetched, err := w.fetch(ctx, t.id)
		if err != nil || !fetched {
			return missingMarker, 0, err
		}
		found = w.found(t.id)
	}
	if len(found) == 0 {
		return missingMarker, 0, nil
	}
	if !t.empty && slices.ContainsFunc(found, func(m marker) bool { return m.empty }) {
		t.empty, t.writing = true, true
		return mirror.Writing, emptyPause, nil
	}
	if err := w.importFiles(ctx, w.journalPath(t.id)); err != nil {
		return missingMarker, 0, err
	}
	m, o, err := w.choose(ctx, t, found)
	if err != nil || m.File == "" {
		return missingMarker, 0, err
	}
	e := w.ending(t.id, m, o)
	if err := w.importFiles(ctx, m.path); err != nil {
		return missingMarker, 0, err
	}
	t.ended, w.endings = true, append(w.endings, e)
	if w.Ended != nil {
		w.Ended(e)
	}
	return "", 0, nil
}

// found returns the markers of a task, and names what stands in the place of one.
func (w *awaiting) found(id ID) []marker {
	found, err := w.markers(id)
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") { // as errors.Join has them
			w.Tell(line, "%s, and does not count", line)
		}
	}
	return found
}

// sayUnknown says at once that nothing is known of a task: its id may be a slip.
func (w *awaiting) sayUnknown(ctx context.Context, id ID) {
	if _, err := w.Get(ctx, id); !errors.Is(err, ErrNotStarted) || isThere(w.journalFile(id)) {
		return // somebody has, perhaps by hand
	}
	w.Tell(string(id)+" unknown", "%s has no journal: nobody has started it here; it is waited for all the same", id)
}

// choose returns the marker that counts, of those that were found, or none.
func (w *awaiting) choose(ctx context.Context, t *awaited, found []marker) (best marker, o origin, err error) {
	if o, err = w.origin(ctx, t.id); err != nil {
		return marker{}, o, err
	}
	if slices.ContainsFunc(found, func(m marker) bool { return !t.before[m.path] }) {
		found = slices.DeleteFunc(slices.Clone(found), func(m marker) bool { return t.before[m.path] })
		o.cleared = true
	}
	for _, m := range found {
		age := max(w.now().Sub(m.Time), 0)
		switch {
		case o.isOld(m):
			w.Tell(m.File, "%s is older than the start of %s and does not count", m.File, t.id)
		case !o.isKnown() && w.MaxAge > 0 && age > w.MaxAge:
			w.Tell(m.File, "%s is older than %v and does not count", m.File, w.MaxAge)
		case m.isWorse(best):
			best = m
		}
	}
	return best, o, nil
}

// importFiles stores a journal or a marker as it stands on disk. What cannot be stored now
// is found by a later command.
func (w *awaiting) importFiles(ctx context.Context, p string) error {
	err := w.work.Import(ctx, p)
	if err != nil && ctx.Err() == nil {
		w.Tell(p, "%s is not stored yet: %v", p, err)
	}
	return ctx.Err()
}

// markerPause is how long after its journal an agent usually writes the marker, at
// most.
const markerPause = 5 * time.Second

// lookAround looks for what agents may have left in place of a marker: one with
// another name, or a journal that is complete.
func (w *awaiting) lookAround(context.Context) {
	for _, t := range w.tasks {
		if t.ended || t.writing {
			continue
		}
		for _, file := range w.lookAlikes(t.id) {
			if info, err := os.Lstat(file); err == nil {
				w.Tell(file, "%s (%s old) looks like the marker of %s, which is %s",
					file, w.age(info), t.id, w.markerFile(t.id, layout.StatusComplete))
			}
		}
		w.lookAtJournal(t)
	}
}

// lookAtJournal tells of a journal that is complete, while the marker is missing.
func (w *awaiting) lookAtJournal(t *awaited) {
	file := w.journalFile(t.id)
	info, err := os.Stat(file)
	if err != nil {
		return
	}
	isNew, age := w.Seen(file, info)
	if t.judged = t.judged && !isNew; t.judged || age < markerPause {
		return
	}
	t.judged = true
	if j := readJournal(file); j != nil && j.Handoff != nil && layout.HasEnded(j.State()) {
		w.Tell(file, "the journal of %s has a handoff (%s), but there is no marker: filebus task done %s writes it",
			t.id, j.State(), t.id)
	}
}

// readJournal reads the journal in a file, or nil.
func readJournal(file string) *layout.Journal {
	text, err := readFile(file)
	if err != nil {
		return nil
	}
	j, _ := layout.ParseJournal(text) // what departs from the layout has no fields
	return &j
}

// age returns how long ago a file changed.
func (w *awaiting) age(info os.FileInfo) string {
	return layout.DurationText(max(w.now().Sub(info.ModTime()), 0))
}

// progress says how far a task is that has no marker.
func (w *awaiting) progress(id ID) string {
	file := w.journalFile(id)
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return "no journal"
	}
	j := readJournal(file)
	if err != nil || j == nil {
		return "its journal cannot be read"
	}
	return fmt.Sprintf("%s, journal changed %s ago", cmp.Or(j.State(), "no status"), w.age(info))
}

// fetch looks for the marker of a task in the other worktrees of the project, and
// brings it and the journal here. A marker from before the task's start, or before
// the wait where no start is known, is left alone. It reports whether there was one.
func (w *awaiting) fetch(ctx context.Context, id ID) (fetched bool, err error) {
	var since time.Time
	for _, root := range w.others {
		for _, markerID := range w.markerIDs(id) {
			p := w.markerPath(markerID)
			if !filepath.IsLocal(filepath.FromSlash(p)) { // an outside folder is everybody's
				return fetched, nil
			}
			info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p)))
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if since.IsZero() {
				since = w.startOf(ctx, root, id)
			}
			if info.ModTime().Before(since) {
				continue
			}
			if err := w.work.FetchFrom(ctx, root, w.journalPath(id), p); err != nil {
				if ctx.Err() != nil {
					return false, ctx.Err()
				}
				w.Tell(root+p, "%v", err)
				continue
			}
			fetched = true
		}
	}
	return fetched, nil
}

// startOf returns when a task began, to the second, as its journal says in another
// root or in the store; else when the wait did.
func (w *awaiting) startOf(ctx context.Context, root string, id ID) time.Time {
	if j := readJournal(filepath.Join(root, filepath.FromSlash(w.journalPath(id)))); j != nil {
		if at, err := time.Parse(time.RFC3339, j.Started); err == nil {
			return at
		}
	}
	if j, err := w.Get(ctx, id); err == nil {
		if at, err := time.Parse(time.RFC3339, j.Started); err == nil {
			return at
		}
	}
	return w.begun
}
