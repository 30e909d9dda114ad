package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"filebus/store/folder"
	"filebus/store/record"
)

// Watched are the folders, absolute, in which changes are seen: those of any file where it is true, else only a folder
// that appears, or a change of a store's database. Those that are missing are passed over.
type Watched map[string]bool

// Add adds a folder, unless it is there.
func (w Watched) Add(dir string, isWhole bool) { w[dir] = w[dir] || isWhole }

// A FollowLook looks at what is followed. It names the folders to watch until the next one, and says after what time it
// wants to look again though nothing has happened; 0: the usual one.
type FollowLook func(ctx context.Context) (watched Watched, again time.Duration, err error)

// How a follower goes on after an event: a change is mostly one of several, and looks at many files must leave the
// machine to those who write them.
const (
	followQuiet = 50 * time.Millisecond // between an event and the look
	followRest  = 4                     // times what the last look took, between two looks
	followScan  = 20                    // the same, between two looks without an event
	mostRest    = 10 * time.Second      // after a look that takes long
)

// Follow looks, at once and whenever something may have changed, until ctx ends or a look fails. What happens during a
// look wakes it again: events are asked for before. They can be lost, and folders appear with files in them: so it looks
// once more where the folders are others, and every so often without an event. What keeps events from being given is
// said, once; the looks then stand in for them. A value of more, which may be nil, is like an event.
func Follow(ctx context.Context, every time.Duration, more <-chan struct{}, look FollowLook, say func(error)) error {
	watched, told := Watched{}, false
	for ctx.Err() == nil {
		asked, cancel := context.WithCancel(ctx)
		wake, failed := watched.events(asked, (*fsnotify.Watcher).Add)
		if failed != nil && !told {
			say(failed)
			told = true
		}
		start := time.Now()
		now, again, err := look(ctx)
		took := time.Since(start)
		if again == 0 || again > every {
			again = every
		}
		if told {
			again = min(again, scanInterval)
		}
		rested := time.Now().Add(min(followRest*took, mostRest))
		if err == nil && maps.Equal(now, watched) {
			waitFor(ctx, wake, more, max(again, followScan*took))
		}
		cancel() // ends the events
		if err != nil {
			return err
		}
		watched = now
		waitFor(ctx, nil, nil, max(followQuiet, time.Until(rested)))
	}
	return ctx.Err()
}

func waitFor(ctx context.Context, wake, more <-chan struct{}, limit time.Duration) {
	select {
	case <-ctx.Done():
	case <-wake:
	case <-more:
	case <-time.After(limit):
	}
}

// Events returns a channel that has a value when something has happened in folders, until ctx ends; nil where the system
// gives no events.
func (w Watched) Events(ctx context.Context) <-chan struct{} {
	wake, _ := w.events(ctx, (*fsnotify.Watcher).Add) // of some of the folders is better than of none
	return wake
}

// events returns a channel that has a value when something has happened in folders, until ctx ends. Those of which the
// system gives no events are counted in the error.
func (w Watched) events(ctx context.Context, add func(*fsnotify.Watcher, string) error) (<-chan struct{}, error) {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, withoutEvents("folders", err)
	}
	wake, missing := make(chan struct{}, 1), 0
	go func() {
		forward(ctx, events, wake, w.counts)
		_ = events.Close() // nothing was written
	}()
	for dir := range w {
		switch failed := add(events, dir); {
		case errors.Is(failed, syscall.EMFILE), errors.Is(failed, syscall.ENFILE): // each file costs a handle here
			_ = events.Close() // nothing was written
			return nil, withoutEvents("folders", failed)
		case failed != nil && !errors.Is(failed, fs.ErrNotExist) && !isNotFolder(failed):
			missing, err = missing+1, failed
		}
	}
	if missing > 0 {
		err = withoutEvents(fmt.Sprintf("%d of %d folders", missing, len(w)), err)
	}
	return wake, err
}

// counts reports whether an event may be of something that is followed.
func (w Watched) counts(event fsnotify.Event) bool {
	dir, name := filepath.Split(event.Name)
	isWhole, isKnown := w[filepath.Clean(dir)]
	switch {
	case event.Op == fsnotify.Chmod, folder.IsTemporary(name):
		return false
	case isWhole || !isKnown:
		return true
	case name == "store.db":
		return event.Has(fsnotify.Write) || event.Has(fsnotify.Create)
	}
	info, err := os.Lstat(event.Name)
	return event.Has(fsnotify.Create) && err == nil && info.IsDir()
}

// withoutEvents is the error of folders whose events the system does not give, with the setting to raise: far above
// what systems begin with, as watches cost nothing until they are used.
func withoutEvents(folders string, cause error) error {
	why, hint := Cause(cause), ""
	switch {
	case errors.Is(cause, syscall.ENOSPC):
		why, hint = "the system gives no more watches", "sudo sysctl fs.inotify.max_user_watches=4194304"
	case errors.Is(cause, syscall.EMFILE) && runtime.GOOS == "linux":
		hint = "sudo sysctl fs.inotify.max_user_instances=8192"
	case errors.Is(cause, syscall.EMFILE): // each file that is watched is an open one
		hint = "ulimit -n 8192"
	}
	err := record.Partly.Errorf("no events of %s: %s; they are looked at every few seconds instead", folders, why)
	return err.Try(hint)
}
