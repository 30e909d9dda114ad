package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	runs "filebus/materialize/run"
	"filebus/store/record"
)

// defaultLate is how long a task usually takes at most.
const defaultLate = 30 * time.Minute

func newStatusCommand(env *environ) *cobra.Command {
	var late time.Duration
	var maxTokens int
	cmd := newCommand("status", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runStatus(ctx, env, late, maxTokens)
	})
	cmd.Flags().DurationVar(&late, "late", defaultLate, "")
	cmd.Flags().IntVar(&maxTokens, "max-tokens", stateTokens, "")
	return cmd
}

func runStatus(ctx context.Context, env *environ, late time.Duration, maxTokens int) error {
	if maxTokens < 100 {
		return usageError("--max-tokens %d: a status takes 100 tokens at least", maxTokens)
	}
	if late <= 0 {
		return usageError("--late %v is no time that a task may take", late)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	s.takeInNew(ctx, record.KindState, "session_state")
	status, err := s.book().Status(ctx, late)
	if err != nil {
		return err
	}
	going, err := s.goingOn(ctx, status)
	if err != nil {
		return err
	}
	return s.presentLines(statusLines(status, going), presentation{
		op: "status", what: "status", maxTokens: maxTokens, json: func(int) any { return status },
	})
}

// statusLines returns a status in lines.
func statusLines(s *runs.Status, going []string) []string {
	lines := []string{"run        none"}
	if s.Run != "" {
		lines[0] = "run        " + s.Run + ", loop " + cutText(textOr(s.State.Loop, "none"))
		if s.Focus != "" {
			lines[0] += ", " + s.Focus
		}
		if s.Ended != "" {
			lines[0] += ", ended " + s.Ended
		}
	}
	lines = append(append(append(lines, workLines(s)...), issueLine(s.Issues)), going...)
	for i, r := range s.Results {
		lead := "           "
		if i == 0 {
			lead = "results    "
		}
		about := words(r.Agent, r.Status)
		lines = append(lines, lead+strings.TrimSpace(fmt.Sprintf("%s %s %s, %s ago  %s", r.Ref, about,
			tokenText(r.Tokens), runs.DurationText(r.Age), r.Title)))
	}
	if s.Conflicts > 0 {
		lines = append(lines, fmt.Sprintf("conflicts  %d; filebus conflicts", s.Conflicts))
	}
	switch {
	case s.Behind == nil:
		lines = append(lines, "index      being written, or damaged")
	case *s.Behind > 0:
		lines = append(lines, fmt.Sprintf("index      %d behind; the next search takes them in", *s.Behind))
	}
	return lines
}

// workLines says who is at work, the oldest first.
func workLines(s *runs.Status) []string {
	head := fmt.Sprintf("working    %d", s.Working)
	if s.Late > 0 {
		head += fmt.Sprintf(", %d late", s.Late)
	}
	if s.State != nil {
		head += fmt.Sprintf("; %d ended", s.Completed)
	}
	lines := []string{head}
	for _, w := range s.Tasks {
		line := cutText(words(w.Agent, w.Task, w.Model))
		if w.Known {
			line += ", " + runs.DurationText(time.Duration(w.Seconds)*time.Second)
		}
		if w.Late {
			line += " LATE"
		}
		if w.Journal {
			line += ", journal " + runs.DurationText(w.Quiet) + " ago"
		}
		lines = append(lines, "           "+line)
	}
	if more := s.Working - len(s.Tasks); more > 0 {
		lines = append(lines, fmt.Sprintf("           and %d more; filebus run show", more))
	}
	return lines
}

// issueLine counts the open issues.
func issueLine(c runs.IssueCount) string {
	line := fmt.Sprintf("issues     %d open", c.Open)
	lead := ": "
	for _, p := range runs.Priorities() {
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
