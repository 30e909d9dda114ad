package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"filebus/store/folder"
	"filebus/store/record"
)

// markerFile stands at the top of every folder that is a remote, and says so. A folder without it
// may be where a disk is to be mounted: that must not look like a remote in which nothing is.
const markerFile = "filebus-remote"

const markerHeader = "filebus remote "

// A folderRemote keeps blobs as files of their names in a folder that others reach too: on a
// shared or synchronised disk, in a mounted bucket, in the working tree of git. It follows no
// link below that folder and opens regular files alone.
type folderRemote struct {
	dir folder.Folder

	mu      sync.Mutex
	seen    *Seen     // its listing is not changed by who got it
	settled time.Time // until then a change may have been missed
}

func newFolder(dir string, seen *Seen) *folderRemote {
	return &folderRemote{dir: folder.At(dir).Shared(), seen: seen}
}

// create makes the folder and its marker, if they are not there.
func (f *folderRemote) create() error {
	err := os.MkdirAll(f.dir.Path("."), 0o777)
	if err == nil {
		if _, missing := f.dir.Stat(markerFile); isAbsent(missing) {
			err = f.dir.Replace(markerFile, []byte(markerHeader+version), true)
		}
	}
	if err != nil {
		return f.explained(err)
	}
	return f.present()
}

// present returns an error unless the folder is a remote that this program knows.
func (f *folderRemote) present() error {
	top, text := f.dir.Path("."), []byte(nil)
	info, err := os.Stat(top)
	if err == nil && !info.IsDir() { // a pipe would hold up who opens it
		return record.Usage.Errorf("no remote is at %s: it is %s", top, folder.TypeName(info.Mode()))
	}
	if err == nil {
		text, err = f.dir.ReadUpTo(markerFile, 1<<10)
	}
	if isAbsent(err) { // not wrapped: no blob is absent
		return record.NotFound.Errorf("no remote is at %s: its disk is not mounted, or not synchronised yet (%v)", top, err).Because(ErrAway)
	}
	if err != nil {
		return f.explained(err)
	}
	return readFields("the file "+f.dir.Path(markerFile), markerHeader, string(text)).end()
}

// explained says of which remote an error is, and what to look at if the user has no right.
func (f *folderRemote) explained(err error) error {
	top := f.dir.Path(".")
	if errors.Is(err, fs.ErrPermission) {
		return record.Failed.Errorf("the remote %s does not let this user do that: %w", top, err).Try("ls -la {1}", top)
	}
	return fmt.Errorf("the remote %s: %w", top, err)
}

// do calls act with the path of a blob below the folder, if all is well before.
func (f *folderRemote) do(ctx context.Context, name Name, act func(file string) error) error {
	err := cmp.Or(ctx.Err(), name.Check())
	if err == nil {
		err = f.present()
	}
	if err != nil {
		return err
	}
	if err = act(name.String()); err != nil {
		return cmp.Or(f.present(), f.explained(err)) // it may have gone meanwhile
	}
	return nil
}

func (f *folderRemote) Get(ctx context.Context, name Name) (blob io.ReadCloser, err error) {
	err = f.do(ctx, name, func(file string) (err error) {
		blob, err = f.dir.Open(file)
		return err
	})
	if err != nil {
		return nil, err // and no file of nothing
	}
	return blob, nil
}

func (f *folderRemote) Put(ctx context.Context, name Name, size int64, from io.Reader) error {
	return f.do(ctx, name, func(file string) error {
		if err := f.dir.Make(path.Dir(file)); err != nil {
			return err
		}
		err := f.write(file, size, from)
		for dir := file; err == nil && dir != "."; { // folders may be new
			dir = path.Dir(dir)
			err = f.dir.Sync(dir)
		}
		return err
	})
}

// write makes a file appear whole.
func (f *folderRemote) write(name string, size int64, from io.Reader) error {
	file, tmp, err := f.dir.CreateTemp(path.Dir(name))
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(from, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("%s is not of %d bytes, which were announced", name, size)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.dir.Rename(tmp, name)
	}
	if err != nil {
		return errors.Join(err, f.dir.Remove(tmp))
	}
	return nil
}

func (f *folderRemote) Remove(ctx context.Context, name Name) error {
	return f.do(ctx, name, func(file string) error {
		_, err := f.dir.Stat(file) // which refuses what is no file
		if err == nil {
			err = errors.Join(f.dir.Remove(file), f.dir.Sync(path.Dir(file)))
		}
		if isAbsent(err) {
			return nil
		}
		return err
	})
}

func (f *folderRemote) Close() error { return nil }
