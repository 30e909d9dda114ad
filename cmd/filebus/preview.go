package main

import (
	"cmp"
	"context"
	"strconv"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type previewCommand struct {
	Preview    int  `flag:"preview"`
	Structured bool `flag:"structured"`
}

func (o *previewCommand) Check(*cli.Environ, []string) error { return result.CheckPreview(o.Preview) }

type previewJSON struct {
	Preview   string `json:"preview"`
	WordCount int    `json:"word_count"`
	Tokens    int    `json:"tokens"`
	Partial   bool   `json:"partial,omitempty"` // only the beginning was read and counted
	Stored    string `json:"stored,omitempty"`  // the preview of the record, if it is another
}

func (o *previewCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	limit, err := o.limit(w.Environ)
	if err != nil {
		return err
	}
	size := int64(materialize.DescribeLimit)
	if o.Structured {
		size = result.MaxStructured
	}
	w.EmptyInput = true
	in, err := w.ReadInput(ctx, args[0], size)
	if err != nil {
		return err
	}
	view := previewJSON{
		Preview:   cmp.Or(o.choose(w.Environ, in.Text, limit), materialize.EmptyPreview(in.Text, in.Size)),
		WordCount: markdown.Words(in.Text), Tokens: record.EstimateTokens(in.Size), Partial: !in.Whole,
	}
	if markdown.IsBinary(in.Text) {
		view.WordCount = 0
	}
	if in.Stored != view.Preview {
		view.Stored = in.Stored
	}
	return w.Print(view, "%s", w.Table(view.rows()))
}

// limit returns the most characters that a preview may have here.
func (o *previewCommand) limit(env *cli.Environ) (int, error) {
	if o.Preview > 0 {
		return o.Preview, nil
	}
	at, err := env.Locate()
	if err != nil {
		return materialize.DefaultPreview, nil // without a store nothing is configured
	}
	settings, err := env.UsualSettings(at)
	return cmp.Or(settings.Preview, materialize.DefaultPreview), err
}

// choose returns the preview of a text. With --structured the summary of an object
// within it comes first.
func (o *previewCommand) choose(env *cli.Environ, text []byte, limit int) string {
	if o.Structured {
		object, problem := result.FindObject(text)
		summary, found := markdown.SummaryPreview(object, limit)
		switch {
		case problem != nil:
			env.Note("put --structured would store it as invalid: %s", problem.Error())
		case found:
			return summary
		default:
			env.Note(`the JSON object has no string "summary"`)
		}
	}
	return markdown.Preview(text, limit)
}

// rows returns what people are shown.
func (p previewJSON) rows() [][]string {
	rows := [][]string{{"preview", p.Preview}}
	if p.Stored != "" {
		rows = append(rows, []string{"stored", p.Stored})
	}
	words := strconv.Itoa(p.WordCount)
	if p.Partial {
		words += " in the part that was read"
	}
	return append(rows, []string{"words", words}, []string{"tokens", "~" + strconv.Itoa(p.Tokens)})
}
