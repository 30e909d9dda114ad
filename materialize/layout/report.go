package layout

import (
	"cmp"
	"encoding/json"
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
	if problem := markdown.DecodeJSON(text, new(map[string]json.RawMessage)); problem != nil {
		return f, []*SyntaxError{problem}
	}
	root, _ := markdown.ParseValue(text, nil) // it is JSON
	kept := []*markdown.Value{root}           // and what they keep of themselves
	for _, key := range []string{"task_metadata", "metadata", "report"} {
		kept = append(kept, root.Member(key))
	}
	first := func(keys ...string) string { // the names under which agents given one schema wrote the same thing
		return cmp.Or(markdown.Each(keys, func(key string) string {
			return cmp.Or(markdown.Each(kept, func(v *markdown.Value) string { return jsonText(v.Member(key)) })...)
		})...)
	}
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

// jsonText returns a value as text: a string or number, the name or first element of what holds more, or "".
func jsonText(v *markdown.Value) string {
	switch data := v.Data().(type) {
	case string:
		return strings.TrimSpace(data)
	case json.Number:
		return data.String()
	case map[string]any:
		return cmp.Or(jsonText(v.Member("name")), jsonText(v.Member("status")), jsonText(v.Member("approach")))
	case []any:
		if _, isText := append(data, nil)[0].(string); isText {
			return jsonText(v.Inner[0])
		}
	}
	return ""
}
