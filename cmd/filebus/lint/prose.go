package lint

import (
	"slices"
	"strings"
)

// A block is a piece of an instruction file that is read as one: a paragraph, a
// list item, a table's cell, a heading, or a line of code.
type block struct {
	text    string
	lines   []blockLine // where each of its lines begins in text
	code    bool        // within a code fence
	heading bool
	negated bool // what surrounds it forbids what it says
	section int  // the heading above it, counted from 0
	fence   int  // the number of its fence, 0 outside
}

type blockLine struct{ start, number int }

// at returns the line of the file that holds an offset of the text.
func (b *block) at(offset int) int {
	line := b.lines[0].number
	for _, l := range b.lines {
		if l.start <= offset {
			line = l.number
		}
	}
	return line
}

// A splitter cuts an instruction file into blocks.
type splitter struct {
	blocks  []block
	open    bool // the last block may go on in the next line
	section int

	headings []scope // of the levels above, the last the deepest
	lead     lead    // what the text above says of what follows
	indent   int     // of the list item that leads in, -1 if none does
	inList   bool
	item     bool // the open block is an item that may lead in itself

	fences  int
	mark    string // of the fence that the line is in
	prose   bool   // the fence holds text for agents, not code
	from    int    // how many blocks stand before the fence
	mute    bool   // within what was said or printed: a session, a log
	region  bool   // a comment in the fence forbids what follows
	good    bool   // a comment in the fence says that it is right
	gap     bool   // the line before was empty
	comment bool   // within an HTML comment
	columns []bool // of the table: which forbid
	front   frontMatter
}

// A scope is a heading that is in force.
type scope struct {
	level   int
	negated bool
}

// What keeps the work in proportion to the text, in bytes: no more of a line is
// looked at, and a longer paragraph is cut in two.
const (
	maxLine  = 8 << 10
	maxBlock = 4 << 10
)

// splitBlocks cuts text into blocks.
func splitBlocks(text string) []block {
	s := &splitter{indent: -1}
	for i, line := range strings.Split(text, "\n") {
		s.line(i+1, strings.TrimRight(line[:min(len(line), maxLine)], "\r"))
	}
	return s.blocks
}

func (s *splitter) line(number int, line string) {
	trimmed := strings.TrimSpace(line)
	mark, info := fenceOf(trimmed)
	switch {
	case s.front.take(number, trimmed):
		s.add(number, trimmed, block{negated: s.front.forbids})
		s.open = false
	case s.mark == "" && strings.HasPrefix(trimmed, ">"): // a quotation
		s.open = false
	case s.mark != "" && strings.HasPrefix(mark, s.mark) && info == "":
		s.mark, s.open, s.mute = "", false, false
		s.lead = lead{list: s.lead.list && s.inList}
	case s.mark != "":
		s.inFence(number, trimmed)
	case s.comment || strings.HasPrefix(trimmed, "<!--"):
		s.comment, s.open = !strings.Contains(trimmed, "-->"), false
	case mark != "":
		s.fences++
		s.mark, s.region, s.good, s.gap, s.open = mark, false, false, false, false
		language, _, _ := strings.Cut(strings.ToLower(info), " ")
		s.prose = slices.Contains([]string{"markdown", "md", "text", "txt", "prompt"}, language)
		s.mute, s.from = printed().MatchString(language), len(s.blocks)
	default:
		s.plain(number, line)
	}
}

// forbidden reports whether the headings above forbid what comes now.
func (s *splitter) forbidden() bool {
	return len(s.headings) > 0 && s.headings[len(s.headings)-1].negated
}

// inFence takes a line of a code fence in. Comments there say what is bad and
// what is good.
func (s *splitter) inFence(number int, line string) {
	if s.mute = s.mute || transcriptLine().MatchString(line); s.mute {
		s.blocks, s.open = s.blocks[:s.from], false
		return
	}
	if line == "" {
		s.gap, s.open = true, false
		return
	}
	if comment := commentOf(line); comment != "" {
		switch {
		case startsGood(comment):
			s.region, s.good = false, true
		case startsBad(comment):
			s.region = true
		case s.gap:
			s.region = false
		}
	}
	s.gap = false
	if s.prose && s.open && !listItem().MatchString(line) {
		s.join(number, line)
		return
	}
	s.add(number, line, block{code: true, fence: s.fences, negated: s.region || !s.good && (s.forbidden() || s.lead.fence)})
	s.open = s.prose
}

// commentOf returns the text of a line that is a comment of some language.
func commentOf(line string) string {
	for _, mark := range []string{"#", "//", "--", "/*", "<!--", ";", "%"} {
		if rest, found := strings.CutPrefix(line, mark); found {
			return strings.TrimLeft(rest, "#/ *!-")
		}
	}
	return ""
}

// plain takes a line outside of fences in.
func (s *splitter) plain(number int, raw string) {
	line := strings.TrimSpace(raw)
	level := len(line) - len(strings.TrimLeft(line, "#"))
	s.mute = (s.mute || transcriptLine().MatchString(line)) && level == 0
	switch {
	case s.mute, line == "":
		s.open, s.columns = false, nil
	case level > 0 && level <= 6 && strings.HasPrefix(line[level:], " "):
		s.addHeading(number, level, strings.TrimSpace(line[level:]))
	case strings.HasPrefix(line, "|"):
		s.row(number, line)
	case listItem().MatchString(line):
		s.listItem(number, line, len(raw)-len(strings.TrimLeft(raw, " \t")))
	case s.open:
		s.join(number, line)
		s.leadIn()
	default:
		if s.inList {
			s.lead, s.inList = lead{}, false // the list is over
		}
		s.add(number, line, block{negated: s.forbidden() || s.lead.list})
		s.open, s.item, s.indent = true, true, -1
		s.leadIn()
	}
}

var listItem = pattern(`^([-*+]|\d+[.)])\s`)
var printed = pattern(`^(console|terminal|shell-?session|sh-session|output|logs?|jsonl|ndjson|diff|transcript|session)$`)

// listItem takes an item in. What leads in to a list reaches all of its items; an
// item leads in to those below it.
func (s *splitter) listItem(number int, line string, indent int) {
	if s.indent >= indent {
		s.lead, s.indent = lead{}, -1
	}
	s.inList, s.open = true, true
	s.add(number, line, block{negated: s.forbidden() || s.lead.list})
	if s.item = !s.lead.list; s.item {
		s.indent = indent
		s.leadIn()
	}
}

// leadIn notes what the last block says of what follows it.
func (s *splitter) leadIn() {
	if s.item {
		s.lead = leadOf(s.blocks[len(s.blocks)-1].text)
	}
}

// addHeading takes a heading in. One below a heading that forbids does so too,
// unless it says what to do instead.
func (s *splitter) addHeading(number, level int, title string) {
	for len(s.headings) > 0 && s.headings[len(s.headings)-1].level >= level {
		s.headings = s.headings[:len(s.headings)-1]
	}
	above := len(s.headings) > 0 && s.headings[len(s.headings)-1].negated
	negated := badHeading().MatchString(title) || above && !startsGood(title)
	s.headings = append(s.headings, scope{level, negated})
	s.section++
	s.lead, s.inList, s.columns, s.indent = lead{}, false, nil, -1
	s.add(number, title, block{heading: true, negated: negated})
	s.open = false
}

// row takes a table's row in, each cell a block. A column whose header forbids
// does so for its cells, as does the first cell of a row.
func (s *splitter) row(number int, line string) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	header := s.columns == nil
	if header {
		s.columns = []bool{}
	}
	bad := startsBad(strings.TrimSpace(cells[0]))
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		if header {
			s.columns = append(s.columns, startsBad(cell) || insteadOf().MatchString(cell))
		}
		s.add(number, cell, block{negated: s.forbidden() || s.lead.list || bad || i < len(s.columns) && s.columns[i]})
	}
	s.open = false
}

func (s *splitter) add(number int, line string, b block) {
	b.text, b.lines, b.section = line, []blockLine{{0, number}}, s.section
	s.blocks = append(s.blocks, b)
}

// join appends a line to the last block.
func (s *splitter) join(number int, line string) {
	b := &s.blocks[len(s.blocks)-1]
	if len(b.text) > maxBlock {
		s.add(number, line, *b)
		return
	}
	b.lines = append(b.lines, blockLine{len(b.text) + 1, number})
	b.text += " " + line
}

// A frontMatter follows the lines of YAML at the beginning of a file.
type frontMatter struct {
	state   int    // 0: before it, 1: within, 2: behind or none
	key     string // that lists belong to
	forbids bool   // the key lists tools that an agent must not have
}

// take reports whether a line belongs to the front matter.
func (f *frontMatter) take(number int, line string) bool {
	switch {
	case f.state == 0 && number == 1 && line == "---":
		f.state = 1
		return true
	case f.state != 1:
		f.state = 2
		return false
	case line == "---":
		f.state = 2
	}
	if key, _, found := strings.Cut(line, ":"); found && !strings.HasPrefix(line, "-") {
		f.key = strings.ToLower(key)
		f.forbids = strings.HasPrefix(f.key, "disallowed")
	}
	return true
}

// The words of prohibitions. They are found in clauses, headings, comments and the
// lines that lead in to a list or to code.
var (
	badHeading = pattern(`(?i)\b(do not|don['’]t|never|prohibit\w*|forbidden|avoid|anti-?patterns?|bad|wrong|incorrect|not allowed|` +
		`banned|deprecated|must not|should not|no longer|common mistakes?|pitfalls?|violations?|red flags?)\b|[❌🚫✗⛔]`)
	badStart = pattern(`(?i)^\W*((also|very|critical|important|rule|note|warning|always)\W+)*(never|do not|don['’]?t|bad|wrong|incorrect|avoid|` +
		`forbidden|prohibited|not allowed|anti-?pattern|must not|banned|no)\b|^[^\w]*[❌🚫✗⛔]`)
	goodStart = pattern(`(?i)^\W*(good|correct|right|instead|do this|do:|allowed|preferred|better|use instead|recommended|required|do use)\b|^\W*[✅✓]`)
	insteadOf = pattern(`(?i)^\W*(instead of|rather than|in place of|old|before)\b`)

	badBefore = pattern(`(?i)\b(never|do not|does not|must not|should not|may not|shall not|can ?not|will not|don['’]?t|doesn['’]t|mustn['’]t|` +
		`shouldn['’]t|can['’]t|won['’]t|avoid(s|ing)?|without|instead of|in place of|rather than|forbid(s|den)?|prohibit(s|ed|ing)?|ban(s|ned)?|` +
		`refrain|stop|not allowed|no need|replac(e|es|ed|ing)|unlike|no longer|eliminat\w+|remov\w+|deprecat\w+)\b|[❌🚫✗⛔]|` +
		`\b(not|no|nor)(\s+\w+){0,2}\W*$`)
	badAfter = pattern("(?i)^[^.;!?|]{0,60}?\\b(forbidden|prohibited|banned|not allowed|never|must not|should not|mustn['’]t|shouldn['’]t|" +
		`not be used|deprecated|disallowed|off-limits|bloats?|floods?|adds|pollutes|wastes|is wrong|is bad|bad)\b|^\W*[❌🚫✗⛔]`)
	cancelled  = pattern(`(?i)\b(do not|don['’]?t|never|must not)\s+(forget|hesitate|skip|omit|neglect|fail)\b`)
	sentence   = pattern(`[.!?;](\s|$)|\bbut\s|\binstead[,:]?\s+(use|call|run|invoke|poll|wait|check|read)\b`)
	imperative = pattern(`(?i)[,:–—-]\s+((then|please|always|just|simply|instead)\s+)*(use|call|run|invoke|read|poll|wait|check|fetch|get|retrieve|launch|try)\b`)
	aside      = pattern(`(?i)\b(never|not)\s*,`)
	either     = pattern(`(?i)\b(or|nor)\b`)
	strong     = pattern(`(?i)\b(never|do not|don['’]?t|must not|mustn['’]t|should not|shouldn['’]t|can ?not|may not|forbidden|prohibited|not allowed)\b`)
	bareNot    = pattern(`(?i)\b(never|not|don['’]?t)\W*$`)
)

func startsBad(text string) bool {
	return badStart().MatchString(text) && !cancelled().MatchString(text)
}
func startsGood(text string) bool { return goodStart().MatchString(text) }

// A lead says whether a line forbids what follows it: "Never do this:", "Agents
// must not:", "Bad".
type lead struct {
	list  bool // also a list or a paragraph
	fence bool // a block of code
}

// leadOf returns what a text, by its last sentence, says of what follows it.
func leadOf(text string) lead {
	const maxLead = 512 // how much of the end of a text is looked at, in bytes: a sentence
	text = strings.Trim(text[max(len(text)-maxLead, 0):], "*_ ")
	if cuts := sentence().FindAllStringIndex(text, -1); len(cuts) > 0 && cuts[len(cuts)-1][1] < len(text) {
		text = strings.TrimLeft(text[cuts[len(cuts)-1][0]:], ".!?;*_ ")
	}
	colon := strings.HasSuffix(strings.TrimRight(text, "*_"), ":")
	bad := startsBad(text) || colon && strong().MatchString(lastClause(strings.TrimRight(text, ":*_"), ""))
	if startsGood(text) || cancelled().MatchString(text) || !bad {
		return lead{}
	}
	return lead{list: colon || len(strings.Fields(text)) <= 4, fence: true}
}

// lastClause returns the end of a text from where its last clause begins. What
// follows the text in its sentence tells an enumeration, "never sleep, poll or
// call it", from a second order, "do not sleep, call it".
func lastClause(before, after string) string {
	if cuts := sentence().FindAllStringIndex(before, -1); len(cuts) > 0 {
		before = strings.TrimLeft(before[cuts[len(cuts)-1][0]:], ".!?; ")
	}
	cuts := imperative().FindAllStringIndex(before+" ", -1)
	if len(cuts) == 0 || aside().MatchString(before) {
		return before
	}
	cut := cuts[len(cuts)-1][0]
	if bareNot().MatchString(before[:cut]) || before[cut] == ':' && startsBad(before[:cut]) {
		return before
	}
	rest := before[cut:] + restOfSentence(after)
	if either().MatchString(rest) {
		return before
	}
	return before[cut:]
}

func restOfSentence(text string) string {
	if at := sentence().FindStringIndex(text); at != nil {
		return text[:at[0]]
	}
	return text
}

// isForbidden reports whether the clause around text[start:end] of a block forbids what stands
// there. A line of code may say so in a comment or in a text that it holds.
func (b *block) isForbidden(start, end int) bool {
	if b.code && commentOf(b.text) == "" {
		for _, mark := range []string{" #", " //", " --", "\t#"} {
			at := strings.LastIndex(b.text, mark)
			if at >= start && startsBad(strings.TrimLeft(b.text[at:], "#/ \t-")) {
				return true
			}
		}
		return strong().MatchString(b.text[:start]) && !cancelled().MatchString(b.text[:start])
	}
	if b.code {
		end = start
	}
	text := strings.NewReplacer("e.g.", "e,g,", "i.e.", "i,e,", "etc.", "etc,", "vs.", "vs,").Replace(b.text)
	clause := lastClause(text[:start], text[end:])
	isBad := badBefore().MatchString(clause) || badAfter().MatchString(restOfSentence(text[end:]))
	return isBad && !cancelled().MatchString(clause)
}
