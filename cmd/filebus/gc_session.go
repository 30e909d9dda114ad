package main

import (
	"context"
	"errors"
	"slices"

	"filebus/materialize"
	runs "filebus/materialize/run"
	sessions "filebus/materialize/session"
	"filebus/store"
)

// runGcSessions gives up the files of old sessions. Those of one session go together
// or not at all.
func runGcSessions(ctx context.Context, env *environ, opts gcOptions, pick *materialize.Retention) error {
	if opts.given["conversation"] || opts.given["removed"] {
		return usageError("artifacts go by session: give --keep, --older-than or both, or --removed without --keep")
	}
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	old, err := w.registry().Old(ctx, opts.keep, pick.Before)
	if err != nil {
		return err
	}
	report, _, err := w.releaseOld(ctx, old, opts.dryRun)
	if err != nil {
		if len(report.Released) > 0 {
			env.note("%s before that; the same command goes on", released(report, false))
		}
		return err
	}
	if !opts.dryRun {
		if report.Swept, err = w.Store.Sweep(ctx); err != nil {
			return err
		}
	}
	return printRelease(env, report, opts.dryRun)
}

// releaseOld gives up sessions, each with all its files and its folder or not at
// all, and returns which went.
func (w *workspace) releaseOld(
	ctx context.Context, old []*sessions.Session, dryRun bool,
) (*materialize.ReleaseReport, []string, error) {
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
	if errors.Is(err, materialize.ErrStillNeeded) ||
		errors.Is(err, store.ErrNotFound) { // or another process gave it up
		err = nil
	}
	return went, err
}
