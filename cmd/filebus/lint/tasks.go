package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// tasks gathers what the files of a folder say about tasks, to compare journals
// and markers once all are known.
type tasks struct {
	at map[taskKey]*task
	// strays are files that a wait would not find: no marker is at their place.
	strays []stray
}

// A taskKey is a task of a base. Its id is without "task-", which a marker's name
// may lack.
type taskKey struct{ base, id string }

// word returns the task as commands take it.
func (k taskKey) word() string { return record.ShellWord(path.Join(k.base, k.id)) }

type task struct {
	journal string // its file or that of its report, "" without one
	line    int    // of its status
	status  string // of its journal
	end     string // what gives an ended journal its marker
	report  bool   // a report stands for the journal: it needs no marker
	markers []string
	known   bool // something else names it
}

type stray struct{ base, file, why string }

func (t *tasks) of(base, id string) *task {
	key := taskKey{base, layout.TaskKey(id)}
	if t.at[key] == nil {
		t.at[key] = &task{}
	}
	return t.at[key]
}

// expect takes the tasks of the agents of a session state for known.
func (t *tasks) expect(base string, text []byte) {
	s, _ := layout.ParseState(text)
	for _, a := range slices.Concat(s.Running, s.Completed) {
		t.of(base, a.Task).known = true
	}
}

// addJournal takes a journal in.
func (t *tasks) addJournal(base, name string, location layout.Location, text []byte, j layout.Journal) {
	of := t.of(base, location.Facts.Task)
	of.journal, of.line, of.status, of.report = name, statusLine(text), j.State(), false
	of.end = endRemedy(name, "", path.Join(base, layout.TaskKey(location.Facts.Task)), j)
}

// addReport takes the report of a task in, which says how it ended: it needs no marker.
func (t *tasks) addReport(base, name string, file layout.File) {
	for _, e := range file.Entries() {
		if of := t.of(base, e.Facts.Task); of.journal == "" {
			of.journal, of.line, of.report = name, 1, true
		}
	}
}

var statusField = pattern(`(?im)^[-*| \t]*status`)

// statusLine returns the line with a journal's status, else 1.
func statusLine(text []byte) int {
	if at := statusField().FindIndex(text); at != nil {
		return 1 + bytes.Count(text[:at[1]], []byte("\n"))
	}
	return 1
}

// handoff reports what the handoff of an ended journal lacks.
func (c *checker) handoff(name, base string, location layout.Location, text []byte, j layout.Journal) {
	ended := layout.HasEnded(layout.NormalizeStatus(j.Status))
	remedy := endRemedy(name, "handoff", path.Join(base, location.Facts.Task), j)
	near, heading, seems := layout.NearHandoff(text)
	switch {
	case j.Handoff == nil && seems: // the layout says so
	case j.Handoff == nil && ended:
		said := "the task is " + oneLine(j.Status) + ", but there is no Handoff section"
		if near > 0 {
			said += fmt.Sprintf("; if line %d, %q, heads it, write \"## Handoff\"", near, markdown.Clip(oneLine(heading), 60))
		}
		c.add(name, statusLine(text), "journal-handoff", said, remedy)
	case j.Handoff == nil, !ended && layout.NormalizeStatus(j.Handoff.Outcome) == "": // a form still to be filled in
	case len(j.Handoff.Check()) > 0:
		start, _, _ := layout.HandoffSection(text)
		line := 1 + bytes.Count(text[:start], []byte("\n"))
		c.add(name, line, "handoff-incomplete", oneLine(strings.Join(j.Handoff.Check(), "; ")), remedy)
	}
}

// endRemedy ends a task as its journal says with a command, that of the state if none is
// given. A handoff that is there is its agent's, and so is what it lacks.
func endRemedy(name, verb, task string, j layout.Journal) string {
	state := j.State()
	verbs := map[string]string{layout.StatusComplete: "done", layout.StatusFailed: "fail", layout.StatusBlocked: "block"}
	flags, known := map[string]string{
		layout.StatusComplete: "completed", layout.StatusFailed: "failed --next NEXT",
		layout.StatusPartial: "partial --blocker BLOCKER", layout.StatusBlocked: "blocked --blocker BLOCKER",
	}[state]
	switch h := j.Handoff; {
	case !known, h != nil && (len(h.Check()) > 0 || state == layout.StatusFailed && len(h.NextSteps) == 0),
		h != nil && layout.NormalizeStatus(j.Status) != layout.NormalizeStatus(h.Outcome):
		return byHand(name, "complete status and Handoff")
	case h != nil:
		return "filebus task done " + record.ShellWord(task)
	case verb == "" && verbs[state] != "":
		verb, flags = verbs[state], strings.TrimLeft(flags, "abcdefghijklmnopqrstuvwxyz")
	default:
		flags = " --outcome " + flags
	}
	return "filebus task " + cmp.Or(verb, "done") + " " + record.ShellWord(task) + " --summary SUMMARY" + flags
}

// stray reads a file that looks like a marker, but lies or is named where
// nothing waits for it, and reports whether it is one.
func (t *tasks) stray(name, full string, location layout.Location, p layout.Profile) bool {
	if location.Kind != record.KindNote {
		return false
	}
	folder, file := path.Base(path.Dir(full)), path.Base(full)
	inFolder := folder == "agent_complete" || folder == "complete" || path.Dir(full) == p.Markers
	isDone := strings.EqualFold(path.Ext(file), ".done") || strings.EqualFold(path.Ext(file), ".failed")
	below := baseOf(full, p) != "" || isAgentFolder(strings.Split(full, "/")[0]) || strings.HasPrefix(full, p.Root+"/")
	why := ""
	switch {
	case !below || strings.HasPrefix(file, "."):
	case inFolder && p.Recognize(path.Dir(full)+"/x.done").Kind == record.KindMarker:
		why = "it ends in neither .done nor .failed"
	case isDone:
		why = "it lies outside of the folder for markers"
	}
	if why != "" {
		t.strays = append(t.strays, stray{baseOf(full, p), name, why})
	}
	return why != ""
}

// oddJournal reports Markdown with the status of a task in the folder of journals, which is none
// by its name: nothing takes it in.
func (c *checker) oddJournal(name, full string) {
	right := path.Join(path.Dir(full), layout.JournalID(strings.TrimSuffix(path.Base(full), ".md"))+".md")
	if path.Ext(full) != ".md" || c.opts.Profile.Recognize(right).Kind != record.KindHandoff {
		return
	}
	text, err := c.read(name)
	if err != nil {
		c.unread(name, err)
	}
	if j, _ := layout.ParseJournal(text); j.State() != "" {
		right = path.Join(path.Dir(name), path.Base(right))
		c.add(name, statusLine(text), "journal-name", "the file would be a journal if it were called "+path.Base(right),
			"mv -n "+record.ShellWord(name)+" "+record.ShellWord(right))
	}
}

// report compares journals and markers, those of each task.
func (t *tasks) report(c *checker) {
	taken := map[taskKey]bool{} // tasks whose marker was found under another name
	for _, s := range t.strays {
		near, found := t.near(s.base, strings.TrimSuffix(path.Base(s.file), path.Ext(s.file)))
		if !found || t.at[near].journal == "" {
			continue // nobody waits for it: it may be any file
		}
		taken[near] = true
		c.add(s.file, 1, "marker-name", s.why+"; task "+near.id+" has no marker",
			byHand(s.file, "write the marker of "+near.word()))
	}
	keys := slices.SortedFunc(maps.Keys(t.at), func(a, b taskKey) int {
		return cmp.Or(strings.Compare(a.base, b.base), strings.Compare(a.id, b.id))
	})
	for _, key := range keys {
		if of := t.at[key]; len(of.markers) > 0 && of.journal == "" {
			t.lonely(c, key, of, taken)
		}
	}
	for _, key := range keys {
		switch of := t.at[key]; {
		case !layout.HasEnded(of.status) && of.status != "" && len(of.markers) > 0:
			c.add(of.journal, of.line, "marker-status",
				fmt.Sprintf("the task is %s, but its marker %s is there", of.status, path.Base(of.markers[0])),
				byHand(of.journal, "correct the status, once you have read filebus wait "+key.word()+","))
		case layout.HasEnded(of.status) && len(of.markers) == 0 && !taken[key]:
			c.add(of.journal, of.line, "journal-marker", fmt.Sprintf("the task is %s, but has no marker", of.status),
				of.end)
		}
	}
}

// lonely reports a marker without a journal: its name may be meant for another
// task that has none.
func (t *tasks) lonely(c *checker, key taskKey, of *task, taken map[taskKey]bool) {
	near, found := t.near(key.base, key.id)
	for _, marker := range of.markers {
		if !found || of.known {
			c.add(marker, 1, "marker-journal", "the task "+key.id+" has neither journal nor report",
				byHand(marker, "write a journal for "+key.word()+" that says what is written"))
			continue
		}
		taken[near] = true
		remedy := byHand(marker, "write the marker of "+near.word())
		if layout.HasEnded(t.at[near].status) {
			remedy = "mv -n " + record.ShellWord(marker) + " " + record.ShellWord(path.Join(path.Dir(marker), near.id+path.Ext(marker)))
		}
		c.add(marker, 1, "marker-name", fmt.Sprintf("no task is called %s; task %s has no marker", key.id, near.id),
			remedy)
	}
}

// near returns the task without a marker that a name may be meant as, the one with the longest id.
func (t *tasks) near(base, name string) (best taskKey, found bool) {
	for key, of := range t.at {
		isFree := key.base == base && len(of.markers) == 0 && !of.report && (of.journal != "" || of.known)
		longer := len(key.id) > len(best.id) || len(key.id) == len(best.id) && key.id < best.id
		if isFree && longer && likeness.IsMeant(strings.ToLower(name), strings.ToLower(key.id)) {
			best = key
		}
	}
	return best, best.id != ""
}

// oneLine returns text of a file on one line, at most 200 characters of it.
func oneLine(text string) string { return markdown.Clip(markdown.SingleSpaced(text), 200) }
