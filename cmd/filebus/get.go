package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

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

	lines query.Span
}

func (o *getCommand) check(*environ, []string) (err error) {
	o.lines, err = parseLines(o.Lines)
	return err
}

// lineOfPath is a path with lines behind it, as searches print it.
var lineOfPath = layout.Pattern(`^(.+):([0-9]+(?:-[0-9]*)?)$`)

func (o *getCommand) run(ctx context.Context, w *workspace, args []string) error {
	name := args[0]
	v, err := w.resolve(ctx, name)
	if at := lineOfPath().FindStringSubmatch(name); at != nil && errors.Is(err, store.ErrNotFound) && o.Lines == "" {
		if found, pathErr := w.resolve(ctx, at[1]); pathErr == nil {
			v, name, err = found, at[1], nil
			o.lines, err = parseLines(at[2])
		}
	}
	if err != nil {
		return err
	}
	request := query.BodyRequest{Section: o.Section, Lines: o.lines, MaxTokens: o.MaxTokens}
	return w.printText(ctx, name, v, request, o.Full)
}

// printText prints the text that a user's name means, or a part of it. Unless all is
// wanted, long lines are cut for people and where lines are asked for.
func (w *workspace) printText(
	ctx context.Context, name string, v store.Version, request query.BodyRequest, all bool,
) error {
	if !all && (request.Lines != (query.Span{}) || w.outTerminal && !w.global.json) {
		request.LineBytes = maxLine
	}
	w.noteIfAltered(ctx, v.Record.Name)
	if err := w.textHere(name, v, &request); err != nil {
		return err
	}
	return w.printBody(ctx, name, v, request)
}

// maxLine is how much of a line is printed where lines are asked for, in bytes: about 2,000
// tokens.
const maxLine = 8 << 10

// noteLong says which lines were printed only in part.
func (e *environ) noteLong(text string, long []query.LongLine) {
	for _, l := range long[:min(shownProblems, len(long))] {
		e.note("%s of line %d left out; filebus get %s --lines %d --full prints all of it",
			byteSize(l.Left), l.Line, record.ShellWord(text), l.Line)
	}
	if more := len(long) - shownProblems; more > 0 {
		e.note("%s cut as well; --full prints all of them", plural(more, "more line"))
	}
}

// textHere makes a request read the file that a user's text names by its path, if that
// has another text than the version. It is said.
func (w *workspace) textHere(text string, v store.Version, request *query.BodyRequest) error {
	if w.global.noSync || !w.paths().IsPath(text, v.Record) {
		return nil
	}
	file, size, _, err := w.TextHere(v)
	switch {
	case err != nil || file == nil:
		return err
	case v.Record.Name.Kind != record.KindFrame:
		w.note("this is the file as it stands here; filebus get %s prints the text that the store has", v.Record.Name)
	}
	request.Size = size
	request.Open = func() (io.ReadCloser, error) { // as often as needed, until the command ends
		_, err := file.Seek(0, io.SeekStart)
		return io.NopCloser(file), err
	}
	return nil
}

// noteIfAltered says that a file which is written once was changed, and is not what counts.
func (w *workspace) noteIfAltered(ctx context.Context, name record.Name) {
	if file := w.AlteredFile(ctx, name); file != "" {
		w.note(alteredText, oneLine(file))
	}
}

const alteredText = "%s was changed since it was written: what is stored counts; filebus sync --repair writes it back, and keeps the change"

// printBody prints a body, or a part of it.
func (w *workspace) printBody(ctx context.Context, name string, v store.Version, request query.BodyRequest) error {
	var buffer bytes.Buffer
	var out io.Writer = w.out
	if w.global.json {
		out = &buffer
	}
	result, err := w.read.WriteBody(ctx, out, v, request)
	if err != nil {
		return err
	}
	w.said.What = v.Record.Name.String()
	w.noteLong(name, result.Long)
	if w.call != nil {
		w.call.left = result.Left
	}
	if !w.global.json {
		return nil
	}
	b := bodyJSON{
		Name: v.Record.Name, Ref: record.ShortRef(v.Ref), Lines: lineRange(result.Lines), Tokens: result.Tokens,
		Left: result.Left, Long: result.Long,
	}
	if text := buffer.String(); utf8.ValidString(text) {
		b.Text = &text
	} else {
		b.Base64 = buffer.Bytes()
	}
	return w.printJSON(b)
}

type bodyJSON struct {
	Name   record.Name      `json:"name"`
	Ref    record.ShortRef  `json:"ref"`
	Lines  lineRange        `json:"lines,omitzero"`
	Tokens int              `json:"tokens"`
	Left   int              `json:"left,omitempty"`
	Long   []query.LongLine `json:"cut_lines,omitempty"`
	Text   *string          `json:"text,omitempty"`
	Base64 []byte           `json:"base64,omitempty"`
}

// A lineRange is a Span as an object.
type lineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
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
