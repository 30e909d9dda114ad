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

// A Replacement is the way by which a parent gets a reference in place of a report: the key of the client's answer.
type Replacement string

// The ways.
const (
	None   Replacement = ""
	Input  Replacement = "updatedInput"      // of the tool that hands the report back
	Output Replacement = "updatedToolOutput" // what the call of the agent gives
	Ask    Replacement = "decision"          // the agent is made to answer once more, with one line
)

// A Decision is what follows from an event.
type Decision struct {
	Note    string // what is to be remembered first, a word; "": nothing
	Report  bool   // the event may have a report that is to be stored
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
	switch {
	case e.Name == SessionStart, e.Name == SessionEnd:
		d.Note, d.Context = e.Name, e.Name == SessionStart
	case e.Name == UserPromptSubmit:
		prompt := strings.TrimSpace(e.Prompt)
		isTyped := slices.Contains([]string{"", "user", "sdk"}, e.Source) && !strings.HasPrefix(prompt, "<")
		d.Context = s.PromptContext && isTyped && prompt != ""
	case e.isInternal(notes):
	case e.Name == SubagentStart, e.Refused: // it is at work again
		d.Note = SubagentStart
	case e.Launched:
		d.Note = NoteLaunched
	default:
		if e.Handback && !notes.handed(e.Agent) {
			d.Note = NoteHanded
		}
		// What an agent says after a hand-back is no report.
		d.Report = e.Name != SubagentStop || !notes.handed(e.Agent)
		if d.Report && s.Refers() && e.Report != "" && utf8.RuneCountInString(e.Report) >= s.MinChars {
			d.Replace = e.replacement(notes)
		}
	}
	return d
}

// isInternal reports whether an agent may be one of the client's own, which goes by the type that the session
// itself has. One that somebody has launched is none.
func (e *Event) isInternal(notes Notes) bool {
	return e.Name == SubagentStop && e.Type == notes.Last("", SessionStart).Type && notes.Last(e.Agent, NoteLaunched).What == ""
}

// replacement returns the way by which the parent can get a reference in place of the event's report.
func (e *Event) replacement(notes Notes) Replacement {
	isClaude := e.Client == Claude
	switch {
	case isClaude && e.Name == PreToolUse:
		return Input
	case isClaude && e.isCall() && !e.Handback:
		return Output
	case e.Name == SubagentStop && !e.Again && (!isClaude || notes.Last(e.Agent, NoteLaunched).What != ""): // else its caller waits for it
		return Ask
	}
	return None
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
