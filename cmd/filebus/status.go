package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	runs "filebus/materialize/run"
	"filebus/query"
	"filebus/store/record"
)

// defaultLate is how long a task usually takes at most.
const defaultLate = 30 * time.Minute

func newStatusCommand(env *environ) *cobra.Command {
	opts := statusOptions{}
	cmd := &cobra.Command{
		Use:  "status",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), env, opts) },
	}
	cmd.Flags().DurationVar(&opts.late, "late", defaultLate, "")
	cmd.Flags().IntVar(&opts.maxTokens, "max-tokens", stateTokens, "")
	return cmd
}

type statusOptions struct {
	late      time.Duration
	maxTokens int
}

// A statusJSON is a status in JSON.
type statusJSON struct {
	Run       string            `json:"run,omitempty"`
	Loop      int               `json:"loop,omitempty"`
	Loops     int               `json:"loops,omitempty"`
	Focus     string            `json:"focus,omitempty"`
	Ended     string            `json:"ended,omitempty"`
	Completed int               `json:"completed"` // agents that have ended
	Working   int               `json:"working"`   // agents and tasks at work
	Late      int               `json:"late"`
	Tasks     []workJSON        `json:"tasks"` // of those at work the oldest
	Issues    issueCountJSON    `json:"issues"`
	Dialogues dialogueCountJSON `json:"dialogues"`
	Sessions  sessionCountJSON  `json:"sessions"`
	Results   []lastResultJSON  `json:"results"`
	Conflicts int               `json:"conflicts"`
	Behind    *int64            `json:"behind"` // log entries; null: not known
}

// A workJSON is an agent or task at work in JSON.
type workJSON struct {
	Agent   string `json:"agent,omitempty"`
	Task    string `json:"task,omitempty"`
	Seconds int    `json:"seconds"`
	Late    bool   `json:"late,omitempty"`
}

// An issueCountJSON counts open issues in JSON.
type issueCountJSON struct {
	Open     int            `json:"open"`
	Working  int            `json:"working"`
	Priority map[string]int `json:"priority,omitempty"`
	Next     string         `json:"next,omitempty"`
}

// A lastResultJSON is one of the last results in JSON.
type lastResultJSON struct {
	Ref    string `json:"ref"`
	Agent  string `json:"agent,omitempty"`
	Status string `json:"status,omitempty"`
	Tokens int    `json:"tokens"`
	Title  string `json:"title,omitempty"`
}

// statusTasks is how many of the tasks at work a status names.
const statusTasks = 5

func runStatus(ctx context.Context, env *environ, opts statusOptions) error {
	if opts.maxTokens < 100 {
		return usageError("--max-tokens %d: a status takes 100 tokens at least", opts.maxTokens)
	}
	if opts.late <= 0 {
		return usageError("--late %v is no time that a task may take", opts.late)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	env.takeInNew(ctx, s, record.KindState, "session_state")
	status, err := env.book(s).Status(ctx, opts.late)
	if err != nil {
		return err
	}
	going, err := env.goingOn(ctx, s)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printRead(s, "status", "status", toStatusJSON(status, going))
	}
	text := fitLines(statusLines(status, going, env.now()), opts.maxTokens)
	env.printf("%s", text)
	env.logRead(s, "status", "status", record.EstimateTokens(int64(len(text))))
	return nil
}

func toStatusJSON(s *runs.Status, going *goingOn) statusJSON {
	view := statusJSON{
		Working: len(s.Tasks), Tasks: []workJSON{}, Results: []lastResultJSON{}, Conflicts: s.Conflicts,
		Issues: issueCountJSON{Open: s.Issues.Open, Working: s.Issues.Working}, Dialogues: going.dialogueJSON(), Sessions: going.sessionJSON(),
	}
	if s.View != nil {
		view.Run, view.Focus, view.Ended = cutText(s.View.RunID), cutText(s.View.Focus), cutText(s.View.Ended)
		view.Completed = len(s.View.Completed)
		view.Loop, view.Loops = s.View.LoopNumber()
	}
	for i, w := range s.Tasks {
		if w.Late {
			view.Late++
		}
		if i < statusTasks {
			view.Tasks = append(view.Tasks, workJSON{cutText(w.Agent), cutText(w.Task), int(w.For.Seconds()), w.Late})
		}
	}
	for _, p := range s.Issues.Priority {
		if view.Issues.Priority == nil {
			view.Issues.Priority = map[string]int{}
		}
		view.Issues.Priority[p.Priority] = p.Count
	}
	if s.Issues.Next != nil {
		view.Issues.Next = s.Issues.Next.Version.Record.Name.ID
	}
	for _, r := range s.Results {
		of := r.Version.Record
		view.Results = append(view.Results, lastResultJSON{r.Version.Ref.Short(), of.Agent, of.Status, r.Tokens, shortTitle(r)})
	}
	if s.Behind >= 0 {
		view.Behind = &s.Behind
	}
	return view
}

// shortTitle returns what a result is about, in a few words.
func shortTitle(r query.Summary) string {
	return layout.Clip(oneLine(textOr(r.Description.Title, r.Description.Preview)), 60)
}

// statusLines returns a status in lines.
func statusLines(s *runs.Status, going *goingOn, now time.Time) []string {
	lines := []string{"run        none"}
	if v := s.View; v != nil && v.RunID != "" {
		lines[0] = "run        " + cutText(v.RunID) + ", loop " + cutText(textOr(v.Loop, "none"))
		if v.Focus != "" {
			lines[0] += ", " + cutText(v.Focus)
		}
		if ended := v.Ended; ended != "" {
			lines[0] += ", ended " + cutText(ended)
		}
	}
	lines = append(lines, workLines(s)...)
	lines = append(lines, issueLine(s.Issues))
	lines = append(lines, going.lines()...)
	for i, r := range s.Results {
		lead := "           "
		if i == 0 {
			lead = "results    "
		}
		of := r.Version.Record
		about := strings.Join(strings.Fields(of.Agent+" "+of.Status), " ")
		lines = append(lines, lead+strings.TrimSpace(fmt.Sprintf("%s %s %s, %s ago  %s", r.Version.Ref.Short(), about,
			tokenText(r.Tokens), runs.DurationText(max(now.Sub(of.Time), 0)), shortTitle(r))))
	}
	if s.Conflicts > 0 {
		lines = append(lines, fmt.Sprintf("conflicts  %d; filebus conflicts", s.Conflicts))
	}
	switch {
	case s.Behind < 0:
		lines = append(lines, "index      being written, or damaged")
	case s.Behind > 0:
		lines = append(lines, fmt.Sprintf("index      %d behind; the next search takes them in", s.Behind))
	}
	return lines
}

// workLines says who is at work, the oldest first.
func workLines(s *runs.Status) []string {
	late := 0
	for _, w := range s.Tasks {
		if w.Late {
			late++
		}
	}
	head := fmt.Sprintf("working    %d", len(s.Tasks))
	if late > 0 {
		head += fmt.Sprintf(", %d late", late)
	}
	if s.View != nil {
		head += fmt.Sprintf("; %d ended", len(s.View.Completed))
	}
	lines := []string{head}
	for i, w := range s.Tasks {
		if i == statusTasks {
			lines = append(lines, fmt.Sprintf("           and %d more; filebus run show", len(s.Tasks)-i))
			break
		}
		line := cutText(strings.Join(strings.Fields(w.Agent+" "+w.Task+" "+w.Model), " "))
		if w.Known {
			line += ", " + runs.DurationText(w.For)
		}
		if w.Late {
			line += " LATE"
		}
		if w.Journal {
			line += ", journal " + runs.DurationText(w.Quiet) + " ago"
		}
		lines = append(lines, "           "+line)
	}
	return lines
}

// issueLine counts the open issues.
func issueLine(c runs.IssueCount) string {
	line := fmt.Sprintf("issues     %d open", c.Open)
	var parts []string
	for _, p := range c.Priority {
		parts = append(parts, fmt.Sprintf("%d %s", p.Count, p.Priority))
	}
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, ", ")
	}
	if c.Working > 0 {
		line += fmt.Sprintf("; %d in progress", c.Working)
	}
	if c.Next != nil {
		line += "; next " + c.Next.Version.Record.Name.ID + " " + shortTitle(query.Summary{Description: record.Description{Title: c.Next.Description.Preview}})
	}
	return line
}
