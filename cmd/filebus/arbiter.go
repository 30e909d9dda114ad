package main

import (
	"context"
	"slices"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/remote"
	"filebus/store/record"
)

// An arbiter asks the remotes that can decide between machines.
type arbiter struct {
	*cli.Work
	remotes []remote.Setting
}

// arbitrate gives a workspace its arbiter, if one of its remotes decides.
func arbitrate(w *cli.Work) {
	all, err := remotes(w, nil)
	all = slices.DeleteFunc(all, func(s remote.Setting) bool { return !remote.Decides(s.Address) })
	if err == nil && len(all) > 0 { // what cannot be read is said by the commands for remotes
		w.Arbiter = &arbiter{w, all}
	}
}

// arbiterWait is how long a claim waits for a remote: then it is local.
const arbiterWait = 2 * time.Second

func (a *arbiter) Claim(ctx context.Context, of record.Name, until time.Time) (holder string, decided bool) {
	ids, err := a.Store.Origins(ctx)
	if err != nil {
		return "", false
	}
	for _, s := range a.remotes {
		held, ok := a.hold(ctx, s, remote.Hold{Of: of.String(), Holder: ids[0], Label: s.Label, Until: until.UTC()})
		if ok && held.Holder != ids[0] {
			return string(held.Label) + " until " + a.Minute(held.Until), true
		}
		decided = decided || ok
	}
	return "", decided
}

// hold asks one remote.
func (a *arbiter) hold(ctx context.Context, s remote.Setting, wanted remote.Hold) (remote.Hold, bool) {
	t, err := remote.Open(ctx, s.Address, remote.Options{Base: a.Main})
	if err != nil {
		return wanted, false
	}
	defer func() { _ = t.Close() }() // the claim is made, or local
	limit, cancel := context.WithTimeout(ctx, arbiterWait)
	defer cancel()
	held, err := t.(remote.Decider).Hold(limit, wanted, a.Now())
	if err != nil && ctx.Err() == nil {
		a.Note("%s does not decide: %s", s.Name, cli.Message(err))
	}
	return held, err == nil
}

func (a *arbiter) Release(ctx context.Context, of record.Name) {
	_, _ = a.Claim(ctx, of, a.Now().Add(-time.Second)) // else it is over with its lease
}
