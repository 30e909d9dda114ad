package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"filebus/store/record"
)

// A Note is one line of what is remembered of a session: what hooks have seen of an
// agent, so that whoever comes second knows.
type Note struct {
	Time  time.Time `json:"time"`
	What  string    `json:"what"` // one of the words below
	Agent string    `json:"agent,omitempty"`
	Type  string    `json:"type,omitempty"`
	Text  string    `json:"text,omitempty"`  // what the report is known by: see KeyOf
	Given string    `json:"given,omitempty"` // what its reference is known by
	Ref   string    `json:"ref,omitempty"`   // of the report that the agent was asked to stand a line for
	Files []string  `json:"files,omitempty"` // that the agent's prompt named

	Tokens  int `json:"tokens,omitempty"`  // of the report, about
	Instead int `json:"instead,omitempty"` // of what the parent gets in its place; 0: it gets the report
}

// What a note is about. The words are stored.
const (
	NoteLaunched = "launched"  // the agent works in the background
	NoteStarted  = "started"   // or goes on after it had stopped
	NoteHanded   = "handed"    // it hands its report back by a tool
	NoteRefused  = "refused"   // and did not succeed
	NoteStored   = "stored"    // its report is stored
	NoteSpooled  = "spooled"   // or waits in the spool
	NoteReferred = "reference" // the parent gets a reference
	NoteAsked    = "asked"     // the agent was asked to answer with one
	NoteSession  = "session"   // the session has begun, as an agent of its own
	NoteEnded    = "ended"     // the session has ended
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

// Line returns a note as it is remembered.
func (n Note) Line() []byte {
	const maxFiles = 20 // so that a line is written in one piece
	n.Files = n.Files[:min(len(n.Files), maxFiles)]
	line, err := json.Marshal(n)
	if err != nil {
		return nil // it has only texts and numbers
	}
	return append(line, '\n')
}

// KeyOf returns what a report is known by, however white space was treated on its way.
func KeyOf(text string) string {
	return record.DigestOf([]byte(strings.Join(strings.Fields(text), " "))).String()[:24]
}

// last returns the newest note about an agent that is of one of some words.
func (all Notes) last(agent string, words ...string) (found Note) {
	for _, n := range all {
		for _, word := range words {
			if n.Agent == agent && n.What == word {
				found = n
			}
		}
	}
	return found
}

// knows reports whether a report of an agent is stored, or waits for it.
func (all Notes) knows(agent, text string) bool {
	key := KeyOf(text)
	return slices.ContainsFunc(all, func(n Note) bool {
		return n.Agent == agent && n.Text == key && (n.What == NoteStored || n.What == NoteSpooled)
	})
}

// given reports whether a text is the reference that stands for a report already.
func (all Notes) given(agent, text string) bool {
	key := KeyOf(text)
	return slices.ContainsFunc(all, func(n Note) bool { return n.Agent == agent && n.Given == key })
}

// stands reports whether a text is the line that an agent was asked to answer with, and
// next to nothing besides.
func (all Notes) stands(agent, text string) bool {
	const maxBesides = 400 // how long the line with some words around it may be, in bytes
	ref := all.last(agent, NoteAsked).Ref
	return ref != "" && strings.Contains(text, ref) && len(strings.TrimSpace(text)) <= maxBesides
}

// Started returns when an agent was seen to begin; zero: it was not.
func (all Notes) Started(agent string) time.Time { return all.last(agent, NoteStarted).Time }

// Files returns the files that the prompt of an agent named.
func (all Notes) Files(agent string) []string { return all.last(agent, NoteLaunched).Files }

// Kept reports whether a report of an agent is stored, or waits for it.
func (all Notes) Kept(agent, text string) bool { return all.knows(agent, text) }
