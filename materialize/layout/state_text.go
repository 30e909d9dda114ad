package layout

import (
	"bytes"
	"slices"
	"strings"
)

// A stateText is a session state that is being edited, line by line.
type stateText struct {
	mark  string   // a byte order mark, or nothing
	lines []string // each with its ending
	eol   string
}

// A statePart is what stands under a heading, or before the first one.
type statePart struct {
	title    string // folded; "" before the first heading
	from, to int    // of its lines, without the heading and without a fence around YAML
	list     stateListKind
}

// A stateListKind says which of a state's lists is meant.
type stateListKind int

const (
	listNone stateListKind = iota
	listRunning
	listCompleted
	listHistory
)

// titles returns the folded headings or keys that a list can have, the usual one
// first.
func (k stateListKind) titles() []string {
	switch k {
	case listRunning:
		return []string{"running_agents", "running", "active_agents"}
	case listCompleted:
		return []string{"completed_agents", "completed"}
	case listHistory:
		return []string{"loop_history", "history"}
	}
	return nil
}

// stateListOf returns the list that a heading or key, folded, stands over.
func stateListOf(title string) stateListKind {
	for _, k := range []stateListKind{listRunning, listCompleted, listHistory} {
		if slices.Contains(k.titles(), title) {
			return k
		}
	}
	return listNone
}

func newStateText(text []byte) *stateText {
	t := &stateText{eol: lineEnding(text)}
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		t.mark, text = byteOrderMark, text[len(byteOrderMark):]
	}
	for line := range strings.Lines(string(text)) {
		t.lines = append(t.lines, line)
	}
	return t
}

func (t *stateText) bytes() []byte { return []byte(t.mark + strings.Join(t.lines, "")) }

// parts cuts the text as ParseState does.
func (t *stateText) parts() []statePart {
	text := []byte(strings.Join(t.lines, ""))
	sections := Outline(text)
	head := statePart{to: len(t.lines)}
	if len(sections) > 0 {
		head.to = sections[0].Line - 1
	}
	parts := []statePart{head}
	for i, section := range sections {
		p := statePart{title: fold(section.Title), to: len(t.lines)}
		if i+1 < len(sections) {
			p.to = sections[i+1].Line - 1
			section.End = min(section.End, sections[i+1].Start)
		}
		p.from = section.Line - 1 + bytes.Count(text[section.Start:section.End-len(sectionBody(text, section))], []byte("\n"))
		p.from = min(p.from, p.to)
		p.list = stateListOf(p.title)
		body := strings.Join(t.lines[p.from:p.to], "")
		if fence, found := cutYAMLFence(body); found && !hasFieldRow(body) && p.list != listHistory {
			p.from += fence.before
			p.to = p.from + strings.Count(fence.inside, "\n")
		}
		parts = append(parts, p)
	}
	return parts
}

// insert puts whole lines before line at; a last line without an ending gets one.
func (t *stateText) insert(at int, lines ...string) {
	if at > 0 && !strings.HasSuffix(t.lines[at-1], "\n") {
		t.lines[at-1] += t.eol
	}
	var ended []string
	for _, line := range lines {
		ended = append(ended, line+t.eol)
	}
	t.lines = slices.Insert(t.lines, at, ended...)
}

// isPlain reports whether the state is "key: value" lines without headings.
func (t *stateText) isPlain() bool {
	if len(t.parts()) > 1 {
		return false
	}
	return slices.ContainsFunc(t.lines, func(line string) bool {
		_, _, isKey := cutYAMLKey(strings.TrimSpace(line))
		return isKey
	})
}

// A stateProperty is a line that says a property of the run.
type stateProperty struct {
	line  int
	key   string // folded
	value int    // where the value begins in the line
	yaml  bool
}

// properties returns the lines that ParseState reads the run's properties from.
func (t *stateText) properties() []stateProperty {
	var all []stateProperty
	for _, p := range t.parts() {
		if p.list == listNone {
			all = append(all, t.propertiesOf(p)...)
		}
	}
	return all
}

func (t *stateText) propertiesOf(p statePart) []stateProperty {
	var found []stateProperty
	over := "" // the key that indented lines stand below
	for i := p.from; i < p.to; i++ {
		line := strings.TrimRight(t.lines[i], "\r\n")
		trimmed := strings.TrimSpace(line)
		if p.title != "" && (strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "**")) {
			if property, isProperty := cutProperty(line); isProperty && over == "" {
				found = append(found, stateProperty{i, fold(property.Key), valueStart(line), false})
			}
			continue
		}
		key, _, isKey := cutYAMLKey(trimmed)
		indented := len(line) > len(trimmed) && (line[0] == ' ' || line[0] == '\t')
		switch {
		case !isKey || isDash(trimmed):
		case !indented:
			over = fold(key)
			found = append(found, stateProperty{i, over, valueStart(line), true})
		case over == "current_run" || over == "run":
			found = append(found, stateProperty{i, fold(key), valueStart(line), true})
		}
	}
	return found
}

// valueStart returns where the value of a line "key: value" begins, behind the
// colon and the stars of a bold key.
func valueStart(line string) int {
	at := strings.Index(line, ":") + 1
	if strings.HasPrefix(line[at:], "**") {
		at += 2
	}
	return at
}

// set gives a property of the run another value; an empty one takes its lines
// away.
func (t *stateText) set(key, value string) {
	names := stateKeys(key)
	value = singleSpaced(value)
	all := t.properties()
	for i := len(all) - 1; i >= 0; i-- {
		p := all[i]
		if !slices.Contains(names, p.key) {
			continue
		}
		if value == "" {
			t.lines = slices.Delete(t.lines, p.line, p.line+1)
			continue
		}
		t.replaceValue(p, value) // the last one counts
		return
	}
	if value != "" {
		t.addProperty(all, key, value)
	}
}

// replaceValue writes a value in place of another. In YAML a comment behind it
// stays.
func (t *stateText) replaceValue(p stateProperty, value string) {
	line := strings.TrimRight(t.lines[p.line], "\r\n")
	ending := t.lines[p.line][len(line):]
	if p.yaml {
		comment := ""
		if i := strings.Index(line[p.value:], " #"); i >= 0 {
			comment = line[p.value+i:]
		}
		value = string(appendYAMLScalar(nil, value)) + comment
	}
	t.lines[p.line] = line[:p.value] + " " + value + ending
}

// addProperty adds a property behind those of the run, in their form.
func (t *stateText) addProperty(all []stateProperty, key, value string) {
	last := -1
	for i, p := range all {
		if slices.ContainsFunc([]string{"run_id", "started", "loop", "focus", "ended"}, func(known string) bool {
			return slices.Contains(stateKeys(known), p.key)
		}) {
			last = i
		}
	}
	switch {
	case last >= 0:
		t.insert(all[last].line+1, likeProperty(t.lines[all[last].line], all[last], key, value))
	case t.isPlain():
		at := 0
		if strings.TrimSpace(t.lines[0]) == "---" {
			at = 1
		}
		t.insert(at, fold(key)+": "+string(appendYAMLScalar(nil, value)))
	default:
		t.addToRun("- " + key + ": " + value)
	}
}

// likeProperty returns the line of a property in the form of another one's.
func likeProperty(line string, p stateProperty, key, value string) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if p.yaml {
		return indent + fold(key) + ": " + string(appendYAMLScalar(nil, value))
	}
	mark := ""
	if rest := strings.TrimLeft(line, " \t"); strings.HasPrefix(rest, "- ") {
		mark = "- "
	}
	switch {
	case strings.HasSuffix(line[:p.value], ":**"):
		key = "**" + key + ":**"
	case strings.Contains(line[:p.value], "**:"):
		key = "**" + key + "**:"
	default:
		key += ":"
	}
	return indent + mark + key + " " + value
}

// addToRun adds a line to the section of the run, which is made if there is
// none: before the lists.
func (t *stateText) addToRun(line string) {
	parts := t.parts()
	for _, p := range parts {
		if p.title == "current_run" || p.title == "run" {
			t.insert(p.from, line)
			return
		}
	}
	for _, p := range parts {
		if p.list != listNone {
			for at := p.from - 1; at >= 0; at-- {
				if level, _ := scanHeading([]byte(strings.TrimRight(t.lines[at], "\r\n"))); level > 0 {
					t.insert(at, "## Current Run", line, "")
					return
				}
			}
		}
	}
	t.insert(len(t.lines), "", "## Current Run", line)
}
