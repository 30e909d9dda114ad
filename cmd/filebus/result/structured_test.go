package result_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"filebus/cmd/filebus/result"
	"filebus/store"
)

func TestFindObject(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	fence := "```"
	tests := []struct{ name, output, object, problem string }{
		{"whole", " {\"a\": 1}\n", `{"a": 1}`, ""},
		{"byte order mark", "\ufeff{\"a\": 1}", `{"a": 1}`, ""},
		{"fence", "Here:\n\n" + fence + "json\n{\"a\": 1}\n" + fence + "\nThat is all: {\"b\": 2}\n", `{"a": 1}`, ""},
		{"last of two fences", fence + "json\n{\"a\": 1}\n" + fence + "\n" + fence + "\n{\"b\": 2}\n" + fence + "\n", `{"b": 2}`, ""},
		{"fence of other things", fence + "go\nx := map[string]int{\"a\": 1}\n" + fence + "\n{\"b\": 2}\n", `{"b": 2}`, ""},
		{"within text", "The result is {\"a\": {\"b\": 2}} as asked.\n", `{"a": {"b": 2}}`, ""},
		{"the last", "{\"a\": 1}\n{\"b\": {\"c\": 3}}\n", `{"b": {"c": 3}}`, ""},
		{"braces in strings", `note {x} then {"a": "}{"} end {}`, `{"a": "}{"}`, ""},
		{"after a broken one", "use {\"like this\n{\"a\": 1}\n", `{"a": 1}`, ""},
		{"not what is within a broken one", "text {\"a\": [{\"b\": 1}, {\"c\": 2}\n", "", "broken JSON at 2:1: the JSON ends too early"},
		{"broken fence", "Here:\n" + fence + "json\n{\"a\": 1,}\n" + fence + "\n", "", "broken JSON at 3:9: invalid character '}' looking for beginning of object key string"},
		{"open fence", fence + "json\n{\"a\": 1}", `{"a": 1}`, ""},
		{"broken from the start", "{\"a\": 1,, \"b\": {\"c\": 1}}", "", "broken JSON at 1:9: invalid character ','"},
		{"then prose", "{\"a\": 1}\n\nI hope this helps.", `{"a": 1}`, ""},
		{"prose", "No object here, {} is empty.", "", "no JSON object in the output"},
		{"empty", "\n", "", "no JSON object in the output, which is empty"},
		{"only open braces", strings.Repeat(`{"`, 1<<20), "", "broken JSON"},
		{"nested and open", "x " + strings.Repeat(`{"a":`, 1<<20), "", "the JSON ends too early"},
		{"much Go", strings.Repeat("func f() { return }\n", 50_000) + `{"a": 1}`, `{"a": 1}`, ""},
	}
	for _, test := range tests {
		got, problem := result.FindObject([]byte(test.output))
		message := ""
		if problem != nil {
			message = problem.Message
		}
		if string(got) != test.object || (message == "") != (test.problem == "") || !strings.Contains(message, test.problem) {
			t.Errorf("%s: FindObject(%.200q)\n got %q, problem %q\nwant %q, problem %q", test.name, test.output, got, message, test.object, test.problem)
		}
	}
}

func TestPutStructured(t *testing.T) {
	t.Parallel()
	schema := parse(t, `[{"name": "path", "type": "string"}]`)
	large := `{"path": "a", "summary": "Large.", "data": "` + strings.Repeat("x", 9<<20) + `"}`
	tests := []struct {
		name    string
		call    result.Call
		output  string
		status  string
		preview string
		problem string // of the first
	}{
		{"not asked for", result.Call{}, "text {\"summary\": \"S.\"}", "", `text {"summary": "S."}`, ""},
		{"structured", result.Call{Structured: true}, "text {\"summary\": \"S.\"}", "", "S.", ""},
		{"summary on two lines", result.Call{Structured: true}, `{"summary": "one\n two"}`, "", "one two", ""},
		{"no object", result.Call{Structured: true}, "text", "invalid", "[invalid] text", "no JSON object in the output"},
		{"empty", result.Call{Structured: true}, "", "invalid", "[invalid] (no output)", "no JSON object in the output, which is empty"},
		{"no summary", result.Call{Structured: true}, `{"a": 1}`, "", `{"a": 1}`, ""},
		{"fits", result.Call{Schema: schema}, `{"path": "a.go", "summary": "S."}`, "", "S.", ""},
		{"does not fit", result.Call{Schema: schema}, `{"path": 1, "summary": "S."}`, "invalid", "[invalid] S.",
			"/path: Value is integer but should be string"},
		{"the agent's own word", result.Call{Schema: schema, Status: "final"}, `{"path": 1, "summary": "S."}`,
			"invalid", "[invalid] S.", "/path: Value is integer but should be string"},
		{"failed already", result.Call{Schema: schema, Status: "failed"}, `{"summary": "S."}`, "failed", "[failed] S.",
			`Required property 'path' is missing`},
		{"too large", result.Call{Schema: schema}, large, "invalid", "[invalid] Large.", "the output has more than 8388608 bytes: no JSON object was looked for"},
		{"binary", result.Call{Structured: true}, "\x00\x01", "invalid", "[invalid] (binary, 2 bytes)", "no JSON object in the output"},
	}
	w := newWorkspace(t)
	for _, test := range tests {
		// A reader without a size, as a pipe is.
		stored, err := result.Put(t.Context(), w, test.call, store.Expect{}, io.MultiReader(strings.NewReader(test.output)))
		if err != nil {
			t.Fatalf("%s: Put: %v", test.name, err)
		}
		first := ""
		if len(stored.Problems) > 0 {
			first = stored.Problems[0]
		}
		if got := stored.Record.Status; got != test.status || stored.Reference().Preview != test.preview || first != test.problem {
			t.Errorf("%s: Put(%.100q)\n got status %q, preview %q, problem %q\nwant status %q, preview %q, problem %q",
				test.name, test.output, got, stored.Reference().Preview, first, test.status, test.preview, test.problem)
		}
		if text, err := os.ReadFile(stored.File); err != nil || string(text) != test.output {
			t.Errorf("%s: the file has %d bytes, %v; want the %d of the output", test.name, len(text), err, len(test.output))
		}
	}
}

// TestPutStructuredFailedRead makes sure that an output which cannot be read to
// its end is an error, and nothing is stored.
func TestPutStructuredFailedRead(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	broken := errors.New("the pipe broke")
	call := result.Call{Structured: true, Conversation: "c", ID: "k"}
	_, err := result.Put(t.Context(), w, call, store.Expect{}, io.MultiReader(strings.NewReader("{"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("Put from a broken pipe: %v, want %v", err, broken)
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{"path": "a.go", "summary": "S.", "severity": "low"}`, "Here:\n```json\n{\"path\": 1}\n```\n", `text {"at": {"page": "x"}} {`, "{\"\": [1, -0.5e3, \"\\u00e4\\\"\"]}",
	} {
		f.Add([]byte(seed))
	}
	schemas := []*result.Schema{parse(f, listSchema), parse(f, jsonSchema)}
	f.Fuzz(func(t *testing.T, output []byte) {
		object, problem := result.FindObject(output)
		if (problem == nil) != (json.Valid(object) && strings.HasPrefix(string(object), "{") && strings.Contains(string(output), string(object))) {
			t.Fatalf("FindObject(%q) = %q, %v", output, object, problem)
		}
		for _, schema := range schemas {
			for _, p := range schema.Check(output) {
				if line := p.Error(); line == "" || strings.ContainsAny(p.Message, "\r\n") {
					t.Errorf("Check(%q) has the problem %q, which is no line", output, line)
				}
			}
		}
	})
}
