package layout

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"filebus/store/record"
)

// A template is a row of the table of paths. It is read in both directions: what
// the file at a path is, and where the record with an id lies. The two patterns
// have the same variables in the same order.
type template struct {
	family family
	path   pattern // of what stands behind a root of the family
	kind   record.Kind
	id     pattern // "": the path is the id, and another row makes it
	layout Layout
	extra
}

// An extra is what only some rows have.
type extra struct {
	entries      record.Kind // whose new entries go to the file
	status, part string      // facts of every such file
	made         bool        // paths are made by it, and none recognised
	first        bool        // before the id stands nothing, or the mark of a root
	refusal      string      // why the id has no path
}

// templates is the table. Of the rows of a family the first counts that a path
// fits, of those of a kind the first that an id fits. What the two directions do
// not agree on gets a literal id from Recognize, so that no row has to foresee
// every odd path.
var templates = []template{
	{familyMain, "session_state.md", record.KindState, "session_state", states, extra{}},
	{0, "", record.KindState, "{id}", nil, extra{refusal: "a state is called session_state"}},
	{familyMain, "issue_queue.md", record.KindFrame, "", issueQueue, extra{entries: record.KindIssue}},
	{familyMain, "task_queue.md", record.KindFrame, "", taskQueue, extra{entries: record.KindTask}},
	{familyMain, "knowledge_graph.md", record.KindFrame, "", knowledgeGraph, extra{entries: record.KindKnowledge}},
	{familyMain, "knowledge_graph.json", record.KindFrame, "", knowledgeJSON{}, extra{}},
	{familyMain, "journal/index.md", record.KindFrame, "", contextMap{}, extra{entries: record.KindComponent}},
	{familyMain, "lessons/{markdown...}", record.KindFrame, "", lessons, extra{}},

	{familyMarkers, ".failed", record.KindMarker, ".failed", nil, extra{made: true}},
	{familyMarkers, "{task}.failed", record.KindMarker, "{task}.failed", completions, extra{status: StatusFailed}},
	{familyMarkers, "{task}.done", record.KindMarker, "{task}", completions, extra{status: StatusComplete}},

	{familyReports, "{task}-loop-{loop}.json", record.KindHandoff, "{task}-loop-{loop}", reports, extra{}},
	{familyJournals, "{journal}.md", record.KindHandoff, "{journal}", journals, extra{}},
	{0, "", record.KindHandoff, "{id}", nil, extra{refusal: "a handoff is called task-{id} or {task}-loop-{n}"}},

	{familySnapshots, "{run}/loop-{loop}/{file...}", record.KindSnapshot, "{run}/loop-{loop}/{file...}",
		snapshots, extra{}},

	{familyDialogues, "{dialogue}/round-{round}/{agent}.prompt.md", record.KindDialogue, "", dialogues,
		extra{part: "prompt"}},
	{familyDialogues, "{dialogue}/round-{round}/{agent}.md", record.KindTurn, "{dialogue}/round-{round}/{agent}",
		turns, extra{}},
	{0, "", record.KindTurn, "{id}/{id}/{id}", nil, extra{refusal: "a turn is called {dialogue}/round-{n}/{agent}"}},
	{familyDialogues, "{dialogue}/round-{round}/{part}", record.KindDialogue, "", dialogues, extra{}},
	{familyDialogues, "{dialogue}/round-{round}/{file...}", record.KindDialogue, "{dialogue}/round-{round}/{file...}",
		dialogues, extra{}},
	// Some keep folders of dialogues among the documents. They are read there; what is new goes to the others.
	{familyDocs, "{dialogue}/round-{round}/{agent}.prompt.md", record.KindDialogue, "", dialogues, extra{part: "prompt"}},
	{familyDocs, "{dialogue}/round-{round}/{agent}.md", record.KindTurn, "", turns, extra{}},
	{familyDocs, "{dialogue}/round-{round}/{file...}", record.KindDialogue, "", dialogues, extra{}},
	{familyDocs, "{dialogue}/round-{round}.summary.md", record.KindDialogue, "", dialogues, extra{part: "summary"}},
	{familyDocs, "{dialogue}/{part}", record.KindDialogue, "", dialogues, extra{}},
	{familyDocs, "{markdown}", record.KindDialogue, "docs/{markdown}", dialogues, extra{}},
	{familyDocs, "{file}", record.KindDialogue, "docs/{file}", nil, extra{made: true}},
	{familyDialogues, "docs/{document}", record.KindDialogue, "", dialogues, extra{}},
	{familyDialogues, "{dialogue}/round-{round}.summary.md", record.KindDialogue, "",
		dialogues, extra{part: "summary"}},
	{familyDialogues, "{dialogue}/{part}", record.KindDialogue, "", dialogues, extra{}},
	{familyDialogues, "{dialogue}/{file...}", record.KindDialogue, "{dialogue}/{file}", dialogues, extra{}},

	// The Markdown of a review lies flat, and has the plain id of a file in its folder.
	{familySessions, "{reviews}/{review}_{report}", record.KindArtifact, "{reviews}/{review}/{report}",
		artifacts, extra{}},
	{familySessions, "{reviews}/{flat}", record.KindArtifact, "{reviews}/{flat}", artifacts, extra{first: true}},
	{familySessions, "{type}/{artifact}", record.KindArtifact, "{type}/{artifact}", artifacts, extra{first: true}},
	{familySessions, "{reviews}/{review}/{own...}", record.KindArtifact, "", artifacts, extra{}},
	{familySessions, "{reviews}/{session}/{filed...}", record.KindArtifact, "{reviews}/{session}/{filed}",
		artifacts, extra{}},
	{familySessions, "{type}/{session}/{artifact...}", record.KindArtifact, "{type}/{session}/{artifact}",
		artifacts, extra{}},
	{0, "", record.KindArtifact, "{id}", nil, extra{refusal: "an artifact is called {type}/{session}/{artifact}"}},

	{familyResults, "{conversation}/{call}.pdf", record.KindResult, "{conversation}/{call}.pdf", results, extra{}},
	{familyResults, "{conversation}/{call}.md", record.KindResult, "{conversation}/{call}", results, extra{}},
}

// A variable stands, in braces, for a segment of a path or a part of one; with
// "..." behind its name for one or more segments.
type variable struct {
	is   func(text string) bool             // whether it stands for a text of a path; nil: for any
	id   func(text string) string           // what an id has in place of the text; nil: the same
	path func(text string) string           // and back
	tell func(place *Location, text string) // what it says of a file; nil: nothing
}

var variables = map[string]variable{
	"id": {}, "file": {}, "call": {},
	"markdown": {is: isMarkdown},
	// an assembled document: {name}.dialogue.md, {name}.dialogue.{status}.md
	"document": {is: func(name string) bool { return isMarkdown(name) && strings.Contains(name, ".dialogue.") }},

	"task": {tell: func(p *Location, text string) { p.Facts.Task = TaskID(text) }},
	"journal": {is: isTask, path: withoutVersion,
		tell: func(p *Location, text string) { p.Facts.Task = word(text) }},
	"run":          {tell: func(p *Location, text string) { p.Facts.Run = word(text) }},
	"loop":         {is: isDigits, tell: func(p *Location, text string) { p.Facts.Loop, _ = number(text, "") }},
	"conversation": {tell: func(p *Location, text string) { p.Facts.Conversation = word(text) }},

	"dialogue": {tell: func(p *Location, text string) { p.Facts.setAttribute(AttributeDialogue, word(text)) }},
	"agent":    {tell: func(p *Location, text string) { p.Facts.Agent = word(strings.ToLower(text)) }},
	"round": {is: isDigits, tell: func(p *Location, text string) {
		round, _ := number(text, "")
		p.Facts.setAttribute(AttributeRound, round)
	}},
	"part": {is: isPart, tell: func(p *Location, text string) {
		p.Facts.setAttribute(AttributePart, strings.TrimSuffix(text, path.Ext(text)))
	}},

	"type":     {tell: tellWorkflow},
	"session":  {tell: func(p *Location, text string) { p.Facts.Session = word(text) }},
	"artifact": {id: artifactID, path: artifactFile, tell: tellLayout},
	"reviews":  {is: func(text string) bool { return text == reviews }, tell: tellWorkflow},
	"review":   {is: isReview, tell: func(p *Location, text string) { p.Facts.Session = text }},
	"report": {is: func(file string) bool { return artifactID(file)+".md" == file }, // a plain id
		id: artifactID, path: func(id string) string { return id + ".md" }, tell: tellReviewer},
	"own": {is: isMarkdown, tell: tellReviewer},
	"filed": {id: artifactID, path: artifactFile, tell: func(p *Location, text string) {
		tellLayout(p, text)
		tellReviewer(p, text)
	}},
	"flat": {is: isFlat, id: artifactID, path: artifactFile, tell: func(p *Location, text string) {
		session, artifact, _ := cutReview(text)
		p.Facts.Session = session
		tellLayout(p, text)
		tellReviewer(p, artifact)
	}},
}

// A pattern is a text with variables.
type pattern string

// next cuts a pattern behind its first variable, if it has one.
func (p pattern) next() (literal string, v variable, long bool, rest pattern, found bool) {
	literal, after, found := strings.Cut(string(p), "{")
	name, end, _ := strings.Cut(after, "}")
	name, long = strings.CutSuffix(name, "...")
	return literal, variables[name], long, pattern(end), found
}

// A binding is a variable with the text of a path that it stands for.
type binding struct {
	variable
	text string
}

// match reads a path, or an id, and returns the variables in reverse. Of several
// ways the one counts in which the first variable is longest.
func (p pattern) match(text string, isID bool) (bindings []binding, fits bool) {
	literal, v, long, rest, found := p.next()
	text, fits = strings.CutPrefix(text, literal)
	if !fits || !found {
		return nil, fits && text == ""
	}
	end := len(text)
	if slash := strings.IndexByte(text, '/'); slash >= 0 && !long {
		end = slash
	}
	for ; end > 0; end-- {
		b := binding{v, text[:end]}
		if bindings, fits = rest.match(text[end:], isID); !fits {
			continue
		}
		if isID && v.path != nil {
			b.text = v.path(b.text)
		}
		if v.is == nil || v.is(b.text) {
			return append(bindings, b), true
		}
	}
	return nil, false
}

// fill returns the path, or the id, that has the texts of variables.
func (p pattern) fill(bindings []binding, isID bool) string {
	var out strings.Builder
	for _, b := range slices.Backward(bindings) {
		literal, _, _, rest, _ := p.next()
		out.WriteString(literal)
		if isID && b.id != nil {
			b.text = b.id(b.text)
		}
		out.WriteString(b.text)
		p = rest
	}
	return out.String() + string(p)
}

// read matches what follows a root of the family in a path. The place that it
// returns has the id without any prefix.
func (f family) read(rest string) (Location, bool) {
	for i := range templates {
		t := &templates[i]
		if t.family != f || t.made || t.refusal != "" {
			continue
		}
		bindings, fits := t.path.match(rest, false)
		if !fits {
			continue
		}
		place := Location{Kind: t.kind, ID: rest, Layout: t.layout, Facts: Facts{Status: t.status},
			Entries: t.layout.kindOf()}
		if t.id != "" {
			place.ID = t.id.fill(bindings, true)
		}
		for _, b := range slices.Backward(bindings) {
			if b.tell != nil {
				b.tell(&place, b.text)
			}
		}
		if t.part != "" {
			place.Facts.setAttribute(AttributePart, t.part)
		}
		return place, true
	}
	return Location{}, false
}

// cut matches an id behind the segments that stand before it: as few as there can
// be for a pattern of any length, else all but those of the pattern.
func (t *template) cut(id string) (before string, bindings []binding, fits bool) {
	most := strings.Count(id, "/") - strings.Count(string(t.id), "/")
	for at, n := 0, 0; n <= most; n++ {
		if n == most || strings.HasSuffix(string(t.id), "...}") {
			if bindings, fits = t.id.match(id[at:], true); fits {
				return id[:max(at-1, 0)], bindings, true
			}
		}
		at += strings.IndexByte(id[at:], '/') + 1
	}
	return "", nil, false
}

func tellWorkflow(p *Location, text string) { p.Facts.setAttribute(AttributeWorkflow, word(text)) }

// tellLayout gives a session's file its layout by its name.
func tellLayout(p *Location, file string) {
	switch {
	case strings.HasSuffix(file, SessionLogFile):
		p.Layout = agentLogs
	case path.Base(file) == SessionMetaFile:
		p.Layout = sessionMetas
	}
}

// tellReviewer finds the agent that a review's {agent}_report.md names.
func tellReviewer(p *Location, file string) {
	if agent, found := strings.CutSuffix(path.Base(file), "_report.md"); found {
		p.Facts.Agent = word(agent)
	}
}

// isPart reports whether a file of a dialogue is one of those that are known by name.
func isPart(name string) bool {
	switch name {
	case "scoreboard.md", "tensions.md", "verdict.md", "expert-pool.json", "panel.json", "scores.json":
		return true
	}
	return false
}

// isTask reports whether an id is that of a journal: one segment, task-{id}.
func isTask(id string) bool {
	return strings.HasPrefix(id, "task-") && len(id) > len("task-") && !strings.Contains(id, "/")
}

// withoutVersion cuts the "~2" off that the next task of a name has at the same
// place.
func withoutVersion(id string) string {
	if task, version, found := strings.Cut(id, "~"); found && isDigits(version) {
		return task
	}
	return id
}

// reviews is the type of session whose files may lie flat.
const reviews = "pr_reviews"

// isReview reports whether a session is pr_{n}.
func isReview(session string) bool {
	digits, found := strings.CutPrefix(session, "pr_")
	return found && isDigits(digits)
}

// isFlat reports whether a file is called pr_{n}_{artifact}.
func isFlat(name string) bool {
	_, _, found := cutReview(name)
	return found
}

// cutReview cuts the name of a flat file of a pull-request review,
// pr_{n}_{artifact}, into the session pr_{n} and the artifact.
func cutReview(name string) (session, artifact string, found bool) {
	rest, found := strings.CutPrefix(name, "pr_")
	digits, artifact, cut := strings.Cut(rest, "_")
	return "pr_" + digits, artifact, found && cut && artifact != "" && isDigits(digits)
}

// artifactID maps the name of a session's file to the end of its id, and
// artifactFile maps it back. Artifacts are Markdown files without a dot in
// their stem, and lose the ending; a name with another dot is kept whole, and
// one without any gets a "~", so that x, x.md and x.json are three ids.
func artifactID(file string) string {
	name := file[strings.LastIndexByte(file, '/')+1:]
	stem, markdown := strings.CutSuffix(name, ".md")
	switch {
	case markdown && stem != "" && !strings.Contains(stem, ".") && !strings.HasSuffix(stem, "~"):
		return strings.TrimSuffix(file, ".md")
	case strings.Contains(name, "."):
		return file
	}
	return file + "~"
}

// artifactFile returns the name that artifactID makes id from.
func artifactFile(id string) string {
	switch {
	case strings.Contains(id, "."):
		return id
	case strings.HasSuffix(id, "~"):
		return strings.TrimSuffix(id, "~")
	}
	return id + ".md"
}

// number returns the number after word in text, without leading zeros.
func number(text, word string) (digits string, found bool) {
	digits, found = strings.CutPrefix(text, word)
	if !found || !isDigits(digits) {
		return "", false
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	return digits, true
}

// isDigits reports whether text is 1 to 18 decimal digits.
func isDigits(text string) bool {
	_, err := strconv.ParseUint(text, 10, 63) // accepts no sign and no "_"
	return err == nil && len(text) <= 18
}

// isMarkdown reports whether the last segment of a path is a stem and ".md".
func isMarkdown(name string) bool {
	stem, found := strings.CutSuffix(name, ".md")
	return found && stem != "" && !strings.HasSuffix(stem, "/")
}
