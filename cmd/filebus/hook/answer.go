package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// specific is what an event takes of its own.
type specific struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext,omitempty"`
	Input   object `json:"updatedInput,omitempty"`
	Output  object `json:"updatedToolOutput,omitempty"`
}

type answer struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

// An object is one of which only some keys are known.
type object map[string]json.RawMessage

// encode returns an answer as the client reads it: one object, and nothing besides.
func (a answer) encode() []byte {
	text, err := json.Marshal(a)
	if err != nil {
		return nil // it changes nothing then
	}
	return append(text, '\n')
}

// Context returns the answer that adds a text to what the session's agent sees.
func (e *Event) Context(text string) []byte {
	return answer{Specific: &specific{Event: e.Name, Context: text}}.encode()
}

// Answer returns the answer that puts a reference in place of the report, or nothing if what the event has is
// not of a shape that is known.
func (e *Event) Answer(by Replacement, reference string) []byte {
	own := &specific{Event: e.Name}
	switch by {
	case Input:
		own.Input = replaced(e.Input, "message", reference)
	case Output:
		own.Output = e.replacedContent(reference)
	case Ask:
		return answer{Decision: "block", Reason: fmt.Sprintf("The report is stored whole, and the line below stands for it. "+
			"The caller needs nothing but that line as the last answer:\n%s", reference)}.encode()
	}
	if own.Input == nil && own.Output == nil {
		return nil
	}
	return answer{Specific: own}.encode()
}

// replaced returns an object with another value for one of its keys; all else stays.
func replaced(text json.RawMessage, key string, value any) object {
	var fields object
	raw, err := json.Marshal(value)
	if json.Unmarshal(text, &fields) != nil || fields[key] == nil || err != nil {
		return nil
	}
	fields[key] = raw
	return fields
}

// replacedContent returns the result of a call with a reference in place of its texts: of the same shape, since
// another is not taken.
func (e *Event) replacedContent(reference string) object {
	var answer struct{ Content json.RawMessage }
	var blocks []json.RawMessage
	if json.Unmarshal(e.Response, &answer) != nil {
		return nil
	}
	if bytes.HasPrefix(answer.Content, []byte(`"`)) {
		return replaced(e.Response, "content", reference)
	}
	if json.Unmarshal(answer.Content, &blocks) != nil {
		return nil
	}
	kept := []any{block{"text", reference}}
	for _, raw := range blocks {
		var b block
		if json.Unmarshal(raw, &b) != nil || !b.isReport() {
			kept = append(kept, raw)
		}
	}
	return replaced(e.Response, "content", kept)
}
