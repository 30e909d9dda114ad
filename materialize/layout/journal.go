package layout

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// A Journal is the file of one task: what it did, and what it hands on. The
// form is that of the file-based communication document.
type Journal struct {
	Task      string // the name in the first heading
	Status    string // as written: in_progress, completed, blocked, failed, ...
	Started   string
	Completed string
	ID        string     // of the task, as its start got it: so its marker is called
	Extra     []Property // other metadata, in order
	Progress  []Progress
	Handoff   *Handoff // nil before the task hands over
	Notes     string   // Markdown
}

// A Progress is one line of a journal's progress log: "- [time] text".
type Progress struct{ Time, Text string }

// journals is the layout of journals.
var journals = &single{record.KindHandoff, func(_ string, text []byte) (Facts, []*SyntaxError) {
	j, problems := ParseJournal(text)
	return j.facts(), problems
}}

// facts returns what the journal says about its task. Agents add who and where
// they are to the metadata under these names.
func (j *Journal) facts() Facts {
	f := Facts{Title: titleOf(j.Task), Status: j.State()}
	f.setFact(AttributeStarted, j.Started)
	for _, p := range j.Extra {
		switch markdown.Fold(p.Key) {
		case "agent":
			f.Agent = word(p.Value)
		case "run", "run_id":
			f.Run = word(p.Value)
		case "loop":
			f.Loop = word(p.Value)
		case "model":
			f.setFact(attributeModel, p.Value)
		}
	}
	if j.Handoff != nil {
		f.Summary = summaryOf(j.Handoff.Summary)
	}
	return f
}

// State returns how far the task is, in the spelling of NormalizeStatus: as the handoff
// says, which is written last, else the metadata, which is often forgotten.
func (j *Journal) State() string {
	if j.Handoff != nil {
		return cmp.Or(taskStatus(j.Handoff.Outcome), taskStatus(j.Status))
	}
	return taskStatus(j.Status)
}

// taskStatus is NormalizeStatus for tasks: one that was given up has failed.
func taskStatus(text string) string {
	if status := NormalizeStatus(text); status != "wont_fix" && status != "duplicate" {
		return status
	}
	return StatusFailed
}

// AppendJournal appends the text of j: heading, metadata, progress log, handoff
// in the form of a table, notes.
func AppendJournal(dst []byte, j Journal) []byte {
	dst = fmt.Appendf(dst, "# Task: %s\n\n## Metadata\n", markdown.SingleSpaced(j.Task))
	metadata := []Property{{"Status", j.Status}, {"Started", j.Started}, {"Completed", j.Completed}, {"ID", j.ID}}
	for _, p := range append(metadata, j.Extra...) {
		if p.Value != "" {
			dst = fmt.Appendf(dst, "- %s: %s\n", markdown.SingleSpaced(p.Key), markdown.SingleSpaced(p.Value))
		}
	}
	dst = append(dst, "\n## Progress Log\n"...)
	for _, p := range j.Progress {
		dst = append(dst, p.line()...)
	}
	if j.Handoff != nil {
		dst = appendHandoff(append(dst, '\n'), *j.Handoff)
	}
	if notes := strings.TrimSpace(j.Notes); notes != "" {
		dst = append(append(append(dst, "\n## Notes\n"...), notes...), '\n')
	}
	return dst
}

// line returns the entry as it stands in a log.
func (p Progress) line() string {
	if p.Time == "" {
		return "- " + markdown.SingleSpaced(p.Text) + "\n"
	}
	return "- [" + markdown.SingleSpaced(p.Time) + "] " + markdown.SingleSpaced(p.Text) + "\n"
}

// ParseJournal reads a journal as agents write them: sections in any order and
// of any level, metadata as list or lines, the handoff in either form. It
// reports a journal without its heading, an unknown status and rows of the
// handoff that it cannot read; the errors have lines and no file.
func ParseJournal(text []byte) (Journal, []*SyntaxError) {
	var j Journal
	var problems []*SyntaxError
	sections := markdown.Outline(text)
	if title := taskTitle(sections); title != "" {
		j.Task = title
	} else {
		problems = append(problems, wrong(1, "a journal begins with a heading \"# Task: name\""))
	}
	if start, end, found := metadata(text); found {
		problems = append(problems, j.readMetadata(text[start:end], 1+bytes.Count(text[:start], []byte("\n")))...)
	}
	for _, s := range sections {
		switch body := text[s.Body:s.End]; markdown.Fold(s.Title) {
		case "progress_log", "progress":
			j.Progress = append(j.Progress, parseProgress(body)...)
		case "handoff":
			if j.Handoff != nil {
				problems = append(problems, wrong(s.Line, "a second handoff; the first one counts"))
				continue
			}
			handoff, departures := ParseHandoff(text[s.Start:s.End])
			for _, p := range departures {
				p.Line += s.Line - 1
			}
			j.Handoff, problems = &handoff, append(problems, departures...)
		case "notes":
			j.Notes = strings.TrimSpace(string(body))
		}
	}
	if line, heading, seems := NearHandoff(text); j.Handoff == nil && seems {
		problems = append(problems, wrong(line, "%q heads no handoff: write \"## Handoff\"", markdown.Clip(heading, 60)))
	}
	return j, problems
}

// taskTitle returns the name of the task: the text of the first heading of
// level 1, or of the first that says "Task:".
func taskTitle(sections []markdown.Section) string {
	for _, s := range sections {
		rest, found := strings.CutPrefix(s.Title, "Task:")
		if found || s.Level == 1 {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// readMetadata reads the "- Key: value" lines of the section.
func (j *Journal) readMetadata(body []byte, line int) (problems []*SyntaxError) {
	own := map[string]*string{"status": &j.Status, "started": &j.Started, "completed": &j.Completed, "id": &j.ID}
	for raw := range bytes.Lines(body) {
		p, found := cutProperty(string(raw))
		at := own[markdown.Fold(p.Key)]
		if at != nil {
			*at = p.Value
		} else if found {
			j.Extra = append(j.Extra, p)
		}
		if at == &j.Status && NormalizeStatus(p.Value) == "" {
			problems = append(problems, wrong(line, "unknown status %q", markdown.Clip(p.Value, 60)))
		}
		line++
	}
	return problems
}

// parseProgress returns the entries of a progress log. A line that is no list
// item continues the entry before it.
func parseProgress(body []byte) (entries []Progress) {
	for raw := range bytes.Lines(body) {
		line := strings.TrimSpace(string(raw))
		item, isItem := strings.CutPrefix(line, "- ")
		if !isItem {
			item, isItem = strings.CutPrefix(line, "* ")
		}
		switch {
		case isItem:
			entries = append(entries, cutProgress(item))
		case line != "" && line != "-" && len(entries) > 0:
			entries[len(entries)-1].Text += " " + line
		}
	}
	return entries
}

// cutProgress cuts "[time] text". "[text](target)" is a link, not a time.
func cutProgress(item string) Progress {
	item = strings.TrimSpace(item)
	if rest, found := strings.CutPrefix(item, "["); found {
		if time, text, found := strings.Cut(rest, "]"); found && !strings.HasPrefix(text, "(") {
			return Progress{strings.TrimSpace(time), strings.TrimSpace(text)}
		}
	}
	return Progress{Text: item}
}

// AppendProgress returns text with one more entry at the end of its progress
// log, and every other byte as it was. The line breaks are those of the text.
// A journal without the section gets one, before the handoff if there is one,
// else at the end.
func AppendProgress(text []byte, entry Progress) []byte {
	at, heading := progressEnd(text)
	if heading {
		return insertSection(text, at, "## Progress Log\n"+entry.line())
	}
	return insertOwnLine(text, at, entry.line())
}

// progressEnd returns where a new entry of the progress log goes, and whether
// it needs the section's heading.
func progressEnd(text []byte) (at int, heading bool) {
	sections := markdown.Outline(text)
	if s, found := markdown.Named(sections, "progress_log", "progress"); found {
		return lastText(text, s.Body, s.End), false
	}
	if s, found := markdown.Named(sections, "handoff"); found {
		return s.Start, true
	}
	return len(text), true
}

// lastText returns where the last line with text of text[start:end] ends, or
// start.
func lastText(text []byte, start, end int) int {
	last := start + len(bytes.TrimRight(text[start:end], " \t\r\n"))
	if last == start {
		return start
	}
	if next := bytes.IndexByte(text[last:end], '\n'); next >= 0 {
		return last + next + 1
	}
	return end
}

// HandoffSection returns the bytes of the first handoff section, from its
// heading to the next heading of its level: the part to read instead of the
// whole journal.
func HandoffSection(text []byte) (start, end int, ok bool) {
	s, ok := markdown.Named(markdown.Outline(text), "handoff")
	return s.Start, s.End, ok
}

// NearHandoff returns the line, from 1, and the text of what may head a handoff that HandoffSection does not
// find. It seems to if the word stands in it, as in "## 3. Handoff" or "Hand-off", or an outcome and a summary
// below it. Else it is the last heading that is none of a journal's own, whatever the language; line 0: none.
func NearHandoff(text []byte) (line int, heading string, seems bool) {
	for raw := range strings.Lines(string(text)) {
		line++
		heading = strings.TrimSpace(raw)
		if len(heading) < 80 && handoffWord().MatchString(heading) {
			return line, heading, true
		}
	}
	line, heading = 0, ""
	for i, s := range markdown.Outline(text) {
		h, _ := ParseHandoff(text[s.Start:s.Next])
		seems = h.Outcome != "" && h.Summary != ""
		if isOwn := slices.Contains(journalSections, markdown.Fold(s.Title)); seems || i > 0 && !isOwn {
			heading, _, _ = strings.Cut(string(text[s.Start:s.Next]), "\n")
			line, heading = s.Line, strings.TrimSpace(heading)
		}
		if seems {
			break
		}
	}
	return line, heading, seems
}

// journalSections are the sections of a journal beside its handoff, folded.
var journalSections = []string{"metadata", "progress_log", "progress", "notes"}

// handoffWord is a heading or a bold line with the word, however it is written, or a line of the word alone.
var handoffWord = Pattern(`(?i)^(##|\*\*).*hand\PL*off|^hand\PL?off\s*[:：]?$`)
