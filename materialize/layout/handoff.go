package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/markdown"
)

// A Handoff is what one task leaves to the next: the part of a journal that an
// orchestrator reads. Values are as the text has them; see NormalizeStatus for
// the outcome. Both forms of a handoff, table and YAML, are read into it; the
// table has no place for Dependencies, Questions and NextSteps, nor for the
// details of files, patterns and gotchas.
type Handoff struct {
	Outcome      string
	Summary      string
	Files        []HandoffFile
	Blockers     []string
	Patterns     []HandoffPattern
	Gotchas      []HandoffGotcha
	Dependencies []string // what later tasks need
	Questions    []HandoffQuestion
	NextSteps    []string
	Extra        []Property // rows and keys not known here, in order
}

// A HandoffFile is a file that a task changed.
type HandoffFile struct {
	Path        string
	Change      string // "created", "modified" or, from a table, empty
	Lines       string // a number or a range
	Type        string // the kind of change, such as "refactor"
	Description string
}

// A HandoffPattern is a way of doing things worth repeating.
type HandoffPattern struct{ Pattern, Location, AppliesTo string }

// A HandoffGotcha is a trap that a task met.
type HandoffGotcha struct{ Issue, Mitigation, Severity string }

// A HandoffQuestion is what a task could not decide.
type HandoffQuestion struct {
	Question string
	Blocking bool
}

// The values of HandoffFile.Change.
const (
	changeCreated  = "created"
	changeModified = "modified"
)

// Check reports what a complete handoff lacks: an outcome, a summary, blockers
// of a blocked or partial task, next steps for a failed one. A journal without
// them is still read and stored.
func (h *Handoff) Check() []string {
	var missing []string
	status := NormalizeStatus(h.Outcome)
	switch {
	case h.Outcome == "":
		missing = append(missing, "the handoff has no outcome")
	case status == "":
		missing = append(missing, fmt.Sprintf("the outcome %q is none of completed, partial, failed, blocked", h.Outcome))
	}
	if h.Summary == "" {
		missing = append(missing, "the handoff has no summary")
	}
	if (status == StatusBlocked || status == StatusPartial) && len(h.Blockers) == 0 {
		missing = append(missing, fmt.Sprintf("the outcome is %s, but no blocker is named", h.Outcome))
	}
	if status == StatusFailed && len(h.NextSteps) == 0 && len(h.Blockers) == 0 {
		missing = append(missing, "the outcome is failed, but neither a blocker nor a next step is named")
	}
	return missing
}

// appendHandoff appends the section of h in the form of a table, from its
// heading to the last row.
func appendHandoff(dst []byte, h Handoff) []byte {
	dst = markdown.AppendWideHead(append(dst, "## Handoff\n\n"...), "Field", "Value")
	files := markdown.Each(h.Files, func(f HandoffFile) string { return f.Path })
	patterns := markdown.Each(h.Patterns, func(p HandoffPattern) string { return p.Pattern })
	gotchas := markdown.Each(h.Gotchas, func(g HandoffGotcha) string { return g.Issue })
	rows := []Property{
		{"Outcome", h.Outcome}, {"Summary", h.Summary}, {"Files Changed", joinFiles(files)},
		{"Blockers", joinCell(h.Blockers)}, {"Patterns Discovered", joinCell(patterns)}, {"Gotchas", joinCell(gotchas)},
	}
	// Nothing is written as "None", as the document has it: every handoff has these rows.
	for _, p := range append(rows, h.Extra...) {
		dst = markdown.AppendRow(dst, p.Key, cmp.Or(p.Value, "None"))
	}
	return dst
}

// cellBreak separates the items of a cell that holds several.
const cellBreak = "<br>"

// joinCell joins the items of a cell.
func joinCell(items []string) string {
	part := func(item string) string { return strings.ReplaceAll(item, cellBreak, " ") }
	return strings.Join(markdown.Each(items, part), cellBreak)
}

// joinFiles joins paths with commas, or with breaks if one holds a comma.
func joinFiles(paths []string) string {
	joined := strings.Join(paths, ", ")
	if strings.Count(joined, ",") == max(len(paths)-1, 0) && !strings.Contains(joined, cellBreak) {
		return joined
	}
	return joinCell(paths) + cellBreak
}

// splitCell returns the items of a cell, none if it holds a word for nothing.
// Breaks separate them if there are any, else the separator; prose is not cut at
// commas or semicolons, so blockers, patterns and gotchas have no separator.
func splitCell(cell, separator string) []string {
	if lower := strings.ToLower(cell); strings.Contains(lower, cellBreak) || strings.Contains(lower, "<br/>") {
		separator = cellBreak
		cell = strings.NewReplacer("<br/>", cellBreak, "<BR>", cellBreak, "<BR/>", cellBreak).Replace(cell)
	}
	parts := []string{cell}
	if separator != "" {
		parts = strings.Split(cell, separator)
	}
	return slices.DeleteFunc(markdown.Each(parts, strings.TrimSpace), markdown.IsNothing)
}

// ParseHandoff reads the section of a handoff, in either form, with or without
// its heading. Rows that it cannot read are reported by line, counted in text
// from 1.
func ParseHandoff(text []byte) (Handoff, []*SyntaxError) {
	body, line := string(text), 1
	if first, rest, _ := strings.Cut(body, "\n"); strings.HasPrefix(first, "#") {
		body, line = rest, 2
	}
	// A fence that says it is YAML decides; then a table, or fields; what is left is YAML.
	yaml, fenced := markdown.YAMLFence(body)
	if (markdown.HasRow(body) || fieldOutcome().MatchString(body)) && yaml.Info == "" {
		return parseHandoffRows(body, line)
	}
	if fenced {
		body, line = yaml.Inside, line+yaml.Before
	}
	if node, err := markdown.ParseJSONNode([]byte(body)); err == nil { // however many lines it has
		return handoffOf(node), nil
	}
	node, problems := markdown.ParseYAML(body, line)
	return handoffOf(node), problems
}

// fieldOutcome is the outcome in a handoff of fields, as hands write them: "- Outcome: x".
var fieldOutcome = Pattern(`(?im)^[ \t]*(?:[-*+][ \t]+\**|\*\*)outcome\b`)

// parseHandoffRows reads the rows of all tables in text, or its fields if it has none,
// whose first line has the number line. Rows in code fences are examples.
func parseHandoffRows(text string, line int) (h Handoff, problems []*SyntaxError) {
	hasRows := markdown.HasRow(text)
	for _, l := range markdown.Lines([]byte(text)) {
		cells, isRow := markdown.Row(l.Text)
		field, isField := cutProperty(string(l.Text))
		switch {
		case !hasRows && isField && !l.Quiet:
			h.setRow(field.Key, field.Value)
		case l.Quiet || !isRow || markdown.IsDelimiter(cells):
		case len(cells) < 2:
			row := markdown.Clip(strings.TrimSpace(string(l.Text)), 60)
			problems = append(problems, wrong(line+l.Number-1, "the handoff's row %q has no value", row))
		default:
			value := l.Text[cells[1].Start:cells[len(cells)-1].End] // keeps pipes that are not escaped
			h.setRow(markdown.UnescapeCell(cells[0].Text), markdown.UnescapeCell(string(value)))
			if len(cells) > 2 {
				const text = "the handoff's row %q has %d cells instead of 2"
				problems = append(problems, wrong(line+l.Number-1, text, cells[0].Text, len(cells)))
			}
		}
	}
	return h, problems
}

// setRow reads one row of the table form: a cell has the value of the key of YAML, and may
// hold several items. Prose is not cut at commas.
func (h *Handoff) setRow(key, value string) {
	key = strings.Trim(key, "*` ")
	items := []string{value}
	switch markdown.Fold(key) {
	case "field":
		return
	case "files_changed", "files", "files_created", "files_modified":
		items = markdown.Each(splitCell(value, ","), func(file string) string { return strings.Trim(file, "`") })
	case "blockers", "blocker", "patterns_discovered", "patterns", "gotchas", "gotcha":
		items = splitCell(value, "")
	}
	h.setKey(markdown.Fold(key), key, markdown.TextNode(items...))
}

// handoffOf takes a handoff out of its YAML form, which may lie below a key
// "handoff".
func handoffOf(node markdown.Node) (h Handoff) {
	if inner := node.Get("handoff"); len(inner.Pairs) > 0 {
		node = inner
	}
	for _, p := range node.Pairs {
		h.setKey(markdown.Fold(p.Key), p.Key, p.Value)
	}
	return h
}

// setKey reads one key, where any value may be a scalar in place of a list or map.
// Agents rename keys; what they mean is clear for these names, and any other is kept
// as it is.
func (h *Handoff) setKey(folded, key string, value markdown.Node) {
	switch folded {
	case "outcome", "status", "result":
		h.Outcome = value.Text()
	case "summary":
		if text := value.Text(); !markdown.IsNothing(text) {
			h.Summary = text
		}
	case "files_created":
		h.addFiles(changeCreated, value)
	case "files_modified":
		h.addFiles(changeModified, value)
	case "files_changed", "files":
		h.addFiles("", value)
	case "blockers", "blocker":
		h.Blockers = append(h.Blockers, value.Texts()...)
	case "patterns_discovered", "patterns":
		for _, item := range value.Items() {
			h.Patterns = append(h.Patterns, HandoffPattern{item.First("pattern", "name"), item.Get("location").Text(), item.Get("applies_to").Text()})
		}
	case "gotchas", "gotcha":
		for _, item := range value.Items() {
			h.Gotchas = append(h.Gotchas, HandoffGotcha{item.First("issue", "gotcha"), item.Get("mitigation").Text(), item.Get("severity").Text()})
		}
	case "dependencies_for_next":
		h.Dependencies = append(h.Dependencies, value.Texts()...)
	case "open_questions", "questions":
		for _, item := range value.Items() {
			blocking := markdown.Fold(item.Get("blocking").Text())
			h.Questions = append(h.Questions, HandoffQuestion{item.First("question"), blocking == "true" || blocking == "yes"})
		}
	case "suggested_next_steps", "next_steps":
		h.NextSteps = append(h.NextSteps, value.Texts()...)
	default:
		if text := value.Text(); text != "" {
			h.Extra = append(h.Extra, Property{key, text})
		}
	}
}

// addFiles reads a list of files: maps, or paths alone.
func (h *Handoff) addFiles(change string, value markdown.Node) {
	for _, item := range value.Items() {
		h.Files = append(h.Files, HandoffFile{
			Path: item.First("path", "file"), Change: change, Lines: item.Get("lines").Text(),
			Type: item.Get("change_type").Text(), Description: item.Get("description").Text(),
		})
	}
}

// appendHandoffYAML appends the section of h in the form of a fenced YAML
// block, from its heading to the end of the fence. Empty keys are left out,
// except outcome and summary.
func appendHandoffYAML(dst []byte, h Handoff) []byte {
	dst = append(dst, "## Handoff\n\n```yaml\n"...)
	dst = appendPair(appendPair(dst, "outcome", h.Outcome), "summary", h.Summary)
	for _, change := range []struct{ key, name string }{
		{"files_created", changeCreated}, {"files_modified", changeModified}, {"files_changed", ""},
	} {
		files := slices.DeleteFunc(slices.Clone(h.Files), func(f HandoffFile) bool { return f.Change != change.name })
		dst = appendItems(dst, change.key, files, func(f HandoffFile) []Property {
			return []Property{{"path", f.Path}, {"lines", f.Lines}, {"change_type", f.Type}, {"description", f.Description}}
		})
	}
	dst = appendItems(dst, "patterns_discovered", h.Patterns, func(p HandoffPattern) []Property {
		return []Property{{"pattern", p.Pattern}, {"location", p.Location}, {"applies_to", p.AppliesTo}}
	})
	dst = appendItems(dst, "gotchas", h.Gotchas, func(g HandoffGotcha) []Property {
		return []Property{{"issue", g.Issue}, {"mitigation", g.Mitigation}, {"severity", g.Severity}}
	})
	text := func(item string) []Property { return []Property{{"", item}} }
	dst = appendItems(dst, "dependencies_for_next", h.Dependencies, text)
	dst = appendItems(dst, "open_questions", h.Questions, func(q HandoffQuestion) []Property {
		return []Property{{"question", q.Question}, {"blocking", strconv.FormatBool(q.Blocking)}}
	})
	dst = appendItems(dst, "suggested_next_steps", h.NextSteps, text)
	dst = appendItems(dst, "blockers", h.Blockers, text)
	for _, p := range h.Extra {
		key := markdown.SingleSpaced(strings.ToValidUTF8(p.Key, "\ufffd"))
		if read, _, isKey := markdown.CutYAMLKey(key + ": x"); isKey && read == key {
			dst = appendPair(dst, key, p.Value)
		}
	}
	return append(dst, "```\n"...)
}

// appendPair appends "key: value" of YAML, or a value without a key.
func appendPair(dst []byte, key, value string) []byte {
	if key != "" {
		dst = append(append(dst, key...), ": "...)
	}
	return append(markdown.AppendYAML(dst, value), '\n')
}

// appendItems appends a list of YAML, or nothing for an empty one. The first value of
// each item is always written.
func appendItems[T any](dst []byte, key string, items []T, of func(T) []Property) []byte {
	if len(items) > 0 {
		dst = append(append(dst, key...), ":\n"...)
	}
	for _, item := range items {
		indent := "  - "
		for i, p := range of(item) {
			if i == 0 || p.Value != "" {
				dst = appendPair(append(dst, indent...), p.Key, p.Value)
				indent = "    "
			}
		}
	}
	return dst
}

// ParseHandoffJSON reads a handoff from a JSON object with the keys of the YAML
// form. Any value may be a scalar in place of a list or object, as there.
func ParseHandoffJSON(text []byte) (Handoff, []*SyntaxError) {
	node, err := markdown.ParseJSONNode(text)
	if err == nil && len(node.Pairs) == 0 {
		err = wrong(1, "it has no keys such as outcome and summary")
	}
	if err != nil {
		return Handoff{}, []*SyntaxError{err}
	}
	return handoffOf(node), nil
}
