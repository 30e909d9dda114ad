package issue

import (
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
)

func TestClaimRows(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("orchestrator")} {
		f := queueOf(t, profile)
		id := f.mustAdd(t, layout.Issue{Summary: "s", Type: "bug"}).ID
		f.mustDo(t, "claim", id, noun.Act{Agent: "agent-7", Lease: time.Hour, Task: "task-003"})
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
		f.mustDo(t, "release", id, noun.Act{Agent: "agent-7"})
		if text := f.text(t); strings.Contains(text, "Claimed") || strings.Contains(text, "Lease") || !strings.Contains(text, "| accepted |") {
			t.Errorf("released:\n%s", text)
		}
	}
}

func TestClaimHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		action string
		change noun.Act
		after  time.Duration
		ok     bool
	}{
		{"the holder again", "claim", noun.Act{Agent: "QA Agent"}, time.Minute, true},
		{"another", "claim", noun.Act{Agent: "b"}, time.Minute, false},
		{"another with force", "claim", noun.Act{Agent: "b", Force: true}, time.Minute, true},
		{"another, late", "claim", noun.Act{Agent: "b"}, 30 * time.Minute, true},
		{"the last moment", "claim", noun.Act{Agent: "b"}, 30*time.Minute - time.Second, false},
		{"clock a little back", "claim", noun.Act{Agent: "b"}, -30 * time.Second, false},
		{"clock back", "claim", noun.Act{Agent: "b"}, -2 * time.Hour, true},
		{"done by another", "done", noun.Act{Agent: "b"}, time.Minute, false},
		{"done by nobody", "done", noun.Act{}, time.Minute, false},
		{"done by another, late", "done", noun.Act{Agent: "b"}, time.Hour, true},
		{"done by the holder, late", "done", noun.Act{Agent: "qa_agent"}, time.Hour, true},
		{"released by another", "release", noun.Act{Agent: "b"}, time.Minute, false},
		{"released with force", "release", noun.Act{Agent: "b", Force: true}, time.Minute, true},
		{"rejected by another", "reject", noun.Act{Agent: "b"}, time.Minute, false},
		{"duplicate by another", "duplicate", noun.Act{Agent: "b", Of: "ISSUE-20260302-002"}, time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newQueue(t)
			id := f.mustAdd(t, layout.Issue{Summary: "s", Type: "bug"}).ID
			f.mustAdd(t, layout.Issue{Summary: "t", Type: "bug"})
			f.mustDo(t, "claim", id, noun.Act{Agent: "QA Agent"})
			f.now = f.now.Add(c.after)
			_, err := f.Do(t.Context(), c.action, id, c.change)
			held := tries(err, "run it again with --") || tries(err, "filebus issue next --claim --agent {1}, or")
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
	t.Parallel()
	f := newQueue(t)
	id := f.mustAdd(t, layout.Issue{Summary: "s", Type: "bug"}).ID
	f.mustDo(t, "claim", id, noun.Act{Agent: "a"})
	f.now = f.now.Add(-3 * time.Hour)
	got := f.mustDo(t, "claim", id, noun.Act{Agent: "a"})
	if want := f.now.Add(noun.DefaultLease); !got.hold.Until.Equal(want) || !got.hold.At.Equal(f.now) {
		t.Errorf("the lease is from %v until %v, want until %v", got.hold.At, got.hold.Until, want)
	}
}

func TestHandClaims(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	f.write(t, "# Issue Queue\n\n"+
		entry("ISSUE-20260301-001", "Status=pending", "Type=bug", "Assignee=agent-7")+
		entry("ISSUE-20260301-002", "Status=in_progress", "Type=bug")+
		entry("ISSUE-20260301-003", "Status=in_progress", "Type=bug", "Claimed By=agent-8", "Lease Until=soon")+
		entry("ISSUE-20260301-004", "Status=Completed", "Type=bug", "Claimed By=agent-8", "Lease Until=2026-01-01T00:00:00Z")+
		entry("ISSUE-20260301-005", "Status=blocked", "Type=bug"))
	f.sync(t)
	if i, found, err := f.Next(t.Context(), Filter{}, "b"); found || err != nil {
		t.Errorf("next of b is %s, %v; want none", i.ID, err)
	}
	i, found, err := f.ClaimNext(t.Context(), Filter{}, noun.Act{Agent: "agent-7"})
	if !found || err != nil || i.ID != "ISSUE-20260301-001" {
		t.Errorf("next of agent-7 is %s, %v; want the one it is assigned", i.ID, err)
	}
	i = f.mustDo(t, "claim", "ISSUE-20260301-002", noun.Act{Agent: "b"})
	if i.hold.Agent != "b" {
		t.Errorf("what nobody holds is claimed by %q", i.hold.Agent)
	}
	if i = f.mustDo(t, "claim", "ISSUE-20260301-001", noun.Act{Agent: "b", Force: true}); strings.Contains(string(i.Text), "agent-7") {
		t.Errorf("the old holder is still there:\n%s", i.Text)
	}
	if i = f.mustDo(t, "done", "ISSUE-20260301-001", noun.Act{Agent: "b"}); !strings.Contains(string(i.Text), "| Claimed By | b |") || strings.Contains(string(i.Text), "Lease") {
		t.Errorf("who did it is not there, or the lease still is:\n%s", i.Text)
	}
}

func TestClaimNeedsAgent(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	id := f.mustAdd(t, layout.Issue{Summary: "s", Type: "bug"}).ID
	_, err := f.Do(t.Context(), "claim", id, noun.Act{})
	_, _, nextErr := f.ClaimNext(t.Context(), Filter{}, noun.Act{})
	if !tries(err, "run it again with --agent NAME, or") || !tries(nextErr, "run it again with --agent NAME, or") {
		t.Errorf("claims without an agent: %v, %v", err, nextErr)
	}
}

// profileOf returns the predefined profile of a name.
func profileOf(name string) layout.Profile {
	p, err := layout.ParseProfile(name)
	if err != nil {
		panic(err)
	}
	return p
}
