package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/result"
	"filebus/materialize/markdown"
	"filebus/materialize/pdf"
	"filebus/store"
	"filebus/store/record"
)

type pdfCommand struct {
	result.CallFlags
	Title    string   `flag:"title"`
	Authors  []string `flag:"authors"`
	Date     string   `flag:"date"`
	Filename string   `flag:"filename"`
	Out      string   `flag:"out"`
	Font     string   `flag:"font"`
	Force    bool     `flag:"force"`
}

func (o *pdfCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	arg, call := args[0], o.Checked
	call.Agent = cmp.Or(o.Agent, result.DocumentAgent)
	target, err := o.target(w.Environ)
	if err != nil {
		return err
	}
	in, err := w.ReadInput(ctx, arg, pdf.MaxSource)
	if err != nil {
		return err
	}
	if err := mayRender(arg, in); err != nil {
		return err
	}
	if w, err = w.CreateFresh(ctx); err != nil {
		return err
	}
	source, err := pdfSource(ctx, w, arg, in)
	if err != nil {
		return err
	}
	if call.From, err = result.ResolveAll(ctx, w, o.From); err != nil {
		return err
	}
	document, title, err := o.render(w, arg, source, in.Text)
	if err != nil {
		return err
	}
	file := target.file(title)
	if err := cmp.Or(file.checkPlace(w), file.check(document, o.Force)); err != nil {
		return err
	}
	stored, err := result.PutDocument(ctx, w.Workspace, w.Reader, call, result.Document{
		Source: source, Markdown: in.Text, Title: title, PDF: document,
	})
	if err != nil {
		return err
	}
	if err := file.write(ctx, w, document, o.Force); err != nil {
		return err
	}
	stored.File = file.path
	return o.PrintReference(w.Environ, stored)
}

// mayRender refuses what is no Markdown, or too much of it.
func mayRender(arg string, in cli.InputText) error {
	switch {
	case !in.Whole:
		return fmt.Errorf("%s: %w: more than %d bytes of Markdown", arg, pdf.ErrTooLarge, pdf.MaxSource)
	case markdown.IsBinary(in.Text):
		return cli.UsageError("%s is binary, not Markdown", arg)
	}
	return nil
}

// pdfSource returns the version that a source is stored as, or nil. A file counts as
// stored if it has the bytes that the store has for its path.
func pdfSource(ctx context.Context, w *cli.Work, arg string, in cli.InputText) (*store.Version, error) {
	if in.Found != nil || arg == "-" {
		return in.Found, nil
	}
	v, err := w.VersionOf(ctx, w.Abs(arg))
	if errors.Is(err, store.ErrDamaged) {
		return nil, err
	}
	if err != nil || v.Record.Body != record.DigestOf(in.Text) {
		return nil, ctx.Err() // a file outside of the store, or one that has changed
	}
	return &v, nil
}

// render makes the PDF, says what could not be shown, and returns its title.
func (o *pdfCommand) render(
	w *cli.Work, arg string, source *store.Version, text []byte,
) ([]byte, string, error) {
	options := pdf.Options{Title: o.Title, Authors: o.Authors, Fallback: fallbackTitle(arg, source)}
	if o.Date != "" {
		date, err := cli.ParseTime(o.Date, w.Now())
		if err != nil {
			return nil, "", err
		}
		options.Date = time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, time.UTC)
	}
	if o.Font != "" {
		const maxFont = 64 << 20 // those with all characters of the basic plane have some 30 MB
		font, err := w.ReadWhole(o.Font, maxFont, ": no font has")
		if err != nil {
			return nil, "", err
		}
		options.Font = font
	}
	folders := newImageFolders(w.Root, sourceFolder(w, arg, source))
	defer folders.close()
	options.Image = folders.read
	var out bytes.Buffer
	report, err := pdf.Render(&out, text, options)
	switch {
	case errors.Is(err, pdf.ErrFont):
		return nil, "", cli.Coded(record.Usage, "run it again without --font", fmt.Errorf("%s: %w", o.Font, err))
	case err != nil:
		return nil, "", fmt.Errorf("%s: %w", arg, err)
	}
	for _, warning := range report.Warnings {
		w.Note("%s: %s", arg, warning)
	}
	return out.Bytes(), report.Title, nil
}

// fallbackTitle returns the title of a source that has none: the file's name.
func fallbackTitle(arg string, source *store.Version) string {
	if source != nil {
		arg = source.Record.Name.ID
	}
	if arg == "-" {
		return "Document"
	}
	base := filepath.Base(filepath.FromSlash(arg))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// sourceFolder returns the folder that images are looked for in: of the file, or of
// the file that a record is mirrored in. It is "" if there is none.
func sourceFolder(w *cli.Work, arg string, source *store.Version) string {
	switch {
	case arg == "-":
		return w.Dir
	case source == nil:
		return filepath.Dir(w.Abs(arg))
	case source.Record.Name.Tree != "" || source.Record.Path == "":
		return ""
	}
	return filepath.Dir(w.FilePath(source.Record.Path))
}
