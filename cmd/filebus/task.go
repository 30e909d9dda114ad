package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/task"
	"filebus/store/record"
)

func newTaskCommand(env *environ) *cobra.Command {
	return newGroup("task",
		newTaskStartCommand(env), newTaskPromptCommand(env), newTaskNoteCommand(env), newTaskHandoffCommand(env),
		newTaskVerbCommand(env, "done ID", ""), newTaskVerbCommand(env, "fail ID", task.Failed),
		newTaskVerbCommand(env, "block ID", task.Blocked), newTaskShowCommand(env), newTaskListCommand(env),
	)
}

// board returns the tasks of a workspace.
func (w *workspace) board() *task.Board { return task.New(w.Workspace, w.read, w.now) }

// openBoard opens the tasks to change them.
func (e *environ) openBoard(ctx context.Context, text string) (*task.Board, task.ID, error) {
	id, err := task.ParseID(text)
	if err != nil {
		return nil, "", err
	}
	s, err := e.open(ctx)
	if err != nil {
		return nil, "", err
	}
	return s.board(), id, nil
}

type taskStartOptions struct {
	task.StartRequest
	depends []string
}

func newTaskStartCommand(env *environ) *cobra.Command {
	var opts taskStartOptions
	cmd := newCommand("start ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runTaskStart(ctx, env, opts, args[0])
	})
	flags := cmd.Flags()
	flags.StringVar(&opts.Title, "title", "", "")
	flags.StringVar(&opts.Agent, "agent", "", "")
	flags.StringVar(&opts.Run, "run", "", "")
	flags.StringVar(&opts.Loop, "loop", "", "")
	flags.StringSliceVar(&opts.depends, "depends", nil, "")
	flags.StringVar(&opts.Focus, "focus", "", "")
	flags.BoolVar(&opts.Restart, "restart", false, "")
	return cmd
}

// request returns what the flags and the environment say of a start.
func (o taskStartOptions) request(env *environ) (task.StartRequest, error) {
	r := o.StartRequest
	r.Agent, r.Run = env.or(r.Agent, "FILEBUS_AGENT"), env.or(r.Run, "FILEBUS_RUN")
	for _, text := range o.depends {
		id, err := task.ParseID(strings.TrimSpace(text))
		if err != nil {
			return r, err
		}
		r.Depends = append(r.Depends, id)
	}
	return r, nil
}

func runTaskStart(ctx context.Context, env *environ, opts taskStartOptions, text string) error {
	id, err := task.ParseID(text)
	if err != nil {
		return err
	}
	r, err := opts.request(env)
	if err != nil {
		return err
	}
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	started, err := s.board().Start(ctx, id, r)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(started)
	}
	if started.Cleared > 0 {
		env.note("cleared %s of an earlier %s", plural(started.Cleared, "marker"), id)
	}
	env.printf("%s  %s\njournal  %s\nmarker   %s\n", started.Name, started.Ref, oneLine(started.Journal),
		oneLine(started.Marker))
	return nil
}

func newTaskPromptCommand(env *environ) *cobra.Command {
	return newCommand("prompt ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		text := args[0]
		b, id, err := env.openBoard(ctx, text)
		if err != nil {
			return err
		}
		title := ""
		j, err := b.Get(ctx, id)
		switch {
		case errors.Is(err, task.ErrNotStarted):
			env.note("%s was not started yet: filebus task start %s", id, id)
		case err != nil:
			return err
		default:
			title = j.Task
		}
		p := b.Prompt(id, title)
		if env.global.json {
			return env.printJSON(p)
		}
		env.printf("%s", p.Text)
		return nil
	})
}

func newTaskNoteCommand(env *environ) *cobra.Command {
	return newCommand("note ID TEXT...", cobra.MinimumNArgs(2), func(ctx context.Context, args []string) error {
		text := args[0]
		line := strings.Join(args[1:], " ")
		if strings.TrimSpace(line) == "" {
			return usageError("there is nothing to note")
		}
		b, id, err := env.openBoard(ctx, text)
		if err != nil {
			return err
		}
		put, err := b.Note(ctx, id, line)
		if err != nil {
			return err
		}
		if env.global.json {
			return env.printJSON(taskNoteJSON{id, put.Name, record.ShortRef(put.Ref)})
		}
		return nil
	})
}

// A taskNoteJSON is a journal that got a line, in JSON.
type taskNoteJSON struct {
	Task task.ID         `json:"task"`
	Name record.Name     `json:"name"`
	Ref  record.ShortRef `json:"ref"`
}
