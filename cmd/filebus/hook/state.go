package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"filebus/store/record"
)

// A Note is one line of what is remembered of a session: what hooks have seen of an agent, so that whoever
// comes second knows.
type Note struct {
	Time  time.Time `json:"time"`
	What  string    `json:"what"` // an event, or one of the words below
	Agent string    `json:"agent,omitempty"`
	Type  string    `json:"type,omitempty"`
	Text  string    `json:"text,omitempty"`  // what the report is known by: see KeyOf
	Files []string  `json:"files,omitempty"` // that the agent's prompt named
}

// What a note is about besides an event: the words are stored.
const (
	NoteLaunched = "launched" // the agent works in the background
	NoteHanded   = "handed"   // it hands its report back by a tool
	NoteStored   = "stored"   // its report is stored, or waits in the spool
)

// Notes are those of a session, oldest first.
type Notes []Note

// ReadNotes reads lines of notes. What is none, as a line that was cut off, is left out.
func ReadNotes(text []byte) (all Notes) {
	for line := range bytes.Lines(text) {
		var n Note
		if json.Unmarshal(line, &n) == nil && n.What != "" {
			all = append(all, n)
		}
	}
	return all
}

// KeyOf returns what a report is known by, however white space was treated on its way.
func KeyOf(text string) string {
	return record.DigestOf([]byte(strings.Join(strings.Fields(text), " "))).String()[:24]
}

// Last returns the newest note about an agent that is of one of some words.
func (all Notes) Last(agent string, words ...string) Note {
	for _, n := range slices.Backward(all) {
		if n.Agent == agent && slices.Contains(words, n.What) {
			return n
		}
	}
	return Note{}
}

// Kept reports whether a report of an agent is stored, or waits for it.
func (all Notes) Kept(agent, text string) bool {
	key := KeyOf(text)
	return slices.ContainsFunc(all, func(n Note) bool { return n.Agent == agent && n.Text == key })
}

// handed reports whether an agent has handed its report back since it began.
func (all Notes) handed(agent string) bool {
	return all.Last(agent, NoteHanded, SubagentStart).What == NoteHanded
}
