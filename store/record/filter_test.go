package record_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// TestFilterFields asks a filter by each of its fields: it accepts what has one of
// the values, says what they are, and picks everything again without them.
func TestFilterFields(t *testing.T) {
	r := record.Record{
		Name: record.Name{Tree: "lib", Kind: record.KindIssue, ID: "ISSUE-1"}, Tags: []string{"api",
			"slow"}, Agent: "scout",
		Conversation: "c1", Session: "s1", Task: "task-001", Run: "r1", Loop: "2", Status: "pending",
	}
	for field, has := range map[string]string{
		"kind": "issue", "tree": "lib", "tag": "slow", "agent": "scout", "conversation": "c1", "session": "s1", "task": "task-001",
		"run": "r1", "loop": "2", "status": "pending",
	} {
		if !slices.Contains(record.FilterFields(), field) {
			t.Errorf("%s is no field of a filter: %q", field, record.FilterFields())
		}
		for value, want := range map[string]bool{has: true, "note": false} {
			var f record.Filter
			if err := f.Add(field, value); err != nil {
				t.Fatalf("%s %s: %v", field, value, err)
			}
			if got := f.Accepts(&r); got != want || f.IsZero() {
				t.Errorf("%s %s: accepted %v, want %v", field, value, got, want)
			}
			if diff := cmp.Diff([]string{value}, f.Values(field)); diff != "" {
				t.Errorf("values of %s (-want +got):\n%s", field, diff)
			}
			if f.Clear(field); !f.IsZero() || !f.Accepts(&r) {
				t.Errorf("%s: %+v is left", field, f)
			}
		}
	}
}

// TestFilterNotSessions leaves out what is of some sessions, and nothing that is of none.
func TestFilterNotSessions(t *testing.T) {
	f := record.Filter{NotSessions: []string{"s1", ""}}
	for session, want := range map[string]bool{"s1": false, "s2": true, "": true} {
		r := record.Record{Name: record.Name{Kind: record.KindNote, ID: "a"}, Session: session}
		if got := f.Accepts(&r); got != want {
			t.Errorf("session %q: accepted %v, want %v", session, got, want)
		}
	}
	if f.IsZero() {
		t.Error("a filter with sessions to leave out picks everything")
	}
	if f.Clear("not-session"); !f.IsZero() {
		t.Errorf("%+v is left", f)
	}
}

// TestFilterValues adds several values: of a field any is enough, of tags all.
func TestFilterValues(t *testing.T) {
	r := record.Record{Name: record.Name{Kind: record.KindNote, ID: "a"}, Tags: []string{"api", "slow"}, Agent: "scout"}
	for _, test := range []struct {
		field  string
		values []string
		want   bool
	}{
		{"agent", []string{"other", "scout"}, true}, {"agent", []string{"other", "third"}, false},
		{"tag", []string{"api", "slow"}, true}, {"tag", []string{"api", "new"}, false},
		{"kind", []string{"note", "issue"}, true}, {"tree", []string{"lib", "."}, true}, {"tree", []string{"lib"},
			false},
	} {
		var f record.Filter
		if err := f.Add(test.field, test.values...); err != nil || f.Accepts(&r) != test.want {
			t.Errorf("%s %q: accepted %v, %v; want %v", test.field, test.values, f.Accepts(&r), err, test.want)
		}
	}
	f := record.Filter{Agents: record.Any("scout"), Tasks: record.Any("")}
	if !f.Accepts(&r) || f.Tasks != nil {
		t.Errorf("any task: %+v", f)
	}
}

// A mistake among several values adds none of them.
func TestFilterRefuses(t *testing.T) {
	for _, test := range []struct {
		field  string
		values []string
	}{
		{"kind", []string{"note", "thing"}}, {"tree", []string{"lib", "a:b"}}, {"colour", []string{"red"}}, {"", nil},
	} {
		var f record.Filter
		if err := f.Add(test.field, test.values...); err == nil || !f.IsZero() {
			t.Errorf("%s %q: %v, and the filter is %+v", test.field, test.values, err, f)
		}
	}
}

func TestFilterTime(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	r := record.Record{Name: record.Name{Kind: record.KindNote, ID: "a"}, Time: noon}
	for _, test := range []struct {
		name   string
		filter record.Filter
		want   bool
	}{
		{"since then", record.Filter{Since: noon}, true}, {"since later", record.Filter{Since: noon.Add(1)}, false},
		{"until then", record.Filter{Until: noon}, false}, {"until later", record.Filter{Until: noon.Add(1)}, true},
	} {
		if got := test.filter.Accepts(&r); got != test.want || test.filter.IsZero() {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestFilterDialogues picks the files of a dialogue by its slug, with its time or without.
func TestFilterDialogues(t *testing.T) {
	for _, test := range []struct {
		name, slug string
		want       bool
	}{
		{"turn/2026-03-02T1030Z-retry/round-0/muffin", "retry", true},
		{"turn/2026-03-02T1030Z-retry/round-0/muffin", "2026-03-02T1030Z-retry", true},
		{"turn/2026-03-02-retry/round-0/muffin", "retry", true}, {"turn/retry/round-0/muffin", "retry", true},
		{"turn/retry/round-0/muffin", "muffin", false}, {"turn/no-retry/round-0/muffin", "retry", false},
		{"dialogue/docs/2026-03-02-retry.dialogue.md", "retry", true}, {"note/retry/a.md", "retry", false},
		{"lib:turn/docs/retry/round-0/muffin", "lib:retry", true}, {"lib:turn/docs/retry/round-0/muffin", "lib:docs/retry", true},
		{"turn/retry/round-0/muffin", "lib:retry", false}, {"lib:turn/retry/round-0/muffin", "retry", true},
	} {
		name, err := record.ParseName(test.name)
		f := record.Filter{Dialogues: []string{test.slug}}
		if got := f.Accepts(&record.Record{Name: name}); got != test.want || err != nil {
			t.Errorf("%s of %s: %v, %v; want %v", test.name, test.slug, got, err, test.want)
		}
	}
}
