package lint

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
)

// A sign is a text in a block of an instruction by which a rule is broken.
type sign struct {
	rule    string
	match   func() *regexp.Regexp
	words   string                                  // one of them is in the block: saves most of the work
	isMeant func(d *document, i int, at []int) bool // of what matches in the block with an index; nil: always
	message string                                  // {} is what matches
	most    int                                     // how many places of a block are looked at
	isLast  bool                                    // where it is meant, the signs of its rule below are not
}

// signs returns what instructions are looked through for, those of a rule together.
func signs() []sign {
	const each = "each look is a call of its own"
	return []sign{
		{"agent-output", outputTool, "", (*document).isCalled,
			"{} brings the whole conversation of an agent into the context", maxHits, false},
		{"polling", loopStart, "", (*document).isEndless,
			"a loop that sleeps and looks again, without an end of its own", 1, false},
		{"polling", bashSleep, "", (*document).isPause, "a sleep between two looks; " + each, 1, false},
		{"polling", globCall, "", (*document).isRepeated, "Glob in a loop: " + each + ", ~80 tokens", 1, false},
		{"polling", everySeconds, "every each", (*document).isOfAgents, "looks again every so often: " + each, 1, true},
		{"polling", pollsFor, "poll keep repeatedly check glob look sleep", (*document).isOrdered,
			"polls for what one blocking wait returns", 1, false},
		{"whole-journal", journalAll, "journal", nil,
			"the whole journal is read; ~500 tokens of it are the handoff", 1, false},
		{"whole-journal", journalsAll, "journal", (*document).isUncut,
			"all journals are read; ~500 tokens of each are its handoff", 1, true},
		{"whole-journal", journalPath, "journal", (*document).isWhole,
			"{} is read as a whole; ~500 tokens of it are the handoff", maxHits, false},
	}
}

// A document is an instruction file, cut into blocks.
type document struct {
	blocks []block
	waits  map[int]bool // sections with a line that waits in one call
}

func newDocument(blocks []block) *document {
	d := &document{blocks, map[int]bool{}}
	for i := range blocks {
		if b := &blocks[i]; !b.negated && blockingWait().MatchString(b.text) {
			d.waits[b.section] = true
		}
	}
	return d
}

// maxHits is how many places of one block are looked at.
const maxHits = 20

// instruction checks a file that tells agents what to do.
func (c *checker) instruction(name string, text []byte) {
	d := newDocument(splitBlocks(string(text)))
	allowed := allowances(string(text))
	for i := range d.blocks {
		b, over := &d.blocks[i], "" // the rule that is done with: one finding a block is enough
		if b.negated {
			continue
		}
		lower := strings.ToLower(b.text)
		isIn := func(word string) bool { return strings.Contains(lower, word) }
		for _, s := range c.signs {
			if s.rule == over || s.words != "" && !slices.ContainsFunc(strings.Fields(s.words), isIn) {
				continue
			}
			for _, at := range s.match().FindAllStringIndex(b.text, s.most) {
				if s.isMeant != nil && !s.isMeant(d, i, at) {
					continue
				}
				line := b.at(at[0])
				isAllowed := slices.Contains(allowed[line], s.rule) || b.isForbidden(at[0], at[1])
				if !isAllowed {
					found := b.text[at[0]:at[1]]
					found = oneLine(found[max(strings.Index(found, "journal/"), 0):])
					c.add(name, line, s.rule, strings.Replace(s.message, "{}", found, 1), "")
				}
				if s.isLast || !isAllowed {
					over = s.rule
					break
				}
			}
		}
	}
}

// allowances returns the rules that comments allow for lines: each for its own line
// and the next, as in <!-- filebus lint: allow polling -->.
func allowances(text string) map[int][]string {
	allowed := map[int][]string{}
	for i, line := range strings.Split(text, "\n") {
		for _, m := range allowance().FindAllStringSubmatch(line, maxHits) {
			allowed[i+1], allowed[i+2] = append(allowed[i+1], m[1]), append(allowed[i+2], m[1])
		}
	}
	return allowed
}

var allowance = pattern(`filebus lint: allow ([a-z-]+)`)

// near returns the text of the blocks around one: of the same fence, or else of
// the same section.
func (d *document) near(i, before, after int) string {
	var texts []string
	for j := max(i-before, 0); j <= i+after && j < len(d.blocks); j++ {
		if d.blocks[j].fence == d.blocks[i].fence && d.blocks[j].section == d.blocks[i].section {
			texts = append(texts, d.blocks[j].text)
		}
	}
	return strings.Join(texts, "\n")
}

var (
	outputTool = pattern(`\b(AgentOutputTool|TaskOutputTool|TaskOutput)\b`)
	toolCall   = pattern(`^[` + "`" + `*]*\s*[({]`)
	definition = pattern(`\b(class|def|func|function|interface|type|struct|enum|import|new)\s+$`)
	useVerb    = pattern(`(?i)\b(us(e|es|ing)|call(s|ing)?|invok(e|es|ing)|run(s|ning)?|via|through|from|with|poll(s|ing)?|wait(s|ing)?|` +
		`check(s|ing)?|retriev(e|es|ing)|get(s|ting)?|read(s|ing)?|fetch(es|ing)?|collect(s|ing)?)\b`)
	useName  = pattern("(?i)\\b(use|call|invoke)\\s+[`\"']*$")
	toolList = pattern(`(?i)^(allowed[-_ ]?tools|tools)\s*:`)
	cost     = pattern(`(?i)\d[\d,.]*k?\s*tokens?\b`)
	order    = pattern(`(?i)\b(use|call|invoke|run|poll|wait|check|retrieve|get|read|fetch|collect)\b`)
)

// isCalled reports whether a tool that returns what an agent has said is called: in code, in
// prose that asks for it, or in the list of an agent's tools.
func (d *document) isCalled(i int, at []int) bool {
	b := &d.blocks[i]
	before, after := b.text[:at[0]], b.text[at[1]:]
	switch {
	case b.heading:
		return false
	case toolCall().MatchString(after) && !definition().MatchString(before):
		return true
	case toolList().MatchString(b.text), d.inToolList(i):
		return true
	case b.code && commentOf(b.text) == "" && !useName().MatchString(before):
		return false
	}
	isTold := cost().MatchString(b.text) && !order().MatchString(before) // what it costs, not that it be called
	return useVerb().MatchString(lastClause(before, after)) && !isTold
}

// inToolList reports whether a block is an item of a list below "tools:" in the
// front matter.
func (d *document) inToolList(i int) bool {
	if d.blocks[0].text != "---" || d.blocks[i].section != 0 {
		return false
	}
	const maxTools = 100 // how long a list of tools is looked through
	for first := max(i-maxTools, 0); i > first && strings.HasPrefix(d.blocks[i].text, "- "); {
		i--
	}
	return toolList().MatchString(d.blocks[i].text)
}

var (
	journalPath = pattern("(?i)\\b(Read|cat|open|less|more|View|load|read_file|readFile(Sync)?|Get-Content)\\b[^;\\n]{0,60}?journal/(task-[^\\s\"'`)]*|\\*\\.md)")
	journalAll  = pattern(`(?i)\b(read|load|open|cat|paste|inject|includ)(s|e|es|ing)?\b[^.;]{0,40}\b(whole|full|entire|complete)\b[^.;]{0,25}\bjournals?\b|` +
		`\b(read|load|open)(s|ing)?\b[^.;]{0,40}\bjournals?\b[^.;]{0,25}\b(in full|completely|entirely|from (start|top) to (end|bottom))\b`)
	//go:embed journals.txt
	allJournals string // what reads them all, an expression a line
	journalsAll = pattern("(?i)" + strings.ReplaceAll(strings.TrimSpace(allJournals), "\n", "|"))
	narrowed    = pattern(`(?i)extract_?section|handoff|--section|\boffset\b|\blimit\s*[=:]|\bsed\s+-n|\bawk\b|\bgrep\b|\bhead\b|\btail\b`)
	handsOff    = pattern(`(?i)handoff`)
)

// isUncut reports whether no part of what is read is taken.
func (d *document) isUncut(i int, _ []int) bool {
	if d.blocks[i].code {
		return !narrowed().MatchString(d.near(i, 0, 4))
	}
	return !narrowed().MatchString(d.blocks[i].text)
}

// isWhole reports whether a journal is read without its section being taken, also below it.
func (d *document) isWhole(i int, _ []int) bool {
	if d.blocks[i].code {
		return d.isUncut(i, nil)
	}
	return !narrowed().MatchString(d.near(i, 0, 2)) && !handsOff().MatchString(d.near(i, 1, 2))
}

var (
	sleeps    = pattern(`(?i)\bsleep\b|Start-Sleep|setTimeout`)
	loopStart = pattern(`(?i)\b(while|until|loop|repeat|do forever)\b`)
	fileTest  = pattern(`\b(while|until)\s+(!\s+)?(\[\[?|test)\s.*-[fes]\s`)
	bounded   = pattern(`(?i)\btimeout\s+\d|\$?SECONDS\b|\b(max|limit|attempts?|tries|retries|deadline)\w*\b|\s-(lt|le|gt|ge)\s|\bfor\s+\w+\s+in\b`)
	agentWork = pattern(`(?i)agent_complete|/complete/|\.(done|failed)\b|\bmarkers?\b|sub-?agents?\b|\bagents?\b|journal/|issue_queue|handoff|TaskOutput|\btasks?\b`)
	waitFor   = pattern(`(?i)agent_complete|/complete/|\.(done|failed)\b|\bmarkers?\b|issue_queue|journal/`)
	globCall  = pattern(`\bGlob\s*\(`)
	bashSleep = pattern(`\bBash\s*\(\s*(command\s*[=:]\s*)?["'` + "`" + `]?sleep\s+\d`)

	often = `(every|each)\s+(\d+|few|couple of|half|other|[a-z]+)?\s*-?\s*(s|secs?|seconds?|m|mins?|minutes?)\b`
	looks = `(check|poll|look|glob|re-?check|monitor|query|scan)\w*`

	everySeconds = pattern(`(?i)\b` + looks + `\b([^.;]|\.\S){0,80}\b` + often + `|\b` + often + `([^.;]|\.\S){0,60}\b` + looks + `\b`)
	pollsFor     = pattern(`(?i)\b(poll(s|ed|ing)?|keep (checking|globbing|looking)|repeatedly (check|glob|look)\w*|(check|glob|look)\w*\s[^.;]{0,40}\b(repeatedly|in a loop|again and again)|sleep\w*\s+(for\s+)?\d[^.;]{0,40}\b(check|glob|look|poll|ls))\b`)
	pollTarget   = pattern(`(?i)\bGlob\b|agent_complete|/complete/|\.(done|failed)\b|\b(completion )?markers?\b|issue_queue`)
	otherWork    = pattern(`(?i)\bhealth|heartbeat|\bcron\b|\bmetrics?\b|\bservers?\b|\bdatabase`)
	blockingWait = pattern(`filebus wait\b|(while|until)\s+(!\s+)?(\[\[?|test)\s[^\n]*-[fes]\s[^\n]*\bsleep\b`)
)

// isEndless reports whether a loop looks for agents' files and has no end: it is neither one line
// that tests for a file, nor has a bound. The one line that blocks until a marker is there, as
// the document of the channels has it, is none. Prose is not looked at: see everySeconds.
func (d *document) isEndless(i int, at []int) bool {
	b := &d.blocks[i]
	region := b.text[at[0]:]
	oneLiner := sleeps().MatchString(region)
	if !oneLiner && b.code {
		region = d.loopBody(i)
	}
	switch {
	case b.heading, !b.code && !strings.Contains(region, ";"):
		return false
	case !sleeps().MatchString(region), !agentWork().MatchString(d.near(i, 1, 4)):
		return false
	case fileTest().MatchString(region) && (oneLiner || bounded().MatchString(d.near(i, 3, 8))):
		return false
	}
	return !bounded().MatchString(region) || globCall().MatchString(region) || strings.Contains(region, "while true")
}

// isPause reports whether a sleep stands between two looks, outside of a loop.
func (d *document) isPause(i int, _ []int) bool {
	return !d.blocks[i].heading && !loopStart().MatchString(d.near(i, 3, 0)) && waitFor().MatchString(d.near(i, 3, 3))
}

// loopBody returns the lines of the loop that begins in a block of code.
func (d *document) loopBody(i int) string {
	var lines []string
	const maxLoop = 12 // how many lines of a loop are looked at
	for j := i; j < len(d.blocks) && j < i+maxLoop && d.blocks[j].fence == d.blocks[i].fence; j++ {
		lines = append(lines, d.blocks[j].text)
		if j > i && (d.blocks[j].text == "done" || strings.HasPrefix(d.blocks[j].text, "done ")) {
			break
		}
	}
	return strings.Join(lines, "\n")
}

// isRepeated reports whether a call stands in a loop that looks whether agents are done.
func (d *document) isRepeated(i int, _ []int) bool {
	b := &d.blocks[i]
	near := d.near(i, 4, 4)
	if !b.code {
		near = b.text
	}
	isLoop := loopStart().MatchString(near) || sleeps().MatchString(near)
	return !b.heading && isLoop && waitFor().MatchString(near)
}

// isProse reports whether a block asks an agent for something in words.
func (b *block) isProse() bool { return !b.heading && (!b.code || commentOf(b.text) != "") }

// isOfAgents reports whether it is agents that prose is about.
func (d *document) isOfAgents(i int, _ []int) bool {
	b := &d.blocks[i]
	isOther := otherWork().MatchString(b.text) && !waitFor().MatchString(b.text)
	return b.isProse() && agentWork().MatchString(b.text) && !isOther
}

// isOrdered reports whether prose asks to look again for what agents leave, and does not say
// how to wait, or what looking costs.
func (d *document) isOrdered(i int, at []int) bool {
	b := &d.blocks[i]
	begins := strings.ToLower(strings.TrimLeft(b.text, "-*0123456789.) "))
	isTold := cost().MatchString(b.text) && !order().MatchString(b.text[:at[0]])
	isTold = isTold && !strings.HasPrefix(begins, "poll")
	isMeant := pollTarget().MatchString(restOfSentence(b.text[at[0]:]))
	return b.isProse() && isMeant && !isTold && !d.waits[b.section]
}
