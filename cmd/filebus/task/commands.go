package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// Commands are the commands of tasks.
func Commands() []cli.Command {
	wait := cli.Creating("wait TASK...", &waitCommand{WaitFlags: cli.UsualWait()})
	return []cli.Command{wait, cli.Group("task",
		cli.Plain("start [ID]", &taskStart{}),
		cli.Existing("prompt ID", cli.RunFunc(printTaskPrompt)),
		cli.Existing("note ID TEXT...", cli.RunFunc(noteTask)),
		cli.Existing("handoff ID", &taskHandoff{}),
		cli.Existing("done ID", &taskDone{}),
		cli.Existing("fail ID", &taskEnd{outcome: layout.StatusFailed}),
		cli.Existing("block ID", &taskEnd{outcome: layout.StatusBlocked}),
		cli.Fresh("show ID", &taskShow{MaxTokens: taskTokens}),
		cli.Fresh("next [FOLDER]", &taskNext{Limit: 1}),
		cli.Fresh("list [FOLDER]", &taskList{Late: DefaultLate, MaxTokens: taskTokens}),
	)}
}

// Of returns the tasks of a workspace.
func Of(w *cli.Work) *Tasks { return New(w.Workspace, w.Reader, w.Now) }

// FindTask returns the tasks, and reads the id of one to look it up or to change it.
func FindTask(ctx context.Context, w *cli.Work, text string) (*Tasks, ID, error) {
	b := Of(w)
	id, err := b.Find(text, w.Paths())
	if err == nil {
		return b, id, nil
	}
	if entry, entryErr := b.meant(ctx, text); entry != nil {
		if own := journalOf(entry); isThere(b.journalFile(own)) {
			return b, own, nil
		}
		err = record.Conflict.Errorf("%s is an entry of %s, and has no journal here", entry.Name.ID, entry.Path).
			Try("filebus task start {1}", entry.Name.ID)
	} else if entryErr != nil {
		err = entryErr
	}
	return b, id, err
}

// GivenID returns the id of the task that somebody works on, as a flag or FILEBUS_TASK names it.
func GivenID(e *cli.Environ, flag string) (id ID, err error) {
	if text := e.Or(flag, "FILEBUS_TASK"); text != "" {
		id, err = ParseID(text)
	}
	return id, err
}

func printTaskPrompt(ctx context.Context, w *cli.Work, args []string) error {
	b, id, err := FindTask(ctx, w, args[0])
	if err != nil {
		return err
	}
	title := ""
	j, err := b.Get(ctx, id)
	switch {
	case errors.Is(err, ErrNotStarted):
		w.Note("%s was not started yet: filebus task start %s", id, record.ShellWord(string(id)))
	case err != nil:
		return err
	default:
		title = j.Task
	}
	p := b.Prompt(id, title)
	return w.Print(p, "%s", p.Text)
}

func noteTask(ctx context.Context, w *cli.Work, args []string) error {
	line := strings.Join(args[1:], " ")
	if strings.TrimSpace(line) == "" {
		return cli.UsageError("there is nothing to note")
	}
	b, id, err := FindTask(ctx, w, args[0])
	if err != nil {
		return err
	}
	put, err := b.Note(ctx, id, line)
	if err != nil {
		return err
	}
	return w.Print(TaskNoteJSON{id, put.Name, record.ShortRef(put.Ref)}, "")
}

// TaskNoteJSON is what a command prints with --json.
type TaskNoteJSON struct {
	Task ID              `json:"task"`
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

// TaskShowJSON is what a command prints with --json.
type TaskShowJSON struct {
	Task      ID              `json:"task"`
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

func (o *taskShow) Do(ctx context.Context, w *cli.Work, args []string) error {
	b, id, err := FindTask(ctx, w, args[0])
	if err != nil {
		return o.showEntry(ctx, w, args[0], err)
	}
	read := b.Look // as it is on disk
	if w.Global.NoSync {
		read = b.Get
	}
	j, err := read(ctx, id)
	if o.Tree != "" || errors.Is(err, ErrNotStarted) {
		return o.showRecords(ctx, w, id, err)
	}
	if err != nil {
		return err
	}
	shown, maxTokens := shownHandoff(j), o.MaxTokens
	if o.Full {
		shown, maxTokens = strings.TrimSuffix(string(j.Text), "\n"), 0
	}
	if !w.Global.JSON && !o.Full {
		shown = strings.TrimRight(emptyRow().ReplaceAllString(shown, ""), "\n")
	}
	cut := func(n int) string {
		if n < len(shown) {
			return cli.Shortened(shown, n) + fmt.Sprintf("\n… cut: filebus task show %s --max-tokens 0\n", j.ID)
		}
		return shown + "\n"
	}
	_, err = w.Present(cli.Presentation{
		Entries: len(shown), MaxTokens: maxTokens, What: id.String(),
		JSON: func(n int) any { return taskView(j, o.Full, cut(n)) },
		Text: cut,
	})
	switch {
	case err != nil, j.Handoff != nil, o.Full, w.Global.JSON:
	default:
		err = noteNoHandoff(ctx, w, j)
	}
	return err
}

// noteNoHandoff says of a task without a handoff whether it has ended, as wait does, and
// what in its journal looks like one.
func noteNoHandoff(ctx context.Context, w *cli.Work, j *Journal) error {
	id := record.ShellWord(j.ID.String())
	s, err := Of(w).Standing(ctx, j.ID.String())
	switch line, heading, seems := layout.NearHandoff(j.Text); {
	case err != nil:
	case seems:
		w.Note("line %d of the journal of %s, %q, heads no handoff: that is called \"## Handoff\"", line, id,
			cli.OneLine(heading))
	case s.Outcome != "" && !layout.HasEnded(j.State()):
		w.Note("%s has ended without a handoff by its marker, but its journal does not say so: filebus task show %[1]s --full", id)
	case s.Outcome != "" && line > 0:
		w.Note("%s has ended without a handoff; if line %d of its journal, %q, heads one, that is called \"## Handoff\"", id, line,
			cli.OneLine(heading))
	case s.Outcome != "": // no marker may ever come
		w.Note("%s has ended without a handoff: filebus task show %[1]s --full", id)
	default:
		w.Note("%s has not handed over yet: filebus wait %[1]s", id)
	}
	return err
}

// showRecords shows what reports and queues say of a task that has no journal here.
func (o *taskShow) showRecords(ctx context.Context, w *cli.Work, id ID, notStarted error) error {
	records, err := Of(w).Records(ctx, record.Tree(o.Tree), id)
	if len(records) == 0 && o.Tree != "" {
		notStarted = record.NotFound.Errorf("the tree %s has no task %s", o.Tree, id).
			Try("filebus task list --tree {1}", o.Tree)
	}
	if len(records) == 0 || err != nil || o.Tree == "" && query.IsDeclared(records[0]) {
		return o.showEntry(ctx, w, string(id), cmp.Or(err, notStarted))
	}
	var lines []string
	for _, s := range records {
		what := "  " + s.Ref.String() + "  " + cmp.Or(s.Status, "no status") + "  " + cli.OneLine(s.Agent)
		lines = append(lines, w.Bold(cli.OneLine(s.Name.String()))+strings.TrimRight(what, " "),
			"  "+cli.OneLine(s.Title), "  "+cli.OneLine(s.Description.Preview))
	}
	return w.PresentLines(lines, cli.Presentation{
		MaxTokens: o.MaxTokens, What: id.String(), JSON: func(int) any { return taskRecordsJSON{id, records} },
	})
}

// showEntry shows the entry of a file that an id means which is no journal's, or returns why there is none.
func (o *taskShow) showEntry(ctx context.Context, w *cli.Work, id string, none error) error {
	found, err := Of(w).Entries(ctx, id)
	switch {
	case err == nil && len(found) == 0 && o.Tree == "":
		return o.showFolder(ctx, w, id, none)
	case err != nil || o.Tree != "":
		return cmp.Or(err, none)
	case len(found) > 1:
		names := markdown.Each(found, func(s query.Summary) string { return s.Name.ID })
		return cli.Coded(record.Usage, "filebus task show "+record.ShellWord(names[0]),
			cli.UsageError("%s may be %s", id, cli.FirstNames(names)))
	}
	return w.ShowRecord(ctx, found[0].Name.String(), o.MaxTokens)
}

// showFolder shows what the files of a spec, a change or a track say, by a name or number that several tasks begin with.
func (o *taskShow) showFolder(ctx context.Context, w *cli.Work, id string, none error) error {
	found, err := Of(w).folders(ctx, id)
	if len(found) > 1 {
		return cli.Coded(record.Usage, "filebus task show "+record.ShellWord(found[0]), cli.UsageError("%s may be %s", id, cli.FirstNames(found)))
	}
	var joined []query.Joined
	for _, folder := range found {
		joined, err = w.Reader.Joined(ctx, "", folder, "")
		id = folder
	}
	if err != nil || len(joined) == 0 {
		return cmp.Or(err, none)
	}
	return w.PresentLines(append([]string{w.Bold(cli.OneLine(id))}, cli.Led("  ", markdown.Each(joined, cli.JoinedLine))...), cli.Presentation{
		MaxTokens: o.MaxTokens, What: id, JSON: func(int) any { return taskFolderJSON{id, joined} },
	})
}

type taskFolderJSON struct {
	Task   string         `json:"task"`
	Joined []query.Joined `json:"joined"`
}

type taskRecordsJSON struct {
	Task    ID              `json:"task"`
	Records []query.Summary `json:"records"`
}

func taskView(j *Journal, full bool, text string) TaskShowJSON {
	r := j.Version.Record
	view := TaskShowJSON{
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
func shownHandoff(j *Journal) string {
	start, end, found := layout.HandoffSection(j.Text)
	if !found {
		return strings.Join(progressLines(j), "\n")
	}
	return strings.TrimRight(string(j.Text[start:end]), "\n")
}

// progressLines says how far a task is.
func progressLines(j *Journal) []string {
	line := fmt.Sprintf("%s  %s", j.ID, cmp.Or(j.Journal.State(), "no status"))
	if j.Started != "" {
		line += "  started " + cli.OneLine(j.Started)
	}
	said := func(p layout.Progress) string { return cli.CutText(strings.TrimSpace(p.Time + " " + p.Text)) }
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

func (o *taskList) Check(*cli.Environ, []string) error { return CheckLate(o.Late) }

func (o *taskList) Do(ctx context.Context, w *cli.Work, args []string) error {
	folder := append(args, "")[0]
	items, err := Of(w).List(ctx, ListOptions{Tree: record.Tree(o.Tree), Running: o.Running, Late: o.Late})
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(i Item) bool {
		return !i.isOf(folder) || o.Open && (i.Marked || !layout.IsLeft(i.Status))
	})
	if len(items) == 0 && folder != "" {
		return record.NotFound.Errorf("no such task begins with %s", folder).Try("filebus task list")
	}
	rows := markdown.Each(items, taskRow)
	none := "no tasks"
	if o.Tree != "" {
		none += " in the tree " + o.Tree
	}
	return w.PresentTable(rows, cli.Presentation{
		MaxTokens: o.MaxTokens, None: none, Rest: "--max-tokens 0",
		JSON: func(n int) any { return TaskListJSON{items[:n], len(items) - n} },
	})
}

// TaskListJSON is what a command prints with --json.
type TaskListJSON struct {
	Tasks []Item `json:"tasks"`
	More  int    `json:"more,omitempty"` // that were left out
}

// taskRow returns the row of a task in a table.
func taskRow(i Item) []string {
	marker := "no marker"
	if i.Marked {
		marker = "marker"
	}
	status := cmp.Or(i.Status, "-")
	if i.Late {
		status += " LATE"
	}
	for _, e := range i.Elsewhere {
		status += ", " + e.Status + " in " + cli.OneLine(path.Base(e.Path))
	}
	age := layout.DurationText(time.Duration(i.Seconds) * time.Second)
	if i.From != FromJournal {
		age, marker = "-", i.From
	}
	return []string{i.ID, status, age, cli.CutText(cmp.Or(i.Agent, "-")), marker, i.Title}
}

type taskNext struct {
	Limit int `flag:"limit" least:"0"`
}

type taskNextJSON struct {
	Tasks   []Item `json:"tasks"`
	More    int    `json:"more,omitempty"` // that can be begun besides
	Waiting []Item `json:"waiting"`        // where none can be begun
}

// Do prints what can be begun, or else what the others wait for.
func (o *taskNext) Do(ctx context.Context, w *cli.Work, args []string) error {
	folder := append(args, "")[0]
	ready, waiting, err := Of(w).Next(ctx, folder)
	if err != nil {
		return err
	}
	first := func(all []Item) []Item { return all[:min(cmp.Or(o.Limit, len(all)), len(all))] }
	view := taskNextJSON{Tasks: first(ready), More: len(ready) - len(first(ready))}
	rows := markdown.Each(view.Tasks, func(i Item) []string { return []string{i.ID, i.Title} })
	if len(ready) == 0 {
		view.Waiting = first(waiting)
		rows = markdown.Each(view.Waiting, func(i Item) []string {
			return []string{i.ID, "waits for " + cli.FirstNames(i.BlockedBy), i.Title}
		})
	}
	if len(rows) == 0 {
		return record.NotFound.Errorf("%s", strings.TrimSpace("no task is open and not begun "+folder)).Try("filebus task list")
	}
	return w.PresentTable(rows, cli.Presentation{JSON: func(int) any { return view }, Left: view.More, Rest: "--limit 0"})
}

// DefaultLate is how long a task usually takes at most.
const DefaultLate = 30 * time.Minute

// CheckLate refuses a time after which tasks are late that is not positive.
func CheckLate(late time.Duration) error {
	if late <= 0 {
		return cli.UsageError("--late %v: give a time of more than 0", late)
	}
	return nil
}
