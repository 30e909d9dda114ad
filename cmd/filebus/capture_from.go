package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/result"
	"filebus/materialize/transcript"
	"filebus/store"
	"filebus/store/record"
)

// A fromCommand takes past work of a client in.
type fromCommand struct {
	From     string `flag:"from" of:"claude codex"`
	Project  string `flag:"project"`
	Since    string `flag:"since"`
	Sessions bool   `flag:"sessions"`

	since time.Time
}

func (o *fromCommand) Check(e *cli.Environ, dirs []string) (err error) {
	switch {
	case o.From == "" && (o.Project != "" || o.Since != "" || o.Sessions):
		return cli.UsageError("--project, --since and --sessions are for --from claude or --from codex")
	case o.From == "" && len(dirs) == 0:
		return cli.UsageError("which folder? Give a DIR, or --from claude or codex for past work of such a client")
	case o.From != "" && len(dirs) > 0:
		return cli.UsageError("--from takes no DIR; --project DIR says whose sessions")
	case o.Since != "":
		o.since, err = cli.ParseTime(o.Since, e.Now())
	}
	return err
}

// takeIn takes in the past work of a client in a project. Where there is none, no store is made.
func (o *fromCommand) takeIn(ctx context.Context, e *cli.Environ) error {
	files, err := o.find(ctx, e)
	if err != nil {
		return err
	}
	w, err := e.Create(ctx)
	if err != nil {
		return err
	}
	show, clear := w.Progress("reading transcripts")
	past := result.Past{Client: o.From, Files: files, Since: o.since, Sessions: o.Sessions, Progress: show}
	if w.Getenv("FILEBUS_NO_READS_LOG") == "" {
		past.Log = w.Reader
	}
	r, err := result.TakeIn(ctx, w.Workspace, past)
	clear()
	if err != nil {
		return err
	}
	for _, s := range r.Skipped {
		w.Note("left out %s: %s", cli.OneLine(s.Path), s.Reason)
	}
	r.Secrets = foundSecrets(w.Environ)
	err = w.Print(r, "%s: %s, %d unchanged; %s stored, %d known, %d unfinished, %d of the client's own; %s noted\n",
		o.From, cli.Plural(r.Files, "transcript"), r.Unchanged, cli.Plural(len(r.Stored), "report"), r.Known, r.Unfinished,
		r.Internal, cli.Plural(r.Reads, "read"))
	if err == nil && len(r.Skipped) > 0 {
		err = cli.SilentError(record.Partly)
	}
	return err
}

// find finds the transcripts of the project.
func (o *fromCommand) find(ctx context.Context, e *cli.Environ) ([]transcript.File, error) {
	variable, folder, find := "CLAUDE_CONFIG_DIR", ".claude", transcript.Claude
	if o.From == "codex" {
		variable, folder, find = "CODEX_HOME", ".codex", transcript.Codex
	}
	config := e.Getenv(variable)
	if config == "" && e.Home() == "" {
		return nil, cli.UsageError("where are the sessions of %s? Neither %s nor HOME is set", o.From, variable)
	}
	at, err := e.Locate()
	if err != nil && !errors.Is(err, store.ErrNoStore) {
		return nil, err
	}
	config, project := e.Abs(cmp.Or(config, filepath.Join(e.Home(), folder))), e.Abs(cmp.Or(o.Project, at.Root))
	files, err := find(ctx, config, project)
	if err == nil && len(files) == 0 {
		err = record.NotFound.Errorf("%s has no session of %s", config, cli.OneLine(project)).
			Try("filebus capture --from {1} --project DIR", o.From)
	}
	return files, err
}
