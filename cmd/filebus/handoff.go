package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/issue"
	"filebus/cmd/filebus/noun"
	"filebus/cmd/filebus/result"
	runs "filebus/cmd/filebus/run"
	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

type handoffCommand struct {
	To        string `flag:"to"`
	MaxTokens int    `flag:"max-tokens" least:"100" all:"0" in:"a handoff"`
}

// handoffs is the conversation of the handoffs of whole sessions among the results.
const handoffs = "handoff"

// handoffTokens is how long such a handoff is unless more is asked for.
const handoffTokens = 1500

// A handoffPart is what a handoff says under one heading, what matters most first.
type handoffPart struct {
	Title string   `json:"title"`
	Lines []string `json:"lines"`
}

type handoffJSON struct {
	Name  record.Name     `json:"name"`
	Ref   record.ShortRef `json:"ref"`
	File  string          `json:"file,omitempty"` // that --to has made
	Parts []handoffPart   `json:"parts"`
	More  int             `json:"more,omitempty"` // lines that there was no room for
}

func (o *handoffCommand) Check(*cli.Environ, []string) error {
	if o.To == "-" {
		return cli.UsageError("--to names a file: the handoff is printed in any case")
	}
	return nil
}

func (o *handoffCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	parts, err := handoffParts(ctx, w)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return record.NotFound.Errorf("there is nothing to hand over: no task, issue, result, finding or changed file")
	}
	fitting, more := fitted(parts, o.MaxTokens)
	text := handoffText(fitting)
	view := handoffJSON{Parts: fitting, More: more}
	if o.To != "" {
		view.File = w.Abs(o.To)
		if _, err := os.Lstat(view.File); err == nil {
			return record.Conflict.Errorf("%s is there already, and a handoff never replaces a file", o.To).Try("run it again with another --to")
		}
		if err := result.WriteFile(ctx, view.File, []byte(text), false); err != nil {
			return err
		}
	}
	if view.Name, view.Ref, err = keepHandoff(ctx, w, text); err != nil {
		return err
	}
	if err := w.Print(view, "%s", text); err != nil {
		return err
	}
	w.NoteRest(more, "filebus handoff --max-tokens 0")
	w.Note("kept as %s", view.Ref)
	return nil
}

// lastHandoff returns the last handoff of a session, if there is one.
func lastHandoff(ctx context.Context, w *cli.Work) (last query.Summary, found bool, err error) {
	kept, err := w.Reader.List(ctx, query.ListRequest{Limit: 1, Filter: record.Filter{
		Kinds: []record.Kind{record.KindResult}, Conversations: []string{handoffs}, Trees: []record.Tree{""},
	}})
	if err != nil || len(kept.Entries) == 0 {
		return last, false, err
	}
	return kept.Entries[0], true, nil
}

// keepHandoff stores a handoff, unless the last one says the same.
func keepHandoff(ctx context.Context, w *cli.Work, text string) (record.Name, record.ShortRef, error) {
	last, found, err := lastHandoff(ctx, w)
	if err != nil || found && last.Version.Record.Body == record.DigestOf([]byte(text)) {
		return last.Name, last.Ref, err
	}
	put, err := result.Put(ctx, w.Workspace, result.Call{
		Conversation: handoffs, ID: w.Now().UTC().Format("20060102-150405.000"), Tags: []string{handoffs},
		Agent: w.Or("", "FILEBUS_AGENT"), Session: w.Or("", cli.SessionVariables()...),
		Run: w.Or("", "FILEBUS_RUN"), Raw: true,
	}, store.Expect{}, strings.NewReader(text))
	if err != nil {
		return record.Name{}, record.ShortRef{}, err
	}
	return put.Name, record.ShortRef(put.Ref), nil
}

// handoffText returns a handoff as Markdown.
func handoffText(parts []handoffPart) string {
	var out strings.Builder
	out.WriteString("# Handoff\n")
	for _, p := range parts {
		fmt.Fprintf(&out, "\n## %s\n\n", p.Title)
		for _, line := range p.Lines {
			out.WriteString("- " + line + "\n")
		}
	}
	return out.String()
}

// fitted returns as many lines of the parts as some tokens hold (0: all), the first of each
// part before the second of any, and how many it left out.
func fitted(parts []handoffPart, maxTokens int) (fitting []handoffPart, more int) {
	most := 0
	for _, p := range parts {
		most = max(most, len(p.Lines))
		more += len(p.Lines)
	}
	first := func(n, extra int) (some []handoffPart) { // n lines of each part, and of the first ones one more
		for i, p := range parts {
			if p.Lines = p.Lines[:min(len(p.Lines), n+min(max(extra-i, 0), 1))]; len(p.Lines) > 0 {
				some = append(some, p)
			}
		}
		return some
	}
	steps := most * len(parts)
	tooLong := func(step int) bool {
		size := len(handoffText(first((step+1)/len(parts), (step+1)%len(parts))))
		return maxTokens > 0 && record.EstimateTokens(int64(size)) > maxTokens
	}
	step := sort.Search(steps, tooLong)
	fitting = first(step/len(parts), step%len(parts))
	for _, p := range fitting {
		more -= len(p.Lines)
	}
	return fitting, more
}

// handoffParts gathers what somebody needs who goes on in another session.
func handoffParts(ctx context.Context, w *cli.Work) (parts []handoffPart, err error) {
	add := func(title string, lines []string) {
		if len(lines) > 0 {
			short := func(line string) string { return markdown.Clip(cli.OneLine(line), 200) }
			parts = append(parts, handoffPart{title, markdown.Each(lines, short)})
		}
	}
	status, err := runs.Of(w).Status(ctx, task.DefaultLate)
	if err != nil {
		return nil, err
	}
	if status.Run != "" {
		add("Run", []string{cli.Words(status.Run, "loop", cmp.Or(status.State.Loop, "none"), status.Focus, status.Ended)})
	}
	items, err := task.Of(w).List(ctx, task.ListOptions{})
	if err != nil {
		return nil, err
	}
	var next, open, failed, watch, asked []string
	for _, i := range items {
		line := cli.Words(i.ID, i.Status, i.Title, i.Agent)
		switch {
		case slices.Contains([]string{layout.StatusFailed, layout.StatusBlocked}, i.Status):
			failed = append(failed, line)
		case i.Marked || !layout.IsOpen(i.Status):
			continue
		case i.Status == layout.StatusInProgress:
			open = slices.Insert(open, 0, line)
		default:
			open = append(open, line)
		}
	}
	for _, h := range lastHandovers(ctx, w, items) {
		next = append(next, h.NextSteps...)
		failed = append(failed, h.Blockers...)
		watch = append(watch, markdown.Each(h.Gotchas, func(g layout.HandoffGotcha) string { return g.Issue })...)
		asked = append(asked, markdown.Each(h.Questions, func(q layout.HandoffQuestion) string { return q.Question })...)
	}
	issues, err := issue.Of(w).List(ctx, issue.Filter{Filter: noun.Filter{Open: true}})
	add("Next", next)
	add("Open tasks", open)
	add("Failed and blocked", failed)
	add("Open questions", asked)
	add("Open issues", markdown.Each(issues, func(i issue.Issue) string { return cli.Words(i.ID, i.Priority, i.Status, i.Summary) }))
	for _, types := range [][]string{{"decision"}, {"gotcha", "lesson", "pattern"}} {
		const mostFindings = 20
		found, _, readErr := w.Reader.Knowledge(ctx, query.KnowledgeRequest{Types: types, Limit: mostFindings, First: true})
		err = cmp.Or(err, readErr)
		lines := markdown.Each(found, func(k query.Knowledge) string { return k.Version.Record.Name.ID + "  " + k.Line() })
		if types[0] != "decision" {
			watch, lines = append(watch, lines...), nil
		}
		add("Decisions", lines)
	}
	add("Watch out", watch)
	results, listErr := lastResults(ctx, w)
	add("Last results", results)
	add("Changed files, not committed", changedFiles(ctx, w))
	return parts, cmp.Or(err, listErr, ctx.Err())
}

// lastResults names the last results that are no handoffs.
func lastResults(ctx context.Context, w *cli.Work) (lines []string, err error) {
	const most = 8
	list := query.Listing{More: 1}
	for offset := 0; err == nil && list.More > 0 && len(lines) < most; offset += most {
		list, err = w.Reader.List(ctx, query.ListRequest{
			Limit: most, Offset: offset, Filter: record.Filter{Kinds: []record.Kind{record.KindResult}, Trees: []record.Tree{""}},
		})
		for _, e := range list.Entries {
			if e.Conversation != handoffs && len(lines) < most {
				lines = append(lines, cli.Words("`filebus get "+e.Ref.String()+"`", e.Agent, e.Status, w.Minute(e.Time), e.Title))
			}
		}
	}
	return lines, err
}

// changedFiles returns the files of the user and of other tools that git has not committed.
func changedFiles(ctx context.Context, w *cli.Work) []string {
	changed, _ := runs.Changed(ctx, w.Root, w.Variables) // without git there is nothing to say
	return slices.DeleteFunc(changed, func(p string) bool {
		at := w.Settings.Profile.Recognize(p)
		return at.Kind != record.KindNote && at.Declared == ""
	})
}

// lastHandovers returns the handoffs of the tasks that have changed last.
func lastHandovers(ctx context.Context, w *cli.Work, items []task.Item) (last []layout.Handoff) {
	const most = 5
	for _, i := range items {
		if i.From != task.FromJournal || !layout.HasEnded(i.Status) {
			continue
		}
		j, err := task.Of(w).Get(ctx, i.Journal())
		if err == nil && j.Handoff != nil { // what cannot be read is listed all the same
			last = append(last, *j.Handoff)
		}
		if len(last) == most {
			break
		}
	}
	return last
}
