package issue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"

	"github.com/google/go-cmp/cmp"
)

// mixed is a queue with an issue for each place of the order.
func mixed() string {
	rows := func(id string, created string, rest ...string) string {
		return entry(id, append([]string{"Created=" + created, "Type=bug"}, rest...)...)
	}
	return "# Issue Queue\n\n" +
		rows("ISSUE-20260301-009", "2026-03-01T09:00:00Z", "Status=complete", "Priority=critical") +
		rows("ISSUE-20260301-001", "2026-03-01T09:00:00Z", "Status=pending", "Priority=low") +
		rows("ISSUE-20260301-002", "2026-03-01T08:00:00Z", "Status=pending", "Priority=high") +
		rows("ISSUE-20260301-003", "", "Status=Pending", "Priority=high") + // the date of its id is older
		rows("ISSUE-20260301-004", "2026-03-01T09:00:00Z", "Priority=critical", "Assignee=agent-7") +
		rows("ISSUE-20260301-005", "2026-03-01T09:00:00Z", "Status=accepted", "Priority=low") +
		rows("ISSUE-20260301-006", "2026-03-01T09:00:00Z", "Status=in_progress", "Priority=medium", "Claimed By=a", "Lease Until=2026-03-02T09:00:00Z") +
		rows("ISSUE-20260301-007", "2026-03-01T09:00:00Z", "Status=in_progress", "Priority=medium", "Claimed By=b", "Lease Until=2026-03-02T11:00:00Z") +
		rows("ISSUE-20260301-008", "2026-03-01T09:00:00Z", "Status=blocked", "Priority=critical") +
		rows("ISSUE-20260301-010", "2026-03-01T07:00:00Z", "Status=pending", "Priority=whatever")
}

// numbers returns the last digits of the ids.
func numbers(all []Issue) string {
	var out []string
	for _, i := range all {
		out = append(out, strings.TrimLeft(i.ID[len(i.ID)-3:], "0"))
	}
	return strings.Join(out, " ")
}

func TestListOrder(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	f.write(t, mixed())
	f.sync(t)
	for _, c := range []struct {
		name   string
		filter Filter
		want   string
	}{
		{"all", Filter{}, "6 5 3 2 1 10 4 7 8 9"},
		{"open", Filter{Filter: noun.Filter{Open: true}}, "6 5 3 2 1 10 4 7 8"},
		{"status", Filter{Filter: noun.Filter{Facts: map[string][]string{"status": []string{"pending", "complete"}}}}, "3 2 1 10 4 9"},
		{"priority", Filter{Filter: noun.Filter{Facts: map[string][]string{"priority": []string{"critical"}}}}, "4 8 9"},
		{"agent", Filter{Agents: []string{"B", "Agent 7"}}, "4 7"},
		{"type", Filter{Filter: noun.Filter{Facts: map[string][]string{"type": []string{"ux"}}}}, ""},
	} {
		all, err := f.List(t.Context(), c.filter)
		if got := numbers(all); got != c.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}

// TestNextClaims takes all issues, one after another.
func TestNextClaims(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	f.write(t, mixed())
	var got []Issue
	for n := 0; ; n++ {
		next, isNext, err := f.Next(t.Context(), Filter{}, "agent")
		i, found, claimErr := f.ClaimNext(t.Context(), Filter{}, noun.Act{Agent: fmt.Sprintf("agent-%d", n+100)})
		if err != nil || claimErr != nil || isNext && found && next.ID != i.ID {
			t.Fatalf("next is %s, %v, and %s was claimed, %v", next.ID, err, i.ID, claimErr)
		}
		if !found {
			break
		}
		got = append(got, i)
	}
	if diff := cmp.Diff("6 5 3 2 1 10", numbers(got)); diff != "" {
		t.Errorf("claimed one after another (-want +got):\n%s", diff)
	}
	f.now = f.now.Add(29 * time.Minute)
	if _, found, err := f.ClaimNext(t.Context(), Filter{}, noun.Act{Agent: "late"}); found || err != nil {
		t.Errorf("claimed before a lease was over: %v", err)
	}
	f.now = f.now.Add(time.Minute)
	i, found, err := f.ClaimNext(t.Context(), Filter{Filter: noun.Filter{Facts: map[string][]string{"priority": []string{"high"}}}},
		noun.Act{Agent: "late"})
	if !found || err != nil || numbers([]Issue{i}) != "3" {
		t.Errorf("after the leases were over %s was claimed, %v; want 3", i.ID, err)
	}
}

func TestClaimAtOnce(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	for n := range 8 {
		f.mustAdd(t, layout.Issue{Summary: fmt.Sprint("issue ", n), Type: "bug"})
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	holders := map[string]string{}
	for n := range 10 {
		group.Go(func() {
			agent := fmt.Sprint("agent-", n)
			i, found, err := f.ClaimNext(t.Context(), Filter{}, noun.Act{Agent: agent})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || found && holders[i.ID] != "" {
				t.Errorf("%s claimed %s, which %q has: %v", agent, i.ID, holders[i.ID], err)
			}
			if found {
				holders[i.ID] = agent
			}
		})
	}
	group.Wait()
	if len(holders) != 8 {
		t.Errorf("%d issues were claimed of 8", len(holders))
	}
}

// TestTwoFiles has queues of two profiles in one workspace.
func TestTwoFiles(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	other := filepath.Join(f.work.Root, ".orchestrator", "issue_queue.md")
	if err := os.MkdirAll(filepath.Dir(other), 0o777); err != nil {
		t.Fatal(err)
	}
	text := "# Issue Queue\n\n" + entry("ISSUE-20260301-001", "Status=pending", "Priority=critical", "Type=bug")
	if err := os.WriteFile(other, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f.sync(t)
	own := f.mustAdd(t, layout.Issue{Summary: "s", Type: "bug"})
	var got []string
	for range 3 {
		i, _, err := f.ClaimNext(t.Context(), Filter{}, noun.Act{Agent: "a"})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, i.Path)
	}
	if diff := cmp.Diff([]string{".orchestrator/issue_queue.md", own.Path, ""}, got); diff != "" {
		t.Errorf("files of the claimed issues (-want +got):\n%s", diff)
	}
	f.mustDo(t, "done", "ISSUE-20260301-001", noun.Act{Agent: "a"})
	if text, err := os.ReadFile(other); err != nil || !strings.Contains(string(text), "| complete |") {
		t.Errorf("%s: %v\n%s", other, err, text)
	}
}

// TestBrokenFile keeps every byte of a file that has hardly a sound line, and says
// what is wrong.
func TestBrokenFile(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	broken := "intro\n\n" + entry("ISSUE-20260301-001", "Status=pending|x|y", "Type=bug") +
		"### ISSUE-20260301-001\n\nagain, with a used id\n\n### ISSUE-20260301-002\n| Status\n|-\nno table\n```\nnever closed\n\n### ISSUE-20260301-003\n"
	f.write(t, broken)
	added := f.mustAdd(t, layout.Issue{Summary: "s", Type: "bug"})
	f.mustDo(t, "claim", "ISSUE-20260301-002", noun.Act{Agent: "a"})
	f.mustDo(t, "done", "ISSUE-20260301-003", noun.Act{Agent: "a"})
	got := f.text(t)
	for _, line := range strings.Split(broken, "\n") {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("the line %q is lost:\n%s", line, got)
		}
	}
	all, err := f.List(t.Context(), Filter{})
	if err != nil || len(all) != 4 {
		t.Errorf("%d issues, %v; want 4", len(all), err)
	}
	problems := f.Problems(t.Context())
	var messages []string
	for _, p := range problems {
		messages = append(messages, p.Error())
	}
	said := strings.Join(messages, "\n")
	if err != nil || !strings.Contains(said, "ISSUE-20260301-001 is used again (first at line 3)") || !strings.Contains(said, "never closed") ||
		strings.Contains(said, added.ID) || strings.Contains(said, "has no field") {
		t.Errorf("problems: %v\n%s", err, said)
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	f.mustAdd(t, layout.Issue{Summary: "s", Type: "bug"})
	for _, id := range []string{"", "x", "ISSUE-20260302-002", "issue/", "../x", "a\nb", "~"} {
		_, err := f.Get(t.Context(), id)
		_, doErr := f.Do(t.Context(), "accept", id, noun.Act{})
		if !errors.Is(err, noun.ErrAbsent) || !errors.Is(doErr, noun.ErrAbsent) {
			t.Errorf("issue %q: %v and %v, want no issue twice", id, err, doErr)
		}
	}
	for _, id := range []string{"ISSUE-20260302-001", "issue/ISSUE-20260302-001", "issue-20260302-001", "20260302-001"} {
		if i, err := f.Get(t.Context(), id); err != nil || i.ID != "ISSUE-20260302-001" {
			t.Errorf("issue %q is %q: %v", id, i.ID, err)
		}
	}
}

// TestHandEdits has an agent append by hand while commands run: the appended
// entries and all changes must be there.
func TestHandEdits(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	f.mustAdd(t, layout.Issue{Summary: "first", Type: "bug"})
	var group sync.WaitGroup
	group.Go(func() {
		for n := range 10 {
			file, err := os.OpenFile(f.file(t), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = file.WriteString("\n" + strings.TrimSuffix(entry(fmt.Sprintf("ISSUE-HAND-%d", n), "Status=pending", "Type=bug"), "\n"))
				err = errors.Join(err, file.Close())
			}
			if err != nil {
				t.Errorf("appending: %v", err)
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	for n := range 10 {
		added := f.mustAdd(t, layout.Issue{Summary: fmt.Sprint("by command ", n), Type: "bug"})
		f.mustDo(t, "accept", added.ID, noun.Act{})
	}
	group.Wait()
	f.sync(t)
	all, err := f.List(t.Context(), Filter{Filter: noun.Filter{Open: true}})
	if err != nil || len(all) != 21 {
		t.Errorf("%d issues, %v; want 21\n%s", len(all), err, f.text(t))
	}
	if got := strings.Count(f.text(t), "\n### ISSUE-"); got != 21 {
		t.Errorf("the file has %d issues, want 21", got)
	}
}
