package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/trust"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// user returns whose stores are opened without more ado.
func (e *environ) user() *trust.User {
	u := &trust.User{State: e.stateDir(), Sudo: e.getenv("SUDO_UID"), Variables: e.variables}
	for _, dir := range filepath.SplitList(e.getenv("FILEBUS_TRUST")) {
		if dir != "" {
			u.Consents = append(u.Consents, e.abs(dir))
		}
	}
	return u
}

// config reads the configuration of a workspace, unless its store may be somebody
// else's: nothing of that is read before the user has consented.
func (e *environ) config(at materialize.Location) (config, error) {
	err := e.user().Check(at.Store)
	var refused *record.Error
	if errors.As(err, &refused) && e.isAbove(at.Store) {
		refused.Hint += ", or filebus init --store " + materialize.StoreFolder + " for a store of your own here"
	}
	if err != nil {
		return config{}, err
	}
	return readConfig(at.Store)
}

// isAbove reports whether a store was found above the working directory.
func (e *environ) isAbove(folder string) bool {
	return e.or(e.global.store, "FILEBUS_STORE") == "" && e.dir != "" && filepath.Dir(folder) != e.dir
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
func (e *environ) mayPointTo(at materialize.Location, setting, folder string) error {
	real := folder
	for existing, rest := folder, ""; existing != filepath.Dir(existing); existing = filepath.Dir(existing) {
		if found, err := filepath.EvalSymlinks(existing); err == nil {
			real = filepath.Join(found, rest)
			break
		}
		rest = filepath.Join(filepath.Base(existing), rest)
	}
	for _, around := range []string{at.Main, at.Root, e.home(), os.TempDir(), "/tmp"} {
		if found, err := filepath.EvalSymlinks(around); err == nil {
			around = found
		}
		below, err := filepath.Rel(around, real)
		if err == nil && filepath.IsLocal(below) && around != filepath.Dir(around) {
			return nil
		}
	}
	if u := e.user(); !u.Trusts(at.Store) {
		return u.Refuse(at.Store, "its "+setting+" "+folder+" lies outside of the project, the home folder and /tmp")
	}
	return nil
}

type trustCommand struct {
	DryRun bool `flag:"dry-run" not:"revoke"`
	Revoke bool `flag:"revoke"`
}

// trustView is what trust prints.
type trustView struct {
	trust.Verdict
	Workspace string   `json:"workspace"`
	Profile   string   `json:"profile,omitempty"` // or the root in its place
	Writes    []string `json:"writes"`            // where new files go
	Notes     []string `json:"notes"`             // folders that are synced besides
	Problem   string   `json:"problem,omitempty"` // why the configuration cannot be read
}

func (o *trustCommand) run(_ context.Context, w *workspace, args []string) error {
	folder, err := w.storeOf(args)
	if err != nil {
		return err
	}
	u := w.user()
	before := u.Look(folder)
	view := trustView{Verdict: before, Workspace: trust.Workspace(folder), Writes: []string{}, Notes: []string{}}
	view.configured()
	if !w.global.json {
		w.printTrust(&view)
	}
	switch {
	case o.Revoke:
		err = u.Revoke(folder)
	case !o.DryRun:
		err = o.consent(w.environ, u, folder)
	}
	if view.Trusted = u.Trusts(folder); err == nil && w.global.json {
		return w.printJSON(view)
	}
	switch word := record.ShellWord(trust.Workspace(folder)); {
	case err != nil:
	case view.Trusted && o.Revoke:
		w.note("FILEBUS_TRUST still names %s", folder)
	case o.Revoke:
		w.note("%s is not trusted any more", folder)
	case o.DryRun && !view.Trusted && len(view.Reasons) > 0:
		w.note("it is refused; filebus trust %s consents to it", word)
	case !o.DryRun:
		w.note("%s is trusted from now on; filebus trust --revoke %s takes that back", folder, word)
	}
	return err
}

// consent remembers that a store is trusted, and takes from others the right to write it.
func (o *trustCommand) consent(e *environ, u *trust.User, folder string) error {
	err := u.Consent(folder)
	if errors.Is(err, trust.ErrNoState) {
		return record.Failed.Errorf("consent cannot be remembered: %w", err).
			Try("run the other commands with FILEBUS_TRUST={1}", trust.Workspace(folder))
	}
	if err != nil {
		return err
	}
	tightened, err := u.Tighten(folder)
	for _, file := range tightened {
		e.note("others could write %s; now only you can", file)
	}
	return err
}

// storeOf returns the folder of the store that arguments name, by itself or by its
// workspace, or that of the working directory.
func (e *environ) storeOf(args []string) (string, error) {
	folder, err := "", error(nil)
	if len(args) > 0 {
		folder = e.abs(args[0])
		_, missing := os.Lstat(filepath.Join(folder, storeFile))
		if filepath.Base(folder) != materialize.StoreFolder && missing != nil {
			folder = filepath.Join(folder, materialize.StoreFolder)
		}
	} else {
		at, locateErr := e.locate()
		folder, err = at.Store, locateErr
	}
	if err != nil && !errors.Is(err, store.ErrNoStore) {
		return "", err
	}
	if _, missing := os.Lstat(folder); missing != nil {
		return "", record.NoStore.Errorf("there is no store %s", folder).Try("filebus init, or name its folder")
	}
	return folder, nil
}

// configured fills in what a store's configuration says, as far as it can be read.
func (v *trustView) configured() {
	c, err := readConfig(v.Store)
	profile, profileErr := c.profile()
	if err = errors.Join(err, profileErr); err != nil {
		v.Problem = message(err)
		return
	}
	v.Profile = profile.Name
	for _, folder := range []string{
		profile.Results, profile.Markers, profile.Dialogues, profile.Sessions, profile.Root, c.PDFDir,
	} {
		if folder != "" && !slices.Contains(v.Writes, folder) {
			v.Writes = append(v.Writes, folder)
		}
	}
	v.Notes = append(v.Notes, c.Notes...)
}

func (e *environ) printTrust(v *trustView) {
	line := func(name, text string) {
		if text != "" {
			e.printf("%-10s %s\n", name, markdown.SingleSpaced(text))
		}
	}
	line("store", v.Store)
	line("owner", v.Owner)
	line("mode", v.Mode)
	line("reads", "the files of "+v.Workspace+" that layouts and note folders name")
	line("writes", strings.Join(v.Writes, ", "))
	line("notes", strings.Join(v.Notes, ", "))
	line("problem", v.Problem)
	for _, reason := range v.Reasons {
		line("refused", reason)
	}
	if len(v.Reasons) == 0 {
		line("refused", "no: it is yours")
	}
	if v.Trusted {
		line("trusted", "yes")
	}
}
