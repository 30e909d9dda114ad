package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"filebus/cmd/filebus/hook"
	"filebus/store/folder"
	"filebus/store/record"
)

// The files below the store's folder in which hooks remember what they have seen.
const (
	hooksFolder   = "hooks"
	notesSuffix   = ".jsonl"
	maxRemembered = 8 << 20 // of a session, in bytes
	hooksLog      = "hooks.log"
	keptNotes     = 30 * 24 * time.Hour
	olderLog      = "hooks.log.old"
	maxHooksLog   = 256 << 10 // in bytes; then a new one is begun
	maxLogLine    = 1000
)

func (h *hooked) notes() hook.Notes {
	text, _ := folder.At(h.at.Store).Sub(hooksFolder).ReadUpTo(fit(h.event.Session)+notesSuffix, maxRemembered) // there may be none yet
	return hook.ReadNotes(text)
}

// remember adds a note about the event's agent to those of the session, if there is anything to note. One that is lost
// costs a second look.
func (h *hooked) remember(what string, n hook.Note) {
	if what == "" {
		return
	}
	n.Time, n.What, n.Agent, n.Type = h.now().UTC(), what, h.event.Agent, h.event.Type
	line, _ := json.Marshal(n) // it has only texts and numbers
	own := folder.At(h.at.Store).Sub(hooksFolder)
	err := own.Make(".")
	h.logIf(cmp.Or(err, own.Append(fit(h.event.Session)+notesSuffix, append(line, '\n'))))
}

// forget removes the notes of sessions of which nothing was heard for long.
func (h *hooked) forget() {
	own := folder.At(h.at.Store).Sub(hooksFolder)
	entries, _ := own.ReadDir(".") // the next session tries again
	for _, e := range entries {
		if info, err := e.Info(); err == nil && h.now().Sub(info.ModTime()) > keptNotes {
			_ = own.Remove(e.Name())
		}
	}
}

// logIf notes an error beside the store, if that is there and the user's, and on stderr for whoever runs a hook
// by hand.
func (h *hooked) logIf(err error) {
	if err == nil {
		return
	}
	h.note("hook %s: %s", oneLine(h.event.Name), message(err))
	if h.at.Store == "" { // the event itself could not be read
		_, _ = h.find()
	}
	if !h.trusted {
		return
	}
	own := folder.At(h.at.Store)
	if info, err := own.Stat(hooksLog); err == nil && info.Size() > maxHooksLog {
		_ = own.Rename(hooksLog, olderLog) // else it grows until the next time
	}
	text := fmt.Sprintf("%s %s %s session=%q agent=%q: %s", record.FormatTime(h.now()), h.event.Client, h.event.Name, h.event.Session,
		h.event.Agent, message(err))
	_ = own.Append(hooksLog, []byte(shortened(oneLine(text), maxLogLine)+"\n")) // there is nobody else to tell
}
