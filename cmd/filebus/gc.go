package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	runs "filebus/cmd/filebus/run"
	sessions "filebus/cmd/filebus/session"
	"filebus/materialize/release"
	"filebus/store"
	"filebus/store/record"
)

type gcCommand struct {
	cli.Given
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

func (o *gcCommand) retention(env *cli.Environ) (*release.Retention, error) {
	kind, err := record.ParseKind(o.Kind)
	if err != nil {
		return nil, cli.Coded(record.Usage, "", err)
	}
	pick := &release.Retention{Kind: kind, Conversations: o.Conversations, Keep: o.Keep, Removed: o.Removed}
	switch {
	case !slices.ContainsFunc(selectingFlags(), o.Has):
		return nil, cli.UsageError("nothing says what to destroy: give --%s", strings.Join(selectingFlags(), ", --"))
	case o.Has("conversation") && (len(o.Conversations) == 0 || slices.Contains(o.Conversations, "")):
		return nil, cli.UsageError("--conversation is empty")
	case o.Has("keep") && o.Keep < 1:
		return nil, cli.UsageError("--keep %d keeps nothing: to destroy all, give --older-than 0d", o.Keep)
	}
	if err := pick.Check(); err != nil {
		return nil, cli.Coded(record.Usage, "filebus rm --drop NAME", err)
	}
	if o.Has("older-than") {
		pick.Before, err = cli.ParseTime(o.OlderThan, env.Now())
	}
	return pick, err
}

func (o *gcCommand) Check(env *cli.Environ, _ []string) (err error) {
	o.pick, err = o.retention(env)
	return err
}

func (o *gcCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	if o.pick.Kind == record.KindSnapshot && o.Has("keep") {
		return o.snapshots(ctx, w)
	}
	// Of a session that goes name by name, agents at work would lose the context.
	if o.pick.Kind == record.KindArtifact && (o.Has("keep") || o.Has("older-than") && !o.Has("removed")) {
		return o.sessions(ctx, w)
	}
	report, err := giveUp(ctx, w, release.Request{Retention: o.pick, DryRun: o.DryRun})
	if err != nil {
		return stopped(w.Environ, report, err)
	}
	return printRelease(w.Environ, report, o.DryRun)
}

// stopped says what was destroyed before an error.
func stopped(e *cli.Environ, report *release.Report, err error) error {
	if len(report.Released) > 0 {
		e.Note("%s before that; the same command goes on", released(report, false))
	}
	return err
}

// giveUp gives names up and shows how far it is.
func giveUp(ctx context.Context, w *cli.Work, request release.Request) (*release.Report, error) {
	scanned, clearScan := w.Progress("looking for references")
	dropped, clearDrop := w.Progress("destroying")
	request.Scanned = cli.Counted(scanned)
	request.Dropped = func(done, total int) {
		clearScan()
		dropped(uint64(done), uint64(total))
	}
	report, err := w.Release(ctx, request)
	clearScan()
	clearDrop()
	if !request.DryRun && err == nil && len(request.Versions) == 0 { // a purge compacts all
		compactIfSparse(ctx, w)
	}
	return report, err
}

func printRelease(e *cli.Environ, report *release.Report, dryRun bool) error {
	var rows [][]string
	for _, n := range report.Released {
		rows = append(rows, []string{"drop", n.Name.String(), cli.TokenText(n.Tokens), cli.ByteSize(n.Bytes)})
	}
	for _, k := range report.Kept {
		rows = append(rows, []string{"keep", k.Name.String(), k.Because})
	}
	err := e.Print(report, "%s", e.Table(rows))
	after := "this cannot be undone"
	if dryRun {
		after = "nothing was changed"
	}
	if len(report.Released) == 0 {
		e.Remark("nothing to destroy")
	} else {
		e.Remark("%s; %s", released(report, dryRun), after)
	}
	if report.Barred > 0 {
		e.Remark("%s from now on; put --again lets one in", cli.Count(report.Barred, "1 text stays out", "%d texts stay out"))
	}
	if report.Swept > 0 {
		e.Remark("removed %s that killed processes had left", cli.Plural(report.Swept, "file"))
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
		verb, cli.Plural(len(report.Released), "name"), cli.Plural(versions, "version"), cli.ByteSize(report.Bytes))
}

// snapshots gives up the snapshots of old runs. A run's snapshots go together,
// with what was kept of its work trees, or not at all.
func (o *gcCommand) snapshots(ctx context.Context, w *cli.Work) error {
	if o.Has("conversation") || o.Has("removed") {
		return cli.UsageError("--keep counts runs of snapshots: only --older-than can go with it")
	}
	old, err := runs.Of(w).OldRuns(ctx, o.Keep, o.pick.Before)
	if err != nil {
		return err
	}
	all, err := releaseRuns(ctx, w, old, o.DryRun)
	return o.end(ctx, w, all, err)
}

// releaseRuns gives up the snapshots of runs, all at once, so that the log is read
// for them once. A run of which something is needed stays as a whole, and the
// others are given up without it.
func releaseRuns(ctx context.Context,
	w *cli.Work, old []runs.OldRun, dryRun bool,
) (*release.Report, error) {
	all := &release.Report{}
	for len(old) > 0 {
		var names []record.Name
		for _, r := range old {
			names = append(names, r.Names...)
		}
		report, err := giveUp(ctx, w, release.Request{Names: names, DryRun: dryRun})
		if report != nil {
			all.Released = append(all.Released, report.Released...)
			all.Kept = append(all.Kept, report.Kept...)
			all.Bytes += report.Bytes
		}
		kept, found := record.Detail[[]release.Kept](err)
		if !found {
			return all, err
		}
		if len(all.Released) > 0 { // what was changed meanwhile stays, the others are gone
			return all, nil
		}
		left := withoutKept(old, kept)
		if len(left) == len(old) {
			return all, err
		}
		old = left
	}
	return all, nil
}

// withoutKept returns the runs of which nothing was kept.
func withoutKept(old []runs.OldRun, kept []release.Kept) []runs.OldRun {
	stays := map[record.Name]bool{}
	for _, k := range kept {
		stays[k.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(old), func(r runs.OldRun) bool {
		return slices.ContainsFunc(r.Names, func(name record.Name) bool { return stays[name] })
	})
}

// sessions gives up the files of old sessions. Those of one session go together
// or not at all.
func (o *gcCommand) sessions(ctx context.Context, w *cli.Work) error {
	if o.Has("conversation") || o.Has("removed") {
		return cli.UsageError("artifacts are destroyed by session: " +
			"give --keep, --older-than or both, or --removed without --keep")
	}
	old, err := sessions.Of(w).Old(ctx, o.Keep, o.pick.Before)
	if err != nil {
		return err
	}
	report, _, err := releaseOld(ctx, w, old, o.DryRun)
	return o.end(ctx, w, report, err)
}

// end sweeps up behind what was given up by runs or sessions, and prints it.
func (o *gcCommand) end(ctx context.Context, w *cli.Work, report *release.Report, err error) error {
	if err != nil {
		return stopped(w.Environ, report, err)
	}
	if !o.DryRun {
		report.Swept, err = w.Store.Sweep(ctx)
	}
	if err == nil && !o.DryRun && o.pick.Kind == record.KindSnapshot {
		err = runs.Of(w).Sweep(ctx) // of what was kept of work trees
	}
	if err != nil {
		return err
	}
	return printRelease(w.Environ, report, o.DryRun)
}

// releaseOld gives up sessions, each with all its files and its folder or not at
// all, and returns which went.
func releaseOld(ctx context.Context,
	w *cli.Work, old []*sessions.Session, dryRun bool,
) (*release.Report, []string, error) {
	var groups []runs.OldRun
	for _, s := range old {
		groups = append(groups, runs.OldRun{ID: s.Key.String(), Names: s.Names()})
	}
	report, err := releaseRuns(ctx, w, groups, dryRun)
	gone := map[string]bool{}
	for _, n := range report.Released {
		gone[n.Name.String()] = true
	}
	var went []string
	for _, s := range old {
		if dryRun || !gone[s.Files[0].Record.Name.String()] {
			continue
		}
		went = append(went, s.Key.String())
		err = errors.Join(err, sessions.Of(w).RemoveFolder(s.Key))
	}
	return report, went, err
}

// retain applies the retention of the configuration, and returns which sessions
// went. What stays because something refers to it is no error, nor is what another
// process gave up.
func retain(ctx context.Context, w *cli.Work, just string) ([]string, error) {
	c, err := cli.ReadConfig(w.Location.Store)
	if err != nil || c.Retention == (cli.RetentionConfig{}) {
		return nil, err
	}
	before, err := c.Retention.Before(w.Now())
	if err != nil {
		return nil, err
	}
	old, err := sessions.Of(w).Old(ctx, c.Retention.Sessions, before)
	if err != nil {
		return nil, err
	}
	old = slices.DeleteFunc(old, func(s *sessions.Session) bool { return s.Key.String() == just })
	_, went, err := releaseOld(ctx, w, old, false)
	if errors.Is(err, release.ErrStillNeeded) ||
		errors.Is(err, store.ErrNotFound) { // or another process gave it up
		err = nil
	}
	return went, err
}
