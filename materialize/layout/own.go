package layout

import (
	"path"
	"slices"
	"strings"

	"filebus/store/record"
)

// AttributeLayout is the attribute of entries that has the name of a workspace's own layout.
const AttributeLayout = "layout"

// Conventions are the declarations that a workspace has of its own, beside those that are built in.
type Conventions struct{ all []*convention }

// NewConventions returns declarations as a Profile takes them. A declaration of the same name as a built-in one
// stands before it where both say as much of a path.
func NewConventions(all []*Declaration) *Conventions {
	c := &Conventions{}
	for _, d := range all {
		own := &convention{file: d.Layout, rules: d.File, marks: []string{""}, folders: strings.Join(d.places(), " ")}
		own.once.Do(func() {}) // it is read
		d.own = true
		c.all = append(c.all, own)
	}
	return c
}

// IsOwn reports whether a declaration of the workspace takes a file: that makes no secret of a name less one.
func (pl Location) IsOwn() bool {
	d, is := pl.Layout.(*declared)
	return is && d.layout.own
}

// places returns the folders and files at which the templates of a declaration begin.
func (d *Declaration) places() (all []string) {
	for _, r := range d.File {
		for _, p := range r.Path {
			place, _, isPattern := strings.Cut(p, "{")
			if isPattern {
				place = path.Dir(place + "x")
			}
			if place != "." && !slices.Contains(all, place) {
				all = append(all, place)
			}
		}
	}
	return all
}

// Folders returns the folders and single files at which what conventions declare may lie.
func (p Profile) Folders() []string {
	all := DeclaredFolders()
	if p.Own != nil {
		for _, c := range p.Own.all {
			all = append(all, strings.Fields(c.folders)...)
		}
	}
	return all
}

// Declarations returns the built-in declarations.
func Declarations() (all []*Declaration) {
	for _, c := range conventions {
		all = append(all, c.read()[0].layout)
	}
	return all
}

// Text returns a built-in declaration as it is written.
func (d *Declaration) Text() string {
	text, _ := declarationFiles.ReadFile("declared/" + d.Layout + ".toml") // one of a workspace has none here
	return string(text)
}

// checkPath refuses the template of a path that leaves the workspace, leads into the folders of git and of the store, or
// begins with what any file has.
func checkPath(template string) error {
	literal := templateVariable().ReplaceAllString(template, "x")
	for segment := range strings.SplitSeq(literal, "/") {
		if slices.Contains([]string{"", ".", "..", ".git", ".filebus"}, strings.ToLower(segment)) {
			return record.Usage.Errorf("the path %q leads out of the workspace, or into a folder that is nobody's", template)
		}
	}
	if strings.HasPrefix(template, "{") {
		return record.Usage.Errorf("the path %q begins with a variable: it would claim any file", template)
	}
	return nil
}

// Check reports what a declaration of a workspace may not say.
func (d *Declaration) Check() error {
	switch {
	case d.Layout == "" || Slug(d.Layout) != strings.ReplaceAll(d.Layout, "-", "_"):
		return d.wrong(-1, "layout", "the layout is called %q; a name is small letters, digits and hyphens", d.Layout)
	case d.Text() != "":
		return d.wrong(-1, "layout", "%s is a layout of filebus: a workspace's own has another name", d.Layout)
	case len(d.Place) > 0:
		return d.wrong(-1, "[[place]]", "%s has a [[place]]: that is for built-in layouts", d.Layout)
	case len(d.File) == 0:
		return d.wrong(-1, "layout", "%s has no [[file]]: write one, with path = [\"work/{name}.md\"] and kind = \"task\"", d.Layout)
	}
	for n, r := range d.File {
		if mark := r.Working; len(mark) > 1 || mark != "" && (mark < "!" || mark > "~" || mark == "]") {
			return d.wrong(n, "working", "working = %q is no mark of a box: one character of ASCII", mark)
		}
		for _, p := range r.Path {
			if err := checkPath(p); err != nil {
				return d.wrong(n, p, "%w", err)
			}
		}
		if kinds := []record.Kind{"none", record.KindTask, record.KindKnowledge, record.KindNote}; !slices.Contains(kinds, r.Kind) {
			return d.wrong(n, "kind", "the kind %q of %s is none of none, task, knowledge, note", r.Kind, strings.Join(r.Path, ", "))
		}
	}
	return nil
}

// IsForeign reports whether another program keeps the file: it is read, and never written.
func (pl Location) IsForeign() bool { return pl.Owner() != "" }

// ProgramBD is the owner of the files in .beads.
const ProgramBD = "the program bd"

// Owner returns what keeps a file that filebus only reads, "" of others.
func (pl Location) Owner() string {
	switch d, is := pl.Layout.(*declared); {
	case is && d.layout.Owner != "":
		return "the program " + d.layout.Owner
	case is && d.Kind != record.KindNote: // notes are anybody's
		return "whoever writes " + pl.Declared
	}
	return ""
}
