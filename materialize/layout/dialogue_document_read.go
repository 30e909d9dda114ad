package layout

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"filebus/materialize/markdown"
)

// ParseDialogueDocument reads an assembled document, in the forms of others too:
// titles such as "# Dialogue: x", metadata in lines or in a table, sections in any
// order and with other columns, rounds such as "## Opening Arguments (Round 0)",
// and turns with the emoji before or behind the name. Columns that the form does
// not have are left out. What is not understood is kept: as a section, or as the
// text before the first section, round or turn. A text without a title is none.
func ParseDialogueDocument(text []byte) (d DialogueDocument, found bool) {
	if m := sealLine().FindIndex(text); m != nil {
		text = text[:m[0]+1]
	}
	blocks, rest := findBlocks(text)
	r := &documentReader{text: text, rest: rest, blocks: blocks, lines: markdown.Lines(rest)}
	r.findTurns()
	heads := r.headings()
	first := slices.IndexFunc(heads, func(h docHeading) bool { return h.level == 1 })
	if first < 0 {
		return d, false
	}
	r.readHead(&d, heads[first])
	for _, h := range heads[first+1:] {
		r.readTables(&d, h)
	}
	r.names = d.names()
	for _, h := range heads[first+1:] {
		r.readSection(&d, h)
	}
	return d, true
}

// A documentReader goes over a document whose blocks are found.
type documentReader struct {
	text   []byte
	rest   []byte // the text with spaces in place of the blocks
	blocks []block
	lines  []markdown.Line // of rest
	names  []string        // of the agents and the judge, as the panel and the head give them
	turns  map[int]bool    // the headings, by the index of the line, that a turn of filebus follows
}

// A docHeading is a heading that begins a part of a document.
type docHeading struct {
	level     int
	title     string
	line, end int // its index, and that of the line behind the part
}

// findTurns finds the headings that a turn follows in the form of filebus.
func (r *documentReader) findTurns() {
	r.turns = map[int]bool{}
	heading, blocks := -1, r.blocks
	for i, l := range r.lines {
		if l.Level > 0 {
			heading = i
		}
		isTurn := l.Quiet && noTurnLine().Match(l.Text)
		for len(blocks) > 0 && blocks[0].start < l.End {
			_, isBlock := blocks[0].turnOf()
			isTurn = isTurn || isBlock
			blocks = blocks[1:]
		}
		if isTurn && heading >= 0 {
			r.turns[heading] = true
		}
	}
}

// headings returns the headings of the first two levels.
func (r *documentReader) headings() []docHeading {
	var heads []docHeading
	for i, l := range r.lines {
		if l.Level == 1 || l.Level == 2 {
			_, title := markdown.Heading(l.Text)
			heads = append(heads, docHeading{l.Level, markdown.SingleSpaced(title), i, i + 1})
		} else if len(heads) > 0 {
			heads[len(heads)-1].end = i + 1
		}
	}
	return heads
}

// docTitle is what the title of a document begins with, in all generations.
var docTitle = Pattern(`(?i)^(?:(?:alignment|rfc)\s+)?(dialogue(?:\s+\d+)?)\s*:\s*`)

// readHead reads the title and what stands below it, up to the line end.
func (r *documentReader) readHead(d *DialogueDocument, h docHeading) {
	d.HeadLine = r.lines[h.line].Number
	d.Head.Title = h.title
	if m := docTitle().FindStringSubmatch(h.title); m != nil {
		d.Head.Title = h.title[len(m[0]):]
		if len(m[1]) > len("dialogue") {
			d.Head.Draft = m[1]
		}
	}
	var intro []markdown.Line
	for _, l := range r.lines[h.line+1 : h.end] {
		if p, isProperty := headProperty(l); isProperty && !l.Quiet {
			d.Head.set(p)
		} else if cells, isRow := markdown.Row(l.Text); l.Quiet || !isRow ||
			!markdown.IsDelimiter(cells) &&
				strings.Trim(string(l.Text), "| \t") != "" { // a table's line that says something
			intro = append(intro, l)
		}
	}
	d.Intro = r.textOfLines(intro)
}

// headProperty reads a line of metadata, or a row of a table with two columns.
func headProperty(l markdown.Line) (Property, bool) {
	cells, isRow := markdown.Row(l.Text)
	if !isRow {
		if !bytes.HasPrefix(bytes.TrimSpace(l.Text), []byte("**")) {
			return Property{}, false
		}
		p, found := cutProperty(string(l.Text))
		p.Key, p.Value = markdown.SingleSpaced(p.Key), markdown.SingleSpaced(p.Value)
		return p, found && p.Value != ""
	}
	if len(cells) != 2 || cells[0].Text == "" || markdown.IsDelimiter(cells) {
		return Property{}, false
	}
	plain := func(c markdown.Cell) string { return markdown.SingleSpaced(markdown.PlainCell(c.Text)) }
	p := Property{plain(cells[0]), plain(cells[1])}
	return p, p.Key != "" && p.Value != ""
}

// textOfLines returns the text of a block among some lines, else that of the lines
// themselves, without the blank lines and rules around it.
func (r *documentReader) textOfLines(lines []markdown.Line) string {
	if len(lines) == 0 {
		return ""
	}
	for _, b := range r.blocksIn(lines[0].Start, lines[len(lines)-1].End) {
		if b.name == blockText {
			return b.text
		}
	}
	var out strings.Builder
	for _, l := range lines {
		out.Write(bytes.TrimRight(r.rest[l.Start:l.End], " \t\r\n"))
		out.WriteByte('\n')
	}
	text, _ := trimDocText(out.String())
	return text
}

// blocksIn returns the blocks that lie between two offsets.
func (r *documentReader) blocksIn(from, to int) []block {
	first, _ := slices.BinarySearchFunc(r.blocks, from, func(b block, at int) int { return b.start - at })
	last := first
	for last < len(r.blocks) && r.blocks[last].end <= to {
		last++
	}
	return r.blocks[first:last]
}

// trimDocText cuts blank lines before a text, and blank lines and rules behind it;
// skipped is the number of lines before it.
func trimDocText(text string) (trimmed string, skipped int) {
	for {
		line, rest, found := strings.Cut(text, "\n")
		if strings.TrimSpace(line) != "" || !found {
			break
		}
		text = rest
		skipped++
	}
	for {
		text = strings.TrimRight(text, " \t\r\n")
		at := strings.LastIndexByte(text, '\n') + 1
		if !markdown.IsRule([]byte(text[at:])) {
			return text, skipped
		}
		text = text[:at]
	}
}

// readTables reads a section with tables, if it is one.
func (r *documentReader) readTables(d *DialogueDocument, h docHeading) {
	for _, p := range d.parts() {
		if *p.line == 0 && p.hasTitle(h.title) {
			*p.line = r.lines[h.line].Number
			p.read(r.part(h.line+1, h.end))
		}
	}
}

// part returns the text up to a line, with nothing but line breaks before another
// one, so that line numbers stay right.
func (r *documentReader) part(from, to int) []byte {
	if from >= to {
		return nil
	}
	return append(bytes.Repeat([]byte("\n"), from), r.rest[r.lines[from].Start:r.lines[to-1].End]...)
}

// A documentPart is a section with tables.
type documentPart struct {
	titles []string // how its heading may begin
	line   *int     // where that of its heading goes
	read   func(text []byte)
}

// parts returns the sections with tables of a document.
func (d *DialogueDocument) parts() []documentPart {
	return []documentPart{
		{[]string{titlePanel, "Panel"}, &d.Found.Panel, func(text []byte) { d.Panel = parsePanelTable(text) }},
		{[]string{titleScores, "Scoreboard"}, &d.Found.Scores, func(text []byte) {
			d.Scores, _ = ParseScoreboard(text)
		}},
		{[]string{titlePerspectives}, &d.Found.Perspectives, func(text []byte) {
			d.Perspectives = parsePerspectives(text)
		}},
		{[]string{titleTensions}, &d.Found.Tensions, func(text []byte) { d.Tensions = ParseTensions(text) }},
	}
}

// hasTitle reports whether a heading is that of a part: titles differ in what follows,
// as in "Tensions Tracker — FINAL".
func (p documentPart) hasTitle(heading string) bool {
	return slices.ContainsFunc(p.titles, func(title string) bool {
		rest, found := strings.CutPrefix(heading, title)
		c, _ := utf8.DecodeRuneInString(strings.TrimSpace(rest))
		return found && (c == utf8.RuneError || refWord(string(c)) == "") // no word goes on there
	})
}

// eachRow calls visit with the rows of the tables that have some columns, and with what
// returns a cell by the names that its column may have.
func eachRow(text []byte, columns []string, visit func(line int, cell func(names ...string) string)) {
	for _, t := range markdown.Tables(markdown.Lines(text)) {
		if slices.ContainsFunc(columns, func(name string) bool { return t.Column(name) < 0 }) {
			continue
		}
		for _, row := range t.Rows {
			visit(row.Line, func(names ...string) string { return row.Cell(t.Column(names...)) })
		}
	}
}

// value returns a cell's text, "" if it says that there is none.
func value(cell string) string {
	if markdown.IsNoCell(cell) {
		return ""
	}
	return cell
}

func parsePanelTable(text []byte) (experts []DocumentExpert) {
	eachRow(text, nil, func(line int, cell func(names ...string) string) {
		e := DocumentExpert{Line: line}
		e.Emoji, e.Label = cutEmoji(cell("agent", "expert"))
		if markdown.IsNoCell(e.Label) {
			return
		}
		e.Role, e.Tier, e.Rounds = value(cell("role", "domain", "perspective")), value(cell("tier")), value(cell("rounds"))
		e.Relevance, _ = strconv.ParseFloat(cell("relevance"), 64) // 0 where there is none
		if e.Relevance < 0 || e.Relevance > 1000 || e.Relevance != e.Relevance {
			e.Relevance = 0
		}
		if own, name := cutEmoji(cell("emoji")); own != "" && name == "" {
			e.Emoji = own
		}
		experts = append(experts, e)
	})
	return experts
}

func parsePerspectives(text []byte) (rows []PerspectiveRow) {
	eachRow(text, []string{"id", "perspective"}, func(line int, cell func(names ...string) string) {
		r := PerspectiveRow{
			ID: value(cell("id")), Perspective: value(cell("perspective")), Round: value(cell("round")), Line: line,
		}
		_, r.Agent = cutEmoji(value(cell("agent", "surfaced_by", "expert")))
		if r.ID != "" || r.Agent != "" && r.Perspective != "" { // else it stands for rows to come
			rows = append(rows, r)
		}
	})
	return rows
}

// roundTitle is the heading of a round: "Round 1: Label", "Round 1 (Label)", "Opening
// Arguments (Round 0)".
var roundTitle = Pattern(`^(?:Round (\d{1,9})(?:\s*[:—–-]\s*(.*)|\s*\((.*)\))?|(.*?)\s*\(Round (\d{1,9})\))$`)

// cutRound reads the heading of a round.
func cutRound(title string) (number int, label string, found bool) {
	m := roundTitle().FindStringSubmatch(title)
	if m == nil {
		return 0, "", false
	}
	number, _ = strconv.Atoi(m[1] + m[5]) // at most nine digits
	return number, markdown.SingleSpaced(m[2] + m[3] + m[4]), true
}

// readSection reads a round, or keeps a section that the form does not have.
func (r *documentReader) readSection(d *DialogueDocument, h docHeading) {
	line := r.lines[h.line].Number
	if n, label, found := cutRound(h.title); found && h.level == 2 {
		d.Rounds = append(d.Rounds, r.readRound(DocumentRound{Number: n, Label: label, Line: line}, h.line+1, h.end))
		return
	}
	if slices.ContainsFunc(d.parts(), func(p documentPart) bool { return *p.line == line }) {
		return
	}
	s := DocumentSection{Title: h.title, Text: r.textOfLines(r.lines[h.line+1 : h.end]), Line: line}
	if n := len(d.Rounds); n > 0 {
		d.Rounds[n-1].After = append(d.Rounds[n-1].After, s)
	} else {
		d.Front = append(d.Front, s)
	}
}

// roundFile is the line that says where the turns of a round are.
var roundFile = Pattern(`(?m)^<!-- round \d{1,9} in (\S+) -->$`)

// readRound reads the turns of a round between two lines.
func (r *documentReader) readRound(round DocumentRound, from, to int) DocumentRound {
	first := to
	for i := to - 1; i >= from; i-- {
		if t, found := r.cutTurn(r.lines[i], r.turns[i]); found && r.lines[i].Level == 3 {
			round.Turns = append(round.Turns, r.readTurn(t, i+1, first))
			first = i
		}
	}
	slices.Reverse(round.Turns)
	round.Intro = r.textOfLines(r.lines[from:first])
	if from < first {
		if m := roundFile().FindSubmatch(r.rest[r.lines[from].Start:r.lines[first-1].End]); m != nil {
			round.File = unescapeName(string(m[1]))
			if roundFile().MatchString(round.Intro) { // the link
				round.Intro = ""
			}
		}
	}
	return round
}

// cutTurn reads the heading of a turn: one with the emoji of an agent, that begins
// with an agent's name, or that is one for sure.
func (r *documentReader) cutTurn(l markdown.Line, sure bool) (t DocumentTurn, found bool) {
	_, title := markdown.Heading(l.Text)
	title = markdown.SingleSpaced(title)
	before, emoji, after := splitEmoji(title)
	t.Line, t.Emoji = l.Number, emoji
	if before == "" {
		before = after
		if label, isNamed := r.nameIn(before); isNamed {
			after = strings.TrimSpace(before[len(label):])
			before = label
		} else {
			before, after = cutNote(before)
		}
	} else if emoji == "" {
		if label, isNamed := r.nameIn(before); isNamed {
			before, after = label, strings.TrimSpace(before[len(label):])
		} else if !sure {
			return t, false
		}
	}
	t.Label, t.Note = before, after
	t.Name = strings.ToLower(t.Label)
	_, isNamed := r.nameIn(t.Label)
	return t, t.Label != "" && (sure || isNamed || emoji == AgentEmoji || emoji == JudgeEmoji)
}

// nameIn returns the agent whose name text begins with.
func (r *documentReader) nameIn(text string) (label string, found bool) {
	for _, name := range r.names {
		if len(name) > len(label) && len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) && refWord(text[len(name):]) == "" {
			label, found = text[:len(name)], true
		}
	}
	return label, found
}

// cutNote cuts what follows a name in a heading: "Muffin (Architect)", "Muffin →
// switched".
func cutNote(text string) (label, note string) {
	at := len(text)
	for _, mark := range []string{" (", " →", " —", " –", " - ", ":"} {
		if i := strings.Index(text, mark); i > 0 && i < at {
			at = i
		}
	}
	return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at:])
}

// readTurn reads the text of a turn between two lines.
func (r *documentReader) readTurn(t DocumentTurn, from, to int) DocumentTurn {
	if from >= to {
		return t
	}
	start, end := r.lines[from].Start, r.lines[to-1].End
	t.Absent, t.Name = absence(r.rest[start:end], t.Name)
	for _, b := range r.blocksIn(start, end) {
		if agent, isTurn := b.turnOf(); isTurn {
			t.Name, t.Text, t.Exact, t.Edited = agent, b.text, b.exact, !b.exact
			behind, _ := slices.BinarySearchFunc(r.lines, b.at, func(l markdown.Line,
				at int) int {
				return cmp.Compare(l.End, at+1)
			})
			t.TextLine = 1 + behind
			return t
		}
	}
	if t.Absent != "" {
		return t
	}
	var skipped int
	t.Text, skipped = trimDocText(string(r.text[start:end]))
	t.TextLine = r.lines[from].Number + skipped
	return t
}

// noTurnReason is the line that says why there is no turn, at the beginning of a text, and noTurnLine the one before it.
var (
	noTurnReason = Pattern(`\A\s*(?:<!-- ` + noTurnComment + `.*\n\s*)*` + regexp.QuoteMeta(noTurn) + `(.*)\*[ \t\r]*(?:\n|\z)`)
	noTurnLine   = Pattern(`(?m)^<!-- ` + noTurnComment + `(\S+) round \d{1,9} -->\r?$`)
)

// absence returns why there is no turn, and the agent's name if the text says it.
func absence(text []byte, name string) (reason, agent string) {
	if m := noTurnLine().FindSubmatch(text); m != nil {
		name = unescapeName(string(m[1]))
	}
	if m := noTurnReason().FindSubmatch(text); m != nil {
		reason = strings.TrimSpace(string(m[1]))
	}
	return reason, name
}

// names returns what the agents and the judge are called, as the panel, the head
// and the scoreboard have it.
func (d *DialogueDocument) names() []string {
	names := markdown.Each(d.Panel, func(e DocumentExpert) string { return strings.TrimSpace(e.Label) })
	for _, p := range d.Head.Participants {
		for part := range strings.SplitSeq(p, "|") {
			_, label := cutEmoji(part)
			label, _, _ = strings.Cut(label, " (")
			names = append(names, strings.TrimSpace(label))
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
