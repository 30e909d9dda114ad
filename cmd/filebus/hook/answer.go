package hook

import "encoding/json"

// An object is one of which only some keys are known.
type object map[string]json.RawMessage

// encoded returns an answer as the client reads it: one object, and nothing besides.
func encoded(answer map[string]any) []byte {
	text, _ := json.Marshal(answer) // it has only texts, and what was JSON before
	return append(text, '\n')
}

// specific returns the answer with what only the event takes.
func (e *Event) specific(key string, value any) []byte {
	return encoded(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": e.Name, key: value}})
}

// Context returns the answer that adds a text to what the session's agent sees.
func (e *Event) Context(text string) []byte { return e.specific("additionalContext", text) }

// Answer returns the answer that puts a reference in place of the report, or nothing if what the event has is
// not of a shape that is known. All else stays: another shape is not taken.
func (e *Event) Answer(by Replacement, reference string) []byte {
	var fields map[string]json.RawMessage
	key, value := "message", any(reference)
	switch by {
	case Ask:
		return encoded(map[string]any{"decision": "block", "reason": "The report is stored whole, and the line below " +
			"stands for it. The caller needs nothing but that line as the last answer:\n" + reference})
	case Input:
		_ = json.Unmarshal(e.Input, &fields) // it was read before
	case Output:
		_ = json.Unmarshal(e.Response, &fields) // as was this
		key, value = "content", replaced(fields["content"], reference)
	}
	if fields[key] == nil {
		return nil
	}
	fields[key], _ = json.Marshal(value) // as in encoded
	return e.specific(string(by), fields)
}

// replaced returns a content with a reference in place of its texts.
func replaced(content json.RawMessage, reference string) any {
	var blocks []json.RawMessage
	if json.Unmarshal(content, &blocks) != nil { // it is one text
		return reference
	}
	kept := []any{map[string]string{"type": "text", "text": reference}}
	for _, raw := range blocks {
		var b struct{ Type string }
		if _ = json.Unmarshal(raw, &b); b.Type != "text" {
			kept = append(kept, raw)
		}
	}
	return kept
}
