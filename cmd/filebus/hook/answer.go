package hook

import "encoding/json"

// An object is one of which only some keys are known.
type object map[string]json.RawMessage

// encoded returns an answer as the client reads it: one object, and nothing besides.
func encoded(answer map[string]any) []byte {
	text, err := json.Marshal(answer)
	if err != nil {
		return nil // it changes nothing then
	}
	return append(text, '\n')
}

// specific returns the answer with what only the event takes.
func (e *Event) specific(key string, value any) []byte {
	return encoded(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": e.Name, key: value}})
}

// Context returns the answer that adds a text to what the session's agent sees.
func (e *Event) Context(text string) []byte { return e.specific("additionalContext", text) }

// Answer returns the answer that puts a reference in place of the report, or nothing if what the event has is
// not of a shape that is known.
func (e *Event) Answer(by Replacement, reference string) []byte {
	switch by {
	case Input:
		if input := replaced(e.Input, "message", reference); input != nil {
			return e.specific("updatedInput", input)
		}
	case Output:
		if output := e.replacedContent(reference); output != nil {
			return e.specific("updatedToolOutput", output)
		}
	case Ask:
		return encoded(map[string]any{"decision": "block", "reason": "The report is stored whole, and the line below " +
			"stands for it. The caller needs nothing but that line as the last answer:\n" + reference})
	}
	return nil
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
	_ = json.Unmarshal(e.Response, &answer) // it was read before
	if json.Unmarshal(answer.Content, &blocks) != nil {
		return replaced(e.Response, "content", reference) // it is one text
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
