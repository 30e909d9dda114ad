package task

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
)

// TestHandoffFiles gives files with all three flags: the handoff always names them
// in the same order, so that the same line again changes nothing.
func TestHandoffFiles(t *testing.T) {
	opts := handoffFlags{Files: []string{"a", " "}, Created: []string{"b"}, Modified: []string{"c", "d"}}
	want := []layout.HandoffFile{{Path: "a"}, {Path: "b", Change: "created"}, {Path: "c", Change: "modified"}, {Path: "d", Change: "modified"}}
	for range 50 {
		if diff := cmp.Diff(want, opts.fields("").Files); diff != "" {
			t.Fatalf("files of %+v (-want +got):\n%s", opts, diff)
		}
	}
}
