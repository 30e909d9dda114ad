package remote

import (
	"context"
	"os"
	"runtime"
	"time"

	"filebus/materialize/mirror"
)

// How a folder is waited for. Events are a hint: they come from this machine alone, and some get
// lost. Behind them stand looks at when folders were changed, and behind these, for disks that
// do not say it, the end of each wait.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 15 * time.Second
	longestWait  = time.Minute
)

// coarse is how long two changes may have the same time, on the disks that are worst at it.
const coarse = 2 * time.Second

// modified returns when a folder was changed; the zero time if it is not there.
func modified(dir string) time.Time {
	info, err := os.Lstat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// remember keeps what a listing has seen. One that was just changed is soon listed again.
func (f *folderRemote) remember(folders map[string]*listedFolder, l *Listing, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen.Folders, f.seen.Listing, f.seen.Since, f.settled = folders, l, since, time.Time{}
	for _, of := range folders {
		if !of.IsSettled {
			f.settled = time.Now().Add(coarse)
		}
	}
}

// changed reports whether a folder is not as it was listed, or may not be.
func (f *folderRemote) changed() bool {
	f.mu.Lock()
	folders, settled := f.seen.Folders, f.settled
	f.mu.Unlock()
	for dir, of := range folders {
		if modified(f.dir.Path(dir)).UnixNano() != of.Stamp[0] {
			return true
		}
	}
	return folders == nil || !settled.IsZero() && time.Now().After(settled)
}

// events has a value when something has happened in the folders of the last listing. Where that
// would hold every file of them open, or the user's watches are used up, no event comes.
func (f *folderRemote) events(ctx context.Context) <-chan struct{} {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	folders := mirror.Watched{}
	for dir := range f.seen.Folders {
		folders.Add(f.dir.Path(dir), true)
	}
	return folders.Events(ctx) // else looks find changes
}

func (f *folderRemote) Wait(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel() // ends the events
	events := f.events(limited)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if err := f.present(); err != nil || f.changed() {
			return err
		}
		select {
		case <-events:
			return ctx.Err()
		case <-limited.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
