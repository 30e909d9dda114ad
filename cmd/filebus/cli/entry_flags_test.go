package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"filebus/materialize/layout"
)

// TestEntryFlags adds a line to a copy of the table of an issue's fields: the commands
// that add, edit and list issues offer a flag for it.
func TestEntryFlags(t *testing.T) {
	fields := layout.IssueFields().With(layout.Field[layout.Issue]{
		Name: "Severity", Values: []string{"minor", "major"}, Fact: "severity", Filter: true,
		Flag: "severity",
	})
	add := &cobra.Command{Use: "add"}
	flags := EntryFlags[layout.Issue]{Fields: fields.Inputs()}
	flags.Prepare(add)
	line := []string{"--severity", "major", "--file", "a, b.go", "--file", "c.go", "--loop", "2"}
	if err := add.ParseFlags(line); err != nil {
		t.Fatal(err)
	}
	var got layout.Issue
	given := flags.Read(&got)
	want := layout.Issue{
		Loop: "2", Files: []string{"a, b.go", "c.go"}, Extra: []layout.Property{{Key: "Severity", Value: "major"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields of the flags (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"loop", "file", "severity"}, given); diff != "" {
		t.Errorf("flags that were given (-want +got):\n%s", diff)
	}
	list := &cobra.Command{Use: "list"}
	facts := FactFlags[layout.Issue]{Fields: fields.Filters()}
	facts.Prepare(list)
	if err := list.ParseFlags([]string{"--severity", "major,minor", "--type", "bug"}); err != nil {
		t.Fatal(err)
	}
	err := facts.Check(nil, nil)
	wanted := map[string][]string{"severity": {"major", "minor"}, "type": {"bug"}, "priority": {}}
	if diff := cmp.Diff(wanted, facts.Facts); diff != "" || err != nil {
		t.Errorf("facts of the flags (-want +got):\n%s\n%v", diff, err)
	}
	if err := list.ParseFlags([]string{"--severity", "huge"}); err != nil || facts.Check(nil, nil) == nil {
		t.Errorf("--severity huge is accepted: %v", err)
	}
}
