package main

import (
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/dialogue"
	"filebus/materialize/issue"
	"filebus/materialize/knowledge"
	"filebus/materialize/mirror"
	"filebus/materialize/release"
	"filebus/materialize/result"
	runs "filebus/materialize/run"
	sessions "filebus/materialize/session"
	"filebus/materialize/task"
	"filebus/query"
	"filebus/store/record"
)

// A hint makes the command that helps out of an error that has its reason.
type hint func(e *record.Error) string

// hints are the tables of what helps, by the reason of an error or, where it has none,
// by its code. No reason is in two of them.
func hints() []map[record.Reason]hint {
	return []map[record.Reason]hint{recordHints(), workHints(), queueHints()}
}

// recordHints are for errors of records, whatever they are for.
func recordHints() map[record.Reason]hint {
	return map[record.Reason]hint{
		record.Reason(record.Busy):       say("run it again with a longer --wait"),
		record.Reason(record.Conflict):   say("filebus conflicts"),
		record.Reason(record.Damaged):    say("filebus verify"),
		record.Reason(record.NoStore):    say("filebus init, or --store FOLDER"),
		record.Reason(record.UnsafeFS):   say("--store FOLDER on a local disk, or --allow-unsafe-fs"),
		record.Reason(record.NewerStore): say("install a newer filebus"),
		"index damaged":                  say("filebus reindex"),
		errAmbiguousRef:                  say("filebus show {1}"),
		errWriteOnce:                     say("filebus get {1}, or another id"),
		errOutdated:                      say("filebus show {1}"),

		query.ErrAbsent:      hintAbsent,
		query.ErrRetired:     say("filebus get {1}"),
		query.ErrNoPart:      say("filebus show {1}"),
		query.ErrSeveral:     say("filebus show {1}"),
		query.ErrNoKnowledge: say("filebus knowledge list"),
		query.ErrTooMany:     say("run it again with --tag, --type or --from ID, or with another --limit"),

		materialize.ErrForeignFolder: say("run it again with a new or empty folder"),
		materialize.ErrTreeTaken:     say("run it again with another --tree"),
		mirror.ErrLink:               say("mv {1} {1}.link, then run it again"),
		release.ErrStillNeeded:       say("filebus show {1}"),
		materialize.ErrTooLarge:      say("shorten the file and run it again; filebus get {1} prints all of it"),
	}
}

// workHints are for errors of runs, sessions and dialogues.
func workHints() map[record.Reason]hint {
	return map[record.Reason]hint{
		runs.ErrOpen:         say("filebus run start --end"),
		runs.ErrNoRun:        say("filebus run start"),
		runs.ErrUsed:         say("filebus run start, for the next free id"),
		runs.ErrLoopsDone:    say("filebus run end, or filebus run loop --loops {1}"),
		runs.ErrAgentRunning: say("filebus run agent done {1}"),
		runs.ErrNoAgent:      say("filebus run agent start {1}"),
		runs.ErrAgentEnded:   say("filebus run show"),
		runs.ErrUnknownRun:   say("filebus budget --run {1}", "filebus run show"),
		runs.ErrTaken:        say("filebus snapshot show {1}, or filebus run loop"),
		runs.ErrNoSnapshot:   say("filebus snapshot list"),
		runs.ErrNoFile:       say("filebus snapshot show {1}"),
		runs.ErrNoLoop:       say("filebus run show"),
		runs.ErrNotBegun:     say("filebus snapshot take --loop {1}"),

		sessions.ErrUnset: say("filebus session list"),
		sessions.ErrWord:  say("filebus session --help"),
		sessions.ErrNoSession: say("filebus session show {each}",
			"filebus session list, or filebus session start TYPE"),
		sessions.ErrSeveral:  say("filebus session show {each}"),
		sessions.ErrTaken:    say("filebus session show {1}"),
		sessions.ErrCaptured: say("filebus materialize --tree {1} --to DIR"),
		sessions.ErrLongSummary: say("run it again with a summary of at most " + strconv.Itoa(sessions.MaxSummary) +
			" words"),
		sessions.ErrEmpty:         say("run it again with a text"),
		sessions.ErrNotEnded:      say("filebus session end {1}"),
		sessions.ErrFileTaken:     say("run it again with another --to"),
		sessions.ErrNothingStored: say("filebus list --session {each}", "filebus session list"),
		sessions.ErrTooEarly:      say("filebus session replay {1} --to DIR --until @{2}"),
		dialogue.ErrNoDialogue:    say("run it again with {all}", "filebus dialogue list"),
		dialogue.ErrSeveral:       say("run it again with one of {all}"),
		dialogue.ErrCaptured:      say("run it again with a dialogue of this project: filebus dialogue list"),
		dialogue.ErrRequest:       say("filebus dialogue new --help"),
		dialogue.ErrSlug:          say("run it again with --slug NAME, in lower-case letters, digits and hyphens"),
		dialogue.ErrSlugTaken:     say("run it again with --slug NAME"),
		dialogue.ErrNotInPool:     say("filebus get {1}"),
		dialogue.ErrNoRound:       say("filebus dialogue prompt {1} {2} --all", "run it again with one of its rounds"),
		dialogue.ErrNotLaunched:   say("filebus dialogue prompt {1} {2} {3}", "run it again for one of them"),
		dialogue.ErrNobody:        say("run it again with --agents NAME,NAME"),
		dialogue.ErrOccupied:      say("filebus get {1}, or run it again with --force"),
		dialogue.ErrGood:          say("filebus get {1}, or run it again with --force"),
		dialogue.ErrEmpty:         say("filebus dialogue put {1} {2} {3} --stub 'WHY THERE IS NONE'"),
		dialogue.ErrTooLong:       say("filebus put FILE, then put a turn that refers to it"),
		dialogue.ErrNoText:        say("filebus dialogue put {1} {2} {3} --stub REASON"),
		dialogue.ErrAbsent:        say("filebus dialogue check {1} {2}"),
		dialogue.ErrEdited:        say("run it again with --out FILE, or with --force to replace it"),
	}
}

// queueHints are for errors of issues, knowledge, tasks and results.
func queueHints() map[record.Reason]hint {
	return map[record.Reason]hint{
		issue.ErrNoIssue: say("filebus issue list --open"),
		issue.ErrStatus:  say("filebus issue {1} {2}"),
		issue.ErrTaken:   say("filebus issue next --claim, or run it again with --force"),
		issue.ErrHeld: say("run it again with --agent {1} if that is you, else with --force",
			"run it again with --force"),
		issue.ErrCircle:  say("filebus issue show {1}"),
		issue.ErrKnown:   say("run it again with --merge {1}, or filebus issue show {1}"),
		issue.ErrField:   say("run it again with --{1} {2}"),
		issue.ErrTooLong: say("filebus put FILE"),
		issue.ErrNoAgent: say("run it again with --agent NAME, or with FILEBUS_AGENT set"),
		issue.ErrNoNew:   say("filebus issue wait --since @{1}"),

		knowledge.ErrField:       say("run it again with --{1} {2}"),
		knowledge.ErrLinkType:    say("filebus knowledge link A supersedes B"),
		knowledge.ErrNoName:      say("filebus component touch NAME"),
		knowledge.ErrTooLong:     say("filebus put FILE"),
		knowledge.ErrRowTooLong:  say("run it again with a shorter --notes"),
		knowledge.ErrNoFile:      say("run it again without --into"),
		knowledge.ErrCaptured:    say("filebus show {1}"),
		knowledge.ErrBroken:      say("filebus sync --problems"),
		knowledge.ErrKnown:       say("filebus knowledge show {1}"),
		knowledge.ErrLink:        say("filebus knowledge related {1}"),
		knowledge.ErrSuperseded:  say("filebus knowledge show {1}"),
		knowledge.ErrNoHandoff:   say("filebus get {1}"),
		knowledge.ErrNoProposal:  say("run it again without --add"),
		knowledge.ErrNoComponent: say("filebus component show"),

		task.ErrNotID:            say("filebus task list"),
		task.ErrNotStarted:       say("filebus task start {1}"),
		task.ErrRunning:          say("filebus wait {1}, or run it again with --restart"),
		task.ErrNoHandoff:        hintHandoff,
		task.ErrIncomplete:       hintHandoff,
		task.ErrNotMarker:        say("mv {1} {2}, then run it again"),
		task.ErrTooLong:          say("filebus put FILE"),
		result.ErrTaken:          say("filebus get {1}, or another --call"),
		result.ErrNoConversation: say("filebus conversation show {each}", "filebus conversation list"),
		result.ErrNoBudget:       say("filebus budget --conversation {each}", "filebus conversation list"),
		result.ErrOutput:         say("run it again with another --output"),
		result.ErrOutputTaken:    say("run it again with another --output, or with --force to replace the file"),
	}
}

// say returns the hint of a text in which {1}, {2}, … stand for the error's names
// as a shell takes them. Of a text with {each} there is a line for each name, {all}
// is all of them, with commas. At most ten are named. Without any name it is
// otherwise that is said.
func say(text string, otherwise ...string) hint {
	return func(e *record.Error) string {
		names := make([]string, min(len(e.Names), maxHinted))
		for i := range names {
			names[i] = quote(e.Names[i])
		}
		if len(names) == 0 && len(otherwise) > 0 {
			return otherwise[0]
		}
		if strings.Contains(text, "{each}") {
			lines := make([]string, len(names))
			for i, name := range names {
				lines[i] = strings.ReplaceAll(text, "{each}", name)
			}
			return strings.Join(lines, "\n       ")
		}
		places := []string{"{all}", strings.Join(names, ", ")}
		for i, name := range names {
			places = append(places, "{"+strconv.Itoa(i+1)+"}", name)
		}
		return strings.NewReplacer(places...).Replace(text)
	}
}

// maxHinted is how many names a hint has at most.
const maxHinted = 10

// hintOf returns the command that helps, or "".
func hintOf(e *record.Error) string {
	if e.Hint != "" {
		return e.Hint
	}
	for _, table := range hints() {
		if h := table[e.Reason]; h != nil {
			return h(e)
		}
	}
	return ""
}

// hintAbsent helps where nothing has the name that was given.
func hintAbsent(e *record.Error) string {
	text, _ := e.Detail.(string)
	switch {
	case len(e.Names) > 0:
		return say("filebus get {each}")(e)
	case text == "":
		return "filebus list"
	case strings.HasPrefix(text, "handoff/"):
		return "filebus task list"
	case strings.HasPrefix(text, "knowledge/"):
		return "filebus knowledge list"
	}
	return "filebus search " + quote(text)
}

// hintHandoff returns the line that ends a task without a handoff, or what the line
// lacks that was tried.
func hintHandoff(e *record.Error) string {
	missing, line, files := e.Names, "run it again with", ""
	if e.Reason == task.ErrNoHandoff {
		id, outcome := quote(e.Names[0]), e.Names[1]
		missing, line, files = e.Names[2:], "filebus task done "+id, " --files FILE,FILE"
		switch outcome {
		case task.Failed:
			line = "filebus task fail " + id
		case task.Blocked:
			line = "filebus task block " + id
		case task.Partial:
			files = " --outcome partial" + files
		default:
			missing = []string{"summary"}
		}
	}
	examples := map[string]string{
		"outcome": "completed", "summary": `"WHAT WAS DONE"`,
		"blocker": `"WHAT STANDS IN THE WAY"`, "next": `"HOW TO RESOLVE IT"`,
	}
	for _, flag := range missing {
		line += " --" + flag + " " + examples[flag]
	}
	return line + files
}
