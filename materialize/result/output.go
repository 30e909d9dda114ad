package result

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filebus/materialize"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store/record"
)

// refused says why a file is not written.
func refused(file, why string) error {
	return record.Failed.Errorf("%s %s", file, why).Because(ErrOutput)
}

// An output is a file that a result is written to besides its own. The text is
// written under a temporary name beside it, and appears under its own at once
// and whole.
type output struct {
	file  string // absolute
	force bool   // replace another text
	tmp   *os.File
}

// newOutput makes sure that a file can be written before anything is stored. It
// is none of the inputs, no file that is written once, and lies in no folder of
// git or of the store.
func (g gatherer) newOutput(ctx context.Context, file string, force bool, in *inputs) (*output, error) {
	if err := g.mayWrite(file, in); err != nil {
		return nil, err
	}
	if err := g.mayReplace(ctx, file); err != nil {
		return nil, err
	}
	return openOutput(file, force)
}

// openOutput makes the temporary file.
func openOutput(file string, force bool) (*output, error) {
	tmp, err := os.OpenFile(filepath.Join(filepath.Dir(file), mirror.TemporaryName(".tmp")), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", file, pathReason(err))
	}
	return &output{file, force, tmp}, nil
}

// WriteFile gives a file, absolute, a text: whole and durable, or not at all. A
// file that holds another text is ErrOutputTaken, unless it may be replaced.
func WriteFile(ctx context.Context, file string, text []byte, force bool) error {
	o, err := openOutput(file, force)
	if err != nil {
		return err
	}
	defer o.discard()
	digest, err := o.write(ctx, bytes.NewReader(text))
	if err != nil {
		return err
	}
	return o.publish(ctx, digest)
}

// mayWrite looks at the file and its folder.
func (g gatherer) mayWrite(file string, in *inputs) error {
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return refused(file, "cannot be written: its folder does not exist")
	}
	if err := CheckPlace(g.w, file); err != nil {
		return err
	}
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("writing %s: %w", file, pathReason(err))
	case info.IsDir():
		return refused(file, "is a folder")
	case !info.Mode().IsRegular():
		return refused(file, "is not a regular file")
	}
	for i := range in.list {
		if in.list[i].isFile(g.w, info) {
			return refused(file, "is one of the inputs")
		}
	}
	return nil
}

// CheckPlace reports materialize.ErrProtected for a file, absolute, in a folder of
// git or of the store, also by way of symbolic links. Neither the file nor its
// folder has to be there.
func CheckPlace(w *materialize.Workspace, file string) error {
	folder := withoutLinks(filepath.Dir(file))
	if dir, err := filepath.EvalSymlinks(w.Location.Store); err == nil {
		if below, err := filepath.Rel(dir, folder); err == nil && filepath.IsLocal(below) {
			return record.Usage.Errorf("%s: %w", file, materialize.ErrProtected)
		}
	}
	for element := range strings.SplitSeq(filepath.ToSlash(folder), "/") {
		if strings.EqualFold(element, ".git") {
			return record.Usage.Errorf("%s: %w", file, materialize.ErrProtected)
		}
	}
	return nil
}

// withoutLinks returns where a folder really is. What is missing of it has no
// links.
func withoutLinks(folder string) string {
	real, err := filepath.EvalSymlinks(folder)
	switch above := filepath.Dir(folder); {
	case err == nil:
		return real
	case above == folder:
		return folder
	default:
		return filepath.Join(withoutLinks(above), filepath.Base(folder))
	}
}

// mayReplace refuses the file of a name that is written once: its text is the
// store's.
func (g gatherer) mayReplace(ctx context.Context, file string) error {
	found, err := g.read.ResolveAll(ctx, []string{g.storedPath(file)}, query.ResolveOptions{Root: g.w.Root, Dir: g.dir})
	if err != nil || found[0].Err != nil {
		return err
	}
	r := found[0].Version.Record
	once := r.Name.Kind == record.KindResult || r.Name.Kind == record.KindSnapshot
	if once && r.Name.Tree == "" && g.w.FilePath(r.Path) == file {
		return refused(file, "is the file of "+r.Name.String()+", which is written once")
	}
	return nil
}

// isFile reports whether an input is a file, or has one in the workspace.
func (in *input) isFile(w *materialize.Workspace, file fs.FileInfo) bool {
	if in.file != "" {
		return os.SameFile(in.info, file)
	}
	if r := in.version.Record; r.Path != "" && r.Name.Tree == "" {
		info, err := os.Stat(w.FilePath(r.Path))
		return err == nil && os.SameFile(info, file)
	}
	return false
}

// write takes the text and returns its digest. A file that holds another text is
// ErrOutputTaken unless it may be replaced.
func (o *output) write(ctx context.Context, text io.Reader) (record.Digest, error) {
	d := record.NewDigester()
	_, err := io.Copy(io.MultiWriter(o.tmp, d), text)
	if err != nil {
		return d.Digest(), err
	}
	_, err = o.tmp.Seek(0, io.SeekStart) // to be read
	if err = errors.Join(err, o.tmp.Sync()); err != nil {
		return d.Digest(), fmt.Errorf("writing %s: %w", o.file, pathReason(err))
	}
	_, err = o.isDone(ctx, d.Digest())
	return d.Digest(), err
}

// isDone reports whether the file has a text already. If it has another, which may
// not be replaced, that is ErrOutputTaken.
func (o *output) isDone(ctx context.Context, text record.Digest) (bool, error) {
	f, _, err := openRegular(o.file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", o.file, pathReason(err))
	}
	got, err := digestOf(ctx, f)
	if err = errors.Join(err, f.Close()); err == nil && got != text && !o.force {
		err = o.conflict()
	}
	return got == text, err
}

func (o *output) conflict() error {
	return record.Conflict.Errorf("%s holds another text", o.file).Because(ErrOutputTaken)
}

// publish gives the file its name. A file that has come up there meanwhile is not
// replaced, unless it may be.
func (o *output) publish(ctx context.Context, text record.Digest) error {
	if done, err := o.isDone(ctx, text); done || err != nil {
		return err
	}
	if !o.force {
		err := os.Link(o.tmp.Name(), o.file)
		if err == nil {
			o.settle()
			return nil
		}
		// Somebody was faster, perhaps with the same, or the disk knows no links.
		if done, doneErr := o.isDone(ctx, text); done || doneErr != nil {
			return doneErr
		}
		if errors.Is(err, fs.ErrExist) {
			return o.conflict() // a link that leads nowhere
		}
	} else if info, err := os.Stat(o.file); err == nil {
		_ = o.tmp.Chmod(info.Mode().Perm()) // as far as the file system has such a thing
	}
	if err := errors.Join(o.tmp.Close(), os.Rename(o.tmp.Name(), o.file)); err != nil {
		return fmt.Errorf("writing %s: %w", o.file, pathReason(err))
	}
	o.settle()
	return nil
}

// settle makes the new name durable, where the file system can: an output may lie
// on any, and its text is in the store too.
func (o *output) settle() { _ = syncFolder(filepath.Dir(o.file)) }

// discard removes the temporary file, if it is still there.
func (o *output) discard() {
	_ = o.tmp.Close()           // it is removed, or was closed
	_ = os.Remove(o.tmp.Name()) // or was renamed
}
