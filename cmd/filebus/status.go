package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/dialogue"
	"filebus/cmd/filebus/issue"
	"filebus/cmd/filebus/noun"
	runs "filebus/cmd/filebus/run"
	"filebus/cmd/filebus/session"
	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

type statusCommand struct {
	Late      time.Duration `flag:"late"`
	MaxTokens int           `flag:"max-tokens" least:"100" all:"0" in:"a status"`
}

func (o *statusCommand) Check(*cli.Environ, []string) error { return task.CheckLate(o.Late) }

func (o *statusCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	w.TakeIn(ctx, record.KindState, "session_state")
	status, err := runs.Of(w).Status(ctx, o.Late)
	if err != nil {
		return err
	}
	going, err := goingOn(ctx, w, status)
	if err == nil {
		status.Issues, err = countIssues(ctx, w)
	}
	if err != nil {
		return err
	}
	view, lines, err := lately(ctx, w, status)
	if err != nil {
		return err
	}
	return w.PresentShort(append(statusLines(status, going), lines...), cli.Presentation{
		What: "status", MaxTokens: o.MaxTokens, Exact: true, JSON: func(int) any { return view },
	})
}

type statusJSON struct {
	runs.Status
	Lists   []task.FolderCount `json:"lists"`             // with open tasks
	Handoff *record.ShortRef   `json:"handoff,omitempty"` // the last one of a session
	Changed int                `json:"changed"`           // records since yesterday, 100 at the most
}

// lastHandoffFile returns the last note that is a handoff by its convention, such as HANDOFF.md, if there is one.
func lastHandoffFile(ctx context.Context, w *cli.Work) (last query.Summary, found bool, err error) {
	paths, err := w.Reader.Values(ctx, store.FieldPath, ":")
	for _, path := range paths {
		if !strings.Contains(strings.ToLower(path.Text), "handoff") {
			continue
		}
		err = cmp.Or(err, w.Reader.Each(ctx, store.FieldPath, path.Text, func(tx *store.Tx, v store.Version) bool {
			s := query.Summarize(tx, v)
			is := s.Name.Kind == record.KindNote && s.Attributes[record.AttributeType] == "handoff"
			if is && (!found || dateOf(s).After(dateOf(last))) {
				last, found = s, true
			}
			return true
		}))
	}
	return last, found, err
}

func dateOf(s query.Summary) time.Time { return s.Version.Record.Date() }

// lately adds to a status what files list as open, the last handoff of a session and how much
// has changed since yesterday.
func lately(ctx context.Context, w *cli.Work, status *runs.Status) (v statusJSON, lines []string, err error) {
	const mostLists, mostChanged = 5, 100
	v.Status = *status
	if v.Lists, err = task.Of(w).Folders(ctx); err != nil {
		return v, nil, err
	}
	for i, f := range v.Lists[:min(len(v.Lists), mostLists)] {
		lead := []string{"           ", "lists      "}[max(1-i, 0)]
		lines = append(lines, fmt.Sprintf("%s%d open, %d done  %s", lead, f.Open, f.Done, cmp.Or(f.Folder, ".")))
	}
	if more := len(v.Lists) - mostLists; more > 0 {
		lines = append(lines, fmt.Sprintf("           … and %d more; filebus task list --open", more))
	}
	last, found, err := lastHandoff(ctx, w)
	file, isFile, fileErr := lastHandoffFile(ctx, w)
	name := ""
	if err = cmp.Or(err, fileErr); isFile && (!found || dateOf(file).After(dateOf(last))) {
		last, found, name = file, true, cli.OneLine(file.Path)+"  "
	}
	if found {
		v.Handoff = &last.Ref
		name += last.Ref.String()
		lines = append(lines, fmt.Sprintf("handoff    %s, %s ago", name, layout.DurationText(max(w.Now().Sub(dateOf(last)), 0))))
	}
	latest, listErr := w.Reader.List(ctx, query.ListRequest{Filter: record.Filter{Trees: []record.Tree{""}}, Limit: mostChanged})
	for _, e := range latest.Entries {
		if w.Now().Sub(e.Time) < 24*time.Hour {
			v.Changed++
		}
	}
	if v.Changed > 0 {
		more := map[bool]string{true: " or more"}[v.Changed == mostChanged]
		lines = append(lines, fmt.Sprintf("changed    %d%s since yesterday; filebus log", v.Changed, more))
	}
	return v, lines, cmp.Or(err, listErr)
}

// statusLines returns a status in lines.
func statusLines(s *runs.Status, going []string) []string {
	lines := []string{"run        none"}
	if s.Run != "" {
		lines[0] = "run        " + s.Run + ", loop " + cli.CutText(cmp.Or(s.State.Loop, "none"))
		if s.Focus != "" {
			lines[0] += ", " + s.Focus
		}
		if s.Ended != "" {
			lines[0] += ", ended " + s.Ended
		}
	}
	lines = append(append(append(lines, workLines(s)...), countLine(s.Issues)), going...)
	for i, r := range s.Results {
		lead := "           "
		if i == 0 {
			lead = "results    "
		}
		about := cli.Words(r.Agent, r.Status)
		lines = append(lines, lead+strings.TrimSpace(fmt.Sprintf("%s %s %s, %s ago  %s", r.Ref, about,
			cli.TokenText(r.Tokens), layout.DurationText(r.Age), r.Title)))
	}
	if s.Conflicts > 0 {
		lines = append(lines, fmt.Sprintf("conflicts  %d; filebus conflicts", s.Conflicts))
	}
	switch {
	case s.Behind == nil:
		lines = append(lines, "index      being written, or damaged")
	case *s.Behind > 0:
		lines = append(lines, fmt.Sprintf("index      %d behind; the next search catches up", *s.Behind))
	}
	return lines
}

// workLines says who is at work, the oldest first.
func workLines(s *runs.Status) []string {
	head := fmt.Sprintf("working    %d", s.Working)
	if s.Late > 0 {
		head += fmt.Sprintf(", %d late", s.Late)
	}
	if len(s.Ends) > 0 {
		head += "; " + s.Ends.String()
	}
	lines := []string{head}
	for _, w := range s.Tasks {
		line := cli.CutText(cli.Words(runs.Who(w.Agent, w.Task), w.Model))
		if w.Known {
			line += ", " + layout.DurationText(time.Duration(w.Seconds)*time.Second)
		}
		if w.Late {
			line += " LATE"
		}
		if w.Journal {
			line += ", journal " + layout.DurationText(w.Quiet) + " ago"
		}
		lines = append(lines, "           "+line)
	}
	if more := s.Working - len(s.Tasks); more > 0 {
		lines = append(lines, fmt.Sprintf("           … and %d more; filebus run show --max-tokens 0", more))
	}
	return lines
}

// countIssues counts the open issues, and finds the one that issue next gives out.
func countIssues(ctx context.Context, w *cli.Work) (runs.IssueCount, error) {
	c := runs.IssueCount{Priority: map[string]int{}}
	all, err := issue.Of(w).List(ctx, issue.Filter{Filter: noun.Filter{Open: true}})
	next, _ := issue.First(all, w.Actor(""))
	c.Next, c.Title = next.ID, markdown.Clip(next.Summary, cli.MaxSummaryCell)
	for _, i := range all {
		if i.Status == "in_progress" {
			c.Working++
		}
		priority := i.Priority
		if !slices.Contains(priorities(), priority) {
			priority = "other"
		}
		c.Open++
		c.Priority[priority]++
	}
	return c, err
}

// priorities returns the priorities of issues, the most urgent first.
func priorities() []string { return layout.IssueFields().Input("priority").Values }

// countLine counts the open issues in one line.
func countLine(c runs.IssueCount) string {
	line := fmt.Sprintf("issues     %d open", c.Open)
	lead := ": "
	for _, p := range append(priorities(), "other") {
		if n := c.Priority[p]; n > 0 {
			line += fmt.Sprintf("%s%d %s", lead, n, p)
			lead = ", "
		}
	}
	if c.Working > 0 {
		line += fmt.Sprintf("; %d in progress", c.Working)
	}
	if c.Next != "" {
		line += "; next " + c.Next + " " + c.Title
	}
	return line
}

// goingOn adds to a status what agents of the project itself have begun together and not
// ended: dialogues that have not converged, and sessions. It returns the lines that say
// so, none where nothing goes on.
func goingOn(ctx context.Context, w *cli.Work, status *runs.Status) (lines []string, err error) {
	items, _, err := dialogue.Of(w).List(ctx, cli.Page{})
	if err != nil {
		return nil, err
	}
	d := &status.Dialogues
	for _, item := range items {
		if !item.Key.IsOwn() || item.Status == "converged" {
			continue
		}
		if d.Open++; d.Open > 1 {
			continue
		}
		d.Last, d.Round, d.Turns, d.Owed = item.Key.String(), item.Last, item.Turns, item.Owed
		lines = append(lines, dialogue.LastRound(item))
	}
	if d.Open > 0 {
		lines[0] = fmt.Sprintf("dialogues  %d open; %s %s", d.Open, d.Last, lines[0])
	}
	list, _, err := session.Of(w).List(ctx, "", cli.Page{})
	artifacts := 0
	for _, one := range list {
		if !one.Key.IsOwn() || one.Status != layout.StatusInProgress {
			continue
		}
		if status.Sessions.InProgress++; status.Sessions.InProgress == 1 {
			status.Sessions.Last, artifacts = one.Key.String(), len(one.Artifacts)
		}
	}
	if n := status.Sessions.InProgress; n > 0 {
		lines = append(lines, fmt.Sprintf("sessions   %d in progress; %s %s",
			n, status.Sessions.Last, cli.Plural(artifacts, "artifact")))
	}
	return lines, err
}
