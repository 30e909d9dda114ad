// Package setup puts filebus into the settings and instructions of the programs that run
// agents, its clients, and takes it out again.
//
// A file of the user's is changed in as few bytes as can be, and only if the change can
// be undone to the byte; what cannot be read for sure is refused, and named. A file of
// ours alone is made, and removed. What the user has changed of ours is kept. Nothing is
// remembered elsewhere: what was made for filebus is told by its form.
//
// A Plan looks at all files before the first is touched. The package knows no store.
package setup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"filebus/store/record"
)

// An edit is how a part of ours gets into a file, and out. Nil is a file that is not
// there. Kept is what it leaves as it is, and why.
type edit interface {
	add(text []byte) (now []byte, kept string, err error)
	remove(text []byte, force bool) (now []byte, kept string, err error)
}

// Unchanged is the action of a File of which nothing is changed.
const Unchanged = "unchanged"

// A File is what a plan does to a file.
type File struct {
	Path   string   `json:"path"`
	Target string   `json:"target,omitempty"` // what is written, if the path is a link
	Action string   `json:"action"`           // made, changed, removed or unchanged
	Kept   []string `json:"kept,omitempty"`   // what is left as it is, and why

	was, is []byte
	mode    fs.FileMode
	top     string // empty folders are removed below it
}

// A Plan is what is to be done.
type Plan struct {
	Client string   `json:"client"`
	Scope  string   `json:"scope"` // user or project
	Files  []*File  `json:"files"`
	Next   []string `json:"next"` // what is left to the user
	DryRun bool     `json:"dry_run,omitempty"`
	Patch  string   `json:"diff,omitempty"` // what Diff says, if nothing is done
}

// maxFile bounds the files that are read.
const maxFile = 16 << 20

// New plans what puts the parts into a client, or takes them out.
func New(o Options) (*Plan, error) {
	p := &Plan{Client: o.Client, Scope: map[bool]string{true: "project", false: "user"}[o.Project]}
	targets, next, err := o.targets()
	if err != nil {
		return nil, err
	}
	p.Next = next
	for _, t := range targets {
		i := slices.IndexFunc(p.Files, func(f *File) bool { return f.Path == t.path })
		if i < 0 {
			f, err := readFile(t.path, t.top)
			if err != nil {
				return nil, err
			}
			i, p.Files = len(p.Files), append(p.Files, f)
		}
		if err := p.Files[i].do(t.edit, o); err != nil {
			return nil, record.Failed.Errorf("%s: %w; nothing is changed", t.path, err).
				Try("mend the file or choose other parts, and run the same again")
		}
	}
	p.Files = slices.DeleteFunc(p.Files, func(f *File) bool { return f.was == nil && f.is == nil })
	return p, nil
}

// do makes an edit of a file. What is new in it can be undone to the byte.
func (f *File) do(e edit, o Options) (err error) {
	text, kept := f.is, ""
	switch {
	case !o.Leave:
		if f.is, kept, err = e.add(text); err == nil {
			before, _, _ := e.remove(text, false)
			after, _, undoErr := e.remove(f.is, false)
			if bytes.Equal(before, text) && !bytes.Equal(f.is, text) && (undoErr != nil || !isSame(after, text)) {
				err = errors.New("what is put in could not be taken out to the byte")
			}
		}
	case text != nil:
		f.is, kept, err = e.remove(text, o.Force)
	}
	if kept != "" {
		f.Kept = append(f.Kept, kept)
	}
	f.Action = Unchanged
	if !isSame(f.was, f.is) {
		f.Action = map[[2]bool]string{{true, false}: "made", {false, true}: "removed"}[[2]bool{f.was == nil, f.is == nil}]
		f.Action = cmp.Or(f.Action, "changed")
		if f.was != nil && f.mode&0o200 == 0 {
			err = errors.New("it is read-only")
		}
	}
	return err
}

func isSame(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// readFile reads a file, through links, as those who keep their settings in one place
// have them.
func readFile(path, top string) (f *File, err error) {
	f = &File{Path: path, mode: 0o644, top: top}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if f.Target, err = filepath.EvalSymlinks(path); err == nil {
			info, err = os.Stat(path)
		}
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = fmt.Errorf("it is no file, or one of more than %d MB", maxFile>>20)
	}
	if err == nil {
		f.mode = info.Mode().Perm()
		f.was, err = os.ReadFile(path)
		f.is = f.was
	}
	if err != nil {
		return nil, record.Failed.Errorf("%s cannot be read: %w; nothing is changed", path, err)
	}
	return f, nil
}

// Diff returns what the plan changes, as patches have it.
func (p *Plan) Diff() string {
	var out strings.Builder
	for _, f := range p.Files {
		before, after := cmp.Or(f.Target, f.Path), cmp.Or(f.Target, f.Path)
		if f.was == nil {
			before = os.DevNull
		}
		if f.is == nil {
			after = os.DevNull
		}
		out.Write(diff.Diff(before, f.was, after, f.is))
	}
	return out.String()
}

// Apply does what was planned, unless a file has changed since.
func (p *Plan) Apply() error {
	for _, f := range p.Files {
		if f.Action == Unchanged {
			continue
		}
		now, err := readFile(f.Path, f.top)
		switch {
		case err != nil:
		case !isSame(now.was, f.was):
			err = record.Conflict.Errorf("%s was changed meanwhile", f.Path).Try("run the same again")
		case f.is == nil:
			err = f.drop()
		default:
			err = f.write()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write makes the file appear whole, with the mode that it had.
func (f *File) write() error {
	at := cmp.Or(f.Target, f.Path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(at), fmt.Sprintf(".filebus-%d.tmp", os.Getpid()))
	file, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
	if err != nil {
		return err
	}
	_, err = file.Write(f.is)
	if f.was != nil {
		err = errors.Join(err, file.Chmod(f.mode)) // whatever the process would leave out
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(tmp, at)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// drop removes the file, and the folders around it that are empty then.
func (f *File) drop() error {
	err := os.Remove(f.Path)
	if f.Target != "" && err == nil {
		err = os.Remove(f.Target)
	}
	top := f.top + string(filepath.Separator)
	for dir := filepath.Dir(f.Path); err == nil && strings.HasPrefix(dir, top); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil {
			break // a link, or somebody's
		}
	}
	return err
}
