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
	"filebus/store/turnstile"
)

// A WaitRequest says for which tasks to wait, and who hears of it.
type WaitRequest struct {
	IDs    []ID
	Any    bool          // until one has ended, not all
	Limit  time.Duration // 0: none
	MaxAge time.Duration // of a marker where nothing is known of the start; 0: any
	// Ended is called when a task has ended, before Wait returns; nil: nobody
	// listens.
	Ended func(Ending)
	// Say is called with a line about what keeps a wait from ending, such as a
	// marker under a wrong name, each once; nil: nobody listens.
	Say func(line string)
}

// Wait blocks until tasks have left their markers, written by a command or by
// hand, and returns how they have ended, in the order in which they did. What it
// reads of them is taken into the store. A marker from before the start of its
// task never counts. When the time is up, the endings so far come with
// ErrLate.
func (b *Board) Wait(ctx context.Context, r WaitRequest) ([]Ending, error) {
	w := newWaiter(b, r)
	var folders []string
	for _, id := range r.IDs {
		folders = append(folders, path.Dir(b.markerPath(string(id))), path.Dir(b.journalPath(id)))
	}
	over, err := b.work.Await(ctx, r.Limit, func(ctx context.Context) (bool, time.Duration, error) {
		again, err := w.look(ctx)
		return w.isOver(), again, err
	}, folders...)
	if err != nil || over {
		return w.endings, err
	}
	return w.last(ctx)
}

// A waiter is a wait that goes on.
type waiter struct {
	*Board
	WaitRequest
	open    []*awaited
	endings []Ending
	said    map[string]bool
	begun   time.Time
	others  []string // the other worktrees of the project
}

// An awaited is a task that has not ended yet.
type awaited struct {
	id    ID
	empty bool // an empty marker was seen: somebody may be writing to it
	// before has the markers that were there when the wait began. Any other one
	// is new, whatever the clocks say.
	before map[string]bool
	// The state of the journal in which it was looked at.
	size int64
	time time.Time
}

func newWaiter(b *Board, r WaitRequest) *waiter {
	w := &waiter{Board: b, WaitRequest: r, said: map[string]bool{}, begun: b.now()}
	w.others = slices.DeleteFunc(b.work.Roots(), func(root string) bool { return root == b.work.Root })
	for _, id := range r.IDs {
		if !slices.ContainsFunc(w.open, func(t *awaited) bool { return t.id.key() == id.key() }) {
			w.open = append(w.open, &awaited{id: id})
		}
	}
	return w
}

func (w *waiter) isOver() bool { return len(w.open) == 0 || w.Any && len(w.endings) > 0 }

// say tells the listener something once about a thing.
func (w *waiter) say(about, format string, args ...any) {
	if w.Say != nil && !w.said[about+format] {
		w.said[about+format] = true
		w.Say(fmt.Sprintf(format, args...))
	}
}

const (
	emptyPause = 20 * time.Millisecond // that an empty marker is given to get its text
	busyPause  = time.Second           // after waiting for a turn in vain
)

// look looks at all tasks that have not ended. It returns when to look again if
// nothing happens; 0: never.
func (w *waiter) look(ctx context.Context) (again time.Duration, err error) {
	var left []*awaited
	for _, t := range w.open {
		ended, pause, err := w.lookAt(ctx, t)
		if errors.Is(err, turnstile.ErrBusy) && ctx.Err() == nil {
			ended, pause, err = false, busyPause, nil // others are at it: it is looked at again
		}
		if err != nil {
			return 0, err
		}
		again = max(again, pause)
		if !ended {
			left = append(left, t)
		}
	}
	w.open = left
	if !w.isOver() {
		for _, t := range left {
			w.lookAround(t)
		}
	}
	return again, nil
}

// lookAt looks for the marker of a task.
func (w *waiter) lookAt(ctx context.Context, t *awaited) (ended bool, again time.Duration, err error) {
	found, err := w.markers(t.id)
	w.sayMarkerErrors(err)
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
			return false, 0, err
		}
		found, err = w.markers(t.id)
		w.sayMarkerErrors(err)
	}
	if len(found) == 0 {
		return false, 0, nil
	}
	if !t.empty && slices.ContainsFunc(found, func(m marker) bool { return m.empty }) {
		t.empty = true
		return false, emptyPause, nil
	}
	if err := w.importFiles(ctx, w.journalPath(t.id)); err != nil {
		return false, 0, err
	}
	m, o, err := w.choose(ctx, t, found)
	if err != nil || m.File == "" {
		return false, 0, err
	}
	e := w.ending(t.id, m, o)
	if err := w.importFiles(ctx, m.path); err != nil {
		return false, 0, err
	}
	w.endings = append(w.endings, e)
	if w.Ended != nil {
		w.Ended(e)
	}
	return true, 0, nil
}

// sayUnknown says at once that nothing is known of a task: its id may be a slip.
func (w *waiter) sayUnknown(ctx context.Context, id ID) {
	if _, err := w.Get(ctx, id); !errors.Is(err, ErrNotStarted) || isThere(w.journalFile(id)) {
		return // somebody has, perhaps by hand
	}
	w.say(string(id)+" unknown", "%s has no journal: nobody has started it here; it is waited for all the same", id)
}

// choose returns the marker that counts, of those that were found, or none.
func (w *waiter) choose(ctx context.Context, t *awaited, found []marker) (best marker, o origin, err error) {
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
			w.say(m.File, "%s is older than the start of %s and does not count", m.File, t.id)
		case !o.isKnown() && w.MaxAge > 0 && age > w.MaxAge:
			w.say(m.File, "%s is older than %v and does not count", m.File, w.MaxAge)
		case m.isWorse(best):
			best = m
		}
	}
	return best, o, nil
}

// importFiles stores a journal or a marker as it stands on disk. What cannot be stored now
// is found by a later command.
func (w *waiter) importFiles(ctx context.Context, p string) error {
	err := w.work.Import(ctx, p)
	if err != nil && ctx.Err() == nil {
		w.say(p, "%s is not stored yet: %v", p, err)
	}
	return ctx.Err()
}

// sayMarkerErrors names what stands in the place of a marker.
func (w *waiter) sayMarkerErrors(err error) {
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") { // as errors.Join has them
			w.say(line, "%s, and does not count", line)
		}
	}
}

// markerPause is how long after its journal an agent usually writes the marker, at
// most.
const markerPause = 5 * time.Second

// lookAround looks for what an agent may have left in place of a marker: one with
// another name, or a journal that is complete.
func (w *waiter) lookAround(t *awaited) {
	for _, file := range w.lookAlikes(t.id) {
		if info, err := os.Lstat(file); err == nil {
			w.say(file, "%s (%s old) looks like the marker of %s, which is %s",
				file, ageText(w.now().Sub(info.ModTime())), t.id, w.markerFile(t.id, layout.StatusComplete))
		}
	}
	file := w.journalFile(t.id)
	info, err := os.Stat(file)
	if err != nil || info.Size() == t.size && info.ModTime().Equal(t.time) || w.now().Sub(info.ModTime()) < markerPause {
		return
	}
	t.size, t.time = info.Size(), info.ModTime()
	if j := readJournal(file); j != nil && j.Handoff != nil && layout.HasEnded(j.State()) {
		w.say(file, "the journal of %s has a handoff (%s), but there is no marker: filebus task done %s writes it",
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

// ageText shows an age in one unit or two.
func ageText(d time.Duration) string {
	d = max(d, 0)
	if d < time.Minute {
		return d.Truncate(time.Second).String()
	}
	if d < 48*time.Hour {
		text := d.Truncate(time.Minute).String()
		return text[:len(text)-len("0s")]
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// last looks a last time when the time is up.
func (w *waiter) last(ctx context.Context) ([]Ending, error) {
	for _, t := range w.open {
		t.empty = true
	}
	if _, err := w.look(ctx); err != nil || w.isOver() {
		return w.endings, err
	}
	var waiting []Pending
	for _, t := range w.open {
		waiting = append(waiting, Pending{t.id, w.progress(t.id)})
	}
	return w.endings, errLate(w.Limit, waiting)
}

// progress says how far a task is that has no marker.
func (w *waiter) progress(id ID) string {
	file := w.journalFile(id)
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return "no journal"
	}
	j := readJournal(file)
	if err != nil || j == nil {
		return "its journal cannot be read"
	}
	return fmt.Sprintf("%s, journal changed %s ago", cmp.Or(j.State(), "no status"),
		ageText(w.now().Sub(info.ModTime())))
}

// fetch looks for the marker of a task in the other worktrees of the project, and
// brings it and the journal here. A marker from before the task's start, or before
// the wait where no start is known, is left alone. It reports whether there was one.
func (w *waiter) fetch(ctx context.Context, id ID) (fetched bool, err error) {
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
				w.say(root+p, "%v", err)
				continue
			}
			fetched = true
		}
	}
	return fetched, nil
}

// startOf returns when a task began, to the second, as its journal says in another
// root or in the store; else when the wait did.
func (w *waiter) startOf(ctx context.Context, root string, id ID) time.Time {
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
