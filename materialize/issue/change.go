package issue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/index"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// A Change says who does something to an issue, and what there is to say of it.
type Change struct {
	Agent     string        // who acts; a claim needs one
	Force     bool          // also where another agent holds the issue
	Lease     time.Duration // of a claim; 0: DefaultLease, or SharedLease in a store with remotes
	Task      string        // the task that is made of the issue; empty: as it was
	Rationale string        // why; added to what the issue says already
	Of        string        // the issue that it is a duplicate of
}

// Do applies an action to the issue with an id and returns the issue as it is
// then. What an action may not do is an error, and changes nothing.
func (q *Queue) Do(ctx context.Context, a Action, id string, c Change) (Issue, error) {
	if a == claim && c.Agent == "" {
		return Issue{}, errNoAgent()
	}
	if a == markDuplicate {
		of, err := q.original(ctx, c.Of)
		if err != nil {
			return Issue{}, err
		}
		c.Of = of
	}
	isLocal, name := false, record.Name{Kind: record.KindIssue, ID: id}
	if a == claim {
		var err error
		if c, err = q.terms(ctx, c); err == nil {
			isLocal, err = q.work.Claim(ctx, name, c.Lease)
		}
		if err != nil && (!c.Force || !errors.Is(err, materialize.ErrElsewhere)) {
			return Issue{}, err
		}
	}
	i, err := q.change(ctx, id, func(i Issue) ([]byte, error) { return q.apply(c, a, i) })
	if i.Local = isLocal && err == nil; err == nil && a != claim {
		q.work.GiveUp(ctx, name)
	}
	return i, err
}

// terms returns a claim with its lease.
func (q *Queue) terms(ctx context.Context, c Change) (Change, error) {
	lane, err := q.work.Lane(ctx)
	if c.Lease == 0 {
		c.Lease = DefaultLease
		if lane != "" {
			c.Lease = SharedLease
		}
	}
	return c, err
}

// original returns the id of the issue that an issue is a duplicate of in the
// end, or its own.
func (q *Queue) original(ctx context.Context, id string) (string, error) {
	i, err := q.Get(ctx, id)
	const maxChain = 100 // bounds how many duplicates of duplicates are followed
	for n := 0; err == nil && i.Status == duplicate && i.DuplicateOf != "" && n < maxChain; n++ {
		next, nextErr := q.Get(ctx, plain(i.DuplicateOf))
		if errors.Is(nextErr, errAbsent) {
			break
		}
		i, err = next, nextErr
	}
	return i.ID, err
}

// apply returns the text of an issue after an action.
func (q *Queue) apply(c Change, a Action, i Issue) ([]byte, error) {
	t := transitionOf(a)
	switch same := i.Status == t.To; {
	case a == markDuplicate && c.Of == i.ID:
		return nil, record.Usage.Errorf("%s cannot be a duplicate of itself", i.ID).Try("filebus issue show {1}", i.ID)
	case same && a == markDuplicate && plain(i.DuplicateOf) != c.Of:
		return nil, errStatus(i, a)
	case same && a != claim && (a != release || i.hold.Agent == ""):
		return i.Text, nil
	case !t.allows(i.Status) && !same:
		return nil, errStatus(i, a)
	case a != accept && a != reopen && !c.Force && i.isKeptFrom(c.Agent):
		return nil, errHeld(i, a, c.Agent)
	}
	text := i.Text
	if i.Status != t.To {
		text = q.fields.Set(text, "Status", string(t.To))
	}
	if c.Task != "" {
		text = q.fields.Set(text, "Task Ref", layout.TaskID(markdown.OneLine(c.Task)))
	}
	if c.Rationale != "" {
		text = q.fields.Set(text, "Rationale", paragraphs(i.Rationale, markdown.CleanText(c.Rationale)))
	}
	return q.setHold(text, c, a, i), nil
}

// setHold sets the rows of the claim to what an action makes of them.
func (q *Queue) setHold(text []byte, c Change, a Action, i Issue) []byte {
	now := q.now()
	switch a {
	case claim:
		if !sameAgent(assigneeOf(i.Issue), c.Agent) {
			text = q.fields.Set(text, "Assignee")
		}
		text = q.fields.Set(text, "Claimed By", markdown.OneLine(c.Agent))
		text = q.fields.Set(text, "Claimed At", formatTime(now))
		return q.fields.Set(text, "Lease Until", formatTime(now.Add(c.Lease)))
	case finish: // who did it stays
		if i.hold.Agent != "" && c.Agent != "" && !sameAgent(i.hold.Agent, c.Agent) {
			text = q.fields.Set(text, "Claimed By", markdown.OneLine(c.Agent))
		}
		return q.fields.Set(text, "Lease Until")
	case markDuplicate:
		text = q.fields.Set(text, "Duplicate Of", c.Of)
	case reopen:
		text = q.fields.Set(text, "Duplicate Of")
	case accept:
		return text
	}
	for _, field := range []string{"Claimed By", "Claimed At", "Lease Until", "Assignee"} {
		text = q.fields.Set(text, field)
	}
	return text
}

func errNoAgent() error {
	return record.Usage.Errorf("a claim needs an agent").
		Try("run it again with --agent NAME, or with FILEBUS_AGENT set")
}

// errStatus says that an issue's status does not allow an action.
func errStatus(i Issue, a Action) error {
	from := markdown.Each(transitionOf(a).From, func(s Status) string { return string(s) })
	way := "show"
	switch {
	case !i.Status.IsOpen():
		way = string(reopen)
	case i.Status == inProgress:
		way = string(release)
	case a == release:
		way = string(accept)
	}
	err := record.Conflict.Errorf("%s is %s: %s needs one that is %s", i.ID, i.Status, a, strings.Join(from, " or "))
	return err.Try("filebus issue {1} {2}", way, i.ID)
}

// errHeld says that another agent holds an issue; who asks may be "".
func errHeld(i Issue, a Action, agent string) error {
	until := ""
	if !i.hold.Until.IsZero() {
		until = " until " + formatTime(i.hold.Until)
	}
	err := record.Conflict.Errorf("%s is claimed by %s%s", i.ID, i.hold.Agent, until)
	switch {
	case a == claim:
		return err.Try("filebus issue next --claim, or run it again with --force")
	case agent == "":
		return err.Try("run it again with --agent {1} if that is you, else with --force", i.hold.Agent)
	}
	return err.Try("run it again with --force")
}

// paragraphs joins two texts with a blank line between.
func paragraphs(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// Next returns the issue to work on next of those that pass a filter: the first
// in the order of List that nobody holds, or that was assigned to the agent. It
// reports whether there is one.
func (q *Queue) Next(ctx context.Context, f Filter, agent string) (Issue, bool, error) {
	f.Open = true
	all, err := q.List(ctx, f)
	if at := slices.IndexFunc(all, func(i Issue) bool { return i.isFree(agent) }); at >= 0 {
		return all[at], err == nil, err
	}
	return Issue{}, false, err
}

// ClaimNext claims the issue that Next returns. However many agents do so at
// once, each gets another one.
func (q *Queue) ClaimNext(ctx context.Context, f Filter, c Change) (claimed Issue, found bool, err error) {
	if c.Agent == "" {
		return Issue{}, false, errNoAgent()
	}
	f.Open = true
	all, err := q.List(ctx, f)
	if err != nil {
		return Issue{}, false, err
	}
	if c, err = q.terms(ctx, c); err != nil {
		return Issue{}, false, err
	}
	if q.work.Arbiter != nil {
		return q.claimAmong(ctx, all, c)
	}
	// One file at a time, the one with the most urgent issue first, and at last those that
	// another program keeps.
	foreign := slices.DeleteFunc(slices.Clone(all), func(i Issue) bool { return !i.isFree(c.Agent) || !q.isForeign(i) })
	paths, err := q.pathsOf(slices.DeleteFunc(all, q.isForeign))
	for _, path := range paths {
		claimed, found, err = q.claimIn(ctx, path, f, c)
		if found && err == nil { // nobody decides: it says how far that holds
			claimed.Local, err = q.work.Claim(ctx, record.Name{Kind: record.KindIssue, ID: claimed.ID}, c.Lease)
		}
		if found || err != nil {
			return claimed, found, err
		}
	}
	if len(foreign) > 0 {
		err = errForeign(foreign[0])
	}
	return claimed, found, err
}

// claimAmong claims the first of the issues that nobody else holds, on no machine.
func (q *Queue) claimAmong(ctx context.Context, all []Issue, c Change) (claimed Issue, found bool, err error) {
	for _, i := range all {
		switch {
		case !i.isFree(c.Agent):
			continue
		case q.isForeign(i):
			err = cmp.Or(err, errForeign(i))
			continue
		}
		claimed, claimErr := q.Do(ctx, claim, i.ID, c)
		if claimErr == nil {
			return claimed, true, nil
		}
		if !errors.Is(claimErr, record.Conflict) { // else another one was faster
			return claimed, false, claimErr
		}
	}
	return claimed, false, err
}

// claimIn claims the next issue of a file.
func (q *Queue) claimIn(ctx context.Context, path string, f Filter, c Change) (claimed Issue, found bool, err error) {
	err = q.work.EditEntriesIn(ctx, path, record.SourcePut, func(e *materialize.Entries) error {
		found = false
		free := slices.DeleteFunc(q.issuesIn(e), func(i Issue) bool { return !f.accepts(i) || !i.isFree(c.Agent) })
		if len(free) == 0 {
			return nil
		}
		sortIssues(free)
		text, err := q.apply(c, claim, free[0])
		if err != nil {
			return err
		}
		e.Set(free[0].Name, text)
		claimed, found = q.issue(free[0].Name, path, text), true
		return nil
	})
	return claimed, found && err == nil, err
}

// Add adds an issue to the queue, pending, with an id that none has or had. With
// strict set one that is likely to be known is refused: as one of those
// that Likely has found, or by what is in the file by now.
func (q *Queue) Add(ctx context.Context, d Draft, strict bool, known ...Likeness) (added Issue, err error) {
	q.fields.Complete((*layout.Issue)(&d))
	d, fields, err := d.checkNew(q.fields)
	if err != nil {
		return Issue{}, err
	}
	if strict && len(known) > 0 {
		return Issue{}, errKnown(known)
	}
	err = q.work.EditEntries(ctx, record.KindIssue, "", record.SourcePut, func(e *materialize.Entries) error {
		if like := d.among(q.issuesIn(e)); strict && len(like) > 0 {
			return errKnown(like)
		}
		now := q.now().UTC()
		id, err := e.NextID(record.KindIssue, "ISSUE-"+now.Format("20060102")+"-")
		if err != nil {
			return err
		}
		fields.ID, fields.Status, fields.Created = id, string(pending), formatTime(now)
		text := q.fields.Append(nil, fields)
		e.Add(record.KindIssue, id, text)
		added = q.issue(record.Name{Kind: record.KindIssue, ID: id}, e.Path, text)
		return nil
	})
	return added, err
}

// Merge adds what a draft says to the issue with an id, in place of a new one: the
// priority is raised to the higher one, criteria and files are joined, and the
// draft's text becomes an additional report below the details. The issue must be
// open.
func (q *Queue) Merge(ctx context.Context, id string, d Draft) (Issue, error) {
	_, report, err := d.checkNew(q.fields)
	if err != nil {
		return Issue{}, err
	}
	return q.change(ctx, id, func(i Issue) ([]byte, error) {
		if !i.Status.IsOpen() {
			err := record.Conflict.Errorf("%s is %s: a report is added to an open issue only", i.ID, i.Status)
			return nil, err.Try("filebus issue {1} {2}", string(reopen), i.ID)
		}
		return q.merge(i, report)
	})
}

// merge returns the text of an issue with what a draft says.
func (q *Queue) merge(i Issue, d layout.Issue) ([]byte, error) {
	text := i.Text
	if d.Priority != "" && urgency(d.Priority) < urgency(i.Priority) {
		text = q.fields.Set(text, "Priority", d.Priority)
	}
	by := formatTime(q.now())
	if agent := layout.ExtraValue(d.Extra, reporter); agent != "" {
		by += ", " + agent
	}
	report := paragraphs(fmt.Sprintf("**Additional report** (%s): %s", by, d.Summary), d.Details)
	text = q.fields.Set(text, "Details", paragraphs(i.Details, report))
	if all := union(i.Criteria, d.Criteria); len(all) > len(i.Criteria) {
		text = q.fields.Set(text, "Acceptance Criteria", all...)
	}
	if all := union(i.Files, d.Files); len(all) > len(i.Files) {
		text = q.fields.Set(text, "Files", all...)
	}
	if len(text) > 4*maxText {
		return nil, errTooLong(len(text))
	}
	return text, nil
}

// union returns a list with the items of another that it lacks.
func union(list, more []string) []string {
	all := slices.Clone(list)
	for _, item := range more {
		if !slices.Contains(all, item) {
			all = append(all, item)
		}
	}
	return all
}

// Edit sets fields of the issue with an id to what a draft says. The fields are
// named as their flags are. A field whose value is empty is taken away.
func (q *Queue) Edit(ctx context.Context, id string, d Draft, flags []string) (Issue, error) {
	values, err := d.check(q.fields)
	if err != nil {
		return Issue{}, err
	}
	fields := slices.DeleteFunc(q.fields.Inputs(), func(f layout.Field[layout.Issue]) bool {
		return !slices.Contains(flags, f.Flag)
	})
	for _, f := range fields {
		if f.Needed && len(f.Get(&values)) == 0 {
			return Issue{}, errField(f, "", "it cannot be taken away")
		}
	}
	return q.change(ctx, id, func(i Issue) ([]byte, error) {
		text := i.Text
		for _, lists := range []bool{false, true} { // in this order they are added
			for _, f := range fields {
				if isList, _ := f.IsList(); isList == lists {
					text = q.fields.Set(text, f.Name, f.Get(&values)...)
				}
			}
		}
		return text, nil
	})
}

// A Draft is what somebody says of an issue that is new, or that is changed: the
// fields that the table of an issue has flags for.
type Draft layout.Issue

// reporter is the further field that says who has reported an issue.
const reporter = "Reported By"

// By returns the draft as one that an agent reports.
func (d Draft) By(agent string) Draft {
	if agent = markdown.OneLine(agent); agent != "" {
		d.Extra = append(slices.Clone(d.Extra), layout.Property{Key: reporter, Value: agent})
	}
	return d
}

// maxText bounds the text of an issue, in bytes: about 4,000 tokens, twenty times
// what one usually has.
const maxText = 16 << 10

// check returns the fields of a draft as issues have them. The first one that has a
// value which it cannot have is an error.
func (d Draft) check(fields *layout.FieldTable[layout.Issue]) (layout.Issue, error) {
	i := layout.Issue(d)
	size := len(strings.Join(slices.Concat(d.Criteria, d.Files), "\n"))
	fields.Clean(&i)
	if f, value, want := fields.Wrong(&i); want != "" {
		return i, errField(f, value, want)
	}
	for _, f := range fields.Inputs() {
		if isList, _ := f.IsList(); !isList {
			size += len(strings.Join(f.Get(&i), ""))
		}
	}
	if size > maxText {
		return i, errTooLong(size)
	}
	return i, nil
}

// checkNew is check for a draft that is to be a new issue, with what is compared of
// the draft in place.
func (d Draft) checkNew(fields *layout.FieldTable[layout.Issue]) (Draft, layout.Issue, error) {
	i := layout.Issue(d)
	fields.Clean(&i)
	if f, is := fields.Missing(&i); is {
		return d, i, errField(f, "", f.Ask)
	}
	i, err := d.check(fields)
	d.Type, d.Summary = i.Type, i.Summary
	return d, i, err
}

// Check reports what keeps a draft from being a new issue.
func (d Draft) Check(fields *layout.FieldTable[layout.Issue]) error {
	_, _, err := d.checkNew(fields)
	return err
}

// A Likeness is an open issue that a new one may be the same as.
type Likeness struct {
	ID      string      `json:"id"`
	Summary string      `json:"summary"`
	Shared  index.Share `json:"shared"` // of the words of both summaries, as the index has them
	Files   bool        `json:"files"`  // some file is named by both
	Status  Status      `json:"-"`
}

// The shares of words from which on two issues of one type are likely to be the
// same: of any two, of two that name the same file, and of two that name files and
// none in common.
const (
	likelyShare    = 0.6
	likelyWithFile = 0.3
	likelyApart    = 0.8
)

// compare says how much a checked draft is like an issue, and whether it is likely to be
// the same.
func (d Draft) compare(i Issue) (l Likeness, likely bool) {
	if !i.Status.IsOpen() || i.Type != d.Type {
		return Likeness{}, false
	}
	shared := sharedWords(d.Summary, i.Summary)
	l = Likeness{i.ID, i.Summary, shared, filesOverlap(d.Files, i.Files), i.Status}
	need := index.Share(likelyShare)
	switch {
	case l.Files:
		need = likelyWithFile
	case len(d.Files) > 0 && len(i.Files) > 0:
		need = likelyApart
	}
	return l, l.Shared >= need
}

// among returns the issues that a draft is like, the most alike first.
func (d Draft) among(issues []Issue) []Likeness {
	return likeness.Likely(issues, d.compare, Likeness.score)
}

// sharedWords returns the part of the words of two texts that they share.
func sharedWords(a, b string) index.Share {
	termsA, termsB := index.Terms(a), index.Terms(b)
	if len(termsA)+len(termsB) == 0 && strings.EqualFold(a, b) {
		return 1
	}
	return index.Shared(termsA, termsB)
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

// Likely returns the open issues that a draft is likely to be the same as, the
// most alike first. Candidates come from a search for the summary.
func (q *Queue) Likely(ctx context.Context, d Draft) ([]Likeness, error) {
	d, _, err := d.checkNew(q.fields)
	if err != nil {
		return nil, err
	}
	found, err := query.Candidates(ctx, q.read, d.Summary, record.Filter{
		Kinds:    []record.Kind{record.KindIssue},
		Statuses: []string{string(pending), string(accepted), string(inProgress)},
	}, func(ctx context.Context, name record.Name) (Issue, error) { return q.Get(ctx, name.ID) })
	return d.among(found), err
}

// score orders likenesses.
func (l Likeness) score() (score index.Share, id string) {
	if l.Files {
		return l.Shared + likelyWithFile, l.ID
	}
	return l.Shared, l.ID
}

// errKnown says that an issue is not added, as it is likely to be the same as others.
func errKnown(like []Likeness) error {
	err := record.Conflict.Errorf("not added: %s is likely to be the same: %s", like[0].ID, like[0].Summary)
	return err.Try("run it again with --merge {1}, or filebus issue show {1}", like[0].ID).With(like)
}

// errField says that a value is not one for a field.
func errField(f layout.Field[layout.Issue], value, want string) error {
	err := record.Usage.Errorf("%s %q is not %s", f.Flag, value, want)
	if value == "" {
		err = record.Usage.Errorf("an issue needs a %s: %s", f.Flag, want)
	}
	return err.Try("run it again with --{1} {2}", f.Flag, cmp.Or(f.Example, "TEXT"))
}

// errTooLong says that the text of an issue is too long for the queue, which agents
// read.
func errTooLong(size int) error {
	return record.Usage.Errorf("an issue of %d bytes is too long for the queue, which takes %d: "+
		"store the text as a result, and name that in the details", size, maxText).Try("filebus put FILE")
}
