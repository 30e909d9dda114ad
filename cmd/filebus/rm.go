package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/release"
	"filebus/store"
	"filebus/store/record"
)

type rmCommand struct {
	Restore bool `flag:"restore" not:"drop"`
	Drop    bool `flag:"drop"`
}

func (o *rmCommand) Do(ctx context.Context, w *cli.Work, args []string) (err error) {
	if o.Drop {
		return dropAll(ctx, w, args)
	}
	var done removedJSON
	do := done.hide
	if o.Restore {
		do = done.restore
	}
	for i := 0; i < len(args) && err == nil; i++ {
		err = do(ctx, w, args[i])
	}
	if w.Global.JSON && len(done.Restored)+len(done.Removed) > 0 { // also before an error
		err = errors.Join(w.PrintJSON(done), err)
	}
	return err
}

func (done *removedJSON) hide(ctx context.Context, w *cli.Work, arg string) error {
	v, err := w.VersionOf(ctx, arg)
	if err != nil {
		return err
	}
	if err := mustBeLast(ctx, w, v, arg, "filebus rm "); err != nil {
		return err
	}
	if err := w.Remove(ctx, v.Record.Name); err != nil {
		return err
	}
	done.Removed = append(done.Removed, v.Record.Name)
	w.Note("%s is hidden; filebus rm --restore %s brings it back", v.Record.Name,
		record.ShellWord(v.Record.Name.String()))
	noteStays(w, w.FilePath(v.Record.Path))
	return nil
}

// noteStays names a file outside of the workspace that is still there after its name went.
func noteStays(w *cli.Work, file string) {
	rel, _ := filepath.Rel(w.Root, file)
	if _, err := os.Lstat(file); err == nil && !filepath.IsLocal(rel) {
		w.NoteTry("rm "+record.ShellWord(file), "%s stays, as another program wrote it", file)
	}
}

// removedJSON is what rm prints of names that it hides, or brings back.
type removedJSON struct {
	Removed  []record.Name            `json:"removed,omitempty"`
	Restored []*materialize.PutResult `json:"restored,omitempty"`
}

func (done *removedJSON) restore(ctx context.Context, w *cli.Work, arg string) error {
	name, err := record.ParseName(arg)
	if err != nil {
		return cli.Coded(record.Usage, "", err)
	}
	result, err := w.Restore(ctx, name)
	if err != nil {
		return err
	}
	if done.Restored = append(done.Restored, result); w.Global.JSON {
		return nil
	}
	return printStored(w.Environ, result)
}

// dropAll destroys all of the names or none.
func dropAll(ctx context.Context, w *cli.Work, args []string) error {
	var names []record.Name
	for _, arg := range args {
		name, err := nameToDrop(ctx, w, arg)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	report, err := giveUp(ctx, w, release.Request{Names: names})
	for _, n := range report.Released {
		w.Note("%s is destroyed: %s, %s; this cannot be undone", n.Name,
			cli.Plural(n.Versions, "version"), cli.ByteSize(n.Bytes))
	}
	if w.Global.JSON && len(report.Released) > 0 {
		err = errors.Join(w.PrintJSON(report), err)
	}
	return err
}

// nameToDrop returns the name that text means, which may be hidden.
func nameToDrop(ctx context.Context, w *cli.Work, text string) (record.Name, error) {
	v, err := lastOf(ctx, w, text)
	if err != nil {
		return record.Name{}, err
	}
	name := v.Record.Name
	if name.Kind == record.KindFrame {
		return name, cli.UsageError("%s is the frame of a file: its entries are destroyed one by one", name)
	}
	return name, mustBeLast(ctx, w, v, text, "filebus rm --drop ")
}

// mustBeLast refuses the ref of an older version: it may be meant to stand for itself
// alone. A name means what it holds by now.
func mustBeLast(ctx context.Context, w *cli.Work, v store.Version, text, command string) error {
	name := v.Record.Name
	if !strings.HasPrefix(v.Ref.String(), text) {
		return nil
	}
	return w.Store.View(ctx, func(tx *store.Tx) error {
		last, _, err := tx.Last(name)
		if err == nil && last.Ref != v.Ref {
			err = cli.Coded(record.Usage, command+record.ShellWord(name.String()),
				fmt.Errorf("%s is an older version of %s, whose versions are destroyed together", v.Ref.Short(), name))
		}
		return err
	})
}
