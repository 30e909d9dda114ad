package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/knowledge"
	"filebus/store/record"
)

func newComponentCommand(env *environ) *cobra.Command {
	return newGroup("component", newComponentTouchCommand(env), newComponentShowCommand(env),
		newComponentForCommand(env))
}

func newComponentTouchCommand(env *environ) *cobra.Command {
	var t knowledge.Touch
	cmd := newCommand("touch NAME", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		t.Name = args[0]
		return runComponentTouch(ctx, env, t)
	})
	flags := cmd.Flags()
	flags.StringVar(&t.Task, "task", "", "")
	flags.StringVar(&t.Notes, "notes", "", "")
	flags.StringVar(&t.Location, "location", "", "")
	return cmd
}

type touchedJSON struct {
	knowledge.Row
	New  bool   `json:"new"`
	File string `json:"file"` // absolute
}

func runComponentTouch(ctx context.Context, env *environ, t knowledge.Touch) error {
	t.Task = env.or(t.Task, "FILEBUS_TASK")
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	rows, err := s.base().Touch(ctx, t)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(touchedJSON{rows[0], rows[0].New, s.FilePath(rows[0].Path)})
	}
	env.printTable([][]string{componentRow(rows[0])})
	return nil
}

// componentRow returns the cells of a row.
func componentRow(r knowledge.Row) []string {
	row := []string{r.Name, orDash(r.Modified), orDash(r.Notes)}
	if r.Location != "" {
		row[0] += " (" + r.Location + ")"
	}
	return row
}

func newComponentShowCommand(env *environ) *cobra.Command {
	maxTokens := 0
	cmd := newCommand("show [NAME]", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
		return runComponentShow(ctx, env, maxTokens, strings.Join(args, ""))
	})
	cmd.Flags().IntVar(&maxTokens, "max-tokens", 1000, "")
	return cmd
}

type componentListJSON struct {
	Components []knowledge.Row `json:"components"`
	More       int             `json:"more,omitempty"`
}

func runComponentShow(ctx context.Context, env *environ, maxTokens int, name string) error {
	if maxTokens < 0 {
		return usageError("--max-tokens %d is negative", maxTokens)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	b := s.base()
	var rows []knowledge.Row
	if name == "" {
		rows, err = b.Rows(ctx)
	} else {
		rows, err = b.Find(ctx, name)
	}
	if err != nil {
		return err
	}
	var table [][]string
	for _, row := range rows {
		table = append(table, componentRow(row))
	}
	printed, err := s.present(presentation{
		entries: len(rows), maxTokens: maxTokens, op: "component show", what: name,
		json: func(n int) any { return componentListJSON{rows[:n], len(rows) - n} },
		text: func(n int) string { return env.table(table[:n]) },
	})
	switch more := len(rows) - printed; {
	case err != nil || env.global.json:
		return err
	case len(rows) == 0:
		env.note("the context map has no rows")
	case more > 0:
		env.note("%d more of %s; filebus component for FILE, or --max-tokens 0", more, plural(len(rows), "component"))
	}
	return nil
}

func newComponentForCommand(env *environ) *cobra.Command {
	about := ""
	cmd := newCommand("for FILE...", cobra.ArbitraryArgs, func(ctx context.Context, args []string) error {
		files := args
		if len(files) == 0 && about == "" {
			return coded(record.Usage, "filebus component show", usageError("no files and no --about were given"))
		}
		s, err := env.openFresh(ctx)
		if err != nil {
			return err
		}
		for i, file := range files {
			if p, err := intoPath(env, s, file); err == nil && p != "" {
				files[i] = p
			}
		}
		matches, err := s.base().For(ctx, files, about)
		if err != nil {
			return err
		}
		var table [][]string
		for _, m := range matches {
			table = append(table, append([]string{strconv.Itoa(m.Score)}, componentRow(m.Row)...))
		}
		_, err = s.present(presentation{
			op: "component for", what: strings.Join(files, " "),
			json: func(int) any { return componentForJSON{matches} },
			text: func(int) string { return env.table(table) },
		})
		if len(table) == 0 && !env.global.json {
			env.note("no component concerns them")
		}
		return err
	})
	cmd.Flags().StringVar(&about, "about", "", "")
	return cmd
}

type componentForJSON struct {
	Components []knowledge.Match `json:"components"`
}
