package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// size returns what the database, the index and the large bodies take, in bytes.
func size(w *cli.Work) map[string]int64 {
	sizes := map[string]int64{cli.StoreFile: 0, "index": 0, "bodies": 0}
	_ = folder.At(w.Store.Dir()).Walk(".", func(name string, e fs.DirEntry) error {
		top, _, _ := strings.Cut(name, "/")
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sizes[top] += info.Size()
		}
		return nil
	}) // what cannot be read does not count
	return map[string]int64{"database": sizes[cli.StoreFile], "index": sizes["index"], "bodies": sizes["bodies"]}
}

func runCompact(ctx context.Context, w *cli.Work, _ []string) error {
	before := size(w)
	swept, err := compact(ctx, w)
	if err != nil {
		return err
	}
	after := size(w)
	var rows [][]string
	for _, what := range []string{"database", "index", "bodies"} {
		rows = append(rows, []string{what, cli.ByteSize(after[what]), "was " + cli.ByteSize(before[what])})
	}
	return w.Print(map[string]any{"before": before, "after": after, "swept": swept}, "%s", w.Table(rows))
}

// compact makes all of the store as small as it gets: nothing is left in it of what was
// destroyed.
func compact(ctx context.Context, w *cli.Work) (swept int, err error) {
	waiting, err := waiting(ctx, w)
	if err == nil {
		swept, err = w.Store.Sweep(ctx)
	}
	if err == nil {
		_, _, err = w.Store.Compact(ctx, 0)
	}
	if err == nil && size(w)["index"] > 0 {
		_, err = reindex(ctx, w)
	}
	if err == nil && waiting > 0 {
		err = w.Store.Update(ctx, func(tx *store.Tx) error { return tx.SetWaiting(max(0, tx.Waiting()-waiting)) })
	}
	return swept, err
}

// waiting returns how many versions that others have destroyed may have bytes yet in the store's files.
func waiting(ctx context.Context, w *cli.Work) (n int, err error) {
	err = w.Store.View(ctx, func(tx *store.Tx) error { n = tx.Waiting(); return nil })
	return n, err
}

const waitingText = "%s that others have destroyed may still have bytes on unused pages and in the index"

const askedText = "%s put here and destroyed by others, and so hidden, but the bytes are still here: %s"

// asked returns what others have destroyed of what was put here, in words, and the command that destroys it here too.
func asked(ctx context.Context, w *cli.Work) (text, hint string, err error) {
	var names, refs []string
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		for _, ref := range tx.Asked() {
			v, err := tx.Get(ref)
			if err != nil {
				return err
			}
			name := v.Record.Name.String()
			if file := w.FilePath(v.Record.Path); v.Record.Path != "" {
				name += " (" + file + ")"
			}
			names, refs = append(names, cli.OneLine(name)), append(refs, ref.Short())
		}
		return nil
	})
	if len(names) == 0 {
		return "", "", err
	}
	return fmt.Sprintf(askedText, cli.Count(len(names), "1 version was", "%d versions were"), strings.Join(names, ", ")), "filebus purge --files " + strings.Join(refs, " "), err
}

// undestroyed says what others have destroyed and is here yet, and what destroys it here too.
func undestroyed(ctx context.Context, w *cli.Work) (remarks []string, err error) {
	n, err := waiting(ctx, w)
	if n > 0 {
		remarks = append(remarks, fmt.Sprintf(waitingText+"; filebus compact removes them", cli.Plural(n, "version")))
	}
	text, hint, askErr := asked(ctx, w)
	if text != "" {
		remarks = append(remarks, text+"; "+hint+" destroys it")
	}
	var files []string
	var filesErr error
	if !w.Global.NoSync {
		files, filesErr = w.Left(ctx)
	}
	if len(files) > 0 {
		remarks = append(remarks, fmt.Sprintf(leftText+"; %s removes it", cli.Plural(len(files), "file"), removal("rm", files)))
	}
	return remarks, cmp.Or(err, askErr, filesErr)
}

const leftText = "%s may still have text that was destroyed"

// removal returns the command that removes files or folders.
func removal(command string, files []string) string {
	return command + " " + strings.Join(markdown.Each(files, record.ShellWord), " ")
}

// compactDestroyed leaves nothing of what others have destroyed. What somebody else is in the way of waits, and so
// does what was put here.
func compactDestroyed(ctx context.Context, w *cli.Work) error {
	if text, hint, err := asked(ctx, w); err == nil && text != "" {
		w.NoteTry(hint, "%s", text)
	}
	n, err := waiting(ctx, w)
	if n == 0 || err != nil {
		return err
	}
	if files, leftErr := w.Left(ctx); leftErr == nil && len(files) > 0 {
		w.NoteTry(removal("rm", files), leftText, cli.Plural(len(files), "file"))
	}
	if err = w.Reader.ForgetReads(); err == nil {
		_, err = compact(ctx, w)
	}
	if err != nil {
		w.NoteTry("filebus compact; the next pull or push does it too", waitingText+": %s", cli.Plural(n, "version"),
			cli.Message(err))
		return ctx.Err()
	}
	w.Remark("the store has no bytes left of %s that others have destroyed; filebus push confirms it",
		cli.Plural(n, "version"))
	return nil
}

// compactIfSparse compacts the database after something was destroyed, if much of it is free.
func compactIfSparse(ctx context.Context, w *cli.Work) {
	const leastFree = 8 << 20 // how much of a database must be free for a command to compact it by itself
	before, after, err := w.Store.Compact(ctx, leastFree)
	if err != nil {
		w.Note("%v", err)
	} else if after < before {
		w.Note("the database was compacted: %s, was %s", cli.ByteSize(after), cli.ByteSize(before))
	}
}
