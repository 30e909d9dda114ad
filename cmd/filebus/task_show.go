package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	runs "filebus/materialize/run"
	"filebus/materialize/task"
	"filebus/store/record"
)

type taskShowOptions struct {
	full      bool
	maxTokens int
}

// taskTokens is how long a handoff, and a list of tasks, may be.
const taskTokens = 1000

func newTaskShowCommand(env *environ) *cobra.Command {
	var opts taskShowOptions
	cmd := newCommand("show ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runTaskShow(ctx, env, opts, args[0])
	})
	cmd.Flags().BoolVar(&opts.full, "full", false, "")
	cmd.Flags().IntVar(&opts.maxTokens, "max-tokens", taskTokens, "")
	return cmd
}

// A taskShowJSON is a task with its handoff, in JSON.
type taskShowJSON struct {
	Task      task.ID         `json:"task"`
	Name      record.Name     `json:"name"`
	Ref       record.ShortRef `json:"ref"`
	Title     string          `json:"title,omitempty"`
	Status    string          `json:"status"`
	Started   string          `json:"started,omitempty"`
	Completed string          `json:"completed,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Journal   string          `json:"journal"`           // absolute
	Handoff   string          `json:"handoff,omitempty"` // the section
	Text      string          `json:"text,omitempty"`    // the journal, with --full
}

func runTaskShow(ctx context.Context, env *environ, opts taskShowOptions, text string) error {
	id, err := task.ParseID(text)
	if err != nil {
		return err
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	j, err := s.freshJournal(ctx, id)
	if err != nil {
		return err
	}
	shown := shownHandoff(j)
	if opts.full {
		shown, opts.maxTokens = strings.TrimSuffix(string(j.Text), "\n"), 0
	}
	cut := func(n int) string {
		if n < len(shown) {
			return shortened(shown, n) + fmt.Sprintf("\n… cut: filebus task show %s --max-tokens 0\n", j.ID)
		}
		return shown + "\n"
	}
	_, err = s.present(presentation{
		entries: len(shown), maxTokens: opts.maxTokens, op: "task show", what: string(id),
		json: func(n int) any { return taskView(j, opts.full, cut(n)) },
		text: cut,
	})
	if err == nil && j.Handoff == nil && !opts.full && !env.global.json {
		env.note("%s has not handed over yet: filebus wait %s", id, quote(string(id)))
	}
	return err
}

// freshJournal reads a task's journal as it is on disk, if that can be taken in.
func (w *workspace) freshJournal(ctx context.Context, id task.ID) (*task.Journal, error) {
	b := w.board()
	if w.global.noSync {
		return b.Get(ctx, id)
	}
	return b.Look(ctx, id)
}

func taskView(j *task.Journal, full bool, text string) taskShowJSON {
	r := j.Version.Record
	view := taskShowJSON{
		Task: j.ID, Name: r.Name, Ref: record.ShortRef(j.Version.Ref), Title: j.Task, Status: task.Status(&j.Journal),
		Started: j.Started, Completed: j.Completed, Agent: r.Agent, Journal: j.File,
	}
	if full {
		view.Text = string(j.Text)
	} else if j.Handoff != nil {
		view.Handoff = text
	}
	return view
}

// shownHandoff returns the section of the handoff, or where there is none how far
// the task is.
func shownHandoff(j *task.Journal) string {
	start, end, found := layout.HandoffSection(j.Text)
	if !found {
		return strings.Join(progressLines(j), "\n")
	}
	return strings.TrimRight(string(j.Text[start:end]), "\n")
}

// lastNotes is how many lines of progress stand for a handoff.
const lastNotes = 3

// progressLines says how far a task is.
func progressLines(j *task.Journal) []string {
	line := fmt.Sprintf("%s  %s", j.ID, cmp.Or(task.Status(&j.Journal), "no status"))
	if j.Started != "" {
		line += "  started " + oneLine(j.Started)
	}
	lines := []string{line}
	for _, p := range j.Progress[max(0, len(j.Progress)-lastNotes):] {
		lines = append(lines, cutText(strings.TrimSpace(p.Time+" "+p.Text)))
	}
	return lines
}

type taskListOptions struct {
	task.ListOptions
	maxTokens int
}

func newTaskListCommand(env *environ) *cobra.Command {
	var opts taskListOptions
	cmd := newCommand("list", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		if opts.Late <= 0 {
			return usageError("--late %v is no time that a task may take", opts.Late)
		}
		if opts.maxTokens < 0 {
			return usageError("--max-tokens %d is negative", opts.maxTokens)
		}
		s, err := env.openFresh(ctx)
		if err != nil {
			return err
		}
		items, err := s.board().List(ctx, opts.ListOptions)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, item := range items {
			rows = append(rows, taskRow(item))
		}
		printed, err := s.present(presentation{
			entries: len(items), maxTokens: opts.maxTokens, op: "task list",
			json: func(n int) any { return taskListJSON{items[:n], len(items) - n} },
			text: func(n int) string { return env.table(rows[:n]) },
		})
		if more := len(items) - printed; err == nil && more > 0 && !env.global.json {
			env.note("and %s; --max-tokens 0 lists all", plural(more, "more task"))
		}
		return err
	})
	flags := cmd.Flags()
	flags.BoolVar(&opts.Running, "running", false, "")
	flags.DurationVar(&opts.Late, "late", defaultLate, "")
	flags.IntVar(&opts.maxTokens, "max-tokens", taskTokens, "")
	return cmd
}

// A taskListJSON is a list of tasks in JSON.
type taskListJSON struct {
	Tasks []task.Item `json:"tasks"`
	More  int         `json:"more,omitempty"` // that were left out
}

// taskRow returns the row of a task in a table.
func taskRow(i task.Item) []string {
	marker := "no marker"
	if i.Marked {
		marker = "marker"
	}
	status := textOr(i.Status, "-")
	if i.Late {
		status += " LATE"
	}
	age := runs.DurationText(time.Duration(i.Seconds) * time.Second)
	return []string{i.ID, status, age, cutText(textOr(i.Agent, "-")), marker, i.Title}
}
