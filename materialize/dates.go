package materialize

import (
	"context"
	"sync"
	"time"

	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
)

// changeTimes tells when files were changed: as git says where it has them, else by their
// own times. Git is asked for all of files, once, when the first is needed.
func changeTimes(ctx context.Context, git *mirror.Repository, files []mirror.Stat) func(mirror.Stat) time.Time {
	known := sync.OnceValue(func() map[string]time.Time {
		return git.Authored(ctx, markdown.Each(files, func(f mirror.Stat) string { return f.Path }))
	})
	return func(f mirror.Stat) time.Time {
		at, isGits := known()[f.Path]
		if isSlip := !at.IsZero() && at.Unix() <= 0 || time.Until(at) > 24*time.Hour; isGits && !isSlip {
			return at
		}
		return f.ModTime
	}
}

// dates tells when files of the root were changed. Only a whole sync asks git, which takes
// its time: where there is git, other commands know it of none, as a file's own time may
// be that of a checkout.
func (r *reconciler) dates(ctx context.Context) func(mirror.Stat) time.Time {
	switch {
	case r.changed != nil:
	case !r.repository().Has(), r.syncs && r.opts.Budget == 0:
		r.changed = changeTimes(ctx, r.repository(), r.found)
	default:
		r.changed = func(mirror.Stat) (unknown time.Time) { return unknown }
	}
	return r.changed
}
