package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"filebus/cmd/filebus/trust"
	"filebus/materialize"
	"filebus/store/folder"
	"filebus/store/record"
)

// user returns whose stores are opened without more ado.
func (e *environ) user() *trust.User {
	u := &trust.User{State: e.stateDir(), Sudo: e.getenv("SUDO_UID"), Variables: e.variables}
	for _, dir := range filepath.SplitList(e.getenv("FILEBUS_TRUST")) {
		if filepath.IsAbs(dir) { // others would mean whatever the working directory is
			u.Consents = append(u.Consents, dir)
		}
	}
	return u
}

// config reads the configuration of a workspace, unless its store may be somebody
// else's: nothing of that is read before the user has consented.
func (e *environ) config(at materialize.Location) (config, error) {
	err := e.user().Check(at.Store)
	if refused, is := errors.AsType[*record.Error](err); is && e.or(e.global.store, "FILEBUS_STORE") == "" && at.Main != e.dir {
		refused.Hint += ", or filebus init --store " + materialize.StoreFolder + " for a store of your own here"
	}
	if err != nil {
		return config{}, err
	}
	c, err := readConfig(at.Store)
	return c, closed(at, err)
}

// errClosed says that the user may not read a store.
const errClosed record.Reason = "store closed"

// closed says whose a store is, and what helps, where the system keeps the user out.
func closed(at materialize.Location, err error) error {
	if !errors.Is(err, fs.ErrPermission) || errors.Is(err, errClosed) {
		return err
	}
	whose := ""
	if owner := trust.Owner(at.Store); owner != "" {
		whose = "it belongs to " + owner + ": "
	}
	return record.Failed.Errorf("the store %s cannot be read: %s%w", at.Store, whose, err).Because(errClosed).
		Try("ask its owner, or take a store of your own with --store FOLDER/" + materialize.StoreFolder)
}

// usualSettings returns the settings of a workspace for a command that can do without
// its store: the usual ones if that is not trusted, which is said.
func (e *environ) usualSettings(at materialize.Location) (materialize.Settings, error) {
	settings, err := e.settings(at)
	if errors.Is(err, record.Untrusted) {
		e.note("%s; its settings are left out", message(err))
		return materialize.Settings{}, nil
	}
	return settings, err
}

// mayPointTo refuses a folder that a configuration names outside of the project, the
// home folder and those for temporary files, unless the user has consented.
func (e *environ) mayPointTo(at materialize.Location, setting, dir string) error {
	there := folder.WithoutLinks(dir)
	for _, around := range []string{at.Main, at.Root, e.home(), os.TempDir(), "/tmp"} {
		around, err := filepath.EvalSymlinks(around)
		below, relErr := filepath.Rel(around, there)
		if err == nil && relErr == nil && filepath.IsLocal(below) && around != filepath.Dir(around) {
			return nil
		}
	}
	if u := e.user(); !u.Trusts(at.Store) {
		return u.Refuse(at.Store, "its "+setting+" "+dir+" lies outside of the project, the home folder and /tmp")
	}
	return nil
}

type trustCommand struct {
	DryRun bool `flag:"dry-run" not:"revoke"`
	Revoke bool `flag:"revoke"`
}

// trustView is what trust prints.
type trustView struct {
	configView
	Reasons []string `json:"reasons"` // for which it is refused without consent
	Trusted bool     `json:"trusted"`
}

func (o *trustCommand) run(_ context.Context, w *workspace, args []string) error {
	at, err := w.storeOf(args)
	if err != nil {
		return err
	}
	u := w.user()
	_, missing := os.Lstat(filepath.Join(at.Store, storeFile))
	exists := !errors.Is(missing, fs.ErrNotExist)
	c, err := readConfig(at.Store)
	err = closed(at, err)
	view, viewErr := c.view(at, exists)
	if err = cmp.Or(err, viewErr); err != nil {
		w.note("%s", message(err)) // consent can be given and taken back all the same
	}
	v := trustView{configView: view, Reasons: u.Reasons(at.Store)}
	switch err = nil; {
	case o.Revoke:
		err = u.Revoke(at.Store)
	case !o.DryRun && u.State == "":
		err = record.Failed.Errorf("consent cannot be remembered: FILEBUS_STATE says so, or there is no home folder").
			Try("run the other commands with FILEBUS_TRUST={1}", at.Store)
	case !o.DryRun:
		err = u.Consent(at.Store)
	}
	v.Trusted = len(v.Reasons) == 0 || u.Trusts(at.Store)
	if w.global.json && err == nil {
		return w.printJSON(v)
	}
	w.printTrust(&v)
	return err
}

// storeOf returns where the store is that arguments name, by itself or by its workspace,
// or that of the working directory.
func (e *environ) storeOf(args []string) (at materialize.Location, err error) {
	if len(args) == 0 {
		at, err = e.locate()
	} else {
		folder := e.abs(args[0])
		_, missing := os.Lstat(filepath.Join(folder, storeFile))
		if filepath.Base(folder) != materialize.StoreFolder && missing != nil {
			folder = filepath.Join(folder, materialize.StoreFolder)
		}
		at = materialize.Location{Store: folder, Main: filepath.Dir(folder), Root: filepath.Dir(folder)}
	}
	if _, missing := os.Lstat(at.Store); missing != nil {
		return at, cmp.Or(err, error(record.NoStore.Errorf("there is no store in %s", at.Main)))
	}
	return at, nil
}

// printTrust prints what a store reads and writes, why it is refused, and what helps.
func (w *workspace) printTrust(v *trustView) {
	w.printConfig(v.configView)
	for _, reason := range v.Reasons {
		w.printf("refused    %s\n", oneLine(reason))
	}
	word := record.ShellWord(v.Store)
	if v.Trusted {
		w.note("%s is trusted; filebus trust --revoke %s takes consent back", v.Store, word)
	} else {
		w.note("%s is not trusted; filebus trust %s consents to it", v.Store, word)
	}
}
