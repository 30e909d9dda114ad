package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	sessions "filebus/cmd/filebus/session"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type sessionEnd struct {
	Status string `flag:"status"`
}

type sessionEndJSON struct {
	sessions.Session
	AtWork  []string `json:"at_work"`           // agents that have begun and not ended
	GivenUp []string `json:"given_up"`          // old sessions
	Seconds int      `json:"seconds,omitempty"` // from its start
}

func (o *sessionEnd) run(ctx context.Context, w *workspace, args []string) error {
	text, _ := w.sessionArg(args)
	f, err := w.findSession(ctx, text, true)
	if err != nil {
		return err
	}
	if err := f.registry.Import(ctx, f.key); err != nil {
		return err
	}
	s, err := f.registry.End(ctx, f.key, o.Status)
	if err != nil {
		return err
	}
	view := sessionEndJSON{Session: *s}
	for _, a := range s.AtWork {
		view.AtWork = append(view.AtWork, cutText(a.Agent))
	}
	if len(view.AtWork) > 0 {
		w.note("started and not ended: %s; to record what became of one: filebus session log %s ERROR %s",
			firstNames(view.AtWork), record.ShellWord(s.Key.String()), record.ShellWord(view.AtWork[0]))
	}
	view.Seconds = secondsSince(s.Started, s.Ended)
	if view.GivenUp, err = f.workspace.retain(ctx, f.workspace, s.Key.String()); err != nil {
		return fmt.Errorf("%s has ended; destroying old sessions: %w", s.Key, err)
	}
	if n := len(view.GivenUp); n > 0 {
		w.note("destroyed %s, as the configuration says: %s", plural(n, "old session"), firstNames(view.GivenUp))
	}
	line := []string{s.Key.String(), s.Status, plural(s.Count, "artifact"), tokenText(s.Tokens)}
	if view.Seconds > 0 {
		line = append(line, layout.DurationText(time.Duration(view.Seconds)*time.Second))
	}
	return w.print(view, "%s\n", strings.Join(line, "  "))
}

type sessionArchive struct {
	given
	To     string `flag:"to"`
	Remove bool   `flag:"remove"`
}

func (o *sessionArchive) prepare(cmd *cobra.Command) {
	o.given.prepare(cmd)
	cmd.MarkFlagsOneRequired("to", "remove")
}

func (o *sessionArchive) check(env *environ, args []string) error {
	switch {
	case o.has("to") && o.To == "":
		return usageError("--to is empty: is the variable that holds it set?")
	case o.To != "" && !strings.HasSuffix(o.To, ".tar.gz") && !strings.HasSuffix(o.To, ".tgz"):
		hint := "run it again with --to " + record.ShellWord(strings.TrimSuffix(o.To, filepath.Ext(o.To))+".tar.gz") +
			", or for a folder filebus materialize --session " + record.ShellWord(args[0]) + " --to DIR"
		return coded(record.Usage, hint, fmt.Errorf("--to %s is not a file that ends with .tar.gz", o.To))
	case o.To != "":
		o.To = env.abs(o.To)
	}
	return nil
}

func (o *sessionArchive) run(ctx context.Context, w *workspace, args []string) error {
	f, err := w.findSession(ctx, args[0], true)
	if err != nil {
		return err
	}
	done, err := f.registry.Archive(ctx, f.key, o.To, o.Remove)
	if err != nil {
		return err
	}
	if w.global.json {
		return w.printJSON(done)
	}
	if o.To != "" {
		w.printf("%s  %s, %s\n", o.To, plural(len(done.Files), "file"), byteSize(done.Bytes))
	}
	if done.Removed > 0 {
		w.note("removed %s from the disk; filebus session replay %s --steps lists them, "+
			"filebus rm --restore NAME brings one back",
			plural(done.Removed, "file"), record.ShellWord(f.key.String()))
	}
	return nil
}
