package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/issue"
	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
)

// issueCommands are the commands of issues.
func issueCommands() []command {
	f := issueFace()
	next := &issueNext{factFlags: factFlags[layout.Issue]{fields: f.of.Fields.Filters()}}
	more := []command{fresh("next", next), fresh("wait", &issueWait{waitFlags: usualWait()})}
	return []command{group("issue", append(f.commands(), more...)...)}
}

// issueFace is how issues are shown.
func issueFace() *face[layout.Issue] {
	seen := func(w *workspace, e noun.Entry[layout.Issue]) issue.Issue { return w.queue().Issue(e) }
	return &face[layout.Issue]{
		of: issue.Type(), lead: "summary",
		adds:  func(o nounAdd[layout.Issue]) runner { return &issueAdd{nounAdd: o} },
		lists: func(o nounList[layout.Issue]) runner { return &issueList{nounList: o} },
		open:  func(w *workspace) *noun.Collection[layout.Issue] { return &w.queue().Collection },
		hide:  []string{"Status", "Type", "Priority", "Complexity", "Claimed By", "Claimed At", "Lease Until", "Assignee"},
		view:  func(w *workspace, e noun.Entry[layout.Issue]) any { return seen(w, e) },
		brief: func(w *workspace, e noun.Entry[layout.Issue]) any { return seen(w, e).Brief() },
		line:  func(w *workspace, e noun.Entry[layout.Issue]) string { return w.issueLine(seen(w, e)) },
		lines: func(w *workspace, e noun.Entry[layout.Issue]) []string { return w.issueHead(seen(w, e)) },
		do: func(ctx context.Context, w *workspace, v noun.Verb, id string, a noun.Act) error {
			i, err := w.queue().Do(ctx, v.Name, id, a)
			if err != nil {
				return err
			}
			w.remarkLocal(i.ID+" is claimed", i.Local)
			return w.print(i.Brief(), "%s\n", oneLine(w.issueLine(i)))
		},
	}
}

// queueWait is how long adding an issue waits for the index, at most: what is not
// indexed by then is not looked at for duplicates.
const queueWait = 2 * time.Second

// queue returns the issue queue of a workspace.
func (w *workspace) queue() *issue.Queue {
	return issue.New(w.Workspace, w.reader(w.Store, query.Options{MaxWait: queueWait}), w.now)
}

// freshQueue returns the queue with what was written to its file just now.
func (w *workspace) freshQueue(ctx context.Context) (*issue.Queue, error) {
	_, err := issueFace().collection(ctx, w)
	return w.queue(), err
}

// issueHolder shows who has claimed an issue and for how long.
func (e *environ) issueHolder(i issue.Issue) string {
	switch {
	case i.Agent == "":
		return "-"
	case !i.Open || i.Until.IsZero():
		return i.Agent
	case i.Expired:
		return i.Agent + " (expired)"
	}
	return i.Agent + " until " + e.minute(i.Until)
}

// issueHead returns what an issue is shown with before its fields.
func (e *environ) issueHead(i issue.Issue) []string {
	word := func(value string) string { return cmp.Or(oneLine(value), "-") }
	lines := []string{strings.Join([]string{i.ID, i.Status, word(i.Priority), word(i.Type), word(i.Complexity)}, "  ")}
	if i.Agent != "" {
		lines = append(lines, "claimed by: "+oneLine(e.issueHolder(i)))
	}
	for _, other := range [][2]string{ // what the title says, and what other programs keep
		{"summary", i.Summary}, {"state", i.State}, {"parent", i.Parent}, {"depends on", strings.Join(i.DependsOn, ", ")},
	} {
		if other[1] != "" && (other[0] != "summary" || i.Issue.Summary == "") {
			lines = append(lines, other[0]+": "+oneLine(other[1]))
		}
	}
	return lines
}

// listedIssues returns issues as they are listed.
func (e *environ) listedIssues(all []issue.Issue) []listed {
	return markdown.Each(all, func(i issue.Issue) listed {
		summary := markdown.Clip(i.Summary, maxSummaryCell)
		if i.DuplicateOf != "" {
			summary = "(of " + i.DuplicateOf + ") " + summary
		}
		return listed{[]string{i.ID, i.Status, cmp.Or(i.Priority, "-"), cmp.Or(i.Type, "-"), e.issueHolder(i), summary}, i.Brief()}
	})
}

// issueLine shows an issue that was changed.
func (e *environ) issueLine(i issue.Issue) string {
	line := i.ID + "  " + i.Status
	switch holder := e.issueHolder(i); {
	case i.DuplicateOf != "":
		line += "  of " + i.DuplicateOf
	case holder != "-":
		line += "  " + holder
	}
	return line
}

type issueAdd struct {
	nounAdd[layout.Issue]
	Agent string `flag:"agent"`
	Merge string `flag:"merge" not:"no-duplicates"`
}

type issueAddedJSON struct {
	ID         string          `json:"id"`
	Status     string          `json:"status"`
	Priority   string          `json:"priority"`
	File       string          `json:"file"` // absolute
	Merged     bool            `json:"merged,omitempty"`
	Duplicates []noun.Likeness `json:"duplicates,omitempty"`
}

func (o *issueAdd) run(ctx context.Context, w *workspace, args []string) error {
	draft, err := o.draft(w, args)
	if err != nil {
		return err
	}
	draft = issue.Reported(draft, w.or(o.Agent, "FILEBUS_AGENT"))
	if w, err = w.create(ctx); err != nil {
		return err
	}
	var i issue.Issue
	var like []noun.Likeness
	if q := w.queue(); o.Merge != "" {
		i, err = q.Merge(ctx, o.Merge, draft)
	} else {
		var e noun.Entry[layout.Issue]
		e, like, err = o.add(ctx, w, draft)
		i = q.Issue(e)
	}
	if err != nil {
		return err
	}
	return w.print(issueAddedJSON{i.ID, i.Status, i.Priority, i.File, o.Merge != "", like}, "%s\n", i.ID)
}

type issueList struct {
	nounList[layout.Issue]
	Agent []string `flag:"agent"`
}

func (o *issueList) run(ctx context.Context, w *workspace, args []string) error {
	o.list = func(ctx context.Context, w *workspace, f noun.Filter) ([]listed, error) {
		all, err := w.queue().List(ctx, issue.Filter{Filter: f, Agents: o.Agent})
		return w.listedIssues(all), err
	}
	return o.nounList.run(ctx, w, args)
}

type issueNext struct {
	factFlags[layout.Issue]
	Claim bool `flag:"claim"`
	actFlags
}

func (o *issueNext) prepare(cmd *cobra.Command) {
	o.factFlags.prepare(cmd)
	o.prepareSome(cmd, []string{"agent", "lease", "task"})
}

func (o *issueNext) check(env *environ, args []string) error {
	return cmp.Or(o.factFlags.check(env, args), o.actFlags.check(env, args))
}

func (o *issueNext) run(ctx context.Context, w *workspace, _ []string) error {
	act := o.asked(w.environ)
	q, err := w.freshQueue(ctx)
	if err != nil {
		return err
	}
	w.noteProblems(q.Problems(ctx))
	var found bool
	var i issue.Issue
	if filter := (issue.Filter{Filter: noun.Filter{Facts: o.facts}}); o.Claim {
		i, found, err = q.ClaimNext(ctx, filter, act)
	} else {
		i, found, err = q.Next(ctx, filter, act.Agent)
	}
	switch {
	case err != nil:
		return err
	case found:
		w.remarkLocal(i.ID+" is claimed", i.Local)
		f := issueFace()
		f.view = func(*workspace, noun.Entry[layout.Issue]) any { return i }
		return f.print(w, i.Entry(), nounTokens)
	}
	w.note("no issue is waiting")
	return w.print(nil, "")
}

type issueWait struct {
	waitFlags
	Since string `flag:"since"`
}

func (o *issueWait) run(ctx context.Context, w *workspace, _ []string) error {
	q, err := w.freshQueue(ctx)
	if err != nil {
		return err
	}
	request := issue.WaitOptions{Waiter: o.waiter(w), Taking: !w.global.noSync}
	if o.Since != "" {
		request.From, err = w.position(ctx, o.Since)
	} else {
		request.From, err = query.Position(ctx, w.Store)
	}
	if err != nil {
		return err
	}
	defer w.waited("issue_queue", w.now())
	found, err := q.Wait(ctx, request)
	if err != nil {
		return err
	}
	return issueFace().printList(w, w.listedIssues(found), nounTokens, "filebus issue list --max-tokens 0")
}
