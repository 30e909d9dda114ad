package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"filebus/cmd/filebus/cli"
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
}

func (o *getCommand) Check(*cli.Environ, []string) (err error) {
	o.lines, err = parseLines(o.Lines)
	return err
}

// lineOfPath is a path with lines behind it, as searches print it.
var lineOfPath = layout.Pattern(`^(.+):([0-9]+(?:-[0-9]*)?)$`)

func (o *getCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	name := args[0]
	v, err := w.VersionOf(ctx, name)
	if at := lineOfPath().FindStringSubmatch(name); at != nil && errors.Is(err, store.ErrNotFound) && o.Lines == "" {
		if found, pathErr := w.VersionOf(ctx, at[1]); pathErr == nil {
			v, name, err = found, at[1], nil
			o.lines, err = parseLines(at[2])
		}
	}
	if last, gone := record.Detail[store.Version](err); gone && o.Stored && errors.Is(err, query.ErrRetired) {
		v, err = last, nil
	}
	if err != nil {
		return err
	}
	request := query.BodyRequest{Section: o.Section, Lines: o.lines, MaxTokens: o.MaxTokens}
	return w.PrintText(ctx, name, v, request, o.Full)
}

// parseLines reads a range of lines: 40-80, 40-, -80 or 40.
func parseLines(text string) (query.Span, error) {
	if text == "" {
		return query.Span{}, nil
	}
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	span, err := query.Span{From: 1}, error(nil)
	if first != "" {
		span.From, err = strconv.Atoi(first)
	}
	if last != "" && err == nil {
		span.To, err = strconv.Atoi(last)
	}
	if err != nil || span.From < 1 || last != "" && span.To < span.From || first+last == "" {
		return query.Span{}, cli.UsageError("%q is not a range of lines: write 40-80, 40-, -80 or 40", text)
	}
	return span, nil
}
