package mirror

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How often who waits looks without an event: events get lost, so a scan stands
// behind them. Where the system gives no events the scan is all there is.
const (
	scanInterval   = 2 * time.Second
	scanWithoutAny = 250 * time.Millisecond
)

// await looks, at once and whenever something may have changed in folders, until a look
// says that the wait is over; it says too after what time it wants to look again though
// nothing has happened, 0 if it need not. Await returns false when the limit has passed
// before; 0 is no limit. It ends with the error of a look, or of ctx.
func await(
	ctx context.Context, limit time.Duration,
	look func(ctx context.Context) (over bool, again time.Duration, err error), folders []string,
) (over bool, err error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel() // ends the events
	if limit > 0 {
		limited, cancel = context.WithTimeout(limited, limit)
		defer cancel()
	}
	watched, interval := Watched{}, scanInterval
	for _, folder := range folders {
		watched.Add(folder, true)
	}
	wake, failed := watched.events(limited, (*fsnotify.Watcher).Add)
	if failed != nil {
		interval = scanWithoutAny
	}
	for {
		over, again, err := look(ctx)
		if err != nil || over {
			return over, err
		}
		if again == 0 || again > interval {
			again = interval
		}
		if waitFor(limited, wake, nil, again); limited.Err() != nil {
			return false, ctx.Err()
		}
	}
}

// forward makes a value of each event that counts, and of each lost one, until ctx ends. A value is a
// hint and no proof: look at the files, and look once before the first value.
func forward(ctx context.Context, events *fsnotify.Watcher, wake chan<- struct{}, counts func(fsnotify.Event) bool) {
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-events.Events:
			if !open { // the events were given up
				return
			}
			if !counts(event) {
				continue
			}
		case <-events.Errors: // an overflow: something was lost
		}
		select {
		case wake <- struct{}{}:
		default: // one is waiting already
		}
	}
}
