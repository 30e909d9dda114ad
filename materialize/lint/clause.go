package lint

import (
	"strings"
)

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

// maxLead is how much of the end of a text is looked at, in bytes: a sentence.
const maxLead = 512

// leadOf returns what a text, by its last sentence, says of what follows it.
func leadOf(text string) lead {
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

// isForbidden reports whether the clause around text[start:end] forbids what
// stands there.
func isForbidden(text string, start, end int) bool {
	text = strings.NewReplacer("e.g.", "e,g,", "i.e.", "i,e,", "etc.", "etc,", "vs.", "vs,").Replace(text)
	clause := lastClause(text[:start], text[end:])
	if cancelled().MatchString(clause) {
		return false
	}
	return badBefore().MatchString(clause) || badAfter().MatchString(restOfSentence(text[end:]))
}

// isForbiddenCode reports the same of a line of code: it may say so in a comment
// or in a text that it holds.
func isForbiddenCode(line string, start int) bool {
	if commentOf(line) != "" {
		return isForbidden(line, start, start)
	}
	for _, mark := range []string{" #", " //", " --", "\t#"} {
		if at := strings.LastIndex(line, mark); at >= start && startsBad(strings.TrimLeft(line[at:], "#/ \t-")) {
			return true
		}
	}
	return strong().MatchString(line[:start]) && !cancelled().MatchString(line[:start])
}
