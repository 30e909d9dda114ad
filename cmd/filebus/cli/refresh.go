package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"filebus/materialize"
	"filebus/store/record"
)

// autoBudget is how long a reading command refreshes trees unasked.
const autoBudget = 2 * time.Second

// RefreshBy refreshes trees, or all, if that is wanted, for at most some time; 0: any.
// What could not be refreshed is said.
func (w *Work) RefreshBy(ctx context.Context, wanted bool, budget time.Duration, only ...record.Tree) {
	if !wanted {
		return
	}
	trees, err := w.Trees(ctx)
	if err != nil {
		w.Note("the trees were not refreshed: %v", err)
	}
	if budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, budget)
		defer cancel()
	}
	for _, t := range trees {
		if len(only) > 0 && !slices.Contains(only, t.Name) || t.Dir == "" {
			continue
		}
		report, err := w.Refresh(ctx, t, materialize.CaptureOptions{})
		if err == nil && report.Partial() {
			err = fmt.Errorf("of the tree %s: %s", t.Name, FirstNames(LeftOut(report)))
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the tree %s was not refreshed within %v; filebus tree refresh %s does it all", t.Name, budget,
				record.ShellWord(string(t.Name)))
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			w.Note("%v", err)
		}
	}
}

// LeftOut says what should have been taken in and could not.
func LeftOut(r *materialize.CaptureReport) (texts []string) {
	for _, s := range r.Skipped {
		if !s.Harmless {
			texts = append(texts, "left out "+OneLine(s.Path)+": "+s.Reason)
		}
	}
	return texts
}
