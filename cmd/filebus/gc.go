package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/release"
	"filebus/store/record"
)

type gcCommand struct {
	given
	Kind          string   `flag:"kind" need:"yes"`
	Conversations []string `flag:"conversation"`
	OlderThan     string   `flag:"older-than"`
	Keep          int      `flag:"keep"`
	Removed       bool     `flag:"removed"`
	DryRun        bool     `flag:"dry-run"`

	pick *release.Retention
}

// selectingFlags are the flags of which one has to say what goes.
func selectingFlags() []string { return []string{"conversation", "older-than", "keep", "removed"} }

func (o *gcCommand) retention(env *environ) (*release.Retention, error) {
	kind, err := record.ParseKind(o.Kind)
	if err != nil {
		return nil, coded(record.Usage, "", err)
	}
	pick := &release.Retention{Kind: kind, Conversations: o.Conversations, Keep: o.Keep, Removed: o.Removed}
	switch {
	case !slices.ContainsFunc(selectingFlags(), o.has):
		return nil, usageError("nothing says what to destroy: give --%s", strings.Join(selectingFlags(), ", --"))
	case o.has("conversation") && (len(o.Conversations) == 0 || slices.Contains(o.Conversations, "")):
		return nil, usageError("--conversation is empty")
	case o.has("keep") && o.Keep < 1:
		return nil, usageError("--keep %d keeps nothing: to destroy all, give --older-than 0d", o.Keep)
	}
	if err := pick.Check(); err != nil {
		return nil, coded(record.Usage, "filebus rm --drop NAME", err)
	}
	if o.has("older-than") {
		pick.Before, err = parseTime(o.OlderThan, env.now())
	}
	return pick, err
}

func (o *gcCommand) check(env *environ, _ []string) (err error) {
	o.pick, err = o.retention(env)
	return err
}

func (o *gcCommand) run(ctx context.Context, w *workspace, _ []string) error {
	if o.pick.Kind == record.KindSnapshot && o.has("keep") {
		return o.snapshots(ctx, w)
	}
	// Of a session that goes name by name, agents at work would lose the context.
	if o.pick.Kind == record.KindArtifact && (o.has("keep") || o.has("older-than") && !o.has("removed")) {
		return o.sessions(ctx, w)
	}
	report, err := w.release(ctx, release.Request{Retention: o.pick, DryRun: o.DryRun})
	if err != nil {
		return w.stopped(report, err)
	}
	return printRelease(w.environ, report, o.DryRun)
}

// stopped says what was destroyed before an error.
func (e *environ) stopped(report *release.Report, err error) error {
	if len(report.Released) > 0 {
		e.note("%s before that; the same command goes on", released(report, false))
	}
	return err
}

// release gives names up and shows how far it is.
func (w *workspace) release(ctx context.Context, request release.Request) (*release.Report, error) {
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

func printRelease(env *environ, report *release.Report, dryRun bool) error {
	var rows [][]string
	for _, n := range report.Released {
		rows = append(rows, []string{"drop", n.Name.String(), tokenText(n.Tokens), byteSize(n.Bytes)})
	}
	for _, k := range report.Kept {
		rows = append(rows, []string{"keep", k.Name.String(), k.Because})
	}
	err := env.print(report, "%s", env.table(rows))
	after := "this cannot be undone"
	if dryRun {
		after = "nothing was changed"
	}
	if len(report.Released) == 0 {
		env.remark("nothing to destroy")
	} else {
		env.remark("%s; %s", released(report, dryRun), after)
	}
	if report.Swept > 0 {
		env.remark("removed %s that killed processes had left", plural(report.Swept, "file"))
	}
	return err
}

// released says what went, or would go.
func released(report *release.Report, dryRun bool) string {
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
