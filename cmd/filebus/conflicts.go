package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/store/record"
)

func newConflictsCommand(env *environ) *cobra.Command {
	cmd := newCommand("conflicts", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runConflicts(ctx, env)
	})
	show := newCommand("show NAME", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runConflictsShow(ctx, env, args[0])
	})
	var take string
	resolve := newCommand("resolve NAME --take store|file|both", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runConflictsResolve(ctx, env, args[0], take)
	})
	resolve.Flags().StringVar(&take, "take", "", "")
	// The flag exists, so marking it cannot fail.
	_ = resolve.MarkFlagRequired("take")
	cmd.AddCommand(show, resolve)
	return cmd
}

// conflictView is what conflicts prints of one pair.
type conflictView struct {
	Name  record.Name `json:"name"`
	Store record.Ref  `json:"store,omitzero"` // that is current; zero if the name was retired
	File  record.Ref  `json:"file"`           // of the file's side
	Time  string      `json:"time"`
}

func runConflicts(ctx context.Context, env *environ) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	open, err := w.Conflicts(ctx, record.Name{})
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
	if env.global.json {
		return env.printJSON(views)
	}
	if len(open) == 0 {
		env.note("no conflicts")
	}
	env.printTable(rows)
	return nil
}

// oneConflict returns the open conflicts of a name, of which there is at least
// one.
func conflictsOf(ctx context.Context, w *workspace, text string) ([]materialize.Conflict, error) {
	name, err := record.ParseName(text)
	if err != nil {
		return nil, coded(record.Usage, "", err)
	}
	open, err := w.Conflicts(ctx, name)
	if err == nil && len(open) == 0 {
		err = coded(record.NotFound, "filebus conflicts lists them", fmt.Errorf("%s: %w", name, errNoConflict))
	}
	return open, err
}

func runConflictsShow(ctx context.Context, env *environ, text string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	open, err := conflictsOf(ctx, w, text)
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
			v.Store = &stored
		}
		if err != nil {
			return err
		}
		views = append(views, v)
	}
	if env.global.json {
		return env.printJSON(views)
	}
	for _, v := range views {
		stored := "(hidden)\n"
		if v.Store != nil {
			stored = withNewline(*v.Store)
		}
		env.printf("=== %s: store\n%s=== %s: file\n%s", v.Name, stored, v.Name, withNewline(v.File))
	}
	return nil
}

func withNewline(text string) string {
	if text == "" || text[len(text)-1] != '\n' {
		return text + "\n"
	}
	return text
}

func runConflictsResolve(ctx context.Context, env *environ, text, side string) error {
	take, err := materialize.ParseTake(side)
	if err != nil {
		return coded(record.Usage, "", err)
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	open, err := conflictsOf(ctx, w, text)
	if err != nil {
		return err
	}
	if len(open) > 1 {
		// Each needs the head that the one before left.
		for range open[1:] {
			if err := resolveNewest(ctx, env, w, text, materialize.TakeStore); err != nil {
				return err
			}
		}
		env.note("of %d file versions the newest counts; the others stay readable by ref", len(open))
	}
	return resolveNewest(ctx, env, w, text, take)
}

func resolveNewest(ctx context.Context, env *environ, w *workspace, text string, take materialize.Take) error {
	open, err := conflictsOf(ctx, w, text)
	if err != nil {
		return err
	}
	c := open[0]
	if len(open) > 1 {
		c = open[len(open)-1] // the oldest first
	}
	kept, err := w.Resolve(ctx, c, take)
	if err != nil {
		return err
	}
	switch take {
	case materialize.TakeFile:
		env.note("%s now has the file's text", kept)
	case materialize.TakeBoth:
		env.note("the file's text is %s", kept)
	default:
		env.note("%s stays as the store has it", c.Name)
	}
	return nil
}

// errNoConflict is a conflict asked for that is not open.
var errNoConflict = errors.New("no open conflict")
