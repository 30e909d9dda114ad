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
	cmd := &cobra.Command{
		Use:  "component",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newComponentTouchCommand(env), newComponentShowCommand(env), newComponentForCommand(env))
	return cmd
}

// contextMap returns the context map of a workspace.
func (e *environ) contextMap(s *session) *knowledge.Map { return knowledge.NewMap(s.Workspace, s.read) }

// A componentJSON is a row of the context map.
type componentJSON struct {
	Component string `json:"component"`
	Task      string `json:"task,omitempty"` // that changed it last
	Location  string `json:"location,omitempty"`
	Notes     string `json:"notes,omitempty"`
}

func componentView(row knowledge.Row) componentJSON {
	return componentJSON{row.Name, row.Modified, row.Location, row.Notes}
}

func newComponentTouchCommand(env *environ) *cobra.Command {
	var t knowledge.Touch
	cmd := &cobra.Command{
		Use:  "touch NAME",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.Name = args[0]
			return runComponentTouch(cmd.Context(), env, t)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.Task, "task", "", "")
	flags.StringVar(&t.Notes, "notes", "", "")
	flags.StringVar(&t.Location, "location", "", "")
	return cmd
}

type touchedJSON struct {
	componentJSON
	New  bool   `json:"new"`
	File string `json:"file"` // absolute
}

func runComponentTouch(ctx context.Context, env *environ, t knowledge.Touch) error {
	t.Task = env.or(t.Task, "FILEBUS_TASK")
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	row, isNew, err := env.contextMap(s).Touch(ctx, t)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(touchedJSON{componentView(row), isNew, validText(s.FilePath(row.Path))})
	}
	env.printTable([][]string{componentRow(componentView(row))})
	return nil
}

// componentRow returns the cells of a row.
func componentRow(c componentJSON) []string {
	row := []string{c.Component, orDash(c.Task), orDash(c.Notes)}
	if c.Location != "" {
		row[0] += " (" + c.Location + ")"
	}
	return row
}

func newComponentShowCommand(env *environ) *cobra.Command {
	maxTokens := 0
	cmd := &cobra.Command{
		Use:  "show [NAME]",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runComponentShow(cmd.Context(), env, maxTokens, strings.Join(args, ""))
		},
	}
	cmd.Flags().IntVar(&maxTokens, "max-tokens", 1000, "")
	return cmd
}

type componentListJSON struct {
	Components []componentJSON `json:"components"`
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
	m := env.contextMap(s)
	var rows []knowledge.Row
	if name == "" {
		rows, err = m.Rows(ctx)
	} else {
		rows, err = m.Find(ctx, name)
	}
	if err != nil {
		return err
	}
	list := componentListJSON{Components: []componentJSON{}}
	var table [][]string
	size := 0
	for i, row := range rows {
		c := componentView(row)
		cells := componentRow(c)
		if size += len(strings.Join(cells, "\t")) + 1; maxTokens > 0 && i > 0 && size > 4*(maxTokens-noteTokens) {
			list.More = len(rows) - i
			break
		}
		table, list.Components = append(table, cells), append(list.Components, c)
	}
	if env.global.json {
		return env.printRead(s, "component show", name, list)
	}
	env.printTable(table)
	env.logRead(s, "component show", name, record.EstimateTokens(int64(size)))
	switch {
	case len(rows) == 0:
		env.note("the context map has no rows")
	case list.More > 0:
		env.note("%d more of %s; filebus component for FILE, or --max-tokens 0", list.More, plural(len(rows), "component"))
	}
	return nil
}

func newComponentForCommand(env *environ) *cobra.Command {
	about := ""
	cmd := &cobra.Command{
		Use: "for FILE...",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runComponentFor(cmd.Context(), env, about, args)
		},
	}
	cmd.Flags().StringVar(&about, "about", "", "")
	return cmd
}

type componentForJSON struct {
	Components []componentMatchJSON `json:"components"`
}

type componentMatchJSON struct {
	componentJSON
	Score int      `json:"score"`
	Files []string `json:"files,omitempty"` // in the component
	Words []string `json:"words,omitempty"` // that its name or notes have
}

func runComponentFor(ctx context.Context, env *environ, about string, files []string) error {
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
	matches, err := env.contextMap(s).For(ctx, files, about)
	if err != nil {
		return err
	}
	list := componentForJSON{Components: []componentMatchJSON{}}
	var table [][]string
	size := 0
	for _, m := range matches {
		c := componentView(m.Row)
		list.Components = append(list.Components, componentMatchJSON{c, m.Score, m.Files, append(m.Words, m.NoteHits...)})
		table = append(table, append([]string{strconv.Itoa(m.Score)}, componentRow(c)...))
		size += len(strings.Join(table[len(table)-1], "\t")) + 1
	}
	if env.global.json {
		return env.printRead(s, "component for", strings.Join(files, " "), list)
	}
	env.printTable(table)
	env.logRead(s, "component for", strings.Join(files, " "), record.EstimateTokens(int64(size)))
	if len(table) == 0 {
		env.note("no component concerns them")
	}
	return nil
}
