// Package task has the commands and the rules of tasks: how one is started, what may be noted,
// what a handoff must say before a task counts as ended, and how somebody waits
// for that.
//
// Tasks works on the journals and markers of a workspace's own tree. The
// journal is an ordinary file, which an agent may write by hand at the same time:
// every change imports what stands there first and changes the bytes that it is
// about. The marker is written last, when the journal can be read; a start takes
// an old one away first, so that it never announces the new task.
//
// The package keeps no state of its own. What a task is, its files say.
package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// Tasks is the tasks of a workspace's own tree.
type Tasks struct {
	work *materialize.Workspace
	read *query.Reader
	now  func() time.Time
}

// New returns the tasks of a workspace. The reader is of the same store; now is
// the clock of what is written, and of ages.
func New(w *materialize.Workspace, r *query.Reader, now func() time.Time) *Tasks {
	return &Tasks{w, r, now}
}

// stamp returns the time as journals have it.
func (b *Tasks) stamp() string { return b.now().UTC().Format(time.RFC3339) }

// journalPath returns the path of a task's journal below the workspace. Every id that
// ParseID returns has one, and markers.
func (b *Tasks) journalPath(id ID) string {
	p, _ := b.work.Settings.Profile.Path(record.KindHandoff, id.journal())
	return p
}

// journalFile returns the file of a task's journal, absolute, whether or not it
// is there.
func (b *Tasks) journalFile(id ID) string { return b.work.FilePath(b.journalPath(id)) }

// A Journal is a task's journal with the version that it is the text of.
type Journal struct {
	layout.Journal
	ID      ID
	File    string // absolute
	Text    []byte
	Version store.Version
}

// Get reads the journal of a task as the store has it. It returns
// ErrNotStarted if there is none.
func (b *Tasks) Get(ctx context.Context, id ID) (*Journal, error) {
	j := &Journal{ID: id, File: b.journalFile(id)}
	err := b.work.Store.View(ctx, func(tx *store.Tx) (err error) {
		if j.Version, err = query.Occupant(tx, store.PathValue("", b.journalPath(id))); err != nil {
			return err
		}
		content, err := tx.Content(j.Version.Record)
		if err == nil {
			j.Text, err = content.Head(maxJournal)
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, b.errNotStarted(id)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal of %s: %w", id, err)
	}
	j.Journal, _ = layout.ParseJournal(j.Text) // what departs from the layout is text all the same
	return j, nil
}

// maxJournal is how much of a journal is read, in bytes.
const maxJournal = 8 << 20

// readFile reads a file that an agent may be writing, up to a bound. What is no
// regular file is not opened: a pipe would wait for its writer.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %s", name, folder.TypeName(info.Mode()))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return io.ReadAll(io.LimitReader(f, maxJournal))
}

// edit changes the text of a task's journal, which must be there.
func (b *Tasks) edit(ctx context.Context, id ID, change func(text []byte) ([]byte, error)) (*materialize.PutResult, error) {
	return b.work.EditText(ctx, record.KindHandoff, id.journal(), record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		if old == nil {
			return nil, b.errNotStarted(id)
		}
		return change(old)
	})
}

// maxNote is the longest line of a progress log, in bytes.
const maxNote = 4 << 10

// Note appends a line to the progress log of a task. The result's Record says
// what the journal is then.
func (b *Tasks) Note(ctx context.Context, id ID, text string) (*materialize.PutResult, error) {
	if len(text) > maxNote {
		err := record.Usage.Errorf("a line of progress has %d bytes, more than %d: "+
			"store it as a result and name its reference", len(text), maxNote)
		return nil, err.Try("filebus put FILE")
	}
	entry := layout.Progress{Time: b.stamp(), Text: text}
	return b.edit(ctx, id, func(old []byte) ([]byte, error) { return layout.AppendProgress(old, entry), nil })
}

// Look imports the journal of a task as it stands on disk, and reads it.
func (b *Tasks) Look(ctx context.Context, id ID) (*Journal, error) {
	if err := b.work.Import(ctx, b.journalPath(id)); err != nil {
		return nil, err
	}
	return b.Get(ctx, id)
}

// ListOptions say which tasks are listed.
type ListOptions struct {
	Tree    record.Tree   // "": the own one
	Running bool          // only those that have not ended and have no marker
	Late    time.Duration // a running task is late that began longer ago; 0: none is
}

// An Item is a task in a list.
type Item struct {
	ID      string `json:"task"`    // as its journal has it
	Status  string `json:"status"`  // in_progress, complete, ...
	Seconds int    `json:"seconds"` // since the start, or else since the journal changed
	Quiet   int    `json:"quiet"`   // seconds since the journal changed
	Agent   string `json:"agent,omitempty"`
	Marked  bool   `json:"marker"` // its marker is there
	Late    bool   `json:"late,omitempty"`
	From    string `json:"from"`            // what tells of it: journal, report or queue
	Title   string `json:"title,omitempty"` // its beginning, in one line
	Name    string `json:"name"`            // of the first record that tells of it

	BlockedBy []string       `json:"blocked_by,omitempty"` // open tasks that it waits for, see Next
	Elsewhere []query.Stated `json:"elsewhere,omitempty"`  // where files that are joined differ in the status

	records []query.Summary // that tell of it
}

// What an Item is known from, the one that says most first.
const (
	FromJournal = "journal"
	fromReport  = "report"
	fromQueue   = "queue"
)

// sourceOf returns what a record says of its task, "" if it is none of them.
func (b *Tasks) sourceOf(s query.Summary) string {
	switch {
	case s.Name.Kind == record.KindTask:
		return fromQueue
	case query.IsDeclared(s):
		return fromReport
	case b.work.Settings.Profile.Recognize(s.Path).Kind != record.KindHandoff:
		return ""
	case strings.HasSuffix(s.Path, ".md"):
		return FromJournal
	}
	return fromReport
}

// Records returns what a tree has of tasks, or of one of them: journals first, then
// reports, each the newest first, then the entries of queues.
func (b *Tasks) Records(ctx context.Context, tree record.Tree, id ID) ([]query.Summary, error) {
	of := map[string][]query.Summary{}
	for _, kind := range []record.Kind{record.KindHandoff, record.KindTask} { // each has a look-up, both have none
		filter := record.Filter{Trees: []record.Tree{tree}, Kinds: []record.Kind{kind}}
		if id != "" {
			filter.Tasks = layout.TaskForms(path.Base(string(id)))
		}
		all, err := b.read.List(ctx, query.ListRequest{Filter: filter})
		if err != nil {
			return nil, err
		}
		for _, s := range all.Entries {
			if !strings.Contains(string(id), "/") || layout.TaskKey(s.TaskID()) == id.key() {
				of[b.sourceOf(s)] = append(of[b.sourceOf(s)], s)
			}
		}
	}
	slices.Reverse(of[fromQueue])
	if err := b.read.AsInFiles(ctx, of[fromQueue]); err != nil {
		return nil, err
	}
	told, err := b.told(ctx, tree, of[fromQueue])
	return slices.Concat(of[FromJournal], of[fromReport], of[fromQueue], told), err
}

// told returns the notes of conventions that say how far tasks of theirs are, such as the summaries of plans.
func (b *Tasks) told(ctx context.Context, tree record.Tree, tasks []query.Summary) (notes []query.Summary, err error) {
	records := map[string]int{} // by the task
	for _, s := range tasks {
		if s.Task != "" && query.IsDeclared(s) {
			records[s.Task]++
		}
	}
	if len(records) == 0 {
		return nil, nil
	}
	all, err := b.read.Values(ctx, "task", "")
	for _, v := range all {
		if n := records[v.Text]; n == 0 || v.Count == n {
			continue
		}
		err = cmp.Or(err, b.read.Each(ctx, "task", v.Text, func(tx *store.Tx, v store.Version) bool {
			s := query.Summarize(tx, v)
			if s.Name.Tree == tree && s.Name.Kind == record.KindNote && s.Status != "" && query.IsDeclared(s) {
				notes = append(notes, s)
			}
			return false
		}))
	}
	return notes, err
}

// Entries returns the entries of files, such as specs of other tools, that a user's id means: it is
// their own, what stands behind its last slash or mark of a title, or what their file calls them. Of several
// of one task the one counts whose own that is.
func (b *Tasks) Entries(ctx context.Context, id string) ([]query.Summary, error) {
	all, err := b.read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindTask}})
	id = strings.TrimPrefix(id, "task/")
	all = slices.DeleteFunc(all, func(s query.Summary) bool {
		return !isMeant(s.Name.ID, id) && !isMeant(s.Task, id) && !strings.EqualFold(s.Attributes["id"], id)
	})
	if at := slices.IndexFunc(all, func(s query.Summary) bool { return s.Name.ID == id }); at >= 0 {
		all = all[at : at+1]
	}
	slices.SortFunc(all, func(a, b query.Summary) int {
		isOwn := func(s query.Summary) int { return len(strings.TrimPrefix(s.Name.ID, s.TaskID())) }
		return cmp.Or(strings.Compare(a.TaskID(), b.TaskID()), isOwn(a)-isOwn(b), strings.Compare(a.Name.ID, b.Name.ID))
	})
	isOne := func(a, b query.Summary) bool { return a.Task != "" && a.Task == b.Task }
	return slices.CompactFunc(all, isOne), err
}

// isMeant reports whether a text means an id: it is that, or its end, of which folders may be given by their number:
// 007/T001, or the title behind its mark.
func isMeant(own, text string) bool {
	parts, asked := strings.Split(own, "/"), strings.Split(text, "/")
	if parts = parts[max(len(parts)-len(asked), 0):]; len(parts) < len(asked) {
		return false
	}
	last := len(asked) - 1
	for i, word := range asked[:last] {
		if !IsOf(parts[i], word) {
			return false
		}
	}
	return parts[last] == asked[last] || strings.HasSuffix(parts[last], "#"+asked[last])
}

// Folders of tasks that an id means, or the number that one begins with: 003 is 003-search.
func (b *Tasks) folders(ctx context.Context, id string) (all []string, err error) {
	tasks, err := b.read.Values(ctx, "task", "")
	for _, v := range tasks {
		parts := strings.Split(v.Text, "/")
		at := slices.IndexFunc(parts, func(part string) bool { return IsOf(part, id) })
		if strings.HasPrefix(v.Text+"/", id+"/") {
			at = strings.Count(id, "/")
		}
		if at >= 0 && !slices.Contains(all, strings.Join(parts[:at+1], "/")) {
			all = append(all, strings.Join(parts[:at+1], "/"))
		}
	}
	return all, err
}

// List returns the tasks of a tree, the one that changed last first: those that have a
// journal, then those that reports and queues name. Of several tasks that had one id, the
// last is listed.
func (b *Tasks) List(ctx context.Context, opts ListOptions) ([]Item, error) {
	records, err := b.Records(ctx, opts.Tree, "")
	if err != nil {
		return nil, err
	}
	var items []Item
	at := map[string]int{} // by the path of a journal, and by the id
	for _, s := range records {
		item, key := b.item(s, opts), layout.TaskKey(s.TaskID())
		if number, isOther := strings.CutPrefix(item.ID, s.TaskID()+"~"); isOther {
			key += "~" + number
		}
		known, isKnown := at[key]
		if j, isBegun := at[journalOf(&s).key()]; isBegun && isTask(s) && query.IsDeclared(s) && items[j].isJournal() {
			known, isKnown, at[key], items[j].ID = j, true, j, item.ID
		}
		if item.From == FromJournal {
			_, isKnown = at[s.Path]
			at[s.Path] = len(items)
		} else if isKnown {
			items[known].join(item, s)
		}
		if !isKnown {
			at[key] = len(items)
			items = append(items, item)
		}
	}
	for i := range items {
		if s := items[i].records[0]; items[i].Status == "" && query.IsDeclared(s) {
			items[i].Status = layout.StatusPending // nothing says that it was begun
		}
	}
	return slices.DeleteFunc(items, func(i Item) bool {
		isRunning := !i.Marked && !layout.HasEnded(i.Status) && (i.From == FromJournal || i.Status == layout.StatusInProgress)
		return opts.Running && !isRunning
	}), nil
}

// isJournal reports whether only a journal tells of the task.
func (i *Item) isJournal() bool { return i.From == FromJournal && len(i.records) == 1 }

// Journal returns the id of the journal of a task that has one: that of an entry is another than its own.
func (i *Item) Journal() ID { return ID(i.records[0].TaskID()) }

// join adds to a task what a further record says that the better source does not. Of two files of a convention the
// one counts whose own the task is; a file of its own has the title. A journal says more than a box.
func (i *Item) join(other Item, s query.Summary) {
	isDeclared, isFile := i.From != FromJournal && query.IsDeclared(s), s.Name.Kind == record.KindTask && !s.Name.IsEntry()
	if isDeclared && s.Name.ID == s.Task {
		i.Status, other.Status, s = other.Status, i.Status, i.records[0]
	}
	if isDeclared && s.Name.Kind == record.KindTask && other.Status != i.Status && other.Status != "" && i.Status != "" {
		i.Elsewhere = append(i.Elsewhere, query.Stated{Path: s.Path, Status: other.Status})
	}
	i.Status, i.Agent = cmp.Or(i.Status, other.Status), cmp.Or(i.Agent, other.Agent)
	if i.From == fromReport && s.Name.Kind == record.KindTask || isDeclared && isFile {
		i.Title = other.Title
	}
	i.records = append(i.records, other.records...)
}

func (b *Tasks) item(s query.Summary, opts ListOptions) Item {
	quiet := max(b.now().Sub(s.Time), 0)
	age := quiet
	if at, err := time.Parse(time.RFC3339, s.Attributes[layout.AttributeStarted]); err == nil {
		age = max(b.now().Sub(at), 0)
	}
	const maxItemTitle = 120 // how many characters of a title a list has
	i := Item{
		ID: cmp.Or(s.Attributes["id"], s.TaskID()), Name: s.Name.String(),
		Title:  markdown.Clip(markdown.OneLine(s.Title), maxItemTitle),
		Status: cmp.Or(layout.NormalizeStatus(s.Status), s.Status), From: b.sourceOf(s),
		Agent: cmp.Or(s.Agent, s.Attributes[layout.AttributeAssignee]), records: []query.Summary{s},
	}
	if s.Task != "" && query.IsDeclared(s) {
		i.ID = s.Task
	}
	if i.From == fromQueue && strings.TrimRight(s.Name.ID, "0123456789") == i.ID+"~" { // another file has that id
		i.ID = s.Name.ID
	}
	if i.From == FromJournal {
		i.Seconds, i.Quiet = int(age.Seconds()), int(quiet.Seconds())
	}
	if _, err := ParseID(path.Base(i.ID)); err == nil && opts.Tree == "" {
		found, _ := b.markers(ID(i.ID)) // what stands in the place of one is none
		i.Marked = len(found) > 0
	}
	i.Late = i.From == FromJournal && opts.Late > 0 && age >= opts.Late && !i.Marked && !layout.HasEnded(i.Status)
	return i
}

// Why something is refused, or does not end.
const (
	ErrNotStarted record.Reason = "not started"
	errIsRunning  record.Reason = "task running"
)

func (b *Tasks) errNotStarted(id ID) error {
	err := record.NotFound.Errorf("%s has no journal: it was never started", id)
	hint := "filebus task start {1}"
	if found, _ := b.markers(id); len(found) > 0 { // a start would clear it
		err, hint = record.NotFound.Errorf("%s has no journal, but a marker", id), "filebus wait {1}, filebus lint"
	} else if strings.Contains(string(id), "/") {
		hint = "filebus task list" // a nested root's tasks are made there
	}
	return err.Try(hint, string(id)).Because(ErrNotStarted)
}

// errRunning says that a task is to be started that is running.
func errRunning(id ID, j *layout.Journal) error {
	text := fmt.Sprintf("%s is running", id)
	if agent := agentOf(j); agent != "" {
		text += ", by " + agent
	}
	if j.Started != "" {
		text += ", since " + j.Started
	}
	err := record.Conflict.Errorf("%s", text)
	spelled := cmp.Or(j.ID, string(id)) // its marker keeps its name
	return err.Try("filebus wait {1}, or filebus task start {1} --restart", spelled).Because(errIsRunning)
}

// agentOf returns who a journal says works on its task, or "".
func agentOf(j *layout.Journal) string {
	i := slices.IndexFunc(j.Extra, func(p layout.Property) bool { return strings.EqualFold(p.Key, "agent") })
	if i < 0 {
		return ""
	}
	return j.Extra[i].Value
}
