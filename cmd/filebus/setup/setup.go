// Package setup puts filebus into the settings and instructions of the programs that run
// agents, its clients, and takes it out again.
//
// A file of the user's is changed in as few bytes as can be, and only if the change can
// be undone to the byte; what cannot be read for sure is refused, and named. A file of
// ours alone is made, and removed. What the user has changed of ours is kept. Nothing is
// remembered elsewhere: what was made for filebus is told by its form.
//
// A Plan looks at all files before the first is touched. The package knows neither
// stores nor the network.
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"filebus/store/record"
)

// An edit is how one of our parts gets into a file, and out. Nil is a file that is not
// there. What it leaves as it is, and why, is in the list.
type edit interface {
	add(text []byte) (now []byte, kept []string, err error)
	remove(text []byte, force bool) (now []byte, kept []string, err error)
}

// What is done to a file.
const (
	Made      = "made"
	Changed   = "changed"
	Removed   = "removed"
	Unchanged = "unchanged"
)

// A File is what a plan does to a file.
type File struct {
	Path   string   `json:"path"`
	Target string   `json:"target,omitempty"` // what is written, if the path is a link
	Action string   `json:"action"`
	Kept   []string `json:"kept,omitempty"` // what is left as it is, and why

	was, is []byte
	mode    fs.FileMode
	top     string // empty folders are removed below it
}

// A Plan is what is to be done.
type Plan struct {
	Client string   `json:"client"`
	Scope  string   `json:"scope"`
	Files  []*File  `json:"files"`
	Next   []string `json:"next"` // what is left to the user
}

const (
	// errSettings says that a file cannot be edited.
	errSettings record.Reason = "settings not understood"
	// ErrRaced says that a file was changed since the plan was made.
	ErrRaced record.Reason = "settings changed meanwhile"
)

// maxFile bounds the files that are read.
const maxFile = 16 << 20

// Install plans what puts the parts into a client.
func Install(o Options) (*Plan, error) {
	return o.plan(func(t target, text []byte) ([]byte, []string, error) { return t.edit.add(text) })
}

// Uninstall plans what takes the parts out of a client again. By force it does so where
// the user has changed them.
func Uninstall(o Options, force bool) (*Plan, error) {
	o.leaves = true
	return o.plan(func(t target, text []byte) ([]byte, []string, error) {
		if text == nil {
			return nil, nil, nil
		}
		return t.edit.remove(text, force)
	})
}

func (o Options) plan(do func(target, []byte) ([]byte, []string, error)) (*Plan, error) {
	p := &Plan{Client: o.Client, Scope: "user", Next: o.following()}
	if o.Project {
		p.Scope = "project"
	}
	targets, err := o.targets()
	if err != nil {
		return nil, err
	}
	files := map[string]*File{}
	for _, t := range targets {
		f := files[t.path]
		if f == nil {
			if f, err = readFile(t.path); err != nil {
				return nil, err
			}
			f.top = t.top
			files[t.path] = f
			p.Files = append(p.Files, f)
		}
		var kept []string
		if f.is, kept, err = do(t, f.is); err != nil {
			return nil, record.Failed.Errorf("%s: %w; it is left as it is", t.path, err).Because(errSettings).
				Try("mend the file, or take other flags, and run the same again")
		}
		f.Kept = append(f.Kept, slices.DeleteFunc(kept, func(why string) bool { return why == "" })...)
	}
	for _, f := range p.Files {
		if err := f.settle(); err != nil {
			return nil, err
		}
	}
	p.Files = append(p.Files, o.strangers(files)...)
	p.Files = slices.DeleteFunc(p.Files, func(f *File) bool { return f.was == nil && f.is == nil })
	return p, nil
}

// strangers returns the files of others in a folder that a client takes for ours.
func (o Options) strangers(ours map[string]*File) (others []*File) {
	base, _ := o.base("CLAUDE_CONFIG_DIR", ".claude")
	if o.Client != "claude" || !o.leaves {
		return nil
	}
	_ = filepath.WalkDir(pluginFolder(base), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && ours[path] == nil {
			others = append(others, &File{Path: path, Action: Unchanged, Kept: []string{"it is not of filebus"}, was: []byte{}})
		}
		return nil // what cannot be listed cannot be removed, which is said there
	})
	return others
}

// settle says what is done to the file.
func (f *File) settle() error {
	switch {
	case f.was == nil:
		f.Action = Made
	case f.is == nil:
		f.Action = Removed
	case bytes.Equal(f.was, f.is):
		f.Action = Unchanged
	default:
		f.Action = Changed
	}
	if f.Action != Unchanged && f.was != nil && f.mode&0o200 == 0 {
		return record.Failed.Errorf("%s is read-only, and left as it is", f.place()).Because(errSettings)
	}
	return nil
}

// place returns where the file is that the path leads to.
func (f *File) place() string {
	if f.Target != "" {
		return f.Target
	}
	return f.Path
}

// readFile reads a file, through links, as those who keep their settings in one place
// have them.
func readFile(path string) (*File, error) {
	f := &File{Path: path, mode: 0o644}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if f.Target, err = filepath.EvalSymlinks(path); err != nil {
			return nil, record.Failed.Errorf("%s is a link that leads nowhere, and left as it is: %w", path, err).Because(errSettings)
		}
	}
	file, err := os.Open(f.place())
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = record.Failed.Errorf("%s is no file, or one of more than %d MB", path, maxFile>>20).Because(errSettings)
	}
	if err != nil {
		return nil, err
	}
	f.mode = info.Mode().Perm()
	f.was, err = io.ReadAll(io.LimitReader(file, maxFile))
	f.is = f.was
	return f, err
}

// Diff returns what the plan changes, as patches have it.
func (p *Plan) Diff() string {
	var out strings.Builder
	for _, f := range p.Files {
		before, after := f.place(), f.place()
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
		now, err := readFile(f.Path)
		if err == nil && (!bytes.Equal(now.was, f.was) || (now.was == nil) != (f.was == nil)) {
			err = record.Conflict.Errorf("%s was changed meanwhile", f.Path).Because(ErrRaced).Try("run the same again")
		}
		if err == nil && f.is == nil {
			err = f.drop()
		} else if err == nil {
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
	at := f.place()
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
	err := os.Remove(f.place())
	if f.Target != "" && err == nil {
		err = os.Remove(f.Path)
	}
	for dir := filepath.Dir(f.Path); err == nil && dir != f.top && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil {
			break // a link, or somebody's
		}
	}
	return err
}
