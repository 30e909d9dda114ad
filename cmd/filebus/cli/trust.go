package cli

import (
	"errors"
	"io/fs"
	"path/filepath"

	"filebus/cmd/filebus/trust"
	"filebus/materialize"
	"filebus/store/record"
)

// User returns whose stores are opened without more ado.
func (e *Environ) User() *trust.User {
	u := &trust.User{State: e.StateDir(), Sudo: e.Getenv("SUDO_UID"), Variables: e.Variables}
	for _, dir := range filepath.SplitList(e.Getenv("FILEBUS_TRUST")) {
		if filepath.IsAbs(dir) { // others would mean whatever the working directory is
			u.Consents = append(u.Consents, dir)
		}
	}
	return u
}

// Config reads the configuration of a workspace, unless its store may be somebody
// else's: nothing of that is read before the user has consented.
func (e *Environ) Config(at materialize.Location) (Configuration, error) {
	err := e.User().Check(at.Store)
	if refused, is := errors.AsType[*record.Error](err); is && e.Or(e.Global.Store, "FILEBUS_STORE") == "" &&
		at.Main != e.Dir {
		refused.Hint += ", or filebus init --store " + materialize.StoreFolder + " # for a store of your own here"
	}
	if err != nil {
		return Configuration{}, err
	}
	c, err := ReadConfig(at.Store)
	return c, Closed(at, err)
}

// ErrClosed says that the user may not read a store.
const ErrClosed record.Reason = "store closed"

// Closed says whose a store is, and what helps, where the system keeps the user out.
func Closed(at materialize.Location, err error) error {
	if !errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrClosed) {
		return err
	}
	whose := ""
	if owner := trust.Owner(at.Store); owner != "" {
		whose = "it belongs to " + owner + ": "
	}
	return record.Failed.Errorf("the store %s cannot be read: %s%w", at.Store, whose, err).Because(ErrClosed).
		Try("ask its owner, or take a store of your own with --store FOLDER/" + materialize.StoreFolder)
}

// UsualSettings returns the settings of a workspace for a command that can do without
// its store: the usual ones if that is not trusted, which is said.
func (e *Environ) UsualSettings(at materialize.Location) (materialize.Settings, error) {
	settings, err := e.SettingsAt(at)
	if errors.Is(err, record.Untrusted) {
		e.Note("%s; its settings are left out", Message(err))
		return materialize.Settings{}, nil
	}
	return settings, err
}
