package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/materialize/transcript"
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
	isTool := e.Name == PreToolUse || e.Name == PostToolUse || e.Failed
	isAgent := isTool || e.Name == SubagentStart || e.Name == SubagentStop || e.Name == StopFailure
	isTyped := e.Type != "" || e.Name == StopFailure // which does not tell
	return !isAgent || e.Agent != "" && isTyped && (!isTool || e.Launched || e.Refused || e.Report != "")
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
	case e.Failed:
		d.Report = !e.isTold(notes)
	case e.Name == SubagentStart, e.Refused: // it is at work again
		d.Note = SubagentStart
	case e.Launched:
		d.Note = NoteLaunched
	default:
		if e.Handback && !notes.handed(e.Agent) {
			d.Note = NoteHanded
		}
		// What an agent says after a hand-back is no report, nor what it says, in whatever words, when it was asked for a line.
		isLine := e.Again && len(e.Report) <= 400 && notes.Last(e.Agent, NoteAsked, SubagentStart).What == NoteAsked
		d.Report = e.Name != SubagentStop || !notes.handed(e.Agent) && !isLine
		d.Report = d.Report && (!e.Dumped || s.Refers() && notes.Last(e.Agent, NoteStored, NoteTold).What != "")
		if d.Report && s.Refers() && e.Report != "" && utf8.RuneCountInString(e.Report) >= s.MinChars {
			d.Replace = e.replacement(notes)
		}
	}
	return d
}

// isTold reports whether another event has told the failure of this one, which is noted too: the agent's own event and
// that of its call tell the same, in whatever order or both at once, and each stands for one of the other.
func (e *Event) isTold(notes Notes) bool {
	open, told := Notes(nil), map[string]bool{} // open: what one of the two has told
	for _, n := range notes {
		if n.What == SubagentStart {
			delete(told, n.Agent)
		}
		if _, again := told[n.Agent]; again || n.What != NoteFailed || n.Said == "" {
			continue
		}
		i := slices.IndexFunc(open, func(o Note) bool {
			return o.Told && !n.Told && strings.Contains(o.Said, strings.TrimSuffix(n.Said, "…")) ||
				n.Told && !o.Told && strings.Contains(n.Said, strings.TrimSuffix(o.Said, "…"))
		})
		if told[n.Agent] = i >= 0; i < 0 {
			open = append(open, n)
		} else {
			open = slices.Delete(open, i, i+1)
		}
	}
	return told[e.Agent]
}

// isInternal reports whether an agent may be one of the client's own, which goes by the type that the session
// itself has. One that somebody has launched is none.
func (e *Event) isInternal(notes Notes) bool {
	return e.Name == SubagentStop && e.Type == notes.Last("", SessionStart).Type && notes.Last(e.Agent, NoteLaunched).What == ""
}

// isBackground reports whether the event itself tells that its agent works in the background, as one does that
// was resumed.
func (e *Event) isBackground() bool {
	for _, task := range e.Background {
		if task.ID == e.Agent {
			return true
		}
	}
	return false
}

// replacement returns the way by which the parent can get a reference in place of the event's report.
func (e *Event) replacement(notes Notes) Replacement {
	isCodex := e.Client == Codex
	switch {
	case !isCodex && e.Name == PreToolUse:
		return Input
	case !isCodex && e.Told && !e.Handback:
		return Output
	case e.Name == SubagentStop && !e.Again && (isCodex || e.isBackground() || notes.Last(e.Agent, NoteLaunched).What != ""): // else its caller waits for it
		return Ask
	}
	return None
}

// An Answer is what the client reads: one object, and nothing besides. Nil changes nothing.
type Answer map[string]any

// Tell returns the answer with what only the event takes, such as additionalContext: a text for the session's agent.
func (e *Event) Tell(key string, value any) Answer {
	return Answer{"hookSpecificOutput": map[string]any{"hookEventName": e.Name, key: value}}
}

// Refer returns the answer that puts a reference in place of the report, or nothing if what the event has is
// not of a shape that is known. All else stays: another shape is not taken.
func (e *Event) Refer(by Replacement, reference string) Answer {
	var fields map[string]json.RawMessage
	key, value := "message", any(reference)
	switch by {
	case Ask:
		return Answer{"decision": "block", "reason": "The report is stored whole, and the line below stands for it. " +
			transcript.AskedForLine + "\n" + reference}
	case Input:
		_ = json.Unmarshal(e.Input, &fields) // it was read before
	case Output:
		_ = json.Unmarshal(e.Response, &fields) // as was this
		if key, value = "content", e.replaced(fields["content"], reference); !e.isCall() {
			key, value = "task", retold(fields["task"], reference)
		}
	}
	if fields[key] == nil {
		return nil
	}
	fields[key], _ = json.Marshal(value) // it has only texts, and what was JSON before
	return e.Tell(string(by), fields)
}

// replaced returns a content with a reference in place of the report's texts: what the client counts as its own stays.
func (e *Event) replaced(content json.RawMessage, reference string) any {
	var blocks []json.RawMessage
	if json.Unmarshal(content, &blocks) != nil { // it is one text
		return reference
	}
	text, _ := json.Marshal(map[string]string{"type": "text", "text": reference})
	kept := append(slices.Clone(blocks[:e.from]), text)
	for _, raw := range blocks[e.from:e.to] {
		var b struct{ Type string }
		if _ = json.Unmarshal(raw, &b); b.Type != "text" {
			kept = append(kept, raw)
		}
	}
	return append(kept, blocks[e.to:]...)
}

// retold returns what a tool tells of a task, with a reference in place of each text of the agent's.
func retold(task json.RawMessage, reference string) (fields map[string]any) {
	_ = json.Unmarshal(task, &fields) // as it was read before
	for _, key := range []string{"output", "result"} {
		if text, is := fields[key].(string); is && text != "" {
			fields[key] = reference
		}
	}
	return fields
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

// A Note is one line of what is remembered of a session: what hooks have seen of an agent, so that whoever
// comes second knows.
type Note struct {
	Time  time.Time `json:"time"`
	What  string    `json:"what"`           // an event, or one of the words below
	From  string    `json:"from,omitempty"` // the client
	Agent string    `json:"agent,omitempty"`
	Type  string    `json:"type,omitempty"`
	Text  string    `json:"text,omitempty"`  // what the report is known by: see KeyOf
	Said  string    `json:"said,omitempty"`  // the beginning of what an agent said that failed
	Told  bool      `json:"told,omitempty"`  // the call of the agent said it
	Files []string  `json:"files,omitempty"` // that the agent's prompt named
}

// What a note is about besides an event: the words are stored.
const (
	NoteLaunched = "launched" // the agent works in the background
	NoteHanded   = "handed"   // it hands its report back by a tool
	NoteStored   = "stored"   // its report is stored, or waits in the spool
	NoteTold     = "told"     // as stored, but what the agent itself says is stronger
	NoteAsked    = "asked"    // it was asked for a line that stands for its report
	NoteFailed   = "failed"   // it failed
	NotePointed  = "pointed"  // the session was told of what the text is known by
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

// Yields reports whether what an event tells of a report stands back behind one that is there: an output of a task always,
// the result of a call when the agent's own words have come since it began.
func (e *Event) Yields(notes Notes) bool {
	return e.Told && (!e.isCall() || notes.Last(e.Agent, NoteStored, SubagentStart).What == NoteStored)
}

// IsAnother reports whether the text of an event is another report than those that its agent has given: it is at work again
// since the last, or has now said something else itself.
func (e *Event) IsAnother(notes Notes) bool {
	last := notes.Last(e.Agent, NoteStored, NoteTold).What
	began := notes.Last(e.Agent, NoteStored, NoteTold, SubagentStart).What == SubagentStart
	return last != "" && (began || !e.Told && last == NoteStored)
}

// handed reports whether an agent has handed its report back since it began.
func (all Notes) handed(agent string) bool {
	return all.Last(agent, NoteHanded, SubagentStart).What == NoteHanded
}
