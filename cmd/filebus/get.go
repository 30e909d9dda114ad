package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/knowledge"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

type getCommand struct {
	Section   string `flag:"section"`
	Lines     string `flag:"lines"`
	MaxTokens int    `flag:"max-tokens" least:"0"`
	Full      bool   `flag:"full"`
	Stored    bool   `flag:"stored"`

	lines query.Span
	skip  int
}

func (o *getCommand) Check(*cli.Environ, []string) (err error) {
	o.lines, o.skip, err = parseLines(o.Lines)
	return err
}

// lineOfPath is a path with lines behind it, as searches print it.
var lineOfPath = layout.Pattern(`^(.+):([0-9]+(?:-[0-9]*)?)$`)

func (o *getCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	name := args[0]
	v, err := w.VersionNear(ctx, name)
	if at := lineOfPath().FindStringSubmatch(name); at != nil && errors.Is(err, store.ErrNotFound) && o.Lines == "" {
		if found, pathErr := w.VersionOf(ctx, at[1]); pathErr == nil {
			v, name, err = found, at[1], nil
			o.lines, _, err = parseLines(at[2])
		}
	}
	if last, gone := record.Detail[store.Version](err); gone && o.Stored && errors.Is(err, query.ErrRetired) {
		v, err = last, nil
	}
	if err != nil {
		return err
	}
	request := query.BodyRequest{Section: o.Section, Lines: o.lines, Skip: o.skip, MaxTokens: o.MaxTokens}
	if err = w.PrintText(ctx, name, v, request, o.Full); err != nil {
		return err
	}
	said, err := query.View(ctx, w.Store, func(tx *store.Tx) (query.Summary, error) { return query.Summarize(tx, v), nil })
	switch isPart := query.IsPart(said); {
	case err != nil:
	case said.Doubt != "":
		w.Note("it is %s", cli.OneLine(said.Doubt))
	case isPart:
		w.Note("it is %s", said.Status)
	case v.Record.Name.Kind == record.KindKnowledge:
		err = knowledge.NoteStanding(ctx, w, v.Record.Name.String())
	}
	return err
}

// parseLines reads a range of lines: 40-80, 40-, -80 or 40. Behind the first may stand how many of its bytes are
// left out: 40+9000-.
func parseLines(text string) (span query.Span, skip int, err error) {
	if text == "" {
		return span, 0, nil
	}
	first, last, isRange := strings.Cut(text, "-")
	first, more, skips := strings.Cut(first, "+")
	if !isRange {
		last = first
	}
	if span.From = 1; skips {
		skip, err = strconv.Atoi(more)
	}
	if first != "" && err == nil {
		span.From, err = strconv.Atoi(first)
	}
	if last != "" && err == nil {
		span.To, err = strconv.Atoi(last)
	}
	if err != nil || skip < 0 || skips && first == "" || span.From < 1 || last != "" && span.To < span.From || first+last == "" {
		return query.Span{}, 0, cli.UsageError("%q is not a range of lines: write 40-80, 40-, -80 or 40", text)
	}
	return span, skip, nil
}
