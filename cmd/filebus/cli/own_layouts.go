package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store/folder"
	"filebus/store/record"
)

// The folder of a workspace's own declarations, and the file of the store that has the digests of those that count.
const (
	LayoutsFolder  = ".filebus-layouts"
	layoutsTrusted = "layouts.txt"
	maxDeclaration = 256 << 10 // in bytes
)

// An OwnLayout is a declaration of the workspace, or why it does not count.
type OwnLayout struct {
	Path   string // slash-separated, below the workspace
	digest string
	*layout.Declaration
	Off error
}

// OwnLayouts reads the declarations of a workspace. One counts if it was consented to, or if git does not track it, so that
// it did not come with a clone; then its digest is remembered.
func (e *Environ) OwnLayouts(at materialize.Location) (all []OwnLayout) {
	folderOf := folder.At(at.Root).Sub(LayoutsFolder)
	entries, err := folderOf.ReadDir(".")
	if err != nil {
		return nil // there is none, as a rule
	}
	trusted, _ := folder.At(at.Store).ReadUpTo(layoutsTrusted, maxDeclaration) // none before the first
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".toml" {
			continue
		}
		l := OwnLayout{Path: LayoutsFolder + "/" + entry.Name()}
		text, err := folderOf.ReadUpTo(entry.Name(), maxDeclaration)
		if l.digest = record.DigestOf(text).String(); err == nil {
			l.Declaration, err = ParseOwn(text)
		}
		if err == nil && !bytes.Contains(trusted, []byte(l.digest)) && e.isTracked(at.Root, l.Path) {
			err = record.Untrusted.Errorf("it may have come with a clone").Try("filebus layout check {1}; filebus layout trust", l.Path)
		}
		if err != nil {
			l.Off = fmt.Errorf("%s does not count: %w", l.Path, err)
		}
		all = append(all, l)
	}
	return all
}

// ParseOwn reads a declaration of a workspace, which may not say all that built-in ones may.
func ParseOwn(text []byte) (*layout.Declaration, error) {
	d, err := layout.ParseDeclaration(text)
	if err == nil {
		err = d.Check()
	}
	return d, err
}

// isTracked reports whether git tracks a file, or cannot say.
func (e *Environ) isTracked(root, file string) bool {
	g, err := mirror.NewGit(root, e.Variables)
	if err != nil {
		return false // there is no git program, so nothing came by it
	}
	out, err := g.Run(context.Background(), nil, nil, "ls-files", "--", file)
	return len(bytes.TrimSpace(out)) > 0 || err != nil && !strings.Contains(err.Error(), "not a git repository")
}

// conventions returns the declarations of a workspace that count, for its profile, and where its tools have moved theirs.
func (e *Environ) conventions(at materialize.Location) *layout.Conventions {
	var on []*layout.Declaration
	for _, l := range e.OwnLayouts(at) {
		if l.Off == nil {
			on = append(on, l.Declaration)
		}
	}
	var own *layout.Conventions
	if on != nil {
		own = layout.NewConventions(on)
	}
	return own.WithMoved(func(name string) ([]byte, error) { return folder.At(at.Root).ReadUpTo(name, maxDeclaration) })
}

// NoteLayouts says which declarations of the workspace do not count, and remembers those that do.
func (w *Work) NoteLayouts() error {
	var on []OwnLayout
	for _, l := range w.OwnLayouts(w.Location) {
		if l.Off == nil {
			on = append(on, l)
		} else {
			w.NoteTry(Explain(l.Off).Hint, "%s; what it has taken in stays as it is", Message(l.Off))
		}
	}
	return w.RememberLayouts(on)
}

// RememberLayouts remembers that declarations count, as they are.
func (w *Work) RememberLayouts(all []OwnLayout) error {
	own := folder.At(w.Store.Dir())
	was, err := own.ReadUpTo(layoutsTrusted, maxDeclaration)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := strings.Fields(string(was))
	for _, l := range all {
		lines = append(lines, l.digest)
	}
	slices.Sort(lines)
	text := strings.Join(append(slices.Compact(lines), ""), "\n")
	if len(lines) == 0 || text == string(was) {
		return nil
	}
	return own.Replace(layoutsTrusted, []byte(text), true)
}
