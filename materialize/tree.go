package materialize

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store/folder"
	"filebus/store/record"
)

// A Tree is what a store remembers of a folder that was captured, in a file of its
// folder trees: the folder, the profile, and a line for each thing else.
type Tree struct {
	Name     record.Tree
	Dir      string         // absolute
	Profile  layout.Profile // that its files are named by
	IsRoot   bool           // the folder is the profile's root itself, not what holds it
	Rules    Rules
	Captured time.Time   // when the last capture began; zero: not known
	was      record.Tree // whose records are on their way here, see RenameTree
	broken   error       // the note cannot be read
}

// Rules say what of a folder is captured, beside what is left out by itself.
type Rules = mirror.Rules

func (w *Workspace) treeNotes() folder.Folder { return folder.At(w.Location.Store).Sub("trees") }

// Tree returns what is remembered of a tree, or fs.ErrNotExist.
func (w *Workspace) Tree(name record.Tree) (*Tree, error) {
	text, err := w.treeNotes().ReadFile(string(name))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	dir := lines[0]
	if unquoted, err := strconv.Unquote(dir); err == nil { // a path begins with no quote
		dir = unquoted
	}
	t := &Tree{Name: name, Dir: dir, Profile: profileIn(dir)}
	for i, line := range lines[1:] {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case i == 0:
			if p, err := layout.ParseProfile(line); err == nil {
				t.Profile = p
			}
		case key == "root":
			t.IsRoot = true
		case key == "all":
			t.Rules.All = true
		case key == "gitignore":
			t.Rules.Gitignore = true
		case key == "exclude":
			t.Rules.Exclude = append(t.Rules.Exclude, value)
		case key == "renamed":
			t.was = record.Tree(value)
		case key == "captured":
			t.Captured, err = record.ParseTime(value)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the note on tree %s: %w", name, err)
		}
	}
	return t, nil
}

// saveTree remembers a tree.
func (w *Workspace) saveTree(t *Tree) error {
	lines := []string{t.Dir, t.Profile.Name}
	if strings.ContainsAny(t.Dir, "\r\n") {
		lines[0] = strconv.Quote(t.Dir)
	}
	for _, on := range []struct {
		line string
		is   bool
	}{{"root", t.IsRoot}, {"all", t.Rules.All}, {"gitignore", t.Rules.Gitignore}} {
		if on.is {
			lines = append(lines, on.line)
		}
	}
	lines = append(lines, markdown.Each(t.Rules.Exclude, func(p string) string { return "exclude " + p })...)
	if t.was != "" {
		lines = append(lines, "renamed "+string(t.was))
	}
	if !t.Captured.IsZero() {
		lines = append(lines, "captured "+record.FormatTime(t.Captured))
	}
	if err := w.treeNotes().Make("."); err != nil {
		return err
	}
	return w.treeNotes().Replace(string(t.Name), []byte(strings.Join(lines, "\n")+"\n"), false)
}

// claimTree returns what is to be remembered of a tree that is captured from a folder,
// and refuses a name that is another folder's: two projects that both call a folder
// "src" must not overwrite each other.
// A folder that has moved keeps its tree where the user says so, and not its rules.
func (w *Workspace) claimTree(name record.Tree, dir string, mayMove bool) (*Tree, error) {
	t, err := w.Tree(name)
	switch {
	case err == nil && t.Dir != dir:
		conflict := record.Conflict.Errorf("the tree %s is a capture of %s", name, t.Dir).Because(ErrTreeTaken)
		if _, err := os.Stat(t.Dir); !errors.Is(err, fs.ErrNotExist) {
			return nil, conflict
		} else if !mayMove {
			return nil, conflict.Try("run it again with another --tree, or with --tree {1} if the folder was moved", string(name))
		}
		return &Tree{Name: name, Dir: dir, Profile: profileIn(dir), was: t.was}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return t, err
	}
	return &Tree{Name: name, Dir: dir, Profile: profileIn(dir)}, nil
}

// profileIn returns the first profile whose root a folder has, so that the names
// of its files are as short as its own agents know them.
func profileIn(dir string) layout.Profile {
	for _, p := range layout.Profiles() {
		if info, err := os.Stat(filepath.Join(dir, p.Root)); err == nil && info.IsDir() {
			return p
		}
	}
	return layout.Claude()
}

// ErrTreeTaken says that a tree's name belongs to another folder.
const ErrTreeTaken record.Reason = "the tree is taken"

// placeIn returns how files below a folder are recognised, by their folders too.
func (w *Workspace) placeIn(dir string, place func(path string) layout.Location) func(path string) layout.Location {
	return func(path string) layout.Location {
		return w.Settings.Kinds.Place(place(path), filepath.ToSlash(dir), path)
	}
}

// place returns how the tree's files are recognised by their paths.
func (t *Tree) place() func(path string) layout.Location {
	if t.IsRoot {
		return t.Profile.Within
	}
	return t.Profile.Recognize
}
