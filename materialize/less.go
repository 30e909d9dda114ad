package materialize

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"filebus/materialize/plan"
	"filebus/store"
)

// Less never replaces more unasked. This file says when a file on disk is less, or older, than what is stored of it.

// isCut reports whether a text is only the beginning of what the store has for its file.
func (r *reconciler) isCut(ctx context.Context, f plan.File, now *plan.State) (bool, error) {
	if now == nil || now.IsFrame() || f.Size() >= now.Version.Record.Size || now.Version.Record.Size > store.InlineLimit {
		return false, nil
	}
	stored, err := r.w.TextOf(ctx, now.Version)
	return bytes.HasPrefix(stored, f.Text), err
}

// noteBack notes what a file that is taken in takes back: entries whose own dates are older than the stored ones', and a
// text that is only the beginning of the stored one. The file is its owner's, so it counts; the log has both.
func (r *reconciler) noteBack(ctx context.Context, f plan.File, was *plan.State, puts []store.Draft) error {
	const updated = "updated"
	isCut, err := r.isCut(ctx, f, was)
	if isCut {
		r.back = "it is only the beginning of what it was: filebus get " + was.Version.Ref.Short()
	}
	if err != nil || was == nil {
		return err
	}
	return r.w.Store.View(ctx, func(tx *store.Tx) error {
		for _, d := range puts {
			old := was.Version
			if e, found := was.Entry(d.Record.Name); found {
				old = e.Version
			}
			a, b := tx.Description(old.Ref).Attributes[updated], d.Description.Attributes[updated]
			if n := min(len(a), len(b)); n >= len(time.DateOnly) && b[:n] < a[:n] && old.Record.Name == d.Record.Name {
				r.back = fmt.Sprintf("%s went back from %s to %s: filebus get %s", d.Record.Name, a, b, old.Ref.Short())
			}
		}
		return nil
	})
}
