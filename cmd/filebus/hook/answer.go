package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// specific is what an event takes of its own.
type specific struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext,omitempty"`
	Input   any    `json:"updatedInput,omitempty"`
	Output  any    `json:"updatedToolOutput,omitempty"`
}

type answer struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

// encode returns an answer as the client reads it: one object, and nothing besides.
func (a answer) encode() []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(a) != nil {
		return nil // it changes nothing then
	}
	return out.Bytes()
}

// Context returns the answer that adds a text to what the session's agent sees.
func (e *Event) Context(text string) []byte {
	if text == "" {
		return nil
	}
	return answer{Specific: &specific{Event: e.Name, Context: text}}.encode()
}

// Answer returns the answer that puts a reference in place of the report, or nothing if
// what the event has is not of a shape that is known.
func (e *Event) Answer(by Replacement, reference string) []byte {
	switch by {
	case Input:
		if input := e.replaced(e.input, "message", reference); input != nil {
			return answer{Specific: &specific{Event: e.Name, Input: input}}.encode()
		}
	case Output:
		if output := e.replacedContent(reference); output != nil {
			return answer{Specific: &specific{Event: e.Name, Output: output}}.encode()
		}
	case Ask:
		return answer{Decision: "block", Reason: fmt.Sprintf("The report is stored whole, and the line below stands for it. "+
			"The caller needs nothing but that line as the last answer:\n%s", reference)}.encode()
	}
	return nil
}

// replaced returns an object with another value for one of its keys; all else stays.
func (e *Event) replaced(object json.RawMessage, key string, value any) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	text, err := json.Marshal(value)
	if json.Unmarshal(object, &fields) != nil || fields[key] == nil || err != nil {
		return nil
	}
	fields[key] = text
	return fields
}

// replacedContent returns the result of a call with a reference in place of its texts:
// of the same shape, since another is not taken.
func (e *Event) replacedContent(reference string) map[string]json.RawMessage {
	var answer struct{ Content json.RawMessage }
	var blocks []json.RawMessage
	if json.Unmarshal(e.response, &answer) != nil {
		return nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(answer.Content), []byte(`"`)) {
		return e.replaced(e.response, "content", reference)
	}
	if json.Unmarshal(answer.Content, &blocks) != nil {
		return nil
	}
	kept, placed := []json.RawMessage{}, false
	for _, raw := range blocks {
		var b block
		isText := json.Unmarshal(raw, &b) == nil && b.Type == "text" && !strings.HasPrefix(b.Text, trailer)
		if isText && !placed {
			raw, _ = json.Marshal(block{"text", reference}) // two texts
		}
		if !isText || !placed {
			kept = append(kept, raw)
		}
		placed = placed || isText
	}
	if !placed {
		return nil
	}
	return e.replaced(e.response, "content", kept)
}
