package lint

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A card says what one rule finds in a block of an instruction, and what mends it.
type card struct {
	rule   string
	find   func(d *document, i int) []hit // in the block with an index
	remedy string
}

// A hit is a place in the text of a block.
type hit struct {
	start, end int
	message    string
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

func cards() []card {
	return []card{
		{agentOutput, findAgentOutput, "filebus wait TASK, then filebus task show TASK"},
		{polling, findPolling, "filebus wait TASK; for the issue queue filebus issue wait"},
		{wholeJournal, findWholeJournal, "filebus task show TASK; filebus list --kind handoff has all of them"},
	}
}

// instruction checks a file that tells agents what to do.
func (c *checker) instruction(name string, text []byte) {
	d := newDocument(splitBlocks(string(text)))
	allowed := allowances(string(text))
	for i := range d.blocks {
		b := &d.blocks[i]
		if b.negated {
			continue
		}
		for _, card := range c.cards {
			for _, h := range card.find(d, i) {
				line := b.at(h.start)
				if slices.Contains(allowed[line], card.rule) || b.code && isForbiddenCode(b.text, h.start) || !b.code && isForbidden(b.text, h.start, h.end) {
					continue
				}
				c.add(finding{name, line, card.rule, h.message, card.remedy})
				break // one a block is enough
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

// findAgentOutput finds calls of the tools that return what an agent has said: in
// code and in prose that asks for them, and in the lists of tools of an agent.
func findAgentOutput(d *document, i int) []hit {
	b := &d.blocks[i]
	if b.heading {
		return nil
	}
	var hits []hit
	for _, m := range outputTool().FindAllStringIndex(b.text, maxHits) {
		before, after := b.text[:m[0]], b.text[m[1]:]
		called := toolCall().MatchString(after) && !definition().MatchString(before)
		switch {
		case called, toolList().MatchString(b.text), d.inToolList(i):
		case b.code && commentOf(b.text) == "" && !useName().MatchString(before):
			continue
		case !useVerb().MatchString(lastClause(before, after)):
			continue
		case cost().MatchString(b.text) && !order().MatchString(before):
			continue // what it costs is told, not that it be called
		}
		hits = append(hits, hit{m[0], m[1], b.text[m[0]:m[1]] + " brings the whole conversation of an agent into the context"})
	}
	return hits
}

// findWith returns the first match in a text that has one of some words, in any
// case; looking for words first saves most of the work.
func findWith(pattern *regexp.Regexp, text string, words ...string) []int {
	lower := strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(lower, word) {
			return pattern.FindStringIndex(text)
		}
	}
	return nil
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

// findWholeJournal finds journals that are read without their section being taken.
func findWholeJournal(d *document, i int) []hit {
	b := &d.blocks[i]
	var hits []hit
	if !strings.Contains(strings.ToLower(b.text), "journal") {
		return nil
	}
	if m := journalAll().FindStringIndex(b.text); m != nil {
		hits = append(hits, hit{m[0], m[1], "the whole journal is read; ~500 tokens of it are the handoff"})
	}
	after, itself := 2, b.text
	if b.code {
		after, itself = 4, d.near(i, 0, 4)
	}
	if m := journalsAll().FindStringIndex(b.text); m != nil && !narrowed().MatchString(itself) {
		return append(hits, hit{m[0], m[1], "all journals are read; ~500 tokens of each are its handoff"})
	}
	if narrowed().MatchString(d.near(i, 0, after)) || !b.code && handsOff().MatchString(d.near(i, 1, after)) {
		return hits
	}
	for _, m := range journalPath().FindAllStringIndex(b.text, maxHits) {
		hits = append(hits, hit{m[0], m[1], fmt.Sprintf("%s is read as a whole; ~500 tokens of it are the handoff", oneLine(b.text[strings.Index(b.text[m[0]:m[1]], "journal/")+m[0]:m[1]]))})
	}
	return hits
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

// findPolling finds loops that sleep and look again, and prose that asks for such.
// The one line that blocks until a marker is there, as the document of the
// channels has it, is none.
func findPolling(d *document, i int) []hit {
	b := &d.blocks[i]
	if b.heading {
		return nil
	}
	hits := append(findSleepLoop(d, i), findGlobLoop(d, i)...)
	if b.code && commentOf(b.text) == "" {
		return hits
	}
	return append(hits, findPollProse(d, i)...)
}

// findSleepLoop finds "while … sleep" for agents' files, unless it is one line
// that tests for a file, or has a bound and tests for a file.
func findSleepLoop(d *document, i int) []hit {
	b := &d.blocks[i]
	start := loopStart().FindStringIndex(b.text)
	if start == nil {
		if m := bashSleep().FindStringIndex(b.text); m != nil && !loopStart().MatchString(d.near(i, 3, 0)) && waitFor().MatchString(d.near(i, 3, 3)) {
			return []hit{{m[0], m[1], "a sleep between two looks; each look is a call of its own"}}
		}
		return nil
	}
	oneLiner := sleeps().MatchString(b.text[start[0]:])
	region := b.text[start[0]:]
	if !oneLiner && b.code {
		region = d.loopBody(i)
	}
	switch {
	case !sleeps().MatchString(region), !agentWork().MatchString(d.near(i, 1, 4)):
	case !b.code && !strings.Contains(region, ";"): // prose: see findPollProse
		return nil
	case fileTest().MatchString(region) && (oneLiner || bounded().MatchString(d.near(i, 3, 8))):
	case bounded().MatchString(region) && !globCall().MatchString(region) && !strings.Contains(region, "while true"):
	default:
		return []hit{{start[0], start[1], "a loop that sleeps and looks again, without an end of its own"}}
	}
	return nil
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

// findGlobLoop finds Glob called in a loop to see whether agents are done.
func findGlobLoop(d *document, i int) []hit {
	b := &d.blocks[i]
	m := globCall().FindStringIndex(b.text)
	if m == nil {
		return nil
	}
	near := d.near(i, 4, 4)
	if !b.code {
		near = b.text
	}
	if waitFor().MatchString(near) && (loopStart().MatchString(near) || sleeps().MatchString(near)) {
		return []hit{{m[0], m[1], "Glob in a loop: each look is a call of its own, ~80 tokens"}}
	}
	return nil
}

// findPollProse finds sentences that ask to look again and again.
func findPollProse(d *document, i int) []hit {
	b := &d.blocks[i]
	if m := findWith(everySeconds(), b.text, "every", "each"); m != nil && agentWork().MatchString(b.text) &&
		(waitFor().MatchString(b.text) || !otherWork().MatchString(b.text)) {
		return []hit{{m[0], m[1], "looks again every so often: each look is a call of its own"}}
	}
	m := findWith(pollsFor(), b.text, "poll", "keep", "repeatedly", "check", "glob", "look", "sleep")
	if m == nil || !pollTarget().MatchString(restOfSentence(b.text[m[0]:])) {
		return nil
	}
	if cost().MatchString(b.text) && !order().MatchString(b.text[:m[0]]) && !strings.HasPrefix(strings.ToLower(strings.TrimLeft(b.text, "-*0123456789.) ")), "poll") {
		return nil // what it costs is told, not that it be done
	}
	if d.waits[b.section] {
		return nil // the section says how to wait
	}
	return []hit{{m[0], m[1], "polls for what one blocking wait returns"}}
}
