package remote

import (
	"context"
	"math"
	"time"

	"filebus/store"
	"filebus/store/record"
)

// A Peer is what a remote has of one store.
type Peer struct {
	Store       record.StoreID `json:"store"`
	Label       Label          `json:"label,omitempty"`
	Fingerprint string         `json:"fingerprint,omitempty"`
	IsOwn       bool           `json:"own"`
	IsFormer    bool           `json:"former"` // an earlier id of this store, as of one that was restored; its log may tell more
	Trusted     bool           `json:"trusted"`
	Problem     string         `json:"problem,omitempty"`
	Said        *time.Time     `json:"said,omitempty"` // when it spoke last, by its own clock
	There       uint64         `json:"there"`          // up to where its log lies there
	Here        uint64         `json:"here"`           // and is here
	Heard       uint64         `json:"heard"`          // how far it has heard the own log
	Behind      uint64         `json:"behind"`         // entries of the own log that it has not heard
	Destroys    bool           `json:"destroys"`       // it has confirmed that all that was destroyed here is gone there
	Gone        string         `json:"gone,omitempty"` // of that: "confirmed", "not confirmed", "not heard" or "unknown"
	Left        bool           `json:"left"`

	Key PublicKey `json:"-"`
}

// A Status says how a store and a remote stand.
type Status struct {
	Position  uint64  `json:"position"`  // the end of the own log
	Destroyed uint64  `json:"destroyed"` // the last entry of it that destroys something; 0: none does
	Peers     []Peer  `json:"stores"`
	Strays    []Stray `json:"strays"`

	Durability *Durability `json:"durability,omitempty"` // of the engine, if it is one
}

// Status looks at a remote.
func (r *Replica) Status(ctx context.Context) (*Status, error) {
	if err := r.refresh(ctx); err != nil {
		return nil, err
	}
	out := &Status{Position: r.end.Position, Peers: []Peer{}, Strays: append([]Stray{}, r.listing.Strays...)}
	err := r.Workspace.Store.View(ctx, func(tx *store.Tx) (err error) {
		out.Destroyed, err = tx.LastDrop()
		return err
	})
	if d, ok := r.Transport.(*natsRemote); ok && err == nil {
		out.Durability, err = d.Durability(ctx)
	}
	for _, teller := range r.listing.tellers() {
		if err == nil {
			out.Peers = append(out.Peers, r.peer(ctx, teller, out))
			err = ctx.Err()
		}
	}
	return out, err
}

func (r *Replica) peer(ctx context.Context, teller record.StoreID, s *Status) Peer {
	p := Peer{Store: teller, IsOwn: teller == r.own, IsFormer: teller != r.own && r.mine[teller], Here: position(r.heard, teller)}
	p.There = r.gaps(teller, math.MaxUint64, func(id record.StoreID) bool { return id == teller })[0].First - 1
	isOther := !p.IsOwn && !p.IsFormer && s.Destroyed > 0
	if isOther {
		p.Gone = "unknown"
	}
	state, key, err := r.stateOf(ctx, teller, nil)
	if isAbsent(err) {
		err = record.NotFound.Errorf("it has said nothing there yet")
	}
	if err != nil {
		p.Problem = err.Error()
		return p
	}
	p.Label, p.Key, p.Fingerprint, p.Said, p.Left = state.Label, key, key.Fingerprint(), &state.Time, state.Left
	if err := r.Trust.Check(teller, key); err != nil && !p.IsOwn {
		p.Problem = err.Error()
	}
	p.Trusted = p.Problem == "" && !p.IsOwn
	p.Heard = position(state.Heard, r.own)
	if p.IsOwn {
		p.Heard = state.At.Position
	}
	p.Behind = s.Position - min(p.Heard, s.Position)
	p.Destroys = p.Heard >= s.Destroyed && state.Erased == state.At.Position
	if isOther && p.Problem == "" {
		p.Gone = map[bool]string{true: "not confirmed", false: "not heard"}[p.Heard >= s.Destroyed]
		if p.Destroys {
			p.Gone = "confirmed"
		}
	}
	return p
}
