package main

import (
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
	cmd := &cobra.Command{
		Use:  "show ID",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runTaskShow(cmd.Context(), env, opts, args[0]) },
	}
	cmd.Flags().BoolVar(&opts.full, "full", false, "")
	cmd.Flags().IntVar(&opts.maxTokens, "max-tokens", taskTokens, "")
	return cmd
}

// A taskShowJSON is a task with its handoff, in JSON.
type taskShowJSON struct {
	Task      string `json:"task"`
	Name      string `json:"name"`
	Ref       string `json:"ref"`
	Title     string `json:"title,omitempty"`
	Status    string `json:"status"`
	Started   string `json:"started,omitempty"`
	Completed string `json:"completed,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Journal   string `json:"journal"`           // absolute
	Handoff   string `json:"handoff,omitempty"` // the section
	Text      string `json:"text,omitempty"`    // the journal, with --full
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
	j, err := env.freshJournal(ctx, s, id)
	if err != nil {
		return err
	}
	shown := string(j.Text)
	if !opts.full {
		shown = shownHandoff(j, opts.maxTokens)
	}
	if env.global.json {
		return env.printRead(s, "task show", string(id), taskView(j, opts))
	}
	env.printf("%s", shown)
	if !strings.HasSuffix(shown, "\n") {
		env.printf("\n")
	}
	if j.Handoff == nil && !opts.full {
		env.note("%s has not handed over yet: filebus wait %s", id, quote(string(id)))
	}
	env.logRead(s, "task show", string(id), record.EstimateTokens(int64(len(shown))))
	return nil
}

// freshJournal reads a task's journal as it is on disk, if that can be taken in.
func (e *environ) freshJournal(ctx context.Context, s *session, id task.ID) (*task.Journal, error) {
	b := e.board(s)
	if e.global.noSync {
		return b.Get(ctx, id)
	}
	return b.Look(ctx, id)
}

func taskView(j *task.Journal, opts taskShowOptions) taskShowJSON {
	r := j.Version.Record
	view := taskShowJSON{
		Task: string(j.ID), Name: r.Name.String(), Ref: j.Version.Ref.Short(), Title: j.Task, Status: task.Status(&j.Journal),
		Started: j.Started, Completed: j.Completed, Agent: r.Agent, Journal: validText(j.File),
	}
	if opts.full {
		view.Text = validText(string(j.Text))
	} else if j.Handoff != nil {
		view.Handoff = validText(shownHandoff(j, opts.maxTokens))
	}
	return view
}

// shownHandoff returns the section of the handoff, or where there is none how far
// the task is.
func shownHandoff(j *task.Journal, maxTokens int) string {
	start, end, found := layout.HandoffSection(j.Text)
	text := strings.TrimRight(string(j.Text[start:end]), "\n")
	if !found {
		text = strings.Join(progressLines(j), "\n")
	}
	if maxTokens > 0 && len(text) > 4*maxTokens {
		return shortened(text, 4*maxTokens-80) + fmt.Sprintf("\n… cut: filebus task show %s --max-tokens 0\n", j.ID)
	}
	return text + "\n"
}

// lastNotes is how many lines of progress stand for a handoff.
const lastNotes = 3

// progressLines says how far a task is.
func progressLines(j *task.Journal) []string {
	status := task.Status(&j.Journal)
	if status == "" {
		status = "no status"
	}
	line := fmt.Sprintf("%s  %s", j.ID, status)
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
	cmd := &cobra.Command{
		Use:  "list",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTaskList(cmd.Context(), env, opts) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&opts.Running, "running", false, "")
	flags.DurationVar(&opts.Late, "late", defaultLate, "")
	flags.IntVar(&opts.maxTokens, "max-tokens", taskTokens, "")
	return cmd
}

// A taskListJSON is a list of tasks in JSON.
type taskListJSON struct {
	Tasks []taskItemJSON `json:"tasks"`
	More  int            `json:"more,omitempty"` // that were left out
}

// A taskItemJSON is a task in a list.
type taskItemJSON struct {
	Task    string `json:"task"`
	Status  string `json:"status"`
	Seconds int    `json:"seconds"` // since it began
	Quiet   int    `json:"quiet"`   // seconds since the journal changed
	Agent   string `json:"agent,omitempty"`
	Marker  bool   `json:"marker"`
	Late    bool   `json:"late,omitempty"`
	Title   string `json:"title,omitempty"`
}

func runTaskList(ctx context.Context, env *environ, opts taskListOptions) error {
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
	items, err := env.board(s).List(ctx, opts.ListOptions)
	if err != nil {
		return err
	}
	var rows [][]string
	view := taskListJSON{Tasks: []taskItemJSON{}}
	size := 0
	for i, item := range items {
		row := taskRow(item)
		size += len(strings.Join(row, " ")) + 1
		if opts.maxTokens > 0 && size > 4*opts.maxTokens {
			view.More = len(items) - i
			break
		}
		rows = append(rows, row)
		view.Tasks = append(view.Tasks, taskItemJSON{
			item.ID, item.Status, int(item.Age.Seconds()), int(item.Quiet.Seconds()), item.Agent, item.Marked, item.Late, cutText(item.Title),
		})
	}
	if env.global.json {
		return env.printRead(s, "task list", "", view)
	}
	env.printTable(rows)
	env.logRead(s, "task list", "", size/4)
	if view.More > 0 {
		env.note("and %s; --max-tokens 0 lists all", plural(view.More, "more task"))
	}
	return nil
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
	return []string{i.ID, status, runs.DurationText(i.Age.Truncate(time.Second)), cutText(textOr(i.Agent, "-")), marker, cutText(i.Title)}
}
