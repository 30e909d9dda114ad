package issue

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// Commands are the commands of issues.
func Commands() []cli.Command {
	f := issueFace()
	next := &issueNext{FactFlags: cli.FactFlags[layout.Issue]{Fields: f.Of.Fields.Filters()}}
	more := []cli.Command{cli.Fresh("next", next), cli.Fresh("wait", &issueWait{WaitFlags: cli.UsualWait()})}
	return []cli.Command{cli.Group("issue", append(f.Commands(), more...)...)}
}

// issueFace is how issues are shown.
func issueFace() *cli.Face[layout.Issue] {
	seen := func(w *cli.Work, e noun.Entry[layout.Issue]) Issue { return Of(w).Issue(e) }
	return &cli.Face[layout.Issue]{
		Of: Type(), Lead: "summary",
		Adds:  func(o cli.NounAdd[layout.Issue]) cli.Runner { return &issueAdd{NounAdd: o} },
		Lists: func(o cli.NounList[layout.Issue]) cli.Runner { return &issueList{NounList: o} },
		Open:  func(w *cli.Work) *noun.Collection[layout.Issue] { return &Of(w).Collection },
		Hide:  []string{"Status", "Type", "Priority", "Complexity", "Claimed By", "Claimed At", "Lease Until", "Assignee"},
		View:  func(w *cli.Work, e noun.Entry[layout.Issue]) any { return seen(w, e) },
		Brief: func(w *cli.Work, e noun.Entry[layout.Issue]) any { return seen(w, e).Brief() },
		Line:  func(w *cli.Work, e noun.Entry[layout.Issue]) string { return issueLine(w.Environ, seen(w, e)) },
		Lines: func(w *cli.Work, e noun.Entry[layout.Issue]) []string { return issueHead(w.Environ, seen(w, e)) },
		Do: func(ctx context.Context, w *cli.Work, v noun.Verb, id string, a noun.Act) error {
			i, err := Of(w).Do(ctx, v.Name, id, a)
			if err != nil {
				return err
			}
			w.RemarkLocal(i.ID+" is claimed", i.Local)
			return w.Print(i.Brief(), "%s\n", cli.OneLine(issueLine(w.Environ, i)))
		},
	}
}

// queueWait is how long adding an issue waits for the index, at most: what is not
// indexed by then is not looked at for duplicates.
const queueWait = 2 * time.Second

// Of returns the issue queue of a workspace.
func Of(w *cli.Work) *Queue {
	q := New(w.Workspace, w.NewReader(w.Store, query.Options{MaxWait: queueWait}), w.Now)
	q.Kept = w.Kept
	return q
}

// SettleTask ends the issues that an agent has claimed and whose task, of the same id, it has completed
// since. Of a task that has just ended it says which issue stays open.
func SettleTask(ctx context.Context, w *cli.Work,
	standing func(context.Context, string) (layout.Standing, error), tasks ...string,
) {
	q := Of(w)
	open, err := q.Read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindIssue}, Statuses: record.Any(inProgress)})
	for _, s := range open {
		i, wrong := q.Get(ctx, s.Name.ID)
		t, unknown := standing(ctx, s.Name.ID)
		isIts := func(task string) bool { return layout.JournalID(task) == layout.JournalID(i.ID) }
		switch {
		case cmp.Or(wrong, unknown) != nil || i.IsForeign || layout.NormalizeStatus(t.Outcome) != layout.StatusComplete:
		case !i.At.IsZero() && t.Ended.After(s.Version.Record.Time) && sameAgent(i.Agent, t.Agent):
			if i, wrong = q.Do(ctx, "done", i.ID, noun.Act{Agent: i.Agent}); wrong == nil {
				w.Remark("%s", cli.OneLine(issueLine(w.Environ, i)))
			}
			err = cmp.Or(err, wrong)
		case slices.ContainsFunc(tasks, isIts):
			who := record.ShellWord(cmp.Or(i.Agent, "NAME"))
			w.Remark("%s is still %s: filebus issue done %s --agent %s", i.ID, i.Status, i.ID, who)
		}
	}
	if err != nil {
		w.NoteTry("filebus issue list --open", "the queue was not told: %s", cli.Message(err))
	}
}

// freshQueue returns the queue with what was written to its file just now.
func freshQueue(ctx context.Context, w *cli.Work) (*Queue, error) {
	_, err := issueFace().Collection(ctx, w)
	return Of(w), err
}

// issueHolder shows who has claimed an issue and for how long.
func issueHolder(e *cli.Environ, i Issue) string {
	switch {
	case i.Agent == "":
		return "-"
	case !i.Open || i.Until.IsZero():
		return i.Agent
	case i.Expired:
		return i.Agent + " (expired)"
	}
	return i.Agent + " until " + e.Minute(i.Until)
}

// issueHead returns what an issue is shown with before its fields.
func issueHead(e *cli.Environ, i Issue) []string {
	word := func(value string) string { return cmp.Or(cli.OneLine(value), "-") }
	lines := []string{strings.Join([]string{i.ID, i.Status, word(i.Priority), word(i.Type), word(i.Complexity)}, "  ")}
	if i.Agent != "" {
		lines = append(lines, "claimed by: "+cli.OneLine(issueHolder(e, i)))
	}
	for _, other := range [][2]string{ // what the title says, and what other programs keep
		{"summary", i.Summary}, {"state", i.State}, {"parent", i.Parent}, {"depends on", strings.Join(i.DependsOn, ", ")},
	} {
		if other[1] != "" && (other[0] != "summary" || i.Issue.Summary == "") {
			lines = append(lines, other[0]+": "+cli.OneLine(other[1]))
		}
	}
	return lines
}

// listedIssues returns issues as they are listed.
func listedIssues(e *cli.Environ, all []Issue) []cli.Listed {
	return markdown.Each(all, func(i Issue) cli.Listed {
		summary := markdown.Clip(i.Summary, cli.MaxSummaryCell)
		if i.DuplicateOf != "" {
			summary = "(of " + i.DuplicateOf + ") " + summary
		}
		return cli.Listed{Row: []string{i.ID, i.Status, cmp.Or(i.Priority, "-"), cmp.Or(i.Type, "-"), issueHolder(e, i),
			summary}, View: i.Brief()}
	})
}

// issueLine shows an issue that was changed.
func issueLine(e *cli.Environ, i Issue) string {
	line := i.ID + "  " + i.Status
	switch holder := issueHolder(e, i); {
	case i.DuplicateOf != "":
		line += "  of " + i.DuplicateOf
	case holder != "-":
		line += "  " + holder
	}
	return line
}

type issueAdd struct {
	cli.NounAdd[layout.Issue]
	Agent string `flag:"agent"`
	Merge string `flag:"merge" not:"no-duplicates"`
}

// IssueAddedJSON is what a command prints with --json.
type IssueAddedJSON struct {
	ID         string          `json:"id"`
	Status     string          `json:"status"`
	Priority   string          `json:"priority"`
	File       string          `json:"file"` // absolute
	Merged     bool            `json:"merged,omitempty"`
	Duplicates []noun.Likeness `json:"duplicates,omitempty"`
}

func (o *issueAdd) Do(ctx context.Context, w *cli.Work, args []string) error {
	draft, err := o.Draft(w, args)
	if err != nil {
		return err
	}
	draft = Reported(draft, w.Or(o.Agent, "FILEBUS_AGENT"))
	if w, err = w.Create(ctx); err != nil {
		return err
	}
	var i Issue
	var like []noun.Likeness
	if q := Of(w); o.Merge != "" {
		i, err = q.Merge(ctx, o.Merge, draft)
	} else {
		var e noun.Entry[layout.Issue]
		e, like, err = o.Add(ctx, w, draft)
		i = q.Issue(e)
	}
	if err != nil {
		return err
	}
	return w.Print(IssueAddedJSON{i.ID, i.Status, i.Priority, i.File, o.Merge != "", like}, "%s\n", i.ID)
}

type issueList struct {
	cli.NounList[layout.Issue]
	Agent []string `flag:"agent"`
}

func (o *issueList) Do(ctx context.Context, w *cli.Work, args []string) error {
	o.List = func(ctx context.Context, w *cli.Work, f noun.Filter) ([]cli.Listed, error) {
		all, err := Of(w).List(ctx, Filter{Filter: f, Agents: o.Agent})
		return listedIssues(w.Environ, all), err
	}
	return o.NounList.Do(ctx, w, args)
}

type issueNext struct {
	cli.FactFlags[layout.Issue]
	Claim bool `flag:"claim"`
	cli.ActFlags
}

func (o *issueNext) Prepare(cmd *cobra.Command) {
	o.FactFlags.Prepare(cmd)
	o.PrepareSome(cmd, []string{"agent", "lease", "task"})
}

func (o *issueNext) Check(env *cli.Environ, args []string) error {
	return cmp.Or(o.FactFlags.Check(env, args), o.ActFlags.Check(env, args))
}

func (o *issueNext) Do(ctx context.Context, w *cli.Work, _ []string) error {
	act := o.Asked(w.Environ)
	q, err := freshQueue(ctx, w)
	if err != nil {
		return err
	}
	w.NoteProblems(q.Problems(ctx))
	var found bool
	var i Issue
	if filter := (Filter{Filter: noun.Filter{Facts: o.Facts}}); o.Claim {
		i, found, err = q.ClaimNext(ctx, filter, act)
	} else {
		i, found, err = q.Next(ctx, filter, act.Agent)
	}
	switch {
	case err != nil:
		return err
	case found:
		w.RemarkLocal(i.ID+" is claimed", i.Local)
		f := issueFace()
		f.View = func(*cli.Work, noun.Entry[layout.Issue]) any { return i }
		return f.Print(w, i.Entry(), cli.NounTokens)
	}
	w.Note("no issue is waiting")
	return w.Print(nil, "")
}

type issueWait struct {
	cli.WaitFlags
	Since string `flag:"since"`
}

func (o *issueWait) Do(ctx context.Context, w *cli.Work, _ []string) error {
	q, err := freshQueue(ctx, w)
	if err != nil {
		return err
	}
	request := WaitOptions{Waiter: o.Waiter(w), Taking: !w.Global.NoSync}
	if o.Since != "" {
		request.From, err = w.Position(ctx, o.Since)
	} else {
		request.From, err = query.Position(ctx, w.Store)
	}
	if err != nil {
		return err
	}
	defer w.Waited("issue_queue", w.Now())
	found, err := q.Wait(ctx, request)
	if err != nil {
		return err
	}
	return issueFace().PrintList(w, listedIssues(w.Environ, found), cli.NounTokens, "filebus issue list --max-tokens 0")
}
