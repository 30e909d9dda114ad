package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// taskCommands are the commands of tasks.
func taskCommands() []command {
	wait := creating("wait TASK...", &waitCommand{waitFlags: usualWait()})
	return []command{wait, group("task",
		plain("start [ID]", &taskStart{}),
		existing("prompt ID", runFunc(printTaskPrompt)),
		existing("note ID TEXT...", runFunc(noteTask)),
		existing("handoff ID", &taskHandoff{}),
		existing("done ID", &taskDone{}),
		existing("fail ID", &taskEnd{outcome: layout.StatusFailed}),
		existing("block ID", &taskEnd{outcome: layout.StatusBlocked}),
		fresh("show ID", &taskShow{MaxTokens: taskTokens}),
		fresh("next [FOLDER]", &taskNext{Limit: 1}),
		fresh("list [FOLDER]", &taskList{Late: defaultLate, MaxTokens: taskTokens}),
	)}
}

// board returns the tasks of a workspace.
func (w *workspace) board() *task.Tasks { return task.New(w.Workspace, w.read, w.now) }

// findTask returns the tasks, and reads the id of one to look it up or to change it.
func (w *workspace) findTask(ctx context.Context, text string) (*task.Tasks, task.ID, error) {
	b := w.board()
	id, err := b.Find(text, w.paths())
	if err == nil {
		return b, id, nil
	}
	if found, _ := b.Entries(ctx, text); len(found) == 1 { // else the first error says it
		err = record.Conflict.Errorf("%s is an entry of %s, which is only read", found[0].Name.ID, found[0].Path).
			Try("filebus task show {1}", found[0].Name.ID)
	}
	return b, id, err
}

// task returns the id of the task that somebody works on, as a flag or FILEBUS_TASK names it.
func (e *environ) task(flag string) (id task.ID, err error) {
	if text := e.or(flag, "FILEBUS_TASK"); text != "" {
		id, err = task.ParseID(text)
	}
	return id, err
}

func printTaskPrompt(ctx context.Context, w *workspace, args []string) error {
	b, id, err := w.findTask(ctx, args[0])
	if err != nil {
		return err
	}
	title := ""
	j, err := b.Get(ctx, id)
	switch {
	case errors.Is(err, task.ErrNotStarted):
		w.note("%s was not started yet: filebus task start %s", id, record.ShellWord(string(id)))
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
	b, id, err := w.findTask(ctx, args[0])
	if err != nil {
		return err
	}
	put, err := b.Note(ctx, id, line)
	if err != nil {
		return err
	}
	return w.print(taskNoteJSON{id, put.Name, record.ShortRef(put.Ref)}, "")
}

type taskNoteJSON struct {
	Task task.ID         `json:"task"`
	Name record.Name     `json:"name"`
	Ref  record.ShortRef `json:"ref"`
}

type taskShow struct {
	Tree      string `flag:"tree"`
	Full      bool   `flag:"full"`
	MaxTokens int    `flag:"max-tokens"`
}

// taskTokens is how long a handoff, and a list of tasks, may be.
const taskTokens = 1000

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

func (o *taskShow) run(ctx context.Context, w *workspace, args []string) error {
	b, id, err := w.findTask(ctx, args[0])
	if err != nil {
		return o.showEntry(ctx, w, args[0], err)
	}
	read := b.Look // as it is on disk
	if w.global.noSync {
		read = b.Get
	}
	j, err := read(ctx, id)
	if o.Tree != "" || errors.Is(err, task.ErrNotStarted) {
		return o.showRecords(ctx, w, id, err)
	}
	if err != nil {
		return err
	}
	shown, maxTokens := shownHandoff(j), o.MaxTokens
	if o.Full {
		shown, maxTokens = strings.TrimSuffix(string(j.Text), "\n"), 0
	}
	if !w.global.json && !o.Full {
		shown = strings.TrimRight(emptyRow().ReplaceAllString(shown, ""), "\n")
	}
	cut := func(n int) string {
		if n < len(shown) {
			return shortened(shown, n) + fmt.Sprintf("\n… cut: filebus task show %s --max-tokens 0\n", j.ID)
		}
		return shown + "\n"
	}
	_, err = w.present(presentation{
		entries: len(shown), maxTokens: maxTokens, what: id.String(),
		json: func(n int) any { return taskView(j, o.Full, cut(n)) },
		text: cut,
	})
	switch {
	case err != nil, j.Handoff != nil, o.Full, w.global.json:
	default:
		err = w.noteNoHandoff(ctx, j)
	}
	return err
}

// noteNoHandoff says of a task without a handoff whether it has ended, as wait does, and
// what in its journal looks like one.
func (w *workspace) noteNoHandoff(ctx context.Context, j *task.Journal) error {
	id := record.ShellWord(j.ID.String())
	s, err := w.board().Standing(ctx, j.ID.String())
	switch line, heading := layout.NearHandoff(j.Text); {
	case err != nil:
	case line > 0:
		w.note("line %d of the journal of %s, %q, heads no handoff: that is called \"## Handoff\"", line, id, oneLine(heading))
	case s.Outcome != "" && !layout.HasEnded(j.State()):
		w.note("%s has ended without a handoff by its marker, but its journal does not say so: filebus task show %[1]s --full", id)
	case s.Outcome != "": // no marker may ever come
		w.note("%s has ended without a handoff: filebus task show %[1]s --full", id)
	default:
		w.note("%s has not handed over yet: filebus wait %[1]s", id)
	}
	return err
}

// showRecords shows what reports and queues say of a task that has no journal here.
func (o *taskShow) showRecords(ctx context.Context, w *workspace, id task.ID, notStarted error) error {
	records, err := w.board().Records(ctx, record.Tree(o.Tree), id)
	if len(records) == 0 && o.Tree != "" {
		notStarted = record.NotFound.Errorf("the tree %s has no task %s", o.Tree, id).
			Try("filebus task list --tree {1}", o.Tree)
	}
	if len(records) == 0 || err != nil {
		return o.showEntry(ctx, w, string(id), cmp.Or(err, notStarted))
	}
	var lines []string
	for _, s := range records {
		what := "  " + s.Ref.String() + "  " + cmp.Or(s.Status, "no status") + "  " + oneLine(s.Agent)
		lines = append(lines, w.bold(oneLine(s.Name.String()))+strings.TrimRight(what, " "),
			"  "+oneLine(s.Title), "  "+oneLine(s.Description.Preview))
	}
	return w.presentLines(lines, presentation{
		maxTokens: o.MaxTokens, what: id.String(), json: func(int) any { return taskRecordsJSON{id, records} },
	})
}

// showEntry shows the entry of a file that an id means which is no journal's, or returns why there is none.
func (o *taskShow) showEntry(ctx context.Context, w *workspace, id string, none error) error {
	found, err := w.board().Entries(ctx, id)
	switch {
	case err != nil || len(found) == 0 || o.Tree != "":
		return cmp.Or(err, none)
	case len(found) > 1:
		names := markdown.Each(found, func(s query.Summary) string { return s.Name.ID })
		return coded(record.Usage, "filebus task show "+record.ShellWord(names[0]), usageError("%s may be %s", id, firstNames(names)))
	}
	return w.showRecord(ctx, found[0].Name.String(), o.MaxTokens)
}

type taskRecordsJSON struct {
	Task    task.ID         `json:"task"`
	Records []query.Summary `json:"records"`
}

func taskView(j *task.Journal, full bool, text string) taskShowJSON {
	r := j.Version.Record
	view := taskShowJSON{
		Task: j.ID, Name: r.Name, Ref: record.ShortRef(j.Version.Ref), Title: j.Task, Status: j.Journal.State(),
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

// progressLines says how far a task is.
func progressLines(j *task.Journal) []string {
	line := fmt.Sprintf("%s  %s", j.ID, cmp.Or(j.Journal.State(), "no status"))
	if j.Started != "" {
		line += "  started " + oneLine(j.Started)
	}
	said := func(p layout.Progress) string { return cutText(strings.TrimSpace(p.Time + " " + p.Text)) }
	const lastNotes = 3 // how many lines of progress stand for a handoff
	return append([]string{line}, markdown.Each(j.Progress[max(0, len(j.Progress)-lastNotes):], said)...)
}

type taskList struct {
	Tree      string        `flag:"tree"`
	Running   bool          `flag:"running" not:"open"`
	Open      bool          `flag:"open"`
	Late      time.Duration `flag:"late"`
	MaxTokens int           `flag:"max-tokens" least:"0"`
}

func (o *taskList) check(*environ, []string) error { return checkLate(o.Late) }

func (o *taskList) run(ctx context.Context, w *workspace, args []string) error {
	folder := append(args, "")[0]
	items, err := w.board().List(ctx, task.ListOptions{Tree: record.Tree(o.Tree), Running: o.Running, Late: o.Late})
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(i task.Item) bool {
		return !task.IsOf(i.ID, folder) || o.Open && (i.Marked || layout.HasEnded(i.Status))
	})
	if len(items) == 0 && folder != "" {
		return record.NotFound.Errorf("no such task begins with %s", folder).Try("filebus task list")
	}
	rows := markdown.Each(items, taskRow)
	none := "no tasks"
	if o.Tree != "" {
		none += " in the tree " + o.Tree
	}
	return w.presentTable(rows, presentation{
		maxTokens: o.MaxTokens, none: none, rest: "--max-tokens 0",
		json: func(n int) any { return taskListJSON{items[:n], len(items) - n} },
	})
}

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
	status := cmp.Or(i.Status, "-")
	if i.Late {
		status += " LATE"
	}
	age := layout.DurationText(time.Duration(i.Seconds) * time.Second)
	if i.From != task.FromJournal {
		age, marker = "-", i.From
	}
	return []string{i.ID, status, age, cutText(cmp.Or(i.Agent, "-")), marker, i.Title}
}

type taskNext struct {
	Limit int `flag:"limit" least:"0"`
}

type taskNextJSON struct {
	Tasks   []task.Item `json:"tasks"`
	More    int         `json:"more,omitempty"` // that can be begun besides
	Waiting []task.Item `json:"waiting"`        // where none can be begun
}

// run prints what can be begun, or else what the others wait for.
func (o *taskNext) run(ctx context.Context, w *workspace, args []string) error {
	folder := append(args, "")[0]
	ready, waiting, err := w.board().Next(ctx, folder)
	if err != nil {
		return err
	}
	first := func(all []task.Item) []task.Item { return all[:min(cmp.Or(o.Limit, len(all)), len(all))] }
	view := taskNextJSON{Tasks: first(ready), More: len(ready) - len(first(ready))}
	rows := markdown.Each(view.Tasks, func(i task.Item) []string { return []string{i.ID, i.Title} })
	if len(ready) == 0 {
		view.Waiting = first(waiting)
		rows = markdown.Each(view.Waiting, func(i task.Item) []string {
			return []string{i.ID, "waits for " + firstNames(i.BlockedBy), i.Title}
		})
	}
	if len(rows) == 0 {
		return record.NotFound.Errorf("%s", strings.TrimSpace("no task is open and not begun "+folder)).Try("filebus task list")
	}
	return w.presentTable(rows, presentation{json: func(int) any { return view }, left: view.More, rest: "--limit 0"})
}
