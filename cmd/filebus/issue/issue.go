// Package issue has the commands and the rules of the issue queue: what may follow what, who works on an issue
// and for how long, which one comes next, and which new one is likely to be known already.
// docs/issues.md has the table of transitions; package noun reads and changes the entries.
//
// The package keeps no state of its own: a claim is rows of its issue, which file readers see
// too.
package issue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/noun"
	"filebus/index"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// An Issue is an entry of the queue with what the rules make of its fields.
type Issue struct {
	ID     string `json:"id"`
	Status string `json:"status"` // pending where the entry has none
	// Priority is critical, high, medium or low, or another word that somebody
	// has written.
	Priority string `json:"priority,omitempty"`
	Type     string `json:"type,omitempty"` // a word in lower case
	Summary  string `json:"summary"`        // one line; the title where there is no summary
	hold
	Expired      bool        `json:"expired,omitempty"` // somebody has claimed it and the lease is over
	Local        bool        `json:"local,omitempty"`   // it was just claimed, and other machines have not heard of it
	DuplicateOf  string      `json:"duplicate_of,omitempty"`
	Task         string      `json:"task,omitempty"`
	Created      time.Time   `json:"created,omitempty,omitzero"` // the date in the id where the field is missing
	layout.Issue             // the fields as they are written
	File         string      `json:"file,omitempty"` // absolute
	Path         string      `json:"-"`              // of its file, slash-separated, below the workspace
	Text         []byte      `json:"-"`
	Name         record.Name `json:"-"`
	// BlockedBy are the open issues that it waits for, of those that List has seen.
	BlockedBy []string `json:"blocked_by,omitempty"`
	Open      bool     `json:"-"` // there is still something to be done
	IsForeign bool     `json:"-"` // another program keeps it, and nobody can claim it here
	// More are the fields that an issue has besides, as they are written.
	More map[string]string `json:"fields,omitempty"`

	entry noun.Entry[layout.Issue]
}

// Brief returns the issue without what is long, for lists.
func (i Issue) Brief() Issue {
	i.Issue, i.Created, i.File, i.More = layout.Issue{}, time.Time{}, "", nil
	return i
}

// Issue returns what the rules make of an entry.
func (q *Queue) Issue(e noun.Entry[layout.Issue]) Issue {
	i := Issue{
		ID: e.Name.ID, Name: e.Name, Path: e.Path, File: q.Work.FilePath(e.Path), Issue: e.Fields, Text: e.Text,
		Status: q.State(e), Open: q.IsOpen(q.State(e)),
		Type:        e.Facts.Attributes[record.AttributeType],
		Priority:    e.Facts.Attributes[record.AttributePriority],
		Summary:     summaryOf(&e.Fields),
		DuplicateOf: e.Fields.DuplicateOf, Task: e.Fields.TaskRef,
		Created:   parseTime(e.Fields.Created),
		IsForeign: q.Work.Settings.Profile.Recognize(e.Path).IsForeign(),
		hold:      holdOf(e.Fields), entry: e,
	}
	i.Expired = i.Open && i.hold.isOver(q.Now())
	for _, p := range e.Fields.Extra {
		i.More = with(i.More, p.Key, p.Value)
	}
	if i.Created.IsZero() { // ISSUE-20251212-001
		for part := range strings.SplitSeq(i.ID, "-") {
			if t, err := time.Parse("20060102", part); err == nil && i.Created.IsZero() {
				i.Created = t
			}
		}
	}
	return i
}

// Entry returns the entry of the queue's file that the issue is.
func (i Issue) Entry() noun.Entry[layout.Issue] { return i.entry }

// with returns a map with one more value.
func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// summaryOf returns the summary of an issue as one line; the title where there is none.
func summaryOf(i *layout.Issue) string { return markdown.OneLine(cmp.Or(i.Summary, i.Title)) }

// IsFree reports whether the issue waits for somebody to work on it, and an agent may be the one.
func (i Issue) IsFree(agent string) bool {
	switch i.Status {
	case pending, accepted:
		return len(i.BlockedBy) == 0 && (i.Expired || !i.hold.keepsFrom(agent))
	case inProgress:
		return i.Expired
	}
	return false
}

// A Filter picks issues: see [noun.Filter].
type Filter struct {
	noun.Filter
	Agents []string // who has claimed it; nil: anybody or nobody
}

// accepts reports whether an issue passes.
func (q *Queue) accepts(f Filter, i Issue) bool {
	isHolder := func(agent string) bool { return sameAgent(agent, i.hold.Agent) }
	return q.Picks(f.Filter, i.entry) && (len(f.Agents) == 0 || i.hold.Agent != "" && slices.ContainsFunc(f.Agents, isHolder))
}

// setBlocked says of each issue what it waits for: open issues that it depends on, or that
// its parents wait for.
func setBlocked(all []Issue) {
	at := make(map[string]*Issue, len(all))
	for n := range all {
		at[all[n].ID] = &all[n]
	}
	for _, i := range at {
		seen := map[*Issue]bool{nil: true} // parents may be in a circle
		for of := i; !seen[of]; of = at[of.Parent] {
			seen[of] = true
			for _, on := range of.DependsOn {
				if other := at[on]; other != nil && other != i && other.Open {
					i.BlockedBy = append(i.BlockedBy, on)
				}
			}
		}
	}
}

// sortIssues puts the issue to be done next first: accepted ones and those whose
// lease is over, then pending ones, then both of other programs, then those that are worked on,
// those of an unknown status, and at last the closed ones; each by priority, then the oldest.
func sortIssues(all []Issue) {
	slices.SortStableFunc(all, func(a, b Issue) int {
		return cmp.Or(
			cmp.Compare(a.rank(), b.rank()),
			cmp.Compare(urgency(a.Priority), urgency(b.Priority)),
			a.Created.Compare(b.Created),
			cmp.Compare(len(a.ID), len(b.ID)),
			strings.Compare(a.ID, b.ID),
		)
	})
}

// rank is the first of the keys that issues are sorted by.
func (i Issue) rank() int {
	isHeld := i.hold.Agent != "" && !i.Expired
	switch isFree := i.Status == accepted || i.Status == pending; {
	case i.Status == inProgress && !i.Expired, isHeld && isFree:
		return 3
	case i.IsForeign && (isFree || i.Expired):
		return 2
	case i.Status == accepted, i.Expired:
		return 0
	case isFree:
		return 1
	case i.Open:
		return 4
	}
	return 5
}

// urgency gives a priority its place, the most urgent first; an unknown one is the last.
func urgency(priority string) int {
	all := layout.IssueFields().Input("priority").Values
	if i := slices.Index(all, priority); i >= 0 {
		return i
	}
	return len(all)
}

// The statuses. Agents write others too, which no rule knows: such an issue is
// open, is never handed out, and may be changed to any status.
const (
	pending    = "pending"     // found, nobody has decided about it
	accepted   = "accepted"    // to be done
	inProgress = "in_progress" // somebody works on it
	complete   = "complete"
	duplicate  = "duplicate" // of another issue
	wontFix    = "wont_fix"
)

// Verbs returns what may be done with an issue: how a command is called, from which statuses
// it leads, and to which one.
func Verbs() []noun.Verb {
	open := []string{pending, accepted, inProgress}
	return []noun.Verb{
		{Name: "accept", Args: "ID", Flags: []string{"task"}, From: []string{pending}, To: accepted},
		{Name: "claim", Args: "ID", Flags: []string{"agent", "lease", "task", "force"}, From: open, To: inProgress, Again: true},
		{Name: "release", Args: "ID", Flags: []string{"agent", "force"}, From: []string{accepted, inProgress}, To: accepted, Again: true},
		{Name: "done", Args: "ID", Flags: []string{"agent", "force", "task"}, From: open, To: complete},
		{Name: "reject", Args: "ID", Flags: []string{"agent", "force", "rationale"}, From: open, To: wontFix},
		{Name: "duplicate", Args: "ID OF", Flags: []string{"agent", "force"}, From: open, To: duplicate, Again: true},
		{Name: "reopen", Args: "ID", Flags: []string{"rationale"}, From: []string{complete, duplicate, wontFix}, To: pending},
	}
}

// Type returns what an issue is.
func Type() noun.Type[layout.Issue] { return typeOf(layout.IssueFields()) }

// typeOf is Type for other fields.
func typeOf(fields *layout.FieldTable[layout.Issue]) (t noun.Type[layout.Issue]) {
	t = noun.Type[layout.Issue]{
		Kind: record.KindIssue, Word: "issue", Group: "issue", Place: "the queue", Homes: "issue_queue.md",
		Max:    16 << 10, // about 4,000 tokens, twenty times what one usually has
		Known:  "run it again with --merge {1}, or filebus issue show {1}",
		Fields: fields,
		Form:   func(at layout.Location) layout.EntryForm[layout.Issue] { return at.IssueForm(fields) },
		IDs: func(id string) []string { // also without ISSUE-, and with issue/ before it
			id = strings.TrimPrefix(id, "issue/")
			numbered, lane := layout.CutLane(strings.ToLower(id))
			return []string{id, layout.WithLane(strings.ToUpper(numbered), lane), "ISSUE-" + id}
		},
		New: func(_ layout.EntryForm[layout.Issue], i *layout.Issue, now time.Time) string {
			i.Status, i.Created = pending, formatTime(now)
			return "ISSUE-" + now.UTC().Format("20060102") + "-"
		},
		Words: summaryOf, Alike: alike,
		States: []string{pending, accepted, inProgress, complete, duplicate, wontFix},
		Open:   []string{pending, accepted, inProgress},
		Verbs:  Verbs(), Set: setHold,
	}
	t.May = func(e noun.Entry[layout.Issue], v noun.Verb, a noun.Act) error {
		h, isDuplicate := holdOf(e.Fields), v.To == duplicate
		switch {
		case isDuplicate && a.Of == e.Name.ID:
			return record.Usage.Errorf("%s cannot be a duplicate of itself", a.Of).Try("filebus issue show {1}", a.Of)
		case isDuplicate && t.State(e) == duplicate && plain(e.Fields.DuplicateOf) != a.Of:
			return t.ErrState(e, v)
		case slices.Contains(v.Flags, "force") && !a.Force && t.IsOpen(t.State(e)) && h.keepsFrom(a.Agent) && !h.isOver(a.Now):
			return errHeld(e.Name.ID, h, v, a.Agent)
		}
		return nil
	}
	return t
}

// setHold returns the fields that an action sets: what it is told, and the rows of the claim.
func setHold(e noun.Entry[layout.Issue], v noun.Verb, a noun.Act) (set [][2]string) {
	if a.Task != "" {
		set = append(set, [2]string{"Task Ref", layout.TaskID(markdown.OneLine(a.Task))})
	}
	if a.Reason != "" {
		set = append(set, [2]string{"Rationale", paragraphs(e.Fields.Rationale, markdown.CleanText(a.Reason))})
	}
	agent := markdown.OneLine(a.Agent)
	free := [][2]string{{"Claimed By"}, {"Claimed At"}, {"Lease Until"}, {"Assignee"}}
	switch v.Name {
	case "accept":
		return set
	case "claim":
		if !sameAgent(assigneeOf(e.Fields), a.Agent) {
			set = append(set, free[3])
		}
		until := formatTime(a.Now.Add(a.Lease))
		return append(set, [2]string{"Claimed By", agent}, [2]string{"Claimed At", formatTime(a.Now)}, [2]string{"Lease Until", until})
	case "done": // who did it stays
		if h := holdOf(e.Fields); h.Agent != "" && agent != "" && !sameAgent(h.Agent, agent) {
			set = append(set, [2]string{"Claimed By", agent})
		}
		return append(set, free[2])
	case "duplicate", "reopen":
		set = append(set, [2]string{"Duplicate Of", a.Of})
	}
	return append(set, free...)
}

// The shares of words from which on two issues of one type are likely to be the
// same: of any two, of two that name the same file, and of two that name files and
// none in common.
const (
	likelyShare    = 0.6
	likelyWithFile = 0.3
	likelyApart    = 0.8
)

// alike says of an issue whether it may be the same as a new one.
func alike(draft *layout.Issue, e noun.Entry[layout.Issue], _, _ int) (l noun.Likeness, need index.Share) {
	l = noun.Likeness{Summary: summaryOf(&e.Fields), Files: filesOverlap(draft.Files, e.Fields.Files)}
	switch status := e.Facts.Status; {
	case status == complete, status == duplicate, status == wontFix, e.Facts.Attributes[record.AttributeType] != draft.Type:
		return l, 0
	case l.Files:
		return l, likelyWithFile
	case len(draft.Files) > 0 && len(e.Fields.Files) > 0:
		return l, likelyApart
	}
	return l, likelyShare
}

// filesOverlap reports whether a file, pattern or folder of one list has something
// in common with one of the other.
func filesOverlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool {
		return slices.ContainsFunc(b, func(other string) bool {
			one, other := plainFile(one), plainFile(other)
			return layout.Covers(one, other) || layout.Covers(other, one)
		})
	})
}

// plainFile returns a path without the lines that may follow it.
func plainFile(file string) string {
	file, _, _ = strings.Cut(layout.PlainPath(file), ":")
	return file
}

// sharedLease is how long a claim holds in a store with remotes: other machines hear of it,
// and that it was made again, only in time.
const sharedLease = 24 * time.Hour

// A hold is a claim as it stands in an issue.
type hold struct {
	Agent string    `json:"agent,omitempty"`
	At    time.Time `json:"-"`                              // zero: not known
	Until time.Time `json:"lease_until,omitempty,omitzero"` // zero: until it is released
}

// holdOf reads the claim of an issue. An Assignee, which agents write by hand,
// is a claim without an end.
func holdOf(i layout.Issue) hold {
	agent := cmp.Or(plain(i.ClaimedBy), assigneeOf(i))
	return hold{Agent: agent, At: parseTime(i.ClaimedAt), Until: parseTime(i.LeaseUntil)}
}

// keepsFrom reports whether the claim is another agent's.
func (h hold) keepsFrom(agent string) bool { return h.Agent != "" && !sameAgent(h.Agent, agent) }

// assigneeOf returns who an issue was assigned to, or "".
func assigneeOf(i layout.Issue) string { return plain(layout.ExtraValue(i.Extra, "Assignee")) }

// plain returns a value of a field as one line without marks and control
// characters; a dash, and none, stand for nothing.
func plain(value string) string {
	value = strings.Trim(markdown.OneLine(value), "`* ")
	switch strings.ToLower(value) {
	case "-", "–", "—", "none", "n/a", "nobody", "unassigned":
		return ""
	}
	return value
}

// isOver reports whether the claim holds no more. A clock that has gone back to
// before the claim was made would make the lease longer than it was meant to be:
// then it is over too.
func (h hold) isOver(now time.Time) bool {
	const clockSlack = time.Minute // how far the clocks of machines that share a folder may differ
	return h.Agent != "" && !h.Until.IsZero() &&
		(!now.Before(h.Until) || !h.At.IsZero() && now.Before(h.At.Add(-clockSlack)))
}

// sameAgent compares agents as references name them: "QA Agent" is qa_agent.
func sameAgent(a, b string) bool {
	slugA, slugB := layout.Slug(a), layout.Slug(b)
	return a == b || slugA == slugB && slugA != ""
}

// formatTime writes a time as issues have it.
func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// parseTime reads a time as agents write it; what is no time is the zero one.
func parseTime(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	t, _ := layout.ParseDate(strings.Trim(markdown.OneLine(text), "`* "))
	return t.UTC()
}

// paragraphs joins two texts with a blank line between.
func paragraphs(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// errHeld says that another agent holds an issue; who asks may be "".
func errHeld(id string, h hold, v noun.Verb, agent string) error {
	until := ""
	if !h.Until.IsZero() {
		until = " until " + formatTime(h.Until)
	}
	err := record.Conflict.Errorf("%s is claimed by %s%s", id, h.Agent, until)
	switch {
	case v.Name == "claim":
		return err.Try("filebus issue next --claim --agent {1}, or run it again with --force", agent)
	case agent == "":
		return err.Try("run it again with --agent {1} if that is you, else with --force", h.Agent)
	}
	return err.Try("run it again with --force")
}
