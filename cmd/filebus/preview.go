package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/result"
	"filebus/store/record"
)

type previewCommand struct {
	Preview    int  `flag:"preview"`
	Structured bool `flag:"structured"`
}

func (o *previewCommand) check(*environ, []string) error { return checkPreview(o.Preview) }

type previewJSON struct {
	markdown.PreviewChoice
	WordCount int    `json:"word_count"`
	Tokens    int    `json:"tokens"`
	Partial   bool   `json:"partial,omitempty"` // only the beginning was read and counted
	Stored    string `json:"stored,omitempty"`  // the preview of the record, if it is another
}

func (o *previewCommand) run(ctx context.Context, w *workspace, args []string) error {
	limit, err := o.limit(w.environ)
	if err != nil {
		return err
	}
	size := int64(materialize.DescribeLimit)
	if o.Structured {
		size = result.MaxStructured
	}
	w.emptyInput = true
	in, err := w.readInput(ctx, args[0], size)
	if err != nil {
		return err
	}
	view := previewJSON{
		PreviewChoice: o.choose(w.environ, in.text, limit),
		WordCount:     markdown.Words(in.text), Tokens: record.EstimateTokens(in.size), Partial: !in.whole,
	}
	switch view.Rule {
	case "binary":
		view.WordCount = 0
		fallthrough
	case "empty":
		view.Text = materialize.EmptyPreview(in.text, in.size)
	}
	if in.stored != view.Text {
		view.Stored = in.stored
	}
	return w.print(view, "%s", w.table(view.rows()))
}

// limit returns the most characters that a preview may have here.
func (o *previewCommand) limit(env *environ) (int, error) {
	if o.Preview > 0 {
		return o.Preview, nil
	}
	at, err := env.locate()
	if err != nil {
		return materialize.DefaultPreview, nil // without a store nothing is configured
	}
	settings, err := env.usualSettings(at)
	return cmp.Or(settings.Preview, materialize.DefaultPreview), err
}

// choose returns the preview of a text. With --structured the summary of an object
// within it comes first.
func (o *previewCommand) choose(env *environ, text []byte, limit int) markdown.PreviewChoice {
	if o.Structured {
		object, problem := result.FindObject(text)
		if problem != nil {
			env.note("put --structured would store it as invalid: %s", problem.Error())
			return markdown.ExplainPreview(text, limit)
		}
		if choice := markdown.ExplainPreview(object, limit); choice.Rule == "summary" {
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
	case "binary":
		return "the text is binary"
	case "empty":
		return "the text is empty"
	}
	why := cmp.Or(map[string]string{
		"summary":          "what the JSON object says of itself",
		"paragraph":        "the first paragraph",
		"list":             "a sentence that ends in a colon, with the list after it",
		"sentence":         "no paragraph, so the first field that is a sentence",
		"first characters": `neither a paragraph nor a "summary", so the text as it begins`,
	}[p.Rule], "no paragraph, so the first "+strings.Replace(p.Rule, "status", "line of status", 1))
	why += fmt.Sprintf(", line %d", p.Line)
	if p.Cut {
		why += ", cut"
	}
	return why
}

func (p previewJSON) skipped() string {
	var pieces []string
	const maxSkippedShown = 12 // how many pieces are shown to people
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
