package layout

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// A Place is a folder of a convention that the settings of its tool can move.
type Place struct {
	File string // of settings, below the workspace: JSON, YAML, or the value alone
	At   string // the pointer to the value; "": it is all of the file
	Find string // a pattern; its group is the folder
	From string // what templates begin with where the folder is not moved
	As   string // what they begin with where it is, with the folder as a pattern in place of {}; "": the folder
}

// WithMoved returns the conventions of a workspace, of which there may be none, with those whose folders the settings
// of their tools move. read reads a file of the workspace.
func (c *Conventions) WithMoved(read func(name string) ([]byte, error)) *Conventions {
	var moved []*convention
	for _, known := range conventions {
		for _, file := range strings.Fields(known.settings) {
			text, err := read(file)
			if err != nil {
				continue // there are none, as a rule
			}
			for _, p := range known.read()[0].layout.Place {
				folder := p.folder(text)
				if p.File == file && checkPath(folder) == nil && !strings.ContainsAny(folder, "{}") {
					moved = append(moved, known.moved(p, folder))
				}
			}
		}
	}
	if len(moved) == 0 {
		return c
	}
	if c != nil {
		moved = slices.Concat(c.all, moved)
	}
	return &Conventions{moved}
}

// folder returns the folder that settings name, or "".
func (p *Place) folder(text []byte) string {
	value := string(text)
	if p.At != "" {
		node, err := markdown.ParseJSONNode(text)
		if err != nil {
			node, _ = markdown.ParseYAML(value, 1)
		}
		for _, key := range splitPointer(p.At) {
			node = node.Get(markdown.Fold(key))
		}
		value = node.Text()
	}
	value = strings.TrimSpace(value)
	if p.Find != "" {
		value = append(compiled(p.Find).FindStringSubmatch(value), "", "")[1]
	}
	if value == "" || path.IsAbs(value) {
		return ""
	}
	return path.Clean(value)
}

// moved returns a convention whose files lie in another folder.
func (c *convention) moved(p *Place, folder string) *convention {
	to := folder
	if p.As != "" {
		to = strings.ReplaceAll(p.As, "{}", regexp.QuoteMeta(folder))
	}
	m := &convention{file: c.file, marks: []string{folder}, folders: folder}
	m.once.Do(func() {}) // it is read
	for _, r := range c.read() {
		moved := *r
		moved.Path, moved.said, moved.paths, moved.moved = nil, nil, nil, true
		for _, template := range r.Path {
			if rest, is := strings.CutPrefix(template, p.From+"/"); is {
				moved.Path = append(moved.Path, to+"/"+rest)
			}
		}
		if _, err := moved.check(); err == nil && len(moved.Path) > 0 {
			m.rules = append(m.rules, &moved)
		}
	}
	return m
}
