package layout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filebus/store/record"
)

// The templates, each behind one of the roots of its family, and the ids that
// they name. A template is read in one direction by the read… functions and
// written in the other by the write… functions below; splitID finds where it
// begins in an id. What reading and writing do not agree on gets a literal id
// from Recognize, so neither has to foresee every odd path.
//
//	main       session_state.md                    session_state
//	           issue_queue.md, lessons/**/*.md, …  the whole path
//	markers    {task}.done, {task}.failed          {task}, {task}.failed
//	journals   task-{id}.md                        task-{id}
//	reports    {task}-loop-{n}.json                {task}-loop-{n}
//	snapshots  {run}/loop-{n}/{file...}            the same
//	dialogues  {slug}/round-{n}/{name}.md          {slug}/round-{n}/{name}
//	           {slug}/{file...}                    the same
//	docs       {file}.md                           docs/{file}.md
//	sessions   {type}/{session}/{artifact}.md      {type}/{session}/{artifact}
//	           {type}/{file}.md                    {type}/{file}
//	           pr_reviews/pr_{n}_{artifact}.md     pr_reviews/pr_{n}/{artifact}
//	results    {conversation}/{call}.md            {conversation}/{call}

// read matches what follows a root of the family in a path against the
// family's templates. The place it returns has the id without any prefix.
func (f family) read(rest string) (Place, bool) {
	switch f {
	case familyMain:
		return readMain(rest)
	case familyMarkers:
		return readMarkerPath(rest)
	case familyJournals:
		return readJournalPath(rest)
	case familyReports:
		return readReportPath(rest)
	case familySnapshots:
		return readSnapshotPath(rest)
	case familyDialogues:
		return readDialoguePath(rest)
	case familyDocs:
		if strings.Contains(rest, "/") || !isMarkdown(rest) {
			return Place{}, false
		}
		return Place{Kind: record.KindDialogue, ID: docsFolder + "/" + rest, Layout: Dialogues{}}, true
	case familySessions:
		return readSessionPath(rest)
	default:
		return readResultPath(rest)
	}
}

// readMain matches the files that lie directly below a main root.
func readMain(rest string) (Place, bool) {
	frame := func(l Layout) (Place, bool) { return Place{Kind: record.KindFrame, Layout: l}, true }
	switch rest {
	case "session_state.md":
		return Place{Kind: record.KindState, ID: "session_state", Layout: States{}}, true
	case "issue_queue.md":
		return frame(IssueQueue{})
	case "task_queue.md":
		return frame(TaskQueue{})
	case "knowledge_graph.md":
		return frame(KnowledgeGraph{})
	case "knowledge_graph.json":
		return frame(KnowledgeJSON{})
	case "journal/index.md":
		return frame(ContextMap{})
	}
	if strings.HasPrefix(rest, "lessons/") && isMarkdown(rest) {
		return frame(Lessons{})
	}
	return Place{}, false
}

// readMarkerPath matches {task}.done and {task}.failed.
func readMarkerPath(rest string) (Place, bool) {
	task, done := strings.CutSuffix(rest, ".done")
	id, status := task, StatusComplete
	if !done {
		if task, done = strings.CutSuffix(rest, ".failed"); !done {
			return Place{}, false
		}
		id, status = rest, StatusFailed
	}
	if task == "" || strings.Contains(task, "/") {
		return Place{}, false
	}
	return Place{record.KindMarker, id, Completions{}, Facts{Task: TaskID(task), Status: status}}, true
}

// readJournalPath matches task-{id}.md.
func readJournalPath(rest string) (Place, bool) {
	id, found := strings.CutSuffix(rest, ".md")
	if !found || !isTask(id) {
		return Place{}, false
	}
	return Place{record.KindHandoff, id, Journals{}, Facts{Task: word(id)}}, true
}

// isTask reports whether an id is that of a journal: one segment, task-{id}.
func isTask(id string) bool {
	return strings.HasPrefix(id, "task-") && len(id) > len("task-") && !strings.Contains(id, "/")
}

// readReportPath matches {task}-loop-{nnn}.json.
func readReportPath(rest string) (Place, bool) {
	id, found := strings.CutSuffix(rest, ".json")
	task, loop, isReport := cutReport(id)
	if !found || !isReport {
		return Place{}, false
	}
	return Place{record.KindHandoff, id, Reports{}, Facts{Task: TaskID(task), Loop: loop}}, true
}

// cutReport cuts the name of a report into its task and the number of its loop.
func cutReport(id string) (task, loop string, found bool) {
	at := strings.LastIndex(id, "-loop-") // a task may have the word in its own name
	if at <= 0 || strings.Contains(id, "/") {
		return "", "", false
	}
	loop, found = number(id[at+1:], "loop-")
	return id[:at], loop, found
}

// readSnapshotPath matches {run}/loop-{n}/{file}, where the file may lie in
// folders of its own.
func readSnapshotPath(rest string) (Place, bool) {
	segments := strings.SplitN(rest, "/", 3)
	if len(segments) < 3 {
		return Place{}, false
	}
	loop, found := number(segments[1], "loop-")
	if !found { // such as the link "latest", whose files are those of another loop
		return Place{}, false
	}
	return Place{record.KindSnapshot, rest, Snapshots{}, Facts{Run: word(segments[0]), Loop: loop}}, true
}

// readDialoguePath matches {slug}/round-{n}/{name}.md, an agent's turn, and
// every other file below {slug}/.
func readDialoguePath(rest string) (Place, bool) {
	slug, file, found := strings.Cut(rest, "/")
	if !found {
		return Place{}, false
	}
	place := Place{Kind: record.KindDialogue, ID: rest, Layout: Dialogues{}}
	if slug == docsFolder && isDocument(file) {
		return place, true // where the root has no place of their own for documents
	}
	place.Facts.Attributes = map[string]string{AttributeDialogue: word(slug)}
	folder, name, nested := strings.Cut(file, "/")
	round, inRound := number(folder, "round-")
	if nested && inRound {
		place.Facts.Attributes[AttributeRound] = round
	} else {
		name = file
	}
	stem, markdown := strings.CutSuffix(name, ".md")
	switch agent, isPrompt := strings.CutSuffix(stem, ".prompt"); {
	case strings.Contains(name, "/"):
	case markdown && isPrompt && nested && agent != "":
		place.Facts.Attributes[AttributePart] = "prompt"
		place.Facts.Agent = word(strings.ToLower(agent))
	case markdown && nested && inRound && stem != "":
		place.Kind, place.ID, place.Layout = record.KindTurn, strings.TrimSuffix(rest, ".md"), Turns{}
		place.Facts.Agent = word(strings.ToLower(stem))
	default: // directly in the dialogue's folder or in that of a round
		dialoguePart(name, place.Facts.Attributes)
	}
	return place, true
}

// isDocument reports whether a file is called like an assembled document:
// {name}.dialogue.md, {name}.dialogue.{status}.md.
func isDocument(name string) bool {
	return !strings.Contains(name, "/") && isMarkdown(name) && strings.Contains(name, ".dialogue.")
}

// dialoguePart tells which of the known files of a dialogue name is.
func dialoguePart(name string, attributes map[string]string) {
	switch name {
	case "scoreboard.md", "tensions.md", "verdict.md", "expert-pool.json", "panel.json", "scores.json":
		attributes[AttributePart] = name[:strings.LastIndexByte(name, '.')]
		return
	}
	stem, found := strings.CutSuffix(name, ".summary.md")
	if round, isRound := number(stem, "round-"); found && isRound {
		attributes[AttributePart], attributes[AttributeRound] = "summary", round
	}
}

// readSessionPath matches {type}/{session}/{file} and {type}/{file}.
func readSessionPath(rest string) (Place, bool) {
	segments := strings.Split(rest, "/")
	if len(segments) < 2 {
		return Place{}, false
	}
	workflow, name := segments[0], segments[len(segments)-1]
	place := Place{Kind: record.KindArtifact, Layout: artifactLayout(name)}
	place.Facts.Attributes = map[string]string{AttributeWorkflow: word(workflow)}
	if len(segments) > 2 {
		place.Facts.Session = word(segments[1])
		place.ID = strings.TrimSuffix(rest, name) + artifactID(name)
		if isReview(segments[:2]) && isMarkdown(name) {
			place.ID = rest // the plain id is that of the flat file: see artifactFile
		}
		place.Facts.Agent = reviewer(workflow, name)
		return place, true
	}
	place.ID = workflow + "/" + artifactID(name)
	if session, artifact, found := cutReview(workflow, name); found {
		place.Facts.Session = session
		place.Facts.Agent = reviewer(workflow, artifact)
		// Other files stay flat in the id too: the folder's file has their plain id.
		if stem := artifactID(artifact); stem+".md" == artifact {
			place.ID = join(workflow, session, stem)
		}
	}
	return place, true
}

// artifactLayout returns the layout of a session's file by its name.
func artifactLayout(name string) Layout {
	switch {
	case strings.HasSuffix(name, SessionLogFile):
		return AgentLogs{}
	case name == SessionMetaFile:
		return SessionMetas{}
	}
	return Artifacts{}
}

// reviews is the type of session whose files may lie flat.
const reviews = "pr_reviews"

// cutReview cuts the name of a flat file of a pull-request review,
// pr_{n}_{artifact}, into the session pr_{n} and the artifact.
func cutReview(workflow, name string) (session, artifact string, found bool) {
	rest, found := strings.CutPrefix(name, "pr_")
	digits, artifact, cut := strings.Cut(rest, "_")
	if workflow != reviews || !found || !cut || artifact == "" || !isDigits(digits) {
		return "", "", false
	}
	return "pr_" + digits, artifact, true
}

// isReview reports whether segments are pr_reviews and pr_{n}.
func isReview(segments []string) bool {
	digits, found := strings.CutPrefix(segments[1], "pr_")
	return segments[0] == reviews && found && isDigits(digits)
}

// reviewer returns the agent that a review's {agent}_report.md names.
func reviewer(workflow, name string) string {
	agent, found := strings.CutSuffix(name, "_report.md")
	if workflow != reviews || !found {
		return ""
	}
	return word(agent)
}

// artifactID maps the name of a session's file to the last segment of its id,
// and artifactFile maps it back. Artifacts are Markdown files without a dot in
// their stem, and lose the ending; a name with another dot is kept whole, and
// one without any gets a "~", so that x, x.md and x.json are three ids.
func artifactID(name string) string {
	stem, markdown := strings.CutSuffix(name, ".md")
	switch {
	case markdown && stem != "" && !strings.Contains(stem, ".") && !strings.HasSuffix(stem, "~"):
		return stem
	case strings.Contains(name, "."):
		return name
	}
	return name + "~"
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

// readResultPath matches {conversation}/{call}.md, and {conversation}/{call}.pdf,
// a rendered document, whose id keeps its extension.
func readResultPath(rest string) (Place, bool) {
	conversation, call, found := strings.Cut(rest, "/")
	if !found || strings.Contains(call, "/") || !isMarkdown(call) && !isPDF(call) {
		return Place{}, false
	}
	id := strings.TrimSuffix(rest, ".md")
	return Place{record.KindResult, id, Results{}, Facts{Conversation: word(conversation)}}, true
}

// splitID returns where the template's part of an id begins, behind the
// folders that stand before the root and its mark. Where a template has no
// fixed number of segments its loop or round gives the place.
func (p Profile) splitID(kind record.Kind, segments []string) (int, error) {
	n := len(segments)
	start := n - 1
	switch kind {
	case record.KindMarker, record.KindHandoff, record.KindState:
	case record.KindResult:
		start = n - 2
	case record.KindTurn:
		start = n - 3
	case record.KindSnapshot:
		start = folderBefore(segments, "loop-", -1)
	case record.KindDialogue:
		start = folderBefore(segments, "round-", n-2)
	case record.KindArtifact:
		// Three segments are the rule. A flat file below a prefix looks the same
		// and gets a literal id, except behind a mark, which is no type.
		start = n - min(n, 3)
		if n == 3 && p.isMark(familySessions, segments[0]) {
			start = 1
		}
	default:
		return 0, fmt.Errorf("unknown kind %q", kind)
	}
	if start < 0 {
		return 0, errors.New("the id has too few segments")
	}
	return start, nil
}

// isMark reports whether a folder begins a root of the family that is not the
// profile's own.
func (p Profile) isMark(f family, folder string) bool {
	root := markedRoot(f, folder)
	return root != "" && root != p.ownRoot(f)
}

// folderBefore returns the index of the segment before the first folder that
// is called by a word and a number, or otherwise.
func folderBefore(segments []string, word string, otherwise int) int {
	for i := 1; i < len(segments)-1; i++ {
		if _, found := number(segments[i], word); found {
			return i - 1
		}
	}
	return otherwise
}

// write returns the family that an id belongs to and its file below the root.
// The error says how an id of the kind looks.
func write(kind record.Kind, rest []string) (family, string, error) {
	id, name := strings.Join(rest, "/"), rest[len(rest)-1]
	switch kind {
	case record.KindMarker:
		if strings.HasSuffix(id, ".failed") {
			return familyMarkers, id, nil
		}
		return familyMarkers, id + ".done", nil
	case record.KindHandoff:
		return writeHandoff(id)
	case record.KindState:
		if id != "session_state" {
			return 0, "", errors.New("a state is called session_state")
		}
		return familyMain, id + ".md", nil
	case record.KindSnapshot:
		return familySnapshots, id, nil
	case record.KindTurn:
		if _, found := number(rest[1], "round-"); !found {
			return 0, "", errors.New("a turn is called {dialogue}/round-{n}/{agent}")
		}
		return familyDialogues, id + ".md", nil
	case record.KindDialogue:
		return familyDialogues, id, nil
	case record.KindArtifact:
		return writeArtifact(rest, name)
	case record.KindResult:
		if isPDF(name) {
			return familyResults, id, nil
		}
		return familyResults, id + ".md", nil
	}
	return 0, "", fmt.Errorf("unknown kind %q", kind)
}

// isPDF reports whether a file of results is a rendered document.
func isPDF(name string) bool { return strings.HasSuffix(name, ".pdf") && name != ".pdf" }

// writeHandoff tells reports from journals by the loop at the end of the id.
func writeHandoff(id string) (family, string, error) {
	if _, _, found := cutReport(id); found {
		return familyReports, id + ".json", nil
	}
	if task, version, found := strings.Cut(id, "~"); found && isDigits(version) {
		id = task // the next task of that name, at the same place
	}
	if !isTask(id) {
		return 0, "", errors.New("a handoff is called task-{id} or {task}-loop-{n}")
	}
	return familyJournals, id + ".md", nil
}

// writeArtifact returns the file of a session's artifact: in the folder that the
// id names, or flat for the Markdown of a review.
func writeArtifact(rest []string, name string) (family, string, error) {
	if len(rest) == 1 {
		return 0, "", errors.New("an artifact is called {type}/{session}/{artifact}")
	}
	folder, file := strings.Join(rest[:len(rest)-1], "/"), artifactFile(name)
	if len(rest) == 3 && isReview(rest) && file != name && isMarkdown(file) {
		return familySessions, reviews + "/" + rest[1] + "_" + file, nil
	}
	return familySessions, folder + "/" + file, nil
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
