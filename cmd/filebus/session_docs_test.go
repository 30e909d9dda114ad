package main

import (
	"reflect"
	"strings"
	"testing"

	sessions "filebus/cmd/filebus/session"
)

// TestDocumentedSessionJSON compares the JSON of commands that have another one for
// sessions with docs/cli.md.
func TestDocumentedSessionJSON(t *testing.T) {
	documented := sectionsOf(readDocument(t, "docs/cli.md"), 3)
	for _, test := range []struct {
		command string
		value   any
	}{
		{"filebus materialize", sessions.LaidOut{}},
		{"filebus session replay", sessions.LaidOut{}},
		{"filebus session replay", sessions.SessionStepsJSON{}},
		{"filebus budget", sessions.Savings{}},
	} {
		want := jsonShape(reflect.TypeOf(test.value))
		own := strings.Join(strings.Fields(documented[test.command]), " ")
		if !strings.Contains(own+jsonOf(documented, test.command), "`"+want+"`") {
			t.Errorf("docs/cli.md, %s: does not have\n`%s`", test.command, want)
		}
	}
}
