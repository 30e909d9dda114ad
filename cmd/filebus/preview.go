package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/result"
	"filebus/store/record"
)

type previewOptions struct {
	preview    int
	structured bool
}

func newPreviewCommand(env *environ) *cobra.Command {
	var opts previewOptions
	cmd := newCommand("preview FILE|NAME|-", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runPreview(ctx, env, opts, args[0])
	})
	cmd.Flags().IntVar(&opts.preview, "preview", 0, "")
	cmd.Flags().BoolVar(&opts.structured, "structured", false, "")
	return cmd
}

// A previewJSON is a preview and its reasons in JSON.
type previewJSON struct {
	markdown.PreviewChoice
	WordCount int    `json:"word_count"`
	Tokens    int    `json:"tokens"`
	Partial   bool   `json:"partial,omitempty"` // only the beginning was read and counted
	Stored    string `json:"stored,omitempty"`  // the preview of the record, if it is another
}

func runPreview(ctx context.Context, env *environ, opts previewOptions, arg string) error {
	limit, err := opts.limit(env)
	if err != nil {
		return err
	}
	size := int64(materialize.DescribeLimit)
	if opts.structured {
		size = result.MaxStructured
	}
	in, err := readInput(ctx, env, arg, size)
	if err != nil {
		return err
	}
	view := previewJSON{
		PreviewChoice: opts.choose(env, in.text, limit),
		WordCount:     markdown.Words(in.text), Tokens: record.EstimateTokens(in.size), Partial: !in.whole,
	}
	switch view.Rule {
	case markdown.PreviewBinary:
		view.WordCount = 0
		fallthrough
	case markdown.PreviewEmpty:
		view.Text = materialize.EmptyPreview(in.text, in.size)
	}
	if in.stored != view.Text {
		view.Stored = in.stored
	}
	if env.global.json {
		return env.printJSON(view)
	}
	env.printTable(view.rows())
	return nil
}

// limit returns the most characters that a preview may have here.
func (o previewOptions) limit(env *environ) (int, error) {
	if o.preview < 0 {
		return 0, usageError("--preview %d: a preview has at least one character", o.preview)
	}
	if o.preview > 0 {
		return o.preview, nil
	}
	at, err := env.locate()
	if err != nil {
		return materialize.DefaultPreview, nil // without a store nothing is configured
	}
	settings, err := env.settings(at)
	return cmp.Or(settings.Preview, materialize.DefaultPreview), err
}

// choose returns the preview of a text. With --structured the summary of an object
// within it comes first.
func (o previewOptions) choose(env *environ, text []byte, limit int) markdown.PreviewChoice {
	if o.structured {
		object, problem := result.FindObject(text)
		if problem != nil {
			env.note("put --structured would store it as invalid: %s", problem.Error())
			return markdown.ExplainPreview(text, limit)
		}
		if choice := markdown.ExplainPreview(object, limit); choice.Rule == markdown.PreviewSummary {
			choice.Line += bytes.Count(text[:bytes.LastIndex(text, object)], []byte("\n")) // the last one counts
			return choice
		}
		env.note(`the JSON object has no string "summary"`)
	}
	return markdown.ExplainPreview(text, limit)
}

// rows returns what people are shown.
func (p previewJSON) rows() [][]string {
	rows := [][]string{{"preview", p.Text}, {"why", p.why()}}
	if p.Stored != "" {
		rows = append(rows, []string{"stored", p.Stored})
	}
	if len(p.Skipped) > 0 {
		rows = append(rows, []string{"skipped", p.skipped()})
	}
	words := strconv.Itoa(p.WordCount)
	if p.Partial {
		words += " in the part that was read"
	}
	return append(rows, []string{"words", words}, []string{"tokens", "~" + strconv.Itoa(p.Tokens)})
}

// why says in words which rule chose the preview.
func (p previewJSON) why() string {
	switch p.Rule {
	case markdown.PreviewBinary:
		return "the text is binary"
	case markdown.PreviewEmpty:
		return "the text is empty"
	}
	why := cmp.Or(map[markdown.PreviewRule]string{
		markdown.PreviewSummary:   `the "summary" of the JSON object`,
		markdown.PreviewParagraph: "the first paragraph",
		markdown.PreviewList:      "a sentence that ends in a colon, with the list after it",
		markdown.PreviewSentence:  "no paragraph, so the first field that is a sentence",
		markdown.PreviewBeginning: `neither a paragraph nor a "summary", so the text as it begins`,
	}[p.Rule], "no paragraph, so the first "+string(p.Rule))
	why += fmt.Sprintf(", line %d", p.Line)
	if p.Cut {
		why += ", cut"
	}
	return why
}

// maxSkippedShown is how many pieces are shown to people.
const maxSkippedShown = 12

func (p previewJSON) skipped() string {
	var pieces []string
	for _, s := range p.Skipped[:min(len(p.Skipped), maxSkippedShown)] {
		piece := fmt.Sprintf("%s %d-%d", s.What, s.Lines[0], s.Lines[1])
		if s.Lines[0] == s.Lines[1] {
			piece = fmt.Sprintf("%s %d", s.What, s.Lines[0])
		}
		pieces = append(pieces, piece)
	}
	if more := len(p.Skipped) - len(pieces); more > 0 {
		pieces = append(pieces, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(pieces, ", ")
}
