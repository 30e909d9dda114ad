package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"filebus/materialize/issue"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// maxDetails is how much of standard input is read, in bytes: an issue that has
// as much is refused.
const maxDetails = 1 << 20

type issueAddOptions struct {
	draft        issue.Draft
	agent        string
	noDuplicates bool
	merge        string
}

func newIssueAddCommand(env *environ) *cobra.Command {
	var opts issueAddOptions
	var flags entryFlags[layout.Issue]
	cmd := newCommand("add [SUMMARY]", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
		flags.read((*layout.Issue)(&opts.draft))
		if len(args) > 0 && opts.draft.Summary != "" {
			return usageError("the summary is given twice, as %q and as --summary", args[0])
		}
		if len(args) > 0 {
			opts.draft.Summary = args[0]
		}
		return runIssueAdd(ctx, env, opts)
	})
	flags = addEntryFlags(cmd, layout.IssueFields().Inputs())
	cmd.Flags().StringVar(&opts.agent, "agent", "", "")
	cmd.Flags().BoolVar(&opts.noDuplicates, "no-duplicates", false, "")
	cmd.Flags().StringVar(&opts.merge, "merge", "", "")
	cmd.MarkFlagsMutuallyExclusive("no-duplicates", "merge")
	return cmd
}

// issueAddedJSON is what issue add prints.
type issueAddedJSON struct {
	ID         string           `json:"id"`
	Status     issue.Status     `json:"status"`
	Priority   string           `json:"priority"`
	File       string           `json:"file"` // absolute
	Merged     bool             `json:"merged,omitempty"`
	Duplicates []issue.Likeness `json:"duplicates,omitempty"`
}

func runIssueAdd(ctx context.Context, env *environ, opts issueAddOptions) error {
	d := opts.draft.By(env.or(opts.agent, "FILEBUS_AGENT"))
	if err := readText(env.in, "details", &d.Details, maxDetails); err != nil {
		return err
	}
	if err := d.Check(layout.IssueFields()); err != nil { // before a store is made for it
		return err
	}
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	q := s.queue()
	if opts.merge != "" {
		i, err := q.Merge(ctx, opts.merge, d)
		if err != nil {
			return err
		}
		return printAdded(env, i, true, nil)
	}
	like, err := q.Likely(ctx, d)
	if err != nil { // the issue is not lost because the index is
		env.note("not looked at for duplicates: %v", err)
	}
	added, err := q.Add(ctx, d, opts.noDuplicates, like...)
	if known, is := record.Detail[[]issue.Likeness](err); is {
		noteDuplicates(env, known)
	}
	if err != nil {
		return err
	}
	like = slices.DeleteFunc(like, func(l issue.Likeness) bool { return l.ID == added.ID })
	noteDuplicates(env, like)
	if len(like) > 0 {
		env.note("if it is the same: filebus issue duplicate %s %s", added.ID, like[0].ID)
	}
	env.noteProblems(ctx, q)
	return printAdded(env, added, false, like)
}

// shownDuplicates is how many likely duplicates are named.
const shownDuplicates = 3

func noteDuplicates(env *environ, like []issue.Likeness) {
	for _, l := range like[:min(shownDuplicates, len(like))] {
		files := ""
		if l.Files {
			files = ", same files"
		}
		env.note("likely duplicate: %s (%s, %.0f %% of the words%s): %s", l.ID, l.Status, 100*l.Shared, files,
			markdown.Clip(l.Summary, issueSummary))
	}
}

func printAdded(env *environ, i issue.Issue, merged bool, like []issue.Likeness) error {
	if !env.global.json {
		env.printf("%s\n", i.ID)
		return nil
	}
	like = like[:min(shownDuplicates, len(like))]
	return env.printJSON(issueAddedJSON{i.ID, i.Status, i.Priority, i.File, merged, like})
}

func newIssueEditCommand(env *environ) *cobra.Command {
	var flags entryFlags[layout.Issue]
	cmd := newCommand("edit ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		var d issue.Draft
		fields := flags.read((*layout.Issue)(&d))
		return runIssueEdit(ctx, env, d, fields, args[0])
	})
	cmd.ValidArgsFunction = completeNames(env)
	flags = addEntryFlags(cmd, layout.IssueFields().Inputs())
	return cmd
}

func runIssueEdit(ctx context.Context, env *environ, d issue.Draft, fields []string, id string) error {
	if len(fields) == 0 {
		hint := "filebus issue edit " + quote(id) + " --priority high"
		return coded(record.Usage, hint, usageError("nothing to change was given"))
	}
	if err := readText(env.in, "details", &d.Details, maxDetails); err != nil {
		return err
	}
	s, err := env.open(ctx)
	if err != nil {
		return err
	}
	i, err := s.queue().Edit(ctx, id, d, fields)
	if err != nil {
		return err
	}
	return printIssueLine(env, i)
}
