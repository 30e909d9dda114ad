package materialize

import (
	"context"
	"path"
	"strings"

	"filebus/store"
	"filebus/store/record"
)

// ErrForeignFile says that a file is not for filebus to write, unless somebody insists.
const ErrForeignFile record.Reason = "not filebus's file"

// mayPut refuses a careful put where somebody else's file stands, unless it has the
// same text, or the caller says which version it takes the place of; and a new note
// where nobody expects one: as a hidden file, or outside of the note folders, if the
// settings name any.
func (r *reconciler) mayPut(ctx context.Context, put PutRequest, p string, text record.Digest) error {
	r.Doubt(p)
	s, err := r.compare(ctx, p)
	if err != nil || !put.Careful {
		return err
	}
	have, why, below := s.now.Digest(), "", strings.TrimPrefix(p, r.w.Settings.Profile.Root+"/")
	if s.disk.Exists {
		have = s.disk.Digest
	}
	switch {
	case s.now != nil && r.hasWritten(ctx, s.now.Version, have):
	case s.disk.Exists && (have == text || put.Expect != store.Expect{}):
	case s.disk.Exists:
		why = "was not written by filebus"
	case put.Kind != record.KindNote || r.w.isMirrored(p) && !strings.HasPrefix(path.Base(p), "."):
	case strings.HasPrefix(below, ".") || strings.Contains(below, "/."):
		why = "would be a hidden file"
	case len(r.w.Settings.NoteFolders) > 0:
		why = "is outside of the note folders, " + strings.Join(r.w.Settings.NoteFolders, ", ")
	}
	if why != "" {
		err = record.Conflict.Errorf("%s %s; nothing was stored", p, why).Because(ErrForeignFile)
	}
	return err
}

// hasWritten reports whether a text is that of a version, or one before it, which a
// command brought and not a file.
func (r *reconciler) hasWritten(ctx context.Context, v store.Version, text record.Digest) (is bool) {
	_ = r.w.Store.View(ctx, func(tx *store.Tx) (err error) { // as far as it can be read
		for was := false; err == nil && (!was || v.Record.Body == text); v, err = tx.Get(v.Record.Prev) {
			was = v.Record.Body == text
			is = was && v.Record.Source != record.SourceSync && v.Record.Source != record.SourceCapture
		}
		return err
	})
	return is
}
