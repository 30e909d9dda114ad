package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"filebus/cmd/filebus/rule"
	sessions "filebus/cmd/filebus/session"
	"filebus/store"
	"filebus/store/record"
)

type sessionCheck struct {
	Files bool `flag:"files"`
}

type sessionCheckJSON struct {
	Session string             `json:"session,omitempty"`
	Files   []sessions.Checked `json:"files"`
	Wanting int                `json:"wanting"`
}

func (o *sessionCheck) run(ctx context.Context, w *workspace, args []string) error {
	var view sessionCheckJSON
	var err error
	if o.Files {
		view.Files, err = w.checkFiles(ctx, args)
	} else {
		view.Session, view.Files, err = w.checkArtifacts(ctx, args)
	}
	if err != nil {
		return err
	}
	var shown []rule.Finding
	for i, f := range view.Files {
		view.Files[i].State, view.Files[i].Detail, view.Files[i].Do = f.Rule, f.Message, f.Remedy
		if f.Rule != "ok" {
			view.Wanting++
		}
		f.File, f.Message = cmp.Or(f.Artifact, f.File), cmp.Or(f.Message, tokenText(f.Tokens))
		if len(f.Also) > 0 {
			f.Message += ", beside " + strings.Join(f.Also, ", ")
		}
		shown = append(shown, f.Finding)
	}
	switch err := w.print(view, "%s", w.findingsText(shown, 0)); {
	case err != nil:
		return err
	case len(view.Files) == 0:
		return coded(record.Wanting, "filebus session show "+record.ShellWord(view.Session),
			errors.New("the session has no artifact to read"))
	case view.Wanting > 0:
		return silentError(record.Wanting)
	}
	return nil
}

func (e *environ) checkArtifacts(ctx context.Context, args []string) (string, []sessions.Checked, error) {
	text, artifacts := e.sessionArg(args)
	f, _, err := e.findKnown(ctx, []string{text})
	if set := e.or("", "FILEBUS_SESSION"); set != "" && len(args) > 0 && errors.Is(err, sessions.ErrNoSession) {
		artifacts = args
		f, _, err = e.findKnown(ctx, []string{set})
	}
	if err != nil {
		return "", nil, err
	}
	findings, err := f.registry.Check(ctx, f.key, artifacts)
	return f.key.String(), findings, err
}

// checkFiles checks files by their paths, also where there is no store.
func (e *environ) checkFiles(ctx context.Context, args []string) ([]sessions.Checked, error) {
	if len(args) == 0 {
		return nil, usageError("--files needs at least one path")
	}
	var files []string
	for _, arg := range args {
		if arg == "" {
			return nil, usageError("a path is empty: is the variable that holds it set?")
		}
		if err := sessions.UnsetIn(arg); err != nil {
			return nil, err
		}
		files = append(files, e.abs(arg))
	}
	w, err := e.open(ctx)
	if errors.Is(err, record.Untrusted) {
		e.note("%s; the files are checked without it", message(err))
	}
	if errors.Is(err, store.ErrNoStore) || errors.Is(err, record.Untrusted) {
		return sessions.Open(nil, nil, e.now).CheckFiles(ctx, files)
	}
	if err != nil {
		return nil, err
	}
	return w.registry().CheckFiles(ctx, files)
}
