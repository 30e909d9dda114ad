package mirror

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How often a watch wakes without an event: events get lost, so a scan stands
// behind them. Where the system gives no events the scan is all there is.
const (
	scanInterval   = 2 * time.Second
	scanWithoutAny = 250 * time.Millisecond
)

// watch returns a channel that has a value whenever something may have changed
// in folders. A value is a hint and no proof: look at the files, and look once
// before the first value. Several changes may give one value. The channel is
// closed when ctx ends; until then the watch costs no time while nothing happens
// but for one look every interval.
func watch(ctx context.Context, interval time.Duration, folders []string) <-chan struct{} {
	events, err := fsnotify.NewWatcher()
	if err != nil { // the user's watches are used up, or the system has none
		events, interval = nil, scanWithoutAny
	}
	for _, folder := range folders {
		if events != nil && events.Add(folder) != nil {
			_ = events.Close() // it has seen nothing
			events, interval = nil, scanWithoutAny
		}
	}
	return forwarded(ctx, events, interval, func(fsnotify.Event) bool { return true })
}

// forwarded returns the channel of a watch, which ends with ctx.
func forwarded(ctx context.Context, events *fsnotify.Watcher, interval time.Duration, counts func(fsnotify.Event) bool) <-chan struct{} {
	wake := make(chan struct{}, 1)
	go func() {
		defer close(wake)
		if events != nil {
			defer func() { _ = events.Close() }() // nothing was written
		}
		forward(ctx, events, interval, wake, counts)
	}()
	return wake
}

// await looks, at once and whenever something may have changed in folders, until a look
// says that the wait is over; it says too after what time it wants to look again though
// nothing has happened, 0 if it need not. Await returns false when the limit has passed
// before; 0 is no limit. It ends with the error of a look, or of ctx.
func await(
	ctx context.Context, limit time.Duration,
	look func(ctx context.Context) (over bool, again time.Duration, err error), folders []string,
) (over bool, err error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel() // ends the watch
	if limit > 0 {
		limited, cancel = context.WithTimeout(limited, limit)
		defer cancel()
	}
	wake := watch(limited, scanInterval, folders)
	for {
		over, again, err := look(ctx)
		if err != nil || over {
			return over, err
		}
		var after <-chan time.Time // never
		if again > 0 {
			after = time.After(again)
		}
		select {
		case <-after:
		case <-wake:
		case <-limited.Done():
		}
		if limited.Err() != nil {
			return false, ctx.Err()
		}
	}
}

// forward makes a value of each event that counts, of each lost one, and of each tick.
func forward(
	ctx context.Context, events *fsnotify.Watcher, interval time.Duration, wake chan<- struct{}, counts func(fsnotify.Event) bool,
) {
	var changes chan fsnotify.Event
	var faults chan error
	if events != nil {
		changes, faults = events.Events, events.Errors
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-changes:
			if !open { // the events were given up
				changes, faults = nil, nil
			}
			if !open || !counts(event) {
				continue
			}
		case <-faults: // an overflow: something was lost
		case <-tick.C:
		}
		select {
		case wake <- struct{}{}:
		default: // one is waiting already
		}
	}
}
