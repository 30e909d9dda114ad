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

type getOptions struct {
	section   string
	lines     string
	maxTokens int
}

func newGetCommand(env *environ) *cobra.Command {
	var opts getOptions
	cmd := newCommand("get [flags] NAME", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runGet(ctx, env, opts, args[0])
	})
	cmd.ValidArgsFunction = completeNames(env)
	cmd.Flags().StringVar(&opts.section, "section", "", "")
	cmd.Flags().StringVar(&opts.lines, "lines", "", "")
	cmd.Flags().IntVar(&opts.maxTokens, "max-tokens", 0, "")
	return cmd
}

func runGet(ctx context.Context, env *environ, opts getOptions, text string) error {
	lines, err := parseLines(opts.lines)
	if err != nil {
		return err
	}
	if opts.maxTokens < 0 {
		return usageError("--max-tokens %d is negative", opts.maxTokens)
	}
	s, v, err := env.find(ctx, text)
	if err != nil {
		return err
	}
	request := query.BodyRequest{Section: opts.section, Lines: lines, MaxTokens: opts.maxTokens}
	var buffer bytes.Buffer
	var out io.Writer = env.out
	if env.global.json {
		out = &buffer
	}
	result, err := s.read.WriteBody(ctx, out, v, request)
	if err != nil {
		return err
	}
	s.logRead("get", v.Record.Name.String(), result.Tokens)
	if env.global.json {
		return env.printJSON(toBodyJSON(v, result, buffer.Bytes()))
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
		return query.Span{}, usageError("%q is no range of lines: write 40-80, 40-, -80 or 40", text)
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
