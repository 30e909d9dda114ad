package lint

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"filebus/materialize/run"
)

// putRemedy stores what does not belong into a state.
const putRemedy = "filebus put FILE --agent NAME, and its reference in place of the text"

// state reports what does not belong into a session state: long lines and
// sections of prose, blocks of code, and transcripts.
func (c *checker) state(name string, text []byte) {
	report := func(line int, format string, args ...any) {
		c.add(Finding{name, line, stateOutput, fmt.Sprintf(format, args...), putRemedy})
	}
	s := stateScan{report: report}
	for i, line := range strings.Split(string(text), "\n") {
		s.line(i+1, strings.TrimRight(line, "\r"))
	}
	s.endProse()
}

// A stateScan goes through the lines of a session state.
type stateScan struct {
	report     func(line int, format string, args ...any)
	fence      string // the mark of the fence that the line is in
	fenceLine  int
	prose      int // characters of the section's prose
	proseLine  int
	transcript bool // one was reported: its lines are one finding
}

func (s *stateScan) line(number int, line string) {
	trimmed := strings.TrimSpace(line)
	mark, info := fenceOf(trimmed)
	switch {
	case s.fence != "" && mark != "" && strings.HasPrefix(mark, s.fence) && info == "":
		s.fence = ""
	case s.fence != "":
		s.fenced(number, trimmed)
	case mark != "":
		s.fence, s.fenceLine = mark, number
		if info = strings.ToLower(info); info != "" && info != "yaml" && info != "yml" {
			s.report(number, "a block of %s in the session state", info)
			s.fenceLine = 0
		}
	default:
		s.plain(number, trimmed)
	}
}

// fenceOf returns the mark of a code fence and what follows it.
func fenceOf(line string) (mark, info string) {
	for _, of := range []string{"`", "~"} {
		if rest := strings.TrimLeft(line, of); len(line)-len(rest) >= 3 && !strings.Contains(rest, "`") {
			return line[:len(line)-len(rest)], strings.TrimSpace(rest)
		}
	}
	return "", ""
}

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
	switch {
	case strings.HasPrefix(line, "#"):
		s.endProse()
		s.transcript = false
		return
	case transcriptLine().MatchString(line):
		if !s.transcript {
			s.report(number, "a transcript in the session state")
		}
		s.transcript = true
		return
	case outputKey().MatchString(line):
		s.report(number, "a field for an agent's output in the session state")
		return
	}
	if s.long(number, line) || line == "" || strings.HasPrefix(line, "|") || yamlLine().MatchString(line) ||
		strings.HasPrefix(line, "* ") {
		return
	}
	if s.prose == 0 {
		s.proseLine = number
	}
	s.prose += utf8.RuneCountInString(line)
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
	`^\{.*"(role|type)"\s*:\s*"(assistant|user|tool_use|tool_result)"`)

// outputKey is a field that holds an output, such as the final_output that the
// document warns of.
var outputKey = pattern(`(?i)^[-*\s]*(\*\*)?"?(final|agent|raw|full)[_ ]?(output|result|response|transcript)"?(\*\*)?\s*[:=](\*\*)?\s*\S`)
