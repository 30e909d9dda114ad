package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/remote"
	"filebus/store/folder"
	"filebus/store/record"
)

func remoteCommands() []cli.Command {
	return []cli.Command{
		cli.Creating("add NAME ADDRESS", &remoteAdd{FilterFlags: cli.Picking("kind", "tree", "tag")}),
		cli.Existing("list", cli.RunFunc(listRemotes)),
		cli.Existing("rm NAME", cli.RunFunc(removeRemote)),
		cli.Existing("status [NAME]...", cli.RunFunc(printRemoteStatus)),
		cli.Existing("trust [STORE]...", &remoteTrust{}),
	}
}

// keys returns where the user's keys are kept.
func keys(e *cli.Environ) (remote.Keys, error) {
	state := e.StateDir()
	if state == "" {
		return remote.Keys{}, record.Failed.Errorf("keys cannot be kept: FILEBUS_STATE says so, or there is no home folder").
			Try("run it again with FILEBUS_STATE=FOLDER, outside of the workspace")
	}
	return remote.Keys{Dir: filepath.Join(state, "keys")}, nil
}

// key returns the key by which the store signs, which is made if there is none.
func key(ctx context.Context, w *cli.Work) (key remote.Key, err error) {
	keys, err := keys(w.Environ)
	ids, idsErr := w.Store.Origins(ctx)
	if err = cmp.Or(err, idsErr); err == nil {
		key, err = keys.Of(ids[0])
	}
	return key, err
}

// replica opens a remote of the store, or goes on with the transport of the last replica, if there is one, from what that has seen.
func replica(ctx context.Context, w *cli.Work, s remote.Setting, isNew bool, last *remote.Replica) (*remote.Replica, error) {
	keys, err := keys(w.Environ)
	trust, trustErr := trustNew(w)
	if err = cmp.Or(err, trustErr); err != nil {
		return nil, err
	}
	if last == nil {
		last = &remote.Replica{Seen: s.LoadSeen(storeFolder(w))}
		last.Transport, err = remote.Open(ctx, s.Address, remote.Options{Base: w.Main, Create: isNew, Seen: last.Seen})
	}
	if err != nil {
		return nil, err
	}
	return &remote.Replica{
		Workspace: w.Workspace, Transport: last.Transport, Keys: keys, Trust: trust, Label: s.Label, Filter: s.Filter, Seen: last.Seen, Now: w.Now,
	}, nil
}

func trustNew(w *cli.Work) (*remote.Trust, error) {
	return remote.LoadTrust(storeFolder(w).Sub(remote.Folder))
}

func storeFolder(w *cli.Work) folder.Folder { return folder.At(w.Store.Dir()) }

// remotes returns the settings of the remotes of these names, or of all.
func remotes(w *cli.Work, names []string) (all []remote.Setting, err error) {
	if len(names) == 0 {
		names, err = remote.Names(storeFolder(w))
	}
	for _, name := range names {
		s, loadErr := remote.LoadSetting(storeFolder(w), name)
		all, err = append(all, s), errors.Join(err, loadErr)
	}
	return all, err
}

// eachRemote calls do with each of the remotes, of which there must be one. One that fails keeps none of the others.
func eachRemote(ctx context.Context, w *cli.Work, names []string, do func(remote.Setting, *remote.Replica) error) error {
	return eachKept(ctx, w, names, nil, do)
}

// eachKept is eachRemote with replicas that stay open, by their addresses: each goes on from what the last one has seen.
func eachKept(
	ctx context.Context, w *cli.Work, names []string, kept map[string]*remote.Replica, do func(remote.Setting, *remote.Replica) error,
) error {
	all, err := remotes(w, names)
	if err == nil && len(all) == 0 {
		return record.NotFound.Errorf("the store has no remote").Try("filebus remote add NAME FOLDER")
	}
	if err != nil {
		return err
	}
	for _, s := range all {
		r, openErr := replica(ctx, w, s, false, kept[s.Address])
		if openErr == nil {
			openErr = do(s, r)
		}
		if r != nil && kept != nil {
			kept[s.Address] = r
		} else if r != nil {
			_ = r.Seen.Save(storeFolder(w), s.Name) // else all is listed again
			openErr = errors.Join(openErr, r.Transport.Close())
		}
		if openErr != nil && len(all) > 1 {
			openErr = fmt.Errorf("%s: %w", s.Name, openErr)
		}
		err = errors.Join(err, openErr)
	}
	return err
}

type remoteAdd struct {
	cli.FilterFlags
	Label  string `flag:"label"`
	Create bool   `flag:"create"` // also what others may not make without being asked
}

type remoteView struct {
	Name    string              `json:"name"`
	Address string              `json:"address"`
	Label   remote.Label        `json:"label"`
	Filter  map[string][]string `json:"filter"` // of what leaves; empty: everything
	Key     string              `json:"fingerprint,omitempty"`
}

type remotesJSON struct {
	Remotes []remoteView `json:"remotes"`
}

func viewRemote(s remote.Setting) remoteView {
	v := remoteView{Name: s.Name, Address: remote.Shown(s.Address), Label: s.Label, Filter: map[string][]string{}}
	for _, field := range []string{"kind", "tree", "tag"} {
		if values := s.Filter.Values(field); len(values) > 0 {
			v.Filter[field] = values
		}
	}
	return v
}

func (v remoteView) row() []string {
	how := "as " + string(v.Label)
	for _, field := range []string{"kind", "tree", "tag"} {
		for _, value := range v.Filter[field] {
			how += ", " + field + " " + cmp.Or(value, ".")
		}
	}
	return []string{v.Name, v.Address, how}
}

func (o *remoteAdd) Do(ctx context.Context, w *cli.Work, args []string) error {
	s := remote.Setting{Name: args[0], Address: args[1], Filter: o.Filter}
	if err := remote.CheckName(s.Name); err != nil {
		return err
	}
	if _, err := remote.LoadSetting(storeFolder(w), s.Name); err == nil {
		return record.Conflict.Errorf("there is a remote %s", s.Name).Try("filebus remote rm {1}, or another name", s.Name)
	}
	if !strings.Contains(s.Address, ":") && !filepath.IsAbs(s.Address) {
		s.Address = w.Abs(s.Address)
	}
	label, err := remote.ParseLabel(cmp.Or(o.Label, label(w)))
	if s.Label = label; err != nil {
		return err
	}
	r, err := replica(ctx, w, s, o.Create || !remote.Decides(s.Address), nil)
	if err != nil {
		return err
	}
	key, keyErr := key(ctx, w)
	status, err := r.Status(ctx)
	if err = errors.Join(err, keyErr, r.Transport.Close()); err == nil {
		err = s.Save(storeFolder(w))
	}
	if err != nil {
		return err
	}
	w.Remark("this store is %s there; its key is %s", s.Label, key)
	noteStrangers(w, status)
	view := viewRemote(s)
	view.Key = key.String()
	return w.Print(view, "%s", w.Table([][]string{view.row()}))
}

// label returns what others know a store by: its host and the folder of its workspace.
func label(w *cli.Work) string {
	host, _ := os.Hostname() // may be empty
	text := strings.Trim(cli.OneLine(host+":"+filepath.Base(w.Main)), ": ")
	if _, err := remote.ParseLabel(text); err != nil {
		return "store"
	}
	return text
}

// noteStrangers names the stores of a remote that are not trusted.
func noteStrangers(w *cli.Work, s *remote.Status) {
	for _, p := range s.Peers {
		if !p.IsOwn && !p.Trusted && p.Fingerprint != "" {
			w.NoteTry("filebus remote trust "+string(p.Store)+", if its user names the same key", "%s %s is not trusted; its key is %s",
				cli.OneLine(string(p.Label)), p.Store, p.Fingerprint)
		}
	}
}

func listRemotes(_ context.Context, w *cli.Work, _ []string) error {
	all, err := remotes(w, nil)
	if err != nil {
		return err
	}
	views, rows := []remoteView{}, [][]string(nil)
	for _, s := range all {
		views = append(views, viewRemote(s))
		rows = append(rows, viewRemote(s).row())
	}
	return w.PresentTable(rows, cli.Presentation{JSON: func(int) any { return remotesJSON{views} }})
}

// removeRemote forgets a remote, after it has said there that the store has left.
func removeRemote(ctx context.Context, w *cli.Work, args []string) error {
	s, err := remote.LoadSetting(storeFolder(w), args[0])
	if err != nil {
		return err
	}
	r, err := replica(ctx, w, s, false, nil)
	if err == nil {
		err = errors.Join(r.Leave(ctx), r.Transport.Close())
	}
	if err != nil {
		w.Note("the others will not know that the store has left: %s", cli.Message(err))
	}
	w.Remark("what is in %s stays there", remote.Shown(s.Address))
	return s.Forget(storeFolder(w))
}

func printRemoteStatus(ctx context.Context, w *cli.Work, names []string) error {
	views, rows := map[string]*remote.Status{}, [][]string(nil)
	err := eachRemote(ctx, w, names, func(s remote.Setting, r *remote.Replica) error {
		status, err := r.Status(ctx)
		if err != nil {
			return err
		}
		views[s.Name] = status
		for _, p := range status.Peers {
			rows = append(rows, append([]string{s.Name}, peerRow(w, p, status)...))
		}
		if d := status.Durability; d != nil {
			w.Remark("%s: %s; every store has all of it, and pushes again what the server loses", s.Name, d)
		}
		for _, stray := range status.Strays {
			w.Note("%s: passed over %s: %s", s.Name, cli.OneLine(stray.Path), stray.Why)
		}
		noteStrangers(w, status)
		return nil
	})
	return errors.Join(w.PresentTable(rows, cli.Presentation{JSON: func(int) any { return map[string]any{"remotes": views} }}), err)
}

func peerRow(w *cli.Work, p remote.Peer, s *remote.Status) []string {
	said, here := "unknown", fmt.Sprintf("heard %d of %d", p.Here, p.There)
	if p.Said != nil {
		said = w.Minute(*p.Said)
	}
	var states []string
	add := func(is bool, format string, args ...any) {
		if is {
			states = append(states, fmt.Sprintf(format, args...))
		}
	}
	if p.IsOwn {
		here = fmt.Sprintf("pushed %d of %d", p.There, s.Position)
		add(true, "this store, %s", cmp.Or(p.Fingerprint, "which has not pushed yet"))
	} else if add(p.IsFormer, "an earlier id of this store"); !p.IsFormer {
		add(p.Behind > 0, "has not heard the last %s", cli.Count(int(p.Behind), "entry", "%d entries"))
	}
	add(p.Left, "has left")
	add(p.Problem != "", "%s", p.Problem)
	add(len(states) == 0, "has heard all")
	add(p.Gone == "confirmed", "has confirmed that what was destroyed here is gone there")
	add(p.Gone == "not confirmed", "has not confirmed that what was destroyed here is gone there")
	add(p.Gone == "not heard", "may still have what was destroyed here")
	add(p.Gone == "unknown", "unknown whether it has what was destroyed here")
	return []string{string(p.Store[:8]), cmp.Or(cli.OneLine(string(p.Label)), "unknown"), said, here, strings.Join(states, "; ")}
}
