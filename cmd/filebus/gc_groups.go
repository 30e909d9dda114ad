package main

import (
	"context"
	"errors"
	"slices"

	"filebus/materialize/release"
	runs "filebus/materialize/run"
	sessions "filebus/materialize/session"
	"filebus/store"
	"filebus/store/record"
)

// snapshots gives up the snapshots of old runs. A run's snapshots go together,
// with what was kept of its work trees, or not at all.
func (o *gcCommand) snapshots(ctx context.Context, w *workspace) error {
	if o.has("conversation") || o.has("removed") {
		return usageError("--keep keeps runs of snapshots: it goes with --older-than alone")
	}
	b := w.book()
	old, err := b.OldRuns(ctx, o.Keep, o.pick.Before)
	if err != nil {
		return err
	}
	all, err := w.releaseRuns(ctx, old, o.DryRun)
	if err != nil {
		return w.stopped(all, err)
	}
	if !o.DryRun {
		if all.Swept, err = w.Store.Sweep(ctx); err != nil {
			return err
		}
		if err := b.Sweep(ctx); err != nil {
			return err
		}
	}
	return printRelease(w.environ, all, o.DryRun)
}

// releaseRuns gives up the snapshots of runs, all at once, so that the log is read
// for them once. A run of which something is needed stays as a whole, and the
// others are given up without it.
func (w *workspace) releaseRuns(
	ctx context.Context, old []runs.OldRun, dryRun bool,
) (*release.Report, error) {
	all := &release.Report{}
	for len(old) > 0 {
		var names []record.Name
		for _, r := range old {
			names = append(names, r.Names...)
		}
		report, err := w.release(ctx, release.Request{Names: names, DryRun: dryRun})
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
func (o *gcCommand) sessions(ctx context.Context, w *workspace) error {
	if o.has("conversation") || o.has("removed") {
		return usageError("artifacts go by session: give --keep, --older-than or both, or --removed without --keep")
	}
	old, err := w.registry().Old(ctx, o.Keep, o.pick.Before)
	if err != nil {
		return err
	}
	report, _, err := w.releaseOld(ctx, old, o.DryRun)
	if err != nil {
		return w.stopped(report, err)
	}
	if !o.DryRun {
		if report.Swept, err = w.Store.Sweep(ctx); err != nil {
			return err
		}
	}
	return printRelease(w.environ, report, o.DryRun)
}

// releaseOld gives up sessions, each with all its files and its folder or not at
// all, and returns which went.
func (w *workspace) releaseOld(
	ctx context.Context, old []*sessions.Session, dryRun bool,
) (*release.Report, []string, error) {
	var groups []runs.OldRun
	for _, s := range old {
		groups = append(groups, runs.OldRun{ID: s.Key.String(), Names: s.Names()})
	}
	report, err := w.releaseRuns(ctx, groups, dryRun)
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
		err = errors.Join(err, w.registry().RemoveFolder(s.Key))
	}
	return report, went, err
}

// retain applies the retention of the configuration, and returns which sessions
// went. What stays because something refers to it is no error, nor is what another
// process gave up.
func (w *workspace) retain(ctx context.Context, just sessions.Key) ([]string, error) {
	c, err := readConfig(w.Location.Store)
	if err != nil || c.Retention == (retentionConfig{}) {
		return nil, err
	}
	before, err := c.Retention.before(w.now())
	if err != nil {
		return nil, err
	}
	old, err := w.registry().Old(ctx, c.Retention.Sessions, before)
	if err != nil {
		return nil, err
	}
	old = slices.DeleteFunc(old, func(s *sessions.Session) bool { return s.Key == just })
	_, went, err := w.releaseOld(ctx, old, false)
	if errors.Is(err, release.ErrStillNeeded) ||
		errors.Is(err, store.ErrNotFound) { // or another process gave it up
		err = nil
	}
	return went, err
}
