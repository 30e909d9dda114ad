package session

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// An Archived says what Archive did.
type Archived struct {
	Key     Key      `json:"session"`
	File    string   `json:"file,omitempty"` // absolute
	Files   []string `json:"files"`          // packed, as records have their paths
	Bytes   int64    `json:"bytes"`          // of their texts
	Removed int      `json:"removed"`        // files that were taken away
}

// Archive packs the files of a session into one, from the store, after it has taken
// in what stands on disk: the same versions give the same bytes. The file to, tar
// packed by gzip, is absolute and made; "" is none. With remove the names are retired
// and their files go, but for the metadata, which say where the archive is. Only a
// session that has ended may lose its files, and a file that is changed meanwhile
// stays, with a store.ErrConflict.
func (r *Sessions) Archive(ctx context.Context, key Key, to string, remove bool) (*Archived, error) {
	if err := key.checkOwn(); err != nil && remove {
		return nil, err
	}
	s, err := r.current(ctx, key)
	if err != nil {
		return nil, err
	}
	if remove && !s.hasEnded() {
		err := record.Conflict.Errorf("the session %s has not ended", key)
		return nil, err.Try("filebus session end {1}", key.String())
	}
	report := &Archived{Key: key, File: to}
	if to != "" {
		if err := r.pack(ctx, s, report); err != nil {
			return nil, err
		}
	}
	if remove {
		err = r.remove(ctx, s, report)
	}
	return report, err
}

// Import stores the files of a session of the workspace as they stand on disk, but for what is no regular file.
func (r *Sessions) Import(ctx context.Context, key Key) error {
	if !key.IsOwn() || r.NoSync {
		return nil
	}
	paths, err := r.paths(key)
	paths = slices.DeleteFunc(paths, func(p string) bool {
		info, err := os.Lstat(r.w.FilePath(p))
		return err != nil || !info.Mode().IsRegular()
	})
	if err != nil || len(paths) == 0 {
		return err
	}
	return r.w.Import(ctx, paths...)
}

// current returns what is stored of a session, with what lies on disk.
func (r *Sessions) current(ctx context.Context, key Key) (*Session, error) {
	if err := r.Import(ctx, key); err != nil {
		return nil, err
	}
	return r.Read(ctx, key)
}

// remove retires the files of a session but for the metadata, in the versions that were
// packed: one that an agent has changed since is a store.ErrConflict. The metadata name
// the archive before the first file goes: a call that is interrupted can be finished
// with any.
func (r *Sessions) remove(ctx context.Context, s *Session, report *Archived) error {
	meta := s.Key.file(layout.SessionMetaFile)
	files := slices.DeleteFunc(slices.Clone(s.Files), func(v store.Version) bool { return v.Record.Name == meta })
	if report.File != "" && len(files) > 0 {
		file, err := filepath.Rel(r.w.Root, report.File)
		if err != nil || !filepath.IsLocal(file) {
			file = report.File
		}
		file = filepath.ToSlash(file)
		err = r.editMeta(ctx, s.Key, func(m *layout.SessionMeta) {
			if !slices.Contains(strings.Split(m.Archive, ", "), file) { // others may have files of it already
				m.Archive = strings.TrimPrefix(m.Archive+", "+file, ", ")
			}
		})
		if err != nil {
			return err
		}
	}
	for _, v := range files {
		err := r.w.RemoveVersion(ctx, v.Record.Name, store.Current(v.Ref))
		if err != nil && !errors.Is(err, store.ErrNotFound) { // another process was faster
			return err
		}
		report.Removed++
	}
	return nil
}

func fileTaken(file string) error {
	return record.Conflict.Errorf("%s is there already", file).Try("run it again with another --to")
}

// pack writes the archive under a temporary name first. A file that is there stays.
func (r *Sessions) pack(ctx context.Context, s *Session, report *Archived) error {
	to := report.File
	if _, err := os.Lstat(to); err == nil {
		return fileTaken(to)
	}
	tmp := filepath.Join(filepath.Dir(to), folder.TemporaryName(".new"))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("writing %s: %w", to, errors.Unwrap(err))
	}
	err = errors.Join(r.writeArchive(ctx, f, s, report), f.Sync(), f.Close())
	if err == nil {
		err = os.Link(tmp, to) // fails if it is taken by now
		switch {
		case errors.Is(err, os.ErrExist):
			err = fileTaken(to)
		case err != nil:
			err = os.Rename(tmp, to) // a file system without links
		}
	}
	if removed := os.Remove(tmp); err == nil && !errors.Is(removed, os.ErrNotExist) {
		err = removed
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", to, err)
	}
	return nil
}

// writeArchive writes the files in the order of their paths, with the times at which
// they were stored.
func (r *Sessions) writeArchive(ctx context.Context, to io.Writer, s *Session, report *Archived) error {
	packed := gzip.NewWriter(to)
	out := tar.NewWriter(packed)
	versions := slices.Clone(s.Files)
	slices.SortFunc(versions, func(a, b store.Version) int { return strings.Compare(a.Record.Path, b.Record.Path) })
	for _, v := range versions {
		if err := r.writeFile(ctx, out, v.Record); err != nil {
			return fmt.Errorf("%s: %w", v.Record.Path, err)
		}
		report.Files = append(report.Files, v.Record.Path)
		report.Bytes += v.Record.Size
	}
	return errors.Join(out.Close(), packed.Close())
}

func (r *Sessions) writeFile(ctx context.Context, out *tar.Writer, file *record.Record) error {
	err := out.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: file.Path, Size: file.Size, Mode: 0o644, ModTime: file.Time.Truncate(time.Second),
	})
	if err != nil {
		return err
	}
	text, err := r.open(ctx, file)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, text)
	return errors.Join(err, text.Close())
}
