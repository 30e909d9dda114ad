package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
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
	olderLog      = "hooks.log.old"
	maxHooksLog   = 256 << 10 // in bytes; then a new one is begun
	maxLogLine    = 1000
	notesKept     = 30 * 24 * time.Hour
	maxForgotten  = 1000 // sessions, looked at by one hook
)

func (h *hooked) notesFile() string { return fit(h.event.Session) + notesSuffix }

func (h *hooked) notes() hook.Notes {
	text, err := folder.At(h.at.Store).Sub(hooksFolder).ReadUpTo(h.notesFile(), maxRemembered)
	if err != nil {
		return nil // there are none yet
	}
	return hook.ReadNotes(text)
}

// remember adds notes to those of the session. One that is lost costs a second look.
func (h *hooked) remember(notes ...hook.Note) {
	if len(notes) == 0 {
		return
	}
	var lines []byte
	for _, n := range notes {
		n.Time = h.now().UTC()
		lines = append(lines, n.Line()...)
	}
	own := folder.At(h.at.Store).Sub(hooksFolder)
	if own.Append(h.notesFile(), lines) != nil {
		h.logIf(errors.Join(own.Make("."), own.Append(h.notesFile(), lines)))
	}
}

// forget removes what is remembered of sessions that nobody comes back to.
func (h *hooked) forget() {
	own := folder.At(h.at.Store).Sub(hooksFolder)
	entries, err := own.ReadDir(".")
	if err != nil {
		return // there is none
	}
	for _, entry := range entries[:min(len(entries), maxForgotten)] {
		info, err := entry.Info()
		if err == nil && strings.HasSuffix(entry.Name(), notesSuffix) && h.now().Sub(info.ModTime()) > notesKept {
			_ = own.Remove(entry.Name()) // the next one tries again
		}
	}
}

func (h *hooked) logIf(err error) {
	if err != nil {
		h.log(err)
	}
}

// log notes what went wrong beside the store, if that is there and the user's, and on
// stderr for whoever runs a hook by hand.
func (h *hooked) log(err error) {
	h.note("hook %s: %s", oneLine(h.name), message(err))
	if h.at.Store == "" {
		_, _ = h.find(context.Background()) // the event itself could not be read
	}
	if !h.trusted {
		return
	}
	line, jsonErr := json.Marshal(map[string]string{
		"time": record.FormatTime(h.now()), "event": h.name, "client": h.client, "session": h.event.Session,
		"agent": h.event.Agent, "error": shortened(message(err), maxLogLine),
	})
	own := folder.At(h.at.Store)
	if info, err := own.Stat(hooksLog); err == nil && info.Size() > maxHooksLog {
		_ = own.Rename(hooksLog, olderLog) // else it grows until the next time
	}
	if jsonErr == nil {
		_ = own.Append(hooksLog, append(line, '\n')) // there is nobody else to tell
	}
}
