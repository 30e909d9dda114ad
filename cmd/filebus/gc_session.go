package main

import (
	"context"
	"errors"
	"slices"
	"time"

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
	report, err := env.releaseSessions(ctx, w, opts.keep, pick.Before, opts.dryRun)
	if err != nil {
		if report != nil && len(report.Released) > 0 {
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

// releaseSessions gives up sessions that are kept no longer: see sessions.Old.
func (e *environ) releaseSessions(ctx context.Context, w *session, keep int, before time.Time, dryRun bool) (*materialize.ReleaseReport, error) {
	old, err := e.registry(w).Old(ctx, keep, before)
	if err != nil {
		return nil, err
	}
	report, _, err := e.releaseOld(ctx, w, old, dryRun)
	return report, err
}

// releaseOld gives up sessions, each with all its files and its folder or not at
// all, and returns which went.
func (e *environ) releaseOld(ctx context.Context, w *session, old []*sessions.Session, dryRun bool) (*materialize.ReleaseReport, []string, error) {
	var groups []runs.OldRun
	for _, s := range old {
		groups = append(groups, runs.OldRun{ID: s.Key.String(), Names: s.Names()})
	}
	report, err := e.releaseRuns(ctx, w, groups, dryRun)
	if report == nil {
		return nil, nil, err
	}
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
		err = errors.Join(err, e.registry(w).RemoveFolder(s.Key))
	}
	return report, went, err
}

// retain applies the retention of the configuration, and returns which sessions
// went. What stays because something refers to it is no error, nor is what another
// process gave up.
func (e *environ) retain(ctx context.Context, w *session, just sessions.Key) ([]string, error) {
	c, err := readConfig(w.Location.Store)
	if err != nil || c.Retention == (retentionConfig{}) {
		return nil, err
	}
	before, err := c.Retention.before(e.now())
	if err != nil {
		return nil, err
	}
	old, err := e.registry(w).Old(ctx, c.Retention.Sessions, before)
	if err != nil {
		return nil, err
	}
	old = slices.DeleteFunc(old, func(s *sessions.Session) bool { return s.Key == just })
	_, went, err := e.releaseOld(ctx, w, old, false)
	if errors.Is(err, materialize.ErrStillNeeded) || errors.Is(err, store.ErrNotFound) { // or another process gave it up
		err = nil
	}
	return went, err
}
