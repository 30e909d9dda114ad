package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"filebus/store"
	"filebus/store/folder"
)

// size returns what the database, the index and the large bodies take, in bytes.
func (w *workspace) size() map[string]int64 {
	sizes := map[string]int64{storeFile: 0, "index": 0, "bodies": 0}
	_ = folder.At(w.Store.Dir()).Walk(".", func(name string, e fs.DirEntry) error {
		top, _, _ := strings.Cut(name, "/")
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sizes[top] += info.Size()
		}
		return nil
	}) // what cannot be read does not count
	return map[string]int64{"database": sizes[storeFile], "index": sizes["index"], "bodies": sizes["bodies"]}
}

func runCompact(ctx context.Context, w *workspace, _ []string) error {
	before := w.size()
	swept, err := w.compact(ctx)
	if err != nil {
		return err
	}
	after := w.size()
	var rows [][]string
	for _, what := range []string{"database", "index", "bodies"} {
		rows = append(rows, []string{what, byteSize(after[what]), "was " + byteSize(before[what])})
	}
	return w.print(map[string]any{"before": before, "after": after, "swept": swept}, "%s", w.table(rows))
}

// compact makes all of the store as small as it gets: nothing is left in it of what was
// destroyed.
func (w *workspace) compact(ctx context.Context) (swept int, err error) {
	waiting, err := w.waiting(ctx)
	if err == nil {
		swept, err = w.Store.Sweep(ctx)
	}
	if err == nil {
		_, _, err = w.Store.Compact(ctx, 0)
	}
	if err == nil && w.size()["index"] > 0 {
		_, err = w.reindex(ctx)
	}
	if err == nil && waiting > 0 {
		err = w.Store.Update(ctx, func(tx *store.Tx) error { return tx.SetWaiting(max(0, tx.Waiting()-waiting)) })
	}
	return swept, err
}

// waiting returns how many versions that others have destroyed may have bytes yet in the store's files.
func (w *workspace) waiting(ctx context.Context) (n int, err error) {
	err = w.Store.View(ctx, func(tx *store.Tx) error { n = tx.Waiting(); return nil })
	return n, err
}

const waitingText = "%s that others have destroyed may have bytes yet on unused pages and in the index"

const askedText = "%s put here and destroyed by others, so hidden, but its bytes are here: %s"

// asked returns what others have destroyed of what was put here, in words, and the command that destroys it here too.
func (w *workspace) asked(ctx context.Context) (text, hint string, err error) {
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
			names, refs = append(names, oneLine(name)), append(refs, ref.Short())
		}
		return nil
	})
	if len(names) == 0 {
		return "", "", err
	}
	return fmt.Sprintf(askedText, count(len(names), "1 version was", "%d versions were"), strings.Join(names, ", ")), "filebus purge --files " + strings.Join(refs, " "), err
}

// undestroyed says what others have destroyed and is here yet, and what destroys it here too.
func (w *workspace) undestroyed(ctx context.Context) (remarks []string, err error) {
	n, err := w.waiting(ctx)
	if n > 0 {
		remarks = append(remarks, fmt.Sprintf(waitingText+"; filebus compact removes them", plural(n, "version")))
	}
	text, hint, askErr := w.asked(ctx)
	if text != "" {
		remarks = append(remarks, text+"; "+hint+" destroys it")
	}
	return remarks, cmp.Or(err, askErr)
}

// compactDestroyed leaves nothing of what others have destroyed. What somebody else is in the way of waits, and so
// does what was put here.
func (w *workspace) compactDestroyed(ctx context.Context) error {
	if text, hint, err := w.asked(ctx); err == nil && text != "" {
		w.noteTry(hint, "%s", text)
	}
	n, err := w.waiting(ctx)
	if n == 0 || err != nil {
		return err
	}
	if err = w.read.ForgetReads(); err == nil {
		_, err = w.compact(ctx)
	}
	if err != nil {
		w.noteTry("filebus compact; the next pull or push does it too", waitingText+": %s", plural(n, "version"), message(err))
		return ctx.Err()
	}
	w.remark("nothing is left in the store of %s that others have destroyed", plural(n, "version"))
	return nil
}

// compactIfSparse compacts the database after something was destroyed, if much of it is free.
func (w *workspace) compactIfSparse(ctx context.Context) {
	const leastFree = 8 << 20 // how much of a database must be free for a command to compact it by itself
	before, after, err := w.Store.Compact(ctx, leastFree)
	if err != nil {
		w.note("%v", err)
	} else if after < before {
		w.note("the database was compacted: %s, was %s", byteSize(after), byteSize(before))
	}
}
