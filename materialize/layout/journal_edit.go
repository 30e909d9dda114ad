package layout

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode"

	"filebus/materialize/markdown"
)

// SetJournalField returns text, a journal, with another value for one line of
// its metadata, such as Status: the value's bytes alone change. A line that is
// missing is added behind the last one; a journal without metadata gets the
// section below its heading, else before its first section or at the end.
func SetJournalField(text []byte, key, value string) []byte {
	line := "- " + markdown.SingleSpaced(key) + ": " + markdown.SingleSpaced(value) + "\n"
	start, end, found := metadata(text)
	at := start
	for raw := range bytes.Lines(text[start:end]) {
		if p, isField := cutProperty(string(raw)); isField && markdown.Fold(p.Key) == markdown.Fold(key) {
			return replaceValue(text, at, raw, p.Value, markdown.SingleSpaced(value))
		}
		at += len(raw)
	}
	if found {
		first := firstLines().FindSubmatchIndex(text[start:end])
		return insertOwnLine(text, lastText(text, start, start+first[3]), line)
	}
	if at == len(text) {
		text = closeBlock(text)
		at = len(text)
	}
	return insertSection(text, at, "## Metadata\n"+line)
}

// metadata returns where a journal's metadata stand: in their section, else in the lines
// right below the heading, if one of these is a status, as hands write it. Where there
// are none, they belong at start.
func metadata(text []byte) (start, end int, found bool) {
	hasTitle, next := false, len(text)
	for _, s := range markdown.Outline(text) {
		switch {
		case markdown.Fold(s.Title) == "metadata":
			return s.Body, s.End, true
		case !hasTitle && (s.Level == 1 || strings.HasPrefix(s.Title, "Task:")):
			start, next, hasTitle = s.Body, len(text), true
		default:
			next = min(next, s.Start)
		}
	}
	at := firstLines().FindSubmatchIndex(text[start:next])
	var j Journal
	j.readMetadata(text[start+at[2]:start+at[3]], 0)
	if NormalizeStatus(j.Status) != "" {
		return start, start + at[3], true
	}
	if !hasTitle {
		start = next
	}
	return start, start, false
}

// firstLines is the first paragraph of a text.
var firstLines = Pattern(`^\s*((?:.*\S.*\n?)*)`)

// insertSection inserts a section between blank lines, with the line breaks of the text.
func insertSection(text []byte, at int, section string) []byte {
	section = blankBefore(text[:at], "\n") + section
	if line, _, _ := bytes.Cut(text[at:], []byte("\n")); len(bytes.TrimSpace(line)) > 0 {
		section += "\n"
	}
	return insertOwnLine(text, at, section)
}

// insertOwnLine inserts whole lines, on a line of their own, with the line breaks of the text.
func insertOwnLine(text []byte, at int, lines string) []byte {
	if at > 0 && text[at-1] != '\n' && !strings.HasPrefix(lines, "\n") {
		lines = "\n" + lines
	}
	return slices.Concat(text[:at], markdown.WithEnding([]byte(lines), text), text[at:])
}

// replaceValue returns text with the value at the end of the line raw, which
// begins at an offset, exchanged.
func replaceValue(text []byte, at int, raw []byte, old, value string) []byte {
	content := bytes.TrimRightFunc(raw, unicode.IsSpace) // as the value was read
	from := len(content) - len(old)
	if !bytes.HasSuffix(content[:from], []byte(" ")) {
		value = " " + value
	}
	return slices.Concat(text[:at+from], []byte(value), text[at+len(content):])
}

// SetHandoff returns text, a journal, with section as its handoff: in place of
// the one it has, but for its prose and subsections, else before its notes, else at the
// end. All other bytes stay; the line breaks are those of the text.
func SetHandoff(text []byte, section []byte) []byte {
	lines := strings.TrimRight(string(section), "\n") + "\n"
	sections := markdown.Outline(text)
	if s, found := markdown.Named(sections, "handoff"); found {
		lines += proseIn(text[s.Body:s.Next])
		if s.Next < len(text) { // the blank line before what follows
			lines += "\n"
		}
		return slices.Concat(text[:s.Start], markdown.WithEnding([]byte(lines), text), text[s.Next:])
	}
	if notes, found := markdown.Named(sections, "notes"); found {
		return insertSection(text, notes.Start, lines)
	}
	text = closeBlock(text)
	return insertSection(text, len(text), lines)
}

// proseIn returns the paragraphs and lists of a handoff that say nothing by rows, fields or a fence, each
// behind a blank line.
func proseIn(body []byte) (prose string) {
	block, isData := "", false
	for _, l := range append(markdown.Lines(body), markdown.Line{}) {
		text := string(bytes.TrimRight(l.Text, "\r"))
		if strings.TrimSpace(text) != "" || l.Quiet {
			_, isRow := markdown.Row(l.Text)
			_, isField := cutProperty(text)
			isData = isData || isRow || isField || l.Quiet || block == "" && strings.ContainsAny(text[:1], " \t{")
			block += text + "\n"
			continue
		}
		if block != "" && !isData {
			prose += "\n" + block
		}
		block, isData = "", false
	}
	return prose
}

// closeBlock returns text with a line that closes the fence or comment which was
// left open at its end: it would hide a section that is added.
func closeBlock(text []byte) []byte {
	closing := markdown.Unclosed(text)
	if closing == "" {
		return text
	}
	return insertOwnLine(text, len(text), closing+"\n")
}

// HandoffText returns the section of h: as a table, or as YAML if h has
// something that the table has no place for.
func HandoffText(h Handoff) []byte {
	if len(h.Dependencies)+len(h.Questions)+len(h.NextSteps) > 0 ||
		slices.ContainsFunc(h.Files, func(f HandoffFile) bool { return f != HandoffFile{Path: f.Path} }) ||
		slices.ContainsFunc(h.Patterns, func(p HandoffPattern) bool { return p != HandoffPattern{Pattern: p.Pattern} }) ||
		slices.ContainsFunc(h.Gotchas, func(g HandoffGotcha) bool { return g != HandoffGotcha{Issue: g.Issue} }) {
		return appendHandoffYAML(nil, h)
	}
	return appendHandoff(nil, h)
}

// JournalID returns the id of the journal of a task: task-{id}, below a nested root's folder.
func JournalID(task string) string {
	dir, id := path.Split(TaskKey(task))
	return dir + "task-" + id
}

// TaskKey returns what the spellings of a task's id have in common: of task-001 and 001 it is 001.
func TaskKey(task string) string {
	dir, id := path.Split(task)
	return dir + strings.TrimPrefix(id, "task-")
}

// TaskForms returns the spellings of the ids of tasks.
func TaskForms(tasks ...string) (forms []string) {
	for _, task := range tasks {
		forms = append(forms, TaskKey(task), JournalID(task))
	}
	return forms
}
