package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// data checks a file that a layout knows.
func (c *checker) data(name, full string, seat layout.Place, text []byte) {
	if layout.IsBinary(text) && seat.Kind != record.KindMarker {
		c.add(Finding{name, 1, Layout, "the file is not text", "filebus show " + shellWord(name)})
		return
	}
	file, problems := seat.Parse(full, text)
	for _, p := range problems {
		c.syntax(name, seat, file, p)
	}
	base := baseOf(full, c.opts.Profile)
	c.repeated(name, base, file)
	switch seat.Layout.(type) {
	case layout.States:
		c.state(name, text)
		c.tasks.expect(base, text)
	case layout.TaskQueue:
		for _, e := range file.Entries() {
			c.tasks.know(base, e.ID)
		}
	case layout.Journals:
		c.tasks.addJournal(base, name, seat, text)
		c.handoff(name, seat, text)
	case layout.Reports:
		c.tasks.addReport(base, name, file)
	case layout.Completions:
		c.tasks.addMarker(base, name, seat)
	}
}

// syntax reports a line that departs from its layout.
func (c *checker) syntax(name string, seat layout.Place, file layout.File, p *layout.SyntaxError) {
	if again := (*record.Error)(nil); errors.As(p.Err, &again) && again.Reason == layout.ErrRepeatedID {
		found := fmt.Sprintf("%s is used again, first in line %s", again.Names[0], again.Names[1])
		c.add(Finding{name, p.Line, DuplicateID, found, repeatedRemedy(seat)})
		return
	}
	c.add(Finding{name, p.Line, Layout, p.Err.Error(), layoutRemedy(name, seat, file, p.Line)})
}

// repeatedRemedy returns the command that gives an entry an id of its own.
func repeatedRemedy(seat layout.Place) string {
	switch seat.Layout.(type) {
	case layout.IssueQueue:
		return "filebus issue add SUMMARY, in place of the second entry"
	case layout.KnowledgeGraph, layout.KnowledgeJSON, layout.Lessons:
		return "filebus knowledge add TEXT, in place of the second entry"
	case layout.TaskQueue:
		return "filebus task list, and another id for the second entry"
	}
	return "filebus component show"
}

// layoutRemedy returns the command that shows or mends the entry at a line.
func layoutRemedy(name string, seat layout.Place, file layout.File, line int) string {
	switch seat.Layout.(type) {
	case layout.States:
		return "filebus run show, and the line by hand"
	case layout.Journals:
		return "filebus task handoff " + shellWord(seat.Facts.Task)
	}
	for _, e := range file.Entries() {
		if e.Line > line || line > e.Line+strings.Count(string(e.Text), "\n") {
			continue
		}
		switch e.Kind {
		case record.KindIssue:
			return "filebus issue edit " + shellWord(e.ID)
		case record.KindKnowledge:
			return "filebus knowledge edit " + shellWord(e.ID)
		}
	}
	return "filebus show " + shellWord(name) + ", and the line by hand"
}

// repeated reports entries whose ids stand in another file of the same base.
func (c *checker) repeated(name, base string, file layout.File) {
	for _, e := range file.Entries() {
		switch e.Kind {
		case record.KindIssue, record.KindKnowledge, record.KindTask:
		default:
			continue
		}
		key := base + "\x00" + string(e.Kind) + "\x00" + e.ID
		if first, used := c.ids[key]; used {
			c.add(Finding{name, e.Line, DuplicateID, fmt.Sprintf("%s is used again, first in %s:%d", e.ID, first.file, first.line),
				"filebus show " + shellWord(string(e.Kind)+"/"+e.ID)})
			continue
		}
		c.ids[key] = place{name, e.Line}
	}
}

// oddMarker reports a marker that is no regular file.
func (c *checker) oddMarker(name string, seat layout.Place, mode fs.FileMode) {
	what := "a thing that is no file"
	switch {
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	}
	c.add(Finding{name, 1, MarkerFile, "the marker is " + what + ", not a file", "filebus task start " + shellWord(seat.Facts.Task)})
}
