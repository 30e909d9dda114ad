package layout

import (
	"cmp"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// A queuedTask is the typed view of an entry of a task queue. Its values are as
// the entry has them.
type queuedTask struct {
	ID          string // such as BUILD-001 or TEST-UNIT-001
	Title       string
	Priority    string
	Status      string     // pending, in_progress, completed, ...
	Description string     // Markdown
	Extra       []Property // all other fields
}

// taskFields are the fields of a task. Labels are fields everywhere, since the queues
// in use have more of them than any list here would name.
var taskFields = newFieldTable(FieldTable[queuedTask]{
	noun:  "task %s",
	head:  func(t *queuedTask) (id, title *string) { return &t.ID, &t.Title },
	cutID: cutEntryID,
	extra: func(t *queuedTask) *[]Property { return &t.Extra },
	facts: func(t *queuedTask, facts *Facts) { facts.Task = factTask(t.ID) },
	rules: markdown.Rules{Rows: true, Plain: markdown.PlainKnown, Late: true, Form: markdown.LabelForm},
	fields: []Field[queuedTask]{
		{Name: "Priority", text: func(t *queuedTask) *string { return &t.Priority },
			Fact: record.AttributePriority, fold: priorityFact},
		{Name: "Status", text: func(t *queuedTask) *string { return &t.Status }, Needed: true,
			Fact: "status", fold: statusFact},
		{Name: "Category"},
		{Name: "Description", form: textForm, text: func(t *queuedTask) *string { return &t.Description },
			Fact: "summary", fold: factSummary},
		{Name: "Steps", form: itemsForm},
		{Name: "Expected Result", form: textForm},
		{Name: "Depends On", also: []string{"dependencies"}},
	},
})

// taskQueue is the format of task_queue.md: the tasks of a run, described in
// docs/layouts/task-queue.md. A heading of level 3 or 4 that begins with an id
// in capitals, such as BUILD-001, begins an entry, and so does an item of a check list
// outside of these.
var taskQueue = &headingFormat{
	kind:  record.KindTask,
	title: "Task Queue",
	identify: func(lines []markdown.Line, i int) (id, title string, ok bool) {
		_, heading := markdown.Heading(lines[i].Text)
		id, title = cutEntryID(heading)
		return id, title, isTaskID(id, heading) && lines[i].Level >= 3 && lines[i].Level <= markdown.MaxEntryLevel
	},
	item: func(l markdown.Line) (id, title string, ok bool) {
		box, id, title := cutBox(l.Text)
		return id, title, box != ""
	},
	describe: func(lines []markdown.Line) (Facts, []*SyntaxError) {
		if lines[0].Level > 0 {
			return taskFields.describe(lines)
		}
		box, id, title := cutBox(lines[0].Text)
		return taskFields.Facts(queuedTask{ID: id, Title: title, Status: box}), nil
	},
	// A queue has a section for each series, under headings of any words: the
	// series itself is the better guide to the place.
	series: func(id string) string {
		numbered, _ := CutLane(id)
		return strings.TrimRight(numbered, "0123456789")
	},
}

// cutBox cuts an item of a check list: what its box says of the task, the id that its text
// begins with, or "", and the rest.
func cutBox(line []byte) (status, id, title string) {
	m := checkItem().FindSubmatch(line)
	if m == nil {
		return "", "", ""
	}
	text := string(m[2])
	if id, title = cutEntryID(text); id == text && isTaskID(id, id+":") {
		title = id
	} else if !isTaskID(id, text) || title == "" {
		id, title = "", text
	}
	status = map[string]string{" ": "pending", "": "pending", "x": "complete", "X": "complete"}[string(m[1])]
	return cmp.Or(status, "["+string(m[1])+"]"), id, title
}

var checkItem = Pattern(`^[-*+] +\[([^\]]?)\] +(.*\S)`)

// isTaskID reports whether id is an upper-case word with a digit, and either has
// a hyphen, as BUILD-001, or is followed by a colon, as "T1: title".
func isTaskID(id, heading string) bool {
	numbered, _ := CutLane(id)
	if id == "" || numbered != strings.ToUpper(numbered) || id[0] < 'A' || id[0] > 'Z' || !strings.ContainsAny(id, "0123456789") {
		return false
	}
	return strings.Contains(id, "-") || strings.Contains(heading, id+":")
}
