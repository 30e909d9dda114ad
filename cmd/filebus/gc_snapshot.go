package main

import (
	"context"
	"slices"

	"filebus/materialize"
	runs "filebus/materialize/run"
	"filebus/store/record"
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
	b := w.book()
	old, err := b.OldRuns(ctx, opts.keep, pick.Before)
	if err != nil {
		return err
	}
	all, err := w.releaseRuns(ctx, old, opts.dryRun)
	if err != nil {
		return env.stopped(all, err)
	}
	if !opts.dryRun {
		if all.Swept, err = w.Store.Sweep(ctx); err != nil {
			return err
		}
		if err := b.Sweep(ctx); err != nil {
			return err
		}
	}
	return printRelease(env, all, opts.dryRun)
}

// releaseRuns gives up the snapshots of runs, all at once, so that the log is read
// for them once. A run of which something is needed stays as a whole, and the
// others are given up without it.
func (w *workspace) releaseRuns(
	ctx context.Context, old []runs.OldRun, dryRun bool,
) (*materialize.ReleaseReport, error) {
	all := &materialize.ReleaseReport{}
	for len(old) > 0 {
		var names []record.Name
		for _, r := range old {
			names = append(names, r.Names...)
		}
		report, err := w.release(ctx, materialize.ReleaseRequest{Names: names, DryRun: dryRun})
		if report != nil {
			all.Released = append(all.Released, report.Released...)
			all.Kept = append(all.Kept, report.Kept...)
			all.Bytes += report.Bytes
		}
		kept, found := record.Detail[[]materialize.KeptName](err)
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
func withoutKept(old []runs.OldRun, kept []materialize.KeptName) []runs.OldRun {
	stays := map[record.Name]bool{}
	for _, k := range kept {
		stays[k.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(old), func(r runs.OldRun) bool {
		return slices.ContainsFunc(r.Names, func(name record.Name) bool { return stays[name] })
	})
}
