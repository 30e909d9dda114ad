package lint

import (
	"strings"
)

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
	pollsFor     = pattern(`(?i)\b(poll(s|ed|ing)?|keep (checking|globbing|looking)|repeatedly (check|glob|look)\w*|(check|glob|look)\w*\s[^.;]{0,40}\b(repeatedly|in a loop|again and again))\b`)
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

// maxLoop is how many lines of a loop are looked at.
const maxLoop = 12

// loopBody returns the lines of the loop that begins in a block of code.
func (d *document) loopBody(i int) string {
	var lines []string
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
	m := findWith(pollsFor(), b.text, "poll", "keep", "repeatedly", "check", "glob", "look")
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
