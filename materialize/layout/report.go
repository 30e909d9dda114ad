package layout

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// reports is the layout of JSON reports, which are of the kind of a task's handoff.
// They have many shapes: of 17 by agents that were given one schema, no key was in
// all of them. What gives no fact stays in the text.
var reports = &single{record.KindHandoff, reportFacts}

// reportFacts reads a report, whose keys may have several names and any type: a model
// is text or an object with a name, notes are text or a list. Text that is not one
// JSON object is reported with its line.
func reportFacts(_ string, text []byte) (f Facts, problems []*SyntaxError) {
	var fields jsonFields
	if problem := markdown.DecodeJSON(text, &fields); problem != nil {
		return f, []*SyntaxError{problem}
	}
	for _, key := range []string{"task_metadata", "metadata", "report"} { // what they keep of themselves
		var inner jsonFields
		if json.Unmarshal(fields[key], &inner) == nil && inner != nil {
			maps.Copy(inner, fields)
			fields = inner
		}
	}
	first := fields.text // the names under which agents given one schema wrote the same thing
	f = Facts{
		Task:    TaskID(first("task_id", "task", "id")),
		Loop:    word(first("loop_number", "loop")),
		Run:     word(first("run_id", "run")),
		Agent:   word(first("agent", "agent_type", "agent_name")),
		Status:  NormalizeStatus(first("status", "outcome", "result", "completion_status")),
		Title:   titleOf(first("title", "task_title", "task_name", "name", "objective")),
		Summary: summaryOf(first("summary", "notes", "implementation_summary", "description", "objective")),
	}
	if f.Title == "" && f.Task != "" { // the first line of JSON is no title
		f.Title = "Report on " + markdown.Clip(f.Task, 100)
	}
	f.setFact(attributeModel, first("model", "model_used"))
	return f, nil
}

// jsonFields are the values of a JSON object, which may be of any type.
type jsonFields map[string]json.RawMessage

// text returns the first of the values with some keys that says something as text.
func (f jsonFields) text(keys ...string) string {
	for _, key := range keys {
		if value := jsonText(f[key]); value != "" {
			return value
		}
	}
	return ""
}

// jsonText returns a value as text: a string or number, the name or first
// element of what holds more, or "".
func jsonText(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		return strings.TrimSpace(markdown.StringIn(raw))
	case '{':
		var named jsonFields
		_ = json.Unmarshal(raw, &named) // what is broken says nothing
		return named.text("name", "status", "approach")
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list[0]) == 0 || list[0][0] != '"' {
			return ""
		}
		return jsonText(list[0])
	case 'n', 't', 'f': // null, true and false say nothing as a text
		return ""
	}
	return string(raw)
}
