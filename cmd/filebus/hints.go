package main

import (
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/result"
	"filebus/query"
	"filebus/store/record"
)

// A hint makes the command that helps out of an error that has its reason.
type hint func(e *record.Error) string

// hints is the table of what helps, by the reason of an error or, where it has none,
// by its code.
func hints() map[record.Reason]hint {
	return map[record.Reason]hint{
		record.Reason(record.Busy):     say("the same again, with a longer --wait"),
		record.Reason(record.Conflict): say("filebus conflicts"),
		record.Reason(record.Damaged):  say("filebus verify"),
		record.Reason(record.NoStore):  say("filebus init, or --store FOLDER"),
		record.Reason(record.UnsafeFS): say("--store FOLDER on a local disk, or --allow-unsafe-fs"),
		"index damaged":                say("filebus reindex"),

		query.ErrAbsent:              hintAbsent,
		query.ErrRetired:             say("filebus get {1}"),
		query.ErrNoPart:              say("filebus show {1}"),
		query.ErrSeveral:             say("filebus show {1}"),
		query.ErrNoKnowledge:         say("filebus knowledge list"),
		query.ErrTooMany:             say("the same with --tag, --type or --from ID, or with another --limit"),
		materialize.ErrForeignFolder: say("the same with a new or empty folder"),
		materialize.ErrTreeTaken:     say("the same with another --tree"),
		materialize.ErrLink:          say("rm {1}, and the same again"),
		materialize.ErrStillNeeded:   say("filebus show {1}"),
		materialize.ErrTooLarge:      say("the same after the file was cut by hand; filebus get {1} is all of it"),

		result.ErrTaken:          say("filebus get {1}, or another --call"),
		result.ErrNoConversation: say("filebus conversation show {each}", "filebus conversation list"),
		result.ErrNoBudget:       say("filebus budget --conversation {each}", "filebus conversation list"),
		result.ErrOutput:         say("the same with another --output"),
		result.ErrOutputTaken:    say("the same with --force, or another --output"),
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
	if h := hints()[e.Reason]; h != nil {
		return h(e)
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
