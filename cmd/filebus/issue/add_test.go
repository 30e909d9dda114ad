package issue

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
	"filebus/store/record"
)

func TestAdd(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	got := f.mustAdd(t, Reported(layout.Issue{
		Summary: "Limit\nuploads", Type: "Security", Priority: "HIGH", Source: "user", Loop: "2", Complexity: "easy",
		Details: "First.\r\n\r\n## Not a heading of the queue\x1b[2J\xff", Criteria: []string{"one", " ", "two\nlines"},
		Files: []string{"src/{a,b}.go", "c.go"}, Rationale: "why", TaskRef: "task-003",
	}, "qa agent"))
	want := layout.Issue{
		ID: "ISSUE-20260302-001", Status: "pending", Source: "user", Type: "security", Priority: "high",
		Created: "2026-03-02T10:00:00Z", Loop: "2", Complexity: "easy", Summary: "Limit uploads",
		Details: "First.\n\n## Not a heading of the queue[2J\ufffd", Criteria: []string{"one", "two lines"},
		Files: []string{"src/{a,b}.go", "c.go"}, Rationale: "why", TaskRef: "task-003",
		Extra: []layout.Property{{Key: "Reported By", Value: "qa agent"}},
	}
	if diff := cmp.Diff(want, got.Issue); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if text := f.text(t); text != "# Issue Queue\n\n"+string(got.Text) {
		t.Errorf("the file is\n%s", text)
	}
	stored, err := f.Get(t.Context(), "20260302-001")
	if err != nil || string(stored.Text) != string(got.Text) {
		t.Errorf("stored %q: %v", stored.Text, err)
	}
}

func TestAddRefused(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	for _, c := range []struct {
		draft layout.Issue
		field string
	}{
		{layout.Issue{Type: "bug"}, "summary"},
		{layout.Issue{Summary: " \n", Type: "bug"}, "summary"},
		{layout.Issue{Summary: "s"}, "type"},
		{layout.Issue{Summary: "s", Type: "a | b"}, "type"},
		{layout.Issue{Summary: "s", Type: "bug", Priority: "urgent"}, "priority"},
		{layout.Issue{Summary: "s", Type: "bug", Source: "me"}, "source"},
		{layout.Issue{Summary: "s", Type: "bug", Complexity: "hard"}, "complexity"},
	} {
		_, err := f.Add(t.Context(), c.draft, false)
		if wrong := (*record.Error)(nil); !errors.As(err, &wrong) || wrong.Hint != "run it again with --{1} {2}" ||
			wrong.Names[0] != c.field {
			t.Errorf("adding %+v: %v, want field of %s", c.draft, err, c.field)
		}
	}
	_, err := f.Add(t.Context(), layout.Issue{Summary: "s", Type: "bug", Details: strings.Repeat("x", 20000)}, false)
	if !tries(err, "filebus put FILE") {
		t.Errorf("adding 20 KB: %v, want too long", err)
	}
}

// TestIDs makes ids beside those that there are, were, or are in another file.
func TestIDs(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	f.write(t, "# Issue Queue\n\n"+entry("ISSUE-20260302-007", "Status=pending")+entry("ISSUE-20260302-99999999999", "Status=pending")+
		entry("ISSUE-20260301-050", "Status=pending"))
	if id := f.mustAdd(t, layout.Issue{Summary: "a", Type: "bug"}).ID; id != "ISSUE-20260302-008" {
		t.Errorf("the id after 007 is %s", id)
	}
	if err := f.work.Remove(t.Context(), record.Name{Kind: record.KindIssue, ID: "ISSUE-20260302-008"}); err != nil {
		t.Fatal(err)
	}
	if id := f.mustAdd(t, layout.Issue{Summary: "b", Type: "bug"}).ID; id != "ISSUE-20260302-009" {
		t.Errorf("the id after one that was removed is %s", id)
	}
	f.now = f.now.In(time.FixedZone("", -12*3600)).Add(14 * time.Hour) // the next day in UTC only
	if id := f.mustAdd(t, layout.Issue{Summary: "c", Type: "bug"}).ID; id != "ISSUE-20260303-001" {
		t.Errorf("the first id of the next day is %s", id)
	}
}

// TestAddAtOnce has many goroutines add the same: with strict, one of them does.
func TestAddAtOnce(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	var group sync.WaitGroup
	var mu sync.Mutex
	added, refused := 0, 0
	for range 8 {
		group.Go(func() {
			_, err := f.Add(t.Context(), layout.Issue{Summary: "The limiter leaks memory", Type: "bug"}, true)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				added++
			case tries(err, "run it again with --merge {1}, or"):
				refused++
			default:
				t.Errorf("adding: %v", err)
			}
		})
	}
	group.Wait()
	if added != 1 || refused != 7 {
		t.Errorf("%d added and %d refused, want 1 and 7", added, refused)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	id := f.mustAdd(t, layout.Issue{Summary: "Limit uploads", Type: "bug", Priority: "low", Details: "First.", Criteria: []string{"a"}, Files: []string{"x.go"}}).ID
	more := Reported(layout.Issue{
		Summary: "Uploads too large", Type: "bug", Priority: "high", Details: "Seen again.", Criteria: []string{"a",
			"b"}, Files: []string{"y.go"},
	}, "qa")
	got, err := f.Merge(t.Context(), id, more)
	if err != nil {
		t.Fatal(err)
	}
	want := "First.\n\n**Additional report** (2026-03-02T10:00:00Z, qa): Uploads too large\n\nSeen again."
	if got.Details != want || got.Priority != "high" || fmt.Sprint(got.Criteria, got.Files) != "[a b] [x.go y.go]" {
		t.Errorf("merged:\n%s", got.Text)
	}
	if got, err = f.Merge(t.Context(), id, layout.Issue{Summary: "And again", Type: "bug",
		Priority: "low"}); err != nil || got.Priority != "high" || !strings.HasPrefix(got.Details, want) {
		t.Errorf("merged again: %v\n%s", err, got.Text)
	}
	all, err := f.List(t.Context(), Filter{})
	if err != nil || len(all) != 1 {
		t.Errorf("%d issues after merges, %v; want 1", len(all), err)
	}
	f.mustDo(t, "reject", id, noun.Act{})
	_, err = f.Merge(t.Context(), id, more)
	if closed := (*record.Error)(nil); !errors.As(err, &closed) || closed.Hint != "filebus issue {1} {2}" ||
		closed.Names[0] != "reopen" {
		t.Errorf("merging into a closed issue: %v", err)
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	hand := "# Issue Queue\r\n\r\n### ISSUE-1\r\n\r\n- **Status**: pending\r\n- **Type**:   bug\r\n- **Priority**: low\r\n- **Odd**: kept\r\n\r\n**Summary:** s\r\n\r\nfree text\r\n"
	f.write(t, hand)
	got, err := f.Edit(t.Context(), "ISSUE-1", layout.Issue{Priority: "critical", Details: "d"}, []string{"priority", "details"})
	want := strings.Replace(hand, "low", "critical", 1) + "\r\n**Details:** d\r\n"
	if diff := cmp.Diff(want, f.text(t)); diff != "" || err != nil || got.Priority != "critical" {
		t.Errorf("edited (-want +got): %v\n%s", err, diff)
	}
	if _, err = f.Edit(t.Context(), "ISSUE-1", layout.Issue{}, []string{"details"}); err != nil || strings.Contains(f.text(t), "Details") {
		t.Errorf("details taken away: %v\n%s", err, f.text(t))
	}
	_, err = f.Edit(t.Context(), "ISSUE-1", layout.Issue{}, []string{"summary"})
	if !tries(err, "run it again with --{1} {2}") {
		t.Errorf("the summary taken away: %v, want field", err)
	}
}

func TestDraftCheck(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	check := func(i layout.Issue) error { return f.Check(layout.IssueFields(), &i) }
	if err := check(layout.Issue{Summary: "s", Type: "bug"}); err != nil {
		t.Errorf("a whole draft: %v", err)
	}
	if err := check(layout.Issue{Type: "bug"}); !tries(err, "run it again with --{1} {2}") {
		t.Errorf("a draft without a summary: %v", err)
	}
	known := noun.Likeness{ID: "ISSUE-1", Summary: "s"}
	if _, err := f.Add(t.Context(), layout.Issue{Summary: "s", Type: "bug"}, true, known); !tries(err, "run it again with --merge {1}, or") {
		t.Errorf("what is known already: %v", err)
	}
}
