package materialize

import (
	"context"
	"time"

	"filebus/store/record"
)

// An Arbiter decides between machines who may work on a thing.
type Arbiter interface {
	// Claim claims a thing for this store until a time, and returns who else holds it, "" if nobody does.
	// Where nobody can decide just now, decided is false.
	Claim(ctx context.Context, of record.Name, until time.Time) (holder string, decided bool)
	// Release gives up a claim of this store, if it has one and that can be said.
	Release(ctx context.Context, of record.Name)
}

// ErrElsewhere says that another machine has claimed a thing.
const ErrElsewhere record.Reason = "claimed on another machine"

// Claim claims a thing among the machines that share remotes with this store. Where nobody decides it
// is claimed on this machine alone, which isLocal says, until the others have heard of it.
func (w *Workspace) Claim(ctx context.Context, of record.Name, lease time.Duration) (isLocal bool, err error) {
	lane, err := w.Lane(ctx)
	if err != nil || lane == "" {
		return false, err
	}
	if w.Arbiter == nil {
		return true, nil
	}
	holder, decided := w.Arbiter.Claim(ctx, of, w.now().Add(lease))
	if holder != "" {
		return false, record.Conflict.Errorf("%s is claimed by %s", of, holder).Because(ErrElsewhere, of.String())
	}
	return !decided, ctx.Err()
}

// GiveUp gives up what Claim has claimed.
func (w *Workspace) GiveUp(ctx context.Context, of record.Name) {
	if w.Arbiter != nil {
		w.Arbiter.Release(ctx, of)
	}
}
