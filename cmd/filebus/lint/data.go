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
	if markdown.IsBinary(text) && location.Kind != record.KindMarker {
		c.add(name, 1, "layout", "the file is not text", "filebus show "+record.ShellWord(name))
		return
	}
	file, problems := location.Parse(full, text)
	for _, p := range problems {
		c.syntax(name, location, file, p)
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
		c.add(name, p.Line, "duplicate-id", message, byHand(name, "another id for the second entry"))
		return
	}
	c.add(name, p.Line, "layout", p.Err.Error(), brokenRemedy(name, file, p))
}

// brokenRemedy returns the command that shows or mends the entry at a line.
func brokenRemedy(name string, file layout.File, p *layout.SyntaxError) string {
	value := (*record.Error)(nil)
	isValue := errors.As(p.Err, &value) && value.Reason == layout.ErrValue
	if !isValue || value.Names[0] == "" || value.Names[1] == "status" {
		return byHand(name, "the line") // no command knows which status it was
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
	return byHand(name, "the line")
}

// byHand is what no command knows how to mend.
func byHand(name, what string) string {
	return "by hand: " + what + " in " + name
}

// partsOf returns the command that reads a part of a large file.
func partsOf(name string, location layout.Location) string {
	section := "filebus get " + record.ShellWord(name) + " --section HEADING"
	if strings.HasSuffix(name, ".json") && location.Entries == record.KindHandoff { // reports have no command
		return section
	}
	return cmp.Or(map[record.Kind]string{
		record.KindIssue:     "filebus issue list --open --max-tokens 1000",
		record.KindKnowledge: "filebus knowledge list TAG",
		record.KindComponent: "filebus component for FILE",
		record.KindHandoff:   "filebus task show " + record.ShellWord(location.Facts.Task),
		record.KindState:     "filebus run show",
		record.KindNote:      byHand(name, "several smaller files for what is"),
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
				first.line), byHand(name, "another id for the second entry"))
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

// state reports what does not belong into a session state: long lines and
// sections of prose, blocks of code, and transcripts.
func (c *checker) state(name string, text []byte) {
	s := stateScan{report: func(line int, format string, args ...any) {
		c.add(name, line, "state-output", fmt.Sprintf(format, args...), "")
	}}
	for i, line := range strings.Split(string(text), "\n") {
		s.line(i+1, strings.TrimSpace(line))
	}
	s.endProse()
}

// A stateScan goes through the lines of a session state.
type stateScan struct {
	report     func(line int, format string, args ...any)
	fence      string // the mark of the fence that the line is in
	fenceLine  int    // 0: of this fence all was said
	prose      int    // characters of the section's prose
	proseLine  int
	transcript bool // one was reported: its lines are one finding
}

func (s *stateScan) line(number int, line string) {
	mark, info := fenceOf(line)
	switch {
	case s.fence != "" && strings.HasPrefix(mark, s.fence) && info == "":
		s.fence = ""
	case s.fence != "":
		s.fenced(number, line)
	case mark != "":
		s.fence, s.fenceLine = mark, number
		if info = strings.ToLower(info); !slices.Contains([]string{"", "yaml", "yml"}, info) {
			s.report(number, "a block of %s in the session state", info)
			s.fenceLine = 0
		}
	default:
		s.plain(number, line)
	}
}

// fenceOf returns the mark of a code fence and what follows it.
func fenceOf(line string) (mark, info string) {
	if m := fenceMark().FindStringSubmatch(line); m != nil {
		return m[1], strings.TrimSpace(m[2])
	}
	return "", ""
}

var fenceMark = pattern("^(`{3,}|~{3,})([^`]*)$")

// fenced looks at a line in a fence without a language: a state may be YAML
// there, anything else is an output.
func (s *stateScan) fenced(number int, line string) {
	if s.fenceLine == 0 || line == "" {
		return
	}
	s.long(number, line)
	if !yamlLine().MatchString(line) {
		s.report(s.fenceLine, "a block of text in the session state")
		s.fenceLine = 0
	}
}

var yamlLine = pattern(`^(- |-$|#|[\w .-]+:(\s|$)|\]|\})`)

// plain looks at a line outside of fences.
func (s *stateScan) plain(number int, line string) {
	isTranscript := transcriptLine().MatchString(line)
	switch {
	case strings.HasPrefix(line, "#"):
		s.endProse()
		s.transcript = false
	case isTranscript && !s.transcript:
		s.report(number, "a transcript in the session state")
		s.transcript = true
	case outputKey().MatchString(line):
		s.report(number, "a field for an agent's output in the session state")
	case isTranscript, s.long(number, line), line == "", yamlLine().MatchString(line):
	case strings.HasPrefix(line, "|"), strings.HasPrefix(line, "* "):
	default:
		if s.prose == 0 {
			s.proseLine = number
		}
		s.prose += utf8.RuneCountInString(line)
	}
}

// long reports a line or a cell with more than a field has.
func (s *stateScan) long(number int, line string) bool {
	cells := []string{line}
	if strings.HasPrefix(line, "|") {
		cells = strings.Split(line, "|")
	}
	for _, cell := range cells {
		if n := utf8.RuneCountInString(strings.TrimSpace(cell)); n > run.MaxField {
			s.report(number, "%d characters in one field of the session state, more than %d", n, run.MaxField)
			return true
		}
	}
	return false
}

// endProse reports the prose of a section that ends, if it is too long.
func (s *stateScan) endProse() {
	if s.prose > run.MaxField {
		s.report(s.proseLine, "%d characters of prose in one section of the session state, more than %d", s.prose, run.MaxField)
	}
	s.prose = 0
}

// transcriptLine is a line from the transcript of an agent.
var transcriptLine = pattern(`^(\*\*)?(Human|Assistant|User|System)(\*\*)?:(\*\*)?(\s|$)|^[⏺⎿]|^</?(function_calls|function_results|thinking|tool_use|invoke)\b|` +
	`^\{.*"(role|type)"\s*:\s*"(assistant|user|tool_use|tool_result)"|^●\s*\w+\(|^[$❯]\s`)

// outputKey is a field that holds an output, such as the final_output that the
// document warns of.
var outputKey = pattern(`(?i)^[-*\s]*(\*\*)?"?(final|agent|raw|full)[_ ]?(output|result|response|transcript)"?(\*\*)?\s*[:=](\*\*)?\s*\S`)
