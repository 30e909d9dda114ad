package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

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

func (o *fromCommand) check(e *environ, dirs []string) (err error) {
	switch {
	case o.From == "" && (o.Project != "" || o.Since != "" || o.Sessions):
		return usageError("--project, --since and --sessions are for --from claude or --from codex")
	case o.From == "" && len(dirs) == 0:
		return usageError("which folder? Give a DIR, or --from claude or codex for past work of such a client")
	case o.From != "" && len(dirs) > 0:
		return usageError("--from takes no DIR; --project DIR says whose sessions")
	case o.Since != "":
		o.since, err = parseTime(o.Since, e.now())
	}
	return err
}

// takeIn takes in the past work of a client in a project. Where there is none, no store is made.
func (o *fromCommand) takeIn(ctx context.Context, e *environ) error {
	files, err := o.find(ctx, e)
	if err != nil {
		return err
	}
	w, err := e.create(ctx)
	if err != nil {
		return err
	}
	past := result.Past{Client: o.From, Files: files, Since: o.since, Sessions: o.Sessions}
	if w.getenv("FILEBUS_NO_READS_LOG") == "" {
		past.Log = w.read
	}
	r, err := result.TakeIn(ctx, w.Workspace, past)
	if err != nil {
		return err
	}
	for _, s := range r.Skipped {
		w.note("left out %s: %s", oneLine(s.Path), s.Reason)
	}
	r.Secrets = w.foundSecrets()
	err = w.print(r, "%s: %s, %d unchanged; %s stored, %d known, %d unfinished, %d of the client's own; %s noted\n",
		o.From, plural(r.Files, "transcript"), r.Unchanged, plural(len(r.Stored), "report"), r.Known, r.Unfinished,
		r.Internal, plural(r.Reads, "read"))
	if err == nil && len(r.Skipped) > 0 {
		err = silentError(record.Partly)
	}
	return err
}

// find finds the transcripts of the project.
func (o *fromCommand) find(ctx context.Context, e *environ) ([]transcript.File, error) {
	variable, folder, find := "CLAUDE_CONFIG_DIR", ".claude", transcript.Claude
	if o.From == "codex" {
		variable, folder, find = "CODEX_HOME", ".codex", transcript.Codex
	}
	config := e.getenv(variable)
	if config == "" && e.home() == "" {
		return nil, usageError("where are the sessions of %s? Neither %s nor HOME is set", o.From, variable)
	}
	at, err := e.locate()
	if err != nil && !errors.Is(err, store.ErrNoStore) {
		return nil, err
	}
	config, project := e.abs(cmp.Or(config, filepath.Join(e.home(), folder))), e.abs(cmp.Or(o.Project, at.Root))
	files, err := find(ctx, config, project)
	if err == nil && len(files) == 0 {
		err = record.NotFound.Errorf("%s has no session of %s", config, oneLine(project)).
			Try("filebus capture --from {1} --project DIR", o.From)
	}
	return files, err
}
