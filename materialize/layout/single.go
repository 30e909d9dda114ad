package layout

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// The attributes beside those of package record.
const (
	AttributeAssignee = "assignee" // issue: who has claimed it
	attributeSource   = "source"   // issue: who it is from; knowledge: the task it was learned in
	AttributeDialogue = "dialogue" // turn and dialogue: the slug
	AttributeRound    = "round"    // turn and dialogue: the number, without zeros
	AttributePart     = "part"     // dialogue and snapshot: which of the known files it is
	AttributeWorkflow = "workflow" // artifact: the type of its session
	AttributeStarted  = "started"  // handoff and state: as the text has it
	attributeModel    = "model"    // report: what the agent ran on
	attributeMarkers  = "markers"  // turn: how many of each kind, "PERSPECTIVE=2 TENSION=1"
)

// The statuses that Facts use. Files spell them in many ways: see
// NormalizeStatus.
const (
	StatusPending    = "pending"
	statusAccepted   = "accepted" // of an issue: to be done
	StatusInProgress = "in_progress"
	StatusComplete   = "complete"
	StatusPartial    = "partial"
	StatusBlocked    = "blocked"
	StatusFailed     = "failed"
	statusArchived   = "archived" // of a task that its file's place has ended, whatever became of it
)

// NormalizeStatus returns the one spelling of a status as agents write it:
// "Completed", "✅ Done, verified" and "success" are complete. The first word decides
// where the whole is unknown, but of what waits to be done. A text without a known
// status gives "", as do a list to choose from, such as "completed | failed", and doubt.
func NormalizeStatus(text string) string {
	text = struck().ReplaceAllString(strings.ToLower(text), "")
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	end := strings.IndexFunc(text+"\n", func(r rune) bool {
		return !unicode.IsLetter(r) && r != '_' && r != '-' && r != ' '
	})
	words := strings.FieldsFunc(text[:end], func(r rune) bool { return r == '_' || r == '-' || r == ' ' })
	if unclear().MatchString(text[end:]) {
		return ""
	}
	for n := min(len(words), 2); n > 0; n-- { // "in progress" before "in"
		status := meaning(statusWords[:], strings.Join(words[:n], "_"))
		if status != "" && (n == len(words) || status != StatusPending && status != statusAccepted) {
			return status
		}
	}
	return ""
}

// struck is what of a status does not count; unclear is how one goes on that is none.
var (
	struck  = Pattern(`~~.*?~~|<!--.*?-->|['’]`)
	unclear = Pattern(`^ *\(?([?|/→>=]|[0-9]{1,2} ?%)`)
)

// statusFact returns a status as a fact: one that is not known stays as it is written.
func statusFact(text string) string {
	return cmp.Or(NormalizeStatus(text), strings.ToLower(factLine(text)))
}

// StatusWords returns the ways to write the status that a text stands for, in lower
// case, its own first.
func StatusWords(text string) (all []string) {
	words := []string{strings.ToLower(strings.TrimSpace(text)), markdown.Fold(text)}
	for _, s := range statusWords {
		if s.status == NormalizeStatus(text) {
			words = append(words, strings.Fields(s.words)...)
		}
	}
	for _, word := range words {
		all = append(all, word, strings.ReplaceAll(word, "_", " "), strings.ReplaceAll(word, "_", "-"))
	}
	return all
}

// HasEnded reports whether a task with a status, as NormalizeStatus spells it, does
// nothing more.
func HasEnded(status string) bool {
	switch status {
	case StatusComplete, StatusPartial, StatusBlocked, StatusFailed:
		return true
	}
	return false
}

// IsOpen reports whether a task with a status, in any spelling, still waits for somebody: it has not ended, nobody has
// given it up, and no archive holds it.
func IsOpen(text string) bool {
	status := cmp.Or(NormalizeStatus(text), text)
	isLeft := slices.Contains([]string{"duplicate", "wont_fix", statusArchived}, status)
	return !isLeft && !HasEnded(status) && !CountsNoMore(status)
}

// IsLeft reports whether there is something to do of a task or an issue: it is open, blocked, or has failed.
func IsLeft(text string) bool {
	status := cmp.Or(NormalizeStatus(text), text)
	return status == StatusBlocked || status == StatusFailed || IsOpen(status)
}

// CountsNoMore reports whether a status says that a text, or a task, was replaced or taken back.
func CountsNoMore(status string) bool {
	return slices.Contains([]string{"superseded", "deprecated", "obsolete", "withdrawn"}, strings.ToLower(status))
}

// statusWords are the ways to write each status of a task or an issue, folded.
var statusWords = [...]struct{ status, words string }{
	{StatusPending, "pending todo to_do queued waiting open new not_started planned reopened"},
	{statusAccepted, "accepted"},
	{StatusInProgress, "in_progress inprogress started running active working wip ongoing doing hooked"},
	{StatusComplete, "complete completed done success successful succeeded finished ok passed closed resolved fixed merged"},
	{StatusPartial, "partial partially incomplete"},
	{StatusBlocked, "blocked stuck"},
	{StatusFailed, "failed fail failure error errored aborted timeout"},
	{"duplicate", "duplicate duplicated"},
	{"wont_fix", "wont_fix wontfix won_t cancelled canceled invalid rejected declined tombstone"},
}

// priorityWords are the ways to write each priority of an issue or a task.
var priorityWords = [...]struct{ status, words string }{
	{"critical", "critical p0 urgent blocker"}, {"high", "high p1"}, {"medium", "medium normal p2"},
	{"low", "low p3"}, {"backlog", "backlog p4"},
}

// priorityFact returns a priority as a fact: one that is not known stays as it is written.
func priorityFact(text string) string {
	word := factWord(text)
	return cmp.Or(meaning(priorityWords[:], word), word, factLine(text))
}

// meaning returns what a table says that a word stands for, "" if it does not have it.
func meaning(table []struct{ status, words string }, word string) string {
	for _, row := range table {
		if slices.Contains(strings.Fields(row.words), word) {
			return row.status
		}
	}
	return ""
}

// TaskID returns the id of a task as it is stored: digits alone, as in 003, are
// short for task-003, also with a lane: see CutLane.
func TaskID(text string) string {
	dir, id := path.Split(text)
	if numbered, _ := CutLane(id); isDigits(numbered) {
		return dir + "task-" + id
	}
	return word(text)
}

// maxFact is the greatest length of a fact that becomes a field of a record,
// in bytes; maxSummary that of a summary, in characters.
const (
	maxFact    = 1024
	maxSummary = 500
)

// word returns text when it can be a field of a record: one line of at most
// maxFact bytes. A longer one, or one with control characters, says nothing.
func word(text string) string {
	text = strings.TrimSpace(text)
	control := func(r rune) bool { return r < 0x20 || r == 0x7f }
	if len(text) > maxFact || strings.ContainsFunc(text, control) || !utf8.ValidString(text) {
		return ""
	}
	return text
}

// summaryOf returns text as the summary of a Facts: one line, bounded.
func summaryOf(text string) string { return markdown.Clip(markdown.OneLine(text), maxSummary) }

// titleOf returns text as the title of a Facts: one line, bounded.
func titleOf(text string) string { return markdown.Clip(markdown.OneLine(text), maxFactTitle) }

// setFact adds an attribute, which may be empty, to facts.
func (f *Facts) setFact(key, value string) {
	f.setAttribute(key, word(value))
}

// A single is the layout of files that are one record each.
type single struct {
	kind record.Kind
	// read returns what a text says, and its problems without the file.
	read func(path string, text []byte) (Facts, []*SyntaxError)
}

func (s *single) kindOf() record.Kind { return s.kind }

// Parse makes the whole file one record.
func (s *single) Parse(path string, text []byte) (File, []*SyntaxError) {
	facts, problems := s.read(path, text)
	for _, p := range problems {
		p.File = path
	}
	return File{Path: path, Parts: []Part{{Entry: &Entry{Kind: s.kind, Text: text, Line: 1, Facts: facts}}}}, problems
}

// A Property is one "key: value" of a text, for what a typed view has no field
// of its own for, such as Assignee in an issue. It is kept in the order of the text.
type Property struct{ Key, Value string }

// cutProperty reads a line such as "- **Key**: value", "- Key: value" or
// "Key: value"; the key has at most 60 bytes.
func cutProperty(line string) (p Property, ok bool) {
	line = strings.TrimSpace(line)
	if len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && line[1] == ' ' {
		line = strings.TrimSpace(line[1:])
	}
	key, value, found := strings.Cut(line, ":")
	if !found || value != "" && value[0] != ' ' && value[0] != '\t' && value[0] != '*' {
		return Property{}, false
	}
	bold := strings.HasPrefix(key, "**")
	value = strings.TrimSpace(value)
	if bold && !strings.HasSuffix(key, "**") {
		value = strings.TrimSpace(strings.TrimPrefix(value, "**"))
	}
	key = strings.TrimFunc(key, func(r rune) bool { return r == '*' || unicode.IsSpace(r) })
	if key == "" || len(key) > 60 || strings.ContainsAny(key, "|[]`#") {
		return Property{}, false
	}
	return Property{key, value}, true
}

// notes is the layout of every file that no template knows. A note may hold anything.
var notes = &single{record.KindNote, func(_ string, text []byte) (Facts, []*SyntaxError) { return FrontFacts(text), nil }}

// FrontFacts returns what the front matter of a text says about it: its title, agent,
// session, conversation or thread, task, status, tags, dates and related texts; its own id,
// type, severity, priority, confidence and project become attributes. What is no word says nothing.
func FrontFacts(text []byte) Facts {
	var f Facts
	fields, _ := markdown.FrontMatter(text)
	values := func(keys ...string) (all []string) {
		for _, key := range keys {
			all = append(all, fields[key]...)
		}
		return all
	}
	value := func(keys ...string) string { return cmp.Or(factList(values(keys...), frontWord)...) }
	f.Agent = value("agent", "agent_id", "author")
	f.Session = value("session", "session_id")
	f.Conversation = value("thread", "thread_id", "conversation", "conversation_id")
	f.Task = TaskID(value("task", "task_id"))
	f.Status = strings.ToLower(value("status"))
	if title := value("title"); len(fields["title"]) == 1 {
		if _, isDate := ParseDate(title); !isDate {
			f.Title = titleOf(title)
		}
	}
	f.Tags = frontList(values("tags", "tag"), frontTag)
	for _, target := range frontList(fields["related"], word) {
		f.Links = append(f.Links, record.Link{Type: "related", Target: target})
	}
	for _, key := range []string{"id", "project"} {
		f.setFact(key, value(key))
	}
	for _, key := range []string{record.AttributeType, "severity", record.AttributePriority, record.AttributeConfidence} {
		f.setFact(key, strings.ToLower(factLine(value(key))))
	}
	dates := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		dates[dateKey(key)] = append(dates[dateKey(key)], fields[key]...)
	}
	for _, key := range []string{"review", "reviewby", "revisit"} {
		if v := cmp.Or(dates[key]...); v != "" {
			f.setFact(record.AttributeReview, v)
		}
	}
	if by := cmp.Or(factList(slices.Concat(dates["supersededby"], dates["replacedby"]), frontWord)...); by != "" {
		f.Status = "superseded"
		f.setFact(LinkSupersededBy, by)
	}
	for _, key := range dateFields() {
		for _, v := range dates[key] {
			if date, ok := ParseDate(v); ok {
				f.Dates = append(f.Dates, date)
			}
		}
	}
	return f
}

// frontList returns the items of a list, each as clean makes it.
func frontList(items []string, clean func(string) string) []string {
	const maxFrontList = 100 // how many items a list of front matter has at most: a longer one is data
	if len(items) > maxFrontList {
		return nil
	}
	return factList(items, clean)
}

// frontWord is word for a value of YAML, where null and ~ say nothing.
func frontWord(text string) string {
	if text = word(text); text == "~" || strings.EqualFold(text, "null") {
		return ""
	}
	return text
}

// frontTag returns the tag that is written as "tag" or "#tag".
func frontTag(text string) string {
	text = strings.TrimPrefix(strings.Trim(word(text), " \"'"), "#")
	if len(text) > maxFactWord {
		return ""
	}
	return frontWord(text)
}

// results is the layout of results: the full output of one call, as the
// sub-agent gave it. Its text has no form of its own; what describes it is
// found by Title and Preview.
var results = &single{record.KindResult, func(_ string, text []byte) (Facts, []*SyntaxError) {
	facts := FrontFacts(text)
	facts.Agent = Slug(facts.Agent)
	return facts, nil
}}

// Slug returns the name of an agent as references give it: letters and digits
// in lower case, with one "_" for everything between them, so that "Web
// Researcher" and "@web-researcher" are web_researcher. A name without letters
// or digits gives "".
func Slug(agent string) string {
	words := strings.FieldsFunc(strings.ToLower(agent), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	return strings.Join(words, "_")
}
