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
)

// snapshotTokens is how much of a snapshot's file, or of a difference, is printed
// unless more is asked for.
const snapshotTokens = 2000

func newSnapshotShowCommand(env *environ) *cobra.Command {
	maxTokens := snapshotTokens
	cmd := &cobra.Command{
		Use:  "show RUN/LOOP [FILE]",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if maxTokens < 0 {
				return usageError("--max-tokens %d is negative", maxTokens)
			}
			if len(args) == 2 {
				return runSnapshotFile(cmd.Context(), env, args[0], args[1], maxTokens)
			}
			return runSnapshotShow(cmd.Context(), env, args[0])
		},
	}
	cmd.Flags().IntVar(&maxTokens, "max-tokens", snapshotTokens, "")
	return cmd
}

func runSnapshotShow(ctx context.Context, env *environ, text string) error {
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	snap, err := env.book(s).Find(ctx, text)
	if err != nil {
		return err
	}
	view := viewOf(snap)
	if env.global.json {
		return env.printJSON(view)
	}
	lines := []string{snap.Name() + "  " + env.minute(snap.Time) + "  " + summaryOf(snap)}
	for _, f := range snap.Files {
		line := "  " + f.Version.Ref.Short() + "  " + validText(f.Path) + "  " + byteSize(f.Version.Record.Size)
		if f.Path == layout.SnapshotIssues || f.Path == layout.SnapshotState {
			line += "  " + cutText(f.Summary)
		}
		lines = append(lines, line)
	}
	for _, c := range view.Changed {
		lines = append(lines, "  "+c)
	}
	if more := view.FilesChanged - len(view.Changed); more > 0 && len(view.Changed) > 0 {
		lines = append(lines, "  and "+plural(more, "file")+" more")
	}
	for _, note := range view.Notes {
		lines = append(lines, "note  "+note)
	}
	env.printf("%s", fitLines(lines, stateTokens))
	return nil
}

func runSnapshotFile(ctx context.Context, env *environ, text, file string, maxTokens int) error {
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	v, err := env.book(s).FileOf(ctx, text, file)
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
	env.logRead(s, "snapshot show", v.Record.Name.String(), result.Tokens)
	if env.global.json {
		return env.printJSON(toBodyJSON(v, result, buffer.Bytes()))
	}
	return nil
}

func newSnapshotDiffCommand(env *environ) *cobra.Command {
	opts := snapshotDiffOptions{}
	cmd := &cobra.Command{
		Use:  "diff RUN/LOOP RUN/LOOP",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.maxTokens < 0 {
				return usageError("--max-tokens %d is negative", opts.maxTokens)
			}
			return runSnapshotDiff(cmd.Context(), env, opts, args[0], args[1])
		},
	}
	cmd.Flags().StringVar(&opts.file, "file", "", "")
	cmd.Flags().IntVar(&opts.maxTokens, "max-tokens", snapshotTokens, "")
	return cmd
}

type snapshotDiffOptions struct {
	file      string
	maxTokens int
}

// A snapshotDiffJSON is a comparison of two loops in JSON.
type snapshotDiffJSON struct {
	From         string         `json:"from"`
	To           string         `json:"to"`
	Issues       []resolvedJSON `json:"issues"`
	FilesChanged int            `json:"files_changed"`
	Files        []string       `json:"files"` // the first ones
	State        []string       `json:"state"`
	Missing      []string       `json:"missing,omitempty"` // loops between the two without a snapshot
	Diff         string         `json:"diff,omitempty"`    // with --file
	Left         int            `json:"left,omitempty"`    // tokens of it that are missing
}

// A resolvedJSON is an issue that was completed in JSON.
type resolvedJSON struct {
	ID      string `json:"id"`
	Summary string `json:"summary,omitempty"`
}

func runSnapshotDiff(ctx context.Context, env *environ, opts snapshotDiffOptions, first, second string) error {
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	b := env.book(s)
	if opts.file != "" {
		return printFileDiff(ctx, env, b, opts, first, second)
	}
	c, err := b.Compare(ctx, first, second)
	if err != nil {
		return err
	}
	view := snapshotDiffJSON{
		From: c.From, To: c.To, Issues: []resolvedJSON{}, FilesChanged: c.FilesChanged, Files: []string{}, State: []string{}, Missing: c.Missing,
	}
	for _, issue := range c.Issues {
		view.Issues = append(view.Issues, resolvedJSON{issue.ID, cutText(issue.Summary)})
	}
	for _, change := range c.Files[:min(len(c.Files), 10*maxShown)] {
		view.Files = append(view.Files, changeText(change))
	}
	for _, line := range c.State {
		view.State = append(view.State, cutText(line))
	}
	if env.global.json {
		return env.printJSON(view)
	}
	limit := opts.maxTokens
	if limit == 0 {
		limit = 1 << 30
	}
	env.printf("%s", fitLines(diffLines(view), limit))
	return nil
}

// diffLines returns a comparison in lines.
func diffLines(c snapshotDiffJSON) []string {
	lines := []string{c.From + " -> " + c.To}
	if len(c.Missing) > 0 {
		lines = append(lines, "no snapshots of "+strings.Join(c.Missing, ", "))
	}
	lines = append(lines, plural(len(c.Issues), "issue")+" completed")
	for _, issue := range c.Issues {
		lines = append(lines, "  "+issue.ID+"  "+issue.Summary)
	}
	lines = append(lines, plural(c.FilesChanged, "file")+" changed")
	for _, f := range c.Files {
		lines = append(lines, "  "+f)
	}
	if more := c.FilesChanged - len(c.Files); more > 0 {
		lines = append(lines, "  and "+plural(more, "file")+" more")
	}
	lines = append(lines, "session state")
	for _, line := range c.State {
		lines = append(lines, "  "+line)
	}
	if len(c.State) == 0 {
		lines[len(lines)-1] = "session state the same"
	}
	return lines
}

func printFileDiff(ctx context.Context, env *environ, b *runs.Book, opts snapshotDiffOptions, first, second string) error {
	diff, err := b.CompareFile(ctx, first, second, opts.file)
	if err != nil {
		return err
	}
	text, left := cutLines(string(diff), opts.maxTokens)
	if env.global.json {
		return env.printJSON(snapshotDiffJSON{From: first, To: second, Issues: []resolvedJSON{}, Files: []string{}, State: []string{}, Diff: validText(text), Left: left})
	}
	env.printf("%s", text)
	switch {
	case text == "":
		env.note("%s is the same in both", opts.file)
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
	return &cobra.Command{
		Use:  "restore-state RUN/LOOP",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSnapshotRestore(cmd.Context(), env, args[0])
		},
	}
}

// A restoredJSON is what restore-state did in JSON.
type restoredJSON struct {
	From      string `json:"from"`
	Ref       string `json:"ref"`
	File      string `json:"file"`
	Before    string `json:"before,omitempty"` // the version that stood there
	Unchanged bool   `json:"unchanged"`
}

func runSnapshotRestore(ctx context.Context, env *environ, text string) error {
	s, err := env.open()
	if err != nil {
		return err
	}
	r, err := env.book(s).RestoreState(ctx, text)
	if err != nil {
		return err
	}
	view := restoredJSON{From: r.From, Ref: r.Ref.Short(), File: r.File, Unchanged: r.Unchanged}
	if r.Before != nil && !r.Unchanged {
		view.Before = r.Before.Short()
	}
	if env.global.json {
		return env.printJSON(view)
	}
	switch {
	case r.Unchanged:
		env.note("%s is as it was at the end of %s", r.File, r.From)
	case view.Before == "":
		env.note("%s is there again, as it was at the end of %s", r.File, r.From)
	default:
		env.note("%s is as it was at the end of %s again; filebus get %s is what stood there", r.File, r.From, view.Before)
	}
	env.printf("%s  %s\n", view.Ref, view.File)
	return nil
}
