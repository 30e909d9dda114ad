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

	"filebus/store/folder"
	"filebus/store/record"
)

// An edit is how a part of ours gets into a file, and out. Nil is a file that is not
// there. The error kept says what is left as it is, and why.
type edit interface {
	add(text []byte) (now []byte, err error)
	remove(text []byte) (now []byte, err error)
}

type kept string

func (why kept) Error() string { return string(why) }

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
	Patch  string   `json:"diff,omitempty"` // what would change, as patches have it
}

// New plans what puts parts into a client, or takes them out.
func New(client string, o Options) (*Plan, error) {
	targets, next, err := o.targets(client)
	if err != nil {
		return nil, err
	}
	p := &Plan{Client: client, Scope: "user", Next: next, DryRun: o.DryRun}
	if o.Project {
		p.Scope = "project"
	}
	files := map[string]*File{}
	for _, t := range targets {
		if o.Leave && t.part == "instructions" && !o.Instructions {
			if other := o.otherUser(client, t.path); other != "" {
				p.Next = append(p.Next, t.path+" stays, as "+other+" reads it too; with --instructions it goes")
				continue
			}
		}
		f := files[t.path]
		if f == nil {
			if f, err = readFile(t.path, t.top); o.Project && err == nil {
				err = f.within() // it may be anybody's
			}
			files[t.path], p.Files = f, append(p.Files, f)
		}
		if err == nil {
			err = f.do(t.edit, o)
		}
		if err != nil {
			return nil, record.Failed.Errorf("%s: %w; nothing is changed", t.path, err).
				Try("mend the file or choose other parts, and run the same again")
		}
	}
	p.Files = slices.DeleteFunc(p.Files, func(f *File) bool { return f.was == nil && f.is == nil })
	switch isChanged := func(f *File) bool { return f.Action != Unchanged }; {
	case !slices.ContainsFunc(p.Files, isChanged):
		p.Next = append([]string{"nothing is to be changed"}, p.Next[len(next):]...)
	case o.DryRun:
		p.Next = append([]string{"nothing was changed; without --dry-run it is"}, p.Next[len(next):]...)
		p.Patch = p.diff()
	}
	if i := slices.IndexFunc(targets, func(t target) bool { return filepath.Base(t.path) == sums }); i >= 0 && o.Leave {
		p.Next = append(p.Next, p.others(filepath.Dir(targets[i].path))...)
	}
	return p, nil
}

// others names what stays in a folder of ours, as it is from somebody else.
func (p *Plan) others(dir string) (names []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what is not seen stays, too
		isIt := func(f *File) bool { return f.Path == path }
		if err == nil && !d.IsDir() && !slices.ContainsFunc(p.Files, isIt) {
			names = append(names, path+" is not from filebus, and stays")
		}
		return nil
	})
	return names
}

// byteOrderMark stays where it is.
const byteOrderMark = "\ufeff"

// do makes an edit of a file. What is new in it can be undone to the byte.
func (f *File) do(e edit, o Options) error {
	text, isMarked := bytes.CutPrefix(f.is, []byte(byteOrderMark))
	change := e.add
	if o.Leave {
		change = e.remove
	}
	now, err := change(text)
	if why, is := errors.AsType[kept](err); is {
		f.Kept = append(f.Kept, string(why))
		return nil
	}
	if err != nil || isSame(now, text) {
		return err
	}
	before, _ := e.remove(text)
	if after, err := e.remove(now); !o.Leave && (err != nil || !isSame(before, after)) {
		return errors.New("filebus could not take out again exactly what it puts in")
	}
	switch f.Action = "changed"; {
	case f.was == nil:
		f.Action = "made"
	case f.mode&0o200 == 0:
		return errors.New("it is read-only")
	case now == nil:
		f.Action = "removed"
	}
	if f.is = now; isMarked && now != nil {
		f.is = append([]byte(byteOrderMark), now...)
	}
	return nil
}

func isSame(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// maxFile bounds the files that are read, and how deep what is in them can be nested.
const maxFile = 256 << 10

// readFile reads a file, through links, as those who keep their settings in one place
// have them.
func readFile(path, top string) (*File, error) {
	f := &File{Path: path, Action: Unchanged, top: top}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return f, err
	}
	if real != path {
		f.Target = real
	}
	info, err := os.Stat(real)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = fmt.Errorf("it is no file, or one of more than %d KiB", maxFile>>10)
	}
	if err == nil {
		f.mode = info.Mode().Perm()
		f.was, err = os.ReadFile(real)
	}
	f.is = f.was
	return f, err
}

// within reports a file to which links lead out of its top.
func (f *File) within() error {
	rel, _ := filepath.Rel(f.top, f.Path) // it is below
	file, err := os.OpenInRoot(f.top, rel)
	switch {
	case err == nil:
		return file.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("a link leads out of %s, or is absolute: %w", f.top, err)
}

// at returns where the file is.
func (f *File) at() string { return cmp.Or(f.Target, f.Path) }

func (p *Plan) diff() string {
	var out strings.Builder
	for _, f := range p.Files {
		names := map[bool]string{false: f.at(), true: os.DevNull}
		out.Write(diff.Diff(names[f.was == nil], f.was, names[f.is == nil], f.is))
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

// write makes the file appear whole, with the mode that it had, or one like its folder's.
func (f *File) write() error {
	dir := filepath.Dir(f.at())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if info, err := os.Stat(dir); err == nil && f.was == nil {
		f.mode = 0o644 & info.Mode().Perm()
	}
	if err := folder.At(dir).Replace(filepath.Base(f.at()), f.is, true); err != nil {
		return err
	}
	return os.Chmod(f.at(), f.mode)
}

// drop removes the file, and the folders around it that are empty then.
func (f *File) drop() error {
	err := os.Remove(f.at())
	_ = os.Remove(f.Path) // the link, if it was one
	top := f.top + string(filepath.Separator)
	for dir := filepath.Dir(f.Path); err == nil && strings.HasPrefix(dir, top); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil {
			break // a link, or somebody's
		}
	}
	return err
}
