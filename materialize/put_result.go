package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/record"
)

// putResult stores a result. Its path is its own, so no lock is needed to write
// the file: it either is not there yet or holds the same bytes.
func (w *Workspace) putResult(ctx context.Context, r PutRequest) (*PutResult, error) {
	text, err := w.prepare(ctx, &r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = text.Body.Discard() }() // a temporary file, swept later if it stays
	conversation, made := strings.CutSuffix(r.ID, "/")
	made = made || r.ID == ""
	if made {
		r.Expect = store.Absent()
	}
	var refused error
	for {
		id := r.ID
		if id == "" {
			if r.newConversation, err = w.NewConversation(ctx); err != nil {
				return nil, err
			}
			conversation = r.newConversation
		}
		if made {
			id = conversation + "/" + w.NewID()
		}
		name, p, err := w.locationOf(record.KindResult, id)
		if err == nil && r.Listed && layout.IsObeyed(p) {
			err = record.Conflict.Errorf("%s %s; nothing was stored", p, whyObeyed).Because(ErrForeignFile)
		}
		if err != nil {
			return nil, err
		}
		f := w.fileOf(r, text, name, p)
		if err := w.claimOutside(ctx, p, f.Digest()); err != nil {
			return nil, err
		}
		stored, err := w.storeFile(ctx, *f)
		if made && errors.Is(err, store.ErrConflict) {
			continue // another process made the same id
		}
		if r.Keep && errors.Is(err, store.ErrConflict) {
			refused, made, r.Expect = err, true, store.Absent()
			conversation = path.Dir(id)
			continue
		}
		if err != nil {
			return nil, errors.Join(refused, err)
		}
		if err = w.writeResult(ctx, p); err != nil {
			err = fmt.Errorf("%s is stored (%s), but its file is not written: %w", name, stored.Put.Ref.Short(), err)
		}
		result, descErr := w.resultOf(ctx, p, stored)
		err = errors.Join(err, descErr)
		w.tellSecrets(r, f, result)
		if err != nil || refused == nil {
			return result, errors.Join(refused, err)
		}
		return nil, fmt.Errorf("%w; the text is kept as %s (%s)", refused, result.Name, result.Ref.Short())
	}
}

// claimOutside makes sure, before anything is stored, that the outside root of a
// path is this store's, and no other text of another program stands there.
func (w *Workspace) claimOutside(ctx context.Context, p string, text record.Digest) error {
	if !isOutside(p) {
		return nil
	}
	return w.withMirror(ctx, w.Root, func(r *reconciler) error {
		_, err := r.File(ctx, p, true)
		if err == nil {
			err = r.refuseStrangers(ctx, p, text)
		}
		return err
	})
}

// writeResult writes the file of a result that is new, and falls back to the
// mirror lock when something stands at its path.
func (w *Workspace) writeResult(ctx context.Context, p string) error {
	enforce := func() error {
		return w.withMirror(ctx, w.Root, func(r *reconciler) error {
			r.takesAll = true
			return r.writeFile(ctx, p)
		})
	}
	if isOutside(p) {
		return enforce()
	}
	m, err := w.mirrors.OpenNew(ctx, w.Root)
	if err != nil {
		return err
	}
	r := w.reconciler(m)
	disk, err := r.Look(ctx, p)
	if err == nil && !disk.Exists {
		var now *plan.State
		if now, err = r.stored(ctx, p); err == nil {
			err = r.writeStored(ctx, p, disk, now)
		}
	}
	err = errors.Join(err, m.Close())
	if disk.Exists || errors.Is(err, mirror.ErrRaced) {
		return enforce()
	}
	return err
}

// maxName is the longest name of a file, in bytes, that most disks take.
const maxName = 255

// MayPut reports what would keep a result from getting its file, before there is
// anything to store: an id that no file can have, or an outside root that is
// another store's.
func (w *Workspace) MayPut(ctx context.Context, id string) error {
	_, p, err := w.locationOf(record.KindResult, id)
	if err != nil {
		return err
	}
	return w.claimOutside(ctx, p, record.Digest{})
}

// resultPreview returns the preview of a result. It begins with how its command ended,
// unless that went well, and says something of any output: a parent agent has nothing
// else to go by.
func resultPreview(d store.Draft, f plan.File, limit int, note string) string {
	preview := d.Description.Preview
	switch {
	case preview == "" && f.About != nil:
		preview = EmptyPreview(f.About, int64(len(f.About)))
	case preview == "":
		preview = EmptyPreview(f.Text, f.Size())
	}
	if note = cmp.Or(note, outcomeNote(d.Record.Status, d.Record.Exit)); note != "" {
		return markdown.Clip(strings.TrimSpace(note+" "+preview), max(limit, utf8.RuneCountInString(note)))
	}
	return preview
}

// outcomeNote returns what the preview of a result begins with when its command
// did not end well: "[failed, exit 3]".
func outcomeNote(status string, exit *int) string {
	switch status {
	case "", StatusDone:
		if exit == nil || *exit == 0 {
			return ""
		}
		status = StatusFailed
	case StatusFailed, StatusTimeout, StatusKilled, StatusInterrupted, StatusInvalid, layout.StatusPartial:
	default: // a word of the agent's own
		return ""
	}
	if exit == nil || *exit == 0 {
		return "[" + status + "]"
	}
	return fmt.Sprintf("[%s, exit %d]", status, *exit)
}

// The statuses of results whose command filebus has run. Their text is stored.
const (
	StatusDone        = "done"        // it ended with exit code 0
	StatusFailed      = "failed"      // with another
	StatusTimeout     = "timeout"     // it was ended because its time was over
	StatusKilled      = "killed"      // a signal ended it
	StatusInterrupted = "interrupted" // filebus itself was ended: what came until then
	StatusInvalid     = "invalid"     // the output does not fit its schema
)

// DescribeLimit is how much of a large body is looked at, in bytes: titles and
// previews stand at the beginning.
const DescribeLimit = 1 << 20

// EmptyPreview says what a text is in which nothing is to be read, in place of a
// preview. The text is the beginning of one of size bytes.
func EmptyPreview(text []byte, size int64) string {
	switch {
	case markdown.IsBinary(text):
		return fmt.Sprintf("(binary, %d bytes)", size)
	case size > DescribeLimit:
		return fmt.Sprintf("(no text in the first %d of %d bytes)", DescribeLimit, size)
	}
	return "(no output)"
}
