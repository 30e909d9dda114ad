package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

func layoutCommands() cli.Command {
	return cli.Group("layout",
		cli.Existing("list", cli.RunFunc(listLayouts)),
		cli.Existing("show NAME", cli.RunFunc(showLayout)),
		cli.Plain("check FILE [DIR]", cli.RunFunc(checkLayout)),
		cli.Existing("trust", cli.RunFunc(trustLayouts)),
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
func layoutViews(w *cli.Work) (all []layoutView) {
	view := func(d *layout.Declaration, file string, off error) {
		v := layoutView{File: file, Layout: file}
		if off != nil {
			v.Off = cli.Message(off)
		}
		if d != nil {
			v.Layout, v.Owner = d.Layout, d.Owner
			for _, r := range d.File {
				v.Paths = append(v.Paths, r.Path...)
			}
		}
		all = append(all, v)
	}
	for _, l := range w.OwnLayouts(w.Location) {
		view(l.Declaration, l.Path, l.Off)
	}
	for _, d := range layout.Declarations() {
		view(d, "", nil)
	}
	return all
}

func listLayouts(_ context.Context, w *cli.Work, _ []string) error {
	all := layoutViews(w)
	rows := markdown.Each(all, func(v layoutView) []string {
		return []string{v.Layout, cmp.Or(v.Off, v.File, "built in"), cmp.Or(v.Owner, "-"), cli.CutText(strings.Join(v.Paths, " "))}
	})
	return w.PresentTable(rows, cli.Presentation{JSON: func(int) any { return map[string]any{"layouts": all} }})
}

// showLayout prints a declaration as it is written.
func showLayout(_ context.Context, w *cli.Work, args []string) error {
	text := ""
	for _, d := range layout.Declarations() {
		if d.Layout == args[0] {
			text = d.Text()
		}
	}
	for _, l := range w.OwnLayouts(w.Location) {
		if l.Path == args[0] || l.Declaration != nil && l.Layout == args[0] {
			own, err := os.ReadFile(filepath.Join(w.Root, filepath.FromSlash(l.Path)))
			if err != nil {
				return err
			}
			text = string(own)
		}
	}
	if text == "" {
		return record.NotFound.Errorf("there is no layout %s", args[0]).Try("filebus layout list")
	}
	return w.Print(map[string]any{"layout": args[0], "text": text}, "%s", text)
}

// trustLayouts consents to all declarations of the workspace as they are.
func trustLayouts(_ context.Context, w *cli.Work, _ []string) error {
	var sound []cli.OwnLayout
	for _, l := range w.OwnLayouts(w.Location) {
		if l.Declaration != nil && (l.Off == nil || errors.Is(l.Off, record.Untrusted)) {
			sound = append(sound, l)
			w.Remark("%s counts from now on", l.Path)
		}
	}
	if len(sound) == 0 {
		return record.NotFound.Errorf("%s has no declaration that could count", cli.LayoutsFolder).Try("filebus layout list")
	}
	return w.RememberLayouts(sound)
}

// A layoutCheck says what a declaration takes from a folder.
type layoutCheck struct {
	Layout  string         `json:"layout"`
	Files   int            `json:"files"`
	Holds   map[string]int `json:"holds"`   // entries by type, and of tasks the open ones
	First   []string       `json:"first"`   // entries
	Odd     []string       `json:"odd"`     // what it does not understand, each with its line
	Nothing []string       `json:"nothing"` // files of which it takes no entry

	seen map[string]string // where an id stands first
}

// checkLayout says what a declaration would take from a folder. It needs no store.
func checkLayout(_ context.Context, w *cli.Work, args []string) error {
	text, err := os.ReadFile(w.Abs(args[0]))
	if err != nil {
		return err
	}
	d, err := cli.ParseOwn(text)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	root, profile := w.Abs(append(args, ".")[1]), layout.Claude()
	profile.Own = layout.NewConventions([]*layout.Declaration{d})
	found, c := cli.FoundFolder{Layout: d.Layout}, layoutCheck{Layout: d.Layout, seen: map[string]string{}}
	filter := mirror.NewFilter(root, mirror.Rules{})
	filter.Variables, filter.Named = w.Variables, []string{} // as a sync looks at them
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		switch at := profile.Recognize(rel); {
		case err != nil || relErr != nil:
			return cmp.Or(err, relErr)
		case entry.IsDir() && (materialize.IsProtected(entry.Name()) || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.Type().IsRegular() && at.Declared == d.Layout:
			if rule := filter.Find(rel); rule != "" {
				c.Odd = append(c.Odd, rel+" is left out: "+rule)
				return nil
			}
			found.Files++
			file, problems := found.Hold(at, root, rel)
			c.look(file, problems, rel)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.Files, c.Holds = found.Files, found.Holds
	w.Printf("%s", map[bool]string{false: c.text(found)}[w.Global.JSON])
	if w.Global.JSON {
		return w.PrintJSON(c)
	}
	return nil
}

// look adds what a file gave.
func (c *layoutCheck) look(file layout.File, problems []*layout.SyntaxError, name string) {
	const most = 5
	n := 0
	for _, part := range file.Parts {
		if e := part.Entry; e != nil {
			at := fmt.Sprintf("%s:%d", name, e.Line)
			if n++; len(c.First) < most {
				c.First = append(c.First, cli.Words(at, cmp.Or(e.ID, name), e.Facts.Status, e.Facts.Title))
			}
			if first := c.seen[e.ID]; e.ID != "" && first != "" && len(c.Odd) < most {
				const again = "%s: %s is used again, first in %s: it becomes %s~2"
				c.Odd = append(c.Odd, fmt.Sprintf(again, at, e.ID, first, e.ID))
			} else if e.ID != "" {
				c.seen[e.ID] = cmp.Or(first, at)
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

func (c *layoutCheck) text(found cli.FoundFolder) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", found.HoldsText())
	for _, part := range []struct {
		lead  string
		lines []string
	}{{"  ", c.First}, {"not understood: ", c.Odd}, {"no entry in: ", c.Nothing}} {
		for _, line := range part.lines {
			fmt.Fprintf(&out, "%s%s\n", part.lead, cli.OneLine(line))
		}
	}
	return out.String()
}
