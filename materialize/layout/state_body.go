package layout

import (
	"bytes"
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// A stateBody is the text of a part of a state that is being read, and the lines
// of it that are understood.
type stateBody struct {
	text     []byte
	lines    []markdown.Line
	first    int            // the number of the first line
	taken    []bool         // the lines that are understood
	stale    []bool         // those that later ones say otherwise: they stay, before what filebus writes
	comments map[int]string // those behind values of lines that are understood
	visible  []bool         // the lines that are being read as YAML
	bad      map[int]bool   // those of them that could not be placed
	problems []*SyntaxError
}

func newStateBody(text []byte, first int) *stateBody {
	lines := markdown.Lines(text)
	b := &stateBody{text: text, lines: lines, first: first, comments: map[int]string{}}
	b.taken, b.stale = make([]bool, len(lines)), make([]bool, len(lines))
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
	before = string(b.text[:b.lines[i].Start])
	for k := i; k < len(b.lines); k++ {
		if b.stale[k] {
			before += string(b.text[b.lines[k].Start:b.lines[k].End])
		}
	}
	var out strings.Builder
	gap, last := false, "\n"
	for ; i < len(b.lines); i++ {
		line := string(b.text[b.lines[i].Start:b.lines[i].End])
		if b.stale[i] {
			continue
		}
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

func (b *stateBody) isBlank(i int) bool { return len(strings.TrimSpace(string(b.lines[i].Text))) == 0 }

// readLoops reads the loops: each line that has text, without the mark of an
// item. They stay where they are.
func (b *stateBody) readLoops(t *stateText) (before, cleared, after string) {
	end := 0
	for _, l := range b.lines {
		raw := string(b.text[l.Start:l.End])
		text := strings.TrimSpace(string(l.Text))
		item := loopOf(text)
		isLoop := !l.Quiet && !markdown.IsNothing(item)
		switch {
		case isLoop:
			t.standing = append(t.standing, item)
			before += after + raw
			cleared += after
			after, end = "", l.End
		case l.Quiet || text == "" || markdown.IsRule(l.Text):
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
	line = markdown.SingleSpaced(line)
	for {
		item := strings.TrimPrefix(strings.TrimPrefix(line, "- "), "* ")
		if item == line {
			return line
		}
		line = item
	}
}

// readAgents reads tables whose headers name their columns, in any order, or
// YAML, in a fence or not.
func (b *stateBody) readAgents(a *agentTable) {
	before := len(a.rows)
	if markdown.HasRow(string(b.text)) {
		b.readTables(a)
	} else if b.readItems(a, b.outside()); len(a.rows) == before {
		b.readFence(func(visible []bool) { b.readItems(a, visible) })
	}
	for i, l := range b.lines {
		if !l.Quiet && !b.isBlank(i) && markdown.IsNothing(string(l.Text)) && !markdown.IsRule(l.Text) {
			b.taken[i] = true
		}
	}
}

func (b *stateBody) readTables(a *agentTable) {
	var columns []string
	head := -2      // the line of the header
	isText := false // rows are, until the next header
	for i, l := range b.lines {
		cells, isRow := markdown.Row(l.Text)
		switch {
		case l.Quiet:
			isText = isText || strings.TrimSpace(string(l.Text)) == tableEnd
		case !isRow || isText && !b.isHeader(i):
		case columns == nil || b.isHeader(i):
			columns, head = a.head(cells), i
			isText = columns == nil
			if isText && b.isHeader(i) {
				const text = "a table of agents has no column that says which agent or task"
				b.problems = append(b.problems, wrong(b.first+i, text))
			}
			b.taken[i] = !isText
		case markdown.IsDelimiter(cells):
			b.taken[i] = i == head+1
		case len(cells) != len(columns):
			row := markdown.Clip(strings.TrimSpace(string(l.Text)), 60)
			const text = "agent row %q has %d cells instead of %d"
			b.problems = append(b.problems, wrong(b.first+i, text, row, len(cells), len(columns)))
		default:
			var values []Property
			for j, cell := range cells {
				values = append(values, Property{columns[j], markdown.UnescapeCell(cell.Text)})
			}
			b.taken[i] = a.add(values)
		}
	}
}

// isHeader reports whether a row has the line of a table's header below it.
func (b *stateBody) isHeader(i int) bool {
	cells, found := markdown.TableHead(b.lines, i)
	return found && !markdown.IsDelimiter(cells)
}

// outside returns which lines stand outside of fences and comments.
func (b *stateBody) outside() []bool {
	return markdown.Each(b.lines, func(l markdown.Line) bool { return !l.Quiet })
}

// readFence reads what stands in a fence that may hold YAML. If all of that is
// understood, the fence goes with it.
func (b *stateBody) readFence(read func(visible []bool)) {
	fence, found := markdown.YAMLFence(string(b.text))
	end := fence.Before + strings.Count(fence.Inside, "\n")
	if !found || end >= len(b.lines) {
		return
	}
	visible := make([]bool, len(b.lines))
	for i := fence.Before; i < end; i++ {
		visible[i] = true
	}
	read(visible)
	all := slices.Contains(b.taken[fence.Before:end], true)
	for i := fence.Before; i < end; i++ {
		all = all && (b.taken[i] && b.comments[i] == "" || b.isBlank(i))
	}
	if all {
		b.taken[fence.Before-1], b.taken[end] = true, true
	}
}

// yaml reads the visible lines, and reports what it cannot place.
func (b *stateBody) yaml(visible []bool) markdown.Node {
	var text strings.Builder
	for i, l := range b.lines {
		if visible[i] {
			text.Write(l.Text)
		}
		text.WriteByte('\n')
	}
	node, problems := markdown.ParseYAML(text.String(), b.first)
	b.visible, b.bad = visible, map[int]bool{}
	for _, p := range problems {
		b.bad[p.Line-b.first] = true
	}
	b.problems = append(b.problems, problems...)
	return node
}

// take marks the lines of a value as understood, without its comments and what
// could not be placed.
func (b *stateBody) take(node markdown.Node) {
	for i := node.From; i < min(node.To, len(b.lines)); i++ {
		text := strings.TrimSpace(string(b.lines[i].Text))
		if !b.visible[i] || text == "" || text[0] == '#' || b.bad[i] {
			continue
		}
		b.taken[i] = true
		if comment := markdown.YAMLComment(text); comment != "" {
			b.comments[i] = "    " + comment // so far in, it is no heading
		}
	}
}

// readItems reads a YAML list of agents, or the keys of a single one.
func (b *stateBody) readItems(a *agentTable, visible []bool) {
	node := b.yaml(visible)
	if single := agentValues(node, a); len(node.List) == 0 && len(single) > 1 {
		if a.add(single) {
			for _, p := range node.Pairs {
				b.take(p.Value)
			}
		}
	}
	for _, item := range node.List {
		if a.add(agentValues(item, a)) {
			b.take(item)
		}
	}
}

// agentValues returns what an item of a YAML list says of an agent; one without a
// key that filebus knows is its id.
func agentValues(item markdown.Node, a *agentTable) []Property {
	if !slices.ContainsFunc(item.Pairs, func(p markdown.Pair) bool { return a.knows(p.Key) }) {
		return []Property{{"id", item.Text()}}
	}
	return markdown.Each(item.Pairs, func(p markdown.Pair) Property { return Property{p.Key, p.Value.Text()} })
}

// readRun reads the properties of the run. Those of a section of no known
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

// set reads a property, if it is one that filebus knows.
func (r *runReader) set(key, value string, first, next int) bool {
	i := stateFieldOf(key)
	if i < 0 {
		return false
	}
	r.found = true
	value = markdown.SingleSpaced(value)
	switch {
	case r.kind == partOther:
		r.elsewhere[i] = value
	case value != "" || r.kind == partRun:
		if r.fields[i] != "" && r.fields[i] != value {
			r.sources[i].keep(r.body.first+first, stateFields[i].name)
			r.body.problems = append(r.body.problems, r.sources[i].problem...)
		}
		r.fields[i], r.sources[i] = value, stateSource{body: r.body, first: first, next: next}
	}
	return true
}

// A stateSource is where a property of the run is said.
type stateSource struct {
	body        *stateBody
	first, next int // its lines
	problem     []*SyntaxError
}

// keep leaves the lines where they are, since a later line says something else.
func (s *stateSource) keep(later int, name string) {
	const text = "%s is given again (first at line %d), the last one counts"
	s.problem = []*SyntaxError{wrong(later, text, name, s.body.first+s.first)}
	for i := s.first; i < s.next; i++ {
		s.body.stale[i], s.body.taken[i] = s.body.taken[i], false
	}
}

func (r *runReader) read(visible []bool) {
	node := r.body.yaml(visible)
	within := make([]bool, len(r.body.lines)) // of a key of YAML: its lines are no items of their own
	for _, p := range node.Pairs {
		if strings.HasPrefix(p.Key, "**") {
			continue
		}
		for i := p.Value.From; i < p.Value.To; i++ {
			within[i] = true
		}
		if line := r.body.lines[p.Value.From].Text; line[0] != ' ' && line[0] != '\t' {
			r.readPair(p)
		}
	}
	for i, l := range r.body.lines {
		text := strings.TrimSpace(string(l.Text))
		if !visible[i] || within[i] || !strings.HasPrefix(text, "- ") && !strings.HasPrefix(text, "**") {
			continue
		}
		p, found := cutProperty(text)
		if isParent := p.Value == "" && r.body.isDeeper(i); found && !isParent && r.set(p.Key, p.Value, i, i+1) {
			r.body.taken[i] = true
		}
	}
}

// readPair reads a key of YAML with its value.
func (r *runReader) readPair(p markdown.Pair) {
	kind := statePartOf(markdown.Fold(p.Key))
	switch {
	case kind == partRun && len(p.Value.Pairs) > 0:
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
		for _, loop := range p.Value.Texts() {
			r.loops = append(r.loops, loopOf(loop))
		}
	case !isScalar(p.Value) || !r.set(p.Key, p.Value.Text(), p.Value.From, min(p.Value.To, len(r.body.lines))):
		return
	}
	r.body.take(p.Value)
}

// isScalar reports whether a value is neither a list nor a mapping.
func isScalar(n markdown.Node) bool { return len(n.List) == 0 && len(n.Pairs) == 0 }

// isDeeper reports whether the line below the one at i is indented further: an item
// or a text that belongs to it.
func (b *stateBody) isDeeper(i int) bool {
	indent := func(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t")) }
	return i+1 < len(b.lines) && !b.isBlank(i+1) && indent(b.lines[i+1].Text) > indent(b.lines[i].Text)
}

// readNested reads the properties below the key of the run.
func (r *runReader) readNested(p markdown.Pair) {
	all := true
	for _, inner := range p.Value.Pairs {
		if isScalar(inner.Value) &&
			r.set(inner.Key, inner.Value.Text(), inner.Value.From, min(inner.Value.To, len(r.body.lines))) {
			r.body.take(inner.Value)
		} else {
			all = false
		}
	}
	if all {
		r.body.take(p.Value)
	}
}

// readList reads the agents below a key. What is not understood of them stays
// below it.
func (r *runReader) readList(p markdown.Pair, a *agentTable) {
	r.found = true
	r.body.take(p.Value)
	for _, item := range p.Value.Items() {
		if a.add(agentValues(item, a)) {
			continue
		}
		for i := item.From; i < item.To; i++ {
			r.body.taken[i] = false
		}
	}
}
