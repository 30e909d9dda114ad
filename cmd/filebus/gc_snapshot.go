package main

import (
	"context"
	"errors"

	"filebus/materialize"
)

// runGcSnapshots gives up the snapshots of old runs. A run's snapshots go together,
// with what was kept of its work trees, or not at all.
func runGcSnapshots(ctx context.Context, env *environ, opts gcOptions, pick *materialize.Retention) error {
	if opts.given["conversation"] || opts.given["removed"] {
		return usageError("--keep keeps runs of snapshots: it goes with --older-than alone")
	}
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	b := env.book(w)
	old, err := b.OldRuns(ctx, opts.keep, pick.Before)
	if err != nil {
		return err
	}
	all := &materialize.ReleaseReport{Released: []materialize.ReleasedName{}, Kept: []materialize.KeptName{}}
	for _, r := range old {
		report, err := env.release(ctx, w, materialize.ReleaseRequest{Names: r.Names, DryRun: opts.dryRun})
		var needed *materialize.StillNeededError
		if errors.As(err, &needed) {
			all.Kept = append(all.Kept, needed.Kept...)
			continue
		}
		if report != nil {
			all.Released = append(all.Released, report.Released...)
			all.Kept = append(all.Kept, report.Kept...)
			all.Bytes += report.Bytes
			all.Swept += report.Swept
		}
		if err != nil {
			if len(all.Released) > 0 {
				env.note("%s before that; the same command goes on", released(all, false))
			}
			return err
		}
	}
	if !opts.dryRun {
		if _, err := b.Sweep(ctx); err != nil {
			return err
		}
	}
	return printRelease(env, all, opts.dryRun)
}
