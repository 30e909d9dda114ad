package main

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

type getCommand struct {
	Section   string `flag:"section"`
	Lines     string `flag:"lines"`
	MaxTokens int    `flag:"max-tokens" least:"0"`

	lines query.Span
}

func (o *getCommand) check(*environ, []string) (err error) {
	o.lines, err = parseLines(o.Lines)
	return err
}

func (o *getCommand) run(ctx context.Context, w *workspace, args []string) error {
	v, err := w.resolve(ctx, args[0])
	if err != nil {
		return err
	}
	return w.printBody(ctx, "get", v, query.BodyRequest{Section: o.Section, Lines: o.lines, MaxTokens: o.MaxTokens})
}

// printBody prints a body, or a part of it.
func (w *workspace) printBody(ctx context.Context, op string, v store.Version, request query.BodyRequest) error {
	var buffer bytes.Buffer
	var out io.Writer = w.out
	if w.global.json {
		out = &buffer
	}
	result, err := w.read.WriteBody(ctx, out, v, request)
	if err != nil {
		return err
	}
	w.logRead(op, v.Record.Name.String(), result.Tokens)
	if w.global.json {
		return w.printJSON(toBodyJSON(v, result, buffer.Bytes()))
	}
	return nil
}

// A bodyJSON is a body in JSON: as text, or in base64 if it is not UTF-8.
type bodyJSON struct {
	Name   record.Name     `json:"name"`
	Ref    record.ShortRef `json:"ref"`
	Lines  lineRange       `json:"lines,omitzero"`
	Tokens int             `json:"tokens"`
	Left   int             `json:"left,omitempty"`
	Text   *string         `json:"text,omitempty"`
	Base64 []byte          `json:"base64,omitempty"`
}

// A lineRange is a Span as an object.
type lineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

func toBodyJSON(v store.Version, result query.BodyResult, body []byte) bodyJSON {
	b := bodyJSON{
		Name: v.Record.Name, Ref: record.ShortRef(v.Ref), Lines: lineRange(result.Lines), Tokens: result.Tokens,
		Left: result.Left,
	}
	if text := string(body); utf8.ValidString(text) {
		b.Text = &text
	} else {
		b.Base64 = body
	}
	return b
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
		return query.Span{}, usageError("%q is not a range of lines: write 40-80, 40-, -80 or 40", text)
	}
	return span, nil
}

// maxCompletions is how many names a shell is offered.
const maxCompletions = 200

// completeNames completes the name of a record.
func completeNames(env *environ) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s, err := env.open(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		names, err := s.read.Complete(cmd.Context(), typed, maxCompletions)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveDefault
	}
}
