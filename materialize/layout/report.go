package layout

import (
	"bytes"
	"encoding/json"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// A report is what filebus reads of an agent's report on one task in one loop.
// Reports are JSON of many shapes: of 17 by agents that were given one schema, no
// key was in all of them. What has no field here stays in the text.
type report struct {
	Task    string
	Loop    string
	Run     string
	Agent   string
	Status  string // as written
	Model   string
	Title   string
	Summary string
}

// Reports is the layout of JSON reports: one record a file, of the kind of a
// task's handoff.
type Reports struct{}

// Parse makes the whole file one handoff record. Text that is not one JSON
// object is reported with its line and gives no facts.
func (Reports) Parse(path string, text []byte) (File, []*SyntaxError) {
	r, problems := parseReport(text)
	f := Facts{
		Task: TaskID(r.Task), Loop: word(r.Loop), Run: word(r.Run), Agent: word(r.Agent),
		Status: NormalizeStatus(r.Status), Summary: summaryOf(r.Summary),
		Title: markdown.Clip(markdown.CollapseSpace(r.Title), 120),
	}
	if f.Title == "" && f.Task != "" { // the first line of JSON is no title
		f.Title = "Report on " + markdown.Clip(f.Task, 100)
	}
	f.setFact(attributeModel, r.Model)
	return single(path, record.KindHandoff, text, f), inFile(path, problems)
}

// parseReport reads a report, whose keys may have several names and any type:
// a model is text or an object with a name, notes are text or a list.
func parseReport(text []byte) (report, []*SyntaxError) {
	var fields map[string]json.RawMessage
	if problem := markdown.DecodeJSON(text, &fields); problem != nil {
		return report{}, []*SyntaxError{problem}
	}
	// The names under which agents given one schema wrote the same thing.
	first := func(keys ...string) string {
		for _, key := range keys {
			if value := jsonText(fields[key]); value != "" {
				return value
			}
		}
		return ""
	}
	return report{
		Task:    first("task_id", "task", "id"),
		Loop:    first("loop_number", "loop"),
		Run:     first("run_id", "run"),
		Agent:   first("agent", "agent_type", "agent_name"),
		Status:  first("status", "outcome", "result"),
		Model:   first("model", "model_used"),
		Title:   first("title", "task_title", "task_name", "name", "objective"),
		Summary: first("summary", "notes", "description", "objective"),
	}, nil
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
		var named struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &named) != nil {
			return ""
		}
		return strings.TrimSpace(named.Name)
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
