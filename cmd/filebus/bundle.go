package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/session"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/folder"
	"filebus/store/record"
)

type bundleCreate struct {
	cli.FilterFlags
	After int  `flag:"after" least:"0"`
	Force bool `flag:"force"`
}

func (o *bundleCreate) Do(ctx context.Context, w *cli.Work, args []string) error {
	request := bundle.Request{After: uint64(o.After)}
	for _, tree := range o.Filter.Trees {
		if _, err := w.FindTree(ctx, tree); tree != "" && err != nil {
			return w.Meant(ctx, err, string(tree))
		}
	}
	if !o.Filter.IsZero() {
		request.Picks = func(_ *store.Tx, r *record.Record, _ store.Content) bool { return o.Filter.Accepts(r) }
	}
	if args[0] == "-" {
		_, err := bundle.Write(ctx, w.Store, w.Out, request)
		return err
	}
	file := w.Abs(args[0])
	if !o.Force && cli.IsThere(file) {
		return record.Conflict.Errorf("%s is there already", file).Try("run it again with another name, or with --force, which replaces it")
	}
	written, size, err := w.SaveBundle(ctx, folder.At(filepath.Dir(file)), filepath.Base(file), request)
	if err != nil {
		return err
	}
	return w.Print(written, "%s: %s, %s, log positions %d to %d\n", args[0], cli.Plural(written.Records, "record"),
		cli.ByteSize(size),
		written.Before.Position+1, written.End.Position)
}

func applyBundle(ctx context.Context, without *cli.Work, args []string) error {
	if info, err := os.Stat(without.Abs(args[0])); args[0] != "-" && err != nil {
		return err
	} else if args[0] != "-" && !info.Mode().IsRegular() {
		kinds := map[fs.FileMode]string{fs.ModeDir: "a folder", fs.ModeNamedPipe: "a pipe", fs.ModeSocket: "a socket"}
		return record.Usage.Errorf("%s is %s; a bundle is read twice, so it must be a file", args[0], cmp.Or(kinds[info.Mode().Type()], "a device")).
			Try("filebus bundle apply FILE, or filebus bundle apply -, which reads standard input")
	}
	w, err := without.Create(ctx)
	if err == nil && !w.Global.NoSync { // what stands in files would else seem to go on from what is taken in
		_, err = w.Sync(ctx, w.Root, materialize.SyncOptions{CaptureOnly: true, Announced: true})
	}
	if err != nil {
		return err
	}
	file, err := spooled(w, args[0])
	if err != nil {
		return err
	}
	report, err := w.Apply(ctx, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	n := report.Records
	for i, ref := range report.Destroyed {
		if i < session.MostNoted {
			w.Note("the other store has destroyed a version that is still here; filebus purge %s destroys it here too", ref.Short())
		}
	}
	// A later version, or the other entries, may have decided it.
	if open, err := w.Conflicts(ctx); n[store.FateBeside] > 0 && (err != nil || len(open) > 0) {
		w.Note("both stores have changed the same records; filebus conflicts shows them")
	}
	return w.Print(report, "%d new, %d older, %d in conflict, %d known, %d destroyed here; %d retired\n", n[store.FateHead],
		n[store.FateBelow], n[store.FateBeside], n[store.FateKnown], n[store.FateDestroyed], report.Retired)
}

// spooled opens a file that is read twice; standard input becomes a temporary one, which nobody
// else finds.
func spooled(w *cli.Work, name string) (*os.File, error) {
	if name != "-" {
		return os.Open(w.Abs(name))
	}
	file, tmp, err := folder.At(w.Store.Dir()).CreateTemp("tmp")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file, w.In)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	_ = folder.At(w.Store.Dir()).Remove(tmp) // on Windows, where it is open, it is swept later
	return file, err
}

type backupCommand struct {
	Fresh bool `flag:"fresh"`
}

func (o *backupCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	b, err := w.BackUp(ctx, w.Abs(args[0]), o.Fresh)
	if err != nil {
		return err
	}
	if b.StillHas > 0 {
		w.Note("it has the content of %s destroyed here; filebus backup --fresh %s writes it anew without", cli.Plural(b.StillHas, "record"),
			record.ShellWord(args[0]))
	}
	return w.Print(b, "%s: %s written, %s; up to log position %d\n", args[0], cli.Count(b.Written, "1 log entry", "%d log entries"),
		cli.ByteSize(b.Bytes), b.End.Position)
}

type restoreCommand struct {
	At      string `flag:"at"`
	Partial bool   `flag:"partial"`
	Yes     bool   `flag:"yes"`
}

func (o *restoreCommand) Do(ctx context.Context, without *cli.Work, args []string) error {
	want := materialize.Restoration{Insist: o.Yes, Partial: o.Partial}
	b, err := materialize.OpenBackup(without.Abs(args[0]))
	if err == nil && o.At != "" {
		want.At, err = cli.ParseTime(o.At, without.Now())
	}
	if err != nil {
		return err
	}
	var done *materialize.Restored
	w, err := without.Create(ctx)
	if err == nil {
		done, err = w.Weigh(ctx, b, want)
	}
	if err == nil {
		err = b.Configure(w.Store.Dir())
	}
	if err == nil {
		w, err = without.Open(ctx) // with that configuration
	}
	if err == nil {
		err = w.PutBack(ctx, done)
	}
	if err != nil {
		return err
	}
	if done.Kept != "" {
		w.Note("what was there is kept: filebus list --no-sync --store %s", record.ShellWord(done.Kept))
	}
	switch {
	case done.Replaced == 0:
		w.Note("what was destroyed since the backup was made is not known here, and may be back")
	case done.Barred > 0:
		w.Note("%s: it was destroyed since", cli.Count(done.Barred, "1 record has no content", "%d records have no content"))
	}
	if done.StillHas > done.Barred {
		w.NoteTry("filebus --store "+record.ShellWord(done.Kept)+" log, then filebus purge REF",
			"%s that the store had destroyed may be back", cli.Plural(done.StillHas, "record"))
	}
	if kept := replaced(w); len(kept) > 0 {
		w.NoteTry(removal("rm -r", kept), "restores have replaced, and kept, %s", cli.Plural(len(kept), "store"))
	}
	if all, err := remotes(w, nil); err == nil && len(all) > 0 {
		names := markdown.Each(all, func(s remote.Setting) string { return s.Name + " (" + remote.Shown(s.Address) + ")" })
		w.NoteTry("filebus pull, then filebus push; filebus remote rm NAME, if it is not yours",
			"with the remotes of the backup, and whom it trusts: %s", strings.Join(names, ", "))
	}
	w.Remark("files stay as they are; filebus materialize --to FOLDER lays out what is stored")
	err = w.Print(done, "%s: restored %s\n", w.Store.Dir(), cli.Count(int(done.Position), "1 log entry", "%d log entries"))
	if err == nil && done.Damage != nil {
		err = record.Partly.Errorf("nothing behind log position %d: %w", done.Position, done.Damage).
			Try("filebus bundle apply FILE takes in each later .bundle of the backup, oldest first")
	}
	return err
}
