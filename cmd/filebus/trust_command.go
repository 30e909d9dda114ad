package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/store/record"
)

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

func (o *trustCommand) Do(_ context.Context, w *cli.Work, args []string) error {
	at, err := storeOf(w.Environ, args)
	if err != nil {
		return err
	}
	u := w.User()
	_, missing := os.Lstat(filepath.Join(at.Store, cli.StoreFile))
	exists := !errors.Is(missing, fs.ErrNotExist)
	c, err := cli.ReadConfig(at.Store)
	err = cli.Closed(at, err)
	view, viewErr := view(c, at, exists)
	if err = cmp.Or(err, viewErr); err != nil {
		w.Note("%s", cli.Message(err)) // consent can be given and taken back all the same
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
	if w.Global.JSON && err == nil {
		return w.PrintJSON(v)
	}
	printTrust(w, &v)
	return err
}

// storeOf returns where the store is that arguments name, by itself or by its workspace,
// or that of the working directory.
func storeOf(e *cli.Environ, args []string) (at materialize.Location, err error) {
	if len(args) == 0 {
		at, err = e.Locate()
	} else {
		folder := e.Abs(args[0])
		_, missing := os.Lstat(filepath.Join(folder, cli.StoreFile))
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
func printTrust(w *cli.Work, v *trustView) {
	printConfig(w, v.configView)
	for _, reason := range v.Reasons {
		w.Printf("refused    %s\n", cli.OneLine(reason))
	}
	word := record.ShellWord(v.Store)
	if v.Trusted {
		w.Note("%s is trusted; filebus trust --revoke %s takes consent back", v.Store, word)
	} else {
		w.Note("%s is not trusted; filebus trust %s consents to it", v.Store, word)
	}
}
