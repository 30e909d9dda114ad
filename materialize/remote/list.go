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

// A lister reads the folders of a remote that were changed since they were read, and all every now and then.
type lister struct {
	dir      folder.Folder
	now, was map[string]*listedFolder
	isNew    bool // one was read
}

// A listedFolder is what was read in one folder.
type listedFolder struct {
	Listing
	Folders   []string
	Stamp     [2]int64 // when it, and the state in it, were changed; some disks tell the second alone
	IsSettled bool     // it cannot have been changed again since, at the same time
}

// relist is how long a listing may go on from older ones.
const relist = 10 * time.Minute

func (f *folderRemote) List(ctx context.Context) (*Listing, error) {
	if err := f.present(); err != nil {
		return nil, err
	}
	l := &lister{dir: f.dir, now: map[string]*listedFolder{}}
	f.mu.Lock()
	all, since := f.seen.Listing, f.seen.Since
	if l.was = f.seen.Folders; time.Since(since).Abs() > relist {
		l.was, since = nil, time.Now()
	}
	f.mu.Unlock()
	if err := l.walk(ctx, ".", l.was == nil); err != nil {
		return nil, f.explained(err)
	}
	if l.isNew || len(l.now) != len(l.was) {
		all = listingOf(l.now)
	}
	f.remember(l.now, all, since)
	return all, nil
}

// listingOf returns what was read in all folders.
func listingOf(folders map[string]*listedFolder) *Listing {
	all := &Listing{}
	for _, of := range folders {
		all.Blobs, all.Strays = append(all.Blobs, of.Blobs...), append(all.Strays, of.Strays...)
	}
	return all.sort()
}

// walk takes in what is below a folder. What is below one of a store that was changed is read, for the sake of disks that
// do not say when folders were.
func (l *lister) walk(ctx context.Context, dir string, isAnew bool) error {
	times := [2]time.Time{modified(l.dir.Path(dir)), modified(l.dir.Path(path.Join(dir, "state")))}
	of, stamp := l.was[dir], [2]int64{times[0].UnixNano(), times[1].UnixNano()}
	if isAnew || of == nil || of.Stamp != stamp || !of.IsSettled {
		l.isNew = true
		of = &listedFolder{Stamp: stamp, IsSettled: time.Since(times[0]).Abs() >= coarse && time.Since(times[1]).Abs() >= coarse}
		if err := l.read(dir, of); err != nil {
			return err
		}
		isAnew = isAnew || dir != "."
	}
	l.now[dir] = of
	err := ctx.Err()
	for _, below := range of.Folders {
		if err == nil {
			err = l.walk(ctx, below, isAnew)
		}
	}
	return err
}

func (l *lister) read(dir string, of *listedFolder) error {
	entries, err := l.dir.ReadDir(dir)
	switch {
	case dir != "." && isAbsent(err): // its store has removed it
		return nil
	case dir != "." && errors.Is(err, fs.ErrPermission): // of one store: the others are heard
		of.stray(dir, "cannot be read: permission denied")
		return nil
	}
	for _, e := range entries {
		of.take(path.Join(dir, e.Name()), e)
	}
	return err
}

func (l *listedFolder) take(at string, e fs.DirEntry) {
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
		l.Folders = append(l.Folders, at)
	}
}

func (l *listedFolder) stray(at, why string) { l.Strays = append(l.Strays, Stray{at, why}) }

// isBeingPut reports whether a file is written just now. What is older than a day was left by a
// put that was killed.
func isBeingPut(e fs.DirEntry) bool {
	info, err := e.Info()
	return folder.IsTemporary(e.Name()) && (err != nil || time.Since(info.ModTime()) < 24*time.Hour)
}
