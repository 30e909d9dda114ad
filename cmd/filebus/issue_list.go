package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"filebus/materialize/issue"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

type issueList struct {
	factFlags[layout.Issue]
	Status    []string `flag:"status"`
	Agent     []string `flag:"agent"`
	Open      bool     `flag:"open"`
	MaxTokens int      `flag:"max-tokens" least:"0"`
}

func (o *issueList) run(ctx context.Context, w *workspace, _ []string) error {
	q, err := w.freshQueue(ctx)
	if err != nil {
		return err
	}
	w.noteProblems(ctx, q)
	w.noteNotHere(ctx, record.KindIssue)
	o.facts["status"] = withWords(o.Status)
	all, err := q.List(ctx, issue.Filter{Facts: o.facts, Agents: o.Agent, Open: o.Open})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		w.noteStatus("issue", o.facts["status"], func() []string {
			every, _ := q.List(ctx, issue.Filter{}) // it has just been read
			known := markdown.Each(every, func(i issue.Issue) string { return string(i.Status) })
			slices.Sort(known)
			return slices.Compact(known)
		})
	}
	return printIssues(w, all, o.MaxTokens, "--max-tokens 0")
}

type issueListJSON struct {
	Issues []issue.Issue `json:"issues"` // without what is long
	More   int           `json:"more,omitempty"`
}

// printIssues prints as many issues as some tokens hold.
func printIssues(w *workspace, all []issue.Issue, maxTokens int, rest string) error {
	rows := markdown.Each(all, w.issueRow)
	all = markdown.Each(all, issue.Issue.Brief)
	return w.presentTable(rows, presentation{
		maxTokens: maxTokens, what: "issue_queue", none: "no issues",
		json: func(n int) any { return issueListJSON{all[:n], len(all) - n} },
		rest: rest,
	})
}

type issueShow struct {
	MaxTokens int `flag:"max-tokens" least:"0"`
}

func (o *issueShow) run(ctx context.Context, w *workspace, args []string) error {
	q, err := w.freshQueue(ctx)
	if err != nil {
		return err
	}
	i, err := q.Get(ctx, args[0])
	if err != nil {
		return err
	}
	return printIssue(w, i, o.MaxTokens)
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
	return printIssues(w, found, issueTokens, "filebus issue list --max-tokens 0")
}

// issueTokens is how much of an issue is shown unless more is asked for.
const issueTokens = 400

// printIssue prints what an agent needs to work on an issue.
func printIssue(w *workspace, i issue.Issue, maxTokens int) error {
	return w.presentLines(w.issueLines(i), presentation{
		maxTokens: maxTokens, what: i.Name.String(), json: func(int) any { return i },
		rest: "filebus issue show " + record.ShellWord(i.ID) + " --max-tokens 0",
	})
}

// issueLines returns an issue as people and agents read it.
func (e *environ) issueLines(i issue.Issue) []string {
	f := i.Issue
	lines := []string{strings.Join([]string{
		i.ID, string(i.Status), cmp.Or(i.Priority, "-"), cmp.Or(i.Type, "-"), cmp.Or(oneLine(f.Complexity), "-"),
	}, "  ")}
	for _, field := range []struct{ name, value string }{
		{"claimed by", strings.TrimPrefix(e.issueHolder(i), "-")}, {"duplicate of", f.DuplicateOf},
		{"created", f.Created}, {"source", f.Source}, {"loop", f.Loop}, {"task", f.TaskRef},
		{"summary", i.Summary}, {"files", strings.Join(f.Files, ", ")},
		{"state", f.State}, {"parent", f.Parent}, {"depends on", strings.Join(f.DependsOn, ", ")},
	} {
		if field.value != "" || field.name == "summary" {
			lines = append(lines, field.name+": "+oneLine(field.value))
		}
	}
	if len(f.Criteria) > 0 {
		lines = append(lines, "acceptance criteria:")
	}
	lines = append(lines, led("- ", markdown.Each(f.Criteria, oneLine))...)
	for _, block := range []struct{ name, text string }{{"details", f.Details}, {"rationale", f.Rationale}} {
		if block.text == "" {
			continue
		}
		lines = append(lines, block.name+":")
		for line := range strings.SplitSeq(block.text, "\n") {
			lines = append(lines, oneLine(line))
		}
	}
	return lines
}
