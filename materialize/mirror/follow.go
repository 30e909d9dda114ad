package mirror

import (
	"context"
	"errors"
	"io/fs"
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

// Watched are the folders, absolute, in which changes are seen. Those that are missing
// are passed over.
type Watched struct {
	Folders []string // any change of their files counts
	Above   []string // only a folder that appears counts, or a change of a store's database
}

// A FollowLook looks at what is followed. It names the folders to watch until the next
// one, and says after what time it wants to look again though nothing has happened; 0:
// the usual one.
type FollowLook func(ctx context.Context) (watched Watched, again time.Duration, err error)

// How a follower goes on after an event: a change is mostly one of several, and looks at
// many files must leave the machine to those who write them.
const (
	followQuiet  = 50 * time.Millisecond // without an event, before it looks
	followBursts = 20                    // such times at most
	followRest   = 4                     // times what the last look took, between two looks
	followScan   = 20                    // the same, between two looks without an event
)

// Follow looks, at once and whenever something may have changed, until ctx ends or a
// look fails. Events can be lost, and folders appear with files in them: so it looks
// once more where folders are new to it, and every so often without an event. What
// keeps events from being given is said, once; the looks then stand in for them.
func Follow(ctx context.Context, every time.Duration, look FollowLook, say func(error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the events
	f := &follower{add: func(string) error { return nil }}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		say(watchLimit("max_user_instances", err, 0, 0))
	} else {
		f.events, f.add = events, events.Add
	}
	f.wake = forwarded(ctx, f.events, time.Hour, f.counts)
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
		rested := time.Now().Add(followRest * took)
		if !isNew && !f.wait(ctx, max(again, followScan*took)) || !pause(ctx, time.Until(rested)) {
			return ctx.Err()
		}
	}
}

// A follower has the events of folders that come and go.
type follower struct {
	events *fsnotify.Watcher // nil: there are none
	add    func(folder string) error
	wake   <-chan struct{}

	mu    sync.Mutex
	above map[string]bool // see Watched.Above
}

// counts reports whether an event may be of something that is followed.
func (f *follower) counts(event fsnotify.Event) bool {
	dir, name := filepath.Split(event.Name)
	f.mu.Lock()
	isAbove := f.above[filepath.Clean(dir)]
	f.mu.Unlock()
	switch {
	case event.Op == fsnotify.Chmod, folder.IsTemporary(name):
		return false
	case !isAbove:
		return true
	case name == "store.db":
		return event.Has(fsnotify.Write) || event.Has(fsnotify.Create)
	}
	info, err := os.Lstat(event.Name)
	return event.Has(fsnotify.Create) && err == nil && info.IsDir()
}

// watch makes the events those of the folders, and reports whether one is new: then
// something may have happened there before. A folder of which the system gives no
// events is counted in the error.
func (f *follower) watch(watched Watched) (isNew bool, err error) {
	if f.events == nil {
		return false, nil
	}
	old, wanted, above := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, dir := range f.events.WatchList() {
		old[dir] = true
	}
	for _, dir := range watched.Folders {
		wanted[dir] = true
	}
	for _, dir := range watched.Above {
		above[dir], wanted[dir] = !wanted[dir], true
	}
	f.mu.Lock()
	f.above = above
	f.mu.Unlock()
	missing := 0
	for dir := range wanted { // also old ones: another folder may have the name by now
		failed := f.add(dir)
		switch {
		case failed == nil:
			isNew = isNew || !old[dir]
		case errors.Is(failed, syscall.EMFILE), errors.Is(failed, syscall.ENFILE): // each file costs a handle here
			_ = f.events.Close() // nothing was written
			f.events = nil
			return false, watchLimit("max_user_watches", failed, len(wanted), len(wanted))
		case !errors.Is(failed, fs.ErrNotExist) && !isNotFolder(failed):
			missing, err = missing+1, failed
		}
	}
	for dir := range old {
		if !wanted[dir] {
			_ = f.events.Remove(dir) // it may be gone
		}
	}
	if missing > 0 {
		err = watchLimit("max_user_watches", err, missing, len(wanted))
	}
	return isNew, err
}

// wait waits for an event and the end of those that come with it, or for a time. It
// reports whether ctx goes on.
func (f *follower) wait(ctx context.Context, limit time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-time.After(limit):
		return true
	case <-f.wake:
	}
	for range followBursts {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(followQuiet):
			return true
		case <-f.wake:
			if !pause(ctx, followQuiet) {
				return false
			}
		}
	}
	return true
}

// pause reports whether ctx goes on after a time.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// leastWatches is what the limits of the system are proposed to be, at least.
const leastWatches = 524_288

// watchLimit is the error of folders whose events the system does not give.
func watchLimit(limit string, cause error, missing, all int) error {
	of := "folders"
	if all > 0 {
		of = strconv.Itoa(missing) + " of " + strconv.Itoa(all) + " folders"
	}
	err := record.Partly.Errorf("no events of %s: %v; they are looked at every few seconds instead", of, Cause(cause))
	if runtime.GOOS != "linux" {
		return err.Try("ulimit -n " + strconv.Itoa(leastWatches))
	}
	// That of the namespace counts too, where it is lower.
	name, value := "fs.inotify."+limit, systemNumber("fs/inotify/"+limit)
	inside := "max_inotify_" + strings.TrimPrefix(limit, "max_user_")
	if lower := systemNumber("user/" + inside); lower > 0 && lower < value {
		name, value = "user."+inside, lower
	}
	least := leastWatches
	if limit == "max_user_instances" {
		least = 1024
	}
	return err.Try("sudo sysctl " + name + "=" + strconv.Itoa(max(2*value, least)))
}

// systemNumber returns a setting of the kernel, or 0.
func systemNumber(name string) int {
	text, _ := os.ReadFile("/proc/sys/" + name) // 0 beside an error
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}
