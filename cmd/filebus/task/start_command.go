package task

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"regexp"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

type taskStart struct {
	Title   string   `flag:"title"`
	Agent   string   `flag:"agent"`
	Run     string   `flag:"run"`
	Loop    string   `flag:"loop"`
	Depends []string `flag:"depends"`
	Focus   string   `flag:"focus"`
	Restart bool     `flag:"restart"`
	Batch   string   `flag:"batch" not:"title"` // a file
}

func (o *taskStart) Do(ctx context.Context, w *cli.Work, args []string) error {
	if (o.Batch == "") == (len(args) == 0) {
		return cli.UsageError("name a task, or give --batch FILE")
	}
	if o.Batch != "" {
		return o.startBatch(ctx, w)
	}
	id, wrong := ParseID(args[0])
	if wrong != nil && !strings.ContainsAny(args[0], "/#") { // else it may be an entry's
		return wrong
	}
	w, err := w.Create(ctx)
	if err != nil {
		return err
	}
	entry, err := Of(w).meant(ctx, args[0])
	title := o.Title
	if entry != nil {
		id, wrong, title = journalOf(entry), nil, cmp.Or(title, entry.Title)
	}
	if err = cmp.Or(err, wrong); err != nil {
		return err
	}
	started, err := o.start(ctx, w, id, title)
	if err == nil && entry != nil {
		err = tick(ctx, w, entry, layout.StatusInProgress)
	}
	if err != nil {
		return err
	}
	w.RemarkLocal(started.ID.String()+" is started", started.Local)
	return w.Print(started, "%s  %s\njournal  %s\nmarker   %s\n", started.Name, started.Ref,
		cli.OneLine(started.Journal), cli.OneLine(started.Marker))
}

// start starts a task, and tells the session state.
func (o *taskStart) start(ctx context.Context, w *cli.Work, id ID, title string) (*Started, error) {
	w.TakeIn(ctx, record.KindState, "session_state") // by hand, a run may have begun or ended
	run, by := RunOf(ctx, w, o.Run, "")
	r := StartRequest{
		Title: title, Agent: w.Or(o.Agent, "FILEBUS_AGENT"), Run: run, Loop: o.Loop,
		Focus: o.Focus, Restart: o.Restart,
	}
	for _, text := range o.Depends {
		b, on, err := FindTask(ctx, w, strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if _, err = b.Look(ctx, on); err != nil { // it may be a slip, or still to begin
			w.Note("%s", cli.Message(err))
		}
		r.Depends = append(r.Depends, on)
	}
	if err := Of(w).Free(ctx, id, r.Restart); err != nil {
		return nil, err
	}
	w.Settle(ctx, w) // how it ended before: its marker goes
	started, err := Of(w).Start(ctx, id, r)
	if err != nil {
		return nil, err
	}
	if by != "" && by != w.Actor("") {
		w.Remark("%s belongs to the run %s, which %s has begun; filebus run start --new begins another", id, run, by)
	}
	if started.Cleared > 0 {
		w.Remark("cleared %s of an earlier %s", cli.Plural(started.Cleared, "marker"), id)
	}
	w.Settle(ctx, w, id.String())
	return started, nil
}

// RunOf returns the run that something belongs to: the one given, else the one of its task, else the
// one that goes on, with who has begun that, if it is known.
func RunOf(ctx context.Context, w *cli.Work, given, task string) (run, by string) {
	if given = w.Or(given, "FILEBUS_RUN"); given != "" {
		return given, ""
	}
	if j, err := Of(w).Look(ctx, ID(task)); task != "" && err == nil && j.Version.Record.Run != "" {
		return j.Version.Record.Run, ""
	}
	read := func(kind record.Kind, id string) (text []byte) { // what is not there says nothing, nor what is near it
		if v, err := query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) {
			return tx.Head(record.Name{Kind: kind, ID: id})
		}); err == nil {
			text, _ = w.TextOf(ctx, v)
		}
		return text
	}
	state, _ := layout.ParseState(read(record.KindState, "session_state"))
	if state.RunID == "" || state.Ended != "" {
		return "", ""
	}
	start, _ := layout.ParseLoopStart(read(record.KindSnapshot, state.RunID+"/loop-1/"+layout.SnapshotStart))
	return state.RunID, start.By
}

type taskBatchJSON struct {
	Tasks      []Prompt `json:"tasks"`
	NotStarted []ID     `json:"not_started,omitempty"`
	Local      bool     `json:"local,omitempty"` // as of a Started
}

// startBatch starts the tasks of a file, and prints what their agents are told. One that
// cannot be started is named, and keeps no other from it.
func (o *taskStart) startBatch(ctx context.Context, w *cli.Work) error {
	batch, err := readBatch(w.Environ, o.Batch)
	if err != nil {
		return err
	}
	if w, err = w.Create(ctx); err != nil {
		return err
	}
	view, text := taskBatchJSON{}, ""
	for _, entry := range batch {
		id := ID(entry.Facts.Task)
		started, failed := o.start(ctx, w, id, entry.Facts.Title)
		if failed != nil {
			w.NoteTry(cli.Explain(failed).Hint, "%s", cli.Message(failed))
			view.NotStarted, err = append(view.NotStarted, id), cli.SilentError(record.Partly)
			continue
		}
		view.Local = started.Local
		p := Of(w).Prompt(id, entry.Facts.Title)
		view.Tasks, text = append(view.Tasks, p), text+p.Text+"\n"
	}
	w.RemarkLocal("the tasks are started", view.Local)
	return cmp.Or(w.PresentWhole("", view, text), err)
}

// readBatch reads the tasks of a file. If anything of it is not understood, that is an
// error: nothing is begun.
func readBatch(e *cli.Environ, file string) (batch []*layout.Entry, err error) {
	text, err := e.ReadWhole(file, maxHandoff, "")
	if err = cmp.Or(err, cli.CheckUTF8("list of tasks", string(text))); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, entry := range batchEntries(text) {
		if s := entry.Facts.Status; s != "" && s != layout.StatusPending {
			e.Note("%s:%d: %s is %s, and is not started", file, entry.Line, cmp.Or(entry.Facts.Task, entry.Facts.Title), s)
			continue
		}
		id, wrong := ParseID(entry.Facts.Task)
		if entry.Facts.Task == "" {
			wrong = cli.UsageError("there is no id: write ID TITLE, with two spaces behind an id of letters alone")
		} else if seen[layout.JournalID(entry.Facts.Task)] {
			wrong = cli.UsageError("%s is there twice", id)
		}
		if wrong != nil {
			err = errors.Join(err, cli.UsageError("%s:%d: %s", file, entry.Line, cli.Message(wrong)))
		}
		seen[layout.JournalID(entry.Facts.Task)] = true
		entry.Facts.Task, batch = string(id), append(batch, entry)
	}
	if err == nil && len(batch) == 0 {
		err = record.Wanting.Errorf("%s names no task that can be started: give each a line, ID TITLE", file)
	}
	return batch, err
}

// batchEntries returns the entries of a task queue, or else those that lines make. A
// word of letters alone is an id only if it stands apart: it may be a title's first.
func batchEntries(text []byte) (entries []*layout.Entry) {
	queue, _ := layout.Recognize(".claude/task_queue.md").Layout.Parse("task_queue.md", text) // in lines there are none
	if entries = queue.Entries(); len(entries) > 0 {
		return entries
	}
	idAndTitle := regexp.MustCompile(`^(\S*[\d_.-]\S*|\S+(?:\t|  |$))\s*(.*)`)
	for i, l := range markdown.Lines(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark))) {
		if line := strings.TrimSpace(string(l.Text)); line != "" && line[0] != '#' {
			m := append(idAndTitle.FindStringSubmatch(line), "", "", "")
			facts := layout.Facts{Task: strings.TrimSpace(m[1]), Title: m[2]}
			entries = append(entries, &layout.Entry{Line: i + 1, Facts: facts})
		}
	}
	return entries
}
