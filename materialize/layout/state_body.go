package layout

import (
	"slices"
	"strings"
)

// A stateBody is the text of a part of a state that is being read, and the lines
// of it that are understood.
type stateBody struct {
	text     []byte
	lines    []scanLine
	first    int            // the number of the first line
	taken    []bool         // the lines that are understood
	comments map[int]string // those behind values of lines that are understood
	visible  []bool         // the lines that are being read as YAML
	bad      map[int]bool   // those of them that could not be placed
	problems []*SyntaxError
}

func newStateBody(text []byte, first int) *stateBody {
	lines := scanLines(text)
	b := &stateBody{text: text, lines: lines, first: first, comments: map[int]string{}}
	b.taken = make([]bool, len(lines))
	return b
}

// rest returns what is not understood: blank lines at the beginning, and all else.
func (b *stateBody) rest(eol string) (before, after string) {
	if !slices.Contains(b.taken, true) {
		return "", string(b.text)
	}
	i := 0
	for ; !b.taken[i] && b.isBlank(i); i++ {
	}
	before = string(b.text[:b.lines[i].start])
	var out strings.Builder
	gap, last := false, "\n"
	for ; i < len(b.lines); i++ {
		line := string(b.text[b.lines[i].start:b.lines[i].end])
		if b.taken[i] {
			gap = true
			if line = b.comments[i]; line == "" {
				continue
			}
			line += eol
		}
		if gap && strings.TrimSpace(last) != "" && strings.TrimSpace(line) != "" {
			out.WriteString(eol) // what stood apart stays apart
		}
		out.WriteString(line)
		gap, last = false, line
	}
	return before, out.String()
}

func (b *stateBody) isBlank(i int) bool { return len(strings.TrimSpace(string(b.lines[i].text))) == 0 }

// readLoops takes in the loops: each line that has text, without the mark of an
// item. They stay where they are.
func (b *stateBody) readLoops(t *stateText) (before, cleared, after string) {
	end := 0
	for _, l := range b.lines {
		raw := string(b.text[l.start:l.end])
		text := strings.TrimSpace(string(l.text))
		item := loopOf(text)
		isLoop := !l.quiet && !isNothing(item)
		switch {
		case isLoop:
			t.standing = append(t.standing, item)
			before += after + raw
			cleared += after
			after, end = "", l.end
		case l.quiet || text == "" || isScanRule(l.text):
			after += raw
		}
	}
	if end == 0 { // no loop that others could follow
		return "", "", after
	}
	return before, cleared, after
}

// loopOf returns what a line of the history says, without the marks of an item.
func loopOf(line string) string {
	line = singleSpaced(line)
	for {
		item := strings.TrimPrefix(strings.TrimPrefix(line, "- "), "* ")
		if item == line {
			return line
		}
		line = item
	}
}

// readAgents takes in tables whose headers name their columns, in any order, or
// YAML, in a fence or not.
func (b *stateBody) readAgents(a *agentTable) {
	before := len(a.rows)
	if hasFieldRow(string(b.text)) {
		b.readTables(a)
	} else if b.readItems(a, b.outside()); len(a.rows) == before {
		b.readFence(func(visible []bool) { b.readItems(a, visible) })
	}
	for i, l := range b.lines {
		if !l.quiet && !b.isBlank(i) && isNothing(string(l.text)) && !isScanRule(l.text) {
			b.taken[i] = true
		}
	}
}

func (b *stateBody) readTables(a *agentTable) {
	var columns []string
	head := -2      // the line of the header
	isText := false // rows are, until the next header
	for i, l := range b.lines {
		cells, isRow := scanRow(l.text)
		switch {
		case l.quiet:
			isText = isText || strings.TrimSpace(string(l.text)) == tableEnd
		case !isRow || isText && !b.isHeader(i):
		case columns == nil || b.isHeader(i):
			columns, head = a.head(cells), i
			isText = columns == nil
			b.taken[i] = !isText
		case isTableDelimiter(cells):
			b.taken[i] = i == head+1
		case len(cells) != len(columns):
			b.problems = append(b.problems, rowProblem(b.first+i, l.text, len(cells), len(columns)))
		default:
			var values []Property
			for j, cell := range cells {
				values = append(values, Property{columns[j], unescapeCell(cell.text)})
			}
			b.taken[i] = a.add(values)
		}
	}
}

// isHeader reports whether a row has the line of a table's header below it.
func (b *stateBody) isHeader(i int) bool {
	cells, found := tableHead(b.lines, i)
	return found && !isTableDelimiter(cells)
}

// outside returns which lines stand outside of fences and comments.
func (b *stateBody) outside() []bool {
	visible := make([]bool, len(b.lines))
	for i, l := range b.lines {
		visible[i] = !l.quiet
	}
	return visible
}

// readFence reads what stands in a fence that may hold YAML. If all of that is
// understood, the fence goes with it.
func (b *stateBody) readFence(read func(visible []bool)) {
	fence, found := cutYAMLFence(string(b.text))
	end := fence.before + strings.Count(fence.inside, "\n")
	if !found || end >= len(b.lines) {
		return
	}
	visible := make([]bool, len(b.lines))
	for i := fence.before; i < end; i++ {
		visible[i] = true
	}
	read(visible)
	all := slices.Contains(b.taken[fence.before:end], true)
	for i := fence.before; i < end; i++ {
		all = all && (b.taken[i] && b.comments[i] == "" || b.isBlank(i))
	}
	if all {
		b.taken[fence.before-1], b.taken[end] = true, true
	}
}

// yaml reads the visible lines, and reports what it cannot place.
func (b *stateBody) yaml(visible []bool) yamlNode {
	var text strings.Builder
	for i, l := range b.lines {
		if visible[i] {
			text.Write(l.text)
		}
		text.WriteByte('\n')
	}
	node, problems := parseYAML(text.String(), b.first)
	b.visible, b.bad = visible, map[int]bool{}
	for _, p := range problems {
		b.bad[p.Line-b.first] = true
	}
	b.problems = append(b.problems, problems...)
	return node
}

// take marks the lines of a value as understood, without its comments and what
// could not be placed.
func (b *stateBody) take(node yamlNode) {
	for i := node.from; i < min(node.to, len(b.lines)); i++ {
		text := strings.TrimSpace(string(b.lines[i].text))
		if !b.visible[i] || text == "" || text[0] == '#' || b.bad[i] {
			continue
		}
		b.taken[i] = true
		if comment := yamlComment(text); comment != "" {
			b.comments[i] = "    " + comment // so far in, it is no heading
		}
	}
}

// yamlComment returns what yamlScalar drops behind the value of a line.
func yamlComment(text string) string {
	text = strings.TrimLeft(text, "- \t")
	if _, value, found := cutYAMLKey(text); found {
		text = value
	}
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		text = text[1+max(0, strings.IndexByte(text[1:], text[0])):]
	}
	if strings.HasPrefix(text, "#") {
		return text
	}
	if i := strings.Index(text, " #"); i >= 0 {
		return text[i+1:]
	}
	return ""
}

// readItems takes in a YAML list of agents, or the keys of a single one.
func (b *stateBody) readItems(a *agentTable, visible []bool) {
	node := b.yaml(visible)
	if single := agentValues(node, a); len(node.list) == 0 && len(single) > 1 {
		if a.add(single) {
			for _, p := range node.pairs {
				b.take(p.value)
			}
		}
	}
	for _, item := range node.list {
		if a.add(agentValues(item, a)) {
			b.take(item)
		}
	}
}

// agentValues returns what an item of a YAML list says of an agent; one without a
// key that filebus knows is its id.
func agentValues(item yamlNode, a *agentTable) []Property {
	if !slices.ContainsFunc(item.pairs, func(p yamlPair) bool { return a.knows(p.key) }) {
		return []Property{{"id", item.text()}}
	}
	var values []Property
	for _, p := range item.pairs {
		values = append(values, Property{p.key, p.value.text()})
	}
	return values
}

// readRun takes in the properties of the run. Those of a section of no known
// title stay there, and count if no other says it.
func (t *stateText) readRun(b *stateBody, kind statePartKind) {
	r := runReader{t, b, kind, false}
	r.read(b.outside())
	if !r.found {
		b.readFence(r.read)
	}
	if kind == partOther {
		clear(b.taken)
	}
}

// A runReader reads the properties of the run in one part.
type runReader struct {
	*stateText
	body  *stateBody
	kind  statePartKind
	found bool
}

// set takes in a property, if it is one that filebus knows.
func (r *runReader) set(key, value string) bool {
	i := stateFieldOf(key)
	if i < 0 {
		return false
	}
	r.found = true
	value = singleSpaced(value)
	switch {
	case r.kind == partOther:
		r.elsewhere[i] = value
	case value != "" || r.kind == partRun:
		r.fields[i] = value
	}
	return true
}

func (r *runReader) read(visible []bool) {
	node := r.body.yaml(visible)
	within := make([]bool, len(r.body.lines)) // of a key of YAML: its lines are no items of their own
	for _, p := range node.pairs {
		if strings.HasPrefix(p.key, "**") {
			continue
		}
		for i := p.value.from; i < p.value.to; i++ {
			within[i] = true
		}
		if line := r.body.lines[p.value.from].text; line[0] != ' ' && line[0] != '\t' {
			r.readPair(p)
		}
	}
	for i, l := range r.body.lines {
		text := strings.TrimSpace(string(l.text))
		if !visible[i] || within[i] || !strings.HasPrefix(text, "- ") && !strings.HasPrefix(text, "**") {
			continue
		}
		if p, found := cutProperty(text); found && r.set(p.Key, p.Value) {
			r.body.taken[i] = true
		}
	}
}

// readPair takes in a key of YAML with its value.
func (r *runReader) readPair(p yamlPair) {
	kind := statePartOf(fold(p.key))
	switch {
	case kind == partRun && len(p.value.pairs) > 0:
		r.readNested(p)
		return
	case kind > partRun && r.kind == partOther:
		return
	case kind == partRunning:
		r.readList(p, &r.running)
		return
	case kind == partCompleted:
		r.readList(p, &r.completed)
		return
	case kind == partHistory:
		r.found = true
		for _, loop := range p.value.texts() {
			r.loops = append(r.loops, loopOf(loop))
		}
	case !r.set(p.key, p.value.text()):
		return
	}
	r.body.take(p.value)
}

// readNested takes in the properties below the key of the run.
func (r *runReader) readNested(p yamlPair) {
	all := true
	for _, inner := range p.value.pairs {
		if r.set(inner.key, inner.value.text()) {
			r.body.take(inner.value)
		} else {
			all = false
		}
	}
	if all {
		r.body.take(p.value)
	}
}

// readList takes in the agents below a key. What is not understood of them stays
// below it.
func (r *runReader) readList(p yamlPair, a *agentTable) {
	r.found = true
	r.body.take(p.value)
	for _, item := range p.value.items() {
		if a.add(agentValues(item, a)) {
			continue
		}
		for i := item.from; i < item.to; i++ {
			r.body.taken[i] = false
		}
	}
}
