package issue_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"filebus/materialize/issue"
	"filebus/materialize/layout"
)

func TestClaimRows(t *testing.T) {
	for _, profile := range []layout.Profile{layout.Claude(), layout.Orchestrator()} {
		f := queueOf(t, profile)
		id := f.mustAdd(t, issue.Draft{Summary: "s", Type: "bug"}).ID
		f.mustDo(t, issue.Claim, id, issue.Change{Agent: "agent-7", Lease: time.Hour, Task: "task-003"})
		for _, row := range []string{
			"| Status | in_progress |", "| Claimed By | agent-7 |", "| Claimed At | 2026-03-02T10:00:00Z |", "| Lease Until | 2026-03-02T11:00:00Z |",
		} {
			if !strings.Contains(f.text(t), row+"\n") {
				t.Errorf("%s has no row %s:\n%s", f.file(t), row, f.text(t))
			}
		}
		if !strings.Contains(f.file(t), profile.Root) || !strings.Contains(f.text(t), "task-003") {
			t.Errorf("profile %s: %s\n%s", profile.Name, f.file(t), f.text(t))
		}
		f.mustDo(t, issue.Release, id, issue.Change{Agent: "agent-7"})
		if text := f.text(t); strings.Contains(text, "Claimed") || strings.Contains(text, "Lease") || !strings.Contains(text, "| accepted |") {
			t.Errorf("released:\n%s", text)
		}
	}
}

func TestClaimHolds(t *testing.T) {
	for _, c := range []struct {
		name   string
		action issue.Action
		change issue.Change
		after  time.Duration
		ok     bool
	}{
		{"the holder again", issue.Claim, issue.Change{Agent: "QA Agent"}, time.Minute, true},
		{"another", issue.Claim, issue.Change{Agent: "b"}, time.Minute, false},
		{"another with force", issue.Claim, issue.Change{Agent: "b", Force: true}, time.Minute, true},
		{"another, late", issue.Claim, issue.Change{Agent: "b"}, 30 * time.Minute, true},
		{"the last moment", issue.Claim, issue.Change{Agent: "b"}, 30*time.Minute - time.Second, false},
		{"clock a little back", issue.Claim, issue.Change{Agent: "b"}, -30 * time.Second, false},
		{"clock back", issue.Claim, issue.Change{Agent: "b"}, -2 * time.Hour, true},
		{"done by another", issue.Finish, issue.Change{Agent: "b"}, time.Minute, false},
		{"done by nobody", issue.Finish, issue.Change{}, time.Minute, false},
		{"done by another, late", issue.Finish, issue.Change{Agent: "b"}, time.Hour, true},
		{"done by the holder, late", issue.Finish, issue.Change{Agent: "qa_agent"}, time.Hour, true},
		{"released by another", issue.Release, issue.Change{Agent: "b"}, time.Minute, false},
		{"released with force", issue.Release, issue.Change{Agent: "b", Force: true}, time.Minute, true},
		{"rejected by another", issue.Reject, issue.Change{Agent: "b"}, time.Minute, false},
		{"duplicate by another", issue.MarkDuplicate, issue.Change{Agent: "b", Of: "ISSUE-20260302-002"}, time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newQueue(t)
			id := f.mustAdd(t, issue.Draft{Summary: "s", Type: "bug"}).ID
			f.mustAdd(t, issue.Draft{Summary: "t", Type: "bug"})
			f.mustDo(t, issue.Claim, id, issue.Change{Agent: "QA Agent"})
			f.now = f.now.Add(c.after)
			_, err := f.Do(t.Context(), c.action, id, c.change)
			held := errors.Is(err, issue.ErrHeld) || errors.Is(err, issue.ErrTaken)
			if c.ok && err != nil || !c.ok && (!held || !strings.Contains(err.Error(), "claimed by QA Agent until ")) {
				t.Errorf("%s by %q after %v: %v; want success %t, or that QA Agent has it", c.action, c.change.Agent,
					c.after, err, c.ok)
			}
		})
	}
}

// TestLeaseNeverLonger claims again after the clock has gone back: the lease
// counts from the new time.
func TestLeaseNeverLonger(t *testing.T) {
	f := newQueue(t)
	id := f.mustAdd(t, issue.Draft{Summary: "s", Type: "bug"}).ID
	f.mustDo(t, issue.Claim, id, issue.Change{Agent: "a"})
	f.now = f.now.Add(-3 * time.Hour)
	got := f.mustDo(t, issue.Claim, id, issue.Change{Agent: "a"})
	if want := f.now.Add(issue.DefaultLease); !got.Hold.Until.Equal(want) || !got.Hold.At.Equal(f.now) {
		t.Errorf("the lease is from %v until %v, want until %v", got.Hold.At, got.Hold.Until, want)
	}
}

func TestHandClaims(t *testing.T) {
	f := newQueue(t)
	f.write(t, "# Issue Queue\n\n"+
		entry("ISSUE-20260301-001", "Status=pending", "Type=bug", "Assignee=agent-7")+
		entry("ISSUE-20260301-002", "Status=in_progress", "Type=bug")+
		entry("ISSUE-20260301-003", "Status=in_progress", "Type=bug", "Claimed By=agent-8", "Lease Until=soon")+
		entry("ISSUE-20260301-004", "Status=Completed", "Type=bug", "Claimed By=agent-8", "Lease Until=2026-01-01T00:00:00Z")+
		entry("ISSUE-20260301-005", "Status=blocked", "Type=bug"))
	f.sync(t)
	if i, found, err := f.Next(t.Context(), issue.Filter{}, "b"); found || err != nil {
		t.Errorf("next of b is %s, %v; want none", i.ID, err)
	}
	i, found, err := f.ClaimNext(t.Context(), issue.Filter{}, issue.Change{Agent: "agent-7"})
	if !found || err != nil || i.ID != "ISSUE-20260301-001" {
		t.Errorf("next of agent-7 is %s, %v; want the one it is assigned", i.ID, err)
	}
	i = f.mustDo(t, issue.Claim, "ISSUE-20260301-002", issue.Change{Agent: "b"})
	if i.Hold.Agent != "b" {
		t.Errorf("what nobody holds is claimed by %q", i.Hold.Agent)
	}
	if i = f.mustDo(t, issue.Claim, "ISSUE-20260301-001", issue.Change{Agent: "b", Force: true}); strings.Contains(string(i.Text), "agent-7") {
		t.Errorf("the old holder is still there:\n%s", i.Text)
	}
	if i = f.mustDo(t, issue.Finish, "ISSUE-20260301-001", issue.Change{Agent: "b"}); !strings.Contains(string(i.Text), "| Claimed By | b |") || strings.Contains(string(i.Text), "Lease") {
		t.Errorf("who did it is not there, or the lease still is:\n%s", i.Text)
	}
}

func TestClaimNeedsAgent(t *testing.T) {
	f := newQueue(t)
	id := f.mustAdd(t, issue.Draft{Summary: "s", Type: "bug"}).ID
	_, err := f.Do(t.Context(), issue.Claim, id, issue.Change{})
	_, _, nextErr := f.ClaimNext(t.Context(), issue.Filter{}, issue.Change{})
	if !errors.Is(err, issue.ErrNoAgent) || !errors.Is(nextErr, issue.ErrNoAgent) {
		t.Errorf("claims without an agent: %v, %v", err, nextErr)
	}
}
