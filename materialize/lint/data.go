package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// data checks a file that a layout knows.
func (c *checker) data(name, full string, location layout.Location, text []byte) {
	if markdown.IsBinary(text) && location.Kind != record.KindMarker {
		c.add(Finding{name, 1, badLayout, "the file is not text", "filebus show " + shellWord(name)})
		return
	}
	file, problems := location.Parse(full, text)
	for _, p := range problems {
		c.syntax(name, location, file, p)
	}
	base := baseOf(full, c.opts.Profile)
	c.repeated(name, base, file)
	switch location.Layout.(type) {
	case layout.States:
		c.state(name, text)
		c.tasks.expect(base, text)
	case layout.TaskQueue:
		for _, e := range file.Entries() {
			c.tasks.of(base, e.ID).known = true
		}
	case layout.Journals:
		j, _ := layout.ParseJournal(text) // what departs from the layout is reported already
		c.tasks.addJournal(base, name, location, text, j)
		c.handoff(name, location, text, j)
	case layout.Reports:
		c.tasks.addReport(base, name, file)
	case layout.Completions:
		of := c.tasks.of(base, location.Facts.Task)
		of.markers = append(of.markers, name)
	}
}

// syntax reports a line that departs from its layout.
func (c *checker) syntax(name string, location layout.Location, file layout.File, p *layout.SyntaxError) {
	if again := (*record.Error)(nil); errors.As(p.Err, &again) && again.Reason == layout.ErrRepeatedID {
		message := fmt.Sprintf("%s is used again, first in line %s", again.Names[0], again.Names[1])
		c.add(Finding{name, p.Line, duplicateID, message, remediesOf(name, location).repeated})
		return
	}
	c.add(Finding{name, p.Line, badLayout, p.Err.Error(), brokenRemedy(name, location, file, p.Line)})
}

// brokenRemedy returns the command that shows or mends the entry at a line.
func brokenRemedy(name string, location layout.Location, file layout.File, line int) string {
	for _, e := range file.Entries() {
		isEntry := e.Kind == record.KindIssue || e.Kind == record.KindKnowledge
		below := strings.Count(strings.TrimSuffix(string(e.Text), "\n"), "\n") // its heading
		if isEntry && e.Line <= line && line <= e.Line+below {
			return fmt.Sprintf("filebus %s edit %s", e.Kind, shellWord(e.ID))
		}
	}
	return remediesOf(name, location).broken
}

// remedies are the commands that help with a file: that give an entry an id of its
// own, that show or mend a line, and that read a part of what is large.
type remedies struct{ repeated, broken, large string }

func remediesOf(name string, location layout.Location) remedies {
	r := remedies{
		"filebus component show", "filebus show " + shellWord(name) + ", and the line by hand",
		"filebus get " + shellWord(name) + " --section HEADING",
	}
	if location.Kind == record.KindNote {
		r.large += ", after filebus capture; or several smaller files"
	}
	switch location.Layout.(type) {
	case layout.IssueQueue:
		r.repeated = "filebus issue add SUMMARY, in place of the second entry"
		r.large = "filebus issue list --open --max-tokens 1000"
	case layout.KnowledgeGraph, layout.KnowledgeJSON, layout.Lessons:
		r.repeated, r.large = "filebus knowledge add TEXT, in place of the second entry", "filebus knowledge list TAG"
	case layout.TaskQueue:
		r.repeated = "filebus task list, and another id for the second entry"
	case layout.ContextMap:
		r.large = "filebus component for FILE"
	case layout.Journals:
		task := shellWord(location.Facts.Task)
		r.broken, r.large = "filebus task handoff "+task, "filebus task show "+task
	case layout.States:
		r.broken, r.large = "filebus run show, and the line by hand", "filebus run show"
	}
	return r
}

// repeated reports entries whose ids stand in another file of the same base.
func (c *checker) repeated(name, base string, file layout.File) {
	for _, e := range file.Entries() {
		if !slices.Contains([]record.Kind{record.KindIssue, record.KindKnowledge, record.KindTask}, e.Kind) {
			continue
		}
		key := base + "\x00" + string(e.Kind) + "\x00" + e.ID
		if first, used := c.ids[key]; used {
			c.add(Finding{name, e.Line, duplicateID, fmt.Sprintf("%s is used again, first in %s:%d", e.ID, first.file,
				first.line),
				"filebus show " + shellWord(string(e.Kind)+"/"+e.ID)})
			continue
		}
		c.ids[key] = place{name, e.Line}
	}
}

// oddMarker reports a marker that is no regular file.
func (c *checker) oddMarker(name string, location layout.Location, mode fs.FileMode) {
	what := "a thing that is no file"
	switch {
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	}
	c.add(Finding{name, 1, markerFile, "the marker is " + what + ", not a file", "filebus task start " +
		shellWord(location.Facts.Task)})
}
