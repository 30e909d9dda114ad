package session

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/rule"
	"filebus/store"
	"filebus/store/record"
)

type sessionCheck struct {
	Files bool `flag:"files"`
}

// SessionCheckJSON is what a command prints with --json.
type SessionCheckJSON struct {
	Session string    `json:"session,omitempty"`
	Files   []Checked `json:"files"`
	Wanting int       `json:"wanting"`
}

func (o *sessionCheck) Do(ctx context.Context, w *cli.Work, args []string) error {
	var view SessionCheckJSON
	var err error
	if o.Files {
		view.Files, err = checkFiles(ctx, w.Environ, args)
	} else {
		view.Session, view.Files, err = checkArtifacts(ctx, w.Environ, args)
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
		f.File, f.Message = cmp.Or(f.Artifact, f.File), cmp.Or(f.Message, cli.TokenText(f.Tokens))
		if len(f.Also) > 0 {
			f.Message += ", beside " + strings.Join(f.Also, ", ")
		}
		shown = append(shown, f.Finding)
	}
	switch err := w.Print(view, "%s", w.FindingsText(shown, 0)); {
	case err != nil:
		return err
	case len(view.Files) == 0:
		return cli.Coded(record.Wanting, "filebus session show "+record.ShellWord(view.Session),
			errors.New("the session has no artifact to read"))
	case view.Wanting > 0:
		return cli.SilentError(record.Wanting)
	}
	return nil
}

func checkArtifacts(ctx context.Context, e *cli.Environ, args []string) (string, []Checked, error) {
	text, artifacts := sessionArg(e, args)
	f, _, err := findKnown(ctx, e, []string{text})
	if set := e.Or("", "FILEBUS_SESSION"); set != "" && len(args) > 0 && errors.Is(err, ErrNoSession) {
		artifacts = args
		f, _, err = findKnown(ctx, e, []string{set})
	}
	if err != nil {
		return "", nil, err
	}
	findings, err := f.sessions.Check(ctx, f.key, artifacts)
	return f.key.String(), findings, err
}

// checkFiles checks files by their paths, also where there is no store.
func checkFiles(ctx context.Context, e *cli.Environ, args []string) ([]Checked, error) {
	if len(args) == 0 {
		return nil, cli.UsageError("--files needs at least one path")
	}
	var files []string
	for _, arg := range args {
		if arg == "" {
			return nil, cli.UsageError("a path is empty: is the variable that holds it set?")
		}
		if err := UnsetIn(arg); err != nil {
			return nil, err
		}
		files = append(files, e.Abs(arg))
	}
	w, err := e.Open(ctx)
	if errors.Is(err, record.Untrusted) {
		e.Note("%s; the files are checked without it", cli.Message(err))
	}
	if errors.Is(err, store.ErrNoStore) || errors.Is(err, record.Untrusted) {
		return Open(nil, nil, e.Now).CheckFiles(ctx, files)
	}
	if err != nil {
		return nil, err
	}
	return Of(w).CheckFiles(ctx, files)
}
