package layout

import (
	"slices"
	"strings"
)

// A stateList is one of a state's lists as it stands in the text.
type stateList struct {
	kind    stateListKind
	part    statePart
	columns []string     // of a table, folded; nil: a list
	rows    []stateEntry // in order
	at      int          // where a new entry is inserted; -1: there is no such list
	indent  string       // before the dash of an entry
	key     int          // the line of the YAML key above; -1: there is none
	yaml    bool         // the values are YAML, not text
	blank   []int        // lines that say that there is none
}

// A stateEntry is an agent or a loop in a list.
type stateEntry struct {
	from, to int // its lines
	row      agentRow
}

// find returns a list of the text.
func (t *stateText) find(kind stateListKind) stateList {
	none := stateList{kind: kind, at: -1, key: -1}
	last := none
	for _, p := range t.parts() {
		if p.list == kind {
			l := t.listOf(kind, p)
			if len(l.rows) > 0 || last.at < 0 {
				last = l
			}
			continue
		}
		if p.list != listNone {
			continue
		}
		for i := p.from; i < p.to; i++ {
			key, _, isKey := cutYAMLKey(strings.TrimSpace(t.lines[i]))
			if isKey && stateListOf(fold(key)) == kind && !isDash(strings.TrimSpace(t.lines[i])) {
				last = t.listBelow(kind, i, p.to)
			}
		}
	}
	return last
}

// listOf reads the list that a section is.
func (t *stateText) listOf(kind stateListKind, p statePart) stateList {
	l := stateList{kind: kind, part: p, at: p.from, key: -1}
	switch {
	case kind == listHistory:
		t.readLoops(&l)
	case hasFieldRow(strings.Join(t.lines[p.from:p.to], "")):
		t.readTable(&l)
	default:
		l.yaml = true
		t.readItems(&l, p.from, p.to)
		for i := p.from; i < p.to && len(l.rows) == 0; i++ {
			if text := strings.TrimSpace(t.lines[i]); text != "" && isNothing(text) {
				l.blank = append(l.blank, i)
			}
		}
	}
	return l
}

// readLoops takes each line with text for a loop.
func (t *stateText) readLoops(l *stateList) {
	for i := l.part.from; i < l.part.to; i++ {
		text := strings.TrimSpace(t.lines[i])
		item := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "- "), "* "))
		switch {
		case text == "":
		case isNothing(item):
			l.blank = append(l.blank, i)
		default:
			l.rows = append(l.rows, stateEntry{i, i + 1, agentRow{"id": item}})
			l.at = i + 1
		}
	}
}

// readTable reads a table's rows.
func (t *stateText) readTable(l *stateList) {
	for i := l.part.from; i < l.part.to; i++ {
		cells, isRow := scanRow([]byte(strings.TrimRight(t.lines[i], "\r\n")))
		switch {
		case !isRow:
			continue
		case isTableDelimiter(cells):
		case l.columns == nil:
			for _, cell := range cells {
				l.columns = append(l.columns, fold(cell.text))
			}
		default:
			row := agentRow{}
			for j, cell := range cells[:min(len(cells), len(l.columns))] {
				row[l.columns[j]] = unescapeCell(cell.text)
			}
			if isNothing(row.first(l.columns...)) {
				l.blank = append(l.blank, i)
			} else {
				l.rows = append(l.rows, stateEntry{i, i + 1, row})
			}
		}
		l.at = i + 1
	}
}

// readItems reads the items of a YAML list that begin between two lines.
func (t *stateText) readItems(l *stateList, from, to int) {
	indent := -1
	for i := from; i < to; i++ {
		text := strings.TrimSpace(t.lines[i])
		at := len(t.lines[i]) - len(strings.TrimLeft(t.lines[i], " \t"))
		switch {
		case text == "":
			continue
		case isDash(text) && (indent < 0 || at == indent):
			if indent < 0 {
				indent, l.indent = at, t.lines[i][:at]
			}
			l.rows = append(l.rows, stateEntry{from: i})
		case indent < 0 || at <= indent:
			t.nameItems(l)
			return
		}
		l.rows[len(l.rows)-1].to = i + 1
		l.at = i + 1
	}
	t.nameItems(l)
}

// nameItems reads the values of the items.
func (t *stateText) nameItems(l *stateList) {
	for i, entry := range l.rows {
		node, _ := parseYAML(strings.Join(t.lines[entry.from:entry.to], ""), 1)
		addAgents(node, func(row agentRow) { l.rows[i].row = row })
	}
}

// listBelow reads the list below a YAML key.
func (t *stateText) listBelow(kind stateListKind, key, to int) stateList {
	l := stateList{kind: kind, at: key + 1, key: key, yaml: true}
	line := t.lines[key]
	l.indent = line[:len(line)-len(strings.TrimLeft(line, " \t"))] + "  "
	t.readItems(&l, key+1, to)
	return l
}

// clear takes all entries of all lists away.
func (t *stateText) clear() {
	for _, kind := range []stateListKind{listRunning, listCompleted, listHistory} {
		for {
			l := t.find(kind)
			t.unfold(&l)
			if len(l.rows) == 0 {
				break
			}
			for _, entry := range slices.Backward(l.rows) {
				t.lines = slices.Delete(t.lines, entry.from, entry.to)
			}
		}
	}
}

// remove takes the entries with an id away.
func (t *stateText) remove(kind stateListKind, id string) {
	for {
		l := t.find(kind)
		t.unfold(&l)
		i := slices.IndexFunc(l.rows, func(e stateEntry) bool { return e.row.first("id", "agent_id", "agent") == id })
		if i < 0 {
			return
		}
		t.lines = slices.Delete(t.lines, l.rows[i].from, l.rows[i].to)
	}
}

// unfold makes what stands behind the key of a YAML list, "[a1, a2]" or a word
// for nothing, items below it.
func (t *stateText) unfold(l *stateList) {
	if l.key < 0 || len(l.rows) > 0 {
		return
	}
	line := strings.TrimRight(t.lines[l.key], "\r\n")
	_, value, _ := cutYAMLKey(strings.TrimSpace(line))
	if value == "" || value[0] == '#' {
		return
	}
	node, _ := parseYAML(line, 1)
	ending := t.lines[l.key][len(line):]
	t.lines[l.key] = line[:strings.Index(line, ":")+1] + ending
	for _, p := range node.pairs {
		for i, item := range p.value.texts() {
			t.insert(l.at+i, l.indent+"- "+string(appendYAMLScalar(nil, item)))
		}
	}
	kind := l.kind
	*l = t.find(kind)
}

// add adds an entry behind the others, in their form.
func (t *stateText) add(kind stateListKind, row agentRow) {
	l := t.find(kind)
	t.unfold(&l)
	for _, i := range slices.Backward(l.blank) {
		t.lines = slices.Delete(t.lines, i, i+1)
	}
	if len(l.blank) > 0 {
		l = t.find(kind)
	}
	switch {
	case l.at < 0:
		t.addList(kind, row)
	case l.columns != nil:
		t.insert(l.at, tableRow(l.columns, row))
	case kind == listHistory && l.key < 0:
		t.insert(l.at, "- "+singleSpaced(row["id"]))
	case len(l.rows) == 0 && l.key < 0 && !t.hasYAMLList():
		t.insert(l.at, append(tableHead(kind), tableRow(tableColumns(kind), row))...)
	default:
		t.insert(l.at, yamlItem(l, row)...)
	}
}

// hasYAMLList reports whether the text has agents in a YAML list, so that new
// lists should be ones too.
func (t *stateText) hasYAMLList() bool {
	for _, kind := range []stateListKind{listRunning, listCompleted} {
		if l := t.find(kind); l.yaml && len(l.rows) > 0 {
			return true
		}
	}
	return false
}

// addList adds a list that the text does not have yet, at its end.
func (t *stateText) addList(kind stateListKind, row agentRow) {
	if t.isPlain() {
		at := len(t.lines)
		for at > 0 && strings.TrimSpace(t.lines[at-1]) == "" {
			at--
		}
		l := stateList{kind: kind, indent: "  ", key: at}
		t.insert(at, append([]string{kind.titles()[0] + ":"}, yamlItem(l, row)...)...)
		return
	}
	lines := []string{"", "## " + listHeading(kind)}
	if kind == listHistory {
		lines = append(lines, "- "+singleSpaced(row["id"]))
	} else {
		lines = append(append(lines, tableHead(kind)...), tableRow(tableColumns(kind), row))
	}
	t.insert(len(t.lines), lines...)
}

func listHeading(kind stateListKind) string {
	switch kind {
	case listRunning:
		return "Running Agents"
	case listCompleted:
		return "Completed Agents"
	}
	return "Loop History"
}

// tableColumns returns the columns of a new table, folded.
func tableColumns(kind stateListKind) []string {
	if kind == listRunning {
		return []string{"id", "task", "model", "started"}
	}
	return []string{"id", "task", "outcome", "duration"}
}

func tableHead(kind stateListKind) []string {
	if kind == listRunning {
		return []string{"| ID | Task | Model | Started |", "|----|------|-------|---------|"}
	}
	return []string{"| ID | Task | Outcome | Duration |", "|----|------|---------|----------|"}
}

// columnNames returns the ways, folded, to name the column of a value.
func columnNames(key string) []string {
	for _, names := range [][]string{
		{"id", "agent_id", "agent"}, {"task", "task_id", "issue"}, {"outcome", "status", "result"},
		{"duration", "time"}, {"started", "started_at"},
	} {
		if slices.Contains(names, key) {
			return names
		}
	}
	return []string{key}
}

// tableRow returns a row for the columns that a table has.
func tableRow(columns []string, row agentRow) string {
	var cells []string
	for _, column := range columns {
		cells = append(cells, row.first(columnNames(column)...))
	}
	return strings.TrimRight(string(appendAgentRow(nil, cells...)), "\n")
}

// yamlItem returns the lines of an item, with the keys that the list's others
// have.
func yamlItem(l stateList, row agentRow) []string {
	if l.kind == listHistory {
		return []string{l.indent + "- " + string(appendYAMLScalar(nil, singleSpaced(row["id"])))}
	}
	var lines []string
	for _, column := range tableColumns(l.kind) {
		value := singleSpaced(row[column])
		if value == "" {
			continue
		}
		name := column
		for _, entry := range l.rows {
			for _, used := range columnNames(column) {
				if _, has := entry.row[used]; has && len(entry.row) > 1 {
					name = used
				}
			}
		}
		lead := "  "
		if len(lines) == 0 {
			lead = "- "
		}
		lines = append(lines, l.indent+lead+name+": "+string(appendYAMLScalar(nil, value)))
	}
	return lines
}
