package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/query"
	"filebus/store/record"
)

// conflictView is what conflicts prints of one pair.
type conflictView struct {
	Name  record.Name `json:"name"`
	Store record.Ref  `json:"store,omitzero"` // that is current; zero if the name was retired
	File  record.Ref  `json:"file"`           // of the file's side
	Time  string      `json:"time"`
}

type conflictsJSON[view any] struct {
	Conflicts []view `json:"conflicts"`
}

func runConflicts(ctx context.Context, w *cli.Work, _ []string) error {
	open, err := w.Conflicts(ctx)
	if err != nil {
		return err
	}
	var views []conflictView
	var rows [][]string
	for _, c := range open {
		v := conflictView{Name: c.Name, File: c.File.Ref, Time: record.FormatTime(c.File.Record.Time)}
		head := "hidden"
		if c.Head != nil {
			v.Store, head = c.Head.Ref, c.Head.Ref.Short()
		}
		views = append(views, v)
		rows = append(rows, []string{v.Name.String(), "store " + head, "file " + c.File.Ref.Short(), v.Time[:19] + "Z"})
	}
	return w.PresentTable(rows, cli.Presentation{JSON: func(int) any { return conflictsJSON[conflictView]{views} },
		None: "no conflicts"})
}

// conflictsOf returns the open conflicts of a name, of which there is at least
// one.
func conflictsOf(ctx context.Context, w *cli.Work, text string) ([]materialize.Conflict, error) {
	all, err := w.Conflicts(ctx)
	if err != nil {
		return nil, err
	}
	isMeant := func(c materialize.Conflict) bool { return c.Name.String() == text || c.Name.ID == text }
	var open []materialize.Conflict
	for _, c := range all {
		switch {
		case !isMeant(c):
		case len(open) > 0 && open[0].Name != c.Name:
			return nil, cli.Coded(record.Usage, "", fmt.Errorf("%q can be %s or %s", text, open[0].Name, c.Name))
		default:
			open = append(open, c)
		}
	}
	if len(open) == 0 {
		return nil, cli.Coded(record.NotFound, "filebus conflicts", fmt.Errorf("%s: %w", text, errNoConflict))
	}
	return open, nil
}

func showConflict(ctx context.Context, w *cli.Work, args []string) error {
	open, err := conflictsOf(ctx, w, args[0])
	if err != nil {
		return err
	}
	type sides struct {
		Name  record.Name `json:"name"`
		Store *string     `json:"store"` // the text; null if the name was retired
		File  string      `json:"file"`
	}
	var views []sides
	for _, c := range open {
		file, err := w.TextOf(ctx, c.File)
		v := sides{Name: c.Name, File: string(file)}
		if c.Head != nil && err == nil {
			var text []byte
			text, err = w.TextOf(ctx, *c.Head)
			stored := string(text)
			if _, notFrame := record.DecodeFrame("", file); c.Name.Kind == record.KindFrame && notFrame != nil {
				var whole strings.Builder // as the file's side is
				_, err = w.Reader.WriteBody(ctx, &whole, *c.Head, query.BodyRequest{})
				stored = whole.String()
			}
			v.Store = &stored
		}
		if err != nil {
			return err
		}
		views = append(views, v)
	}
	if w.Global.JSON {
		return w.PrintJSON(conflictsJSON[sides]{views})
	}
	for _, v := range views {
		stored := "(hidden)\n"
		if v.Store != nil {
			stored = withNewline(*v.Store)
		}
		w.Printf("=== %s: store\n%s=== %s: file\n%s", v.Name, stored, v.Name, withNewline(v.File))
	}
	return nil
}

func withNewline(text string) string {
	if text == "" || text[len(text)-1] != '\n' {
		return text + "\n"
	}
	return text
}

type conflictResolve struct {
	Take string `flag:"take" need:"yes" of:"store file both"`
}

func (o *conflictResolve) Do(ctx context.Context, w *cli.Work, args []string) error {
	open, err := conflictsOf(ctx, w, args[0])
	if err != nil {
		return err
	}
	for range open[1:] { // each needs the head that the one before left
		if err := resolveOldest(ctx, w, args[0], "store"); err != nil {
			return err
		}
	}
	if len(open) > 1 {
		w.Note("of %d file versions the newest counts; the others stay readable by ref", len(open))
	}
	return resolveOldest(ctx, w, args[0], o.Take)
}

func resolveOldest(ctx context.Context, w *cli.Work, text, take string) error {
	open, err := conflictsOf(ctx, w, text)
	if err != nil {
		return err
	}
	c := open[len(open)-1]
	kept, err := w.Resolve(ctx, c, take)
	if err != nil {
		return err
	}
	switch take {
	case "file":
		w.Note("%s now has the file's text", kept)
	case "both":
		w.Note("the file's text is %s", kept)
	default:
		w.Note("%s stays as the store has it", c.Name)
	}
	return nil
}

// errNoConflict is a conflict asked for that is not open.
var errNoConflict = errors.New("no open conflict")
