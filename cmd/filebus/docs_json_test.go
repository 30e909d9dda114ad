package main

import (
	"cmp"
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/dialogue"
	"filebus/cmd/filebus/issue"
	"filebus/cmd/filebus/knowledge"
	"filebus/cmd/filebus/result"
	"filebus/cmd/filebus/rule"
	runs "filebus/cmd/filebus/run"
	sessions "filebus/cmd/filebus/session"
	"filebus/cmd/filebus/setup"
	"filebus/cmd/filebus/task"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/remote"
	"filebus/query"
	"filebus/store/bundle"
	"filebus/store/record"
)

// jsonShapes lists what each command prints with --json.
func jsonShapes() map[string]any {
	tags := knowledge.TagsJSON{}
	return map[string]any{
		"filebus init":                initView{},
		"filebus config":              configView{},
		"filebus config get":          settingView{},
		"filebus trust":               trustView{},
		"filebus install":             setup.Plan{},
		"filebus uninstall":           setup.Plan{},
		"filebus put":                 materialize.PutResult{},
		"filebus bundle create":       bundle.Written{},
		"filebus bundle apply":        materialize.Applied{},
		"filebus remote add":          remoteView{},
		"filebus remote list":         remotesJSON{},
		"filebus remote status":       remote.Status{},
		"filebus remote trust":        trusteesJSON{},
		"filebus push":                remote.Pushed{},
		"filebus pull":                remote.Pulled{},
		"filebus replicate":           replicatedJSON{},
		"filebus backup":              materialize.Backup{},
		"filebus restore":             materialize.Restored{},
		"filebus tag":                 tags,
		"filebus tag list":            tags,
		"filebus tag add":             materialize.PutResult{},
		"filebus rm":                  removedJSON{},
		"filebus tag remove":          materialize.PutResult{},
		"filebus capture":             materialize.CaptureReport{},
		"filebus sync":                syncJSON{},
		"filebus scan":                scanJSON{},
		"filebus materialize":         materialize.LayOutReport{},
		"filebus conflicts":           conflictsJSON[conflictView]{},
		"filebus get":                 cli.BodyJSON{},
		"filebus show":                query.Detail{},
		"filebus list":                query.Listing{},
		"filebus conversation list":   result.ConversationsJSON{},
		"filebus conversation show":   result.CallsJSON{},
		"filebus budget":              result.Budget{},
		"filebus search":              searchJSON{},
		"filebus knowledge list":      knowledge.KnowledgeListJSON{},
		"filebus knowledge show":      cli.BodyJSON{},
		"filebus knowledge tags":      tags,
		"filebus knowledge add":       knowledge.KnowledgeChangeJSON{},
		"filebus knowledge edit":      knowledge.KnowledgeChangeJSON{},
		"filebus knowledge supersede": knowledge.KnowledgeChangeJSON{},
		"filebus knowledge link":      knowledge.LinkJSON{},
		"filebus knowledge related":   knowledge.RelatedListJSON{},
		"filebus knowledge harvest":   knowledge.HarvestJSON{},
		"filebus component touch":     knowledge.TouchedJSON{},
		"filebus component show":      knowledge.ComponentListJSON{},
		"filebus component for":       knowledge.ComponentForJSON{},
		"filebus task start":          task.Started{},
		"filebus task prompt":         task.Prompt{},
		"filebus task note":           task.TaskNoteJSON{},
		"filebus task handoff":        task.Finished{},
		"filebus task done":           task.Finished{},
		"filebus task fail":           task.Finished{},
		"filebus task block":          task.Finished{},
		"filebus task show":           task.TaskShowJSON{},
		"filebus task list":           task.TaskListJSON{},
		"filebus handoff":             handoffJSON{},
		"filebus layout check":        layoutCheck{},
		"filebus wait":                task.WaitJSON{},
		"filebus dialogue new":        dialogue.Made{},
		"filebus dialogue list":       dialogue.DialogueListJSON{},
		"filebus dialogue prompt":     dialogue.DialoguePrompts{},
		"filebus dialogue wait":       dialogue.DialogueRound{},
		"filebus issue add":           issue.IssueAddedJSON{},
		"filebus issue list": struct {
			Issues []issue.Issue `json:"issues"`
			More   int           `json:"more,omitempty"`
		}{},
		"filebus issue show":             issue.Issue{},
		"filebus dialogue check":         dialogue.DialogueCheckJSON{},
		"filebus dialogue score":         dialogue.DialogueScoreJSON{},
		"filebus dialogue judge":         dialogue.Judgement{},
		"filebus status":                 statusJSON{},
		"filebus run start":              runs.Outcome{},
		"filebus run loop":               runs.Outcome{},
		"filebus run end":                runs.Outcome{},
		"filebus run agent start":        layout.Agent{},
		"filebus run agent done":         layout.Agent{},
		"filebus run show":               runs.View{},
		"filebus snapshot take":          runs.Snapshot{},
		"filebus snapshot list":          runs.SnapshotListJSON{},
		"filebus snapshot show":          runs.Snapshot{},
		"filebus snapshot restore-state": runs.Restored{},
		"filebus session start":          sessions.Started{},
		"filebus session put":            record.Reference{},
		"filebus session list":           sessions.SessionListJSON{},
		"filebus session show":           sessions.SessionShowJSON{},
		"filebus session path":           sessions.SessionPathJSON{},
		"filebus session check":          sessions.SessionCheckJSON{},
		"filebus session summary":        sessions.SessionSummaryJSON{},
		"filebus session log":            sessions.SessionLogJSON{},
		"filebus session end":            sessions.SessionEndJSON{},
		"filebus session archive":        sessions.Archived{},
		"filebus preview":                previewJSON{},
		"filebus dialogue markers":       dialogue.MarkersJSON{},
		"filebus dialogue assemble":      dialogue.Assembled{},
		"filebus dialogue lint":          dialogue.LintJSON{},
		"filebus schema check":           result.CheckJSON{},
		"filebus log":                    logLine{},
		"filebus verify":                 verifyJSON{},
		"filebus version":                buildJSON{},
		"Output":                         map[string]cli.Notice{"notice": {}},
		"Errors":                         map[string]cli.Failure{"error": {}},
	}
}

// namedShapes are the objects that the page shows once: the word that stands for each
// where another one holds it.
func namedShapes() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[query.Summary]():         "record",
		reflect.TypeFor[rule.Finding]():          "finding",
		reflect.TypeFor[materialize.PutResult](): "stored",
		reflect.TypeFor[materialize.Backup]():    "backup",
		reflect.TypeFor[configView]():            "config",
		reflect.TypeFor[issue.Issue]():           "issue",
		reflect.TypeFor[layout.Agent]():          "agent",
		reflect.TypeFor[remoteView]():            "remote",
		reflect.TypeFor[remote.Pulled]():         "pulled",
		reflect.TypeFor[remote.Pushed]():         "pushed",
		reflect.TypeFor[result.Conversation]():   "conversation",
		reflect.TypeFor[runs.Snapshot]():         "snapshot",
		reflect.TypeFor[sessions.Session]():      "session",
	}
}

func TestDocumentedJSON(t *testing.T) {
	text := readDocument(t, "docs/cli.md")
	for named, name := range namedShapes() {
		if shape := wholeShape(named); !strings.Contains(strings.Join(strings.Fields(text), " "), "`"+shape+"`") {
			t.Errorf("docs/cli.md: does not have what %s is:\n`%s`", name, shape)
		}
	}
	documented := sectionsOf(text, 3)
	maps.Copy(documented, sectionsOf(text, 2))
	for place, value := range jsonShapes() {
		want := wholeShape(reflect.TypeOf(value))
		switch m := value.(type) {
		case map[string]cli.Failure:
			want = "{error: " + jsonShape(reflect.TypeOf(m["error"])) + "}"
		case map[string]cli.Notice:
			want = "{notice: " + jsonShape(reflect.TypeOf(m["notice"])) + "}"
		}
		if !strings.Contains(jsonOf(documented, place), "`"+want+"`") {
			t.Errorf("docs/cli.md, %s: does not have\n`%s`", place, want)
		}
	}
	reference := jsonShape(reflect.TypeFor[record.Reference]())
	if !strings.Contains(documented["filebus put"], "`"+reference+"`") {
		t.Errorf("docs/cli.md, filebus put: does not have `%s`", reference)
	}
}

// jsonOf returns the section of a command in one line, or the one that it refers to for
// its JSON.
func jsonOf(documented map[string]string, place string) string {
	if other := regexp.MustCompile("(?m)^JSON: as for `([a-z ]+)`").FindStringSubmatch(documented[place]); other != nil {
		place = "filebus " + other[1]
	}
	return strings.Join(strings.Fields(documented[place]), " ")
}

// jsonShape writes what a type looks like in JSON: the keys of objects, those that
// may be missing with a question mark, and [ ] around what lists hold.
func jsonShape(t reflect.Type) string {
	textual := reflect.TypeFor[encoding.TextMarshaler]()
	switch {
	case t.Implements(textual) || reflect.PointerTo(t).Implements(textual) ||
		t.Implements(reflect.TypeFor[json.Marshaler]()):
		return ""
	case namedShapes()[t] != "":
		return namedShapes()[t]
	case t.Kind() == reflect.Pointer:
		return jsonShape(t.Elem())
	case t.Kind() == reflect.Slice:
		return "[" + jsonShape(t.Elem()) + "]"
	case t.Kind() == reflect.Map:
		return "{}"
	case t.Kind() == reflect.Struct:
		return wholeShape(t)
	}
	return ""
}

// wholeShape writes a type that has a name, too.
func wholeShape(t reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return jsonShape(t)
	}
	return "{" + strings.Join(jsonKeys(t), ", ") + "}"
}

func jsonKeys(t reflect.Type) []string {
	var all []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && namedShapes()[f.Type] != "":
			all = append(all, "..."+namedShapes()[f.Type])
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer: // all of it may be missing
			for _, key := range jsonKeys(f.Type.Elem()) {
				all = append(all, strings.TrimSuffix(key, "?")+"?")
			}
			continue
		case f.Anonymous && name == "":
			all = append(all, jsonKeys(f.Type)...)
			continue
		}
		key := cmp.Or(name, f.Name)
		if strings.HasPrefix(option, "omitempty") || option == "omitzero" {
			key += "?"
		}
		if inner := jsonShape(f.Type); inner != "" && inner != "[]" && inner != "{}" {
			key += ": " + inner
		}
		all = append(all, key)
	}
	return all
}

func TestJSONShape(t *testing.T) {
	type inner struct {
		A string `json:"a"`
	}
	type outer struct {
		inner
		B    []inner           `json:"b,omitempty"`
		C    *inner            `json:"c"`
		D    map[string]string `json:"d"`
		Time time.Time         `json:"time"`
		E    int               `json:"-"`
	}
	if got, want := jsonShape(reflect.TypeFor[[]outer]()), "[{a, b?: [{a}], c: {a}, d, time}]"; got != want {
		t.Errorf("jsonShape([]outer) = %s, want %s", got, want)
	}
}
