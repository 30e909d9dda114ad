package layout

import (
	"errors"
	"fmt"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// A QueuedTask is the typed view of an entry of a task queue. Its values are as
// the entry has them.
type QueuedTask struct {
	ID          string // such as BUILD-001 or TEST-UNIT-001
	Title       string
	Priority    string
	Status      string // pending, in_progress, completed, ...
	Category    string
	Description string // Markdown
	Steps       []string
	Expected    string   // the expected result, Markdown
	DependsOn   []string // ids of tasks

	Extra []ExtraField // further fields, such as Assignee
}

// taskRules returns what counts as a field in a task. Labels count everywhere,
// since the queues in use have more of them than any list here would name.
func taskRules() markdown.Rules {
	return markdown.Rules{
		Known: []string{
			"priority", "status", "category", "description", "steps", "expected result", "depends on", "dependencies",
		},
		Blocks: []string{"description", "steps", "expected result"},
		Rows:   true,
		Plain:  markdown.PlainKnown,
		Late:   true,
		Form:   markdown.LabelForm,
	}
}

// TaskQueue is the format of task_queue.md: the tasks of a run, described in
// docs/layouts/task-queue.md. A heading of level 3 or 4 that begins with an id
// in capitals, such as BUILD-001, begins an entry.
type TaskQueue struct{}

func (TaskQueue) format() headingFormat {
	return headingFormat{
		kind:  record.KindTask,
		title: "Task Queue",
		identify: func(lines []markdown.Line, i int) (id, title string, ok bool) {
			_, heading := markdown.Heading(lines[i].Text)
			id, title = cutEntryID(heading)
			return id, title, isTaskID(id, heading) && lines[i].Level >= 3 && lines[i].Level <= markdown.MaxEntryLevel
		},
		describe: func(lines []markdown.Line) (Facts, []*SyntaxError) {
			task, errs := parseQueuedTask(lines)
			return task.Facts(), errs
		},
	}
}

// Parse cuts a task queue into its tasks and the text around them. It reports
// what parseQueuedTask reports of each task.
func (q TaskQueue) Parse(path string, text []byte) (File, []*SyntaxError) {
	return q.format().parse(path, text)
}

// Insert returns f with a new task after the last one whose id has the same
// words, as BUILD in BUILD-001; after the last task when there is none. The
// caller sees to it that its id is free.
func (q TaskQueue) Insert(f File, e Entry) File {
	// A queue has a section for each series, under headings of any words: the
	// series itself is the better guide to the place.
	last, pos := 0, 0
	for _, p := range f.Parts {
		pos += p.size()
		if p.Entry != nil && taskSeries(p.Entry.ID) == taskSeries(e.ID) {
			last = pos
		}
	}
	if last == 0 {
		return q.format().insert(f, e)
	}
	return q.format().insertAt(f, f.Append(nil), last, "", e)
}

// taskSeries returns an id without its number.
func taskSeries(id string) string { return strings.TrimRight(id, "0123456789") }

// isTaskID reports whether id is an upper-case word with a digit, and either has
// a hyphen, as BUILD-001, or is followed by a colon, as "T1: title".
func isTaskID(id, heading string) bool {
	if id == "" || id != strings.ToUpper(id) || id[0] < 'A' || id[0] > 'Z' || !strings.ContainsAny(id, "0123456789") {
		return false
	}
	return strings.Contains(id, "-") || strings.Contains(heading, id+":")
}

// parseQueuedTask reads the lines of an entry of a task queue. It takes what it finds:
// a field that is missing or given twice is reported.
func parseQueuedTask(lines []markdown.Line) (QueuedTask, []*SyntaxError) {
	if len(lines) == 0 {
		return QueuedTask{}, []*SyntaxError{{Line: 1, Err: errors.New("task is empty")}}
	}
	v, errs := markdown.ReadFields(lines, taskRules())
	_, heading := markdown.Heading(lines[0].Text)
	id, title := cutEntryID(heading)
	task := QueuedTask{
		ID: id, Title: title,
		Priority:    v.Get("priority"),
		Status:      v.Get("status"),
		Category:    v.Get("category"),
		Description: v.Get("description"),
		Expected:    v.Get("expected result"),
		DependsOn:   parseDependencies(v.Get("depends on", "dependencies")),
		Extra:       extraFields(v, taskRules().Known),
	}
	task.Steps, _ = markdown.ParseItems(v.Get("steps"))
	if task.Status == "" {
		errs = append(errs, &SyntaxError{Line: lines[0].Number, Err: fmt.Errorf("task %s has no field Status", id)})
	}
	return task, errs
}

// parseDependencies reads a list of task ids; "none" and "-" are empty lists.
func parseDependencies(value string) []string {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "none", "-", "n/a":
		return nil
	}
	return markdown.ParseList(value)
}

// Facts returns what a task says about itself, with its status and priority as
// single words in lower case.
func (t QueuedTask) Facts() Facts {
	facts := Facts{
		Task:       factTask(t.ID),
		Status:     factWord(t.Status),
		Title:      factText(t.Title, maxFactTitle),
		Summary:    factText(t.Description, maxFactSummary),
		Attributes: factAttributes(record.AttributePriority, factWord(t.Priority)),
	}
	for _, f := range t.Extra {
		facts.addExtra(markdown.Key(f.Name), f.Value)
	}
	return facts
}
