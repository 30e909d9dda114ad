package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store/folder"
	"filebus/store/record"
)

// The folder of a workspace's own declarations, and the file of the store that has the digests of those that count.
const (
	layoutsFolder  = ".filebus-layouts"
	layoutsTrusted = "layouts.txt"
	maxDeclaration = 256 << 10 // in bytes
)

// An ownLayout is a declaration of the workspace, or why it does not count.
type ownLayout struct {
	file   string // slash-separated, below the workspace
	digest string
	*layout.Declaration
	off error
}

// ownLayouts reads the declarations of a workspace. One counts if it was consented to, or if git does not track it, so that
// it did not come with a clone; then its digest is remembered.
func (e *environ) ownLayouts(at materialize.Location) (all []ownLayout) {
	folderOf := folder.At(at.Root).Sub(layoutsFolder)
	entries, err := folderOf.ReadDir(".")
	if err != nil {
		return nil // there is none, as a rule
	}
	trusted, _ := folder.At(at.Store).ReadUpTo(layoutsTrusted, maxDeclaration) // none before the first
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".toml" {
			continue
		}
		l := ownLayout{file: layoutsFolder + "/" + entry.Name()}
		text, err := folderOf.ReadUpTo(entry.Name(), maxDeclaration)
		if l.digest = record.DigestOf(text).String(); err == nil {
			l.Declaration, err = parseOwn(text)
		}
		if err == nil && !bytes.Contains(trusted, []byte(l.digest)) && e.isTracked(at.Root, l.file) {
			err = record.Untrusted.Errorf("it may have come with a clone").Try("filebus layout check {1}; filebus layout trust", l.file)
		}
		if err != nil {
			l.off = fmt.Errorf("%s does not count: %w", l.file, err)
		}
		all = append(all, l)
	}
	return all
}

func parseOwn(text []byte) (*layout.Declaration, error) {
	d, err := layout.ParseDeclaration(text)
	if err == nil {
		err = d.Check()
	}
	return d, err
}

// isTracked reports whether git tracks a file, or cannot say.
func (e *environ) isTracked(root, file string) bool {
	g, err := mirror.NewGit(root, e.variables)
	if err != nil {
		return false // there is no git program, so nothing came by it
	}
	out, err := g.Run(context.Background(), nil, nil, "ls-files", "--", file)
	return len(bytes.TrimSpace(out)) > 0 || err != nil && !strings.Contains(err.Error(), "not a git repository")
}

// conventions returns the declarations of a workspace that count, for its profile.
func (e *environ) conventions(at materialize.Location) *layout.Conventions {
	var on []*layout.Declaration
	for _, l := range e.ownLayouts(at) {
		if l.off == nil {
			on = append(on, l.Declaration)
		}
	}
	if on == nil {
		return nil
	}
	return layout.NewConventions(on)
}

// noteLayouts says which declarations of the workspace do not count, and remembers those that do.
func (w *workspace) noteLayouts() error {
	var on []ownLayout
	for _, l := range w.ownLayouts(w.Location) {
		if l.off == nil {
			on = append(on, l)
		} else {
			w.noteTry(explain(l.off).Hint, "%s; what it has taken in stays as it is", message(l.off))
		}
	}
	return w.trustLayouts(on)
}

// trustLayouts remembers that declarations count, as they are.
func (w *workspace) trustLayouts(all []ownLayout) error {
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

func layoutCommands() command {
	return group("layout",
		existing("list", runFunc(listLayouts)),
		existing("show NAME", runFunc(showLayout)),
		plain("check FILE [DIR]", runFunc(checkLayout)),
		existing("trust", runFunc(trustLayouts)),
	)
}

type layoutView struct {
	Layout string   `json:"layout"`
	Owner  string   `json:"owner,omitempty"` // the command that keeps the files
	File   string   `json:"file,omitempty"`  // of the workspace; else it is built in
	Off    string   `json:"off,omitempty"`   // why it does not count
	Paths  []string `json:"paths"`
}

// layoutViews returns the declarations, those of the workspace first.
func (w *workspace) layoutViews() (all []layoutView) {
	view := func(d *layout.Declaration, file string, off error) {
		v := layoutView{File: file, Layout: file}
		if off != nil {
			v.Off = message(off)
		}
		if d != nil {
			v.Layout, v.Owner = d.Layout, d.Owner
			for _, r := range d.File {
				v.Paths = append(v.Paths, r.Path...)
			}
		}
		all = append(all, v)
	}
	for _, l := range w.ownLayouts(w.Location) {
		view(l.Declaration, l.file, l.off)
	}
	for _, d := range layout.Declarations() {
		view(d, "", nil)
	}
	return all
}

func listLayouts(_ context.Context, w *workspace, _ []string) error {
	all := w.layoutViews()
	rows := markdown.Each(all, func(v layoutView) []string {
		return []string{v.Layout, cmp.Or(v.Off, v.File, "built in"), cmp.Or(v.Owner, "-"), cutText(strings.Join(v.Paths, " "))}
	})
	return w.presentTable(rows, presentation{json: func(int) any { return map[string]any{"layouts": all} }})
}

// showLayout prints a declaration as it is written.
func showLayout(_ context.Context, w *workspace, args []string) error {
	text := ""
	for _, d := range layout.Declarations() {
		if d.Layout == args[0] {
			text = d.Text()
		}
	}
	for _, l := range w.ownLayouts(w.Location) {
		if l.file == args[0] || l.Declaration != nil && l.Layout == args[0] {
			own, err := os.ReadFile(filepath.Join(w.Root, filepath.FromSlash(l.file)))
			if err != nil {
				return err
			}
			text = string(own)
		}
	}
	if text == "" {
		return record.NotFound.Errorf("there is no layout %s", args[0]).Try("filebus layout list")
	}
	return w.print(map[string]any{"layout": args[0], "text": text}, "%s", text)
}

// trustLayouts consents to all declarations of the workspace as they are.
func trustLayouts(_ context.Context, w *workspace, _ []string) error {
	var sound []ownLayout
	for _, l := range w.ownLayouts(w.Location) {
		if l.Declaration != nil && (l.off == nil || errors.Is(l.off, record.Untrusted)) {
			sound = append(sound, l)
			w.remark("%s counts from now on", l.file)
		}
	}
	if len(sound) == 0 {
		return record.NotFound.Errorf("%s has no declaration that could count", layoutsFolder).Try("filebus layout list")
	}
	return w.trustLayouts(sound)
}

// A layoutCheck says what a declaration takes from a folder.
type layoutCheck struct {
	Layout  string         `json:"layout"`
	Files   int            `json:"files"`
	Holds   map[string]int `json:"holds"`   // entries by type, and of tasks the open ones
	First   []string       `json:"first"`   // entries
	Odd     []string       `json:"odd"`     // what it does not understand, each with its line
	Nothing []string       `json:"nothing"` // files of which it takes no entry
}

// checkLayout says what a declaration would take from a folder. It needs no store.
func checkLayout(_ context.Context, w *workspace, args []string) error {
	text, err := os.ReadFile(w.abs(args[0]))
	if err != nil {
		return err
	}
	d, err := parseOwn(text)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	root, profile := w.abs(append(args, ".")[1]), layout.Claude()
	profile.Own = layout.NewConventions([]*layout.Declaration{d})
	found, c := foundFolder{Layout: d.Layout}, layoutCheck{Layout: d.Layout}
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		switch at := profile.Recognize(rel); {
		case err != nil || relErr != nil:
			return cmp.Or(err, relErr)
		case entry.IsDir() && (materialize.IsProtected(entry.Name()) || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.Type().IsRegular() && at.Declared == d.Layout:
			found.Files++
			file, problems := found.hold(at, root, rel)
			c.look(file, problems, rel)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.Files, c.Holds = found.Files, found.Holds
	w.printf("%s", map[bool]string{false: c.text(found)}[w.global.json])
	if w.global.json {
		return w.printJSON(c)
	}
	return nil
}

// look adds what a file gave.
func (c *layoutCheck) look(file layout.File, problems []*layout.SyntaxError, name string) {
	const most = 5
	n := 0
	for _, part := range file.Parts {
		if e := part.Entry; e != nil {
			if n++; len(c.First) < most {
				c.First = append(c.First, words(fmt.Sprintf("%s:%d", name, e.Line), cmp.Or(e.ID, name), e.Facts.Status, e.Facts.Title))
			}
		}
	}
	for _, p := range problems {
		if p.File = name; len(c.Odd) < most {
			c.Odd = append(c.Odd, p.Error())
		}
	}
	if n == 0 && len(c.Nothing) < most {
		c.Nothing = append(c.Nothing, name)
	}
}

func (c *layoutCheck) text(found foundFolder) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", found.holdsText())
	for _, part := range []struct {
		lead  string
		lines []string
	}{{"  ", c.First}, {"not understood: ", c.Odd}, {"no entry in: ", c.Nothing}} {
		for _, line := range part.lines {
			fmt.Fprintf(&out, "%s%s\n", part.lead, oneLine(line))
		}
	}
	return out.String()
}
