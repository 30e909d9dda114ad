package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type sessionEnd struct {
	Status string `flag:"status"`
}

// SessionEndJSON is what a command prints with --json.
type SessionEndJSON struct {
	Session
	AtWork  []string `json:"at_work"`           // agents that have begun and not ended
	GivenUp []string `json:"given_up"`          // old sessions
	Seconds int      `json:"seconds,omitempty"` // from its start
}

func (o *sessionEnd) Do(ctx context.Context, w *cli.Work, args []string) error {
	text, _ := sessionArg(w.Environ, args)
	f, err := findSession(ctx, w.Environ, text, true)
	if err != nil {
		return err
	}
	if err := f.sessions.Import(ctx, f.key); err != nil {
		return err
	}
	s, err := f.sessions.End(ctx, f.key, o.Status)
	if err != nil {
		return err
	}
	view := SessionEndJSON{Session: *s}
	for _, a := range s.AtWork {
		view.AtWork = append(view.AtWork, cli.CutText(a.Agent))
	}
	if len(view.AtWork) > 0 {
		w.Note("started and not ended: %s; to record what became of one: filebus session log %s ERROR %s",
			cli.FirstNames(view.AtWork), record.ShellWord(s.Key.String()), record.ShellWord(view.AtWork[0]))
	}
	view.Seconds = secondsSince(s.Started, s.Ended)
	if view.GivenUp, err = f.Work.Retain(ctx, f.Work, s.Key.String()); err != nil {
		return fmt.Errorf("%s has ended; destroying old sessions: %w", s.Key, err)
	}
	if n := len(view.GivenUp); n > 0 {
		w.Note("destroyed %s, as the configuration says: %s", cli.Plural(n, "old session"), cli.FirstNames(view.GivenUp))
	}
	line := []string{s.Key.String(), s.Status, cli.Plural(s.Count, "artifact"), cli.TokenText(s.Tokens)}
	if view.Seconds > 0 {
		line = append(line, layout.DurationText(time.Duration(view.Seconds)*time.Second))
	}
	return w.Print(view, "%s\n", strings.Join(line, "  "))
}

type sessionArchive struct {
	cli.Given
	To     string `flag:"to"`
	Remove bool   `flag:"remove"`
}

func (o *sessionArchive) Prepare(cmd *cobra.Command) {
	o.Given.Prepare(cmd)
	cmd.MarkFlagsOneRequired("to", "remove")
}

func (o *sessionArchive) Check(env *cli.Environ, args []string) error {
	switch {
	case o.Has("to") && o.To == "":
		return cli.UsageError("--to is empty: is the variable that holds it set?")
	case o.To != "" && !strings.HasSuffix(o.To, ".tar.gz") && !strings.HasSuffix(o.To, ".tgz"):
		hint := "run it again with --to " + record.ShellWord(strings.TrimSuffix(o.To, filepath.Ext(o.To))+".tar.gz") +
			", or for a folder filebus materialize --session " + record.ShellWord(args[0]) + " --to DIR"
		return cli.Coded(record.Usage, hint, fmt.Errorf("--to %s is not a file that ends with .tar.gz", o.To))
	case o.To != "":
		o.To = env.Abs(o.To)
	}
	return nil
}

func (o *sessionArchive) Do(ctx context.Context, w *cli.Work, args []string) error {
	f, err := findSession(ctx, w.Environ, args[0], true)
	if err != nil {
		return err
	}
	done, err := f.sessions.Archive(ctx, f.key, o.To, o.Remove)
	if err != nil {
		return err
	}
	if w.Global.JSON {
		return w.PrintJSON(done)
	}
	if o.To != "" {
		w.Printf("%s  %s, %s\n", o.To, cli.Plural(len(done.Files), "file"), cli.ByteSize(done.Bytes))
	}
	if done.Removed > 0 {
		w.Note("removed %s from the disk; filebus session replay %s --steps lists them, "+
			"filebus rm --restore NAME brings one back",
			cli.Plural(done.Removed, "file"), record.ShellWord(f.key.String()))
	}
	return nil
}
