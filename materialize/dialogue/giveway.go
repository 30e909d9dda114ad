package dialogue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"filebus/store"
)

// GiveWay takes away the file, absolute, that the turn of a seat was read from, if it
// is one of the agent's own under another spelling, as Muffin.md beside muffin.md: an
// agent has one file in a round. Its text stays a version of its own name.
func (f *Forum) GiveWay(ctx context.Context, s Seat, file string) (gone bool, err error) {
	base, own := filepath.Base(file), filepath.Base(s.File)
	if base == own || !strings.EqualFold(base, own) {
		return false, nil
	}
	there, err := os.Stat(filepath.Dir(file))
	here, hereErr := os.Stat(filepath.Dir(s.File))
	if err != nil || hereErr != nil || !os.SameFile(there, here) {
		return false, nil // it lies elsewhere
	}
	theirs, err := os.Lstat(file)
	turn, turnErr := os.Lstat(s.File)
	if err != nil || turnErr != nil || os.SameFile(theirs, turn) {
		return false, nil // on a disk that takes both names for one
	}
	name := turnName(s.Key, s.Round, strings.TrimSuffix(base, filepath.Ext(base)))
	p, err := f.w.RecordPath(name.Kind, name.ID)
	if err != nil || f.w.FilePath(p) != filepath.Join(filepath.Dir(s.File), base) {
		return false, nil // it is no turn's: MUFFIN.MD
	}
	if err := f.w.TakeIn(ctx, p); err != nil {
		return false, err
	}
	if err := f.w.Remove(ctx, name); err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	return true, nil
}
