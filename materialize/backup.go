package materialize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/folder"
	"filebus/store/record"
)

// Why a folder is not backed up into, or not restored from.
const (
	ErrBackupPlace record.Reason = "no place for a backup"
	ErrBackupOther record.Reason = "a backup of another store"
	ErrNoBackup    record.Reason = "no backup"
	ErrBackupList  record.Reason = "a damaged list of a backup"
	ErrBackupRot   record.Reason = "a damaged backup"
	ErrWouldLose   record.Reason = "the backup lacks entries"
)

// backupFile says which segments a folder of a backup has; what it does not name is left over.
const (
	backupFile   = "filebus-backup"
	backupHeader = "filebus backup 1\n"
)

// A Backup is a folder of bundles that follow one another from the beginning of a store's log.
type Backup struct {
	Origin   record.StoreID `json:"origin"`
	Folder   string         `json:"folder"`
	End      bundle.Place   `json:"end"`
	Written  int            `json:"written"`   // entries that this backup has added
	Bytes    int64          `json:"bytes"`     // of its new bundle
	StillHas int            `json:"still_has"` // records whose content is destroyed here

	own      folder.Folder
	segments []segment
}

type segment struct {
	name string
	end  bundle.Place
}

// OpenBackup reads what a folder has of a backup.
func OpenBackup(dir string) (*Backup, error) {
	b := &Backup{Folder: dir, own: folder.At(dir)}
	text, err := b.own.ReadFile(backupFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return b, record.NotFound.Errorf("%s is no backup", dir).Because(ErrNoBackup)
	}
	rest, found := strings.CutPrefix(string(text), backupHeader)
	for line := range strings.Lines(rest) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		switch {
		case len(words) == 2 && words[0] == "origin":
			b.Origin, err = record.ParseStoreID(words[1])
		case len(words) == 3:
			b.End, err = bundle.ParsePlace(words[1] + " " + words[2])
			b.segments = append(b.segments, segment{words[0], b.End})
		default:
			found = false
		}
		found = found && err == nil
	}
	if len(text) > 0 && !found || err == nil && b.Origin == "" {
		err = record.Damaged.Errorf("%s is no list of a backup that this filebus knows", b.own.Path(backupFile)).Because(ErrBackupList)
	}
	return b, err
}

func (b *Backup) save() error {
	text := backupHeader + "origin " + string(b.Origin) + "\n"
	for _, s := range b.segments {
		text += s.name + " " + s.end.String() + "\n"
	}
	return b.own.Replace(backupFile, []byte(text), true)
}

// BackUp adds to a folder what the store has and the folder lacks. If it is to be fresh, it writes
// all anew, without what was destroyed since, and removes what was there. At each moment the
// folder is a whole backup, or empty.
func (w *Workspace) BackUp(ctx context.Context, dir string, fresh bool) (*Backup, error) {
	if err := w.checkBackupPlace(dir); err != nil {
		return nil, err
	}
	b, err := OpenBackup(dir)
	if errors.Is(err, ErrNoBackup) {
		err = b.begin()
	} else if err == nil && !fresh {
		err = b.each(isWhole)
	}
	if err != nil {
		return b, err
	}
	end := uint64(0)
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		link, err := tx.Chain(min(b.End.Position, tx.Position()))
		switch end = tx.Position(); {
		case b.Origin != "" && (end < b.End.Position || link != b.End.Chain):
			return record.Conflict.Errorf("%s is a backup of another store, or of this one before it went back", dir).Because(ErrBackupOther)
		}
		b.Origin = tx.Origin()
		return err
	})
	old := b.segments
	if fresh {
		b.segments, b.End = nil, bundle.Place{}
	}
	if err == nil && (b.End.Position < end || len(b.segments) == 0) {
		err = b.add(ctx, w)
	}
	if err != nil {
		return b, err
	}
	if fresh {
		for _, s := range old {
			err = errors.Join(err, b.own.RemoveAll(s.name))
		}
	}
	b.sweep(w.now().Add(-24 * time.Hour))
	err = errors.Join(err, copyConfig(folder.At(w.Location.Store), b.own, true))
	if err == nil {
		b.StillHas, err = b.stillHas(ctx, w.Store, 0)
	}
	return b, err
}

// checkBackupPlace refuses folders that go with what they are a backup of.
func (w *Workspace) checkBackupPlace(dir string) error {
	real, missing := filepath.Clean(dir), ""
	for {
		found, err := filepath.EvalSymlinks(real)
		if err == nil {
			real = filepath.Join(found, missing)
			break
		}
		if filepath.Dir(real) == real {
			return err
		}
		real, missing = filepath.Dir(real), filepath.Join(filepath.Base(real), missing)
	}
	for _, top := range append(w.Roots(), w.Location.Store) {
		found, err := filepath.EvalSymlinks(top)
		if below, relErr := filepath.Rel(found, real); err == nil && relErr == nil && filepath.IsLocal(below) {
			return record.Usage.Errorf("%s lies in %s: a backup cannot lie in what it copies", dir, top).Because(ErrBackupPlace)
		}
	}
	return nil
}

// begin makes the folder; one with other files is refused.
func (b *Backup) begin() error {
	if err := b.own.Make("."); err != nil {
		return fmt.Errorf("making %s: %w", b.Folder, err)
	}
	entries, err := b.own.ReadDir(".")
	isOther := func(e fs.DirEntry) bool {
		return !folder.IsTemporary(e.Name()) && !strings.Contains(e.Name(), ".bundle")
	}
	if err == nil && slices.ContainsFunc(entries, isOther) {
		err = record.Usage.Errorf("%s has other files, and is no backup", b.Folder).Because(ErrBackupPlace)
	}
	return err
}

// add writes a bundle of what is not there yet.
func (b *Backup) add(ctx context.Context, w *Workspace) error {
	name := b.own.Free(fmt.Sprintf("%020d.bundle", b.End.Position+1))
	written, size, err := w.SaveBundle(ctx, b.own, name, bundle.Request{After: b.End.Position})
	if err != nil {
		return err
	}
	b.Written, b.Bytes, b.End = int(written.End.Position-b.End.Position), size, written.End
	b.segments = append(b.segments, segment{name, b.End})
	return b.save()
}

// SaveBundle makes a file of a bundle, which appears once it was read back and found right.
func (w *Workspace) SaveBundle(
	ctx context.Context, dir folder.Folder, name string, request bundle.Request,
) (written bundle.Written, size int64, err error) {
	file, tmp, err := dir.CreateTemp(".")
	if err != nil {
		return written, 0, err
	}
	if written, err = bundle.Write(ctx, w.Store, file, request); err == nil {
		err = file.Sync()
	}
	if err == nil {
		size, err = file.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = w.scan(ctx, file, func(*bundle.Reader, bundle.Item) error { return nil })
		if errors.Is(err, bundle.ErrMalformed) { // so is what it was made of
			err = record.Damaged.Errorf("%w; nothing was written", err).Try("filebus verify --repair")
		}
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = dir.Rename(tmp, name)
	}
	if err != nil {
		return written, size, errors.Join(err, dir.Remove(tmp))
	}
	return written, size, dir.Sync(".")
}

// sweep removes what killed backups left long ago.
func (b *Backup) sweep(before time.Time) {
	entries, _ := b.own.ReadDir(".")
	for _, e := range entries {
		isListed := slices.ContainsFunc(b.segments, func(s segment) bool { return s.name == e.Name() })
		isOurs := folder.IsTemporary(e.Name()) || strings.Contains(e.Name(), ".bundle")
		if info, err := e.Info(); err == nil && isOurs && !isListed && info.ModTime().Before(before) {
			_ = b.own.Remove(e.Name()) // the next backup tries again
		}
	}
}

// copyConfig copies configuration from one folder to another, in place of what is there or not.
func copyConfig(from, to folder.Folder, anew bool) error {
	one := func(name string) error {
		text, err := from.ReadFile(name)
		if there, readErr := to.ReadFile(name); err != nil || readErr == nil && (!anew || string(there) == string(text)) {
			return err
		}
		return errors.Join(to.Make(path.Dir(name)), to.Replace(name, text, true))
	}
	all := []error{one("config.toml")}
	for _, dir := range []string{"trees", remotesFolder} {
		entries, err := from.ReadDir(dir)
		all = append(all, err)
		for _, e := range entries {
			all = append(all, one(dir+"/"+e.Name()))
		}
	}
	for _, e := range all {
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			return e
		}
	}
	return nil
}

// stillHas counts the records of which the backup has the content, and the store not any more,
// but those that are destroyed by an entry up to a position.
func (b *Backup) stillHas(ctx context.Context, s *store.Store, until uint64) (n int, err error) {
	ends := map[record.Ref]uint64{} // of the bundle that has it
	err = s.EachEntry(ctx, 1, func(tx *store.Tx, e store.Entry) error {
		if e.Op == store.OpPut && e.Position <= b.End.Position && tx.IsDropped(e.Ref) {
			i := slices.IndexFunc(b.segments, func(s segment) bool { return e.Position <= s.end.Position })
			ends[e.Ref] = b.segments[i].end.Position
		} else if in, found := ends[e.Ref]; found && e.Op == store.OpDrop && e.Position > max(in, until) {
			n++
		}
		return nil
	})
	return n, err
}

// A Restored says what PutBack has done, or would do.
type Restored struct {
	Backup
	Position uint64 `json:"position"` // the last entry that was restored
	Replaced uint64 `json:"replaced"` // entries of the store that was there
	Kept     string `json:"kept,omitempty"`
	Barred   int    `json:"barred,omitempty"` // records without content, as that was destroyed in the store
	Damage   error  `json:"-"`                // behind which nothing was restored

	origin record.StoreID // as of the last bundle
	past   string
}

// ReplacedPrefix begins the name of a folder with a store that PutBack has replaced.
const ReplacedPrefix = "replaced-"

// A Restoration says what of a backup is wanted.
type Restoration struct {
	At      time.Time // what was stored after it is left out; zero: nothing
	Insist  bool      // whatever the store has that the backup lacks
	Partial bool      // up to what is damaged
}

// Weigh verifies a backup, and says what PutBack will do. It is refused where the store has entries
// that the backup lacks, if not insisted upon.
func (w *Workspace) Weigh(ctx context.Context, b *Backup, want Restoration) (*Restored, error) {
	out := &Restored{Backup: *b}
	var here bundle.Place
	err := w.Store.View(ctx, func(tx *store.Tx) (err error) {
		here.Position = tx.Position()
		here.Chain, err = tx.Chain(here.Position)
		return err
	})
	if err != nil {
		here.Position = math.MaxUint64 // nobody knows
	}
	lacks := here.Position > 0
	begun := 0
	err = b.each(func(file *os.File, begins, _ bundle.Place) error {
		_, err := w.scan(ctx, file, func(r *bundle.Reader, item bundle.Item) error {
			if item.Position == 0 {
				if r.Before != begins && begins.Position > 0 {
					return errOther
				}
				begun++
				out.origin, out.past = r.Origin, r.Past
			}
			if want.At.IsZero() || !item.Time.After(want.At) {
				out.Position = max(out.Position, item.Position)
			}
			lacks = lacks && r.At != here
			return nil
		})
		return err
	})
	if errors.Is(err, ErrBackupRot) && want.Partial && out.Position > 0 {
		out.Damage, out.segments, err = err, b.segments[:begun], nil
	}
	if err != nil {
		return out, err
	}
	lacks = lacks || here.Position > out.Position
	if out.Replaced = here.Position; lacks && !want.Insist {
		return out, record.Conflict.Errorf("the store in %s has entries that the backup lacks; nothing was changed", w.Location.Store).
			Because(ErrWouldLose)
	}
	out.StillHas, _ = b.stillHas(ctx, w.Store, out.Position) // of what cannot be read nobody knows
	return out, nil
}

// Configure takes the configuration of the backup over where a store has none.
func (b *Backup) Configure(store string) error { return copyConfig(b.own, folder.At(store), false) }

// PutBack puts the store as it was backed up in the place of the one that is there, which is kept.
// Files of the workspace stay as they are.
func (w *Workspace) PutBack(ctx context.Context, out *Restored) error {
	hold, err := w.mirrors.Lock(ctx)
	if err != nil {
		return err
	}
	own, into := folder.At(w.Location.Store), ""
	if out.Replaced > 0 {
		into = own.Free(ReplacedPrefix + w.now().UTC().Format("20060102T150405"))
		out.Kept = own.Path(into)
	}
	feed := func(replay *store.Replay) error {
		defer func() { out.Barred = replay.Barred }()
		write := func(_ context.Context, steps []store.Step) error {
			return replay.Update(func(tx *store.Tx) error {
				for _, step := range steps {
					if step.Draft != nil {
						w.fill(tx, step.Draft)
					}
					if err := replay.Play(tx, step); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return out.each(func(file *os.File, _, _ bundle.Place) error {
			r, err := bundle.NewReader(w.Store, file)
			if err == nil {
				err = w.play(ctx, r, out.Position, write)
			}
			return err
		})
	}
	ready := func() error { return w.mirrors.PutAside(into) }
	err = w.Store.Restore(ctx, out.origin, out.past, into, feed, ready)
	if err == nil && out.Barred > 0 {
		_, err = w.planner().MendFrames(ctx) // they are without entries that are barred
	}
	return errors.Join(err, hold.Release())
}

var errOther = fmt.Errorf("%w: it is not the one that the backup lists", bundle.ErrMalformed)

// isWhole finds a bundle that is cut short, or another one, without reading what is in it.
func isWhole(file *os.File, _, ends bundle.Place) error {
	tail := make([]byte, 200)
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.ReadAt(tail, size-int64(len(tail)))
	}
	if err != nil || !strings.HasSuffix(string(tail), ends.String()+"\n") {
		return errOther
	}
	return nil
}

// each opens the bundles one after the other, with the places where each begins and ends.
func (b *Backup) each(do func(file *os.File, begins, ends bundle.Place) error) error {
	begins := bundle.Place{}
	for _, s := range b.segments {
		file, err := b.own.Open(s.name)
		if err == nil {
			err = errors.Join(do(file, begins, s.end), file.Close())
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, bundle.ErrMalformed) {
			return record.Damaged.Errorf("%s: %w", b.own.Path(s.name), err).Because(ErrBackupRot, b.Folder)
		} else if err != nil {
			return fmt.Errorf("%s: %w", b.own.Path(s.name), err)
		}
		begins = s.end
	}
	return nil
}
