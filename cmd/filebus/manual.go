package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus"
	"filebus/materialize/layout"
)

// A manual is docs/cli.md, taken apart. What help, shells and guides say of commands
// and flags stands there alone, in the form that the page itself describes.
type manual struct {
	general  string              // what comes before the commands
	paths    []string            // of the commands, in the order of the page
	groups   map[string]string   // by the path of a command that is below no other
	first    []string            // the paths of the commands that one needs first
	purposes map[string]string   // what one needs them for, by path
	sections map[string]*section // by heading; that of a command is its path
}

// A section is what stands below one heading.
type section struct {
	text     string    // with the heading, as it stands
	short    string    // what the command does, without the full stop
	long     []string  // the blocks up to the first flag, table, fence or JSON, as Markdown
	flags    []flagRow // as they stand: see manual.flags
	examples []string  // command lines
}

// A flagRow is what a line of a list says of a flag: "--name VALUE" and what it means.
type flagRow struct{ name, value, meaning string }

// readManual takes the page apart. Only help, completion and guides need it.
func readManual() *manual {
	m := &manual{sections: map[string]*section{}, groups: map[string]string{}, purposes: map[string]string{}}
	inGeneral, group := true, ""
	page := filebus.CommandLine()
	for _, text := range splitOutsideFences(page, func(line string) bool {
		return strings.HasPrefix(line,
			"#")
	}) {
		line, _, _ := strings.Cut(text, "\n")
		heading := strings.Trim(line, "#` ")
		switch {
		case strings.HasPrefix(line, "# "):
			heading = "filebus"
		case heading == "Shared flags":
			heading = "filebus shared" // as those of a command
		case strings.HasPrefix(line, "## Commands "):
			inGeneral, group = false, heading
		case strings.HasPrefix(heading, "filebus "):
			m.paths = append(m.paths, heading)
			if strings.Count(heading, " ") == 1 {
				m.groups[heading] = group
			}
		}
		if inGeneral {
			m.general += text
		}
		m.sections[heading] = parseSection(text)
	}
	for _, line := range purposeLine().FindAllStringSubmatch(m.sections["Which command"].text, -1) {
		for _, name := range strings.Split(plainText(line[2]), ", ") {
			m.first = append(m.first, "filebus "+name)
			m.purposes["filebus "+name] = line[1]
		}
	}
	return m
}

var purposeLine = layout.Pattern("(?m)^- ([A-Z][a-z ]+): (.+)$")

// splitOutsideFences cuts a text before each line that begins a part, but not within
// blocks of code.
func splitOutsideFences(text string, begins func(line string) bool) []string {
	var parts []string
	start, at, fenced := 0, 0, false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && at > start && begins(line) {
			parts = append(parts, text[start:at])
			start = at
		}
		at += len(line)
	}
	return append(parts, text[start:])
}

func parseSection(text string) *section {
	s := &section{text: text}
	inLong := true
	blocks := splitOutsideFences(text, func(line string) bool { return line == "\n" })
	for _, block := range blocks[1:] {
		switch block = strings.Trim(block, "\n"); {
		case block == "":
		case strings.HasPrefix(block, flagItem), strings.HasPrefix(block, "|"), strings.HasPrefix(block, "```"), strings.HasPrefix(block, "JSON"):
			inLong = false
			s.addFlags(block)
			s.addExamples(block)
		case s.short != "" && inLong:
			s.long = append(s.long, block)
		case s.short == "" && !strings.HasPrefix(block, "    "):
			s.short = strings.TrimSuffix(plainText(block), ".")
		}
	}
	return s
}

// flagItem is how an item about flags begins.
const flagItem = "- `--"

var flagWord = layout.Pattern("`--([a-z-]+)( [^`]+|\\[=[A-Z]+\\])?`( \\([^)]+\\))?")

// addFlags reads the items of a list that are about flags: one flag, or several with one
// meaning, or with one for each and semicolons between. A default in parentheses becomes
// the end of the meaning.
func (s *section) addFlags(block string) {
	for line := range strings.Lines(block) {
		names, meaning, _ := strings.Cut(line, ": ")
		if strings.HasPrefix(names, flagItem) {
			found := flagWord().FindAllStringSubmatch(names, -1)
			meanings := strings.Split(strings.TrimSpace(meaning), "; ")
			if len(meanings) != len(found) {
				meanings = slices.Repeat([]string{strings.TrimSpace(meaning)}, len(found))
			}
			for i, m := range found {
				usual := strings.Replace(m[3], "(", "(default ", 1)
				s.flags = append(s.flags, flagRow{m[1], plainText(m[2]), meanings[i] + usual})
			}
		}
	}
}

// addExamples reads the command lines of a block of code.
func (s *section) addExamples(block string) {
	for line := range strings.Lines(block) {
		if example, found := strings.CutPrefix(line, "$ "); found && strings.HasPrefix(block, "```") {
			s.examples = append(s.examples, strings.TrimSuffix(example, "\n"))
		}
	}
}

// asFor finds the command below which another meaning of a flag stands, or that the flag
// is a shared one.
var asFor = layout.Pattern("^(?:as for `([a-z ]+)`|\\[(shared)\\]\\(#shared-flags\\))")

// flags returns what the section of a command, or another heading, says of flags. A
// meaning "as for `put`" is replaced by the one that the flag has there.
func (m *manual) flags(heading string) []flagRow {
	var rows []flagRow
	if m.sections[heading] == nil { // a command that cobra brings along
		return nil
	}
	for _, row := range m.sections[heading].flags {
		if other := asFor().FindStringSubmatch(row.meaning); other != nil {
			for _, there := range m.flags("filebus " + other[1] + other[2]) {
				if there.name == row.name {
					row.value, row.meaning = cmp.Or(row.value, there.value), there.meaning+strings.TrimPrefix(row.meaning, other[0])
				}
			}
		}
		row.meaning = plainText(row.meaning)
		rows = append(rows, row)
	}
	return rows
}

// describe gives a command and those below it the texts that a shell shows when it
// completes.
func (m *manual) describe(cmd *cobra.Command) {
	cmd.Short = m.short(cmd)
	heading := cmd.CommandPath()
	if !cmd.HasParent() {
		heading = globalFlags
	}
	for _, row := range m.flags(heading) {
		if flag := cmd.Flag(row.name); flag != nil {
			flag.Usage = row.meaning
		}
	}
	for _, sub := range cmd.Commands() {
		m.describe(sub)
	}
}

// globalFlags is the heading below which the flags of all commands stand.
const globalFlags = "Global flags"

var link = layout.Pattern(`\[([^\]]*)\]\([^)]*\)`)

// plainText returns Markdown as a terminal shows it: without marks of code and links.
func plainText(text string) string {
	return strings.NewReplacer("`", "", `\|`, "|").Replace(link().ReplaceAllString(text, "$1"))
}
