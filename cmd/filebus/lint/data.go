package lint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"filebus/cmd/filebus/run"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/folder"
	"filebus/store/record"
)

// data checks a file that a layout knows.
func (c *checker) data(name, full string, location layout.Location, text []byte) {
	file, problems := location.Parse(full, text)
	for _, p := range problems {
		c.syntax(name, location, file, p)
	}
	if markdown.IsBinary(text) && location.Kind != record.KindMarker {
		if len(problems) == 0 {
			c.add(name, 1, "layout", "the file is not text", "filebus show "+record.ShellWord(name))
		}
		return
	}
	base := baseOf(full, c.opts.Profile)
	c.repeated(name, base, file)
	switch location.Entries {
	case record.KindState:
		c.state(name, text)
		c.tasks.expect(base, text)
	case record.KindTask:
		for _, e := range file.Entries() {
			c.tasks.of(base, e.ID).known = true
		}
	case record.KindHandoff:
		if strings.HasSuffix(name, ".json") {
			c.tasks.addReport(base, name, file)
			break
		}
		j, _ := layout.ParseJournal(text) // what departs from the layout is reported already
		c.tasks.addJournal(base, name, location, text, j)
		c.handoff(name, base, location, text, j)
	case record.KindMarker:
		of := c.tasks.of(base, location.Facts.Task)
		of.markers = append(of.markers, name)
	}
}

// syntax reports a line that departs from its layout.
func (c *checker) syntax(name string, location layout.Location, file layout.File, p *layout.SyntaxError) {
	if again := (*record.Error)(nil); errors.As(p.Err, &again) && again.Reason == layout.ErrRepeatedID {
		message := fmt.Sprintf("%s is used again, first in line %s", again.Names[0], again.Names[1])
		c.add(name, p.Line, "duplicate-id", message, byHand(name, "give the second entry another id"))
		return
	}
	c.add(name, p.Line, "layout", p.Err.Error(), brokenRemedy(name, file, p))
}

// brokenRemedy returns the command that shows or mends the entry at a line.
func brokenRemedy(name string, file layout.File, p *layout.SyntaxError) string {
	value := (*record.Error)(nil)
	isValue := errors.As(p.Err, &value) && value.Reason == layout.ErrValue
	if value != nil && value.Reason == layout.ErrEncoding {
		return byHand(name, "save the text as UTF-8")
	} else if !isValue || value.Names[0] == "" || value.Names[1] == "status" {
		return byHand(name, "correct the line") // no command knows which status it was
	}
	for _, e := range file.Entries() {
		below := strings.Count(strings.TrimSuffix(string(e.Text), "\n"), "\n") // its heading
		isEntry := e.Kind == record.KindIssue || e.Kind == record.KindKnowledge
		if isEntry && e.Line <= p.Line && p.Line <= e.Line+below {
			flag := value.Names[0]
			const edit = "filebus %s edit %s --%s %s"
			return fmt.Sprintf(edit, e.Kind, record.ShellWord(e.ID), flag, strings.ToUpper(flag))
		}
	}
	return byHand(name, "correct the line")
}

// byHand is what no command knows how to mend.
func byHand(name, what string) string {
	return "by hand: " + what + " in " + name
}

// partsOf returns the command that reads a part of a large file.
func (c *checker) partsOf(name string, location layout.Location) string {
	section := "filebus get " + record.ShellWord(name) + " --section HEADING"
	read := c.report.Files
	text, _ := c.read(name) // what cannot be read is told where it is looked at
	if c.report.Files = read; markdown.IsBinary(text) {
		section = "filebus show " + record.ShellWord(name)
	} else if len(markdown.Outline(text)) == 0 {
		section = "filebus get " + record.ShellWord(name) + " --max-tokens 1000"
	}
	if strings.HasSuffix(name, ".json") && location.Entries == record.KindHandoff { // reports have no command
		return section
	}
	return cmp.Or(map[record.Kind]string{
		record.KindIssue:     "filebus issue list --open --max-tokens 1000",
		record.KindKnowledge: "filebus knowledge list TAG",
		record.KindComponent: "filebus component for FILE",
		record.KindHandoff:   "filebus task show " + record.ShellWord(location.Facts.Task),
		record.KindState:     "filebus run show",
		record.KindNote:      byHand(name, "make several smaller files of what is"),
	}[location.Entries], section)
}

// repeated reports entries whose ids stand in another file of the same base.
func (c *checker) repeated(name, base string, file layout.File) {
	for _, e := range file.Entries() {
		if !slices.Contains([]record.Kind{record.KindIssue, record.KindKnowledge, record.KindTask}, e.Kind) {
			continue
		}
		key := base + "\x00" + string(e.Kind) + "\x00" + e.ID
		if first, used := c.ids[key]; used {
			c.add(name, e.Line, "duplicate-id", fmt.Sprintf("%s is used again, first in %s:%d", e.ID, first.file,
				first.line), byHand(name, "give the second entry another id"))
			continue
		}
		c.ids[key] = place{name, e.Line}
	}
}

// oddMarker reports a marker that is no regular file.
func (c *checker) oddMarker(name string, mode fs.FileMode) {
	file := record.ShellWord(name)
	message := "the marker is " + folder.TypeName(mode) + ", not a file"
	c.add(name, 1, "marker-file", message, "mv -n "+file+" "+record.ShellWord(name+".old"))
}

// state reports what does not belong into a session state: long fields, a field for an output, and sections of prose,
// as transcripts and code are, too.
func (c *checker) state(name string, text []byte) {
	prose, begins := 0, 0
	report := func(line int, format string, args ...any) {
		c.add(name, line, "state-output", fmt.Sprintf(format+" of the session state, more than %d", append(args, run.MaxField)...), "")
	}
	for i, line := range strings.Split(string(text)+"\n#", "\n") {
		line = strings.TrimSpace(line)
		cells := []string{line}
		if strings.HasPrefix(line, "|") {
			cells = strings.Split(line, "|")
		}
		longest := slices.Max(markdown.Each(cells, func(cell string) int { return utf8.RuneCountInString(strings.TrimSpace(cell)) }))
		switch {
		case strings.HasPrefix(line, "#"):
			if prose > run.MaxField {
				report(begins, "%d characters of prose in one section", prose)
			}
			prose = 0
		case outputKey().MatchString(line):
			c.add(name, i+1, "state-output", "a field for an agent's output in the session state", "")
		case longest > run.MaxField:
			report(i+1, "%d characters in one field", longest)
		case line != "" && (transcriptLine().MatchString(line) || !stateLine().MatchString(line)):
			if prose == 0 {
				begins = i + 1
			}
			prose += longest
		}
	}
}

// stateLine is a line of YAML, of a table, of a list or of a fence.
var stateLine = pattern("^(- |-$|[\\w .-]+:(\\s|$)|\\]|\\}|\\||\\* |```|~~~)")

// fenceOf returns the mark of a code fence and what follows it.
func fenceOf(line string) (mark, info string) {
	if m := fenceMark().FindStringSubmatch(line); m != nil {
		return m[1], strings.TrimSpace(m[2])
	}
	return "", ""
}

var fenceMark = pattern("^(`{3,}|~{3,})([^`]*)$")

// transcriptLine is a line from the transcript of an agent.
var transcriptLine = pattern(`^(\*\*)?(Human|Assistant|User|System)(\*\*)?:(\*\*)?(\s|$)|^[⏺⎿]|^</?(function_calls|function_results|thinking|tool_use|invoke)\b|` +
	`^\{.*"(role|type)"\s*:\s*"(assistant|user|tool_use|tool_result)"|^●\s*\w+\(|^[$❯]\s`)

// outputKey is a field that holds an output, such as the final_output that the
// document warns of.
var outputKey = pattern(`(?i)^[-*\s]*(\*\*)?"?(final|agent|raw|full)[_ ]?(output|result|response|transcript)"?(\*\*)?\s*[:=](\*\*)?\s*\S`)
