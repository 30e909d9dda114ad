package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/issue"
	"filebus/materialize/layout"
)

func newIssueListCommand(env *environ) *cobra.Command {
	var filter issue.Filter
	var statuses []string
	var maxTokens int
	var readFacts func(map[string][]string) error
	cmd := newCommand("list", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		filter.Facts = map[string][]string{"status": statuses}
		if err := readFacts(filter.Facts); err != nil {
			return err
		}
		if maxTokens < 0 {
			return usageError("--max-tokens %d is negative", maxTokens)
		}
		s, q, err := env.openQueue(ctx)
		if err != nil {
			return err
		}
		env.noteProblems(ctx, q)
		all, err := q.List(ctx, filter)
		if err != nil {
			return err
		}
		return printIssues(env, s, "issue list", all, maxTokens)
	})
	readFacts = addFactFlags(cmd, layout.IssueFields().Filters())
	flags := cmd.Flags()
	flags.StringSliceVar(&statuses, "status", nil, "")
	flags.StringSliceVar(&filter.Agents, "agent", nil, "")
	flags.BoolVar(&filter.Open, "open", false, "")
	flags.IntVar(&maxTokens, "max-tokens", 1000, "")
	return cmd
}

type issueListJSON struct {
	Issues []issue.Issue `json:"issues"` // without what is long
	More   int           `json:"more,omitempty"`
}

// printIssues prints as many issues as some tokens hold.
func printIssues(env *environ, s *workspace, op string, all []issue.Issue, maxTokens int) error {
	rows := make([][]string, len(all))
	for n, i := range all {
		rows[n], all[n] = issueRow(env, i), i.Brief()
	}
	printed, err := s.present(presentation{
		entries: len(all), maxTokens: maxTokens, op: op, what: "issue_queue",
		json: func(n int) any { return issueListJSON{all[:n], len(all) - n} },
		text: func(n int) string { return env.table(rows[:n]) },
	})
	if err != nil || env.global.json {
		return err
	}
	switch more := len(all) - printed; {
	case len(all) == 0:
		env.note("no issues")
	case more > 0:
		env.note("%d more of %s; narrow it with --open, --type, --priority, or give --max-tokens 0", more,
			plural(len(all), "issue"))
	}
	return nil
}

func newIssueShowCommand(env *environ) *cobra.Command {
	var maxTokens int
	cmd := newCommand("show ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		id := args[0]
		if maxTokens < 0 {
			return usageError("--max-tokens %d is negative", maxTokens)
		}
		s, q, err := env.openQueue(ctx)
		if err != nil {
			return err
		}
		i, err := q.Get(ctx, id)
		if err != nil {
			return err
		}
		return printIssue(env, s, i, maxTokens)
	})
	cmd.ValidArgsFunction = completeNames(env)
	cmd.Flags().IntVar(&maxTokens, "max-tokens", issueTokens, "")
	return cmd
}

// issueTokens is how much of an issue is shown unless more is asked for.
const issueTokens = 400

// printIssue prints what an agent needs to work on an issue.
func printIssue(env *environ, s *workspace, i issue.Issue, maxTokens int) error {
	lines := strings.SplitAfter(issueText(env, i), "\n")
	if env.global.json {
		maxTokens = 0
	}
	_, err := s.present(presentation{
		entries: len(lines), maxTokens: maxTokens, op: "issue show", what: i.Name.String(),
		json: func(int) any { return i },
		text: func(n int) string {
			text := strings.Join(lines[:n], "")
			if n < len(lines) {
				text += "… cut; all of it: filebus get " + quote(i.Name.String()) + "\n"
			}
			return text
		},
	})
	return err
}

// issueText returns an issue as people and agents read it.
func issueText(env *environ, i issue.Issue) string {
	f := i.Issue
	lines := []string{strings.Join([]string{
		i.ID, string(i.Status), cmp.Or(i.Priority, "-"), cmp.Or(i.Type, "-"), cmp.Or(oneLine(f.Complexity), "-"),
	}, "  ")}
	for _, field := range []struct{ name, value string }{
		{"claimed by", strings.TrimPrefix(issueHolder(env, i), "-")}, {"duplicate of", f.DuplicateOf},
		{"created", f.Created}, {"source", f.Source}, {"loop", f.Loop}, {"task", f.TaskRef},
		{"summary", i.Summary}, {"files", strings.Join(f.Files, ", ")},
	} {
		if field.value != "" || field.name == "summary" {
			lines = append(lines, field.name+": "+oneLine(field.value))
		}
	}
	if len(f.Criteria) > 0 {
		lines = append(lines, "acceptance criteria:")
	}
	for _, criterion := range f.Criteria {
		lines = append(lines, "- "+oneLine(criterion))
	}
	for _, block := range []struct{ name, text string }{{"details", f.Details}, {"rationale", f.Rationale}} {
		if block.text == "" {
			continue
		}
		lines = append(lines, block.name+":")
		for line := range strings.SplitSeq(block.text, "\n") {
			lines = append(lines, oneLine(line))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
