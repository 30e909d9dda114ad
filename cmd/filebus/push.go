package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/session"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/record"
)

// exchangeWith takes in what stands in files, exchanges something with each remote, and writes the files that this has
// changed. What came of each is an object of JSON.
func exchangeWith(ctx context.Context, w *cli.Work, names []string, do func(string, *remote.Replica) (out any, isNew bool, err error)) error {
	if !w.Global.NoSync { // what stands in files would else seem to go on from what is taken in
		if _, err := w.Sync(ctx, w.Root, materialize.SyncOptions{CaptureOnly: true, Announced: true}); err != nil {
			return err
		}
	}
	all, isChanged := map[string]any{}, false
	err := eachRemote(ctx, w, names, func(s remote.Setting, r *remote.Replica) error {
		out, isNew, err := do(s.Name, r)
		all[s.Name], isChanged = out, isChanged || isNew
		return err
	})
	for _, root := range w.Roots() {
		if isChanged && !w.Global.NoSync {
			report, syncErr := w.Sync(ctx, root, materialize.SyncOptions{Announced: true})
			if err = errors.Join(err, syncErr); report != nil {
				noteUnmade(w, report)
			}
		}
	}
	if w.Global.JSON && len(all) > 0 {
		err = errors.Join(w.PrintJSON(map[string]any{"remotes": all}), err)
	}
	return err
}

// noteUnmade names the files that are no part of a record of their name, and those that git tracks and the store has no
// more. It says how many are not made, as git does not ignore them, and what makes them elsewhere.
func noteUnmade(w *cli.Work, r *materialize.SyncReport) {
	for _, f := range r.Files {
		if f.Action == "apart" {
			w.Note("%s: %s", cli.OneLine(f.Path), f.Detail)
		}
	}
	for _, file := range r.Left {
		w.NoteTry("rm "+record.ShellWord(file), "the file %s stays, as filebus writes nothing there; the store no longer has it", file)
	}
	if r.Unwritten > len(r.Left) {
		w.Note(unwrittenText, cli.Plural(r.Unwritten-len(r.Left), "file"))
	}
	if r.Unmade > 0 {
		w.NoteTry("filebus materialize --to "+record.ShellWord(r.Root+"-files"),
			"left to git, which does not ignore them: %s that came; filebus get reads them", cli.Plural(r.Unmade, "file"))
	}
}

func runPush(ctx context.Context, w *cli.Work, names []string) error {
	if err := compactDestroyed(ctx, w); err != nil { // before it is confirmed
		return err
	}
	return exchangeWith(ctx, w, names, func(name string, r *remote.Replica) (any, bool, error) {
		out, err := r.Push(ctx)
		return out, false, errors.Join(err, tellPushed(w, name, out, err != nil))
	})
}

// tellPushed says what a push has done; if it is quiet, only what is news.
func tellPushed(w *cli.Work, name string, out *remote.Pushed, isQuiet bool) error {
	for i, h := range out.Held {
		if i < session.MostNoted {
			of := record.ShellWord(h.Name.String())
			w.NoteTry(fmt.Sprintf("filebus tag add %s private, or public if it is none; filebus purge %s --files destroys it", of, of),
				"%s: kept back %s: %s in line %d", name, cli.OneLine(h.Name.String()), h.Rule, h.Line)
		}
	}
	if more := len(out.Held) - session.MostNoted; more > 0 {
		w.Note("%s: kept back %d more", name, more)
	}
	if !w.Global.JSON && (!isQuiet || out.Records+out.Retold+out.Erased > 0) {
		line := fmt.Sprintf("%s: pushed %s, %s", name, cli.Plural(out.Records, "record"), cli.ByteSize(out.Bytes))
		if out.Retold > 0 {
			line += fmt.Sprintf("; pushed again what the remote had lost of %s", cli.Count(out.Retold, "1 piece of another log", "%d pieces of other logs"))
		}
		if out.Erased > 0 {
			line += fmt.Sprintf("; erased what was destroyed from %s", cli.Count(out.Erased, "1 piece", "%d pieces"))
		}
		w.Printf("%s\n", line)
	}
	if len(out.Held) > 0 {
		return cli.SilentError(record.Partly)
	}
	return nil
}

func runPull(ctx context.Context, w *cli.Work, names []string) error {
	err := exchangeWith(ctx, w, names, func(name string, r *remote.Replica) (any, bool, error) {
		out, err := pullFrom(ctx, w, name, r)
		return out, out.Segments > 0, errors.Join(err, tellPulled(w, name, out, err != nil))
	})
	err = errors.Join(err, compactDestroyed(ctx, w))
	open, conflictsErr := w.Conflicts(ctx)
	if err == nil && conflictsErr == nil && len(open) > 0 {
		w.Note("%s: filebus conflicts shows both sides", cli.Plural(len(open), "conflict"))
		err = cli.SilentError(record.Conflict)
	}
	return errors.Join(err, conflictsErr)
}

func pullFrom(ctx context.Context, w *cli.Work, name string, r *remote.Replica) (*remote.Pulled, error) {
	show, clear := w.Progress("pulling from " + name)
	defer clear()
	r.Progress = show
	return r.Pull(ctx)
}

// tellPulled says what a pull has done; if it is quiet, only what is news.
func tellPulled(w *cli.Work, name string, out *remote.Pulled, isQuiet bool) error {
	for i, r := range append(out.Refused, out.Waiting...) {
		if i < session.MostNoted {
			w.NoteTry(refusedHint(r.Error), "%s: %s", name, cli.OneLine(strings.TrimPrefix(string(r.Label)+": "+r.Reason, ": ")))
		}
	}
	if more := len(out.Refused) + len(out.Waiting) - session.MostNoted; more > 0 {
		w.Note("%s: %d more", name, more)
	}
	if out.Destroyed > 0 {
		w.Note("%s: %s destroyed here too",
			name, cli.Count(out.Destroyed, "1 version that others have destroyed is",
				"%d versions that others have destroyed are"))
	}
	if len(out.Heirs) > 0 {
		heirs := strings.Join(markdown.Each(out.Heirs, func(n record.Name) string { return record.ShellWord(n.String()) }), " ")
		w.NoteTry("filebus purge --files "+heirs+", if they shall go too",
			"%s: made here of what others have destroyed, and so may have its text: %s", name, heirs)
	}
	n := out.Records
	isNews := n[store.FateHead]+n[store.FateBelow]+n[store.FateBeside]+out.Retired+out.Destroyed > 0
	if !w.Global.JSON && (!isQuiet || isNews) {
		var said []string
		words := []string{"new", "older", "in conflict", "known", "destroyed here", "retired", "destroyed"}
		for i, count := range []int{n[store.FateHead], n[store.FateBelow], n[store.FateBeside], n[store.FateKnown],
			n[store.FateDestroyed], out.Retired, out.Destroyed} {
			if count > 0 {
				said = append(said, fmt.Sprintf("%d %s", count, words[i]))
			}
		}
		w.Printf("%s: %s\n", name, cmp.Or(strings.Join(said, ", "), "nothing new"))
	}
	if len(out.Refused)+len(out.Waiting) > 0 {
		return cli.SilentError(record.Partly)
	}
	return nil
}

// refusedHint returns what helps with a blob that was refused.
func refusedHint(err error) string {
	is := func(reason error) bool { return errors.Is(err, reason) }
	switch {
	case is(materialize.ErrOtherLog):
		return "one of them is a copy: put something there, then push, and the copy gets an id of its own"
	case is(remote.ErrForged), is(remote.ErrMalformed), is(bundle.ErrMalformed):
		return "remove the file there: its store writes it again with its next push"
	}
	return cli.Explain(err).Hint
}

type replicateCommand struct {
	Every time.Duration `flag:"every"`
}

func (o *replicateCommand) Check(env *cli.Environ, args []string) error {
	return (&watchCommand{Every: o.Every}).Check(env, args)
}

// Do keeps files, store and remotes in step until it is interrupted. Nothing is open or locked between two looks.
func (o *replicateCommand) Do(ctx context.Context, w *cli.Work, names []string) error {
	r := &replicator{watcher: watcher{watchCommand: &watchCommand{Every: o.Every}, Environ: w.Environ}, names: names, kept: map[string]*remote.Replica{}}
	wake, err := r.listen(ctx, w)
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(usualPercent / 2)) // it stays, and is idle nearly always
	return mirror.Follow(ctx, o.Every, wake, r.look, r.complain)
}

type replicator struct {
	watcher
	names []string
	kept  map[string]*remote.Replica // by addresses
	said  string                     // by the last look, of what did not go well
}

// listen returns a channel that has a value when a remote may have changed.
func (r *replicator) listen(ctx context.Context, w *cli.Work) (<-chan struct{}, error) {
	all, err := remotes(w, r.names)
	if err == nil && len(all) == 0 {
		err = eachRemote(ctx, w, nil, nil) // says so
	}
	wake := make(chan struct{}, 1)
	for _, s := range all {
		of, openErr := replica(ctx, w, s, false, nil)
		if err = cmp.Or(err, openErr); err != nil {
			break
		}
		r.kept[s.Address] = of
		go func() {
			for ctx.Err() == nil {
				_, listErr := of.Transport.List(ctx) // what follows counts
				if waitErr := of.Transport.Wait(ctx); errors.Join(listErr, waitErr) != nil {
					sleep(ctx, r.Every)
				}
				select {
				case wake <- struct{}{}:
				default:
				}
			}
			_ = of.Transport.Close() // who writes has said how that went
		}()
	}
	return wake, err
}

// look is that of a watch, and then of the remotes.
func (r *replicator) look(ctx context.Context) (mirror.Watched, time.Duration, error) {
	watched, again, err := r.watcher.look(ctx)
	if err != nil {
		return watched, again, err
	}
	env := *r.Environ
	env.Opened = nil
	w, err := env.Open(ctx)
	if err != nil {
		return watched, brokenScan, nil // the watch has said so
	}
	isNew := false
	err = eachKept(ctx, w, r.names, r.kept, func(s remote.Setting, of *remote.Replica) error {
		pulled, err := pullFrom(ctx, w, s.Name, of)
		isNew = isNew || pulled.Segments > 0
		pushed, pushErr := of.Push(ctx)
		return errors.Join(cmp.Or(err, pushErr), r.tell(w, s.Name, pulled, pushed))
	})
	if err = errors.Join(err, compactDestroyed(ctx, w)); ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if err != nil && r.said != cli.Message(err) {
		r.said = cli.Message(err)
		r.complain(err)
	} else if err == nil {
		r.said = ""
	}
	if isNew { // the files follow
		again = leastScan
	}
	debug.FreeOSMemory()
	return watched, again, w.OutputError()
}

// replicatedJSON is what replicate prints of a remote.
type replicatedJSON struct {
	Remote string         `json:"remote"`
	Pulled *remote.Pulled `json:"pulled"`
	Pushed *remote.Pushed `json:"pushed"`
}

// tell says what is new.
func (r *replicator) tell(w *cli.Work, name string, pulled *remote.Pulled, pushed *remote.Pushed) error {
	quiet := *pulled
	if key := fmt.Sprint(name, pulled.Refused, pulled.Waiting); !r.isNew(key) {
		quiet.Refused, quiet.Waiting = nil, nil
	}
	_ = tellPulled(w, name, &quiet, true) // what it names is said, and ends nothing
	_ = tellPushed(w, name, pushed, true)
	if w.Global.JSON && pulled.Segments+pushed.Segments+pushed.Erased > 0 {
		return w.PrintJSON(replicatedJSON{name, pulled, pushed})
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
