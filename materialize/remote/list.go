package remote

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/store/folder"
	"filebus/store/record"
)

// isExpected reports whether something that is no blob belongs in a shared folder: the marker,
// what is git's, that of programs that synchronise, or of a disk.
func isExpected(name string) bool {
	return slices.Contains([]string{
		markerFile, "README.md", ".git", ".gitignore", ".gitattributes", ".stfolder", ".stignore", ".stversions", ".dropbox",
		".dropbox.cache", ".DS_Store", "desktop.ini", "Thumbs.db", "@eaDir", "lost+found",
	}, name)
}

// A lister reads the folders of a remote, each once.
type lister struct {
	Listing
	ctx  context.Context
	dir  folder.Folder
	seen map[string]time.Time
	err  error
}

func (f *folderRemote) List(ctx context.Context) (*Listing, error) {
	if err := f.present(); err != nil {
		return nil, err
	}
	l := &lister{Listing{Tellers: map[record.StoreID]Offer{}}, ctx, f.dir, map[string]time.Time{}, nil}
	l.each(".", func(e fs.DirEntry) bool {
		teller, err := record.ParseStoreID(e.Name())
		if err == nil && l.is(".", e, fs.ModeDir) {
			l.teller(teller)
		}
		return err == nil
	})
	if l.err != nil {
		return nil, f.explained(l.err)
	}
	f.remember(l.seen)
	slices.SortFunc(l.Strays, func(a, b Stray) int { return strings.Compare(a.Path, b.Path) })
	return &l.Listing, nil
}

// each calls visit with what is in a folder, in order. What it does not know is a stray.
func (l *lister) each(dir string, visit func(fs.DirEntry) (known bool)) {
	if l.err == nil {
		l.err = l.ctx.Err()
	}
	if l.err != nil {
		return
	}
	l.seen[dir] = modified(l.dir.Path(dir)) // before it is read
	entries, err := l.dir.ReadDir(dir)
	switch {
	case dir != "." && isAbsent(err): // its store has removed it
	case dir != "." && errors.Is(err, fs.ErrPermission): // of one store: the others are heard
		l.stray(dir, "cannot be read: permission denied")
	default:
		l.err = err
	}
	for _, e := range entries {
		if !visit(e) && !isExpected(e.Name()) && !l.isWritten(e) {
			l.stray(path.Join(dir, e.Name()), "has no name of a blob")
		}
	}
}

func (l *lister) stray(at, why string) { l.Strays = append(l.Strays, Stray{at, why}) }

// isWritten reports whether a file is being put just now. What is older than a day was left by
// a put that was killed.
func (l *lister) isWritten(e fs.DirEntry) bool {
	if !folder.IsTemporary(e.Name()) {
		return false
	}
	info, err := e.Info()
	return err != nil || time.Since(info.ModTime()) < 24*time.Hour
}

// is reports whether something is of the type that its name wants, else it is a stray.
func (l *lister) is(dir string, e fs.DirEntry, want fs.FileMode) bool {
	if e.Type() != want {
		l.stray(path.Join(dir, e.Name()), "is "+folder.TypeName(e.Type()))
	}
	return e.Type() == want
}

func (l *lister) teller(teller record.StoreID) {
	offer, dir := Offer{}, string(teller)
	l.each(dir, func(e fs.DirEntry) bool {
		switch e.Name() {
		case "state":
			offer.HasState = l.is(dir, e, 0)
		case "log":
			if l.is(dir, e, fs.ModeDir) {
				offer.Segments = l.segments(dir + "/log")
			}
		case "bodies":
			l.is(dir, e, fs.ModeDir)
		default:
			return false
		}
		return true
	})
	l.Tellers[teller] = offer
}

// segments returns what is in the logs of a teller.
func (l *lister) segments(logs string) (spans []Span) {
	l.each(logs, func(e fs.DirEntry) bool {
		origin, err := record.ParseStoreID(e.Name())
		if err != nil || !l.is(logs, e, fs.ModeDir) {
			return err == nil
		}
		dir := path.Join(logs, e.Name())
		l.each(dir, func(e fs.DirEntry) bool {
			span, ok := parseSpan(origin, e.Name())
			if ok && l.is(dir, e, 0) {
				spans = append(spans, span)
			}
			return ok
		})
		return true
	})
	return spans
}
