package knowledge

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type componentTouch struct {
	Task     string `flag:"task"`
	Notes    string `flag:"notes"`
	Location string `flag:"location"`
}

// TouchedJSON is what a command prints with --json.
type TouchedJSON struct {
	Row
	New  bool   `json:"new"`
	File string `json:"file"` // absolute
}

func (o *componentTouch) Do(ctx context.Context, w *cli.Work, args []string) error {
	rows, err := Knowledge(w).Touch(ctx, Touch{
		Name: args[0], Modified: w.Or(o.Task, "FILEBUS_TASK"), Notes: o.Notes, Location: o.Location,
	})
	if err != nil {
		return err
	}
	view := TouchedJSON{rows[0], rows[0].New, w.FilePath(rows[0].Path)}
	return w.Print(view, "%s", w.Table([][]string{componentRow(rows[0])}))
}

// componentRow returns the cells of a row.
func componentRow(r Row) []string {
	row := []string{r.Name, cmp.Or(r.Modified, "-"), cmp.Or(r.Notes, "-")}
	if r.Location != "" {
		row[0] += " (" + r.Location + ")"
	}
	return row
}

type componentShow struct {
	MaxTokens int `flag:"max-tokens" least:"0"`
}

// ComponentListJSON is what a command prints with --json.
type ComponentListJSON struct {
	Components []Row `json:"components"`
	More       int   `json:"more,omitempty"`
}

func (o *componentShow) Do(ctx context.Context, w *cli.Work, args []string) error {
	name := strings.Join(args, "")
	rows, err := Knowledge(w).Rows(ctx)
	if name != "" {
		rows, err = Knowledge(w).Find(ctx, name)
	}
	if err != nil {
		return err
	}
	w.NoteNotHere(ctx, record.KindComponent)
	table := markdown.Each(rows, componentRow)
	return w.PresentTable(table, cli.Presentation{
		MaxTokens: o.MaxTokens, What: name, None: "the context map has no rows",
		Rest: "--max-tokens 0",
		JSON: func(n int) any { return ComponentListJSON{rows[:n], len(rows) - n} },
	})
}

type componentFor struct {
	About string `flag:"about"`
}

func (*componentFor) Prepare(cmd *cobra.Command) { cmd.Args = cobra.ArbitraryArgs } // --about may do

func (o *componentFor) Check(_ *cli.Environ, files []string) error {
	if len(files) == 0 && o.About == "" {
		return cli.Coded(record.Usage, "filebus component show", cli.UsageError("no files and no --about were given"))
	}
	return nil
}

func (o *componentFor) Do(ctx context.Context, w *cli.Work, files []string) error {
	files = cli.WorkspaceFiles(w, files)
	matches, err := Knowledge(w).For(ctx, files, o.About)
	if err != nil {
		return err
	}
	var table [][]string
	for _, m := range matches {
		table = append(table, append([]string{strconv.Itoa(m.Score)}, componentRow(m.Row)...))
	}
	return w.PresentTable(table, cli.Presentation{
		What: strings.Join(files, " "), None: "no component has to do with them",
		JSON: func(int) any { return ComponentForJSON{matches} },
	})
}

// ComponentForJSON is what a command prints with --json.
type ComponentForJSON struct {
	Components []Match `json:"components"`
}
