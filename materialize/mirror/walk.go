package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/store/folder"
	"filebus/store/record"
)

// A Skipped is a file that was left out, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	// Harmless says that nothing was missed that could have been captured:
	// symbolic links and the like.
	Harmless bool `json:"harmless,omitempty"`
}

// A Walk is what was found below a folder.
type Walk struct {
	root    string
	filter  *Filter // nil: nothing is left out on purpose
	Files   []Stat
	LeftOut []LeftOut
	Skipped []Skipped
	Blind   []string // folders that could not be read
	Watched Watched  // the folders that were read, and those in which such may appear; nil: nobody asks
	whole   bool     // a folder that is captured: temporary files are left out
	paths   map[string]bool

	deadline time.Time // when to stop looking; zero: never
	Unlooked int       // folders that the deadline left no time for, with all below
}

// WalkTree lists the regular files below root that a filter of it takes in, in the
// order of their paths.
func WalkTree(ctx context.Context, root string, filter *Filter) (*Walk, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("capturing %s: %w", root, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("capturing %s: it is not a folder", root)
	}
	w := &Walk{root: root, filter: filter, whole: true}
	if filter.isInSecret() {
		w.LeftOut = []LeftOut{{"./", RuleSecret}}
		return w, nil
	}
	return w, w.folder(ctx, "")
}

// Unused returns the patterns of the filter's rules that matched nothing.
func (w *Walk) Unused() (lines []string) {
	for _, p := range w.filter.exclude {
		if !p.used {
			lines = append(lines, p.line)
		}
	}
	return lines
}

// Has reports whether a file was found at a path.
func (w *Walk) Has(p string) bool {
	if w.paths == nil {
		w.paths = make(map[string]bool, len(w.Files))
		for _, f := range w.Files {
			w.paths[f.Path] = true
		}
	}
	return w.paths[p]
}

// folder lists what is below a folder, in the order of the paths.
func (w *Walk) folder(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.read(ctx, dir, func(name string) error { return w.folder(ctx, name) })
}

// levels lists what is below folders, one at least, until the deadline, level by level: what
// agents share stands above the many files of single calls.
func (w *Walk) levels(ctx context.Context, dirs []string) error {
	for isFirst := true; len(dirs) > 0; isFirst = false {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !isFirst && time.Now().After(w.deadline) {
			w.Unlooked += len(dirs)
			return nil
		}
		dir := dirs[0]
		dirs = dirs[1:]
		_ = w.read(ctx, dir, func(name string) error { dirs = append(dirs, name); return nil }) // which never fails
	}
	return nil
}

// list lists what is below folders, all of it or until the deadline.
func (w *Walk) list(ctx context.Context, dirs []string) error {
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		rule := w.filter.Find(dir + "/")
		if rule != "" && rule != RuleBroken { // that is said on entering
			w.LeftOut = append(w.LeftOut, LeftOut{dir + "/", rule})
		}
		return rule != "" && rule != RuleBroken
	})
	if !w.deadline.IsZero() {
		return w.levels(ctx, dirs)
	}
	for _, dir := range dirs {
		if err := w.folder(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// read lists the files of a folder and calls below with the folders in it; one
// that cannot be read is noted.
func (w *Walk) read(ctx context.Context, dir string, below func(name string) error) error {
	entries, err := entriesOf(filepath.Join(w.root, filepath.FromSlash(dir)))
	if err == nil {
		err = w.filter.enter(ctx, dir, entries)
	}
	if err != nil {
		skipped := Skipped{Path: cmp.Or(dir, "."), Reason: Cause(err)}
		w.Skipped = slices.Insert(w.Skipped, len(w.Blind), skipped) // before the files
		w.Blind = append(w.Blind, dir)
		return nil
	}
	if w.Watched != nil {
		w.Watched.Add(filepath.Join(w.root, filepath.FromSlash(dir)), true)
	}
	for _, e := range entries {
		name := strings.TrimPrefix(dir+"/"+e.Name(), "/")
		switch {
		case strings.EqualFold(e.Name(), ".git"), e.Name() == ownerFile, e.IsDir() && (strings.EqualFold(e.Name(), StoreFolder) ||
			e.Name() == "node_modules" && !w.filter.holds(name)): // never walked into
		case w.leavesOut(name, e):
		case !e.IsDir():
			w.note(name, e)
		default:
			if err := below(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// entriesOf returns what is in a folder, by the names, looked at through the open folder: that costs less than to follow
// each path from the root, as is done where it fails. The slash at the end opens nothing but a folder.
func entriesOf(dir string) ([]fs.DirEntry, error) {
	f, openErr := os.Open(dir + string(filepath.Separator))
	infos, err := f.Readdir(-1)
	if err = errors.Join(openErr, err, f.Close()); err != nil {
		return os.ReadDir(dir)
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	entries := make([]fs.DirEntry, len(infos))
	for i, info := range infos {
		entries[i] = fs.FileInfoToDirEntry(info)
	}
	return entries, nil
}

// leavesOut reports whether a file or folder is left out on purpose, and notes it.
func (w *Walk) leavesOut(name string, e fs.DirEntry) bool {
	if !e.IsDir() && !e.Type().IsRegular() {
		return false
	}
	rule := w.filter.rule(name, e.IsDir())
	if e.IsDir() {
		name += "/"
	}
	if rule != "" {
		w.LeftOut = append(w.LeftOut, LeftOut{name, rule})
	}
	return rule != ""
}

func (w *Walk) note(name string, e fs.DirEntry) {
	switch info, err := e.Info(); {
	case errors.Is(err, fs.ErrNotExist): // removed since the folder was read
	case err != nil:
		w.Skipped = append(w.Skipped, Skipped{Path: name, Reason: Cause(err)})
	case !info.Mode().IsRegular():
		w.Skipped = append(w.Skipped, Skipped{name, folder.TypeName(info.Mode()), true})
	case w.whole && folder.IsTemporary(e.Name()): // left by a killed process
	case record.CheckID(name) != nil:
		w.Skipped = append(w.Skipped, Skipped{Path: name, Reason: record.CheckID(name).Error()})
	default:
		w.Files = append(w.Files, statOf(name, info))
	}
}

// Cause returns an error without the operation and path that its reader is
// told anyway.
func Cause(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// Scan lists the files on disk that belong to the mirror: those below folders that
// are remembered or belong to it and that a filter takes in, and all of those below
// folders of outside roots, which are by the prefixes of the roots. At a deadline that is not zero it stops, and
// the walk says how much it left.
func (m *Mirror) Scan(
	ctx context.Context, folders []string, outside map[string][]string, belongs func(path string) bool,
	filter *Filter, deadline time.Time,
) (*Walk, error) {
	found := &Walk{root: m.Dir, filter: filter, deadline: deadline, Watched: Watched{}, Files: make([]Stat, 0, m.Memory.OnDisk())}
	tops, files := m.tops(folders)
	tops = slices.DeleteFunc(tops, func(top string) bool { return filter.Find(top+"/") == RuleIgnore })
	if err := found.list(ctx, tops); err != nil {
		return nil, err
	}
	for _, f := range files {
		if e := fs.FileInfoToDirEntry(f.info); !found.leavesOut(f.name, e) {
			found.note(f.name, e)
		}
	}
	found.Watched.Add(m.Dir, false)
	for _, dir := range folders {
		for dir = path.Dir(dir); dir != "." && dir != "/"; dir = path.Dir(dir) {
			found.Watched.Add(filepath.Join(m.Dir, filepath.FromSlash(dir)), false)
		}
	}
	listed := found.Files
	found.Files = listed[:0]
	for _, f := range listed {
		known, remembered := m.Memory.Get(f.Path) // spares most files being looked at closely
		if folder.IsTemporary(path.Base(f.Path)) {
			m.sweep(f)
		} else if remembered || belongs(f.Path) {
			f.Agreed = remembered && known.State == Agreed && known.Matches(f)
			found.Files = append(found.Files, f)
		}
	}
	found.LeftOut = slices.DeleteFunc(found.LeftOut, func(l LeftOut) bool { // what no sync would look at
		return l.Rule != RuleConflict && !belongs(l.Path) && !belongs(l.Path+"x")
	})
	for i := range m.outside {
		if err := m.scanOutside(ctx, &m.outside[i], outside[m.outside[i].Prefix], found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// A placed is a file that a place is.
type placed struct {
	name string
	info fs.FileInfo
}

// tops returns the folders that there are, without those that lie in others, and the places that
// are one file, each once, both in the order of the places.
func (m *Mirror) tops(places []string) (tops []string, files []placed) {
	for _, place := range places {
		info, err := m.root.Lstat(filepath.FromSlash(place))
		isIn := func(top string) bool { return place == top || strings.HasPrefix(place, top+"/") }
		isSame := func(f placed) bool { return os.SameFile(f.info, info) } // letters may make no difference
		switch {
		case err != nil || slices.ContainsFunc(tops, isIn):
		case info.IsDir():
			tops = slices.DeleteFunc(tops, func(top string) bool { return strings.HasPrefix(top, place+"/") })
			tops = append(tops, place)
		case info.Mode().IsRegular() && !slices.ContainsFunc(files, isSame):
			files = append(files, placed{place, info})
		}
	}
	return tops, slices.DeleteFunc(files, func(f placed) bool {
		return slices.ContainsFunc(tops, func(top string) bool { return strings.HasPrefix(f.name, top+"/") })
	})
}

// scanOutside lists the files below folders of an outside root.
func (m *Mirror) scanOutside(ctx context.Context, o *Outside, folders []string, found *Walk) error {
	if len(folders) == 0 {
		return nil
	}
	if err := o.open(ctx, m.set.opts); err != nil {
		return err
	}
	below := &Walk{root: o.Dir, deadline: found.deadline, Watched: found.Watched}
	folders = slices.DeleteFunc(folders, func(top string) bool {
		err := o.own(top, false)
		if err != nil {
			found.Skipped = append(found.Skipped, Skipped{Path: o.Prefix + top, Reason: Cause(err)})
		}
		return err != nil
	})
	if err := below.list(ctx, folders); err != nil {
		return err
	}
	found.Unlooked += below.Unlooked
	for _, f := range below.Files {
		f.Path = o.Prefix + f.Path
		found.Files = append(found.Files, f)
	}
	return nil
}

// sweep removes a temporary file that a killed process left an hour ago.
func (m *Mirror) sweep(f Stat) {
	if m.set.opts.Now().Sub(f.ModTime) > time.Hour {
		_ = m.root.Remove(filepath.FromSlash(f.Path)) // the next sync tries again
	}
}
