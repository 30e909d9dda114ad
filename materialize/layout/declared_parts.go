package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// spans cuts a text into what may be entries, in its order.
func (d *declared) spans(c *fileCutter) []span {
	switch d.Entries {
	case "json":
		return d.jsonSpans(c)
	case "jsonl":
		return d.jsonLineSpans(c)
	case "yaml":
		return d.yamlSpans(c.text)
	}
	return d.lineSpans(c.text)
}

// boxed is an item of a check list, or a heading with a box.
var boxed = Pattern(`^(\s*)(?:[-*+]|\d+[.)]|#{1,6})[ \t]+\[([^\]\n]?)\](.*)$`)

// lineSpans cuts Markdown at its items, headings or lines.
func (d *declared) lineSpans(text []byte) []span {
	lines := markdown.Lines(text)
	var above []markdown.Line
	all := cutEntries(lines, func(i, open int) (s span, level int, is bool) {
		l := lines[i]
		if l.Level > 0 {
			above = slices.DeleteFunc(above, func(h markdown.Line) bool { return h.Level >= l.Level })
		}
		s, level, is = d.begins(l)
		isPart := d.Nest == "part" && open > 0 && level > open && l.Level == 0 && (open >= itemLevel || d.Heading != "")
		is = is && !isPart && d.takes(&s, above)
		if l.Level > 0 {
			above = append(above, l)
		}
		return s, level, is
	})
	for i := range all {
		s := &all[i]
		for s.next > s.first+1 && isBlankText(lines[s.next-1].Text) {
			s.next--
		}
		s.start, s.end = lines[s.first].Start, lines[s.next-1].End
		for name, pattern := range d.Find {
			s.vars[name] = captures(pattern, string(text[s.start:s.end]))[name]
		}
	}
	return all
}

func depth(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t")) }

// begins reports whether a line may begin an entry, at which level, and returns its text without the mark.
func (d *declared) begins(l markdown.Line) (s span, level int, is bool) {
	s.vars = maps.Clone(d.vars)
	if _, heading := markdown.Heading(l.Text); d.Heading != "" && l.Level > 0 && compiled(d.Heading).MatchString(heading) {
		s.text = heading
		return s, l.Level, true
	}
	switch d.Entries {
	case "items":
		m := boxed().FindSubmatch(l.Text)
		if m == nil || l.Quiet && !d.Fences {
			return s, 0, false
		}
		box := string(m[2])
		if box == "" {
			box = " "
		}
		s.vars["$box"] = strings.ToLower(box)
		s.text = strings.TrimSpace(string(m[3]))
		if l.Level > 0 { // a heading with a box has what stands below it
			return s, l.Level, true
		}
		return s, itemLevel + len(m[1]), true
	case "sections":
		_, s.text = markdown.Heading(l.Text)
		return s, l.Level, l.Level > 0 && slices.Contains(d.At, strconv.Itoa(l.Level))
	}
	s.text = string(bytes.TrimSpace(l.Text))
	return s, 0, s.text != "" && l.Level == 0 && !l.Quiet
}

// takes reports whether a part is an entry, below some headings, and takes what there is to capture.
func (d *declared) takes(s *span, above []markdown.Line) bool {
	for _, h := range slices.Backward(above) {
		_, heading := markdown.Heading(h.Text)
		for _, skip := range d.Skip {
			if compiled(skip).MatchString(heading) {
				return false
			}
		}
		for name, pattern := range d.Above {
			if found := captures(pattern, heading); s.vars[name] == "" && found != nil {
				s.vars[name] = found[name]
			}
		}
	}
	if d.Match == "" {
		s.vars["title"] = s.text
		return true
	}
	pattern := d.Match
	if d.Heading != "" && s.vars["$box"] == "" {
		pattern = d.Heading
	}
	found := captures(pattern, s.text)
	maps.Copy(s.vars, found)
	return found != nil
}

// boxWords are what boxes mean where a declaration has no words of its own.
func boxWord(box string) string {
	switch box {
	case "":
		return ""
	case " ":
		return StatusPending
	case "x":
		return StatusComplete
	case "-":
		return StatusInProgress
	}
	return "[" + box + "]"
}

// ticked returns the status that the boxes of a text come to, "" if it has none.
func ticked(text []byte) (status string) {
	for _, l := range markdown.Lines(text) {
		m := boxed().FindSubmatch(l.Text)
		if m == nil || l.Quiet {
			continue
		}
		is := boxWord(cmp.Or(strings.ToLower(string(m[2])), " "))
		if status = cmp.Or(status, is); is != status {
			status = StatusInProgress
		}
	}
	return status
}

// jsonSpans cuts a JSON text at the values that pointers name; entries in an entry cut it.
func (d *declared) jsonSpans(c *fileCutter) (all []span) {
	root, err := markdown.ParseObject(c.text)
	if err != nil {
		c.report([]*SyntaxError{err})
		return nil
	}
	for _, at := range d.At {
		if all = d.jsonAt(root, splitPointer(at), maps.Clone(d.vars), ""); len(all) > 0 {
			break
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
	for i := range all[:max(len(all)-1, 0)] {
		all[i].end = min(all[i].end, all[i+1].start)
	}
	return all
}

// jsonLineSpans returns the lines that are objects with an id. What git could not merge is lines of both sides between
// markers: of several with one id the newest counts, of those alike the first.
func (d *declared) jsonLineSpans(c *fileCutter) (all []span) {
	best, number := map[string]span{}, 0
	at := len(c.text) - len(bytes.TrimPrefix(c.text, []byte(markdown.ByteOrderMark)))
	newest := func(s span) time.Time {
		t, _ := ParseDate(cmp.Or(d.valuesAt(d.Newest, "", nil, s)...))
		return t // zero: it does not say
	}
	for line := range bytes.Lines(c.text[at:]) {
		number++
		at += len(line)
		s, err := d.readLine(line)
		s.start, s.end, s.line = at-len(line), at, number
		switch {
		case isBlankText(line):
			continue
		case err != nil:
			c.errorf(number, "%w", err)
			continue
		}
		id := s.vars["id"]
		counts, other := s, best[id]
		if !newest(s).After(newest(other)) && other.line > 0 {
			counts, other = other, s
		}
		if other.line > 0 {
			c.repeated(other.line, id, counts.line)
		}
		best[id], all = counts, append(all, s)
	}
	return slices.DeleteFunc(all, func(s span) bool { return best[s.vars["id"]].line != s.line })
}

// readLine reads a line of JSON, and says why it is no entry.
func (d *declared) readLine(line []byte) (span, error) {
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(line, []byte(markdown.ByteOrderMark))))
	decoder.UseNumber()
	err := decoder.Decode(&object)
	_, end := decoder.Token()
	s := span{vars: maps.Clone(d.vars), data: object}
	s.vars["id"] = d.idOf(object)
	switch {
	case bytes.HasPrefix(line, []byte("<<<<<<< ")), bytes.HasPrefix(line, []byte(">>>>>>> ")):
		return s, errors.New("a conflict marker of git: what both sides have is read")
	case err != nil, object == nil, end != io.EOF:
		return s, errors.New("the line is no JSON object")
	case s.vars["id"] == "":
		return s, fmt.Errorf("the %s has no id at %s", d.Kind, cmp.Or(d.Key, "/id"))
	}
	return s, record.CheckID(s.vars["id"])
}

// idOf returns the id of an entry of JSON, "" if it has none.
func (d *declared) idOf(data any) string {
	return strings.Join(formed(pointed(data, splitPointer(cmp.Or(d.Key, "/id"))), ""), "")
}

func splitPointer(pointer string) []string { return strings.Split(strings.Trim(pointer, "/"), "/") }

// jsonAt returns the values at a pointer, with those in them.
func (d *declared) jsonAt(v *markdown.Value, pointer []string, vars map[string]string, parent string) (all []span) {
	if len(pointer) == 0 {
		vars = maps.Clone(vars)
		if vars["id"] = d.idOf(v.Data()); vars["id"] == "" {
			return nil
		}
		if parent != "" {
			vars["id"] = parent + "." + vars["id"]
		}
		all = []span{{start: v.Start, end: v.End, line: v.Line, vars: vars, data: v.Data()}}
		if d.Inside != "" {
			all = append(all, d.jsonAt(v, splitPointer(d.Inside), vars, vars["id"])...)
		}
		return all
	}
	step := pointer[0]
	name, isVariable := strings.CutPrefix(step, "{")
	if step != "*" && !isVariable {
		if m := v.Member(step); m.IsObject() || m.IsArray() {
			return d.jsonAt(m, pointer[1:], vars, parent)
		}
		return nil
	}
	for _, inner := range v.Inner {
		if !inner.IsObject() && !inner.IsArray() {
			continue
		}
		if isVariable {
			vars = maps.Clone(vars)
			vars[strings.TrimSuffix(name, "}")] = inner.Key
		}
		all = append(all, d.jsonAt(inner, pointer[1:], vars, parent)...)
	}
	return all
}

// pointed returns the values at a pointer in data of JSON; "*" stands for each of a list.
func pointed(data any, pointer []string) (all []any) {
	if len(pointer) == 0 {
		return []any{data}
	}
	if pointer[0] != "*" {
		members, _ := data.(map[string]any)
		return pointed(members[pointer[0]], pointer[1:])
	}
	list, _ := data.([]any)
	for _, inner := range list {
		all = append(all, pointed(inner, pointer[1:])...)
	}
	return all
}

// formed returns the texts of values; of an object a form with the texts of its members.
func formed(values []any, form string) (all []string) {
	for _, v := range values {
		if members, is := v.(map[string]any); is && form != "" {
			all = append(all, compiled(`\{\w+\}`).ReplaceAllStringFunc(form, func(name string) string {
				return strings.Join(jsonTexts(members[strings.Trim(name, "{}")]), ", ")
			}))
		}
		all = append(all, jsonTexts(v)...)
	}
	return all
}

// jsonTexts returns the texts and numbers that a value is or has.
func jsonTexts(data any) (all []string) {
	switch data := data.(type) {
	case nil, map[string]any:
	case []any:
		for _, inner := range data {
			all = append(all, jsonTexts(inner)...)
		}
	default:
		all = append(all, strings.TrimSpace(fmt.Sprint(data)))
	}
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// yamlSpans returns the lines of a map of YAML, by the key that the pointer names.
func (d *declared) yamlSpans(text []byte) (all []span) {
	inside := false
	for _, l := range markdown.Lines(text) {
		if line := string(l.Text); depth(l.Text) == 0 && len(bytes.TrimSpace(l.Text)) > 0 && line[0] != '#' {
			inside = slices.Contains(d.At, "/"+strings.TrimSuffix(strings.TrimSpace(line), ":"))
		} else if m := compiled(`^\s+([\w.-]+):\s*([^#\n]*)`).FindStringSubmatch(line); inside && m != nil {
			s := span{start: l.Start, end: l.End, line: l.Number, vars: maps.Clone(d.vars), text: m[1]}
			s.vars["$key"], s.vars["$value"], s.vars["key"] = m[1], strings.TrimSpace(m[2]), m[1]
			if found := captures(d.Match, m[1]); found != nil {
				maps.Copy(s.vars, found)
				all = append(all, s)
			}
		}
	}
	return all
}
