package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/finder"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

func (o *searchCommand) find(ctx context.Context, env *cli.Environ, text string) error {
	if !env.InTerminal && !env.ErrTerminal || env.Getenv("TERM") == "dumb" {
		return noTerminal()
	}
	set, err := openStores(ctx, env, o.Everywhere, query.Options{})
	if err == nil {
		err = set.noteFailed(env, len(set.readers))
	}
	if err != nil {
		return err
	}
	source := &finderSource{env: env, opts: *o, set: set, positions: make([]uint64, len(set.readers))}
	choice, err := finder.Run(ctx, source, finder.Options{Typed: text, NoColour: env.Getenv("NO_COLOR") != ""})
	switch {
	case errors.Is(err, finder.ErrCancelled):
		return cli.SilentError(record.Interrupted)
	case errors.Is(err, finder.ErrNoTerminal):
		return noTerminal()
	case err != nil:
		return err
	case env.Global.JSON:
		if o.Everywhere && choice.Hit.Store == "" {
			choice.Hit.Store = set.own.Store.Dir()
		}
		p := hitPage{answer: query.SearchAnswer{Total: 1}}
		return env.PrintJSON(p.pageJSON(1, []query.Hit{choice.Hit}))
	}
	env.Printf("%s\n", source.placeOf(ctx, choice))
	return nil
}

func noTerminal() error {
	return cli.Coded(record.Usage, "filebus search WORD...", errors.New("--interactive needs a terminal"))
}

// A finderSource answers an interactive finder from the index as it is, which
// Refresh brings up to date.
type finderSource struct {
	env       *cli.Environ
	opts      searchCommand
	set       *storeSet
	positions []uint64 // of the logs, up to which Refresh has come; by reader
}

// Search is that of finder.Source.
func (s *finderSource) Search(ctx context.Context, typed string, limit int) (query.SearchAnswer, error) {
	opts := s.opts
	opts.Limit, opts.Offset = limit, 0
	request, err := opts.request(s.env, typed)
	if err != nil {
		return query.SearchAnswer{}, err
	}
	request.IndexedOnly, request.Prefix = true, true
	answer, err := s.set.search(ctx, request, 0)
	s.set.unnameOwn(answer.Hits)
	return answer, err
}

// Text is that of finder.Source.
func (s *finderSource) Text(ctx context.Context, typed string, hit query.Hit, whole bool) (finder.Text, error) {
	r := s.set.reader(&hit)
	v, err := r.Resolve(ctx, hit.Ref.String(), query.ResolveOptions{})
	if err != nil {
		return finder.Text{}, err
	}
	const maxWhole = 64 << 10 // bounds how much of a record is shown, in tokens
	part := query.BodyRequest{MaxTokens: maxWhole}
	if !whole {
		part.Lines = hit.Lines
	}
	var body bytes.Buffer
	result, err := r.WriteBody(ctx, &body, v, part)
	if err != nil {
		return finder.Text{}, err
	}
	if markdown.IsBinary(body.Bytes()) {
		return finder.Text{Note: "binary, " + cli.ByteSize(v.Record.Size), Line: 1}, nil
	}
	opts := s.opts // a search may read them just now
	request, err := opts.request(s.env, typed)
	request.Prefix = true
	text := finder.Text{Body: body.Bytes(), Marks: request.Marks(body.Bytes()), Line: max(part.Lines.From, 1),
		Note: cli.TokenText(hit.Tokens)}
	if result.Left > 0 {
		text.Note = fmt.Sprintf("the first ~%d of ~%d tokens", result.Tokens, hit.Tokens)
	}
	return text, err
}

// Refresh is that of finder.Source.
func (s *finderSource) Refresh(ctx context.Context) (changed bool, err error) {
	if own := s.set.own; own != nil && !s.env.Global.NoSync {
		_, err = own.Sync(ctx, own.Root, materialize.SyncOptions{CaptureOnly: true, Finished: true, Budget: s.env.SyncBudget})
	}
	for i, r := range s.set.readers {
		position, readErr := query.Position(ctx, r.Store())
		if readErr == nil && position != s.positions[i] {
			if readErr = r.CatchUp(ctx); readErr == nil {
				s.positions[i], changed = position, true
			}
		}
		if i == 0 {
			err = cmp.Or(readErr, err)
		}
	}
	return changed, err
}

// placeOf returns what is printed of a choice: its file with the line, or the name of
// a record that has no file, or its reference.
func (s *finderSource) placeOf(ctx context.Context, choice finder.Choice) string {
	h := &choice.Hit
	where := ""
	if h.Store != "" {
		where = " --store " + record.ShellWord(h.Store)
	}
	if choice.Ref {
		return h.Ref.String() + where
	}
	file, err := s.fileOf(h)
	info, statErr := os.Stat(file)
	if err != nil || statErr != nil || !info.Mode().IsRegular() {
		return record.ShellWord(h.Name.String()) + where
	}
	line := cmp.Or(h.FileLines.From, h.Lines.From)
	if line > 0 && s.isAt(ctx, h, file, line) {
		return fmt.Sprintf("%s:%d", fromHere(s.env, file), line)
	}
	return fromHere(s.env, file)
}

var errNoFile = errors.New("the record has no file")

// fileOf returns the file of a hit in its workspace.
func (s *finderSource) fileOf(h *query.Hit) (string, error) {
	switch {
	case h.Path == "" || h.Name.Tree != "" || h.Older:
		return "", errNoFile
	case h.Store == "":
		return s.set.own.FilePath(h.Path), nil
	}
	main := filepath.Dir(h.Store)
	at := materialize.Location{Store: h.Store, Main: main, Root: main}
	settings, err := s.env.SettingsAt(at)
	return (&materialize.Workspace{Location: at, Settings: settings}).FilePath(h.Path), err
}

// isAt reports whether a line of the file is the first line of the hit: the file may
// have changed since it was imported.
func (s *finderSource) isAt(ctx context.Context, h *query.Hit, file string, line int) bool {
	r := s.set.reader(h)
	v, err := r.Resolve(ctx, h.Ref.String(), query.ResolveOptions{})
	if err != nil {
		return false
	}
	var want bytes.Buffer
	if _, err := r.WriteBody(ctx, &want, v, query.BodyRequest{Lines: query.Span{From: h.Lines.From, To: h.Lines.From}}); err != nil {
		return false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for got := range bytes.Lines(text) {
		if line--; line == 0 {
			return bytes.Equal(bytes.TrimRight(got, "\r\n"), bytes.TrimRight(want.Bytes(), "\r\n"))
		}
	}
	return false
}

// fromHere returns a path as it is written in the working directory.
func fromHere(e *cli.Environ, file string) string {
	if below, err := filepath.Rel(e.Dir, file); e.Dir != "" && err == nil && filepath.IsLocal(below) {
		return below
	}
	return file
}
