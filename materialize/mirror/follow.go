package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
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

// Follow looks, at once and whenever something may have changed, until ctx ends or a look fails. Events can be lost, and
// folders appear with files in them: so it looks once more where folders are new to it, and every so often without an
// event. What keeps events from being given is said, once; the looks then stand in for them.
func Follow(ctx context.Context, every time.Duration, look FollowLook, say func(error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the events
	f := &follower{}
	events, err := fsnotify.NewWatcher()
	if err == nil {
		f.events, f.add = events, events.Add
	} else {
		say(withoutEvents("folders", err))
	}
	wake := forwarded(ctx, f.events, time.Hour, f.counts)
	for told := err != nil; ; {
		start := time.Now()
		watched, again, err := look(ctx)
		if err != nil {
			return err
		}
		took := time.Since(start)
		isNew, err := f.watch(watched)
		if err != nil && !told {
			say(err)
			told = true
		}
		if again == 0 || again > every {
			again = every
		}
		if told {
			again = min(again, scanInterval)
		}
		rested := time.Now().Add(min(followRest*took, mostRest))
		if !isNew {
			waitFor(ctx, wake, max(again, followScan*took))
		}
		waitFor(ctx, nil, max(followQuiet, time.Until(rested)))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		select {
		case <-wake: // what has happened by now is seen
		default:
		}
	}
}

func waitFor(ctx context.Context, wake <-chan struct{}, limit time.Duration) {
	select {
	case <-ctx.Done():
	case <-wake:
	case <-time.After(limit):
	}
}

// A follower has the events of folders that come and go.
type follower struct {
	events *fsnotify.Watcher // nil: there are none
	add    func(folder string) error

	mu      sync.Mutex
	watched Watched
}

// counts reports whether an event may be of something that is followed.
func (f *follower) counts(event fsnotify.Event) bool {
	dir, name := filepath.Split(event.Name)
	f.mu.Lock()
	isWhole, isKnown := f.watched[filepath.Clean(dir)]
	f.mu.Unlock()
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

// watch makes the events those of the folders, and reports whether one is new: then something may have happened there
// before. A folder of which the system gives no events is counted in the error.
func (f *follower) watch(watched Watched) (isNew bool, err error) {
	if f.events == nil {
		return false, nil
	}
	f.mu.Lock()
	f.watched = watched
	f.mu.Unlock()
	for _, dir := range f.events.WatchList() {
		if _, isWanted := watched[dir]; !isWanted {
			_ = f.events.Remove(dir) // it may be gone
		}
	}
	missing, before := 0, len(f.events.WatchList())
	for dir := range watched { // also old ones: another folder may have the name by now
		switch failed := f.add(dir); {
		case errors.Is(failed, syscall.EMFILE), errors.Is(failed, syscall.ENFILE): // each file costs a handle here
			_ = f.events.Close() // nothing was written
			f.events = nil
			return false, withoutEvents("folders", failed)
		case failed != nil && !errors.Is(failed, fs.ErrNotExist) && !isNotFolder(failed):
			missing, err = missing+1, failed
		}
	}
	if missing > 0 {
		err = withoutEvents(fmt.Sprintf("%d of %d folders", missing, len(watched)), err)
	}
	return len(f.events.WatchList()) > before, err
}

// withoutEvents is the error of folders whose events the system does not give, with the setting to raise, if it is one
// that can be read: of the system or of the namespace of users, whichever is lower.
func withoutEvents(folders string, cause error) error {
	limit, least, why := "watches", 524_288, Cause(cause)
	switch {
	case errors.Is(cause, syscall.ENOSPC):
		why = "the system gives no more watches"
	case errors.Is(cause, syscall.EMFILE):
		limit, least = "instances", 1024
	default:
		least = 0
	}
	err := record.Partly.Errorf("no events of %s: %s; they are looked at every few seconds instead", folders, why)
	name, value := "", math.MaxInt
	for _, setting := range []string{"fs.inotify.max_user_" + limit, "user.max_inotify_" + limit} {
		text, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(setting, ".", "/"))
		if n, _ := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n < value {
			name, value = setting, n
		}
	}
	switch {
	case least > 0 && name != "":
		err = err.Try("sudo sysctl " + name + "=" + strconv.Itoa(max(2*value, least)))
	case least > 0 && runtime.GOOS != "linux": // each file that is watched is an open one
		err = err.Try("ulimit -n " + strconv.Itoa(least))
	}
	return err
}
