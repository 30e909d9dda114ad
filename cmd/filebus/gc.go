package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/store/record"
)

type gcOptions struct {
	kind, olderThan string
	conversations   []string
	keep            int
	removed, dryRun bool

	given map[string]bool // the flags that were set
}

func newGcCommand(env *environ) *cobra.Command {
	var opts gcOptions
	cmd := &cobra.Command{
		Use:  "gc --kind KIND",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.given = map[string]bool{}
			for _, flag := range selectingFlags() {
				opts.given[flag] = cmd.Flags().Changed(flag)
			}
			return runGc(cmd.Context(), env, opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.kind, "kind", "", "")
	flags.StringSliceVar(&opts.conversations, "conversation", nil, "")
	flags.StringVar(&opts.olderThan, "older-than", "", "")
	flags.IntVar(&opts.keep, "keep", 0, "")
	flags.BoolVar(&opts.removed, "removed", false, "")
	flags.BoolVar(&opts.dryRun, "dry-run", false, "")
	// The flag exists, so marking it cannot fail.
	_ = cmd.MarkFlagRequired("kind")
	return cmd
}

// selectingFlags are the flags of which one has to say what goes.
func selectingFlags() []string { return []string{"conversation", "older-than", "keep", "removed"} }

func (o *gcOptions) retention(env *environ) (*materialize.Retention, error) {
	kind, err := record.ParseKind(o.kind)
	if err != nil {
		return nil, coded(record.Usage, "", err)
	}
	pick := &materialize.Retention{Kind: kind, Conversations: o.conversations, Keep: o.keep, Removed: o.removed}
	switch {
	case !slices.ContainsFunc(selectingFlags(), func(flag string) bool { return o.given[flag] }):
		return nil, usageError("nothing says what to destroy: give --%s", strings.Join(selectingFlags(), ", --"))
	case o.given["conversation"] && (len(o.conversations) == 0 || slices.Contains(o.conversations, "")):
		return nil, usageError("--conversation is empty")
	case o.given["keep"] && o.keep < 1:
		return nil, usageError("--keep %d keeps nothing: to destroy all, give --older-than 0d", o.keep)
	}
	if err := pick.Check(); err != nil {
		return nil, coded(record.Usage, "filebus rm --drop NAME", err)
	}
	if o.given["older-than"] {
		pick.Before, err = parseTime(o.olderThan, env.now())
	}
	return pick, err
}

func runGc(ctx context.Context, env *environ, opts gcOptions) error {
	pick, err := opts.retention(env)
	if err != nil {
		return err
	}
	if pick.Kind == record.KindSnapshot && opts.given["keep"] {
		return runGcSnapshots(ctx, env, opts, pick)
	}
	// Of a session that goes name by name, agents at work would lose the context.
	if pick.Kind == record.KindArtifact && (opts.given["keep"] || opts.given["older-than"] && !opts.given["removed"]) {
		return runGcSessions(ctx, env, opts, pick)
	}
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	report, err := w.release(ctx, materialize.ReleaseRequest{Retention: pick, DryRun: opts.dryRun})
	if err != nil {
		return env.stopped(report, err)
	}
	return printRelease(env, report, opts.dryRun)
}

// stopped says what was destroyed before an error.
func (e *environ) stopped(report *materialize.ReleaseReport, err error) error {
	if len(report.Released) > 0 {
		e.note("%s before that; the same command goes on", released(report, false))
	}
	return err
}

// release gives names up and shows how far it is.
func (w *workspace) release(ctx context.Context, request materialize.ReleaseRequest) (*materialize.ReleaseReport, error) {
	scanned, clearScan := w.progress("looking for references")
	dropped, clearDrop := w.progress("destroying")
	request.Scanned = counted(scanned)
	request.Dropped = func(done, total int) {
		clearScan()
		dropped(uint64(done), uint64(total))
	}
	report, err := w.Release(ctx, request)
	clearScan()
	clearDrop()
	return report, err
}

func printRelease(env *environ, report *materialize.ReleaseReport, dryRun bool) error {
	if env.global.json {
		return env.printJSON(report)
	}
	var rows [][]string
	for _, n := range report.Released {
		rows = append(rows, []string{"drop", n.Name.String(), tokenText(n.Tokens), byteSize(n.Bytes)})
	}
	for _, k := range report.Kept {
		rows = append(rows, []string{"keep", k.Name.String(), k.Because})
	}
	env.printTable(rows)
	after := "this cannot be undone"
	if dryRun {
		after = "nothing was changed"
	}
	if len(report.Released) == 0 {
		env.note("nothing to destroy")
	} else {
		env.note("%s; %s", released(report, dryRun), after)
	}
	if report.Swept > 0 {
		env.note("removed %s that killed processes had left", plural(report.Swept, "file"))
	}
	return nil
}

// released says what went, or would go.
func released(report *materialize.ReleaseReport, dryRun bool) string {
	versions := 0
	for _, n := range report.Released {
		versions += n.Versions
	}
	verb := "destroyed"
	if dryRun {
		verb = "would destroy"
	}
	return fmt.Sprintf("%s %s with %s, %s of text that nothing else has",
		verb, plural(len(report.Released), "name"), plural(versions, "version"), byteSize(report.Bytes))
}

// firstNames lists some names and says how many more there are.
func firstNames(names []string) string {
	const most = 5
	text := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
