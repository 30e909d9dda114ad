package result_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// ticking returns a clock that moves one second with every look.
func ticking() func() time.Time {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// talkingDesk has two conversations of its own and one of a captured tree.
func talkingDesk(t testing.TB) *desk {
	d := deskIn(t, materialize.Settings{}, ticking())
	d.put("c1/first", "Web Researcher", "# One\n\nThe first result.\n")
	d.put("c2/only", "outliner", "An outline.\n")
	d.put("c1/second", "web-researcher", "The second result.\n")
	d.put("c1/third", "editor", "The third result.\n")
	d.put("c1/hidden", "editor", "Never mind.\n")
	if err := d.Remove(t.Context(), record.Name{Kind: record.KindResult, ID: "c1/hidden"}); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "lib")
	file := filepath.Join(other, ".claude", "agent_tool_results", "c1", "theirs.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("Captured.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Capture(t.Context(), other, materialize.CaptureOptions{Tree: "lib"}); err != nil {
		t.Fatal(err)
	}
	return d
}

// names shows conversations as String does.
func names(page []result.Conversation) []string {
	var list []string
	for _, c := range page {
		list = append(list, c.String())
	}
	return list
}

func TestConversations(t *testing.T) {
	t.Parallel()
	d := talkingDesk(t)
	_, calls, err := result.Calls(t.Context(), d.Workspace, d.read, "c2")
	if err != nil || len(calls) != 1 {
		t.Fatalf("Calls(c2): %d, %v", len(calls), err)
	}
	second := calls[0].Time.Add(time.Nanosecond)
	tests := []struct {
		request query.ListRequest
		want    []string
		more    int
	}{
		{query.ListRequest{}, []string{"lib:c1", "c1", "c2"}, 0},
		{query.ListRequest{Limit: 3}, []string{"lib:c1", "c1", "c2"}, 0},
		{query.ListRequest{Limit: 2}, []string{"lib:c1", "c1"}, 1},
		{query.ListRequest{Limit: 1, Offset: 1}, []string{"c1"}, 1},
		{query.ListRequest{Offset: 5}, nil, 0},
		{query.ListRequest{Filter: record.Filter{Trees: []record.Tree{""}}}, []string{"c1", "c2"}, 0},
		{query.ListRequest{Filter: record.Filter{Trees: []record.Tree{"lib"}}}, []string{"lib:c1"}, 0},
		{query.ListRequest{Filter: record.Filter{Agents: record.Any("outliner")}}, []string{"c2"}, 0},
		{query.ListRequest{Filter: record.Filter{Agents: record.Any("nobody")}}, nil, 0},
		{query.ListRequest{Filter: record.Filter{Trees: []record.Tree{""}, Since: second}}, []string{"c1"},
			0},
		{query.ListRequest{Filter: record.Filter{Trees: []record.Tree{""}, Until: second}},
			[]string{"c2", "c1"}, 0},
	}
	for _, test := range tests {
		page, more, err := result.Conversations(t.Context(), d.Workspace, d.read, test.request.Filter, test.request.Limit, test.request.Offset)
		if diff := cmp.Diff(test.want, names(page)); diff != "" || more != test.more || err != nil {
			t.Errorf("Conversations(%+v): more %d, %v (-want +got):\n%s", test.request, more, err, diff)
		}
	}
	page, _, err := result.Conversations(t.Context(), d.Workspace, d.read,
		record.Filter{Agents: record.Any("editor")}, 0, 0)
	if err != nil || len(page) != 1 {
		t.Fatalf("Conversations of the editor: %d, %v", len(page), err)
	}
	got := page[0]
	want := result.Conversation{ID: "c1", Results: 3, Agents: []string{"editor", "web_researcher"}, Words: 11, Tokens: 7 + 5 + 5, Inline: 17, References: got.References, First: got.First, Last: got.Last}
	if diff := cmp.Diff(want, got); diff != "" || !got.First.Before(got.Last) {
		t.Errorf("the figures of c1, from %s to %s (-want +got):\n%s", got.First, got.Last, diff)
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	d := talkingDesk(t)
	first := record.Name{Kind: record.KindResult, ID: "c1/first"}
	if _, err := d.Tag(t.Context(), first, []string{"read"}, nil); err != nil { // it stays the first
		t.Fatal(err)
	}
	tests := []struct {
		text string
		want []record.Reference
	}{
		{"c1", []record.Reference{
			{Agent: "web_researcher", ResultFile: "c1/first.md", WordCount: 5, Preview: "The first result."},
			{Agent: "web_researcher", ResultFile: "c1/second.md", WordCount: 3, Preview: "The second result."},
			{Agent: "editor", ResultFile: "c1/third.md", WordCount: 3, Preview: "The third result."},
		}},
		{"lib:c1", []record.Reference{
			{ResultFile: ".claude/agent_tool_results/c1/theirs.md", WordCount: 1, Preview: "Captured."},
		}},
	}
	for _, test := range tests {
		c, calls, err := result.Calls(t.Context(), d.Workspace, d.read, test.text)
		var got []record.Reference
		for _, call := range calls {
			got = append(got, call.Reference)
		}
		for i := range test.want {
			if test.text == "c1" {
				test.want[i].ResultFile = filepath.Join(d.Root, ".claude", "agent_tool_results", filepath.FromSlash(test.want[i].ResultFile))
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil || c.Results != len(calls) || c.String() != test.text {
			t.Errorf("Calls(%s): %+v, %v (-want +got):\n%s", test.text, c, err, diff)
		}
	}
}

// TestConversationTimes tells the same times of a conversation whether it is listed
// or shown, also after a tag has made a new version.
func TestConversationTimes(t *testing.T) {
	t.Parallel()
	d := talkingDesk(t)
	if _, err := d.Tag(t.Context(), record.Name{Kind: record.KindResult, ID: "c1/first"}, []string{"read"}, nil); err != nil {
		t.Fatal(err)
	}
	shown, calls, err := result.Calls(t.Context(), d.Workspace, d.read, "c1")
	if err != nil || len(calls) != 3 {
		t.Fatalf("Calls(c1): %d, %v", len(calls), err)
	}
	page, _, err := result.Conversations(t.Context(), d.Workspace, d.read,
		record.Filter{Trees: []record.Tree{""}}, 1, 0)
	if diff := cmp.Diff([]result.Conversation{shown}, page); diff != "" || err != nil {
		t.Errorf("Conversations: %v (-shown +listed):\n%s", err, diff)
	}
	if want := calls[2].Time; !shown.Last.Equal(want) || !shown.First.Equal(calls[0].Time) {
		t.Errorf("c1 is from %s to %s, want %s to %s", shown.First, shown.Last, calls[0].Time, want)
	}
}

func TestUnknownConversation(t *testing.T) {
	t.Parallel()
	d := talkingDesk(t)
	for _, text := range []string{"c11", "lib:c2", "nothing", ""} {
		_, _, err := result.Calls(t.Context(), d.Workspace, d.read, text)
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Calls(%q): %v, want one that is not there", text, err)
		}
	}
}

// TestConversationsAreKept holds that what is kept of conversations is what is counted anew, whatever has changed, and that
// it is what their budgets say.
func TestConversationsAreKept(t *testing.T) {
	t.Parallel()
	d := talkingDesk(t)
	name := func(id string) record.Name { return record.Name{Kind: record.KindResult, ID: id} }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	list := func() []result.Conversation {
		all, _, err := result.Conversations(t.Context(), d.Workspace, d.read, record.Filter{}, 0, 0)
		must(err)
		return all
	}
	for n, change := range []func() error{
		func() error { return nil },
		func() error { d.put("c1/more", "editor", "One more."); return nil },
		func() error { _, err := d.Tag(t.Context(), name("c1/first"), []string{"read"}, nil); return err },
		func() error { return d.Remove(t.Context(), name("c1/more")) },
		func() error { return d.Remove(t.Context(), name("c2/only")) },
		func() error { d.put("c3/a", "editor", "Another one."); return nil },
	} {
		list()
		must(change())
		kept := list()
		must(os.Remove(filepath.Join(d.Location.Store, "conversations.json")))
		if diff := cmp.Diff(list(), kept); diff != "" {
			t.Errorf("change %d (-counted +kept):\n%s", n, diff)
		}
		for _, c := range kept {
			b, err := result.BudgetOf(t.Context(), d.Workspace, d.read, c.String())
			if err != nil || b.Tokens != c.Inline || b.ReferenceTokens != c.References {
				t.Errorf("change %d: %s has %d and %d tokens, its budget %d and %d, %v", n, c, c.Inline, c.References, b.Tokens, b.ReferenceTokens, err)
			}
		}
	}
}
