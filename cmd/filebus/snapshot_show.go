package main

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	runs "filebus/materialize/run"
	"filebus/query"
	"filebus/store/record"
)

// snapshotTokens is how much of a snapshot's file, or of a difference, is printed
// unless more is asked for.
const snapshotTokens = 2000

func newSnapshotShowCommand(env *environ) *cobra.Command {
	maxTokens := snapshotTokens
	cmd := newCommand("show RUN/LOOP [FILE]", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) error {
		if maxTokens < 0 {
			return usageError("--max-tokens %d is negative", maxTokens)
		}
		s, err := env.openFresh(ctx)
		if err != nil {
			return err
		}
		if len(args) == 2 {
			return printSnapshotFile(ctx, env, s, args[0], args[1], maxTokens)
		}
		return printSnapshot(ctx, env, s, args[0])
	})
	cmd.Flags().IntVar(&maxTokens, "max-tokens", snapshotTokens, "")
	return cmd
}

func printSnapshot(ctx context.Context, env *environ, s *workspace, text string) error {
	snap, err := s.book().Find(ctx, text)
	if err != nil {
		return err
	}
	lines := []string{snap.Name() + "  " + env.minute(snap.Time) + "  " + summaryOf(snap)}
	for _, f := range snap.Files {
		line := "  " + f.Version.Ref.Short() + "  " + f.Path + "  " + byteSize(f.Version.Record.Size)
		if f.Path == layout.SnapshotIssues || f.Path == layout.SnapshotState {
			line += "  " + cutText(f.Summary)
		}
		lines = append(lines, line)
	}
	for _, c := range snap.Changed {
		lines = append(lines, "  "+c)
	}
	if more := snap.FilesChanged - len(snap.Changed); more > 0 && len(snap.Changed) > 0 {
		lines = append(lines, "  and "+plural(more, "file")+" more")
	}
	for _, note := range snap.Notes {
		lines = append(lines, "note  "+note)
	}
	return s.presentLines(lines, presentation{maxTokens: stateTokens, json: func(int) any { return snap }})
}

func printSnapshotFile(ctx context.Context, env *environ, s *workspace, text, file string, maxTokens int) error {
	v, err := s.book().FileOf(ctx, text, file)
	if err != nil {
		return err
	}
	var buffer bytes.Buffer
	var out io.Writer = env.out
	if env.global.json {
		out = &buffer
	}
	result, err := s.read.WriteBody(ctx, out, v, query.BodyRequest{MaxTokens: maxTokens})
	if err != nil {
		return err
	}
	s.logRead("snapshot show", v.Record.Name.String(), result.Tokens)
	if env.global.json {
		return env.printJSON(toBodyJSON(v, result, buffer.Bytes()))
	}
	return nil
}

func newSnapshotDiffCommand(env *environ) *cobra.Command {
	var file string
	var maxTokens int
	cmd := newCommand("diff RUN/LOOP RUN/LOOP", cobra.ExactArgs(2), func(ctx context.Context, args []string) error {
		if maxTokens < 0 {
			return usageError("--max-tokens %d is negative", maxTokens)
		}
		s, err := env.openFresh(ctx)
		if err != nil {
			return err
		}
		if file != "" {
			return printFileDiff(ctx, env, s, file, maxTokens, args)
		}
		return printSnapshotDiff(ctx, env, s, maxTokens, args)
	})
	cmd.Flags().StringVar(&file, "file", "", "")
	cmd.Flags().IntVar(&maxTokens, "max-tokens", snapshotTokens, "")
	return cmd
}

func printSnapshotDiff(ctx context.Context, env *environ, s *workspace, maxTokens int, loops []string) error {
	c, err := s.book().Compare(ctx, loops[0], loops[1])
	if err != nil {
		return err
	}
	for i := range c.Issues {
		c.Issues[i].Summary = cutText(c.Issues[i].Summary)
	}
	for i, line := range c.State {
		c.State[i] = cutText(line)
	}
	return s.presentLines(diffLines(c), presentation{maxTokens: maxTokens, json: func(int) any { return c }})
}

// diffLines returns a comparison in lines.
func diffLines(c *runs.Comparison) []string {
	lines := []string{c.From + " -> " + c.To}
	add := func(head string, under []string) {
		lines = append(lines, head)
		for _, line := range under {
			lines = append(lines, "  "+line)
		}
	}
	if len(c.Missing) > 0 {
		add("no snapshots of "+strings.Join(c.Missing, ", "), nil)
	}
	var issues []string
	for _, issue := range c.Issues {
		issues = append(issues, issue.ID+"  "+issue.Summary)
	}
	add(plural(len(c.Issues), "issue")+" completed", issues)
	add(plural(c.FilesChanged, "file")+" changed", c.Files)
	if more := c.FilesChanged - len(c.Files); more > 0 {
		add("  and "+plural(more, "file")+" more", nil)
	}
	if len(c.State) == 0 {
		add("session state the same", nil)
	} else {
		add("session state", c.State)
	}
	return lines
}

func printFileDiff(ctx context.Context, env *environ, s *workspace, file string, maxTokens int, loops []string) error {
	diff, err := s.book().CompareFile(ctx, loops[0], loops[1], file)
	if err != nil {
		return err
	}
	text, left := cutLines(string(diff), maxTokens)
	if env.global.json {
		return env.printJSON(runs.Comparison{From: loops[0], To: loops[1], Diff: text, Left: left})
	}
	env.printf("%s", text)
	switch {
	case text == "":
		env.note("%s is the same in both", file)
	case left > 0:
		env.note("%s more; see --max-tokens", tokenText(left))
	}
	return nil
}

// cutLines cuts a text at the end of a line after about n tokens, and returns how
// many are left; 0: not at all.
func cutLines(text string, n int) (head string, left int) {
	if n == 0 || len(text) <= 4*n {
		return text, 0
	}
	end := strings.LastIndexByte(text[:4*n], '\n') + 1
	return text[:end], (len(text) - end + 3) / 4
}

func newSnapshotRestoreCommand(env *environ) *cobra.Command {
	return newCommand("restore-state RUN/LOOP", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		s, err := env.open(ctx)
		if err != nil {
			return err
		}
		r, err := s.book().RestoreState(ctx, args[0])
		if err != nil {
			return err
		}
		if env.global.json {
			return env.printJSON(r)
		}
		switch {
		case r.Unchanged:
			env.note("%s is as it was at the end of %s", r.File, r.From)
		case r.Before == record.ShortRef{}:
			env.note("%s is there again, as it was at the end of %s", r.File, r.From)
		default:
			env.note("%s is as it was at the end of %s again; filebus get %s is what stood there", r.File, r.From,
				r.Before)
		}
		env.printf("%s  %s\n", r.Ref, r.File)
		return nil
	})
}
