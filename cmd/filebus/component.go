package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/knowledge"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type componentTouch struct {
	Task     string `flag:"task"`
	Notes    string `flag:"notes"`
	Location string `flag:"location"`
}

type touchedJSON struct {
	knowledge.Row
	New  bool   `json:"new"`
	File string `json:"file"` // absolute
}

func (o *componentTouch) run(ctx context.Context, w *workspace, args []string) error {
	rows, err := w.knowledge().Touch(ctx, knowledge.Touch{
		Name: args[0], Modified: w.or(o.Task, "FILEBUS_TASK"), Notes: o.Notes, Location: o.Location,
	})
	if err != nil {
		return err
	}
	view := touchedJSON{rows[0], rows[0].New, w.FilePath(rows[0].Path)}
	return w.print(view, "%s", w.table([][]string{componentRow(rows[0])}))
}

// componentRow returns the cells of a row.
func componentRow(r knowledge.Row) []string {
	row := []string{r.Name, cmp.Or(r.Modified, "-"), cmp.Or(r.Notes, "-")}
	if r.Location != "" {
		row[0] += " (" + r.Location + ")"
	}
	return row
}

type componentShow struct {
	MaxTokens int `flag:"max-tokens" least:"0"`
}

type componentListJSON struct {
	Components []knowledge.Row `json:"components"`
	More       int             `json:"more,omitempty"`
}

func (o *componentShow) run(ctx context.Context, w *workspace, args []string) error {
	name := strings.Join(args, "")
	rows, err := w.knowledge().Rows(ctx)
	if name != "" {
		rows, err = w.knowledge().Find(ctx, name)
	}
	if err != nil {
		return err
	}
	w.noteNotHere(ctx, record.KindComponent)
	table := markdown.Each(rows, componentRow)
	return w.presentTable(table, presentation{
		maxTokens: o.MaxTokens, what: name, none: "the context map has no rows",
		rest: "--max-tokens 0",
		json: func(n int) any { return componentListJSON{rows[:n], len(rows) - n} },
	})
}

type componentFor struct {
	About string `flag:"about"`
}

func (*componentFor) prepare(cmd *cobra.Command) { cmd.Args = cobra.ArbitraryArgs } // --about may do

func (o *componentFor) check(_ *environ, files []string) error {
	if len(files) == 0 && o.About == "" {
		return coded(record.Usage, "filebus component show", usageError("no files and no --about were given"))
	}
	return nil
}

func (o *componentFor) run(ctx context.Context, w *workspace, files []string) error {
	files = workspaceFiles(w, files)
	matches, err := w.knowledge().For(ctx, files, o.About)
	if err != nil {
		return err
	}
	var table [][]string
	for _, m := range matches {
		table = append(table, append([]string{strconv.Itoa(m.Score)}, componentRow(m.Row)...))
	}
	return w.presentTable(table, presentation{
		what: strings.Join(files, " "), none: "no component concerns them",
		json: func(int) any { return componentForJSON{matches} },
	})
}

type componentForJSON struct {
	Components []knowledge.Match `json:"components"`
}
