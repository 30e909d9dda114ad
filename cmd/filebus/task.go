package main

import (
	"context"
	"errors"
	"strings"

	"filebus/materialize/task"
	"filebus/store/record"
)

// taskCommands are the commands of tasks.
func taskCommands() []command {
	return []command{
		plain("start ID", &taskStart{}),
		plain("prompt ID", runFunc(printTaskPrompt)),
		plain("note ID TEXT...", runFunc(noteTask)),
		plain("handoff ID", &taskHandoff{}),
		plain("done ID", &taskDone{}),
		plain("fail ID", &taskEnd{outcome: task.Failed}),
		plain("block ID", &taskEnd{outcome: task.Blocked}),
		plain("show ID", &taskShow{MaxTokens: taskTokens}),
		fresh("list", &taskList{Late: defaultLate, MaxTokens: taskTokens}),
	}
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

type taskStart struct {
	Title   string   `flag:"title"`
	Agent   string   `flag:"agent"`
	Run     string   `flag:"run"`
	Loop    string   `flag:"loop"`
	Depends []string `flag:"depends"`
	Focus   string   `flag:"focus"`
	Restart bool     `flag:"restart"`
}

func (o *taskStart) run(ctx context.Context, w *workspace, args []string) error {
	id, err := task.ParseID(args[0])
	if err != nil {
		return err
	}
	r := task.StartRequest{
		Title: o.Title, Agent: w.or(o.Agent, "FILEBUS_AGENT"), Run: w.or(o.Run, "FILEBUS_RUN"), Loop: o.Loop,
		Focus: o.Focus, Restart: o.Restart,
	}
	for _, text := range o.Depends {
		id, err := task.ParseID(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		r.Depends = append(r.Depends, id)
	}
	if w, err = w.create(ctx); err != nil {
		return err
	}
	started, err := w.board().Start(ctx, id, r)
	if err != nil {
		return err
	}
	if started.Cleared > 0 {
		w.remark("cleared %s of an earlier %s", plural(started.Cleared, "marker"), id)
	}
	return w.print(started, "%s  %s\njournal  %s\nmarker   %s\n", started.Name, started.Ref,
		oneLine(started.Journal), oneLine(started.Marker))
}

func printTaskPrompt(ctx context.Context, w *workspace, args []string) error {
	b, id, err := w.openBoard(ctx, args[0])
	if err != nil {
		return err
	}
	title := ""
	j, err := b.Get(ctx, id)
	switch {
	case errors.Is(err, task.ErrNotStarted):
		w.note("%s was not started yet: filebus task start %s", id, id)
	case err != nil:
		return err
	default:
		title = j.Task
	}
	p := b.Prompt(id, title)
	return w.print(p, "%s", p.Text)
}

func noteTask(ctx context.Context, w *workspace, args []string) error {
	line := strings.Join(args[1:], " ")
	if strings.TrimSpace(line) == "" {
		return usageError("there is nothing to note")
	}
	b, id, err := w.openBoard(ctx, args[0])
	if err != nil {
		return err
	}
	put, err := b.Note(ctx, id, line)
	if err != nil {
		return err
	}
	return w.print(taskNoteJSON{id, put.Name, record.ShortRef(put.Ref)}, "")
}

// A taskNoteJSON is a journal that got a line, in JSON.
type taskNoteJSON struct {
	Task task.ID         `json:"task"`
	Name record.Name     `json:"name"`
	Ref  record.ShortRef `json:"ref"`
}
