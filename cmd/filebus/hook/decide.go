package hook

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// Settings say what hooks do.
type Settings struct {
	Mode          string `toml:"mode" json:"mode,omitempty"`                     // capture or reference; empty: capture
	MinChars      int    `toml:"min_chars" json:"min_chars,omitempty"`           // shorter reports are not replaced
	PromptContext bool   `toml:"prompt_context" json:"prompt_context,omitempty"` // a prompt gets what is found for it
	MakeStore     bool   `toml:"make_store" json:"make_store,omitempty"`         // where there is a folder for it
}

// Refers reports whether parents get references.
func (s Settings) Refers() bool { return s.Mode == "reference" }

// Check reports what is wrong with the settings.
func (s Settings) Check() error {
	switch {
	case s.Mode != "" && s.Mode != "capture" && !s.Refers():
		return fmt.Errorf("hooks.mode is %q; it is capture or reference", s.Mode)
	case s.MinChars < 0:
		return fmt.Errorf("hooks.min_chars is %d; it is a number of characters", s.MinChars)
	}
	return nil
}

// A Replacement is the way by which a parent gets a reference in place of a report.
type Replacement int

// The ways.
const (
	None   Replacement = iota
	Input              // the input of the tool that hands the report back
	Output             // what the call of the agent gives
	Ask                // the agent is made to answer once more, with one line
)

// A Decision is what follows from an event.
type Decision struct {
	Notes   []Note // to be remembered first
	Report  bool   // the event may have a report that is to be stored
	Known   bool   // which is stored already
	Replace Replacement
	Context bool // the client is told what the store knows
}

// Concerns reports whether there can be anything to do about an event, whatever is remembered of its session.
// Agents without a type are the client's own.
func (e *Event) Concerns() bool {
	isTool := e.Name == PreToolUse || e.Name == PostToolUse
	isAgent := isTool || e.Name == SubagentStart || e.Name == SubagentStop
	return !isAgent || e.Agent != "" && e.Type != "" && (!isTool || e.Launched || e.Refused || e.Report != "")
}

// Decide says what follows from an event.
func Decide(e *Event, notes Notes, s Settings) (d Decision) {
	note := func(what string) {
		d.Notes = append(d.Notes, Note{What: what, Agent: e.Agent, Type: e.Type, Files: FilesIn(e.Prompt)})
	}
	switch {
	case e.Name == SessionStart:
		if d.Context = true; e.Type != "" {
			note(NoteSession)
		}
	case e.Name == SessionEnd:
		note(NoteEnded)
	case e.Name == UserPromptSubmit:
		prompt := strings.TrimSpace(e.Prompt)
		isTyped := slices.Contains([]string{"", "user", "sdk"}, e.Source) && !strings.HasPrefix(prompt, "<")
		d.Context = s.PromptContext && isTyped && prompt != ""
	case !e.Concerns() || e.isInternal(notes):
	case e.Name == SubagentStart:
		note(NoteStarted)
	case e.Launched:
		note(NoteLaunched)
	case e.Refused:
		note(NoteRefused)
	default:
		if e.Handback && !notes.handed(e.Agent) {
			note(NoteHanded)
		}
		d.report(e, notes, s)
	}
	return d
}

// isInternal reports whether an agent may be one of the client's own, which goes by the type that the session
// itself has. One that somebody has launched is none.
func (e *Event) isInternal(notes Notes) bool {
	return e.Name == SubagentStop && e.Type == notes.Last("", NoteSession).Type && notes.Last(e.Agent, NoteLaunched).What == ""
}

// report decides about an event that may have a report.
func (d *Decision) report(e *Event, notes Notes, s Settings) {
	stops, isClaude := e.Name == SubagentStop, e.Client == Claude
	if stops && notes.handed(e.Agent) || notes.stands(e.Agent, e.Report) { // what it says besides is no report
		return
	}
	if strings.TrimSpace(e.Report) == "" {
		e.Report = ""
	}
	d.Report, d.Known = true, e.Report != "" && notes.Kept(e.Agent, e.Report)
	switch {
	case !s.Refers() || e.Report == "" || utf8.RuneCountInString(e.Report) < s.MinChars:
	case isClaude && e.Name == PreToolUse:
		d.Replace = Input
	case isClaude && e.isCall() && !e.Handback:
		d.Replace = Output
	case stops && !e.Again && (!isClaude || notes.Last(e.Agent, NoteLaunched).What != ""): // else its caller waits for it
		d.Replace = Ask
	}
}

// FilesIn returns the files that a prompt names in which agents leave what they have found: handoffs, turns,
// artifacts and markers, and 20 at most.
func FilesIn(prompt string) (files []string) {
	isEnd := func(c rune) bool { return strings.ContainsRune(" \t\r\n\"'`<>()[]{},;|*", c) }
	for word := range strings.FieldsFuncSeq(prompt, isEnd) {
		word = strings.TrimRight(strings.TrimPrefix(word, "./"), ".:!?")
		if strings.Contains(word, "/") && len(word) <= 300 && len(files) < 20 && !slices.Contains(files, word) &&
			IsOutcome(layout.Recognize(strings.TrimPrefix(word, "/")).Kind) {
			files = append(files, word)
		}
	}
	return files
}

// IsOutcome reports whether agents leave what they have found in files of a kind.
func IsOutcome(kind record.Kind) bool {
	return slices.Contains([]record.Kind{record.KindHandoff, record.KindTurn, record.KindArtifact, record.KindMarker}, kind)
}
