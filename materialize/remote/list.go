package remote

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"filebus/store/folder"
)

// isExpected reports whether something that is no blob belongs in a shared folder: the marker,
// what is git's, that of programs that synchronise, or of a disk.
func isExpected(name string) bool {
	return slices.Contains([]string{
		markerFile, "README.md", ".git", ".gitignore", ".gitattributes", ".stfolder", ".stignore", ".stversions", ".dropbox",
		".dropbox.cache", ".DS_Store", "desktop.ini", "Thumbs.db", "@eaDir", "lost+found",
	}, name)
}

// isFolder reports whether blobs may be below a path.
func isFolder(at string) bool {
	const store, digest = "/00000000000000000000000000000000", "/00/0000000000000000000000000000000000000000000000000000000000000000"
	const span = "/00000000000000000001-00000000000000000001"
	return slices.ContainsFunc([]string{"/state", store + span, span, digest}, func(below string) bool {
		_, err := ParseName(at + below)
		return err == nil
	})
}

// A lister reads the folders of a remote, each once.
type lister struct {
	Listing
	dir  folder.Folder
	seen map[string]time.Time
}

func (f *folderRemote) List(ctx context.Context) (*Listing, error) {
	if err := f.present(); err != nil {
		return nil, err
	}
	l := &lister{dir: f.dir, seen: map[string]time.Time{}}
	if err := l.walk(ctx, "."); err != nil {
		return nil, f.explained(err)
	}
	f.remember(l.seen)
	return l.sort(), nil
}

// walk takes in what is below a folder.
func (l *lister) walk(ctx context.Context, dir string) error {
	l.seen[dir] = modified(l.dir.Path(dir)) // before it is read
	entries, err := l.dir.ReadDir(dir)
	switch {
	case dir != "." && isAbsent(err): // its store has removed it
		return nil
	case dir != "." && errors.Is(err, fs.ErrPermission): // of one store: the others are heard
		l.stray(dir, "cannot be read: permission denied")
		return nil
	}
	for _, e := range entries {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = l.take(ctx, path.Join(dir, e.Name()), e)
		}
	}
	return err
}

func (l *lister) take(ctx context.Context, at string, e fs.DirEntry) error {
	name, noBlob := ParseName(at)
	switch isDir := noBlob != nil && isFolder(at); {
	case noBlob != nil && !isDir:
		if !isExpected(e.Name()) && !isBeingPut(e) {
			l.stray(at, "has no name of a blob")
		}
	case isDir != e.IsDir() || !isDir && !e.Type().IsRegular():
		l.stray(at, "is "+folder.TypeName(e.Type()))
	case !isDir:
		l.Blobs = append(l.Blobs, name)
	case path.Base(at) != bodiesFolder:
		return l.walk(ctx, at)
	}
	return nil
}

func (l *lister) stray(at, why string) { l.Strays = append(l.Strays, Stray{at, why}) }

// isBeingPut reports whether a file is written just now. What is older than a day was left by a
// put that was killed.
func isBeingPut(e fs.DirEntry) bool {
	info, err := e.Info()
	return folder.IsTemporary(e.Name()) && (err != nil || time.Since(info.ModTime()) < 24*time.Hour)
}
