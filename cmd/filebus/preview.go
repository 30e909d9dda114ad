package main

import (
	"cmp"
	"context"
	"strconv"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type previewCommand struct {
	Preview    int  `flag:"preview"`
	Structured bool `flag:"structured"`
}

func (o *previewCommand) check(*environ, []string) error { return checkPreview(o.Preview) }

type previewJSON struct {
	Preview   string `json:"preview"`
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
		Preview:   cmp.Or(o.choose(w.environ, in.text, limit), materialize.EmptyPreview(in.text, in.size)),
		WordCount: markdown.Words(in.text), Tokens: record.EstimateTokens(in.size), Partial: !in.whole,
	}
	if markdown.IsBinary(in.text) {
		view.WordCount = 0
	}
	if in.stored != view.Preview {
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
func (o *previewCommand) choose(env *environ, text []byte, limit int) string {
	if o.Structured {
		object, problem := result.FindObject(text)
		summary, found := markdown.SummaryPreview(object, limit)
		switch {
		case problem != nil:
			env.note("put --structured would store it as invalid: %s", problem.Error())
		case found:
			return summary
		default:
			env.note(`the JSON object has no string "summary"`)
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
