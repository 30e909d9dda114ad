package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"filebus/store/record"
	"filebus/store/turnstile"
)

// A Look looks at one thing that is waited for. It returns what is missing of it in a few words,
// or "" if nothing is, and after what time it wants to look again though nothing has happened; 0:
// it need not.
type Look func(ctx context.Context) (missing string, again time.Duration, err error)

// Writing is what a Look says of a file that somebody may still be writing to. When the time of a wait is up, such a
// file gets StillFor and a second to be finished.
const Writing = "writing"

// StillFor is how long a file must not have changed before a command that only happens to look takes it for whole.
const StillFor = 2 * time.Second

// ErrLate says that the time of a wait is over, and names what it has waited for in vain.
const ErrLate record.Reason = "what was waited for is late"

// A Waiter waits for what other processes do to files or to a store, as all commands that wait do: it looks at once,
// when something changes in folders, and by the clock, until nothing is missing or the time is up.
type Waiter struct {
	Limit time.Duration     // 0: none
	Any   bool              // the wait is over when one thing is there, not all
	Now   func() time.Time  // the clock of files
	Say   func(line string) // is called with what else keeps the wait from ending; nil: nobody listens
	// Around is called after looks that leave something to wait for; nil: nothing is done then.
	Around func(ctx context.Context)

	looks, open []Look
	isWriting   bool
	said        map[string]bool
	files       map[string]fileState
}

// A fileState is how a file was when it was seen last, and since when.
type fileState struct {
	size        int64
	time, since time.Time
}

const (
	busyPause = time.Second           // after waiting for a lock in vain
	lastPause = 10 * time.Millisecond // between looks when the time is up
	lastLimit = StillFor + time.Second
)

// Await looks at all things, at once and whenever something may have changed in folders, until
// nothing is missing. It reports whether something still is when the time is up. A thing that is
// there is not looked at again. The wait ends with the error of a look, or of ctx; that others keep
// a lock is none.
func (w *Waiter) Await(ctx context.Context, folders []string, looks ...Look) (late bool, err error) {
	w.looks, w.open = looks, looks
	over, err := await(ctx, w.Limit, w.look, folders)
	if err == nil && !over {
		_, err = await(ctx, lastLimit, func(ctx context.Context) (bool, time.Duration, error) {
			over, again, err := w.look(ctx)
			return over || !w.isWriting, max(again, lastPause), err
		}, nil)
	}
	return err == nil && !w.isOver(), err
}

func (w *Waiter) isOver() bool { return len(w.open) == 0 || w.Any && len(w.open) < len(w.looks) }

// look looks at all that was missing.
func (w *Waiter) look(ctx context.Context) (over bool, again time.Duration, err error) {
	var left []Look
	w.isWriting = false
	for _, look := range w.open {
		missing, pause, err := look(ctx)
		if errors.Is(err, turnstile.ErrBusy) && ctx.Err() == nil {
			missing, pause, err = "a lock", busyPause, nil
		}
		if err != nil {
			return false, 0, err
		}
		if missing == "" {
			continue
		}
		left, w.isWriting = append(left, look), w.isWriting || missing == Writing
		if pause > 0 && (again == 0 || pause < again) {
			again = pause
		}
	}
	w.open = left
	if !w.isOver() && w.Around != nil {
		w.Around(ctx)
	}
	return w.isOver(), again, nil
}

// IsNew reports whether something is said for the first time.
func (w *Waiter) IsNew(what string) bool {
	if w.said[what] {
		return false
	}
	if w.said == nil {
		w.said = map[string]bool{}
	}
	w.said[what] = true
	return true
}

// Tell says something once about a thing.
func (w *Waiter) Tell(about, format string, args ...any) {
	if w.Say != nil && w.IsNew(about+format) {
		w.Say(fmt.Sprintf(format, args...))
	}
}

// Seen reports whether a file is another one than when it was seen last, and for how long it has been as it is. A file
// from the future has been so since it was seen. Info may be nil, of a file that is not there.
func (w *Waiter) Seen(file string, info fs.FileInfo) (isNew bool, age time.Duration) {
	now, state := w.Now(), fileState{}
	if info != nil {
		state.size, state.time = info.Size(), info.ModTime()
	}
	old := w.files[file]
	if isNew = old.size != state.size || !old.time.Equal(state.time); isNew {
		if w.files == nil {
			w.files = map[string]fileState{}
		}
		state.since = now
		w.files[file], old = state, state
	}
	if age = now.Sub(old.time); age < 0 {
		age = now.Sub(old.since)
	}
	return isNew, age
}

// A Missing is a thing that was waited for in vain.
type Missing struct {
	Name string
	Say  string // how far it is
}

// Late is the error of a wait whose time is up, as "no marker after 5m: task-003 (not started)". It has the []Missing.
func (w *Waiter) Late(what string, all ...Missing) *record.Error {
	const maxNamed = 5 // how many things are named
	var list, names []string
	for _, m := range all {
		names, list = append(names, m.Name), append(list, fmt.Sprintf("%s (%s)", m.Name, m.Say))
	}
	if more := len(list) - maxNamed; more > 0 {
		list = append(list[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	said := strings.TrimSuffix(fmt.Sprintf("%s after %v: %s", what, w.Limit, strings.Join(list, ", ")), ": ")
	return record.Timeout.Errorf("%s", said).Because(ErrLate, names...).With(all)
}
