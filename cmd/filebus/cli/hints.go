package cli

import (
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/materialize/release"
	"filebus/materialize/remote"
	"filebus/query"
	"filebus/store/bundle"
	"filebus/store/record"
)

// A hint makes the command that helps out of an error that has its reason.
type hint func(e *record.Error) string

// hints are what helps where an error does not say it itself: by its reason or, where
// it has none, by its code.
func hints() map[record.Reason]hint {
	return map[record.Reason]hint{
		record.Reason(record.Busy):       say("run it again with a longer --lock-wait"),
		record.Reason(record.Conflict):   say("filebus conflicts"),
		record.Reason(record.Damaged):    say(RepairHint),
		record.Reason(record.NoStore):    say("filebus init, or --store FOLDER/" + materialize.StoreFolder),
		record.Reason(record.UnsafeFS):   say("--store FOLDER on a local disk, or --allow-unsafe-fs"),
		record.Reason(record.NewerStore): say("install a newer filebus"),
		"index damaged":                  say("filebus reindex"),
		ErrNoSpace:                       say("make room on that disk, then run it again"),
		errAmbiguousRef:                  say("filebus show {1}"),
		errWriteOnce:                     say("filebus get {1}, or another id"),
		errOutdated:                      say("filebus show {1}"),

		query.ErrAbsent:      hintAbsent,
		query.ErrRetired:     say("filebus get --stored {2}, or filebus rm --restore {2}"),
		query.ErrNoPart:      say("filebus show {1}"),
		query.ErrSeveral:     say("filebus show {1}"),
		query.ErrNoKnowledge: say("filebus knowledge list"),
		query.ErrTooMany:     say("run it again with --tag TAG, --type TYPE or --from ID, or with another --limit"),

		materialize.ErrForeignFolder: say("run it again with a new or empty folder"),
		materialize.ErrForeignFile:   say("run it again with another name, or with --force, which stores the file before it replaces it"),
		materialize.ErrTreeTaken:     say("run it again with another --tree"),
		materialize.ErrNoTree:        say("filebus tree list"),
		materialize.ErrNameTaken:     say("filebus tree list"),
		materialize.ErrRenaming:      say("filebus tree rename {1} {2}"),
		materialize.ErrTreeGone:      say("filebus tree rm {1}, which hides what is stored, or filebus capture FOLDER --tree {1}, if the folder has moved"),
		materialize.ErrTreeEmpty:     say("filebus tree refresh --empty {1}, to hide them all"),
		mirror.ErrLink:               say("mv {1} {1}.link, then run it again"),
		release.ErrStillNeeded:       say("filebus show {1}"),
		materialize.ErrBackupPlace:   say("run it again with a new folder outside of the workspace"),
		materialize.ErrBackupOther:   say("run it again with a new folder"),
		materialize.ErrNoBackup:      say("run it again with the folder that filebus backup has made"),
		materialize.ErrBackupList:    say("filebus backup NEWDIR; or, without the store, filebus bundle apply FILE of each .bundle there, oldest first"),
		materialize.ErrBackupRot:     say("filebus backup --fresh {1}; or, without the store, filebus restore --partial {1}, up to what is damaged"),
		materialize.ErrWouldLose:     say("run it again with --yes: what is there is kept"),
		materialize.ErrOtherLog:      say("filebus bundle create there, after filebus put has given the copy an id of its own"),
		remote.ErrAway:               say("mount it, or wait for it, and run it again; if it is lost, filebus remote rm and filebus remote add make another one from this store"),
		bundle.ErrMalformed:          say("ask for a new one: nothing of this one was taken in"),
		materialize.ErrTooLarge:      say("shorten the file and run it again; filebus get {1} prints all of it"),
	}
}

// say returns the hint of a text in which {1}, {2}, … stand for the error's names
// as a shell takes them. Of a text with {each} there is a line for each name, {all}
// is all of them, with commas. At most ten are named.
func say(text string) hint {
	const maxHinted = 10 // how many names a hint has at most
	return func(e *record.Error) string {
		names := markdown.Each(e.Names[:min(len(e.Names), maxHinted)], record.ShellWord)
		if strings.Contains(text, "{each}") {
			each := func(name string) string { return strings.ReplaceAll(text, "{each}", name) }
			return strings.Join(markdown.Each(names, each), "\n       ")
		}
		places := []string{"{all}", strings.Join(names, ", ")}
		for i, name := range names {
			places = append(places, "{"+strconv.Itoa(i+1)+"}", name)
		}
		return strings.NewReplacer(places...).Replace(text)
	}
}

// hintOf returns the command that helps, or "".
func hintOf(e *record.Error) string {
	if e.Hint != "" {
		return say(e.Hint)(e)
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
	return "filebus search " + record.ShellWord(text)
}
