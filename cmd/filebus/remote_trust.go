package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/record"
)

type remoteTrust struct {
	All    bool `flag:"all" not:"revoke"`
	Revoke bool `flag:"revoke"`
}

func (o *remoteTrust) Do(ctx context.Context, w *cli.Work, wanted []string) error {
	peers := map[record.StoreID]remote.Peer{}
	err := eachRemote(ctx, w, nil, func(_ remote.Setting, r *remote.Replica) error {
		status, err := r.Status(ctx)
		if err == nil {
			for _, p := range status.Peers {
				if !p.IsOwn && p.Fingerprint != "" {
					peers[p.Store] = p
				}
			}
		}
		return err
	})
	if err != nil && len(peers) == 0 && !o.Revoke {
		return err
	}
	if err != nil { // the others are enough, if they have it
		w.Note("%s", cli.Message(err))
	}
	if err = nil; len(wanted) > 0 || o.All {
		err = o.change(ctx, w, wanted, peers)
	}
	trust, trustErr := trustNew(w)
	if err = cmp.Or(err, trustErr); err != nil {
		return err
	}
	return printTrustees(w, trust, peers)
}

// change trusts the stores that are wanted, or trusts them no more.
func (o *remoteTrust) change(ctx context.Context, w *cli.Work, wanted []string, peers map[record.StoreID]remote.Peer) error {
	return w.Store.Update(ctx, func(tx *store.Tx) error { // two at once would undo each other
		trust, err := trustNew(w)
		if err != nil {
			return err
		}
		known := slices.Collect(maps.Keys(peers))
		for _, t := range trust.All() {
			if o.Revoke {
				known = append(known, t.Teller)
			}
		}
		for _, id := range known {
			is := func(begin string) bool { return len(begin) >= 8 && strings.HasPrefix(string(id), begin) }
			isNew := o.All && !trust.Knows(id) // another key is for those who name its store
			if !isNew && !slices.ContainsFunc(wanted, is) {
				continue
			}
			wanted = slices.DeleteFunc(wanted, is)
			if o.Revoke {
				err = trust.Remove(id)
			} else {
				err = trust.Set(remote.Trustee{Teller: id, Key: peers[id].Key, Label: peers[id].Label})
			}
			if err != nil {
				return err
			}
		}
		switch {
		case len(wanted) > 0 && o.Revoke:
			return record.NotFound.Errorf("no trusted store has an id that begins with %s, or %[1]s is too short", wanted[0]).Try("filebus remote trust")
		case len(wanted) > 0 && len(wanted[0]) >= 8 && strings.HasPrefix(string(tx.Origin()), wanted[0]):
			return record.NotFound.Errorf("%s is this store itself", tx.Origin()).Try("filebus remote trust")
		case len(wanted) > 0:
			return record.NotFound.Errorf("no remote has a store %s with a sound state; give at least 8 digits of its id", wanted[0]).Try("filebus remote status")
		}
		return nil
	})
}

type trusteeView struct {
	Store       record.StoreID `json:"store"`
	Label       remote.Label   `json:"label"`
	Fingerprint string         `json:"fingerprint"`
	Trusted     bool           `json:"trusted"`
}

type trusteesJSON struct {
	Stores []trusteeView `json:"stores"`
}

func printTrustees(w *cli.Work, trust *remote.Trust, peers map[record.StoreID]remote.Peer) error {
	views, rows := []trusteeView{}, [][]string(nil)
	for _, t := range trust.All() {
		views = append(views, trusteeView{t.Teller, t.Label, t.Key.Fingerprint(), true})
	}
	for _, p := range peers {
		if trust.Check(p.Store, p.Key) != nil {
			views = append(views, trusteeView{p.Store, p.Label, p.Fingerprint, false})
		}
	}
	slices.SortFunc(views, func(a, b trusteeView) int {
		return cmp.Or(cmp.Compare(a.Store, b.Store), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	for _, v := range views {
		state := map[bool]string{true: "trusted", false: "not trusted"}[v.Trusted]
		rows = append(rows, []string{state, string(v.Store), cli.OneLine(string(v.Label)), v.Fingerprint})
	}
	return w.PresentTable(rows, cli.Presentation{JSON: func(int) any { return trusteesJSON{views} }})
}
